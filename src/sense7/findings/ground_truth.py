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
    "CHOICES",
    "FATES",
    "HALVES",
    "ChoiceComparison",
    "compare_choices",
    "exact_halves",
    "fates",
    "ground_truth",
    "label_counts",
    "label_shares",
    "labels",
    "other_ground_truths",
]

CHOICES = {
    "all ratings pooled": "pooled",
    "by dimension, then over dimensions": "by_dimension",
    "complete turns only": "complete_turns",
    "median of the turns": "median",
    "last rated turn": "last_turn",
    "overall ratings": "overall",
    "ratings after the conversation": "post_task",
}
"""Other conventions of the ground truth -> endings of keys."""

HALVES = {
    "halves in exact arithmetic": "exact",
    "of these, above the half as computed": "above",
    "of these, below the half as computed": "below",
    "labels that exact arithmetic would change": "changed_by_exactness",
    "labels that rounding halves up would change": "changed_by_half_up",
}
"""Rows of :func:`exact_halves` -> endings of keys."""

FATES = {
    "with ground truth": "known",
    "no turn of the assistant": "no_turn",
    "no turn put to rating": "not_put",
    "turns rated overall only": "overall_only",
    "every answer was that it can't be rated": "unknown_only",
}
"""Rows of :func:`fates` -> endings of keys."""

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
        # One row a conversation of this length: numpy then adds each row up pairwise, just as
        # it adds up the vector of one conversation.
        chosen = np.flatnonzero(lengths == length)
        block = means[starts[chosen, None] + np.arange(length)]
        out[chosen] = np.ascontiguousarray(block).mean(axis=1)
    return pd.Series(out, index=pd.Index(conversations, name="conversation"), name="ground_truth")


def labels(values) -> np.ndarray:
    """Round half to even, then clip to 1..5, as the authors do; NaN stays NaN.

    Examples
    --------
    >>> labels([2.5, 3.5, 5.9, 0.5]).tolist()
    [2.0, 4.0, 5.0, 1.0]
    """
    return np.clip(np.round(np.asarray(values, dtype=float)), 1, 5)


def label_counts(values) -> np.ndarray:
    """How many values have each label 1..5 (see :func:`labels`); missing values are not counted.

    Returns
    -------
    array of int, shape (5,)

    Examples
    --------
    >>> label_counts([4.2, 3.5, 2.5, float("nan")]).tolist()
    [0, 1, 0, 2, 0]
    """
    found = labels(values)
    return np.bincount(found[np.isfinite(found)].astype(int), minlength=len(LEVELS) + 1)[1:]


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
        if not len(truth):
            rows[level] = estimate_row(n=0, unit=unit, method=method, reason=_NONE)
            continue
        values = np.column_stack([labels(truth) == level, np.ones(len(truth))])
        rows[level] = _estimated(bootstrap, ratio, values, people, unit, method, "")
    return estimate_table(rows, "label")


_NONE = "no conversation of this data set has ground truth"


def _known(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Ground truths that are there, and the participant of each."""
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    known = np.isfinite(truth)
    return truth[known], study.conversations["participant"].to_numpy()[known]


def _estimated(bootstrap, statistic, values, people, unit, method, undefined) -> dict:
    """Row of a function of sums over conversations, with its interval; ``undefined``: why it may have no value."""
    estimate, low, high, reason = bootstrap.estimate(statistic, values, people)
    if not np.isfinite(estimate):
        return estimate_row(n=len(values), unit=unit, method=method, reason=undefined)
    method += "" if reason else f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(values), unit=unit, method=method, reason=reason)


def exact_halves(study: Study) -> pd.DataFrame:
    r"""Count the ground truths on the edge of two labels, and where floating point puts them.

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
        Rows as ``HALVES``: counts of conversations; n counts those with ground truth. There are no intervals:
        what is counted is a property of these numbers.
    """
    conversations = study.conversations["conversation"]
    truth = ground_truth(study.turns, conversations).to_numpy()
    ratings = study.turns[list(DIMENSION_NAMES)].to_numpy(dtype=float)
    counts = np.isfinite(ratings).sum(axis=1)
    rated = counts > 0
    whole = np.nansum(ratings[rated], axis=1).astype(np.int64) * (_WHOLE // counts[rated])
    codes = pd.Index(conversations).get_indexer(study.turns.loc[rated, "conversation"])
    twice, below = np.zeros(len(truth), dtype=np.int64), np.zeros(len(truth), dtype=np.int64)
    np.add.at(twice, codes, 2 * whole)
    np.add.at(below, codes, _WHOLE)
    halves, rest = np.divmod(twice, np.maximum(below, 1))
    half = (below > 0) & (rest == 0) & (halves % 2 == 1)
    computed, exact, found = truth[half], halves[half] / 2, labels(truth[half])
    numbers = (
        half.sum(),
        (computed > exact).sum(),
        (computed < exact).sum(),
        (found != labels(exact)).sum(),
        (found != np.floor(exact) + 1).sum(),
    )
    n = int(np.isfinite(truth).sum())
    rows = {
        name: estimate_row(
            number if n else np.nan,
            n=n,
            unit="conversations",
            method="counted; means in whole numbers, compared with those in floating point",
            reason="" if n else _NONE,
        )
        for name, number in zip(HALVES, numbers, strict=True)
    }
    return estimate_table(rows, "ground truths")


def fates(study: Study) -> pd.DataFrame:
    """Count the conversations that have ground truth, and why the others have none.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    DataFrame
        Rows as ``FATES``: counts, each conversation in one row; n counts all conversations.
    """
    names = study.conversations["conversation"]
    turns = study.turns
    states = turns[[f"{name}_state" for name in RATING_NAMES]]
    told = pd.DataFrame(
        {
            "turn": True,
            "put": (states != ABSENT).any(axis=1),
            "overall": turns["overall"].notna(),
            "rated": turns[list(DIMENSION_NAMES)].notna().any(axis=1),
        },
        index=turns.index,
    )
    has = told.groupby(turns["conversation"]).any().reindex(names).fillna(value=False).astype(bool)
    none = ~has["rated"]
    numbers = (
        (~none).sum(),
        (~has["turn"]).sum(),
        (has["turn"] & ~has["put"]).sum(),
        (none & has["overall"]).sum(),
        (none & has["put"] & ~has["overall"]).sum(),
    )
    method = "conversations counted, each once"
    rows = {
        name: estimate_row(number, n=len(names), unit="conversations", method=method)
        for name, number in zip(FATES, numbers, strict=True)
    }
    return estimate_table(rows, "conversations")


def other_ground_truths(study: Study) -> pd.DataFrame:
    """What a conversation would score under other conventions than the authors'.

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
    given = seven.notna().sum(axis=1).groupby(of).sum()
    found = {
        "all ratings pooled": seven.sum(axis=1).groupby(of).sum() / given.where(given > 0),
        "by dimension, then over dimensions": seven.groupby(of).mean().mean(axis=1),
        "complete turns only": complete.groupby(of).mean(),
        "median of the turns": turn_means.groupby(of).median(),
        "last rated turn": turn_means.groupby(of).last(),
        "overall ratings": turns["overall"].groupby(of).mean(),
        "ratings after the conversation": post.mean(axis=1),
    }
    frame = pd.DataFrame({name: values.reindex(conversations.index) for name, values in found.items()}).round(12)
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
    r"""Hold other conventions of the ground truth against the authors'.

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
    tables: tuple[dict, dict, dict] = ({}, {}, {})
    units = ("correlation", "share of conversations", "levels (from 1 to 5)")
    for name in CHOICES:
        other = frame[name].to_numpy()
        both = np.isfinite(truth) & np.isfinite(other)
        methods = (
            f"Pearson correlation of the authors' ground truth with: {name}",
            f"conversations whose label differs under: {name}",
            f"mean of the convention minus the authors': {name}",
        )
        reason = _why_not(study, name, truth, other, int(both.sum()))
        if reason:
            for table, unit, method in zip(tables, units, methods, strict=True):
                table[name] = estimate_row(n=both.sum(), unit=unit, method=method, reason=reason)
            continue
        x, y, one = truth[both] - _MIDDLE, other[both] - _MIDDLE, np.ones(both.sum())
        changed = labels(truth[both]) != labels(other[both])
        sums = (
            np.column_stack([one, x, y, x * x, y * y, x * y]),
            np.column_stack([changed, one]),
            np.column_stack([y - x, one]),
        )
        undefined = "one of the two does not vary"
        for table, unit, method, statistic, values in zip(
            tables, units, methods, (_correlation, ratio, ratio), sums, strict=True
        ):
            few = statistic is _correlation and len(values) < FEWEST
            table[name] = (
                estimate_row(n=len(values), unit=unit, method=method, reason=_few(len(values)))
                if few
                else _estimated(bootstrap, statistic, values, people[both], unit, method, undefined)
            )
    return ChoiceComparison(*(estimate_table(table, "instead of the authors' convention") for table in tables))


def _few(conversations: int) -> str:
    return f"only {count_of(conversations, 'conversation')}"


_MIDDLE = (1 + len(LEVELS)) / 2  # taken off before squares are summed, so that their differences stay exact


def _correlation(sums: np.ndarray) -> np.ndarray:
    """Pearson's correlation from n, and the sums of x, y, their squares and their product."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spreads = np.maximum(n * xx - x**2, 0) * np.maximum(n * yy - y**2, 0)
    defined = spreads > 1e-12 * n**4
    return np.where(defined, np.clip((n * xy - x * y) / np.sqrt(np.where(defined, spreads, 1)), -1, 1), np.nan)


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
