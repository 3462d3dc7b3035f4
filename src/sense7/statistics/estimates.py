"""The common form of what statistics return: an estimate with its interval, and tables of them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

COLUMNS = ("estimate", "low", "high", "n", "unit", "method", "reason")


class Estimate(NamedTuple):
    """An estimate with its interval.

    Attributes
    ----------
    estimate, low, high : float
        NaN where there is none.
    reason : str
        Why there is no interval; "" if there is one.
    """

    estimate: float
    low: float = np.nan
    high: float = np.nan
    reason: str = ""


@dataclass(frozen=True)
class ComputedBy:
    """The public function that returned a row of estimates, its options, and the key under which it returned it."""

    function: str
    options: Mapping[str, object]
    key: str


def estimate_row(
    estimate: float = np.nan,
    low: float = np.nan,
    high: float = np.nan,
    *,
    n: int,
    unit: str,
    method: str,
    reason: str = "",
    key: str = "",
) -> dict:
    """Return one row of a table of estimates."""
    row = {
        "estimate": float(estimate),
        "low": float(low),
        "high": float(high),
        "n": int(n),
        "unit": unit,
        "method": method,
        "reason": reason,
    }
    if key:
        row["key"] = key
    return row


def estimate_table(
    rows: Mapping[str, dict], name: str, keys: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return a table of estimates with one row for each result of :func:`estimate_row`.

    Parameters
    ----------
    rows : mapping
        Name of the row -> what :func:`estimate_row` returns.
    name : str
        What the rows are: the name of the index, which stands above it.
    keys : mapping, optional
        Name of the row -> key under which it is recorded; rows without one are only shown.

    Returns
    -------
    DataFrame
        One row each, with the columns of ``COLUMNS``; and ``key``, if keys are given or any row has one ("" where a row
        has none); and ``computed_by``, if any row says which function returned it.

    Examples
    --------
    >>> row = estimate_row(2.5, n=4, unit="points", method="mean")
    >>> estimate_table({"all": row, "good": row}, "turns", {"all": "turn_mean"})["key"].tolist()
    ['turn_mean', '']
    """
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS))
    frame = frame.rename_axis(name)
    key_of = {label: row["key"] for label, row in rows.items() if "key" in row}
    key_of.update(keys or {})
    if keys is not None or key_of:
        frame["key"] = [key_of.get(label, "") for label in rows]
    if any("computed_by" in row for row in rows.values()):
        frame["computed_by"] = [row.get("computed_by") for row in rows.values()]
    return frame


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Return each name in a form that can be part of a key: letters, digits, dot, hyphen and underscore only.

    Different names have different forms.

    Examples
    --------
    >>> safe_names(["gpt-4", "a <b>", "a [b]"])
    {'gpt-4': 'gpt-4', 'a <b>': 'a-b', 'a [b]': 'a-b-2'}
    """
    safe: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", str(name)).strip("-") or "unnamed"
        candidate = plain
        number = 2
        while candidate in safe.values():
            candidate = f"{plain}-{number}"
            number += 1
        safe[name] = candidate
    return safe


def under_keys(table: pd.DataFrame, keys: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of a table of estimates that have a second key, with that key.

    Examples
    --------
    >>> row = estimate_row(2.5, n=4, unit="points", method="mean")
    >>> table = estimate_table({"a": row, "b": row}, "turns", {"a": "mean_a", "b": "mean_b"})
    >>> under_keys(table, {"mean_b": "mean_of_the_claim"})["key"].to_dict()
    {'b': 'mean_of_the_claim'}
    """
    rows = table[table["key"].isin(keys)]
    return rows.assign(key=rows["key"].map(keys))


def reversed_sign(table: pd.DataFrame) -> pd.DataFrame:
    """Return differences the other way round, as where panels of a drawing shall point in one direction.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [-0.5], "low": [-0.75], "high": [0.25]})
    >>> reversed_sign(table).iloc[0].tolist()
    [0.5, -0.25, 0.75]
    """
    return table.assign(estimate=-table["estimate"], low=-table["high"], high=-table["low"])


def p_in_words(p: float) -> str:
    """A p value to four places.

    Examples
    --------
    >>> p_in_words(0.00002), p_in_words(0.031)
    ('< 0.0001', '0.0310')
    """
    if not np.isfinite(p):
        return ""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}"


def holm(p) -> np.ndarray:
    r"""Return p values adjusted by Holm's method, which controls the family-wise error rate.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{(m - j + 1) p_{(j)}, 1\}

    Parameters
    ----------
    p : array-like, shape (tests,)
        P values; NaN, a test that could not be computed, stays NaN and does not count among the m tests.

    Returns
    -------
    array, shape (tests,)
        0..1.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Notes
    -----
    statsmodels' multipletests is not used: it runs the garbage collector at each call, and a comparison of judges has
    thousands of calls. R: emmeans' adjust="holm", tests/reference/reference.R; p values equal to 0.1%.

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan, 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    adjusted = np.array(p, dtype=float)
    computed = np.flatnonzero(np.isfinite(adjusted))
    ascending = computed[np.argsort(adjusted[computed])]
    tests_left = np.arange(len(ascending), 0, -1)
    multiplied = adjusted[ascending] * tests_left
    adjusted[ascending] = np.minimum(np.maximum.accumulate(multiplied), 1)
    return adjusted
