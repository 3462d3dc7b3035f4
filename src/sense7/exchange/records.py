"""Records of a file: what stands in it as JSON, JSON Lines, an archive of JSON, or plain text, each with its place.

What can't be read is refused with line and byte. No text, line or part of an archive is taken into memory beyond
``LARGEST`` bytes, regardless of what an archive says of itself.
"""

import contextlib
import importlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError
from sense7.exchange.readers import Transcript, is_messages
from sense7.files import one_line, reading

LARGEST = 2**30
"""Bytes of one JSON text: a whole file, a line of JSON Lines, a part of an archive."""

_JSON = re.compile(rb"\s*(?:\{|\[\s*(?:$|[\[{\"\]]|(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN)\s*[,\]]))")
"""How JSON begins; a plain text can begin with a bracket, too, as in [9:41] and [31.12.23, 21:41]."""

_ZSTANDARD = 93
"""How archives number this compression, which Python reads from version 3.14 on."""


def records(path: Path) -> Iterator[tuple[str, object]]:
    """Give each record of a file with its place in it: a JSON value, a Transcript, or why a line is neither."""
    with reading(path) as stream:
        start = stream.read(4096)
        began = 3 if start.startswith(b"\xef\xbb\xbf") else 0  # the byte order mark
        stream.seek(began)
        of_lines = path.suffix.casefold() in (".jsonl", ".ndjson")
        if not start:
            raise UserError(f"{path}: the file is empty. Export it again.")
        if start.startswith(b"PK\x03\x04"):
            yield from _archive(path)
        elif start.startswith(b"PAR1"):
            raise UserError(
                f"{path}: a parquet file. Save it as JSON Lines first, for example by "
                'pandas.read_parquet(FILE).to_json("chats.jsonl", orient="records", lines=True).'
            )
        elif _JSON.match(start[began:]):
            of_lines = of_lines or _first_line_is_whole(stream)
            stream.seek(began)
            if of_lines:
                yield from json_lines(path, stream)
            else:
                yield from _items(parsed(stream.read(LARGEST + 1), path, offset=began))
        else:
            text = _decoded(stream.read(LARGEST + 1), str(path), str(path))
            if "\0" in text:
                line = text.count("\n", 0, text.index("\0")) + 1
                raise UserError(f"{path}: line {line}: a zero byte, so this is no text. Give JSON, or text in UTF-8.")
            yield "", Transcript(text)


def _items(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """The conversations of a list of conversations, the samples of a log; any other value as it is."""
    before = f"{place}: " if place else ""
    if isinstance(value, dict) and "eval" in value and isinstance(value.get("samples"), list):
        for number, sample in enumerate(value["samples"], 1):
            yield f"{before}samples[{number}]", {"eval": value["eval"], "samples": [sample]}
    elif isinstance(value, list) and not is_messages(value):
        for number, item in enumerate(value, 1):
            yield f"{before}conversation {number}", item
    else:
        yield place, value


def _first_line_is_whole(stream: BinaryIO) -> bool:
    """Whether the first line that is not blank is a JSON value, and more follows."""
    line = b""
    while not line.strip():
        line = stream.readline(LARGEST)
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return any(more.strip() for more in iter(lambda: stream.readline(2**16), b""))


def json_lines(path: Path, stream: BinaryIO) -> Iterator[tuple[str, object]]:
    """Give each line of JSON Lines with its place: a JSON value, or why it is none."""
    number, offset = 0, stream.tell()
    while line := stream.readline(LARGEST + 1):
        number += 1
        if len(line) > LARGEST:
            raise UserError(_too_large(f"{path}: line {number}"))
        if line.strip():
            try:
                record = parsed(line, path, f"line {number}", line=number, offset=offset)
            except UserError as error:
                record = error
            yield f"line {number}", record
        offset += len(line)


def _archive(path: Path) -> Iterator[tuple[str, object]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            chats = sorted(name for name in names if re.fullmatch(r"(?:[^/]+/)?conversations(?:-\d+)?\.json", name))
            if "header.json" in names:
                header = _part(archive, "header.json", path)
                about = header.get("eval") if isinstance(header, dict) else None
                for name in names:
                    if re.fullmatch(r"samples/[^/]+\.json", name):
                        try:
                            yield name, {"eval": about, "samples": [_part(archive, name, path)]}
                        except UserError as error:
                            yield name, error
            elif chats:
                for name in chats:
                    yield from _items(_part(archive, name, path), name)
            elif "[Content_Types].xml" in names:
                raise UserError(f"{path}: a workbook already. Give it to sense7 check, build or judge.")
            else:
                raise UserError(
                    f"{path}: an archive without header.json (a log of inspect_ai) or conversations.json (the data "
                    "export of ChatGPT or Claude). Unpack it, and give the file that holds the conversations."
                )
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise UserError(f"{path}: damaged or cut short ({one_line(error)}). Export or copy it again.") from None


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> object:
    """A part of an archive as JSON, unpacked to no more than ``LARGEST`` bytes."""
    information = archive.getinfo(name)
    if information.compress_type == _ZSTANDARD:  # as inspect_ai compresses its logs
        for module in ("compression.zstd", "zipfile_zstd"):  # of Python 3.14 and later; what teaches it to zipfile
            with contextlib.suppress(ImportError):
                importlib.import_module(module)
                break
        else:
            raise UserError(
                f"{path}: compressed by Zstandard. Run python -m pip install zipfile-zstd; or convert the log: "
                "inspect log convert --to json --output-dir FOLDER LOG.eval"
            )
    if information.flag_bits & 1:
        raise UserError(f"{path}: {name}: protected by a password. Unpack it first.")
    try:
        with archive.open(name) as stream:
            content = stream.read(LARGEST + 1)
    except NotImplementedError as error:
        raise UserError(f"{path}: {name}: can't be unpacked ({one_line(error)}). Unpack it by its program.") from None
    return parsed(content.removeprefix(b"\xef\xbb\xbf"), path, name)


def _too_large(where: str) -> str:
    return (
        f"{where}: more than {LARGEST // 2**20:,} MiB of JSON or text in one piece. Split it: JSON Lines, with one "
        "conversation per line, can be of any length."
    )


def _decoded(content: bytes, where: str, file: str, *, line: int = 1, offset: int = 0) -> str:
    """Text of bytes in UTF-8; where they are none, line and byte of the file (or of the part of an archive)."""
    if len(content) > LARGEST:
        raise UserError(_too_large(where))
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(
            f"{file}: line {line + content.count(10, 0, error.start)}, byte {offset + error.start + 1}: not UTF-8. "
            "Save or export it again in UTF-8."
        ) from None


def parsed(content: bytes, path: Path, place: str = "", *, line: int = 1, offset: int = 0) -> object:
    """A JSON value; NaN and its like, which JSON doesn't have, are nothing."""
    where = f"{path}: {place}" if place else str(path)
    file = str(path) if place.startswith("line") else where

    def distinct(pairs: list[tuple[str, object]]) -> dict:
        if len(made := dict(pairs)) < len(pairs):  # one of them would be lost
            twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
            raise ValueError(f"an object has the key {twice[:40]!r} twice")
        return made

    text = _decoded(content, where, file, line=line, offset=offset)
    try:
        return json.loads(text, object_pairs_hook=distinct, parse_constant=lambda name: None)
    except RecursionError:
        raise UserError(f"{where}: nested too deeply to be a conversation. Export it again.") from None
    except json.JSONDecodeError as error:
        raise UserError(
            f"{file}: line {line + error.lineno - 1}, column {error.colno}: no JSON ({error.msg}). Export it again; "
            "one conversation per line if it is JSON Lines."
        ) from None
    except ValueError as error:
        raise UserError(f"{where}: {one_line(error)}. Correct it, or export it again.") from None
