"""Records of a file: what stands in it as JSON, JSON Lines, an archive of JSON, or plain text, each with its place.

What can't be read is refused with line and byte. No text, line or part of an archive is taken into memory beyond
``LARGEST`` bytes, regardless of what an archive says of itself.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sense7.errors import UserError
from sense7.exchange.readers import Transcript
from sense7.files import one_line, reading

__all__ = ["LARGEST", "records"]

LARGEST = 2**30
"""Bytes of one JSON text: a whole file, a line of JSON Lines, a part of an archive."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_CHATGPT = re.compile(r"(?:[^/]+/)?conversations(?:-\d+)?\.json")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*(?:$|[\[{\"\]]|(?:-?[\d.]+|true|false|null|NaN)\s*[,\]]))")
"""How JSON begins; a plain text can begin with a bracket, too, as in [9:41]."""

_ZSTANDARD = 93
"""How archives number this compression, which Python reads from version 3.14 on."""


def records(path: Path) -> Iterator[tuple[str, object]]:
    """Give each record of a file with its place in it: a JSON value, a Transcript, or why a line is neither."""
    with reading(path) as stream:
        start = stream.read(4096)
        stream.seek(len(_BYTE_ORDER_MARK) if start.startswith(_BYTE_ORDER_MARK) else 0)
        if not start:
            raise UserError(f"{path}: the file is empty. Export it again.")
        if start.startswith(b"PK\x03\x04"):
            yield from _archive(path)
        elif start.startswith(b"PAR1"):
            raise UserError(
                f"{path}: a parquet file. Save it as JSON Lines first, for example by "
                'pandas.read_parquet(FILE).to_json("chats.jsonl", orient="records", lines=True).'
            )
        elif _JSON.match(start) or (path.suffix.casefold() in (".json", *_LINES) and start.lstrip()[:1] == b"["):
            yield from _json_text(path, stream)
        else:
            text = _decoded(_whole(stream, path), path)
            if "\0" in text:
                line = text.count("\n", 0, text.index("\0")) + 1
                raise UserError(f"{path}: line {line}: a zero byte, so this is no text. Give JSON, or text in UTF-8.")
            yield "", Transcript(text)


def _json_text(path: Path, stream: BinaryIO) -> Iterator[tuple[str, object]]:
    """Records of JSON, or of JSON Lines where the first line is a JSON value of its own and further ones follow."""
    began = stream.tell()
    if path.suffix.casefold() in _LINES or _first_line_is_whole(stream):
        stream.seek(began)
        yield from _json_lines(path, stream)
        return
    stream.seek(began)
    yield from _items(_parsed(_decoded(_whole(stream, path), path, offset=began), path, ""))


def _items(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """The conversations of a list of conversations, the samples of a log; any other value as it is."""
    before = f"{place}: " if place else ""
    if isinstance(value, dict) and "eval" in value and isinstance(value.get("samples"), list):
        for number, sample in enumerate(value["samples"], 1):
            yield f"{before}samples[{number}]", {"eval": value["eval"], "samples": [sample]}
    elif isinstance(value, list) and not (value and isinstance(value[0], dict) and "role" in value[0]):
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


def _json_lines(path: Path, stream: BinaryIO) -> Iterator[tuple[str, object]]:
    number = 0
    while True:
        offset = stream.tell()
        line = stream.readline(LARGEST + 1)
        number += 1
        if not line:
            return
        _require_small(len(line), f"{path}: line {number}")
        if line.strip():
            try:
                text = _decoded(line, path, line=number, offset=offset)
                record = _parsed(text, path, f"line {number}", first_line=number)
            except UserError as error:
                record = error
            yield f"line {number}", record


def _archive(path: Path) -> Iterator[tuple[str, object]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" in names:
                header = _part(archive, "header.json", path)
                about = header.get("eval") if isinstance(header, dict) else None
                for name in filter(_SAMPLE.fullmatch, names):
                    try:
                        sample = {"eval": about, "samples": [_part(archive, name, path)]}
                    except UserError as error:
                        sample = error
                    yield name, sample
            elif chats := sorted(filter(_CHATGPT.fullmatch, names)):
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
    if information.compress_type == _ZSTANDARD:
        _read_zstandard(path)
    if information.flag_bits & 1:
        raise UserError(f"{path}: {name}: protected by a password. Unpack it first.")
    try:
        with archive.open(name) as stream:
            content = stream.read(LARGEST + 1)
    except NotImplementedError as error:
        raise UserError(f"{path}: {name}: can't be unpacked ({one_line(error)}). Unpack it by its program.") from None
    _require_small(len(content), f"{path}: {name}")
    return _parsed(_decoded(content, path, name), path, name)


def _read_zstandard(path: Path) -> None:
    """Let archives be read that are compressed by Zstandard, as inspect_ai compresses its logs."""
    try:
        import compression.zstd  # noqa: F401 -- since Python 3.14 archives are read so without more
    except ImportError:
        try:
            import zipfile_zstd  # noqa: F401 -- teaches it to zipfile
        except ImportError:
            raise UserError(
                f"{path}: compressed by Zstandard. Run python -m pip install zipfile-zstd; or convert the log: "
                "inspect log convert --to json --output-dir FOLDER LOG.eval"
            ) from None


def _whole(stream: BinaryIO, path: Path) -> bytes:
    content = stream.read(LARGEST + 1)
    _require_small(len(content), str(path))
    return content


def _require_small(length: int, where: str) -> None:
    if length > LARGEST:
        raise UserError(
            f"{where}: more than {LARGEST // 2**20:,} MiB of JSON or text in one piece. Split it: JSON Lines, with one "
            "conversation per line, can be of any length."
        )


def _decoded(content: bytes, path: Path, part: str = "", *, line: int = 1, offset: int = 0) -> str:
    """Text of bytes in UTF-8; where they are none, line and byte of the file (or of the part of an archive)."""
    try:
        return content.decode("utf-8-sig" if part else "utf-8")
    except UnicodeDecodeError as error:
        place = f"{part}: " if part else ""
        raise UserError(
            f"{path}: {place}line {line + content.count(10, 0, error.start)}, byte {offset + error.start + 1}: not "
            "UTF-8. Save or export it again in UTF-8."
        ) from None


def _parsed(text: str, path: Path, place: str, *, first_line: int = 1) -> object:
    """A JSON value; NaN and its like, which JSON doesn't have, are nothing."""
    where = f"{path}: {place}: " if place else f"{path}: "
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=lambda name: None)
    except RecursionError:
        raise UserError(f"{where}nested too deeply to be a conversation. Export it again.") from None
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        part = "" if place.startswith("line") or not place else f"{place}: "
        raise UserError(
            f"{path}: {part}line {line}, column {error.colno}: "
            f"no JSON ({error.msg}). Export it again; one conversation per line if it is JSON Lines."
        ) from None
    except ValueError as error:
        raise UserError(f"{where}{one_line(error)}. Correct it, or export it again.") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict:
    """An object without a key that stands twice, of which one would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"an object has the key {twice[:40]!r} twice")
    return made
