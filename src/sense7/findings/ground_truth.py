"""Ground truth of a conversation, to the letter of the authors' convention, and what other conventions would give."""

import numpy as np
import pandas as pd

from sense7.findings.core import Needs, finding, mean_number, tabulate
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.order import rounded
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["changed_labels", "ground_truth", "label_counts", "label_shares", "labels"]

CHOICES = {
    "overall ratings": ("overall", "the overall rating"),
    "ratings after the conversation": ("post_task", "post-task empathy"),
}
"""Other conventions of the ground truth -> end of the key of the labels they change, and the answers they need."""


def ground_truth(turns: pd.DataFrame, conversations: pd.Series) -> pd.Series:
    r"""Return the ground truth of each conversation: ratings averaged within each turn, then over its rated turns.

    .. math:: g_c = \frac{1}{|T_c|} \sum_{t \in T_c} \frac{1}{|D_t|} \sum_{d \in D_t} x_{td}

    with :math:`D_t` the dimensions rated in turn t and :math:`T_c` the turns of
    conversation c with any rated dimension. The overall rating is not used. Both means are
    numpy's, summed in the same order as for one conversation alone, so that exact halves
    land where the authors' script puts them.

    Parameters
    ----------
    turns : DataFrame
        Turns in file order with ``conversation`` and the seven dimensions (1..5 or NaN).
    conversations : Series of str
        Every conversation, in the order wanted.

    Returns
    -------
    Series of float
        1..5, NaN where no turn is rated; indexed by conversation.

    Examples
    --------
    >>> import numpy as np
    >>> turns = pd.DataFrame(np.nan, index=[0, 1], columns=list(DIMENSION_NAMES))
    >>> turns.loc[0] = 5.0
    >>> turns.loc[1, "Affective"] = 3.0
    >>> turns["conversation"] = "C1"
    >>> ground_truth(turns, pd.Series(["C1", "C2"])).tolist()
    [4.0, nan]
    """
    ratings = turns[list(DIMENSION_NAMES)].to_numpy(dtype=float)
    counts = np.isfinite(ratings).sum(axis=1)
    rated = counts > 0
    # At most seven small integers: their sum is exact in any order.
    means = np.nansum(ratings[rated], axis=1) / counts[rated]
    codes = pd.Index(conversations).get_indexer(turns.loc[rated, "conversation"])
    order = np.argsort(codes, kind="stable")
    codes, means = codes[order], means[order]
    lengths = np.bincount(codes[codes >= 0], minlength=len(conversations))
    means = means[np.searchsorted(codes, 0) :]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
    out = np.full(len(conversations), np.nan)
    for length in np.unique(lengths[lengths > 0]):
        # One row per conversation of this length: numpy then adds each row up pairwise, just as
        # it adds up the vector of one conversation.
        chosen = np.flatnonzero(lengths == length)
        block = means[starts[chosen, None] + np.arange(length)]
        out[chosen] = np.ascontiguousarray(block).mean(axis=1)
    return pd.Series(out, index=pd.Index(conversations, name="conversation"), name="ground_truth")


def labels(values) -> np.ndarray:
    """Labels of values: rounded half to even, then clipped to 1..5, as the authors do; NaN stays NaN.

    Examples
    --------
    >>> labels([2.5, 3.5, 5.9, 0.5]).tolist()
    [2.0, 4.0, 5.0, 1.0]
    """
    return np.clip(np.round(np.asarray(values, dtype=float)), 1, 5)


def label_counts(values) -> np.ndarray:
    """Number of values with each label 1..5 (see :func:`labels`); missing values are not counted.

    Examples
    --------
    >>> label_counts([4.2, 3.5, 2.5, float("nan")]).tolist()
    [0, 1, 0, 2, 0]
    """
    label = labels(values)
    return np.bincount(label[np.isfinite(label)].astype(int), minlength=len(LEVELS) + 1)[1:]


@finding
def label_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of the conversations with ground truth that have each label 1..5; n counts conversations."""
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    rated = study.conversations[np.isfinite(truth)]
    label = labels(truth[np.isfinite(truth)])

    numbers = []
    for level in range(1, len(LEVELS) + 1):
        number = mean_number(
            bootstrap,
            label == level,
            rated,
            label=level,
            unit="share of conversations",
            method="conversations with the label by conversations with ground truth",
            key=f"ground_truth_label_{level}",
        )
        numbers.append(number)
    return tabulate("label", numbers, bootstrap)


def pooled_ground_truth(study: Study) -> np.ndarray:
    """Return the mean of all ratings of dimensions of each conversation: a turn counts by how many were rated in it.

    Rounded to twelve digits, and equal to the authors' value where it is equal but for rounding; NaN without a rating.
    """
    conversations = study.conversations["conversation"]
    ratings = study.turns[["conversation", *DIMENSION_NAMES]].melt("conversation")
    means = ratings.groupby("conversation")["value"].mean()
    pooled = means.reindex(conversations).round(12).to_numpy()
    truth = ground_truth(study.turns, conversations).to_numpy()
    return np.where(rounded(np.abs(pooled - truth)) == 0, truth, pooled)


@finding
def changed_labels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of the conversations that have another label under other conventions of the ground truth.

    The mean of the turns' overall ratings, or of the ratings of empathy after the conversation; rounded to twelve
    digits, so that no label depends on the order of a sum. One row per convention, over the conversations that have a
    value under both; n counts these.
    """
    conversations = study.conversations.set_index("conversation")
    overall = study.turns["overall"].groupby(study.turns["conversation"]).mean()
    post_task = conversations[[f"post_{name}" for name in DIMENSION_NAMES]]
    values_of = {
        "overall ratings": (overall, study.turns["overall"], ""),
        "ratings after the conversation": (
            post_task.mean(axis=1),
            post_task,
            why_no_judgment_of_the_whole(study),
        ),
    }
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    numbers = []
    for name, (means, answers, reason) in values_of.items():
        ending, words = CHOICES[name]
        values = means.reindex(conversations.index).round(12).to_numpy()
        has_both = np.isfinite(truth) & np.isfinite(values)
        is_equal = rounded(np.abs(values - truth)) == 0
        differs = (labels(truth) != labels(values)) & ~is_equal
        number = mean_number(
            bootstrap,
            differs[has_both],
            study.conversations[has_both],
            label=name,
            unit="share of conversations",
            method=f"conversations whose label differs under: {name}",
            needs=Needs(answers={words: answers}),
            key=f"ground_truth_changed_{ending}",
            reason=reason,
        )
        numbers.append(number)
    return tabulate("instead of the authors' convention", numbers, bootstrap)
