# Made of __init__.py and findings/ by `make derived`.
from sense7.errors import UserError as UserError
from sense7.estimators.alpha import cronbach_alpha as cronbach_alpha
from sense7.estimators.bootstrap import ConversationBootstrap as ConversationBootstrap
from sense7.estimators.bootstrap import ParticipantBootstrap as ParticipantBootstrap
from sense7.estimators.bootstrap import StratifiedBootstrap as StratifiedBootstrap
from sense7.estimators.effect_size import cohens_d as cohens_d
from sense7.estimators.estimates import estimate_table as estimate_table
from sense7.estimators.estimates import holm as holm
from sense7.estimators.factor import omega_total as omega_total
from sense7.estimators.rater_agreement import intraclass_correlations as intraclass_correlations
from sense7.estimators.rater_agreement import weighted_kappa as weighted_kappa
from sense7.findings import agreement as agreement
from sense7.findings import conditions as conditions
from sense7.findings import context as context
from sense7.findings import core as core
from sense7.findings import coverage as coverage
from sense7.findings import dataset as dataset
from sense7.findings import disrupted as disrupted
from sense7.findings import elsewhere as elsewhere
from sense7.findings import examples as examples
from sense7.findings import importance as importance
from sense7.findings import individualized as individualized
from sense7.findings import measures as measures
from sense7.findings import poor_turn as poor_turn
from sense7.findings import ratings as ratings
from sense7.findings import reliability as reliability
from sense7.findings import repeated_ratings as repeated_ratings
from sense7.findings import robustness as robustness
from sense7.findings import whose_empathy as whose_empathy
from sense7.findings import words as words
from sense7.findings.ground_truth import ground_truth as ground_truth
from sense7.loading import load as load
from sense7.record import Recorder as Recorder
from sense7.record import read_values as read_values
from sense7.study import Study as Study
from sense7.taxonomy import DIMENSIONS as DIMENSIONS
from sense7.taxonomy import DIMENSION_NAMES as DIMENSION_NAMES
from sense7.taxonomy import LEVELS as LEVELS
from sense7.terminal import count_of as count_of
from sense7.workbook import read_workbook as read_workbook
cohens_kappa = weighted_kappa
icc = intraclass_correlations
omega = omega_total
__version__: str
NAMES: dict[str, str]
__all__ = ['DIMENSIONS', 'DIMENSION_NAMES', 'LEVELS', 'ConversationBootstrap', 'ParticipantBootstrap', 'Recorder', 'StratifiedBootstrap', 'Study', 'UserError', 'cohens_d', 'count_of', 'cronbach_alpha', 'estimate_table', 'ground_truth', 'holm', 'intraclass_correlations', 'load', 'omega_total', 'read_values', 'read_workbook', 'weighted_kappa']
