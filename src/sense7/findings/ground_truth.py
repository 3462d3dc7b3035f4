"""Ground truth of a conversation, to the letter of the authors' convention, and what other conventions would give."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
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
    r"""Mean over rated dimensions within each turn, then over the rated turns.

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

    Returns
    -------
    array of int, shape (5,)

    Examples
    --------
    >>> label_counts([4.2, 3.5, 2.5, float("nan")]).tolist()
    [0, 1, 0, 2, 0]
    """
    label = labels(values)
    return np.bincount(label[np.isfinite(label)].astype(int), minlength=len(LEVELS) + 1)[1:]


def label_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the conversations with ground truth that have each label.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Rows 1..5: estimate, low, high (0..1), n (conversations with ground truth), unit, method, reason.
    """
    truth, people = _known(study)
    unit, method = "share of conversations", "conversations with the label by conversations with ground truth"
    rows = {}
    for level in range(1, len(LEVELS) + 1):
        values = np.column_stack([labels(truth) == level, np.ones(len(truth))])
        share = bootstrap.estimate(ratio, values, people)
        rows[level] = bootstrap.row(
            share, n=len(truth), unit=unit, method=method, undefined=_NONE, key=f"ground_truth_label_{level}"
        )
    return estimate_table(rows, "label")


_NONE = "no conversation of this data set has ground truth"


def _known(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Ground truths that are there, and the participant of each."""
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    known = np.isfinite(truth)
    return truth[known], study.conversations["participant"].to_numpy()[known]


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

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    DataFrame
        One row per conversation, one column per convention (``CHOICES``): 1..5, NaN where it gives no value. Rounded to
        twelve digits, so that no label depends on the order of a sum; and equal to the authors' value where
        it is equal but for rounding.
    """
    conversations = study.conversations.set_index("conversation")
    turns = study.turns.sort_values("turn", kind="stable")
    of, seven = turns["conversation"], turns[list(DIMENSION_NAMES)]
    turn_means = seven.mean(axis=1)
    asked = study.rated_dimensions
    complete = turn_means.where(seven[asked].notna().all(axis=1) & bool(asked))
    post = conversations[[f"post_{name}" for name in DIMENSION_NAMES]]
    ratings = seven.notna().sum(axis=1).groupby(of).sum()
    scores = {
        "all ratings pooled": seven.sum(axis=1).groupby(of).sum() / ratings.where(ratings > 0),
        "by dimension, then over dimensions": seven.groupby(of).mean().mean(axis=1),
        "complete turns only": complete.groupby(of).mean(),
        "median of the turns": turn_means.groupby(of).median(),
        "last rated turn": turn_means.groupby(of).last(),
        "overall ratings": turns["overall"].groupby(of).mean(),
        "ratings after the conversation": post.mean(axis=1),
    }
    frame = pd.DataFrame({name: values.reindex(conversations.index) for name, values in scores.items()}).round(12)
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()[:, None]
    return frame.mask((frame - truth).abs() <= 1e-9, np.broadcast_to(truth, frame.shape))


def changed_labels(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the conversations that have another label under other conventions of the ground truth.

    Over the conversations that have a value under both; n counts these.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        Table of estimates with one row per convention (``CHOICES``): 0..1; a convention for which nothing was rated has
        no estimate, and the reason.
    """
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    people = study.conversations["participant"].to_numpy()
    frame, rows = other_ground_truths(study), {}
    for name, ending in CHOICES.items():
        other = frame[name].to_numpy()
        both = np.isfinite(truth) & np.isfinite(other)
        shown = {
            "n": int(both.sum()),
            "unit": "share of conversations",
            "method": f"conversations whose label differs under: {name}",
            "key": f"ground_truth_changed_{ending}",
        }
        if reason := _why_not(study, name, truth, other, shown["n"]):
            rows[name] = estimate_row(**shown, reason=reason)
            continue
        changed = np.column_stack([labels(truth[both]) != labels(other[both]), np.ones(shown["n"])])
        rows[name] = bootstrap.row(bootstrap.estimate(ratio, changed, people[both]), **shown)
    return estimate_table(rows, "instead of the authors' convention")


def _why_not(study: Study, name: str, truth: np.ndarray, other: np.ndarray, both: int) -> str:
    """Why a convention can't be compared with the authors'; "" if it can."""
    if both:
        return ""
    if name == "overall ratings" and not study.turns["overall"].notna().any():
        return "the overall rating was never given in this data set"
    if name == "ratings after the conversation" and not np.isfinite(other).any():
        return "post-task empathy was never rated in this data set"
    if not np.isfinite(truth).any():
        return _NONE
    return "no turn rates every dimension" if name == "complete turns only" else "no conversation has both"


check_arguments(globals())
