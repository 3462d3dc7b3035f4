"""Which judge is looked at where uses of judges are shown: one whose predictions are there, and one that learns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.findings.ground_truth import ground_truth
from sense7.judge.scoring.calibrated import calibrated, mean_over_runs
from sense7.judge.scoring.learned import LEARNED, learned_predictions
from sense7.study import Study

__all__ = ["Scored", "scored"]


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of a judge and of the learned judge, one row per conversation in the order of sheet Tasks.

    Attributes
    ----------
    judge : str
        Name of the judge; that of the learned judge where there are no predictions of any other.
    predictions : DataFrame
        conversation, participant, ground_truth and score (NaN: none) of this judge, the mean over its runs.
    learned : DataFrame
        The same of the learned judge.
    reason : str
        Why the learned judge has no scores; "" if it has.
    """

    judge: str
    predictions: pd.DataFrame = field(repr=False)
    learned: pd.DataFrame = field(repr=False)
    reason: str = ""

    @property
    def shown(self) -> dict:
        """Name of the judge, as ``Recorder.value`` takes it."""
        return {
            "key": "judge_of_uses",
            "estimate": self.judge,
            "n": int(np.isfinite(self.predictions["score"].astype(float)).sum()),
            "unit": "judge",
            "method": "the judge whose predictions are shown; the learned judge where there are none",
        }

    @property
    def by_judge(self) -> dict[str, np.ndarray]:
        """Judge -> scores brought to the level of the ratings, NaN where that can't be; the learned one first."""
        found = {LEARNED: self.learned["score"].to_numpy()}
        if self.judge != LEARNED:
            try:
                found[self.judge] = calibrated(self.predictions)
            except UserError:
                found[self.judge] = np.full(len(self.predictions), np.nan)
        return found


def scored(study: Study, judges: Mapping[str, dict[str, pd.DataFrame]], judge: str = "") -> Scored:
    """Scores of a judge of this data set, and of the learned judge.

    Parameters
    ----------
    study : Study
        The data.
    judges : mapping
        As :func:`sense7.judge.scoring.available_judges.read_runs` returns them.
    judge : str
        One of them, as :func:`sense7.judge.scoring.available_judges.chosen_judge` names it; "" if there is none.

    Examples
    --------
    >>> import sense7 as s7
    >>> study = s7.load("synthetic")
    >>> people = study.conversations["participant"].unique()[:3]  # too few to learn from
    >>> few = s7.Study("few", study.conversations[study.conversations["participant"].isin(people)], study.messages,
    ...                study.turns, study.participants, study.columns)
    >>> scored(few, {}).reason
    '3 participants are too few to learn from others'
    """
    known = study.conversations[["conversation", "participant"]].reset_index(drop=True)
    truth = ground_truth(study.turns, known["conversation"]).to_numpy()
    baseline = learned_predictions(study)[LEARNED]
    nothing = known.assign(ground_truth=truth, score=np.nan)
    learned = nothing if baseline.reason else baseline.predictions.drop(columns="above")
    if not judge:
        return Scored(LEARNED, learned, learned, baseline.reason)
    return Scored(judge, mean_over_runs(judges[judge]), learned, baseline.reason)


check_arguments(globals())
