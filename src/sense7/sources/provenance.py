"""What is known of a file's origin, and the small JSON file beside it that says so."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path

from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, write_whole
from sense7.sources.registry import SOURCES, Source
from sense7.workbook.tables import hash_tables

__all__ = [
    "Provenance",
    "disk_message",
    "hashed",
    "read_record",
    "read_record_at",
    "record_path",
    "write_record",
    "write_record_at",
]

KINDS = ("official", "synthetic", "third-party", "own")
_LATER = {"previous", "parts", "conversion"}
"""What records lack that were written before it existed."""


@dataclass(frozen=True)
class Provenance:
    """What is known of where a file came from.

    Attributes
    ----------
    kind : str
        "official", "synthetic", "third-party" (another data set, converted) or "own".
    name : str
        Name of the data set: that of the source, or the file's stem.
    file : str
        Name of the file, without its folder, which is nobody's business.
    address : str or None
        Where it was fetched from, without query; None if it wasn't.
    fetched : str or None
        When, as ISO 8601 in UTC.
    sha256 : str
        Of the file's bytes, in hex.
    size : int
        Bytes.
    mirror : bool
        True if it, or its parts, were fetched from another place than the source's own.
    previous : str or None
        The sha256 that was recorded before, if the content at that place had changed when it was
        fetched again.
    parts : mapping
        For a workbook that was made of published files: name of the file -> its sha256.
    conversion : int or None
        Number of the conversion that made it, see :class:`~sense7.sources.registry.Source`.
    found : str or None
        The sha256 of the file as hashed in this process; see :meth:`against`. Never written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.xlsx"
    >>> _ = path.write_bytes(b"abc")
    >>> provenance = Provenance.of(path)
    >>> provenance.kind, provenance.name, provenance.sha256[:8], provenance.verified
    ('own', 'mine', 'ba7816bf', False)
    >>> provenance.label
    'workbook mine.xlsx, given by its path'
    >>> Provenance.from_dict(provenance.to_dict()) == provenance
    True
    """

    kind: str
    name: str
    file: str
    address: str | None
    fetched: str | None
    sha256: str
    size: int
    mirror: bool
    previous: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)
    conversion: int | None = None
    found: str | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, path: str | Path, *, kind: str = "own", name: str | None = None) -> "Provenance":
        """Provenance of a file of which nothing is known but its bytes."""
        path = Path(path)
        sha256, size = hashed(path)
        return cls(kind, name or path.stem, path.name, None, None, sha256, size, mirror=False, found=sha256)

    @classmethod
    def from_dict(cls, record: dict) -> "Provenance":
        """Read what :meth:`to_dict` wrote.

        The result isn't ``verified`` before it was compared with its file, see :meth:`against`.

        Raises
        ------
        ValueError
            If something is missing, unknown, or can't be what it says.
        """
        problem = _problem(record)
        if problem:
            raise ValueError(problem)
        return cls(**record)

    def to_dict(self) -> dict:
        """Give the record as plain JSON values."""
        record = asdict(self)
        del record["found"]
        return record

    def against(self, path: str | Path) -> "Provenance":
        """Hash the file and note the result beside the record."""
        return replace(self, found=hashed(Path(path))[0])

    @property
    def unchanged(self) -> bool:
        """True if the file was hashed in this process and is the one that was recorded."""
        return self.found == self.sha256

    @property
    def verified(self) -> bool:
        """True only if this is the official workbook as the authors' repository gave it.

        All of it has to hold: the kind is official, the address is the authors', the time of the fetch is
        known, it was no mirror, and the file's bytes were hashed in this process and are those of the record.
        See the module's text for what this can't rule out.
        """
        return (
            self.kind == "official"
            and not self.mirror
            and self.address is not None
            and self.address == SOURCES["official"].address
            and self.fetched is not None
            and self.unchanged
        )

    @property
    def source(self) -> Source | None:
        """The published data set that this is; None for a file of one's own and for a simulated one.

        For data of third parties it is the one whose parts are pinned to exactly the hashes that were
        recorded, under any name of the file and the edition.
        """
        if self.kind == "official":
            return SOURCES["official"]
        if self.kind == "third-party":
            return next((source for source in SOURCES.values() if source.parts and source.pins == self.parts), None)
        return None

    @property
    def label(self) -> str:
        """What this is, in words for a reader.

        The text holds the file's name as it is: escape it as the place demands.
        """
        if self.kind == "synthetic":
            return "synthetic workbook, whose numbers are no findings"
        if self.kind == "own":
            return f"workbook {self.file}, given by its path"
        if self.kind == "third-party":
            # Every part is pinned by its hash, so a copy from a mirror is as good as the authors' own.
            if self.source is not None and self.unchanged:
                return f"{self.source.title}, converted; not SENSE-7"
            return "data of third parties, UNVERIFIED: the record wasn't or can't be confirmed; not SENSE-7"
        if self.verified:
            return "official workbook, fetched from the authors' repository"
        if self.mirror:
            return "official workbook, UNVERIFIED copy from a mirror"
        return "official workbook, UNVERIFIED: its record wasn't or can't be confirmed"


def _problem(record) -> str | None:
    """Say why a record can't be one, or None."""
    expected = {entry.name for entry in fields(Provenance)} - {"found"}
    if not isinstance(record, dict):
        return "it is no JSON object"
    if missing := sorted(expected - _LATER - record.keys()):
        return f"without {', '.join(missing)}"
    if unknown := sorted(record.keys() - expected):
        return f"unknown: {', '.join(unknown)}"

    def text(key):
        return isinstance(record[key], str)

    def digest(value):
        return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None

    previous, parts, conversion = record.get("previous"), record.get("parts", {}), record.get("conversion")
    rules = {
        "kind": record["kind"] in KINDS,
        "name": text("name") and record["name"] != "",
        # A name, never a path: it is joined to folders later.
        "file": text("file") and record["file"] not in ("", ".", "..") and not set(record["file"]) & set("/\\\0"),
        # Shown as a link later, so nothing but a web address will do.
        "address": record["address"] is None
        or (text("address") and re.fullmatch(r"https?://[^\s<>\"'\\]+", record["address"]) is not None),
        "fetched": record["fetched"] is None or (text("fetched") and _is_time(record["fetched"])),
        "sha256": digest(record["sha256"]),
        "size": isinstance(record["size"], int) and not isinstance(record["size"], bool) and record["size"] >= 0,
        "mirror": isinstance(record["mirror"], bool),
        "previous": previous is None or digest(previous),
        "parts": isinstance(parts, dict) and all(map(digest, parts.values())),
        "conversion": conversion is None or (isinstance(conversion, int) and not isinstance(conversion, bool)),
    }
    return next((f"{key} can't be {record.get(key)!r:.80}" for key, holds in rules.items() if not holds), None)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def record_path(path: str | Path) -> Path:
    """Give the place of the record of a file's provenance: beside it.

    Examples
    --------
    >>> record_path("data/official.xlsx").name
    'official.xlsx.provenance.json'
    """
    path = Path(path)
    return path.with_name(f"{path.name}.provenance.json")


def read_record(path: str | Path) -> Provenance | None:
    """Read the record that lies beside a file.

    Returns
    -------
    Provenance or None
        None if there is no record. It isn't compared with the file here.

    Raises
    ------
    UserError
        If there is something that is no record.
    """
    return read_record_at(record_path(path), "Delete it to use the workbook as your own data")


def read_record_at(path: Path, fix: str) -> Provenance | None:
    """Read a record at any place; what is not a record is refused, with how to fix it."""
    try:
        return Provenance.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path}: can't be read ({error.strerror}). Check its permissions.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a record of provenance ({one_line(error)}). {fix}.") from None


def write_record(path: str | Path, provenance: Provenance) -> Path:
    """Write the record of a file's provenance beside it, whole or not at all.

    For :mod:`sense7.book` and for all that writes a synthetic workbook, so that the file is
    known for synthetic wherever it is opened.
    """
    return write_record_at(record_path(path), provenance)


def write_record_at(path: Path, provenance: Provenance) -> Path:
    """Write a record at any place, whole or not at all."""
    text = json.dumps(provenance.to_dict(), indent=2, ensure_ascii=False) + "\n"
    try:
        write_whole(path, text)
    except OSError as error:
        raise UserError(disk_message(path, error)) from None
    return path


def hashed(path: Path) -> tuple[str, int]:
    """Give the sha256 of a file's bytes, or of a folder's tables, and their number."""
    if path.is_dir():
        return hash_tables(path)
    with reading(path) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return digest, stream.tell()


def disk_message(path: Path, error: OSError) -> str:
    """Say that something can't be written, and what to do."""
    return f"{not_written(path, error)} The variable SENSE7_CACHE can name another cache."
