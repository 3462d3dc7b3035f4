"""What a workbook holds, by columns: all that a study is made of, without data frames.

Importing pandas takes longer than reading a workbook, and ``sense7 check`` wants no frame.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from sense7.study import STATES, Study

__all__ = ["Columns", "ParsedWorkbook"]

Columns = dict[str, list | np.ndarray]
"""Name -> column: texts and other cells as a list (None if blank), numbers as an array (NaN if there is none)."""


@dataclass(frozen=True, eq=False, repr=False)
class ParsedWorkbook:
    """A workbook that was read and checked.

    What is not said here is as in :class:`sense7.study.Study`.

    Attributes
    ----------
    conversations, messages, turns, participants, columns : Columns
        The columns of the frames of :class:`sense7.study.Study`, in their order. A state is its place in
        ``sense7.study.STATES``.
    """

    name: str
    conversations: Columns
    messages: Columns
    turns: Columns
    participants: Columns | None
    columns: Columns
    participants_sheet: str | None = None
    sheets: Mapping = field(default_factory=dict)
    diagnostics: list = field(default_factory=list)
    prompted_condition: str | None = None
    prompted_reason: str = ""
    provenance: object | None = None

    def study(self) -> Study:
        """The same with data frames."""
        import pandas as pd

        def frame(columns: Columns) -> pd.DataFrame:
            # Without a type of its own pandas would infer one for a list, and turn None into NaN.
            series = {
                name: pd.Series(column, dtype=object if isinstance(column, list) else None, copy=False)
                for name, column in columns.items()
            }
            return pd.DataFrame(series)

        states = {
            name: pd.Categorical.from_codes(column, STATES)
            for name, column in self.turns.items()
            if name.endswith("_state")
        }
        frames = {
            "conversations": frame(self.conversations),
            "messages": frame(self.messages),
            "turns": frame(self.turns | states),
            "participants": None if self.participants is None else frame(self.participants),
            "columns": pd.DataFrame(self.columns),
        }
        others = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return Study(**others | frames)
