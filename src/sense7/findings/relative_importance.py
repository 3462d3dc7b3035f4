r"""How much each dimension adds to the explanation of the overall rating: Shapley shares of R squared (LMG).

Dimensions that go together share what they explain. LMG splits R squared among them by the mean,
over all orders in which they could enter a regression, of what each adds. It is computed from
covariances alone, over all subsets, so that participants can be resampled exactly.

These are shares of variance in a regression. They are not the shares of participants who name a
dimension as the most important (:mod:`sense7.findings.importance`).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import joined, lacking_items, rows_of, usable
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import ROUNDING, lmg_from_covariances
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["overall_and_ratings", "parts_and_shares"]

TOTAL = "all together"
"""The row of R squared."""

ROWS_A_DIMENSION = 10


def overall_and_ratings(study: Study) -> tuple[pd.Series, pd.DataFrame]:
    """Return the overall rating of each turn put to rating, and its seven ratings, indexed by participant."""
    turns = study.turns_put_to_rating.set_index("participant")
    return turns["overall"], turns[list(DIMENSION_NAMES)]


def parts_and_shares(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    conversations: pd.Series | None = None,
    recorded_as: str = "",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return LMG of each rating for the outcome and R squared, and LMG divided by R squared, from the same resamples.

    Parameters
    ----------
    outcome : Series, shape (units,)
        What is explained; NaN if missing.
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items never rated or without variation are left out, and have a
        row that says so.
    conversations : Series, shape (units,), optional
        Conversation of each unit. Outcome and ratings are then taken as departures from their means over the units of
        the conversation that have all of them: what is divided is the variance within conversations.
    recorded_as : {"relative_importance", "relative_importance_within", ""}
        Beginning of the keys, which the shares and R squared get; "" for no keys.

    Returns
    -------
    parts : DataFrame
        One row per item and one of R squared (``TOTAL``): estimate, low, high (0..1), n (complete units), unit,
        method, reason. Fewer than ten units an item are too few.
    shares : DataFrame
        One row per item; they sum to one.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> parts, shares = parts_and_shares(x["a"] * 1.0 + x["b"], x, ParticipantBootstrap(x.index, 200, 1))
    >>> round(float(parts.loc["all together", "estimate"]), 6), round(float(shares["estimate"].sum()), 6)
    (1.0, 1.0)
    """
    data = _regression_data(outcome, ratings, conversations)
    estimates = data.estimates(_lmg_and_shares, bootstrap)
    items = data.used.shape[1]
    parts = _Quantity("share of variance", "LMG", "the outcome does not vary")
    shares = _Quantity("share of explained variance", "LMG divided by R squared", "nothing is explained")
    keys = {name: f"{recorded_as}_share_{name}" for name in ratings} if recorded_as else None
    r2 = {TOTAL: f"{recorded_as}_r2"} if recorded_as else None
    return (
        estimate_table(data.rows(parts, estimates[: items + 1], bootstrap, total=True), "dimension", r2),
        estimate_table(data.rows(shares, estimates[items + 1 :], bootstrap), "dimension", keys),
    )


class _Quantity(NamedTuple):
    """What is computed of each dimension: its unit, its method, and the reason where it is undefined."""

    unit: str
    method: str
    undefined: str


class _Regression(NamedTuple):
    """Units that have the outcome and all ratings.

    ``ratings`` as given, ``used`` those that enter; ``values`` the ratings used and the outcome, from 3 or from the
    conversation's mean; ``note`` on what was left out, ``described`` for the method, ``reason`` why there are none.
    """

    ratings: pd.DataFrame
    used: pd.DataFrame
    values: np.ndarray
    note: str
    described: str
    reason: str

    def estimates(self, statistic: Callable, bootstrap: ParticipantBootstrap) -> list[Estimate]:
        """Return several statistics of the sums of products of 1, the ratings and the outcome."""
        if self.reason:
            return []
        values = np.column_stack([np.ones(len(self.values)), self.values])
        return bootstrap.estimates(statistic, values[:, :, None] * values[:, None, :], self.used.index)

    def rows(
        self, quantity: _Quantity, estimates: list[Estimate], bootstrap: ParticipantBootstrap, *, total: bool = False
    ) -> dict[str, dict]:
        """Return a row for each rating given and, if so, one for the total."""
        names = [*self.used, TOTAL] if total else list(self.used)
        common = {"unit": quantity.unit, "method": f"{quantity.method}, {self.described}"}
        rows = {}
        if not self.reason:
            counts = [len(self.used)] * len(names)
            rows = rows_of(names, estimates, bootstrap, counts=counts, **common, undefined=quantity.undefined)
        if TOTAL in rows and self.note:
            rows[TOTAL]["reason"] = joined(rows[TOTAL]["reason"], lacking_items(self.used, self.note))
        order = [*self.ratings, TOTAL] if total else list(self.ratings)
        for name in order:
            rows.setdefault(name, estimate_row(n=len(self.used), **common, reason=self.why_without(name)))
        return {name: rows[name] for name in order}

    def why_without(self, name: str) -> str:
        """Return why a row has no estimate."""
        if name != TOTAL and not self.ratings[name].notna().any():
            return "never rated in this data set"
        return self.reason or "does not vary in the units used"


def _regression_data(outcome: pd.Series, ratings: pd.DataFrame, conversations: pd.Series | None) -> _Regression:
    known = outcome.notna().to_numpy()
    with_outcome = ratings[known]
    used, note = usable(with_outcome)
    whole = with_outcome.loc[:, with_outcome.notna().any()].notna().all(axis=1).to_numpy()
    complete = outcome[known][whole]
    values = np.column_stack([used.to_numpy(dtype=float), complete.to_numpy(dtype=float)]) - 3
    reason, level = _missing(outcome, ratings, used, complete), ""
    if conversations is not None:
        values, level = _departures(values, np.asarray(conversations)[known][whole]), "within conversations, "
        if not reason and not (np.abs(values) > ROUNDING).any(axis=0).all():
            reason = "the outcome or a dimension does not vary within conversations"
    described = f"{level}listwise, {count_of(used.shape[1], 'dimension')}{note}"
    return _Regression(ratings, used, values, note, described, reason)


def _departures(values: np.ndarray, conversations: np.ndarray) -> np.ndarray:
    """Values less their mean over the rows of the same conversation."""
    codes, names = pd.factorize(conversations)
    counts = np.bincount(codes, minlength=len(names))[:, None]
    return values - (sums_by_participant(values, codes, len(names)) / counts)[codes]


def _missing(outcome: pd.Series, ratings: pd.DataFrame, used: pd.DataFrame, complete: pd.Series) -> str:
    """Why there is nothing to explain; "" if there is."""
    if not outcome.notna().any():
        return "the outcome was never rated in this data set"
    if not ratings.notna().any(axis=None):
        return "no dimension was rated in this data set"
    if len(used) and not used.shape[1]:
        return "no dimension varies"
    fewest = ROWS_A_DIMENSION * used.shape[1]
    if len(used) < max(fewest, 1):
        return f"units with the outcome and all dimensions: {len(used)}; this needs {fewest}"
    return "the outcome does not vary" if complete.nunique() < 2 else ""


def _covariances(sums: np.ndarray) -> np.ndarray:
    """Covariances of (x, y), from the sums of products of (1, x - 3, y - 3)."""
    n = sums[..., :1, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return (sums[..., 1:, 1:] - sums[..., 1:, :1] * sums[..., :1, 1:] / n) / n


def _lmg_and_shares(sums: np.ndarray) -> np.ndarray:
    """LMG, their sum, and LMG divided by it."""
    lmg = lmg_from_covariances(_covariances(sums))
    total = lmg.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([lmg, total, np.where(total > ROUNDING, lmg / total, np.nan)], axis=-1)


check_arguments(globals())
