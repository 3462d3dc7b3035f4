"""Named data sets: where they live, how they are fetched, and what is known of a file's origin.

What this module promises of origin is modest, and worth having. A file counts as verified if
its record says that it was fetched from the authors' own address and its bytes, hashed anew each
time, are those of the record. The authors publish no checksum: the first fetch is trusted
because of TLS, and from then on any change is seen. A record is a small JSON file beside the
data; whoever writes one by hand can claim anything. Software that runs on the forger's own
machine can't rule that out and doesn't try: it rules out mistakes (a copy from elsewhere, a file
edited by accident, a download cut short, an error page saved as a workbook). Anyone who doubts
an edition fetches the workbook themselves and compares the sha256 that is printed on its pages.
"""

import contextlib
import difflib
import hashlib
import importlib.resources
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from sense7.download import download, public_address, require_workbook
from sense7.errors import UserError
from sense7.files import not_written, one_line, reading, replacing, write_whole

__all__ = [
    "SOURCES",
    "Provenance",
    "Source",
    "cache_folder",
    "copy_for_edition",
    "data_file",
    "fetch",
    "find_root",
    "read_record",
    "record_path",
    "resolve",
    "write_record",
]

_SYNTHETIC = "synthetic"
_KINDS = ("official", "synthetic", "own")
_STALE = 24 * 3600


@dataclass(frozen=True)
class Source:
    """A data set that others publish and that can be fetched by name.

    Attributes
    ----------
    name : str
        What a user types.
    title : str
        What a reader sees.
    address : str
        Where the file lies. For a source that is pinned the address holds the commit.
    licence : str
        SPDX identifier of the data's licence.
    credit : str
        Whom to credit, in words.
    file : str
        Name of the file here.
    kind : str
        Kind of the provenance that a fetched file gets.
    sha256 : str, optional
        What the file must be. None where upstream publishes a moving file, as the authors do;
        then the first fetch is recorded and later changes are noticed.
    check : callable, optional
        Refuses a download that isn't what it should be, by :class:`UserError`. Called with the
        downloaded file. None: a SENSE-7 workbook is expected.
    """

    name: str
    title: str
    address: str
    licence: str
    credit: str
    file: str
    kind: str = "official"
    sha256: str | None = None
    check: Callable[[Path], None] | None = None


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="official",
            title="SENSE-7, the official workbook",
            address="https://raw.githubusercontent.com/microsoft/sense-7/main/sense-7_dataset.xlsx",
            licence="CDLA-Permissive-2.0",
            credit=(
                "Suh, Le, Shayegani, Ramos, Amores, Ong, Czerwinski, Hernandez: SENSE-7: Taxonomy and "
                "Dataset for Measuring User Perceptions of Empathy in Sustained Human-AI Conversations. "
                "arXiv 2509.16437, 2025."
            ),
            file="official.xlsx",
        ),
    )
}
"""The data sets that ``sense7 fetch`` knows."""


@dataclass(frozen=True)
class Provenance:
    """What is known of where a file came from.

    Attributes
    ----------
    kind : str
        "official", "synthetic" or "own".
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
        True if it was fetched from another place than the source's own.
    previous : str or None
        The sha256 that was recorded before, if the content at that place had changed when it was
        fetched again.
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
    found: str | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, path: str | Path, *, kind: str = "own", name: str | None = None) -> "Provenance":
        """Provenance of a file of which nothing is known but its bytes."""
        path = Path(path)
        sha256, size = _hashed(path)
        return cls(kind, name or path.stem, path.name, None, None, sha256, size, mirror=False, found=sha256)

    @classmethod
    def from_dict(cls, record: dict) -> "Provenance":
        """Read what :meth:`to_dict` wrote.

        The result isn't ``verified`` before it was held against its file, see :meth:`against`.

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
        return replace(self, found=_hashed(Path(path))[0])

    @property
    def unchanged(self) -> bool:
        """True if the file was hashed in this process and is the one that was recorded."""
        return self.found == self.sha256

    @property
    def verified(self) -> bool:
        """True only if this is the official workbook as the authors' repository gave it.

        All of it has to hold: the kind is official, the address is the authors', it was no
        mirror, and the file's bytes were hashed in this process and are those of the record.
        See the module's text for what this can't rule out.
        """
        return (
            self.kind == "official"
            and not self.mirror
            and self.address is not None
            and self.address == SOURCES["official"].address
            and self.unchanged
        )

    @property
    def label(self) -> str:
        """What this is, in words for a reader.

        The text holds the file's name as it is: escape it as the place demands.
        """
        if self.kind == "synthetic":
            return "synthetic workbook, whose numbers are no findings"
        if self.kind == "own":
            return f"workbook {self.file}, given by its path"
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
    if missing := sorted(expected - {"previous"} - record.keys()):
        return f"without {', '.join(missing)}"
    if unknown := sorted(record.keys() - expected):
        return f"unknown: {', '.join(unknown)}"

    def text(key):
        return isinstance(record[key], str)

    def digest(value):
        return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None

    previous = record.get("previous")
    rules = {
        "kind": record["kind"] in _KINDS,
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
    }
    return next((f"{key} can't be {record.get(key)!r:.80}" for key, holds in rules.items() if not holds), None)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


# Places ------------------------------------------------------------------------------------


def find_root() -> Path | None:
    """Find the checkout: the folder that holds ``_config.yml`` and ``notebooks/``.

    Returns
    -------
    Path or None
        The folder that the environment variable SENSE7_ROOT names, else the one this package
        lies in (``src/sense7``), else the nearest above the working directory; None if there is
        none, as where only the wheel is installed.

    Raises
    ------
    UserError
        If SENSE7_ROOT names a folder that is no checkout.
    """
    if given := os.environ.get("SENSE7_ROOT"):
        root = Path(given).expanduser().resolve()
        if not _is_root(root):
            raise UserError(
                f"SENSE7_ROOT={given}: not a checkout of this project (no _config.yml and notebooks/ there). "
                "Correct the variable or unset it."
            )
        return root
    here = Path.cwd()
    candidates = [Path(__file__).resolve().parents[2], here, *here.parents]
    return next((folder for folder in candidates if _is_root(folder)), None)


def _is_root(folder: Path) -> bool:
    return (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir()


def data_file(name: str) -> Path:
    """Find a file of the project's ``data/``, in the checkout or else in the installed package.

    Raises
    ------
    UserError
        If it is in neither.
    """
    relative = Path(name)
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"a name inside data/ is expected, not {name}")
    root = find_root()
    folders = [root / "data"] if root else []
    folders.append(Path(str(importlib.resources.files("sense7"))) / "_data")
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    tried = " nor ".join(str(folder) for folder in folders)
    raise UserError(
        f"{name}: neither in {tried}. The checkout or the installation isn't complete: "
        "get it anew, or set SENSE7_ROOT to a checkout."
    )


def cache_folder() -> Path:
    """Give the folder for what was fetched: SENSE7_CACHE, else the system's place for caches."""
    if given := os.environ.get("SENSE7_CACHE"):
        return Path(given).expanduser().resolve()
    import pooch

    return Path(pooch.os_cache("sense7"))


# Records ------------------------------------------------------------------------------------


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
    return _read(record_path(path), "Delete it to use the workbook as your own data")


def _read(place: Path, mend: str) -> Provenance | None:
    try:
        return Provenance.from_dict(json.loads(place.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{place}: can't be read ({error.strerror}). Check its permissions.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not a record of provenance ({one_line(error)}). {mend}.") from None


def write_record(path: str | Path, provenance: Provenance) -> Path:
    """Write the record of a file's provenance beside it, whole or not at all.

    For :mod:`sense7.pipeline` and for whatever writes a synthetic workbook, so that the file is
    known for synthetic wherever it is opened.
    """
    return _write(record_path(path), provenance)


def _write(place: Path, provenance: Provenance) -> Path:
    text = json.dumps(provenance.to_dict(), indent=2, ensure_ascii=False) + "\n"
    try:
        write_whole(place, text)
    except OSError as error:
        raise UserError(_disk_message(place, error)) from None
    return place


def _hashed(path: Path) -> tuple[str, int]:
    """Give the sha256 of a file's bytes, and their number."""
    with reading(path) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return digest, stream.tell()


# From a name or a path to a file -------------------------------------------------------------


def resolve(data: str | Path) -> tuple[Path, Provenance]:
    """Find the workbook that a user names, and say what is known of its origin.

    Parameters
    ----------
    data : str or path
        "synthetic", the name of a source ("official"), or the path of a file.

    Returns
    -------
    path, provenance
        The file is hashed on every call; a record that isn't true of it is refused.

    Raises
    ------
    UserError
        If there is no such data set or file, it wasn't fetched yet, or it isn't what its record
        says any more.

    Notes
    -----
    A path is the user's own data, also where its bytes happen to be those of the official
    workbook: equal bytes don't say where a file came from. Two things make it known:

    - A record beside it (``FILE.provenance.json``), as an edition has beside its copy, so that
      a notebook knows what it shows. It is believed if it is true of the file's bytes; whoever
      writes one by hand forges it, which software on the forger's machine can't rule out.
    - Being the embedded synthetic workbook, byte for byte, under any name: that only ever takes
      a claim away.
    """
    if data == _SYNTHETIC:
        path = data_file("synthetic.xlsx")
        return path, Provenance.of(path, kind="synthetic", name=_SYNTHETIC)
    if isinstance(data, str) and data in SOURCES:
        return _resolve_source(SOURCES[data])
    path = _user_path(data)
    if not os.path.lexists(path):
        raise UserError(_unknown(str(data), path))
    provenance = Provenance.of(path)
    record = read_record(path)
    if record is not None:
        record = replace(record, found=provenance.sha256)
        if not record.unchanged:
            raise UserError(
                f"{path}: changed since its origin was recorded ({_both(record)}). "
                f"Restore it, or delete {record_path(path).name} to use it as your own data."
            )
        provenance = record
    # Suppressed where the embedded workbook is missing: a user's own file doesn't need it.
    with contextlib.suppress(UserError):
        if _hashed(data_file("synthetic.xlsx"))[0] == provenance.sha256:
            provenance = replace(provenance, kind="synthetic")
    return path, provenance


def _resolve_source(source: Source) -> tuple[Path, Provenance]:
    record = _recorded(source)
    if record is None:
        raise UserError(
            f"{source.name}: not fetched yet. Run: sense7 fetch {source.name} "
            f"(looked in {cache_folder() / source.name})"
        )
    path = _cached(source, record)
    if not path.exists():
        raise UserError(f"{path}: fetched once, gone now. Run: sense7 fetch {source.name}")
    return path, _unchanged(source, record, path)


def _user_path(text: str | Path) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UserError(f"{text}: {one_line(error)} Give the whole path.") from None


def _unknown(data: str, path: Path) -> str:
    names = [_SYNTHETIC, *SOURCES]
    close = difflib.get_close_matches(data.casefold(), names, n=1)
    hint = f" Did you mean {close[0]}?" if close else " Check the path."
    return (
        f"{data}: neither the name of a data set ({', '.join(names)}) nor a file: there is no {path.absolute()}.{hint}"
    )


def copy_for_edition(path: Path, provenance: Provenance, folder: str | Path) -> Path:
    """Copy a workbook into a folder, with its record beside it.

    An edition is built from such a copy, so that neither an edit during the build nor a later
    one parts the pages from their data.

    Parameters
    ----------
    path, provenance
        As :func:`resolve` gave them.
    folder : path
        Made if need be.

    Returns
    -------
    Path
        The copy, under the file's own name.

    Raises
    ------
    UserError
        If the file changed in between, or can't be copied.
    """
    _hashed(path)  # says what is wrong with it, if anything is, before the copy can be blamed
    copy = Path(folder) / provenance.file
    try:
        with replacing(copy) as temporary:
            shutil.copyfile(path, temporary)
            if _hashed(temporary)[0] != provenance.sha256:
                raise UserError(f"{path}: changed while it was read. Run the command again.")
    except OSError as error:
        raise UserError(_disk_message(copy, error)) from None
    write_record(copy, provenance)
    return copy


# The cache ----------------------------------------------------------------------------------
#
# CACHE/official.provenance.json      the record; replacing it is the one step that counts
# CACHE/official/<sha256>/official.xlsx
#
# A file lies under its own hash, so that it never has to be replaced at the same moment as its
# record: killed at any point, a fetch leaves the old pair or the new one.


def _record_place(source: Source) -> Path:
    return cache_folder() / f"{source.name}.provenance.json"


def _recorded(source: Source) -> Provenance | None:
    return _read(_record_place(source), f"Run: sense7 fetch {source.name} --again")


def _cached(source: Source, record: Provenance) -> Path:
    return cache_folder() / source.name / record.sha256[:16] / source.file


def _unchanged(source: Source, record: Provenance, path: Path) -> Provenance:
    record = record.against(path)
    if not record.unchanged:
        raise UserError(
            f"{path}: changed since it was fetched ({_both(record)}). Run: sense7 fetch {source.name} --again"
        )
    return record


def _both(record: Provenance) -> str:
    return f"recorded sha256 {record.sha256[:12]}..., found {str(record.found)[:12]}..."


# Fetching -----------------------------------------------------------------------------------


def fetch(name: str, *, mirror: str | Path | None = None, again: bool = False, progress: bool = True) -> Path:
    """Bring a data set here, once, and record where it came from.

    Parameters
    ----------
    name : str
        A name in :data:`SOURCES`.
    mirror : str or path, optional
        Another place: an https address, or a file that is copied. The copy is labelled
        unverified, whatever it holds.
    again : bool
        Download anew even if it is here. If the content has changed upstream, both hashes are
        kept in the record, and that is said on standard error.
    progress : bool
        Show a bar on standard error.

    Returns
    -------
    Path
        The file in the cache. If it was here and is unchanged, nothing is downloaded, with one
        exception: a mirror's copy doesn't stand in for the source's own file, so asking
        without ``mirror`` fetches that.

    Raises
    ------
    UserError
        If the name is unknown, the place can't be reached or isn't allowed, what came isn't the
        data set, or it can't be written; also if the file here was changed since it was
        fetched. Whatever was here before is then still here.
    """
    source = _source(name)
    try:
        old = _recorded(source)
    except UserError:
        if not again:
            raise
        old = None
    if old is not None and not again:
        path = _cached(source, old)
        if path.exists() and not (old.mirror and mirror is None):
            _unchanged(source, old, path)
            return path
    folder = cache_folder() / source.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
            part = Path(temporary) / source.file
            address = _bring(source, mirror, part, progress=progress)
            new = _examined(source, part, address, mirror=mirror is not None)
            if old is not None and old.mirror == new.mirror and old.address == new.address:
                new = replace(new, previous=old.previous if old.sha256 == new.sha256 else old.sha256)
            path = _cached(source, new)
            path.parent.mkdir(exist_ok=True)
            part.replace(path)
        _write(_record_place(source), new)
    except OSError as error:
        raise UserError(_disk_message(folder, error)) from None
    if old is not None and old.sha256 != new.sha256:
        print(_changed(source, old, new), file=sys.stderr)
        # Only what the old record named: another fetch may be under way beside this one.
        with contextlib.suppress(OSError):
            _cached(source, old).unlink()
            _cached(source, old).parent.rmdir()
    return path


def _source(name: str) -> Source:
    if name == _SYNTHETIC:
        raise UserError("synthetic: comes with the project; there is nothing to fetch.")
    if name not in SOURCES:
        raise UserError(f"{name}: not a data set that can be fetched. Known: {', '.join(SOURCES)}.")
    return SOURCES[name]


def _changed(source: Source, old: Provenance, new: Provenance) -> str:
    where = "the place it was fetched from" if new.previous else "another place than before"
    return (
        f"{source.name}: the content differs from what was recorded, and comes from {where}.\n"
        f"  before: sha256 {old.sha256}, {old.size:,} bytes, {old.fetched}, {_origin(old)}\n"
        f"  now:    sha256 {new.sha256}, {new.size:,} bytes, {new.fetched}, {_origin(new)}\n"
        "The record was replaced. No checksum is published, so this can't tell a new release from a mishap: "
        "look at the repository's history."
    )


def _origin(record: Provenance) -> str:
    return f"{'mirror ' if record.mirror else ''}{record.address or 'a local file'}"


def _sweep(folder: Path) -> None:
    """Remove what killed fetches left, once it is too old to be of one that is under way."""
    for left in folder.glob(".part-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left)


def _bring(source: Source, mirror: str | Path | None, part: Path, *, progress: bool) -> str | None:
    """Put the bytes at ``part``; give the address to record, None for a local file."""
    if mirror is None:
        download(source.name, source.address, part, progress=progress)
        return source.address
    if "://" in str(mirror):
        download(source.name, str(mirror), part, progress=progress)
        return public_address(str(mirror))
    local = _user_path(mirror)
    _hashed(local)  # says what is wrong with it, if anything is, before the copy can be blamed
    shutil.copyfile(local, part)
    return None


def _examined(source: Source, part: Path, address: str | None, *, mirror: bool) -> Provenance:
    """Make the record of a download, or refuse it."""
    try:
        (source.check or require_workbook)(part)
    except UserError as error:
        raise UserError(f"{address or 'the file given'}: {error}") from None
    sha256, size = _hashed(part)
    if source.sha256 is not None and sha256 != source.sha256:
        raise UserError(
            f"{source.name}: what came isn't the file that this project knows (sha256 {sha256}, expected "
            f"{source.sha256}). Nothing was kept. Report it to this project's maintainers."
        )
    return Provenance(
        kind=source.kind,
        name=source.name,
        file=source.file,
        address=address,
        fetched=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        sha256=sha256,
        size=size,
        mirror=mirror,
    )


def _disk_message(place: Path, error: OSError) -> str:
    return (
        f"{not_written(place, error)} "
        "Free some room or correct the permissions; the variable SENSE7_CACHE can name another cache."
    )
