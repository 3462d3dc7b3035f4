"""The common form of what statistics return: a table of estimates."""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from sense7.arguments import HINTS, check_arguments, described
from sense7.errors import UserError

__all__ = ["COLUMNS", "estimate_row", "estimate_table", "require_estimates"]

COLUMNS = ("estimate", "low", "high", "n", "unit", "method", "reason")


def estimate_row(
    estimate: float = np.nan,
    low: float = np.nan,
    high: float = np.nan,
    *,
    n: int,
    unit: str,
    method: str,
    reason: str = "",
) -> dict:
    """Return one row of a table of estimates.

    Parameters
    ----------
    estimate, low, high : float
        The estimate and its interval; NaN where there is none.
    n : int
        Number of observations that the estimate rests on.
    unit : str
        What is counted or measured, e.g. ``share of turns``.
    method : str
        Estimator and kind of interval.
    reason : str
        Why there is no estimate, or no interval; "" if there is one.

    Raises
    ------
    ValueError
        If unit or method is no text or empty: no number is shown without them.
    """
    for name, text in {"unit": unit, "method": method}.items():
        if not (isinstance(text, str) and text):
            raise ValueError(f"an estimate needs a {name}, not {text!r}")
    return {
        "estimate": float(estimate),
        "low": float(low),
        "high": float(high),
        "n": int(n),
        "unit": unit,
        "method": method,
        "reason": reason,
    }


def estimate_table(rows: Mapping[str, dict], name: str) -> pd.DataFrame:
    """Return rows by key as a table of estimates with the index called ``name``, which stands above it."""
    if not (isinstance(name, str) and name):
        raise ValueError(f"a table of estimates needs a name of what its rows are, not {name!r}")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS))
    return frame.rename_axis(name)


def require_estimates(function: str, name: str, table: pd.DataFrame, optional: Collection[str] = ()) -> None:
    """Refuse what is no table of estimates, before it is shown or recorded.

    Parameters
    ----------
    function, name : str
        Who wants it, and as which argument.
    table : DataFrame
        What was given.
    optional : collection of str
        Columns that it may lack.

    Raises
    ------
    UserError
        If it is no frame, or lacks a column of ``COLUMNS``.

    Examples
    --------
    >>> require_estimates("intervals", "tables", pd.DataFrame({"estimate": [1.0]}))
    Traceback (most recent call last):
    sense7.errors.UserError: intervals wants a table of estimates as tables; it lacks the columns low, high, n, ...
    """
    if not isinstance(table, pd.DataFrame):
        raise UserError(f"{function} wants a table of estimates as {name}; got {described(table)}. {HINTS['table']}")
    if lacking := [column for column in COLUMNS if column not in {*table.columns, *optional}]:
        lacking = ", ".join(lacking)
        raise UserError(
            f"{function} wants a table of estimates as {name}; it lacks the columns {lacking}. {HINTS['table']}"
        )


def p_in_words(p: float) -> str:
    """A p value to four places.

    Examples
    --------
    >>> p_in_words(0.00002), p_in_words(0.031)
    ('< 0.0001', '0.0310')
    """
    return "" if not np.isfinite(p) else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


check_arguments(globals())
