"""Recorded values: one call a value, one JSON file a notebook, the same words everywhere."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sense7.files import read_json, write_whole

if TYPE_CHECKING:  # pages are made from recorded values without it
    import pandas as pd

    from sense7.statistics.estimates import ComputedBy


COUNTED = "number of "
"""Beginning of a unit of what is counted: such values are whole numbers, but for a median between two of them."""

P_VALUE = "p value"
"""Unit of p values: below ``SMALLEST_P`` they are shown as that, since none of them is zero."""

SMALLEST_P = 0.001

MANIFEST = "manifest.json"
"""Name of the file in an edition's folder that lists all its files; see :mod:`sense7.book.editions`."""

EXECUTED_BY = "SENSE7_EXECUTED_BY"
"""Variable of the environment that a build sets for its kernels: each cell runs once there, and records new keys."""


def write_json(path: str | Path, content: object) -> None:
    """Write JSON so that the file is whole or not there: beside its place, then moved."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(Path(path), f"{text}\n", replace=True)


class Recorder:
    """Collects the values that a notebook records, and writes them to the notebook's JSON file.

    Nothing is written into a finished edition, that is where the folder lies beside its manifest: a notebook of an
    edition that is executed in place, as ``pytest --nbval`` does, leaves the edition as it is.

    Parameters
    ----------
    notebook : str
        Name of the notebook, e.g. ``03-reliability``; the file is ``<notebook>.json``.
    folder : path
        Where the file is to be; "" to write none, as notebooks do by default. An old file of the notebook is removed,
        so that its values are never taken for new ones; the file is there, and whole, from the first value on.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> record = Recorder("example", folder)
    >>> how = {"n": 100, "unit": "alpha", "method": "pairwise"}
    >>> record.value("alpha", 0.9, low=0.8, high=0.95, **how, computed_by="this notebook")
    >>> read_values(folder)["alpha"]["high"]
    0.95
    """

    def __init__(self, notebook: str, folder: str | Path):
        self.notebook = notebook
        self.path = Path(folder) / f"{notebook}.json"
        self._values: dict[str, dict] = {}
        is_finished = (self.path.parent.parent / MANIFEST).exists()
        self._writes = str(folder) != "" and not is_finished
        if self._writes:
            self.path.unlink(missing_ok=True)

    def value(
        self,
        key: str,
        estimate: float | str | None = None,
        *,
        n: int | None,
        unit: str,
        method: str,
        computed_by: ComputedBy | str | None,
        low: float | None = None,
        high: float | None = None,
        reason: str = "",
    ) -> None:
        """Record one value.

        Parameters
        ----------
        key : str
            Its name, unique in the book. Outside a build, a cell that is run again replaces its values.
        estimate : float, str or None
            The value; a text for what is named rather than measured. None or NaN if it
            can't be computed: then ``reason`` has to say why.
        n : int or None
            Number of observations that it rests on; may be missing only where there is
            no estimate.
        unit : str
            What is counted or measured. A unit that begins with ``share`` is shown in percent, one
            that begins with ``number of`` as a whole number.
        method : str
            Estimator, and kind of interval.
        computed_by : str
            The function that returned the value, which the rows of findings name by themselves;
            ``"this notebook"`` of a number that is computed in its cell.
        low, high : float, optional
            Interval; None or NaN if there is none.
        reason : str
            Why there is no estimate or no interval, or what the estimate lacks.

        Raises
        ------
        ValueError
            If the key is recorded already, a value has no n or method, a missing value has
            no reason, only one limit is given, or a function is named that returned the value
            under another key or not at all.
        """
        estimate, low, high = (_plain(number, unit) for number in (estimate, low, high))
        cell = _running_cell()
        if key in self._values:
            # A reader may run a cell another time, which then replaces what it recorded.
            is_other_run = cell is not None and cell != self._values[key]["cell"]
            if not is_other_run or EXECUTED_BY in os.environ:
                raise ValueError(f"{key!r} is recorded already")
        if estimate is None and not reason:
            raise ValueError(f"{key!r} has no estimate: give the reason")
        if estimate is not None and (n is None or not method or not unit):
            raise ValueError(f"{key!r} needs its n, unit and method")
        if (low is None) != (high is None):
            raise ValueError(f"{key!r} has one limit of an interval without the other")
        if not computed_by:
            raise ValueError(
                f"{key!r} does not say which function returned it: decorate that function with "
                'sense7.findings.core.finding, or give computed_by="this notebook"'
            )
        function, options = computed_by, {}
        if not isinstance(computed_by, str):
            function, options = computed_by.function, dict(computed_by.options)
            if computed_by.key != key:
                raise ValueError(
                    f"{key!r} was returned by {function} as {computed_by.key!r}: "
                    "let a function return it under its own key"
                )
        self._values[key] = {
            "key": key,
            "estimate": estimate,
            "low": low,
            "high": high,
            "n": None if n is None else int(n),
            "unit": unit,
            "method": method,
            "reason": reason or None,
            "computed_by": {"function": function, "options": options},
            "notebook": self.notebook,
            "cell": cell,
        }
        if self._writes:
            write_json(self.path, list(self._values.values()))

    def table(self, table: pd.DataFrame) -> None:
        """Record every row of a table of estimates that has a key.

        Parameters
        ----------
        table : DataFrame
            As findings return it: estimate, low, high, n, unit, method, reason, key, computed_by. Further columns,
            such as those of tests, are not recorded.

        Raises
        ------
        ValueError
            If a row is no value, as :meth:`value` says.
        """
        from sense7.statistics.estimates import COLUMNS

        for row in table.to_dict("records"):
            if row.get("key"):
                content = {name: row[name] for name in ("key", *COLUMNS)}
                self.value(**content, computed_by=row.get("computed_by"))


def _plain(number, unit: str):
    """A number of any kind as a float, a whole one of a count as an int, or None; text as it is."""
    if number is None or isinstance(number, str):
        return number
    if not math.isfinite(number):
        return None
    if unit and unit.startswith(COUNTED) and number == int(number):
        return int(number)
    if hasattr(number, "item"):
        return number.item()
    return number


def _running_cell() -> int | None:
    """Execution count of the notebook cell that is running, if any: its anchor in the book."""
    try:
        shell = get_ipython()  # type: ignore[name-defined]
    except NameError:
        return None
    if not hasattr(shell, "kernel"):
        return None
    # Not execution_count: whether that is raised before or after the cell runs depends on IPython's version.
    return len(shell.history_manager.input_hist_raw) - 1


def read_values(folder: str | Path) -> dict[str, dict]:
    """Read the values that notebooks recorded in a folder: a dictionary by key.

    Parameters
    ----------
    folder : path
        Where notebooks recorded.

    Raises
    ------
    ValueError
        If two notebooks recorded the same key.
    """
    values: dict[str, dict] = {}
    for path in sorted(Path(folder).glob("*.json")):
        for value in read_json(path):
            if value["key"] in values:
                raise ValueError(
                    f"{value['key']!r} is recorded by {values[value['key']]['notebook']} and {path.stem}"
                )
            values[value["key"]] = value
    return values


def format_number(number: float | str, unit: str) -> str:
    """One number in the words of its unit: percent for shares, percentage points (pp) for their differences.

    Parameters
    ----------
    number : float or str
        The number; a text stands as it is.
    unit : str
        What is counted or measured.

    Examples
    --------
    >>> format_number(0.3806, "share of turns"), format_number(6812, "number of turns"), format_number(0.9613, "alpha")
    ('38.1%', '6,812', '0.961')
    >>> format_number(0.0312, "p value"), format_number(0.0001, "p value"), format_number(0.015, "share, difference")
    ('0.031', '< 0.001', '1.5 pp')
    """
    if isinstance(number, str):
        return number
    if unit == P_VALUE and number < SMALLEST_P:
        return f"< {SMALLEST_P:g}"
    if unit.startswith("share") and unit.endswith(", difference"):
        return f"{100 * number:z.1f} pp"
    if unit.startswith("share"):
        return f"{100 * number:z.1f}%"
    if unit.startswith("level,"):
        return f"{number:z.2f}"
    if unit in {"seconds", "words"}:
        return f"{number:z,.1f}"
    is_count = unit.startswith(COUNTED) or isinstance(number, int)
    is_whole = float(number).is_integer()
    # A whole number that is no count, such as an alpha of 1, keeps its decimals.
    if is_whole and (is_count or abs(number) >= 10):
        return f"{number:z,.0f}"
    if is_count:
        return f"{number:z,.1f}"
    return f"{number:z.3f}"


def format_value(value: Mapping, part: str = "") -> str:
    """A recorded value for prose, with its interval; the reason if there is none. Its n is known without a value, too.

    Parameters
    ----------
    value : mapping
        As recorded.
    part : {"", "estimate", "n", "count"}
        What to show: the estimate with its interval, or one part alone; ``count`` shows a share as a count of n.

    Examples
    --------
    >>> format_value({"estimate": 0.9613, "low": 0.9546, "high": 0.9674, "unit": "alpha"})
    '0.961 [0.955, 0.967]'
    >>> format_value({"estimate": None, "n": 12, "reason": "too few conversations"}, "n")
    '12'
    >>> format_value({"estimate": 4 / 9, "n": 18, "unit": "share of specifications"}, "count")
    '8 of 18'
    >>> format_value({"estimate": 0.015, "low": 0.004, "high": 0.026, "unit": "share of turns, difference"})
    '1.5 [0.4, 2.6] percentage points'
    """
    if part == "n":
        return f"{value['n']:,}"
    if value["estimate"] is None:
        return f"not available here ({value['reason']})"
    if part == "count":
        return f"{round(value['estimate'] * value['n']):,} of {value['n']:,}"
    text = format_number(value["estimate"], value["unit"])
    number = text.removesuffix(" pp")
    if not part and value.get("low") is not None:
        low, high = (format_number(value[end], value["unit"]) for end in ("low", "high"))
        number += f" [{low.removesuffix(' pp')}, {high.removesuffix(' pp')}]"
    if text.endswith(" pp"):
        number += " percentage points"
    if part:
        return number
    # What an estimate lacks, an interval or a dimension, is said wherever it stands whole.
    if value.get("reason"):
        number += f" ({value['reason']})"
    return number


def called(value: Mapping) -> str:
    """The call that gave a recorded value, but for its data: the function's whole name with its options.

    Examples
    --------
    >>> called({"computed_by": {"function": "sense7.findings.agreement.agreement", "options": {"weights": "linear"}}})
    "sense7.findings.agreement.agreement(weights='linear')"
    """
    function, options = value["computed_by"]["function"], value["computed_by"]["options"]
    if not options:
        return function
    written = ", ".join(f"{name}={option!r}" for name, option in options.items())
    return f"{function}({written})"
