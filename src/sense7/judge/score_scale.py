"""On which scale a judge's scores are: the option that declares it, and what is refused without it.

By the authors' rule a score is at least 1 and below 6. Anything else in a file of predictions is on another scale, or
written in another way (percent signs, decimal commas); taken as it is, it would give figures that mean nothing. The
scale is declared by ``--score-scale`` of ``sense7 judge evaluate`` and ``compare``.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.judge.reply import HIGHEST, LOWEST
from sense7.workbook.ids import as_number, distinct_keys, is_blank
from sense7.workbook.options import Interval, parse_interval

__all__ = ["ScoreScale"]

_ABOVE_AUTHORS = 6.0
_OTHERWISE = re.compile(r"\s*([-+]?[0-9]+(?:[.,][0-9]+)?)\s*(%?)\s*")
_USUAL = ("0-1", "0-4", "1-7", "0-10", "0-100")


class ScoreScale(Interval):
    """A scale from its worst score (``lowest``) to its best (``highest``), which may be the lower number."""

    @classmethod
    def of(cls, text: str) -> "ScoreScale":
        """Read a scale such as ``0-100``, ``1-7`` or, where a low number is the better, ``5-1``."""
        ends = parse_interval(text, "--score-scale")
        return cls(ends.lowest, ends.highest)

    def __str__(self):
        return self.option

    def rescale(self, cells: list, numbers: list[int], where: str) -> tuple[pd.Series, str]:
        """Rescale cells linearly to 1..5: ``1 + 4 (x - lowest) / (highest - lowest)``."""
        scores = pd.Series([self._number(cell) for cell in cells], dtype=float)
        off = scores.notna() & ~scores.map(self.holds)
        if off.any():
            index = off.idxmax()
            raise UserError(
                f"{where}, row {numbers[index]:,}: {cells[index]!r} is off the scale {self}, as are {off.sum():,} of "
                f"{scores.notna().sum():,} scores. Declare the scale that they are on: --score-scale WORST-BEST."
            )
        mean = f"; their mean as given is {scores.mean():.4g}" if scores.notna().any() else ""
        note = f"IS_EMPATHY: scores on the scale {self}, rescaled linearly to 1..5{mean}"
        return self.rescaled(scores, HIGHEST), note

    def _number(self, cell) -> float:
        number, percent = _read(cell)
        return number / 100 if percent and max(abs(self.lowest), abs(self.highest)) <= 1 else number


def _read(cell) -> tuple[float, bool]:
    """The number of a cell, however it is written, and whether it has a percent sign; NaN if there is none."""
    number = as_number(cell)
    if number is None and isinstance(cell, str) and (match := _OTHERWISE.fullmatch(cell)):
        return float(match[1].replace(",", ".")), bool(match[2])
    return (np.nan if number is None else number), False


def require_authors_scale(cells: list, numbers: list[int], where: str, path: Path | str = "") -> None:
    """Refuse scores that the authors' rule can't have given: below 1, from 6 on, with a percent sign or a comma."""
    keys = distinct_keys(cells)
    distinct = {key: key if keys is cells else key[1] for key in dict.fromkeys(keys)}
    values = {key: np.nan if is_blank(cell) else _read(cell)[0] for key, cell in distinct.items()}
    no_number = {key: as_number(cell) is None for key, cell in distinct.items()}
    read = np.array([values[key] for key in keys], dtype=float)
    otherwise = np.array([no_number[key] for key in keys], dtype=bool)
    off = np.flatnonzero(~np.isnan(read) & (otherwise | (read < LOWEST) | (read >= _ABOVE_AUTHORS)))
    if not len(off):
        return
    known = read[~np.isnan(read)]
    message = (
        f"{where}, row {numbers[off[0]]:,}: {cells[off[0]]!r} is no score on the scale from {LOWEST:g} to {HIGHEST:g}, "
        f"as are {len(off):,} of {len(known):,}; the scores run from {known.min():g} to {known.max():g}."
    )
    if not path:
        raise UserError(f"{message} Write them on the scale from {LOWEST:g} to {HIGHEST:g}.")
    guess = _likely_scale(known, percent="%" in "".join(map(str, cells)))
    raise UserError(
        f"{message} For the book, write them on the scale from {LOWEST:g} to {HIGHEST:g}. To evaluate them as "
        f"they are, declare their scale, worst score first; if it is {guess}: "
        f"sense7 judge evaluate {path} --score-scale {guess}"
    )


def _likely_scale(scores: np.ndarray, *, percent: bool) -> str:
    """The scale that scores are probably on: 1 to 5, the first usual one that holds them, or from least to largest."""
    low, high = float(scores.min()), float(scores.max())
    if low >= LOWEST and high <= HIGHEST and not percent:
        return f"{LOWEST:g}-{HIGHEST:g}"
    fitting = (scale for scale in map(ScoreScale.of, _USUAL) if scale.holds(low) and scale.holds(high))
    return next(map(str, fitting), f"{low:g}-{high:g}")
