"""Fetching data sets of others, and from a name or a path to a file and what is known of it.

The cache, by default the system's::

    CACHE/official.provenance.json             the record; replacing it is the one step that counts
    CACHE/official/<sha256>/official.xlsx
    CACHE/ieval/parts/ieval_data.json

A workbook lies under its own hash, so that it never has to be replaced at the same moment as its record: killed at any
point, a fetch leaves the old pair or the new one. Parts have a known hash: pooch brings those that are missing or
were changed.
"""

import contextlib
import os
import re
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sense7.checkout import cache_folder, data_file
from sense7.errors import UserError
from sense7.files import not_written, one_line, scratch_folder
from sense7.sources.provenance import (
    Provenance,
    disk_message,
    hashed,
    read_record,
    record_path,
    write_record,
)
from sense7.sources.registry import SOURCES, Source
from sense7.terminal import did_you_mean
from sense7.workbook.reading import (
    STANDARD,
    official_text,
    reading_beside,
    reading_path,
    write_reading,
)
from sense7.workbook.tables import table_files
from sense7.workbook.xlsx import read_sheets, write_sheets

SAFE = ("https://", "http://localhost:", "http://127.0.0.1:")
"""Beginnings of addresses that are fetched: what comes by another way can be altered on it."""

TIMEOUT = (15, 60)
"""Seconds to wait for a connection, and for the next bytes."""


def fetch(name: str, *, mirror: str | Path | None = None, again: bool = False) -> Path:
    """Bring a data set here, once, and record where it came from.

    A data set that is published in parts is brought part by part, each verified by its hash, and
    converted to a workbook. Parts that are here are not brought again, so that a fetch that was
    interrupted continues where it was.

    Parameters
    ----------
    name : str
        A name in :data:`SOURCES`.
    mirror : str or path, optional
        Another place: an https address, or a file that is copied. What it holds is labelled unverified. For a data set
        in parts, the address of a folder or a folder, in which the parts lie under the names of their files; verified
        by their hashes they are as good as any.
    again : bool
        Fetch even if it is here; if what comes differs, the hash that was here is said on standard error.

    Returns
    -------
    Path
        The workbook in the cache. If it was here and is unchanged, nothing is downloaded, but a mirror's copy doesn't
        stand in for the source's own file: asking without ``mirror`` fetches that.

    Raises
    ------
    UserError
        If the name is unknown, the place can't be reached or isn't allowed, what came isn't the
        data set, or it can't be written; also if the file here was changed since it was
        fetched. What was here before is then still here.
    """
    if name not in SOURCES:
        raise UserError(f"{name}: not a data set that can be fetched. Known: {', '.join(SOURCES)}.")
    source = SOURCES[name]
    folder = cache_folder() / name
    old = None
    try:
        old = _fetched(source)
    except UserError:
        if not again:
            raise
    is_wanted = old is None or again or (mirror is None and old.mirror and not source.parts)
    if not is_wanted:
        return _with_reading_file(source, _cached(source, old))
    address = source.address if mirror is None else str(mirror)
    is_local = "://" not in address
    public = address if is_local else public_address(address)
    try:
        with scratch_folder(folder) as scratch:
            if source.parts:
                parts = {}
                for path, sha256 in source.parts.items():
                    file = path.rpartition("/")[2]
                    part = f"{address.rstrip('/')}/{path if mirror is None else file}"
                    parts[file] = _retrieve(name, part, sha256, file, folder / "parts")
                workbook = scratch / source.file
                write_sheets(source.sheets(parts), workbook)
            else:
                workbook = _retrieve(name, address, None, source.file, scratch)
                _require_workbook(workbook, public)
            sha256, size = hashed(workbook)
            now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            new = Provenance(
                source.kind,
                name,
                source.file,
                None if is_local else public,
                now,
                sha256,
                size,
                mirror=mirror is not None,
                parts=source.parts,
                conversion=source.conversion,
            )
            path = _cached(source, new)
            path.parent.mkdir(exist_ok=True)
            workbook.replace(path)
            if old is not None and old.sha256 != sha256:
                with contextlib.suppress(FileNotFoundError):  # with what users declared
                    shutil.copyfile(reading_path(_cached(source, old)), reading_path(path))
            _with_reading_file(source, path)
        write_record(folder, new)
    except OSError as error:
        raise UserError(disk_message(folder, error)) from None
    if old is not None and old.sha256 != new.sha256:
        old_copy = f"the copy that was here (sha256 {old.sha256}, fetched {old.fetched})"
        print(f"{name}: what came differs from {old_copy}.", file=sys.stderr)
    return path


def _with_reading_file(source: Source, path: Path) -> Path:
    """Lay the reading file beside a workbook, never over one that is there."""
    if not reading_path(path).exists():
        write_reading(path, STANDARD if source.parts else official_text())
    return path


def _retrieve(name: str, address: str, sha256: str | None, file: str, folder: Path) -> Path:
    """Bring a file from an address or a path into a folder by pooch, unless it is there with this hash."""
    import pooch
    import requests  # this and urllib3 come with pooch, which raises their errors
    import urllib3

    pooch.get_logger().setLevel("WARNING")
    public = address
    answers = []

    def look(answer, **_options) -> None:
        answers.append(answer)
        _require_safe(answer.url)  # where it was led to, too

    if "://" in address:
        public = public_address(address)
        _require_safe(address)
        downloader = pooch.HTTPDownloader(
            progressbar=sys.stderr.isatty(),
            chunk_size=2**16,
            timeout=TIMEOUT,
            headers={"Accept-Encoding": "identity"},  # so that the length is the file's
            hooks={"response": look},
        )
    else:
        downloader = _copy
    try:
        return Path(pooch.retrieve(address, sha256, file, folder, downloader=downloader))
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        # RequestException is an OSError too: caught here, before it could pass for a full disk.
        problem = type(error).__name__
        if isinstance(error, requests.exceptions.HTTPError):
            problem = f"HTTP {error.response.status_code}"
        raise UserError(
            f"{name}: {public} can't be fetched ({problem}). Try again later, check the network (HTTPS_PROXY and "
            f"NO_PROXY too), or use a copy from elsewhere: sense7 fetch {name} --mirror PLACE"
        ) from None
    except ValueError as error:
        raise UserError(
            f"{name}: {public}: {one_line(error)} Run the command again, or with another --mirror; if it stays so, "
            "report it to this project's maintainers."
        ) from None
    finally:
        for answer in answers:  # which an error leaves open
            answer.close()


def _require_safe(address: str) -> None:
    if not address.startswith(SAFE):
        raise UserError(
            f"{public_address(address)}: refused, since only https shows that a file comes from there unaltered. Give "
            "an address https://HOST/PATH, or a file."
        )


def _copy(path: str, target: str, _pooch) -> None:
    """Copy a file of the user's, as pooch's downloaders bring one."""
    original = user_path(path)
    hashed(original)  # says what is wrong with it before the copy can be blamed
    shutil.copyfile(original, target)


def public_address(address: str) -> str:
    """Give an address without password, query and fragment, any of which may be a secret."""
    start = re.split(r"[?#]", address, maxsplit=1)[0]
    return re.sub(r"(?<=//)[^/\\]*@", "", start)


def _require_workbook(path: Path, origin: str) -> None:
    """Refuse what is no workbook of the official format: a web page above all."""
    names = []
    problem = "it has not the sheets Tasks and Messages."
    try:
        names = [name.strip().casefold() for name in read_sheets(path)]
    except UserError as error:
        # The temporary file's path would mean nothing to the reader, who can't open it any more.
        problem = str(error).removeprefix(f"{path}: ")
    if not {"tasks", "messages"} <= set(names):
        raise UserError(
            f"{origin}: what came isn't the SENSE-7 workbook: {problem} Nothing was kept; give the address of the file "
            "itself, not of a page about it."
        )


# What is in the cache


def _cached(source: Source, record: Provenance) -> Path:
    return cache_folder() / source.name / record.sha256[:16] / source.file


def _fetched(source: Source) -> Provenance | None:
    """Record of the workbook that is here, hashed again; None if there is none of this version's parts and conversion.

    A workbook that changed since is refused.
    """
    fix = f"Run: sense7 fetch {source.name} --again"
    record = read_record(cache_folder() / source.name, fix)
    if record is None or (record.parts, record.conversion) != (source.parts, source.conversion):
        return None
    path = _cached(source, record)
    if not path.exists():
        return None
    record = record.against(path)
    if not record.unchanged:
        raise UserError(f"{path}: changed since it was fetched. {fix}")
    return record


# From a name or a path to a file


def resolve(data: str | Path) -> tuple[Path, Provenance]:
    """Find the workbook that a user names, and say what is known of its origin.

    Parameters
    ----------
    data : str or path
        "synthetic", the name of a source (such as "official"), or the path of a file or of a folder of tables.

    Returns
    -------
    path, provenance
        The file is hashed on every call; a record that isn't true of it is refused.

    Raises
    ------
    UserError
        If there is no such data set or file, it wasn't fetched yet or was for another version of this
        project, or it isn't what its record says any more.

    Notes
    -----
    A path is the user's own data, also where its bytes happen to be those of the official
    workbook: equal bytes don't say where a file came from. Two things make it known:

    - A record beside it (``FILE.provenance.json``), as an edition has beside its copy, so that
      a notebook knows what it shows. It is believed if it is true of the file's bytes; anyone who
      writes one by hand forges it, which software on the forger's machine can't rule out.
    - Being the embedded synthetic workbook, byte for byte, under any name: that only ever takes
      a claim away.
    """
    if data == "synthetic":
        path = data_file("synthetic.xlsx")
        return path, replace(Provenance.of(path), kind="synthetic")
    if isinstance(data, str) and data in SOURCES:
        record = _fetched(SOURCES[data])
        if record is None:
            raise UserError(
                f"{data}: not fetched yet, or for another version of this project. Run: sense7 fetch {data} (looked in "
                f"{cache_folder() / data})"
            )
        return _cached(SOURCES[data], record), record
    path = user_path(data)
    try:
        path.lstat()
    except PermissionError:
        pass  # opening it says so
    except (OSError, ValueError):
        names = ["synthetic", *SOURCES]
        hint = did_you_mean(str(data), names, "Check the path.")
        raise UserError(
            f"{data}: neither the name of a data set ({', '.join(names)}) nor a file: there is no {path.absolute()}. "
            f"{hint}"
        ) from None
    if path.is_dir():
        path = path.resolve()  # "." and ".." have no name
    provenance = Provenance.of(path)
    record = read_record(path)
    if record is not None:
        record = replace(record, sha256_now=provenance.sha256)
        if not record.unchanged:
            raise UserError(
                f"{path}: changed since its origin was recorded. "
                f"Restore it, or delete {record_path(path).name} to use it as your own data."
            )
        provenance = record
    # Suppressed where the embedded workbook is missing: a user's own file doesn't need it.
    with contextlib.suppress(UserError):
        if hashed(data_file("synthetic.xlsx"))[0] == provenance.sha256:
            provenance = replace(provenance, kind="synthetic")
    return path, provenance


def user_path(text: str | Path) -> Path:
    """Read a path as users write it, with ~ for their home."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 -- leaves what is nobody's home as it is


def copy_for_edition(path: Path, provenance: Provenance, folder: str | Path) -> Path:
    """Copy a workbook, or a folder of tables, with its record and its reading file beside it.

    An edition is built from such a copy, so that neither an edit during the build nor a later one parts the pages from
    their data.
    """
    hashed(path)  # says what is wrong with it, if anything is, before the copy can be blamed
    copy = Path(folder) / provenance.file
    try:
        with scratch_folder(copy.parent) as scratch:
            temporary = scratch / copy.name
            if path.is_dir():  # the tables, and nothing else that lies there
                temporary.mkdir()
                for table in table_files(path):
                    shutil.copyfile(table, temporary / table.name)
            else:
                shutil.copyfile(path, temporary)
            if hashed(temporary)[0] != provenance.sha256:
                raise UserError(f"{path}: changed while it was read. Run the command again.")
            temporary.replace(copy)
        declared = reading_beside(path).text
        if declared:
            write_reading(copy, declared)
    except OSError as error:
        raise UserError(not_written(copy, error)) from None
    write_record(copy, provenance)
    return copy
