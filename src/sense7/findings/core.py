"""A published number is declared: label, statistic, unit, method, rows, key. The rest stands here, once.

The rest is: resampling, the reason where there is no number, the row of a table. A statistic is an array of 1 + draws
numbers: the estimate, then its value in every resample of participants. The difference of two statistics of one
bootstrap is thus paired, and written as a minus sign.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np
import pandas as pd

from sense7.arguments import bind_arguments, is_of_kind
from sense7.errors import UserError, wrong_kind
from sense7.estimators.alpha import joined
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import ComputedBy, Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.study import Study
from sense7.terminal import count_of


def require_own(study: Study, bootstrap: ParticipantBootstrap) -> None:
    """Refuse a bootstrap of other participants than the study's; every finding that is given both begins with it.

    Participants of whom a statistic has no data are resampled like all others: who has data is chance as well.
    """
    if not isinstance(study, Study):
        raise wrong_kind("a finding", "a Study", "study", study, "Give what s7.load(...) returns.")
    remedy = "s7.ParticipantBootstrap(study.conversations['participant'])."
    if not isinstance(bootstrap, ParticipantBootstrap):
        raise wrong_kind(
            "a finding", "a ParticipantBootstrap", "bootstrap", bootstrap, f"Give {remedy}"
        )
    theirs, own = bootstrap.names, pd.Index(study.conversations["participant"].dropna().unique())
    sides = {
        "only in the bootstrap": theirs.difference(own),
        "only in the study": own.difference(theirs),
    }
    differ = [
        f"{len(names):,} {side}, such as {names.tolist()[0]!r}"
        for side, names in sides.items()
        if len(names)
    ]
    if differ:
        raise UserError(
            f"The bootstrap resamples {count_of(len(theirs), 'participant')}; {study.name} has "
            f"{count_of(len(own), 'participant')} ({'; '.join(differ)}). Make it from the study that is analyzed: "
            f"{remedy}"
        )


class NotComputable(Exception):
    """Why there is no number: raised in a statistic by `need`, it becomes the reason of the number's row."""


def need(met: object, reason: str) -> None:
    """Refuse to compute a number, and say why."""
    if not met:
        raise NotComputable(reason)


@dataclass(frozen=True)
class Number:
    """One published number.

    ``statistic`` returns an array of 1 + draws numbers, of which the percentile interval is made, or an `Estimate`
    whose interval is of another kind, said by ``interval``. ``rows`` are what n counts: a frame with a column
    participant, or the participant of each. ``note`` says what a number lacks that is there nevertheless.

    Of a contrast, ``groups`` holds the group of each row, and ``contrast`` its name in ``FEWEST_IN_A_GROUP``: there is
    no interval where a group has fewer participants.
    """

    label: str
    statistic: Callable[[], np.ndarray | Estimate]
    unit: str
    method: str
    rows: pd.DataFrame | pd.Series | pd.Index
    key: str = ""
    undefined: str = "it is undefined in these data"
    interval: str | None = None
    note: str = ""
    groups: pd.Series | np.ndarray | None = None
    contrast: str = ""

    @property
    def participants(self) -> pd.Series | pd.Index:
        """The participant of each row."""
        return self.rows["participant"] if isinstance(self.rows, pd.DataFrame) else self.rows

    def row(self, bootstrap: ParticipantBootstrap) -> dict:
        """Its row of a table of estimates. Here alone NotComputable is caught; every other error is an error."""
        common = {"n": len(self.rows), "unit": self.unit, "method": self.method}
        try:
            found = self.statistic()
        except NotComputable as why:
            return estimate_row(**common, reason=str(why))
        if not isinstance(found, Estimate):
            interval = bootstrap.interval(found[1:], self.participants)
            found = Estimate(float(found[0]), *interval)
        if self.contrast and not found.reason:
            few = bootstrap.too_few_in_a_group(self.participants, self.groups, self.contrast)
            if few:
                found = Estimate(found.estimate, reason=few)
        row = bootstrap.row(found, **common, undefined=self.undefined, how=self.interval)
        return row | {
            "reason": joined(row["reason"], self.note if np.isfinite(found.estimate) else "")
        }


def tabulate(name: str, numbers: Iterable[Number], bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return a table of estimates: one row per number, called by its label, under its key if any has one."""
    numbers = list(numbers)
    keys = (
        {number.label: number.key for number in numbers}
        if any(number.key for number in numbers)
        else None
    )
    return estimate_table({number.label: number.row(bootstrap) for number in numbers}, name, keys)


_KINDS = {
    "study": is_of_kind(Study, "a Study", "Give what s7.load(...) returns."),
    "bootstrap": is_of_kind(
        ParticipantBootstrap,
        "a ParticipantBootstrap",
        "Give s7.ParticipantBootstrap(study.conversations['participant']).",
    ),
}
"""Checks of what most findings are given, by the name of the parameter."""


def finding(function: Callable) -> Callable:
    """Mark a public function of which values are recorded: each row that it returns under a key says so.

    A row of another finding that is returned under the same key keeps the name of that one, whose call is the shorter
    way to the number. Under another key it is a number of this function.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    signature = inspect.signature(function)

    @functools.wraps(function)
    def naming_itself(*arguments, **options):
        given = bind_arguments(function.__qualname__, signature, arguments, options).arguments
        for parameter, check in _KINDS.items():
            if (
                parameter in given
                and signature.parameters[parameter].default is inspect.Parameter.empty
            ):
                check(function.__qualname__, parameter, given[parameter])
        result = function(*arguments, **options)
        chosen = {option: value for option, value in given.items() if _is_option(value)}
        return _with_function(result, functools.partial(ComputedBy, name, chosen))

    return naming_itself


def _is_option(argument: object) -> bool:
    """Whether an argument is a choice that can be written down, unlike data and bootstraps."""
    return isinstance(argument, str | bool | int | float)


def _with_function(result, named: Callable[[str], ComputedBy]):
    """What a finding returned, with the function in each row that has a key."""
    if isinstance(result, pd.DataFrame):
        if not {"key", "estimate"} <= set(result):
            return result
        earlier = result["computed_by"] if "computed_by" in result else [None] * len(result)
        functions = [
            _function_of(key, before, named)
            for key, before in zip(result["key"], earlier, strict=True)
        ]
        return result.assign(computed_by=pd.Series(functions, index=result.index, dtype=object))
    if isinstance(result, Mapping):
        if {"key", "estimate"} <= set(result):
            return {
                **result,
                "computed_by": _function_of(result["key"], result.get("computed_by"), named),
            }
        return {name: _with_function(part, named) for name, part in result.items()}
    if is_dataclass(result):
        parts = {
            field.name: _with_function(getattr(result, field.name), named)
            for field in fields(result)
        }
        return replace(result, **parts)
    if type(result) in (list, tuple):
        return type(result)(_with_function(part, named) for part in result)
    return result


def _function_of(
    key: str, earlier: ComputedBy | None, named: Callable[[str], ComputedBy]
) -> ComputedBy | None:
    """Which function returned a row under its key: an earlier one, unless the row has another key since."""
    if not key:
        return None
    if isinstance(earlier, ComputedBy) and earlier.key == key:
        return earlier
    return named(key)


def keyed_rows(found: object) -> Iterator[dict]:
    """Every row that is recorded under a key, in what a finding returns: tables, rows, or several of these."""
    if isinstance(found, pd.DataFrame):
        rows = found.to_dict("records") if {"key", "estimate"} <= set(found) else []
        yield from (row for row in rows if row["key"])
    elif isinstance(found, Mapping):
        if {"key", "estimate"} <= set(found):
            yield dict(found)
        else:
            yield from (row for part in found.values() for row in keyed_rows(part))
    elif is_dataclass(found):
        yield from (
            row for field in fields(found) for row in keyed_rows(getattr(found, field.name))
        )
    elif isinstance(found, list | tuple):
        yield from (row for part in found for row in keyed_rows(part))


def resampled(
    bootstrap: ParticipantBootstrap, statistic: Callable, values, participants
) -> np.ndarray:
    """Return a function of sums over rows, in all rows and in every resample: shape (1 + draws, ...)."""
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.asarray(statistic(values.sum(axis=0)))
    return np.concatenate([whole[None], bootstrap.distribution(statistic, values, participants)])


def share(bootstrap: ParticipantBootstrap, counted, among, participants) -> np.ndarray:
    """Return the sum of one column by that of another, such as a share of rows or a mean, as `resampled` does."""
    return resampled(bootstrap, ratio, np.column_stack([counted, among]), participants)


def widened(bootstrap: ParticipantBootstrap, comparisons: int) -> ParticipantBootstrap:
    """Return the same resamples with intervals for so many comparisons together (Bonferroni)."""
    return replace(bootstrap, confidence=1 - (1 - bootstrap.confidence) / max(1, comparisons))


class Resamples:
    """Statistics of complete columns over all units and in every resample of them: arrays of shape (1 + draws,).

    The index of the frame names the units, such as conversations; the bootstrap says how many resamples of them, the
    seed, and the confidence.
    """

    def __init__(self, frame: pd.DataFrame, bootstrap: ParticipantBootstrap):
        self.frame = frame
        self.bootstrap = replace(bootstrap, participants=pd.Series(frame.index, dtype=object))
        self.weights = np.vstack(
            [np.ones((1, len(frame))), self.bootstrap.weights()[:, np.arange(len(frame))]]
        )
        self._correlations: dict[tuple[str, str], np.ndarray] = {}

    def of(self, frame: pd.DataFrame) -> "Resamples":
        """The same of other columns of these units; own resamples of fewer units."""
        return Resamples(frame, self.bootstrap)

    def spearman(self, first: str, second: str) -> np.ndarray:
        """Spearman's correlation of two columns."""
        pair = min(first, second), max(first, second)
        if pair not in self._correlations:
            columns = (self.frame[name].to_numpy() for name in pair)
            self._correlations[pair] = spearman_in_draws(*columns, self.weights)
        return self._correlations[pair]

    def mean(self, values) -> np.ndarray:
        """Mean of one number per unit."""
        return self.weights @ np.asarray(values, dtype=float) / self.weights.sum(axis=1)

    def deviation(self, values) -> np.ndarray:
        """Standard deviation (n - 1) of one number per unit."""
        centered, n = np.asarray(values, dtype=float) - np.mean(values), self.weights.sum(axis=1)
        squares = self.mean(centered * centered) - self.mean(centered) * self.mean(centered)
        return np.sqrt(np.maximum(squares, 0) * n / (n - 1))

    def quantile(self, values, share: float) -> np.ndarray:
        """Quantile of one number per unit, as `numpy.quantile` computes it."""
        order = np.argsort(values, kind="stable")
        ranked, upto = (
            np.asarray(values, dtype=float)[order],
            np.cumsum(self.weights[:, order], axis=1),
        )
        position = (upto[:, -1] - 1) * share
        low, high = (
            ranked[(upto > end(position)[:, None]).argmax(axis=1)] for end in (np.floor, np.ceil)
        )
        return low + (position - np.floor(position)) * (high - low)

    def alpha(self, items: pd.DataFrame) -> np.ndarray:
        """Cronbach's alpha of complete columns."""
        k, items = items.shape[1], items.to_numpy()
        variances = sum(self.deviation(column) ** 2 for column in items.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            return k / (k - 1) * (1 - variances / self.deviation(items.sum(axis=1)) ** 2)
