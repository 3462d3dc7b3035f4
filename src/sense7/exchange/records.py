"""Records of a file: each conversation in it as JSON or plain text, with its place.

What can't be read is refused with line and byte. No text or line is taken into memory beyond ``LARGEST`` bytes and
``MOST_VALUES`` values.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError
from sense7.files import one_line, reading
from sense7.workbook.tables import decoded

LARGEST = 2**28
"""Bytes of one JSON text: a whole file, or a line of JSON Lines."""

MOST_VALUES = 10_000_000
"""Signs that begin or part values in one JSON text; a value takes many times the memory of its shortest form."""


class PlainText(str):
    """The text of a file that is no JSON."""

    __slots__ = ()


def records(path: Path) -> Iterator[tuple[str, object]]:
    """Give each conversation of a file with its place in it: a JSON value, or a plain text."""
    with reading(path) as stream:
        if path.suffix.casefold() in (".jsonl", ".ndjson"):
            yield from json_lines(path, stream)
            return
        content = stream.read(LARGEST + 1)
    text = _text(content, str(path))
    if text.lstrip()[:1] not in ("{", "["):
        yield "", PlainText(text)
        return
    value = parsed(content, str(path))
    is_messages = (
        isinstance(value, list) and value and isinstance(value[0], dict) and "role" in value[0]
    )
    if isinstance(value, dict) or is_messages:
        yield "", value
    else:
        for number, record in enumerate(value, 1):
            yield f"conversation {number}", record


def json_lines(path: Path, stream: BinaryIO) -> Iterator[tuple[str, object]]:
    """Give each line of JSON Lines with its place."""
    lines = iter(partial(stream.readline, LARGEST + 1), b"")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"line {number}", parsed(line, f"{path}: line {number}")


def _text(content: bytes, where: str) -> str:
    """Text of bytes in UTF-8."""
    if len(content) > LARGEST:
        raise UserError(
            f"{where}: more than {LARGEST // 2**20:,} MiB of JSON or text in one piece. Split it: JSON Lines, with one "
            "conversation per line, can be of any length."
        )
    fix = "Unpack a compressed file first (a .zip, for example), and save a text in UTF-8."
    return decoded(content, where, fix)


def parsed(content: bytes, where: str) -> object:
    """A JSON value; a key that stands twice in an object is refused, since one of its values would be lost."""
    text = _text(content, where)
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        raise UserError(
            f"{where}: more than {MOST_VALUES:,} values of JSON in one piece. Split it: JSON Lines, with one "
            "conversation per line, can be of any length."
        )
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise UserError(
            f"{where}: nested too deeply to be a conversation. Export it again."
        ) from None
    except json.JSONDecodeError as error:
        position = f"column {error.colno}"
        if error.lineno > 1:
            position = f"line {error.lineno}, {position}"
        fix = "Export it again"
        if error.msg == "Extra data":
            fix += "; if it is JSON Lines, name it .jsonl"
        raise UserError(f"{where}: {position}: no JSON ({error.msg}). {fix}.") from None
    except ValueError as error:
        raise UserError(f"{where}: {one_line(error)}. Correct it, or export it again.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of its keys and values, each key once."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return value
