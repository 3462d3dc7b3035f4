"""A published number is declared: label, statistic, unit, method, rows, key, needs. The rest stands here, once.

The rest is: resampling, the reason where there is no number, the row of a table. A statistic is an array of 1 + draws
numbers: the estimate, then its value in every resample of participants. The difference of two statistics of one
bootstrap is thus paired, and written as a minus sign.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.statistics.alpha import joined
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.estimates import ComputedBy, Estimate, estimate_row, estimate_table
from sense7.statistics.least_squares import correlation, cross_products, within
from sense7.statistics.order import rounded
from sense7.statistics.ranks import spearman_in_draws
from sense7.study import Study
from sense7.terminal import count_of

Function = TypeVar("Function", bound=Callable)


class NotComputable(Exception):
    """Why a statistic has no number, where computing it tells: raised by `need`, the reason of the number's row."""


def need(met: object, reason: str) -> None:
    """Refuse to compute a number, and say why."""
    if not met:
        raise NotComputable(reason)


@dataclass(frozen=True)
class Needs:
    """Answers that somebody has to have given, by their words, and the fewest rows, participants and groups.

    ``varying`` are values that have to differ, by their words. ``in_each_group`` is the fewest rows of each group of a
    number's ``groups``; two groups are needed at least.
    """

    answers: Mapping[str, pd.DataFrame | pd.Series] = field(default_factory=dict)
    rows: int = 1
    participants: int = 0
    in_each_group: int = 0
    varying: Mapping[str, pd.Series | np.ndarray] = field(default_factory=dict)


def is_constant(values) -> bool:
    """Return whether values do not differ beyond rounding; missing ones do not count.

    Examples
    --------
    >>> is_constant([0.1 + 0.2, 0.3, np.nan]), is_constant(["a", "b"])
    (True, False)
    """
    distinct = pd.Series(values).dropna().unique()
    if len(distinct) > 1 and pd.api.types.is_numeric_dtype(distinct):
        return bool(rounded(np.ptp(distinct.astype(float))) == 0)
    return len(distinct) < 2


@dataclass(frozen=True)
class Number:
    """One published number.

    ``statistic`` is an array of 1 + draws numbers, for the percentile interval; an `Estimate` whose interval is of
    another kind, described by ``interval``; a float, which has no interval; or a function that returns one of them.
    ``needs`` declares what there has to be, and ``reason`` gives another reason why there is no number. ``rows`` are
    what n counts, ``counted`` in words: a frame with a column participant, or the participant of each;
    ``participants`` are those whose resamples the interval is of, where others than these count. ``note``: appended to
    the reason where there is an estimate, e.g. items left out. ``undefined``: the reason where rows give no number.
    ``shifted``: recentre the resamples on the estimate
    (explained variance is biased upward).

    Of a contrast, ``groups`` holds the group of each participant's row, and ``contrast`` its name in
    ``FEWEST_IN_A_GROUP``: there is no interval where a group has fewer participants.
    """

    label: str
    statistic: Callable[[], np.ndarray | Estimate | float] | np.ndarray | Estimate | float | None
    unit: str
    method: str
    rows: pd.DataFrame | pd.Series | pd.Index
    key: str = ""
    counted: str = "conversation"
    needs: Needs = Needs()
    undefined: str = ""
    reason: str = ""
    interval: str | None = None
    note: str = ""
    participants: pd.Series | None = None
    shifted: bool = False
    groups: pd.Series | np.ndarray | None = None
    contrast: str = ""

    @property
    def _resampled(self) -> pd.Series | pd.Index:
        """Participant of each row that is resampled."""
        participants = self.rows if self.participants is None else self.participants
        if isinstance(participants, pd.DataFrame):
            return participants["participant"]
        return participants

    def _number_of(self, rows: int) -> str:
        """A number of what is counted, in words: "2 failures of Relational"."""
        noun, _, qualifier = self.counted.partition(" ")
        return f"{count_of(rows, noun)} {qualifier}".rstrip()

    @property
    def missing(self) -> str:
        """Why there is no number, from what it needs; "" if there is one."""
        never = [
            words
            for words, answers in self.needs.answers.items()
            if not answers.notna().any(axis=None)
        ]
        if never:
            verb = "was" if len(never) == 1 else "were"
            return f"{' and '.join(never)} {verb} never given in this data set"
        if self.reason:
            return self.reason
        if not len(self.rows) and self.needs.rows == 1:
            return self.undefined or f"no {self.counted} has all that it needs"
        if len(self.rows) < self.needs.rows:
            return f"{self._number_of(len(self.rows))}; this needs {self.needs.rows}"
        participants = pd.Series(self._resampled).nunique()
        if participants < self.needs.participants:
            return f"{count_of(participants, 'participant')}; this needs {self.needs.participants}"
        if self.needs.in_each_group:
            sizes = pd.Series(self.groups).value_counts()
            smallest = sizes.min() if len(sizes) > 1 else 0
            if smallest < self.needs.in_each_group:
                of_group = self._number_of(smallest)
                return f"{of_group} in a group compared; each needs {self.needs.in_each_group}"
        for words, values in self.needs.varying.items():
            if is_constant(values):
                return f"{words} the same in all of them"
        return ""

    def row(self, bootstrap: ParticipantBootstrap) -> dict:
        """Its row of a table of estimates."""
        common = {
            "n": len(self.rows),
            "unit": self.unit,
            "method": self.method,
            "key": self.key,
        }
        missing = self.missing
        if missing:
            return estimate_row(**common, reason=missing)
        result = self.statistic
        try:
            if callable(result):
                result = result()
        except NotComputable as why:
            return estimate_row(**common, reason=str(why))
        undefined = self.undefined or "it is undefined in these data"
        if isinstance(result, float):
            return estimate_row(result, **common, reason=self.note)
        if isinstance(result, Estimate):
            undefined = result.reason or undefined
        else:
            result = bootstrap.percentile(result, self._resampled, shifted=self.shifted)
        if self.contrast and not result.reason:
            too_few = bootstrap.too_few_in_a_group(self._resampled, self.groups, self.contrast)
            if too_few:
                result = Estimate(result.estimate, reason=too_few)
        row = bootstrap.row(result, **common, undefined=undefined, how=self.interval)
        if self.note and np.isfinite(result.estimate):
            row["reason"] = joined(row["reason"], self.note)
        return row


def tabulate(name: str, numbers: Iterable[Number], bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return a table of estimates: one row per number, called by its label, under its key if any has one."""
    rows = {number.label: number.row(bootstrap) for number in numbers}
    return estimate_table(rows, name, None if rows else {})


def finding(function: Function) -> Function:
    """Mark a public function of which values are recorded: each row that it returns under a key says so.

    A row of another finding that is returned under the same key keeps the name of that one, whose call is the shorter
    way to the number. Under another key it is a number of this function. A bootstrap of other participants than the
    study's is refused.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    signature = inspect.signature(function)

    @functools.wraps(function)
    def naming_itself(*arguments, **options):
        bound = signature.bind(*arguments, **options).arguments
        if bound.keys() >= {"study", "bootstrap"}:
            _require_participants_of_study(bound["study"], bound["bootstrap"])
        result = function(*arguments, **options)
        choices = {
            parameter: value
            for parameter, value in bound.items()
            if isinstance(value, str | bool | int | float)
        }
        return _with_function(result, functools.partial(ComputedBy, name, choices))

    return naming_itself


def _require_participants_of_study(study: Study, bootstrap: ParticipantBootstrap) -> None:
    """Refuse a bootstrap of other participants than the study's.

    Participants of whom a statistic has no data are resampled like all others: who has data is chance as well.
    """
    in_study = pd.Index(study.conversations["participant"].dropna().unique())
    differences = []
    for names, where in (
        (bootstrap.names.difference(in_study), "only in the bootstrap"),
        (in_study.difference(bootstrap.names), "only in the study"),
    ):
        if len(names):
            differences.append(f"{len(names):,} {where}, such as {names.tolist()[0]!r}")
    if differences:
        raise UserError(
            f"The bootstrap resamples {count_of(len(bootstrap.names), 'participant')}; {study.name} has "
            f"{count_of(len(in_study), 'participant')} ({'; '.join(differences)}). "
            "Make it from the study that is analyzed: s7.ParticipantBootstrap(study.conversations['participant'])."
        )


_KEYED = {"key", "estimate"}
"""Names that recorded rows have, as columns of a frame or in a mapping."""


def _with_function(result: object, computed_by: Callable[[str], ComputedBy]) -> object:
    """What a finding returned, with the function in each row that has a key."""
    if isinstance(result, pd.DataFrame) and set(result) >= _KEYED:
        rows = [_with_function(row, computed_by) for row in result.to_dict("records")]
        functions = [row["computed_by"] for row in rows]
        return result.assign(computed_by=pd.Series(functions, index=result.index, dtype=object))
    if isinstance(result, Mapping) and set(result) >= _KEYED:
        key = result["key"]
        function = result.get("computed_by")
        # The earlier function of a row stays, unless the row has another key since.
        if not isinstance(function, ComputedBy) or function.key != key:
            function = computed_by(key) if key else None
        return {**result, "computed_by": function}
    if isinstance(result, Mapping):
        return {name: _with_function(part, computed_by) for name, part in result.items()}
    if is_dataclass(result):
        parts = {}
        for field in fields(result):
            parts[field.name] = _with_function(getattr(result, field.name), computed_by)
        return replace(result, **parts)
    if type(result) in (list, tuple):
        return type(result)(_with_function(part, computed_by) for part in result)
    return result


def resampled(
    bootstrap: ParticipantBootstrap, statistic: Callable, values, participants
) -> np.ndarray:
    """Return a function of sums over rows, in all rows and in every resample: shape (1 + draws, ...)."""
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.asarray(statistic(values.sum(axis=0)))
    in_resamples = bootstrap.distribution(statistic, values, participants)
    return np.concatenate([estimate[None], in_resamples])


def share(bootstrap: ParticipantBootstrap, counted, among, participants) -> np.ndarray:
    """Return the sum of one column by that of another, such as a share of rows or a mean, as `resampled` does."""
    return resampled(bootstrap, ratio, np.column_stack([counted, among]), participants)


def mean_of_rows(bootstrap: ParticipantBootstrap, values, participants) -> np.ndarray:
    """Return the mean of a column over its rows, or the share of rows that are true, as `resampled` does."""
    values_and_ones = np.column_stack([values, np.ones(len(values))])
    return resampled(bootstrap, ratio, values_and_ones, participants)


def rank_correlations(
    bootstrap: ParticipantBootstrap,
    columns: Mapping,
    pairs: Sequence[tuple[str, str]],
    participants,
) -> dict[tuple[str, str], np.ndarray]:
    """Return Spearman's correlation of each pair of columns over their rows, such as of turns, as `resampled` does.

    Examples
    --------
    >>> columns, people = {"x": [1, 2, 3], "y": [1, 3, 2]}, ["a", "a", "b"]
    >>> rho = rank_correlations(ParticipantBootstrap(["a", "b"], 100, 1), columns, [("x", "y")], people)
    >>> rho["x", "y"][0].round(6)
    np.float64(0.5)
    """
    in_all_rows = spearman_in_draws(columns, pairs, np.ones((1, len(participants))))
    if bootstrap.no_interval:
        return in_all_rows
    codes = bootstrap.codes(participants)
    in_resamples = spearman_in_draws(columns, pairs, bootstrap.weights(), codes)
    return {pair: np.concatenate([in_all_rows[pair], in_resamples[pair]]) for pair in pairs}


def rank_correlation(bootstrap: ParticipantBootstrap, x, y, participants) -> np.ndarray:
    """Return Spearman's correlation of two columns, see `rank_correlations`."""
    pair = ("x", "y")
    return rank_correlations(bootstrap, {"x": x, "y": y}, [pair], participants)[pair]


def within_correlation(bootstrap: ParticipantBootstrap, x, y, participants) -> np.ndarray:
    r"""Return Pearson's correlation of two columns, each minus its mean over the participant, as `resampled` does.

    .. math:: r_{xy} = \frac{\sum \tilde x \tilde y}{\sqrt{\sum \tilde x^2 \sum \tilde y^2}}

    So the level at which a person rates has no part in it.

    Examples
    --------
    >>> within_correlation(ParticipantBootstrap(["a", "b"], 100, 1), [1, 2, 8, 9], [1, 3, 2, 4], list("aabb"))[0]
    np.float64(1.0)
    """
    deviations = within(np.column_stack([x, y]).astype(float), pd.Series(list(participants)))
    return resampled(bootstrap, correlation, cross_products(deviations), participants)


def mean_number(bootstrap: ParticipantBootstrap, values, rows: pd.DataFrame, **declared) -> Number:
    """Return the number that is the mean of one value per row, or the share of rows that are true."""
    return Number(
        statistic=lambda: mean_of_rows(bootstrap, values, rows["participant"]),
        rows=rows,
        **declared,
    )


def value_row(
    key: str, estimate: object, *, n: int, unit: str, method: str, reason: str = ""
) -> dict:
    """Return a value for a record that need not be a number, such as a verdict or a name; it has no interval."""
    return {
        "key": key,
        "estimate": estimate,
        "n": n,
        "unit": unit,
        "method": method,
        "reason": reason,
    }


def frame_of(
    rows: Mapping[str, object], name: str, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return rows by their labels as a frame; the name stands above its index."""
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return frame.rename_axis(name)
