"""Records of a file: what stands in it as JSON, JSON Lines, an archive of JSON, or plain text, each with its place.

What can't be read is refused with line and byte. No text, line or part of an archive is taken into memory beyond
``LARGEST`` bytes and ``MOST_VALUES`` values, regardless of what an archive says of itself.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError
from sense7.exchange.readers import Transcript, is_messages
from sense7.files import one_line, reading
from sense7.workbook.tables import decoded

LARGEST = 2**28
"""Bytes of one JSON text: a whole file, a line of JSON Lines, a part of an archive."""

MOST_VALUES = 10_000_000
"""Values of one JSON text, each of which takes many times the memory of its shortest form."""

DENSEST = 200
"""How many times its size an archive may unpack to; conversations reach about 20."""

ALWAYS_SMALL = 2**24
"""Bytes to which any archive may unpack."""

_JSON = re.compile(
    rb"\s*+(?:\{|\[\s*+(?:$|[\[{\"\]]|(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN)\s*+[,\]]))"
)
"""How JSON begins; a plain text can begin with a bracket, too, as in [9:41] and [31.12.23, 21:41]."""

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


_PACKINGS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
    b"\x04\x22\x4d\x18": "LZ4",
}
"""How packed files begin."""


def records(path: Path) -> Iterator[tuple[str, object]]:
    """Give each record of a file with its place in it: a JSON value, a Transcript, or why a line is neither."""
    with reading(path) as stream:
        start = stream.read(4096)
        if not start:
            raise UserError(f"{path}: the file is empty. Export it again.")
        if start.startswith(b"PK\x03\x04"):
            yield from _archive(path)
            return
        _require_unpacked(path, start)
        byte_order_mark = b"\xef\xbb\xbf"
        text_start = start.removeprefix(byte_order_mark)
        stream.seek(len(start) - len(text_start))
        is_json = _JSON.match(text_start) is not None
        if is_json and path.suffix.casefold() in (".jsonl", ".ndjson"):
            yield from json_lines(path, stream)
        elif is_json:
            yield from _items(parsed(stream.read(LARGEST + 1), str(path)))
        else:
            yield "", Transcript(_text(stream.read(LARGEST + 1), str(path)))


def _require_unpacked(path: Path, start: bytes) -> None:
    """Refuse what another program has to unpack or to convert first, by how the file begins."""
    for signature, packing in _PACKINGS.items():
        if start.startswith(signature):
            raise UserError(
                f"{path}: compressed by {packing}. Unpack it first, and give the file that holds the conversations."
            )
    if start[257:262] == b"ustar":
        raise UserError(
            f"{path}: an archive of tar. Unpack it first, and give the file that holds the conversations."
        )
    if start.startswith(b"PAR1"):
        raise UserError(
            f"{path}: a parquet file. Save it as JSON Lines first, for example by "
            'pandas.read_parquet(FILE).to_json("chats.jsonl", orient="records", lines=True).'
        )


def _items(value: object, part: str = "") -> Iterator[tuple[str, object]]:
    """The conversations of a list of conversations, the samples of a log; any other value as it is."""
    prefix = f"{part}: " if part else ""
    if isinstance(value, dict) and "eval" in value and isinstance(value.get("samples"), list):
        for number, sample in enumerate(value["samples"], 1):
            yield f"{prefix}samples[{number}]", {"eval": value["eval"], "samples": [sample]}
    elif isinstance(value, list) and not is_messages(value):
        for number, item in enumerate(value, 1):
            yield f"{prefix}conversation {number}", item
    else:
        yield part, value


def json_lines(path: Path, stream: BinaryIO) -> Iterator[tuple[str, object]]:
    """Give each line of JSON Lines with its place: a JSON value, or why it is none."""
    lines = iter(partial(stream.readline, LARGEST + 1), b"")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = parsed(line, f"{path}: line {number}")
        except UserError as error:
            if len(line) > LARGEST:
                raise
            record = error
        yield f"line {number}", record


def _archive(path: Path) -> Iterator[tuple[str, object]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            json_parts = [info for info in archive.infolist() if info.filename.endswith(".json")]
            unpacked = sum(info.file_size for info in json_parts)
            if unpacked > max(ALWAYS_SMALL, DENSEST * path.stat().st_size):
                raise UserError(
                    f"{path}: unpacks to {unpacked / 2**20:,.0f} MiB, more than conversations in a file of its size. "
                    "Check where it comes from, or export it again."
                )
            chat_parts = sorted(
                name
                for name in names
                if re.fullmatch(r"(?:[^/]+/)?conversations(?:-\d+)?\.json", name)
            )
            if "header.json" in names:
                header = _part(archive, "header.json", path)
                about = header.get("eval") if isinstance(header, dict) else None
                for name in names:
                    if not re.fullmatch(r"samples/[^/]+\.json", name):
                        continue
                    try:
                        yield name, {"eval": about, "samples": [_part(archive, name, path)]}
                    except UserError as error:
                        yield name, error
            elif chat_parts:
                for name in chat_parts:
                    yield from _items(_part(archive, name, path), name)
            else:
                raise UserError(
                    f"{path}: an archive without header.json (a log of inspect_ai) or conversations.json (the data "
                    "export of ChatGPT or Claude). Unpack it, and give the file that holds the conversations."
                )
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise UserError(
            f"{path}: damaged or cut short ({one_line(error)}). Export or copy it again."
        ) from None


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> object:
    """A part of an archive as JSON, unpacked to no more than ``LARGEST`` bytes."""
    try:
        with archive.open(name) as stream:
            content = stream.read(LARGEST + 1)
    except (NotImplementedError, RuntimeError) as error:
        # A compression that Python does not know, or a password.
        raise UserError(
            f"{path}: {name}: can't be unpacked ({one_line(error)}). Unpack it by its program; a log of inspect_ai: "
            "inspect log convert --to json --output-dir FOLDER LOG.eval"
        ) from None
    return parsed(content, f"{path}: {name}")


def _text(content: bytes, where: str) -> str:
    """Text of bytes in UTF-8."""
    if len(content) > LARGEST:
        raise UserError(
            f"{where}: more than {LARGEST // 2**20:,} MiB of JSON or text in one piece. Split it: JSON Lines, with one "
            "conversation per line, can be of any length."
        )
    return decoded(content, where, "Save or export it again in UTF-8.")


def parsed(content: bytes, where: str) -> object:
    """A JSON value; NaN and its like, which JSON doesn't have, are nothing."""
    text = _text(content, where)
    marks = sum(map(text.count, ",[{"))
    if marks > MOST_VALUES:  # those in strings are taken out only where that matters
        marks = sum(map(_STRING.sub("", text).count, ",[{"))
    if marks > MOST_VALUES:
        raise UserError(
            f"{where}: more than {MOST_VALUES:,} values of JSON in one piece. Split it: JSON Lines, with one "
            "conversation per line, can be of any length."
        )
    try:
        return json.loads(text, parse_constant=lambda name: None)
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
