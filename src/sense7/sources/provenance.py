"""What is known of a file's origin, and the small JSON file beside it that says so."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.files import not_written, one_line, read_json, reading, require_schema, write_whole
from sense7.sources.registry import SOURCES, Source
from sense7.workbook.tables import hash_tables


@dataclass(frozen=True)
class Provenance:
    """What is known of where a file came from.

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

    kind: str  # official, synthetic, own, or third-party: another data set, converted
    name: str  # of the source, or the file's stem
    file: str  # without its folder, which is nobody's business
    address: str | None  # where it was fetched from, without query
    fetched: str | None  # when, as ISO 8601 in UTC
    sha256: str
    size: int
    mirror: bool  # whether it, or its parts, came from another place than the source's own
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)  # published file -> sha256
    conversion: int | None = None  # number of the conversion that made it
    sha256_now: str | None = field(
        default=None, compare=False, repr=False
    )  # as hashed in this process; never written

    @classmethod
    def of(cls, path: str | Path) -> "Provenance":
        """Provenance of a file of which nothing is known but its bytes."""
        path = Path(path)
        sha256, size = hashed(path)
        return cls(
            "own", path.stem, path.name, None, None, sha256, size, mirror=False, sha256_now=sha256
        )

    @classmethod
    def from_dict(cls, record: dict) -> "Provenance":
        """Read what :meth:`to_dict` wrote, ``verified`` only after :meth:`against`; UserError if it is no record."""
        schema = read_json(Path(__file__).with_name("provenance_schema.json"))
        require_schema(record, schema, "record")
        return cls(**record)

    def to_dict(self) -> dict:
        """Give the record as plain JSON values."""
        record = asdict(self)
        del record["sha256_now"]
        return record

    def against(self, path: str | Path) -> "Provenance":
        """Hash the file and note the result beside the record."""
        return replace(self, sha256_now=hashed(Path(path))[0])

    @property
    def unchanged(self) -> bool:
        """True if the file was hashed in this process and is the one that was recorded."""
        return self.sha256_now == self.sha256

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
            for source in SOURCES.values():
                if source.parts and source.parts == self.parts:
                    return source
        return None

    @property
    def label(self) -> str:
        """What this is, in words for a reader.

        The text holds the file's name as it is: escape it as the place demands.
        """
        if self.kind == "third-party":
            # Every part is pinned by its hash, so a copy from a mirror is as good as the authors' own.
            if self.source is not None and self.unchanged:
                return f"{self.source.title}, converted; not SENSE-7"
            return "data of third parties, UNVERIFIED: the record wasn't or can't be confirmed; not SENSE-7"
        if self.kind == "synthetic":
            return "synthetic workbook, whose numbers are no findings"
        if self.kind == "own":
            return f"workbook {self.file}, given by its path"
        if self.verified:
            return "official workbook, fetched from the authors' repository"
        if self.mirror:
            return "official workbook, UNVERIFIED copy from a mirror"
        return "official workbook, UNVERIFIED: its record wasn't or can't be confirmed"


def record_path(path: str | Path) -> Path:
    """Give the place of the record of a file's provenance: beside it.

    Examples
    --------
    >>> record_path("data/official.xlsx").name
    'official.xlsx.provenance.json'
    """
    path = Path(path)
    return path.with_name(f"{path.name}.provenance.json")


def read_record(
    path: Path, fix: str = "Delete it to use the workbook as your own data"
) -> Provenance | None:
    """Read the record that lies beside a file, without comparing it with the file; None if there is none."""
    record = record_path(path)
    try:
        return Provenance.from_dict(read_json(record))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(
            f"{record}: can't be read ({error.strerror}). Check its permissions."
        ) from None
    except (UserError, ValueError, RecursionError) as error:
        raise UserError(
            f"{record}: not a record of provenance ({one_line(error)}). {fix}."
        ) from None


def write_record(path: Path, provenance: Provenance) -> None:
    """Write the record of a file's provenance beside it, whole or not at all, so that it is known wherever it is."""
    record = record_path(path)
    try:
        text = json.dumps(provenance.to_dict(), indent=2, ensure_ascii=False)
        write_whole(record, f"{text}\n", replace=True)
    except OSError as error:
        raise UserError(disk_message(record, error)) from None


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
