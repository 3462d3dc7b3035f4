"""Ground truth of a conversation, to the letter of the authors' convention, and what other conventions would give."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.study import ABSENT, Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.terminal import count_of

__all__ = [
    "ChoiceComparison",
    "compare_choices",
    "exact_halves",
    "fates",
    "ground_truth",
    "label_counts",
    "label_shares",
    "labels",
]

CHOICES = (
    "all ratings pooled",
    "by dimension, then over dimensions",
    "complete turns only",
    "median of the turns",
    "last rated turn",
    "overall ratings",
    "ratings after the conversation",
)
"""Other conventions of the ground truth."""

FEWEST = 3
"""Conversations below which a correlation is that of one or two points, and means nothing."""

_WHOLE = 420  # divisible by every number of rated dimensions, so that a turn's mean times it is whole


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


def exact_halves(study: Study) -> pd.DataFrame:
    r"""Number of ground truths on the edge of two labels, and where floating point puts them.

    A half is rounded to the even label. The authors' script takes means of means in floating point, where
    a mean that is a half exactly can come out slightly beside it, as 4.500000000000001, and then has the other
    label. Whether it is a half is found in whole numbers: with :math:`s_t` the sum and :math:`m_t` the
    number of the ratings of turn t, :math:`\sum_t 420\, s_t / m_t` is whole, since every m from 1 to 7 divides 420.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    DataFrame
        Five counts of conversations: the halves, how many of them are above and below the half as computed, and how
        many labels exact arithmetic and rounding halves up would change; n counts those with ground truth. There are
        no intervals: what is counted is a property of these numbers.
    """
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    half, exact = _halves(study)
    computed, exact = truth[half], exact[half]
    label = labels(computed)
    counts = {
        "halves in exact arithmetic": (half.sum(), "ground_truth_halves_exact"),
        "of these, above the half as computed": ((computed > exact).sum(), "ground_truth_halves_above"),
        "of these, below the half as computed": ((computed < exact).sum(), "ground_truth_halves_below"),
        "labels that exact arithmetic would change": (
            (label != labels(exact)).sum(),
            "ground_truth_halves_changed_by_exactness",
        ),
        "labels that rounding halves up would change": (
            (label != np.floor(exact) + 1).sum(),
            "ground_truth_halves_changed_by_half_up",
        ),
    }
    n = int(np.isfinite(truth).sum())
    rows = {
        name: estimate_row(
            count if n else np.nan,
            n=n,
            unit="conversations",
            method="counted; means in whole numbers, compared with those in floating point",
            reason="" if n else _NONE,
            key=key,
        )
        for name, (count, key) in counts.items()
    }
    return estimate_table(rows, "ground truths")


def _halves(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Whether the ground truth of each conversation is a half, found in whole numbers; and its exact value if so."""
    ratings = study.turns[list(DIMENSION_NAMES)].to_numpy(dtype=float)
    counts = np.isfinite(ratings).sum(axis=1)
    rated = counts > 0
    whole = np.nansum(ratings[rated], axis=1).astype(np.int64) * (_WHOLE // counts[rated])
    conversations = study.conversations["conversation"]
    codes = pd.Index(conversations).get_indexer(study.turns.loc[rated, "conversation"])
    twice, divisor = np.zeros(len(conversations), dtype=np.int64), np.zeros(len(conversations), dtype=np.int64)
    np.add.at(twice, codes, 2 * whole)
    np.add.at(divisor, codes, _WHOLE)
    halves, rest = np.divmod(twice, np.maximum(divisor, 1))
    return (divisor > 0) & (rest == 0) & (halves % 2 == 1), halves / 2


def fates(study: Study) -> pd.DataFrame:
    """Number of conversations with ground truth, and of those without it by the reason.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    DataFrame
        Counts of conversations, each in one row: with ground truth, without a turn of the assistant, without a turn put
        to rating, rated overall only, and with no answer but that it can't be rated; n counts all conversations.
    """
    names = study.conversations["conversation"]
    turns = study.turns
    states = turns[[f"{name}_state" for name in RATING_NAMES]]
    has = pd.DataFrame(
        {
            "turn": True,
            "put": (states != ABSENT).any(axis=1),
            "overall": turns["overall"].notna(),
            "rated": turns[list(DIMENSION_NAMES)].notna().any(axis=1),
        },
        index=turns.index,
    )
    has = has.groupby(turns["conversation"]).any().reindex(names).fillna(value=False).astype(bool)
    none = ~has["rated"]
    groups = {
        "with ground truth": (has["rated"], "ground_truth_fate_known"),
        "no turn of the assistant": (~has["turn"], "ground_truth_fate_no_turn"),
        "no turn put to rating": (has["turn"] & ~has["put"], "ground_truth_fate_not_put"),
        "turns rated overall only": (none & has["overall"], "ground_truth_fate_overall_only"),
        "every answer was that it can't be rated": (
            none & has["put"] & ~has["overall"],
            "ground_truth_fate_unknown_only",
        ),
    }
    rows = {
        name: estimate_row(
            chosen.sum(), n=len(names), unit="conversations", method="conversations counted, each once", key=key
        )
        for name, (chosen, key) in groups.items()
    }
    return estimate_table(rows, "conversations")


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


@dataclass(frozen=True, eq=False)
class ChoiceComparison:
    """Other conventions compared with the authors'; tables of estimates with one row per convention.

    Attributes
    ----------
    correlations : DataFrame
        Pearson correlation with the authors' ground truth.
    changed : DataFrame
        Share of the conversations whose label is another one.
    differences : DataFrame
        Mean of the convention minus mean of the authors', in levels.
    """

    correlations: pd.DataFrame
    changed: pd.DataFrame
    differences: pd.DataFrame


def compare_choices(study: Study, bootstrap: ParticipantBootstrap) -> ChoiceComparison:
    r"""Correlations, changed labels and mean differences of other conventions of the ground truth and the authors'.

    All over the conversations that have a value under both; n counts these. The correlation is Pearson's,

    .. math:: r = \frac{n \sum xy - \sum x \sum y}
              {\sqrt{(n \sum x^2 - (\sum x)^2)(n \sum y^2 - (\sum y)^2)}}

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    ChoiceComparison
        Rows as ``CHOICES``; a convention for which nothing was rated has no estimate, and the reason.

    Notes
    -----
    Correlations are checked against scipy.stats.pearsonr.
    """
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    people = study.conversations["participant"].to_numpy()
    frame = other_ground_truths(study)
    tables: dict[str, dict] = {table: {} for table in _COMPARED}
    for number, name in enumerate(CHOICES):
        other = frame[name].to_numpy()
        both = np.isfinite(truth) & np.isfinite(other)
        n = int(both.sum())
        reason = _why_not(study, name, truth, other, n)
        for table, (unit, method, statistic, keys) in _COMPARED.items():
            shown = {"n": n, "unit": unit, "method": f"{method}: {name}", "key": keys.split()[number]}
            few = f"only {count_of(n, 'conversation')}" if table == "correlations" and n < FEWEST else ""
            if reason or few:
                tables[table][name] = estimate_row(**shown, reason=reason or few)
                continue
            estimate = bootstrap.estimate(statistic, _summands(table, truth[both], other[both]), people[both])
            tables[table][name] = bootstrap.row(estimate, **shown, undefined="one of the two does not vary")
    return ChoiceComparison(
        **{table: estimate_table(rows, "instead of the authors' convention") for table, rows in tables.items()}
    )


def _summands(table: str, truth: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What is summed over conversations for one of the tables of :class:`ChoiceComparison`: (conversations, sums)."""
    x, y, one = truth - _MIDDLE, other - _MIDDLE, np.ones(len(truth))
    if table == "changed":
        return np.column_stack([labels(truth) != labels(other), one])
    if table == "differences":
        return np.column_stack([y - x, one])
    return np.column_stack([one, x, y, x * x, y * y, x * y])


_MIDDLE = (1 + len(LEVELS)) / 2  # taken off before squares are summed, so that their differences stay exact


def _correlation(sums: np.ndarray) -> np.ndarray:
    """Pearson's correlation from n, and the sums of x, y, their squares and their product."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spreads = np.maximum(n * xx - x**2, 0) * np.maximum(n * yy - y**2, 0)
    defined = spreads > 1e-12 * n**4
    return np.where(defined, np.clip((n * xy - x * y) / np.sqrt(np.where(defined, spreads, 1)), -1, 1), np.nan)


_COMPARED = {
    "correlations": (
        "correlation",
        "Pearson correlation of the authors' ground truth with",
        _correlation,
        """
        ground_truth_correlation_pooled ground_truth_correlation_by_dimension ground_truth_correlation_complete_turns
        ground_truth_correlation_median ground_truth_correlation_last_turn ground_truth_correlation_overall
        ground_truth_correlation_post_task
        """,
    ),
    "changed": (
        "share of conversations",
        "conversations whose label differs under",
        ratio,
        """
        ground_truth_changed_pooled ground_truth_changed_by_dimension ground_truth_changed_complete_turns
        ground_truth_changed_median ground_truth_changed_last_turn ground_truth_changed_overall
        ground_truth_changed_post_task
        """,
    ),
    "differences": (
        "levels (from 1 to 5)",
        "mean of the convention minus the authors'",
        ratio,
        """
        ground_truth_shift_pooled ground_truth_shift_by_dimension ground_truth_shift_complete_turns
        ground_truth_shift_median ground_truth_shift_last_turn ground_truth_shift_overall ground_truth_shift_post_task
        """,
    ),
}
"""Table of :class:`ChoiceComparison` -> unit, method, statistic of sums, and keys in the order of ``CHOICES``."""


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
