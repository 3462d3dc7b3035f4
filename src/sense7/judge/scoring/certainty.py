r"""Coverage and accuracy of a judge that answers only where it is certain.

How certain a judge is of a conversation comes from its predictions alone: the mean over runs of the column
``certainty`` where every run has one, else minus the standard deviation (n - 1) of its scores over runs. Conversations
are taken from the most certain one on. Those that are equally certain have no order: the curve goes through all of
them in a straight line, as the mean over all their orders does.

With :math:`h_c` whether the label is right (mean over runs), the accuracy at coverage q is the mean of :math:`h` over
the most certain share q of the conversations; for the error it is :math:`|s_c - g_c|`. The area under the curve is the
mean over q = 1%, 2%, .., 100%. An order by chance has the value at full coverage everywhere; the ideal order has the
right labels, or the small errors, first. The share of the way from one to the other is

.. math:: \frac{A - A_\text{chance}}{A_\text{ideal} - A_\text{chance}}

Geifman, Y., & El-Yaniv, R. (2017). Selective Classification for Deep Neural Networks. NeurIPS 30.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.findings.ground_truth import labels
from sense7.judge.predictions import counted_scores
from sense7.judge.scoring.metrics import METRICS
from sense7.judge.scoring.simulated import method_prefix

__all__ = ["TITLES", "Selective", "certainties", "coverage_curve", "references", "selective"]

COVERAGES = tuple(share / 10 for share in range(1, 11))
"""Coverages of the curve that are shown."""

_GRID = np.arange(1, 101) / 100
_DIGITS = 9

AREA_KEYS = {
    "accuracy": {
        "area": "certainty_accuracy_area",
        "chance": "certainty_accuracy_chance",
        "ideal": "certainty_accuracy_ideal",
        "gain": "certainty_accuracy_gain",
        "share": "certainty_accuracy_share",
        "half": "certainty_accuracy_half",
        "half_gain": "certainty_accuracy_half_gain",
    },
    "mean_absolute_error": {
        "area": "certainty_error_area",
        "chance": "certainty_error_chance",
        "ideal": "certainty_error_ideal",
        "gain": "certainty_error_gain",
        "share": "certainty_error_share",
        "half": "certainty_error_half",
        "half_gain": "certainty_error_half_gain",
    },
}
"""Metric -> row of the areas -> key."""

_AREAS = {
    "area": "area under the curve, by the judge's certainty",
    "chance": "area in an order by chance: the value at full coverage",
    "ideal": "area in the ideal order",
    "gain": "area minus that by chance, positive where certainty helps",
    "share": "share of the way from chance to the ideal order",
    "half": "value on the more certain half",
    "half_gain": "value on the more certain half against that of all, positive where certainty helps",
}

TITLES = {
    "area": "area by certainty",
    "chance": "area by chance",
    "ideal": "area in the ideal order",
    "gain": "area above chance",
    "share": "share of the way from chance to ideal",
    "half": "on the more certain half",
    "half_gain": "the half against all",
}
"""Row of the areas -> name for readers."""


@dataclass(frozen=True, eq=False)
class Selective:
    """What :func:`selective` computed.

    Attributes
    ----------
    how : str
        Where the certainty comes from; "" if there is none.
    curves : dict of DataFrame
        ``accuracy`` and ``mean_absolute_error`` -> table of estimates, one row per coverage.
    ideal : dict of DataFrame
        The curves in the ideal order.
    areas : dict of DataFrame
        The same -> table of estimates with the rows area, chance, ideal, gain, share, half, half_gain, and keys.
    """

    how: str
    curves: dict[str, pd.DataFrame] = field(repr=False)
    ideal: dict[str, pd.DataFrame] = field(repr=False)
    areas: dict[str, pd.DataFrame] = field(repr=False)


def certainties(runs: Mapping[str, pd.DataFrame], policy: str = "strict") -> tuple[pd.Series, str, str]:
    """Return how certain a judge is of each conversation, where that comes from, and why it is not known if so.

    Parameters
    ----------
    runs : mapping
        Run -> predictions with conversation and score, and perhaps certainty.
    policy : {"strict", "authors"}
        See :func:`sense7.judge.predictions.counted_scores`.

    Returns
    -------
    certainty : Series
        By conversation; higher is more certain. NaN where it is not known.
    how, reason : str
        One of them is "".

    Examples
    --------
    >>> first = pd.DataFrame({"conversation": ["A", "B"], "score": [4.0, 2.0]})
    >>> second = pd.DataFrame({"conversation": ["A", "B"], "score": [4.0, 4.0]})
    >>> found, how, _ = certainties({"1": first, "2": second})
    >>> found.round(3).tolist(), how
    ([-0.0, -1.414], 'spread of the scores over 2 runs')
    """
    frames = list(runs.values())
    if frames and all("certainty" in frame and frame["certainty"].notna().any() for frame in frames):
        stated = [frame.set_index("conversation")["certainty"].astype(float) for frame in frames]
        return pd.concat(stated, axis=1).mean(axis=1), "column certainty of the predictions", ""
    if len(frames) < 2:
        return pd.Series(dtype=float), "", "one run without the column certainty does not say how certain the judge is"
    scores = pd.concat(
        [pd.Series(counted_scores(frame, policy), frame["conversation"].to_numpy(dtype=object)) for frame in frames],
        axis=1,
    )
    return -scores.std(axis=1, ddof=1), f"spread of the scores over {len(frames):,} runs", ""


def coverage_curve(sums: np.ndarray) -> np.ndarray:
    """Return the mean of a value over the most certain share of the conversations, for every percent of coverage.

    Parameters
    ----------
    sums : array, shape (..., groups, 2)
        Groups of equally certain conversations, the most certain first: their whole number and the sum of the value.

    Returns
    -------
    array, shape (..., 100)
        NaN where there is no conversation.

    Examples
    --------
    >>> curve = coverage_curve(np.array([[2.0, 2.0], [2.0, 1.0]]))
    >>> curve[[24, 49, 74, 99]].round(3).tolist()
    [1.0, 1.0, 0.833, 0.75]
    """
    flat = sums.reshape(-1, *sums.shape[-2:])
    groups = flat.shape[1]
    until = np.concatenate([np.zeros((len(flat), 1, 2)), np.cumsum(flat, axis=1)], axis=1)
    total = until[:, -1, 0]
    wanted = total[:, None] * _GRID
    # Of every conversation its group; that of the first one which reaches a share is looked up. Rounding may not push
    # the last percent off the end.
    group_of = np.repeat(np.tile(np.arange(groups), len(flat)), flat[..., 0].ravel().astype(int))
    first = np.cumsum(total) - total
    reached = (first[:, None] + np.clip(np.ceil(wanted - 1e-9) - 1, 0, None)).astype(int)
    group = group_of[np.minimum(reached, len(group_of) - 1)] if len(group_of) else np.zeros(reached.shape, dtype=int)
    rows = np.arange(len(flat))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        number, value = np.moveaxis(flat[rows, group], -1, 0)
        before, value_before = np.moveaxis(until[rows, group], -1, 0)
        curves = (value_before + (wanted - before) / number * value) / wanted
    return curves.reshape(*sums.shape[:-2], len(_GRID))


def selective(
    runs: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap, *, policy: str = "strict"
) -> Selective:
    """Return coverage-accuracy curves of a judge, and the areas under them.

    Parameters
    ----------
    runs : mapping
        Run -> predictions with conversation, participant, score, ground_truth; certainty if known.
    bootstrap : ParticipantBootstrap
        Resamples of participants. In each, conversations are ordered by the same certainties.
    policy : {"strict", "authors"}
        See :func:`sense7.judge.predictions.counted_scores`.

    Returns
    -------
    Selective
        Without a certainty every row has the reason.
    """
    certainty, how, reason = certainties(runs, policy)
    data = _values(runs, certainty, policy)
    if not reason and data.empty:
        reason = "no conversation has a ground truth and a certainty"
    found = {
        metric: _without(metric, reason) if reason else _of_metric(data, metric, bootstrap, how) for metric in AREA_KEYS
    }
    for table in (table for tables in found.values() for table in tables):
        table["method"] = method_prefix(runs) + table["method"]
    curves, ideal, areas = ({metric: tables[part] for metric, tables in found.items()} for part in range(3))
    return Selective("" if reason else how, curves, ideal, areas)


def references(found: Selective, metric: str) -> dict[str, pd.DataFrame]:
    """Return the two curves that a judge's curve lies between: in the ideal order, and by chance.

    Parameters
    ----------
    found : Selective
        What :func:`selective` returned.
    metric : {"accuracy", "mean_absolute_error"}
        Which curves.
    """
    chance = found.curves[metric].copy()
    for column in ("estimate", "low", "high"):
        chance[column] = chance[column].iloc[-1]
    bare = {"low": np.nan, "high": np.nan}
    return {"ideal order": found.ideal[metric].assign(**bare), "by chance": chance.assign(**bare)}


def _values(runs: Mapping[str, pd.DataFrame], certainty: pd.Series, policy: str) -> pd.DataFrame:
    """One row per conversation: participant, certainty, whether right and how wrong (means over runs)."""
    columns = ["conversation", "participant", "right", "wrong"]
    parts = [pd.DataFrame(columns=columns)]
    for frame in runs.values():
        score, truth = counted_scores(frame, policy), frame["ground_truth"].to_numpy(dtype=float)
        known = np.isfinite(score) & np.isfinite(truth)
        right = (labels(score[known]) == labels(truth[known])).astype(float)
        wrong = np.abs(score - truth)[known]
        parts.append(frame.loc[known, ["conversation", "participant"]].assign(right=right, wrong=wrong))
    rows = pd.concat(parts[1:] or parts, ignore_index=True)
    mean = rows.groupby("conversation", sort=False).agg({"participant": "first", "right": "mean", "wrong": "mean"})
    mean["certainty"] = certainty.reindex(mean.index).round(_DIGITS)
    return mean.dropna()


def _of_metric(
    data: pd.DataFrame, metric: str, bootstrap: ParticipantBootstrap, how: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Curve, that in the ideal order, and areas of one metric."""
    error = metric == "mean_absolute_error"
    value = data["wrong" if error else "right"].to_numpy(dtype=float)
    sign = -1 if error else 1
    by_certainty = _curves(data, value, -data["certainty"].to_numpy(dtype=float), bootstrap)
    ideally = _curves(data, value, (-sign * value).round(_DIGITS), bootstrap)
    kind, people = METRICS[metric], data["participant"]

    def row(part: Callable, unit: str, method: str, key: str = "") -> dict:
        value, drawn = (part(one, best) for one, best in zip(by_certainty, ideally, strict=True))
        if few := bootstrap.too_few(people):
            return estimate_row(float(value), n=len(data), unit=unit, method=method, reason=few, key=key)
        found = Estimate(float(value), *bootstrap.interval(drawn, people))
        undefined = "every order is the ideal one"
        return bootstrap.row(found, n=len(data), unit=unit, method=method, key=key, undefined=undefined)

    method = f"{kind.method}; conversations by certainty: {how}"
    curve = {share: row(_at(share), kind.unit, f"{method}; coverage {share:.0%}") for share in COVERAGES}
    ideal = {share: row(_at(share, ideal=True), kind.unit, f"{kind.method}; ideal order") for share in COVERAGES}
    parts = _parts(sign)
    areas = {
        name: row(parts[name], "share of the way" if name == "share" else kind.unit, f"{about}; {method}", key)
        for (name, about), key in zip(_AREAS.items(), AREA_KEYS[metric].values(), strict=True)
    }
    return estimate_table(curve, "coverage"), estimate_table(ideal, "coverage"), estimate_table(areas, "area")


def _parts(sign: int) -> dict[str, Callable]:
    """Row of the areas -> how it comes from the curve by certainty and that in the ideal order."""
    half = _at(0.5)

    def share(one: np.ndarray, best: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return (one.mean(axis=-1) - one[..., -1]) / (best.mean(axis=-1) - one[..., -1])

    return {
        "area": lambda one, _: one.mean(axis=-1),
        "chance": lambda one, _: one[..., -1],
        "ideal": lambda _, best: best.mean(axis=-1),
        "gain": lambda one, _: sign * (one.mean(axis=-1) - one[..., -1]),
        "share": share,
        "half": half,
        "half_gain": lambda one, best: sign * (half(one, best) - one[..., -1]),
    }


def _at(share: float, *, ideal: bool = False) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The value at a coverage, of the curve by certainty or of the ideal one."""
    column = round(len(_GRID) * share) - 1
    return lambda *curves: curves[ideal][..., column]


def _curves(
    data: pd.DataFrame, value: np.ndarray, order: np.ndarray, bootstrap: ParticipantBootstrap
) -> tuple[np.ndarray, np.ndarray]:
    """Curve of a value in ascending order of ``order``, and in every resample."""
    distinct, group = np.unique(order, return_inverse=True)
    each = np.zeros((len(data), len(distinct), 2))
    each[np.arange(len(data)), group] = np.column_stack([np.ones(len(data)), value])
    sums = sums_by_participant(each, bootstrap.codes(data["participant"]), len(bootstrap.names))
    flat = sums.reshape(len(sums), -1)
    drawn = bootstrap.in_every_draw(
        lambda weights: coverage_curve((weights @ flat).reshape(len(weights), *sums.shape[1:])), 8 * flat.shape[1]
    )
    return coverage_curve(each.sum(axis=0)), drawn


def _without(metric: str, reason: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    kind = METRICS[metric]

    def row(method: str, key: str = "") -> dict:
        return estimate_row(n=0, unit=kind.unit, method=f"{method}; {kind.method}", reason=reason, key=key)

    curve = {share: row(f"coverage {share:.0%}") for share in COVERAGES}
    areas = {name: row(about, AREA_KEYS[metric][name]) for name, about in _AREAS.items()}
    curves = estimate_table(curve, "coverage")
    return curves, curves.copy(), estimate_table(areas, "area")


check_arguments(globals())
