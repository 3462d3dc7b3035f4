"""The validated frames that everything above takes, independent of the file they came from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sense7.errors import UserError
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.terminal import count_of, plain

if TYPE_CHECKING:  # only annotations name it: `sense7 check` has no time for its import
    import pandas as pd


RATED = "rated"
NOT_RATED = "not rated"
ABSENT = "absent"
UNREADABLE = "unreadable"
DECLINED = "declined"
STATES = (RATED, NOT_RATED, ABSENT, UNREADABLE, DECLINED)
"""States of a rating cell: a level; an answer that the rating does not apply (unknown); blank; an answer that can't be
read; an answer that declines to say."""

UNSAID = (UNREADABLE, DECLINED)
"""States that do not say whether a rating applies: they stand in no denominator."""


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """One data set as data frames: its conversations, their messages, the ratings and the participants.

    Frames carry a ``row`` column with the row of the sheet, so that every value can be
    traced to its cell.

    Attributes
    ----------
    name : str
        Name of the data set.
    conversations : DataFrame
        One row per conversation, in the order of sheet Tasks: conversation, participant,
        condition, topic (text; None if blank), importance (1..5), desired_empathy (1..3),
        successful, engaged, positive_interaction, use_again (1..5),
        post_Affective .. post_Relational (1..5; NaN if not rated or absent), row.
    messages : DataFrame
        One row per message of a known conversation, in file order: conversation, position
        (1, 2, .. within the conversation, by MessageId where that orders it), message_id,
        seconds, role (exactly as written), content (text; None if blank), retry, comment, row.
    turns : DataFrame
        One row per assistant turn, in file order: conversation, participant, condition, turn
        (1, 2, ..), position (of its message), seconds, row; ``overall`` and the seven dimensions
        (1..5, NaN if there is no level; whole numbers, unless the answers were on another scale and rescaled);
        ``<rating>_state`` for each (one of ``STATES``). Further columns of sheet Messages follow under their names,
        with levels where the reading file declares them; nothing analyses them.
    participants : DataFrame or None
        Sheet with one row per participant: participant, then its columns as they are named.
    columns : DataFrame
        What became of each column of the official format: sheet, column, name, question (whether it
        holds a person's answers), filled and unreadable (numbers of cells; of the turns' ratings, cells in assistant
        turns), lowest and highest (ends of the declared scale that the answers were rescaled from; NaN where they are
        on the official one).
    sheets : mapping
        Every sheet as read, the official ones included.
    diagnostics : list
        Diagnostics of the reader.
    prompted_condition : str or None
        The condition with the empathy prompt.
    prompted_reason : str
        How that is known.
    reading : str
        The reading file by which the workbook was read; empty if there was none.
    provenance : object or None
        Where the file came from, where that is known (see :mod:`sense7.sources`).
    published_ids : mapping
        Column (participant, conversation) -> original id -> the id that the pages of an edition give; empty where the
        frames have the original ids.
    """

    name: str
    conversations: pd.DataFrame
    messages: pd.DataFrame
    turns: pd.DataFrame
    participants: pd.DataFrame | None
    columns: pd.DataFrame
    participants_sheet: str | None = None
    sheets: Mapping = field(default_factory=dict, repr=False)
    diagnostics: list = field(default_factory=list, repr=False)
    prompted_condition: str | None = None
    prompted_reason: str = ""
    reading: str = ""
    provenance: object | None = None
    published_ids: Mapping = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        """Name, what it is, and how much it holds."""
        counts = (
            count_of(self.conversations["participant"].nunique(), "participant"),
            count_of(len(self.conversations), "conversation"),
            count_of(len(self.conditions), "condition"),
            count_of(len(self.turns), "turn"),
        )
        name = self.name
        if getattr(self.provenance, "kind", None):
            name += f" ({self.provenance.kind} data)"
        return plain(f"<Study {name}: {', '.join(counts)}>")

    def subset(
        self,
        *,
        participants: Collection[str] | None = None,
        conversations: Collection[str] | None = None,
        conditions: Collection[str] | None = None,
    ) -> Study:
        """Return the study of some of the conversations, with their messages, turns and participants.

        A conversation is kept if it meets all criteria that are given. A statistic of a subset needs a bootstrap of
        the subset's own participants.

        Parameters
        ----------
        participants, conversations, conditions : collection of str, optional
            Ids to keep.

        Returns
        -------
        Study
            ``columns``, ``sheets`` and ``diagnostics`` stay those of the whole file: what was asked is a fact about the
            questionnaire. There is no provenance, since a part of a file is not that file.

        Raises
        ------
        UserError
            If an id is unknown, or no conversation is left.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"conversation": ["C1", "C2"], "participant": ["P1", "P2"], "condition": ["a", "b"]})
        >>> study = Study("mine", frame, frame, frame, participants=None, columns=pd.DataFrame())
        >>> study.subset(conditions=["b"])
        <Study mine (subset): 1 participant, 1 conversation, 1 condition, 1 turn>
        >>> study.subset(participants=["P1", "P9"])
        Traceback (most recent call last):
        sense7.errors.UserError: The study mine has no participant 'P9'. Known: 'P1', 'P2' (of 2).
        """
        criteria = {
            "participant": participants,
            "conversation": conversations,
            "condition": conditions,
        }
        chosen = self.conversations
        for name, ids in criteria.items():
            if ids is None:
                continue
            present = sorted(set(self.conversations[name].dropna()))
            for item in ids:
                if item not in present:
                    names = ", ".join(map(repr, present[:5]))
                    raise UserError(
                        f"The study {self.name} has no {name} {item!r}. Known: {names} (of {len(present)})."
                    )
            chosen = chosen[chosen[name].isin(list(ids))]
        if chosen.empty:
            raise UserError(f"No conversation of the study {self.name} meets all criteria.")
        chosen = chosen.reset_index(drop=True)

        def only(frame: pd.DataFrame, key: str) -> pd.DataFrame:
            return frame[frame[key].isin(chosen[key])].reset_index(drop=True)

        participants_sheet = self.participants
        if participants_sheet is not None:
            participants_sheet = only(participants_sheet, "participant")
        return replace(
            self,
            name=f"{self.name} (subset)",
            conversations=chosen,
            messages=only(self.messages, "conversation"),
            turns=only(self.turns, "conversation"),
            participants=participants_sheet,
            provenance=None,
        )

    @property
    def conditions(self) -> list[str]:
        """Names of the conditions, in alphabetical order."""
        return sorted(self.conversations["condition"].dropna().unique())

    @property
    def asked(self) -> list[str]:
        """Ratings of a turn (overall, dimensions) that stand in at least one cell."""
        return [name for name in RATING_NAMES if (self.turns[f"{name}_state"] != ABSENT).any()]

    @property
    def rated_dimensions(self) -> list[str]:
        """Dimensions with at least one level in a turn."""
        return [name for name in DIMENSION_NAMES if self.turns[name].notna().any()]

    @property
    def turns_put_to_rating(self) -> pd.DataFrame:
        """Turns in which at least one of the eight ratings was answered, be it by unknown.

        The denominator of applicability: a turn that was never shown for rating, or of which no
        answer can be read, says nothing about whether a dimension applies.
        """
        states = self.turns[[f"{name}_state" for name in RATING_NAMES]]
        return self.turns[states.isin((RATED, NOT_RATED)).any(axis=1)]

    @property
    def rescaled(self) -> pd.DataFrame:
        """Columns whose answers were on a declared scale and were rescaled to the official one; rows of ``columns``."""
        return self.columns[self.columns["lowest"].notna()]

    @property
    def warnings(self) -> list:
        """Diagnostics of the reader that report a problem; notices are left out."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity != "notice"]

    @property
    def never_asked(self) -> pd.DataFrame:
        """Questions of the official format without a single answer, be the column there or not."""
        return self.columns[(self.columns["filled"] == 0) & self.columns["question"]]

    @property
    def not_recorded(self) -> pd.DataFrame:
        """Columns of the official format that hold no answers of people and no filled cell."""
        return self.columns[(self.columns["filled"] == 0) & ~self.columns["question"]]
