"""Ratings that a judge gives beside the authors' one score: of single turns, and of the seven dimensions."""

import json
import re

import pandas as pd

from sense7.errors import UserError
from sense7.judge.reply import Reply, without_thinking
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.workbook.ids import as_name, as_number, as_text, is_blank
from sense7.workbook.xlsx import Sheet

__all__ = [
    "NOT_APPLICABLE",
    "ratings_of",
    "require_unit",
]

UNITS = ("conversation", "turn")
RATINGS = (*RATING_NAMES, "all")
"""What can be asked for: the overall rating, one dimension, or all of these in one call."""

NOT_APPLICABLE = "not applicable"
SHEET = "ratings"
"""Sheet of a prediction file that holds the judge's ratings beside the person's."""

SIDES = ("judge", "person")
REASONING = "reasoning"
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", re.DOTALL)


def ratings_of(rating: str) -> tuple[str, ...]:
    """Return the names of the ratings that are asked for."""
    if rating not in RATINGS:
        raise UserError(
            f"--rating {rating}: there is no such rating. Choose one of {', '.join(RATINGS)}."
        )
    return RATING_NAMES if rating == "all" else (rating,)


def require_unit(unit: str) -> None:
    """Refuse what is no unit."""
    if unit not in UNITS:
        raise UserError(f"--unit {unit}: there is no such unit. Choose {' or '.join(UNITS)}.")


def schema(names: tuple[str, ...]) -> dict:
    """Return the JSON schema of a reply, as the request's ``response_format`` holds it."""
    level = {"type": "integer", "enum": list(range(1, len(LEVELS) + 1))}
    or_none = {"anyOf": [level, {"type": "string", "enum": [NOT_APPLICABLE]}]}
    properties = {REASONING: {"type": "string"}} | {
        name: or_none if name in DIMENSION_NAMES else level for name in names
    }
    whole = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": SHEET, "strict": True, "schema": whole}}


def read_levels(text: str | None, names: tuple[str, ...]) -> tuple[dict, str, str | None]:
    """Read the levels of a reply, strictly: one JSON object that has each rating asked for."""
    answer = without_thinking(text or "")
    if not answer.strip():
        return {}, "the reply is empty", None
    fenced = _FENCE.fullmatch(answer)
    try:
        said = json.loads(fenced[1] if fenced else answer, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        return {}, "the reply is not one JSON object in which each rating stands once", None
    if not isinstance(said, dict):
        return {}, "the reply is JSON, but no object", None
    reasoning = said.pop(REASONING, None)
    reasoning = reasoning if isinstance(reasoning, str) else None
    levels = {}
    for name in names:
        levels[name] = _level_of(said.get(name))
        if levels[name] is None or (levels[name] == NOT_APPLICABLE and name not in DIMENSION_NAMES):
            shown = json.dumps(said[name], ensure_ascii=False)[:60] if name in said else "missing"
            return (
                {},
                f"{name} is {shown}, which is no whole level from 1 to {len(LEVELS)}",
                reasoning,
            )
    return levels, "", reasoning


def _level_of(value: object) -> int | str | None:
    """Level that a value of a reply means: a whole number, as a float or a text too, or that none applies."""
    if isinstance(value, str):
        words = " ".join(re.split(r"[\s_-]+", value.strip().rstrip(".").casefold()))
        if words in (NOT_APPLICABLE, "n/a"):
            return NOT_APPLICABLE
        value = float(value) if re.fullmatch(r"\s*[0-9](?:\.0{1,9})?\s*", value, re.ASCII) else None
    is_number = type(value) in (int, float)
    return int(value) if is_number and value in range(1, len(LEVELS) + 1) else None


def _distinct(pairs: list[tuple]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def read_ratings(text: str | None, names: tuple[str, ...], reply: Reply) -> Reply:
    """Return the reply to a request for ratings, given how it is read as a score, and its levels."""
    levels, reason, reasoning = read_levels(text, names)
    score, status = None, reply.status
    if status in ("api_error", "refusal", "prompt_cut"):
        reason = reply.reason
    elif levels:
        score = levels.get("overall" if "overall" in names else names[0])
        status = "ok"
        if score == NOT_APPLICABLE:
            score, status, reason = None, "not_applicable", f"{names[0]} does not apply"
    else:
        status = "truncated" if status == "truncated" else "parse_failure"
        reason = reply.reason if not (text or "").strip() and status == "parse_failure" else reason
    score = None if score is None else float(score)
    return Reply(reply.text, score, float("nan"), status, reason, reasoning, levels=levels)


def ratings_sheet(units: pd.DataFrame, names: tuple[str, ...], levels: list[dict]) -> Sheet:
    """Return the sheet of ratings of a prediction file."""
    header = [
        "TaskId",
        "PID",
        "Conversation",
        "Turn",
        *(f"{name} {side}" for name in names for side in SIDES),
    ]
    rows = []
    for unit, given in zip(units.to_dict("records"), levels, strict=True):
        turn = None if pd.isna(unit["turn"]) else int(unit["turn"])
        pairs = [value for name in names for value in (given.get(name), unit[f"person_{name}"])]
        rows.append([unit["conversation"], unit["participant"], unit["source"], turn, *pairs])
    return Sheet(SHEET, header, rows)


def read_ratings_sheet(sheet: Sheet, where: str) -> pd.DataFrame:
    """Ratings of a prediction file: one row per unit and rating."""
    names = [name for name in RATING_NAMES if f"{name} judge" in sheet.header]
    needed = ["TaskId", "PID", *(f"{name} {side}" for name in names for side in SIDES)]
    if lacking := [title for title in needed if title not in sheet.header]:
        raise UserError(
            f"{where}: the column {lacking[0]} is missing. Write the file again: sense7 judge run."
        )
    places = {title: sheet.header.index(title) for title in needed}
    rows = []
    for number, row in enumerate(sheet.rows, 2):
        cells = {title: row[place] if place < len(row) else None for title, place in places.items()}
        if all(map(is_blank, cells.values())):
            continue
        unit = {"conversation": as_name(cells["TaskId"]), "participant": as_name(cells["PID"])}
        for name in names:
            sides = {}
            for side in SIDES:
                sides[side] = _cell(
                    cells[f"{name} {side}"], f"{where}, column {name} {side}, row {number:,}"
                )
            rows.append({**unit, "rating": name, **sides})
    columns = ["conversation", "participant", "rating", *SIDES]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[3:], float))


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
