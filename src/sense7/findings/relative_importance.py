r"""How much each dimension adds to the explanation of an outcome: Shapley shares of R squared (LMG).

Dimensions that go together share what they explain. LMG splits R squared among them by the mean,
over all orders in which they could enter a regression, of what each adds. It is computed from
covariances alone, over all subsets, so that participants can be resampled exactly.

These are shares of variance in a regression. They are not the shares of participants who name a
dimension as the most important (:mod:`sense7.findings.importance`).
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.item_analysis import joined, lacking_items, rows_of, usable
from sense7.estimators.lmg import ROUNDING, lmg_from_covariances, slopes_from_covariances
from sense7.findings.measures import OUTCOMES
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "TOTAL",
    "coefficients",
    "experience_and_ratings",
    "keys",
    "overall_and_ratings",
    "parts_and_shares",
    "relative_importance",
]

TOTAL = "all together"
"""The row of R squared."""

ROWS_A_DIMENSION = 10


def keys(prefix: str) -> dict[str, str]:
    """Rows of :func:`relative_importance` -> keys that begin with ``prefix``.

    Examples
    --------
    >>> keys("part")["Affective"], keys("part")[TOTAL]
    ('part_Affective', 'part_r2')
    """
    return {name: f"{prefix}_{name}" for name in DIMENSION_NAMES} | {TOTAL: f"{prefix}_r2"}


def overall_and_ratings(study: Study) -> tuple[pd.Series, pd.DataFrame]:
    """Overall rating of each turn put to rating, and its seven ratings, indexed by participant."""
    turns = study.turns_put_to_rating.set_index("participant")
    return turns["overall"], turns[list(DIMENSION_NAMES)]


def experience_and_ratings(study: Study) -> tuple[pd.Series, pd.DataFrame]:
    """Mean of the ratings of the experience of each conversation, and its seven ratings afterwards.

    Those of the four ratings of the experience that were given are averaged; NaN if there is none.
    """
    conversations = study.conversations.set_index("participant")
    columns = {f"post_{name}": name for name in DIMENSION_NAMES}
    return conversations[OUTCOMES["experience"]].mean(axis=1), conversations[list(columns)].rename(columns=columns)


def relative_importance(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    share: bool = False,
    conversations: pd.Series | None = None,
) -> pd.DataFrame:
    """LMG of each rating for the outcome, and R squared, over the units that have all of them.

    Parameters
    ----------
    outcome : Series, shape (units,)
        What is explained; NaN if missing.
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items never rated or without variation are left out, and have a
        row that says so.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    share : bool
        Whether to divide by R squared, so that the rows of the items sum to one.
    conversations : Series, shape (units,), optional
        Conversation of each unit. Outcome and ratings are then taken as departures from their means over the units of
        the conversation that have all of them: what is shared out is the variance within conversations.

    Returns
    -------
    DataFrame
        One row per item and, unless ``share``, one of R squared (``TOTAL``): estimate, low, high
        (0..1), n (complete units), unit, method, reason. Fewer than ten units an item are too few.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> table = relative_importance(x["a"] * 1.0, x, ParticipantBootstrap(x.index, 200, 1))
    >>> round(float(table.loc["all together", "estimate"]), 6)
    1.0
    """
    return parts_and_shares(outcome, ratings, bootstrap, conversations=conversations)[share]


def parts_and_shares(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    conversations: pd.Series | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables of :func:`relative_importance`, without and with ``share``, from the same resamples.

    Parameters
    ----------
    outcome, ratings, bootstrap, conversations
        As for :func:`relative_importance`.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> parts, shares = parts_and_shares(x["a"] * 1.0 + x["b"], x, ParticipantBootstrap(x.index, 200, 1))
    >>> round(float(parts.loc["all together", "estimate"]), 6), round(float(shares["estimate"].sum()), 6)
    (1.0, 1.0)
    """
    parts = {"unit": "share of variance", "method": "LMG", "undefined": "the outcome does not vary"}
    shares = {
        "unit": "share of explained variance",
        "method": "LMG divided by R squared",
        "undefined": "nothing is explained",
    }
    data = outcome, ratings, conversations
    both = _tables(data, bootstrap, _lmg_and_shares, [parts | {"total": True}, shares | {"total": False}])
    return both[0], both[1]


def coefficients(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    conversations: pd.Series | None = None,
) -> pd.DataFrame:
    """Coefficient of each rating in the regression of the outcome on all of them, by :func:`slopes_from_covariances`.

    Parameters
    ----------
    outcome, ratings, bootstrap, conversations
        As for :func:`relative_importance`; the units are the same.

    Returns
    -------
    DataFrame
        One row per item: estimate, low, high (points of the outcome per point of the rating, the others held fixed),
        n (complete units), unit, method, reason.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> table = coefficients(0.5 * x["a"] + 0.2 * x["b"], x, ParticipantBootstrap(x.index, 200, 1))
    >>> table["estimate"].round(6).tolist()
    [0.5, 0.2]
    """
    table = {
        "unit": "points per point",
        "method": "least squares on all dimensions",
        "undefined": "some of the ratings are the same, or sums of others",
        "total": False,
    }
    return _tables((outcome, ratings, conversations), bootstrap, _slopes, [table])[0]


def _tables(data, bootstrap: ParticipantBootstrap, statistic, tables: list[dict]) -> list[pd.DataFrame]:
    """Tables of a regression of the outcome on the ratings, over the units that have all of them.

    ``statistic`` returns the rows of all tables, one table after the other; each has a unit, a method, a reason where
    it is undefined, and a ``total`` or none.
    """
    outcome, ratings, conversations = data
    known = outcome.notna().to_numpy()
    given = ratings[known]
    used, note = usable(given)
    whole = given.loc[:, given.notna().any()].notna().all(axis=1).to_numpy()
    complete = outcome[known][whole]
    values = np.column_stack([used.to_numpy(dtype=float), complete.to_numpy(dtype=float)]) - 3
    where = ""
    if conversations is not None:
        values, where = _departures(values, np.asarray(conversations)[known][whole]), "within conversations, "
    described = f"{where}listwise, {count_of(used.shape[1], 'dimension')}{note}"
    reason, results = _missing(outcome, ratings, used, complete), []
    if not reason and conversations is not None and not (np.abs(values) > ROUNDING).any(axis=0).all():
        reason = "the outcome or a dimension does not vary within conversations"
    if not reason:
        values = np.column_stack([np.ones(len(values)), values])
        results = bootstrap.estimates(statistic, values[:, :, None] * values[:, None, :], used.index)
    found = []
    for table in tables:
        names = [*used, TOTAL] if table["total"] else list(used)
        common = {"unit": table["unit"], "method": f"{table['method']}, {described}"}
        own, results = results[: len(names)], results[len(names) :]
        counts = [len(used)] * len(names)
        rows = {} if reason else rows_of(names, own, bootstrap, counts=counts, **common, undefined=table["undefined"])
        if TOTAL in rows and note:
            rows[TOTAL]["reason"] = joined(rows[TOTAL]["reason"], lacking_items(used, note))
        order = [*ratings, TOTAL] if table["total"] else list(ratings)
        for name in order:
            why = reason
            if name != TOTAL and not ratings[name].notna().any():
                why = "never rated in this data set"
            why = why or "does not vary in the units used"
            rows.setdefault(name, estimate_row(n=len(used), **common, reason=why))
        found.append(estimate_table({name: rows[name] for name in order}, "dimension"))
    return found


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


def _slopes(sums: np.ndarray) -> np.ndarray:
    return slopes_from_covariances(_covariances(sums))


check_arguments(globals())
