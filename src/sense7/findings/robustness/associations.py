"""Specifications of what the ratings go with.

As in :mod:`sense7.findings.robustness.specifications`, each function takes a study and returns a function from a
specification to a row of estimates; the choices are declared in
:data:`sense7.findings.robustness.headlines.HEADLINES`.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row
from sense7.estimators.least_squares import within_correlation
from sense7.estimators.ranks import spearman_row
from sense7.findings.agreement import kappa_row
from sense7.findings.measures import OUTCOMES
from sense7.study import Study

__all__ = ["CONVERSATIONS"]

CONVERSATIONS = ("all", "first of a participant in a condition")
WEIGHTS = ("linear", "quadratic")
TURNS = ("that rate Affective", "that rate every dimension")
CORRELATIONS = ("Spearman, over conversations", "Pearson, within participants")
EXPERIENCES = {"mean of four": OUTCOMES["experience"]} | {
    name.replace("_", " "): [name] for name in OUTCOMES["experience"]
}
"""Ratings of the experience: words -> columns."""

RATINGS_GIVEN = ("ratings given", "complete ratings only")

AFFECTIVE = "Affective"

Compute = Callable[[dict, ParticipantBootstrap], dict]


def first_conversations(study: Study) -> np.ndarray:
    """Return whether each conversation is the first of its participant in its condition, in file order."""
    return ~study.conversations.duplicated(["participant", "condition"]).to_numpy()


def _kept_turns(study: Study, turns: pd.DataFrame, conversations: str) -> pd.DataFrame:
    if conversations == CONVERSATIONS[0]:
        return turns
    names = study.conversations.loc[first_conversations(study), "conversation"]
    return turns[turns["conversation"].isin(names)]


def affective_kappa(study: Study) -> Callable:
    """Return weighted kappa of Affective with the overall rating, as on the page on consistency.

    Choices: the weights, the turns, what is left out of them, and whether a participant's repeat conversations in a
    condition count.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    callable
        Of a specification, which of the turns put to rating are kept, and a bootstrap; returns a row of estimates.
    """
    every = study.turns_put_to_rating
    complete = every[["overall", *study.rated_dimensions]].notna().all(axis=1).to_numpy()

    def compute(choice: dict, kept: np.ndarray, bootstrap: ParticipantBootstrap) -> dict:
        used = kept if choice["turns"] == TURNS[0] else kept & complete
        turns = _kept_turns(study, every[used], choice["conversations"])
        return kappa_row(every, turns, AFFECTIVE, bootstrap, choice["weights"], f"turns {choice['turns']}")

    return compute


def empathy_goes_with_experience(study: Study) -> Compute:
    """Return the correlation over conversations of empathy with the experience, as on the page on whole conversations.

    Choices: which correlation, which rating of the experience, the rule for missing ratings, and whether a
    participant's repeat conversations in a condition count.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    callable
        Of a specification and a bootstrap; returns a row of estimates.
    """
    first = first_conversations(study)
    asked = [name for name in OUTCOMES["empathy"] if study.conversations[name].notna().any()]

    def mean(names: list[str], missing: str) -> np.ndarray:
        names = [name for name in names if study.conversations[name].notna().any()]
        whole = missing == RATINGS_GIVEN[1]
        values = study.conversations[names].astype(float).mean(axis=1, skipna=not whole)
        return values.to_numpy(dtype=float) if names else np.full(len(study.conversations), np.nan)

    def compute(choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        empathy, experience = mean(asked, choice["missing"]), mean(EXPERIENCES[choice["experience"]], choice["missing"])
        known = np.isfinite(empathy) & np.isfinite(experience)
        known &= first if choice["conversations"] == CONVERSATIONS[1] else True
        method = f"{choice['correlation'].partition(',')[0]} correlation of post-task empathy with the experience"
        common = {"n": int(known.sum()), "unit": "correlation", "method": method}
        if not known.any():
            return estimate_row(**common, reason="under this specification no conversation has both ratings")
        who = study.conversations.loc[known, "participant"]
        if choice["correlation"] == CORRELATIONS[1]:
            return within_correlation(
                np.column_stack([empathy, experience])[known], who, who, bootstrap, f"{method}, within participants"
            )
        return spearman_row(empathy[known], experience[known], who, bootstrap, method)

    return compute


check_arguments(globals())
