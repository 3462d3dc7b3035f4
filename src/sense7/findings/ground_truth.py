"""Ground truth of a conversation, to the letter of the authors' convention, and what other conventions would give."""

import numpy as np
import pandas as pd

from sense7.findings.core import Number, finding, mean_number, tabulate
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.order import rounded
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["changed_labels", "ground_truth", "label_counts", "label_shares", "labels"]

CHOICES = {
    "all ratings pooled": "pooled",
    "by dimension, then over dimensions": "by_dimension",
    "complete turns only": "complete_turns",
    "median of the turns": "median",
    "last rated turn": "last_turn",
    "overall ratings": "overall",
    "ratings after the conversation": "post_task",
}
"""Other conventions of the ground truth -> end of the key of what they change."""


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


NEVER_RATED = "no conversation of this data set has ground truth"


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
            [(len(rated), NEVER_RATED)],
            label=level,
            unit="share of conversations",
            method="conversations with the label by conversations with ground truth",
            key=f"ground_truth_label_{level}",
        )
        numbers.append(number)
    return tabulate("label", numbers, bootstrap)


def other_ground_truths(study: Study) -> pd.DataFrame:
    """Ground truth of each conversation under other conventions than the authors'.

    - *all ratings pooled*: mean of all ratings of dimensions in the conversation, so that a turn counts by how
      many dimensions were rated in it;
    - *by dimension, then over dimensions*: mean of each dimension over the turns, then over dimensions;
    - *complete turns only*: the authors' means, of turns that rate every dimension that the data set rates;
    - *median of the turns*: median instead of mean of the turns' means;
    - *last rated turn*: the mean of the last turn with any rated dimension;
    - *overall ratings*: mean of the turns' overall ratings;
    - *ratings after the conversation*: mean of the post-task ratings of empathy given.

    One row per conversation, one column per convention (``CHOICES``): 1..5, NaN where it gives no value. Rounded to
    twelve digits, so that no label depends on the order of a sum; and equal to the authors' value where it is equal but
    for rounding.
    """
    conversations = study.conversations.set_index("conversation")
    turns = study.turns.sort_values("turn", kind="stable")
    conversation = turns["conversation"]
    ratings = turns[list(DIMENSION_NAMES)]
    turn_means = ratings.mean(axis=1)
    dimensions = study.rated_dimensions
    is_complete = ratings[dimensions].notna().all(axis=1) & bool(dimensions)
    post_task = conversations[[f"post_{name}" for name in DIMENSION_NAMES]]
    number_of_ratings = ratings.notna().sum(axis=1).groupby(conversation).sum()
    sum_of_ratings = ratings.sum(axis=1).groupby(conversation).sum()
    scores = {
        "all ratings pooled": sum_of_ratings / number_of_ratings.where(number_of_ratings > 0),
        "by dimension, then over dimensions": ratings.groupby(conversation).mean().mean(axis=1),
        "complete turns only": turn_means.where(is_complete).groupby(conversation).mean(),
        "median of the turns": turn_means.groupby(conversation).median(),
        "last rated turn": turn_means.groupby(conversation).last(),
        "overall ratings": turns["overall"].groupby(conversation).mean(),
        "ratings after the conversation": post_task.mean(axis=1),
    }
    frame = pd.DataFrame(
        {name: values.reindex(conversations.index) for name, values in scores.items()}
    ).round(12)
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()[:, None]
    return frame.mask(rounded((frame - truth).abs()) == 0, np.broadcast_to(truth, frame.shape))


@finding
def changed_labels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of the conversations that have another label under other conventions of the ground truth.

    One row per convention (``CHOICES``), over the conversations that have a value under both; n counts these.
    """
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    frame = other_ground_truths(study)
    repeated = why_no_judgment_of_the_whole(study)

    def number(name: str, ending: str) -> Number:
        values = frame[name].to_numpy()
        has_both = np.isfinite(truth) & np.isfinite(values)
        rows = study.conversations[has_both]

        needs = []
        if name == "ratings after the conversation":
            was_rated = np.isfinite(values).any()
            needs.append((not repeated, repeated))
            needs.append((was_rated, "post-task empathy was never rated in this data set"))
        if name == "overall ratings":
            was_rated = study.turns["overall"].notna().any()
            needs.append((was_rated, "the overall rating was never given in this data set"))
        needs.append((np.isfinite(truth).any(), NEVER_RATED))
        if name == "complete turns only":
            needs.append((len(rows), "no turn rates every dimension"))
        needs.append((len(rows), "no conversation has both"))
        return mean_number(
            bootstrap,
            labels(truth[has_both]) != labels(values[has_both]),
            rows,
            needs,
            label=name,
            unit="share of conversations",
            method=f"conversations whose label differs under: {name}",
            key=f"ground_truth_changed_{ending}",
        )

    numbers = [number(name, ending) for name, ending in CHOICES.items()]
    return tabulate("instead of the authors' convention", numbers, bootstrap)
