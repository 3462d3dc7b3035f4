"""Ratings that a judge gives beside the authors' one score: of single turns, and of the seven dimensions."""

import json

import pandas as pd

from sense7.errors import UserError
from sense7.judge.reply import Reply, answer_in
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.workbook.ids import as_name, as_number, as_text, is_blank
from sense7.workbook.xlsx import Sheet

__all__ = [
    "NOT_APPLICABLE",
    "ratings_of",
]

UNITS = ("conversation", "turn")
RATINGS = (*RATING_NAMES, "all")
"""What can be asked for: the overall rating, one dimension, or all of these in one call."""

NOT_APPLICABLE = "not applicable"
SHEET = "ratings"
"""Sheet of a prediction file that holds the judge's ratings beside the person's."""

_MOST_BRACES = 1000
"""Braces of a reply beyond which none is taken for the beginning of an answer: each would be tried."""

SIDES = ("judge", "person")
REASONING = "reasoning"


def ratings_of(rating: str) -> tuple[str, ...]:
    """Return the names of the ratings that are asked for."""
    if rating not in RATINGS:
        raise UserError(
            f"--rating {rating}: there is no such rating. Choose one of {', '.join(RATINGS)}."
        )
    return RATING_NAMES if rating == "all" else (rating,)


def schema(names: tuple[str, ...]) -> dict:
    """Return the JSON schema of a reply, as the request's ``response_format`` holds it."""
    level = {"type": "integer", "enum": list(range(1, len(LEVELS) + 1))}
    or_none = {"anyOf": [level, {"type": "string", "enum": [NOT_APPLICABLE]}]}
    properties = {REASONING: {"type": "string"}}
    for name in names:
        properties[name] = or_none if name in DIMENSION_NAMES else level
    reply = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": SHEET, "strict": True, "schema": reply}}


def read_levels(
    text: str | None, names: tuple[str, ...], *, is_cut: bool = False
) -> tuple[dict, str, str | None]:
    """Read the levels of a reply: a JSON object by :func:`schema`; why there are none; and its reasoning.

    Words, a fence or another object may stand around it. Objects that fit have to say the same. In a reply that was
    cut off, an object behind words may be a draft.
    """
    answer = answer_in(text or "")
    if answer.count("{") > _MOST_BRACES:
        return {}, f"more than {_MOST_BRACES:,} braces: no answer is looked for among them", None
    if is_cut and not answer.lstrip().startswith("{"):
        answer = ""
    decoder = json.JSONDecoder(strict=False)
    fitting = []
    begin = answer.find("{")
    while begin >= 0:
        end = begin + 1
        try:
            value, end_of_value = decoder.raw_decode(answer, begin)
        except RecursionError:
            break
        except ValueError:  # no object begins here
            value = {}
        if all(name in value and _fits(value[name], name) for name in names):
            fitting.append(value)
            end = end_of_value
        begin = answer.find("{", end)
    if not fitting:
        return {}, f"no JSON object in the reply with levels for {', '.join(names)}", None
    found = [tuple(value[name] for name in names) for value in fitting]
    if len(set(found)) > 1:
        return {}, "the reply holds JSON objects with different levels", None
    reasoning = fitting[-1].get(REASONING)
    if not isinstance(reasoning, str):
        reasoning = None
    levels = {}
    for name, level in zip(names, found[-1], strict=True):
        levels[name] = level if level == NOT_APPLICABLE else int(level)
    return levels, "", reasoning


def _fits(value: object, name: str) -> bool:
    """Whether a value is a level, as an integer or 4.0, or says that a dimension does not apply."""
    if value == NOT_APPLICABLE:
        return name in DIMENSION_NAMES
    return type(value) in (int, float) and value in range(1, len(LEVELS) + 1)


def read_ratings(text: str | None, names: tuple[str, ...], reply: Reply) -> Reply:
    """Return the reply to a request for ratings, given how it is read as a score, and its levels."""
    status = reply.status
    levels, reason, reasoning = read_levels(text, names, is_cut=status == "truncated")
    score = None
    if status in ("api_error", "refusal"):
        levels = {}
        reason = reply.reason
    elif levels:
        level = levels["overall" if "overall" in names else names[0]]
        if level == NOT_APPLICABLE:
            status = "not_applicable"
            reason = f"{names[0]} does not apply"
        else:
            status = "ok"
            score = float(level)
    elif status != "truncated":
        status = "parse_failure"
    return Reply(reply.text, score, float("nan"), status, reason, reasoning, levels=levels)


def ratings_sheet(units: pd.DataFrame, names: tuple[str, ...], levels: list[dict]) -> Sheet:
    """Return the sheet of ratings of a prediction file."""
    columns = {
        "TaskId": units["conversation"],
        "PID": units["participant"],
        "Conversation": units["source"],
        "Turn": [None if pd.isna(turn) else int(turn) for turn in units["turn"]],
    }
    for name in names:
        columns[f"{name} judge"] = [judged.get(name) for judged in levels]
        columns[f"{name} person"] = units[f"person_{name}"]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return Sheet(SHEET, list(columns), rows)


def read_ratings_sheet(sheet: Sheet, where: str) -> pd.DataFrame:
    """Ratings of a prediction file: one row per unit and rating, the judge's level as score, the person's as truth."""
    names = [name for name in RATING_NAMES if f"{name} judge" in sheet.header]
    titles = ["TaskId", "PID"]
    for name in names:
        titles += [f"{name} {side}" for side in SIDES]
    for title in titles:
        if title not in sheet.header:
            raise UserError(
                f"{where}: the column {title} is missing. Write the file again: sense7 judge run."
            )
    rows = []
    for number, row in enumerate(sheet.rows, 2):
        cells = {title: row[sheet.header.index(title)] for title in titles}
        if all(map(is_blank, cells.values())):
            continue
        for name in names:
            rating = [as_name(cells["TaskId"]), as_name(cells["PID"]), name]
            for side in SIDES:
                title = f"{name} {side}"
                rating.append(_cell(cells[title], f"{where}, column {title}, row {number:,}"))
            rows.append(rating)
    columns = ["conversation", "participant", "rating", "score", "ground_truth"]
    return pd.DataFrame(rows, columns=columns)


def _cell(cell, where: str) -> float:
    """Level of a cell; NaN where the rating does not apply."""
    if is_blank(cell) or as_text(cell) == NOT_APPLICABLE:
        return float("nan")
    number = as_number(cell)
    if number is not None and 1 <= number <= len(LEVELS):
        return number
    raise UserError(
        f"{where}: {as_text(cell)!r} is no level from 1 to {len(LEVELS)}. Write a level, "
        f"{NOT_APPLICABLE!r}, or nothing."
    )
