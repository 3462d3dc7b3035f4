"""The sheet Messages: one row a message, in its conversation's order; the assistant's are the turns."""

from collections import defaultdict

import numpy as np
import pandas as pd

from sense7.study import STATES
from sense7.taxonomy import RATING_NAMES, normalise_word
from sense7.workbook.answers import Levels
from sense7.workbook.columns import Table
from sense7.workbook.findings import ERROR, NOTICE, WARNING, Findings
from sense7.workbook.spellings import report_normalised
from sense7.workbook.values import as_name, as_number, as_text, has_decimal_comma, is_blank, match_ids

__all__ = ["read_messages"]

KNOWN_ROLES = ("user", "assistant", "error")


def read_messages(
    table: Table, levels: dict[str, Levels], tasks: Table, conversations: pd.DataFrame, findings: Findings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Messages of known conversations, and the assistant's turns among them.

    Parameters
    ----------
    table : Table
        The sheet Messages.
    levels : dict of Levels
        Its answers on scales; see :func:`sense7.workbook.answers.read_scales`.
    tasks : Table
        The sheet Tasks, for the place of what is found there.
    conversations : DataFrame
        As :func:`sense7.workbook.conversations.read_conversations` gave them.
    findings : Findings
        Where to report.

    Returns
    -------
    messages, turns
        In the order of the rows, each with its position in its conversation.
    """
    frame = pd.DataFrame(
        {
            "conversation": pd.Series(_known_conversations(table, tasks, conversations, findings), dtype=object),
            "message_id": _numbers(
                table, "MessageId", -np.inf, findings, "the rows' order in the file stands in for it."
            ),
            "seconds": _numbers(table, "TimeOffsetSeconds", 0, findings, "counted as not known."),
            "role": pd.Series(_roles(table, findings), dtype=object),
            "content": pd.Series([as_text(cell) for cell in table.cells("Content")], dtype=object),
            "retry": pd.Series(table.cells("Retry"), dtype=object),
            "comment": pd.Series([as_text(cell) for cell in table.cells("Comment")], dtype=object),
            "row": np.arange(2, table.length + 2),
        }
    )
    known = frame["conversation"].notna().to_numpy()
    is_turn = known & (frame["role"] == "assistant").to_numpy()
    _report_ratings_elsewhere(table, levels, known & ~is_turn, findings)
    messages = frame[known].copy()
    messages["position"] = _positions(table, messages, findings)
    order = [
        "conversation",
        "position",
        "message_id",
        "seconds",
        "role",
        "content",
        "retry",
        "comment",
        "row",
    ]
    turns = _turns(messages, levels, conversations, is_turn)
    messages = messages[order].reset_index(drop=True)
    if not turns[list(RATING_NAMES)].notna().any(axis=None):
        findings.add(
            ERROR,
            "no-rating",
            "not one assistant turn has a rating that can be read.",
            "write ratings as 1 to 5 or very poor to very good in rows whose Role is assistant.",
            sheet=table.sheet.name,
        )
    silent = ~conversations["conversation"].isin(messages["conversation"])
    if silent.any():
        findings.add(
            WARNING,
            "no-message",
            "conversations of the sheet Tasks that have no message; they are kept, without ground truth.",
            "add their messages, or remove them from Tasks.",
            **tasks.place("TaskId"),
            rows=conversations.loc[silent, "row"].tolist(),
        )
    return messages, turns


def _known_conversations(
    table: Table, tasks: Table, conversations: pd.DataFrame, findings: Findings
) -> list[str | None]:
    """The conversation of each message as sheet Tasks spells it; None for orphans."""
    cells = table.cells("TaskId")
    identifiers = [as_name(cell) for cell in cells]
    report_normalised(cells, identifiers, table.place("TaskId"), findings, tasks.cells("TaskId"))
    matched = match_ids(identifiers, set(conversations["conversation"]))
    for index, (identifier, conversation) in enumerate(zip(identifiers, matched, strict=True)):
        if conversation == identifier and identifier is not None:
            continue
        if conversation is not None:
            findings.add(
                WARNING,
                "respelt-id",
                "TaskIds spelt otherwise than in the sheet Tasks; they were matched without case, braces, "
                "leading zeros and look-alike characters.",
                "spell them alike; the authors' scripts would not match them.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier,
            )
        elif any(value is not None for value in table.sheet.rows[index]):
            findings.add(
                WARNING,
                "orphan",
                "messages whose TaskId is not in the sheet Tasks; they are left out."
                if identifier is not None
                else "messages without a TaskId; they are left out.",
                "add the conversation to Tasks, or mend the TaskId.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier or "",
            )
    return matched


def _roles(table: Table, findings: Findings) -> list[str | None]:
    roles = [as_text(cell) for cell in table.cells("Role")]
    unknown: dict[str | None, list[int]] = defaultdict(list)
    for index, role in enumerate(roles):
        if role not in KNOWN_ROLES and any(cell is not None for cell in table.sheet.rows[index]):
            unknown[role].append(index + 2)
    for role, rows in unknown.items():
        alike = role is not None and normalise_word(role) in KNOWN_ROLES
        findings.add(
            WARNING,
            "unknown-role",
            "a role that differs from a known one in case or space; as in the authors' scripts it is no "
            "assistant turn and no error row."
            if alike
            else "not one of user, assistant and error; the message is kept and is no turn.",
            "write it exactly as user, assistant or error.",
            **table.place("Role"),
            rows=rows,
            value="(blank)" if role is None else role,
        )
    return roles


def _numbers(table: Table, official: str, lowest: float, findings: Findings, consequence: str) -> np.ndarray:
    """A column of plain numbers; what is none is NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    others = np.flatnonzero(np.isnan(values))
    from_lowest = f" from {lowest:g} up" if np.isfinite(lowest) else ""
    filled, commas = len(cells) - len(others), []
    for index in others.tolist():
        cell = cells[index]
        if is_blank(cell):
            continue
        filled += 1
        number = as_number(cell, decimal_comma=True)
        if number is None:
            problem = f"not a number; {consequence}"
            kind = "not-a-number"
        elif number < lowest:
            problem = f"below {lowest:g}; {consequence}"
            kind = "out-of-range"
        else:
            values[index] = number
            commas += [index + 2] if has_decimal_comma(cell) else []
            continue
        findings.add(
            WARNING,
            kind,
            problem,
            f"write a number{from_lowest}, or leave the cell blank.",
            **table.place(official),
            rows=[index + 2],
            value=cell,
        )
    if commas:
        findings.add(
            NOTICE,
            "decimal-comma",
            "numbers with a decimal comma; they were read with a decimal point.",
            "nothing, if that is as meant; otherwise write them with a decimal point.",
            **table.place(official),
            rows=commas,
        )
    table.count(official, filled, np.isfinite(values).sum())
    return values


def _report_ratings_elsewhere(table, levels, elsewhere: np.ndarray, findings) -> None:
    for column in table.columns:
        if column.name in levels:
            stray = elsewhere & np.isfinite(levels[column.name].numbers)
            if stray.any():
                findings.add(
                    WARNING,
                    "rating-elsewhere",
                    "ratings in rows whose Role is not exactly assistant; they are not counted, as in the "
                    "authors' scripts.",
                    "mend the Role, or remove the rating.",
                    **table.place(column.official),
                    rows=(np.flatnonzero(stray) + 2).tolist(),
                )


def _positions(table: Table, messages: pd.DataFrame, findings: Findings) -> pd.Series:
    """Position of each message in its conversation, from 1.

    By MessageId where every message of the conversation has one of its own; otherwise by
    the order of the rows.
    """
    groups = messages.groupby("conversation", sort=False)["message_id"]
    incomplete = messages["message_id"].isna().groupby(messages["conversation"]).transform("any")
    single = messages[~_report_duplicates(table, messages, findings)]
    repeated = single.duplicated(["conversation", "message_id"], keep=False) & single["message_id"].notna()
    repeated = repeated.reindex(messages.index, fill_value=False)
    repeated_anywhere = repeated.groupby(messages["conversation"]).transform("any")
    falls = _falls(single, "message_id").reindex(messages.index, fill_value=False)
    cells = table.cells("MessageId")
    blank = np.array([is_blank(cells[index]) for index in messages.index], dtype=bool)
    checks = (
        ("missing-message-id", blank & ("MessageId" in table.positions), "missing", "the rows' order is used there."),
        ("repeated-message-id", repeated, "repeated within a conversation", "the rows' order is used there."),
        ("unordered-message-id", falls, "not in ascending order", "turns are counted by MessageId."),
    )
    for kind, mask, what, consequence in checks:
        if mask.any():
            findings.add(
                WARNING,
                kind,
                f"MessageIds that are {what}; {consequence}",
                "number the messages of each conversation 1, 2, 3 .. in their order.",
                **table.place("MessageId"),
                rows=messages.loc[mask, "row"].tolist(),
            )
    backwards = _falls(single, "seconds").reindex(messages.index, fill_value=False) & ~falls
    if backwards.any():
        findings.add(
            WARNING,
            "unordered-time",
            "times that run backwards within a conversation; they are kept as they are.",
            "mend TimeOffsetSeconds.",
            **table.place("TimeOffsetSeconds"),
            rows=messages.loc[backwards, "row"].tolist(),
        )
    by_row = messages.groupby("conversation", sort=False).cumcount() + 1
    by_id = groups.rank(method="first")
    return by_row.where(incomplete | repeated_anywhere, by_id).astype(int)


def _falls(messages: pd.DataFrame, name: str) -> pd.Series:
    """Whether a number is smaller than that of the message before it in the same conversation."""
    return messages.groupby("conversation", sort=False)[name].diff() < 0


def _report_duplicates(table: Table, messages: pd.DataFrame, findings: Findings) -> pd.Series:
    """Report rows that repeat an earlier row of their conversation cell by cell; True for each of them.

    Rows without MessageId and time may be alike because the same was said twice. They are duplicates if they are
    rated turns, or stand in a conversation with a duplicate.
    """
    cells = [table.cells(column.official) for column in table.columns if column.official != "TaskId"]
    numbered = messages["message_id"].notna()
    # Only these can be equal to another row: few, so that they can be compared cell by cell.
    candidates = messages.duplicated(["conversation", "message_id"], keep=False) & (
        numbered | messages.duplicated(["conversation", "content"], keep=False)
    )
    rows = messages.loc[candidates, ["conversation"]].copy()
    rows["cells"] = [tuple(column[index] for column in cells) for index in rows.index]
    repeats = rows.duplicated()
    located = numbered | messages["seconds"].notna()
    rated = _rated(table, rows.index)
    certain = repeats & (located[rows.index] | rated)
    copies = repeats & rows["conversation"].isin(rows.loc[certain, "conversation"])
    duplicates = copies.reindex(messages.index, fill_value=False)
    if duplicates.any():
        findings.add(
            WARNING,
            "duplicate-message",
            "rows that repeat an earlier row of the same conversation in every column (MessageId, time, role, text, "
            "ratings); they are counted like all others, so turns and ratings are counted more than once.",
            "remove these rows, unless the same was really said and rated again.",
            **table.place("TaskId"),
            rows=messages.loc[duplicates, "row"].tolist(),
        )
    return duplicates


def _rated(table: Table, index: pd.Index) -> np.ndarray:
    """Whether any rating cell of these rows is filled."""
    columns = [table.cells(column.official) for column in table.columns if column.name in RATING_NAMES]
    return np.array([any(not is_blank(column[row]) for column in columns) for row in index], dtype=bool)


def _turns(
    messages: pd.DataFrame, levels: dict[str, Levels], conversations: pd.DataFrame, is_turn: np.ndarray
) -> pd.DataFrame:
    source = np.flatnonzero(is_turn)
    turns = messages.loc[source, ["conversation", "position", "seconds", "row"]].copy()
    turns["turn"] = turns.groupby("conversation", sort=False)["position"].rank(method="first").astype(int)
    who = conversations.drop_duplicates("conversation").set_index("conversation")
    for name in ("participant", "condition"):
        # pandas would infer its own text type here and turn None into NaN.
        turns[name] = pd.Series(who[name].reindex(turns["conversation"]).to_numpy(), index=turns.index, dtype=object)
    for name in RATING_NAMES:
        turns[name] = levels[name].numbers[source]
    for name in RATING_NAMES:
        turns[f"{name}_state"] = pd.Categorical.from_codes(levels[name].states[source], STATES)
    first = ["conversation", "participant", "condition", "turn", "position", "seconds", "row"]
    return turns[first + [name for name in turns if name not in first]].reset_index(drop=True)
