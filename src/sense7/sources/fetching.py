"""Fetching data sets of others, and from a name or a path to a file and what is known of it.

The cache, by default the system's::

    CACHE/official.provenance.json             the record; replacing it is the one step that counts
    CACHE/official/<sha256>/official.xlsx
    CACHE/ieval/parts/<sha256>/ieval_data.json

A file lies under its own hash, so that it never has to be replaced at the same moment as its record: killed at any
point, a fetch leaves the old pair or the new one.
"""

import contextlib
import re
import shlex
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sense7.checkout import cache_folder, data_file
from sense7.download import download, public_address, require_content, require_workbook
from sense7.errors import UserError
from sense7.files import not_written, one_line, reason, scratch_folder
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
from sense7.workbook.xlsx import write_sheets

_SYNTHETIC = "synthetic"


def fetch(name: str, *, mirror: str | Path | None = None, again: bool = False) -> Path:
    """Bring a data set here, once, and record where it came from.

    A data set that is published in parts is brought part by part, each verified by its hash, and
    converted to a workbook. Parts that are here are not brought again, so that a fetch that was
    interrupted goes on where it was.

    Parameters
    ----------
    name : str
        A name in :data:`SOURCES`.
    mirror : str or path, optional
        Another place: an https address, or a file that is copied. It is always read, unless the copy that is here
        came from the same address. What it holds is labelled unverified; if it is the same as the copy that is
        here, that copy and its record are kept. For a data set in parts, the address of a folder or a folder, in
        which the parts lie under the names of their files; verified by their hashes they are as good as any.
    again : bool
        Fetch even if it is here, and replace the copy that is here. What was replaced by what is said on standard
        error.

    Returns
    -------
    Path
        The workbook in the cache. If it was here and is unchanged, nothing is downloaded, with two
        exceptions: a mirror's copy doesn't stand in for the source's own file, so asking
        without ``mirror`` fetches that; and another mirror is read and compared with it.

    Raises
    ------
    UserError
        If the name is unknown, the place can't be reached or isn't allowed, what came isn't the
        data set, or it can't be written; also if the file here was changed since it was
        fetched, or ``mirror`` differs from it without ``again``. What was here before is then still here.
    """
    source = _source(name)
    folder = cache_folder() / name
    is_local = mirror is not None and "://" not in str(mirror)
    # As the user wrote it, without a key that may follow.
    public = str(mirror)
    if not is_local:
        public = public_address(public if mirror else source.address)
    old = None
    try:
        old = _recorded(source)
    except UserError:
        if not again:
            raise
    is_usable = False
    if old is not None and not again and _cached(source, old).exists() and _is_current(source, old):
        _unchanged(source, old)
        is_usable = all(_is_intact(source, path) for path in source.parts)
    if is_usable and not is_local:
        # Parts are pinned: another address can hold nothing else. A path that is given is always looked at.
        is_from_source = mirror is None and not old.mirror
        is_from_mirror = mirror is not None and old.mirror and old.address == public
        if source.parts or is_from_source or is_from_mirror:
            return _with_reading_file(source, _cached(source, old))
    try:
        with scratch_folder(folder) as temporary:
            for path in source.parts:
                if again or is_local or not _is_intact(source, path):
                    final = _part_path(source, path)
                    fresh = _bring(source, mirror, temporary, path)
                    final.parent.mkdir(parents=True, exist_ok=True)
                    fresh.replace(final)
            if not source.parts:
                workbook = _bring(source, mirror, temporary)
            elif is_usable:
                # Each part was read and is the pinned one, so the workbook would be the same.
                return _with_reading_file(source, _cached(source, old))
            else:
                workbook = temporary / source.file
                write_sheets(source.sheets(part_files(name)), workbook)
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
                parts=source.pins,
                conversion=source.conversion,
            )
            if mirror is not None and old is not None:
                if old.sha256 == sha256 and _is_current(source, old):
                    new = old  # which says at least as much: a verified copy stays verified
                elif is_usable:
                    raise UserError(
                        f"{name}: {public} differs from the copy that is here, which was kept.\n"
                        f"  here:  {_described(old)}\n  given: {_described(new)}\n"
                        f"To replace the copy: sense7 fetch {name} --mirror {shlex.quote(public)} --again"
                    )
            path = _cached(source, new)
            path.parent.mkdir(exist_ok=True)
            workbook.replace(path)
            _with_reading_file(source, path)
        write_record(folder, new)
    except OSError as error:
        raise UserError(disk_message(folder, error)) from None
    if old is not None and old.sha256 != new.sha256:
        if not source.parts:  # whose content can't change: all that did is the conversion
            print(
                f"{name}: the copy that was here was replaced by one that differs.\n"
                f"  before: {_described(old)}\n  now:    {_described(new)}",
                file=sys.stderr,
            )
        # Only what the old record named: another fetch may be under way beside this one.
        with contextlib.suppress(OSError):
            reading_path(_cached(source, old)).replace(
                reading_path(path)
            )  # with what users declared
        with contextlib.suppress(OSError):
            _cached(source, old).unlink()
            _cached(source, old).parent.rmdir()
    return path


def _with_reading_file(source: Source, path: Path) -> Path:
    """Lay the reading file beside a workbook, never over one that is there."""
    if not reading_path(path).exists():
        write_reading(path, STANDARD if source.parts else official_text())
    return path


def _bring(source: Source, mirror: str | Path | None, folder: Path, part: str = "") -> Path:
    """Bring a source's workbook, or one of its parts, into a folder by pooch, which compares its hash."""
    import pooch

    file = part.rpartition("/")[2]
    copy = "FILE_OR_ADDRESS (labelled unverified)"
    if part:
        copy = "FOLDER_OR_ADDRESS (verified by hashes)"
    address = str(mirror)
    is_local = False
    if mirror is None:
        address = f"{source.address}{part}"
    elif "://" not in address:
        is_local = True
        address = str(user_path(mirror) / file)
    elif part:
        with contextlib.suppress(ValueError):  # refused when it is asked for
            parts = urlsplit(address)  # a key behind ? stays behind it
            address = parts._replace(path=f"{parts.path.rstrip('/')}/{file}").geturl()
    shown_address = address
    if not is_local:
        shown_address = public_address(address)

    def bring(_address, target, _pooch):
        fresh = Path(f"{target}{Path(source.file).suffix}")
        if is_local:
            hashed(Path(address))  # says what is wrong with it before the copy can be blamed
            shutil.copyfile(address, fresh)
        else:
            download(source.name, address, fresh, copy=copy)
        try:
            if part:
                require_content(fresh, expected="the data")
            else:
                require_workbook(fresh)
        except UserError as error:
            origin = shown_address
            if is_local and not part:
                origin = "the file given"
            raise UserError(f"{origin}: {error}") from None
        fresh.replace(target)

    pooch.get_logger().setLevel("WARNING")
    sha256, name = source.parts.get(part), file or source.file
    try:
        return Path(pooch.retrieve(address, sha256, name, folder, downloader=bring))
    except ValueError as error:
        hashes = re.search(r"expected (\w+) but got (\w+)", str(error))
        raise UserError(
            f"{source.name}: {file}: what came from {shown_address} isn't the file that this project knows (sha256 "
            f"{hashes[2]}, expected {hashes[1]}). It wasn't kept. Run the command again, or with another --mirror; if "
            "it stays so, report it to this project's maintainers."
        ) from None


def _described(record: Provenance) -> str:
    if record.address is None:
        origin = "a local file, whose path is not recorded"
    elif record.mirror:
        origin = f"mirror {record.address}"
    else:
        origin = f"the authors' address {record.address}"
    return f"sha256 {record.sha256}, {record.size:,} bytes, {record.fetched}, {origin}"


# What is in the cache


def _source(name: str) -> Source:
    if name == _SYNTHETIC:
        raise UserError("synthetic: comes with the project; there is nothing to fetch.")
    if name not in SOURCES:
        raise UserError(f"{name}: not a data set that can be fetched. Known: {', '.join(SOURCES)}.")
    return SOURCES[name]


def _recorded(source: Source) -> Provenance | None:
    return read_record(cache_folder() / source.name, f"Run: sense7 fetch {source.name} --again")


def _cached(source: Source, record: Provenance) -> Path:
    return cache_folder() / source.name / record.sha256[:16] / source.file


def _part_path(source: Source, path: str) -> Path:
    file = path.rpartition("/")[2]
    return cache_folder() / source.name / "parts" / source.parts[path][:16] / file


def _is_intact(source: Source, path: str) -> bool:
    file = _part_path(source, path)
    return file.is_file() and hashed(file)[0] == source.parts[path]


def _is_current(source: Source, record: Provenance) -> bool:
    """Whether a record is about the parts and the conversion that this version of the project knows."""
    return record.parts == source.pins and record.conversion == source.conversion


def _unchanged(source: Source, record: Provenance) -> Provenance:
    path = _cached(source, record)
    record = record.against(path)
    if not record.unchanged:
        fix = f"Run: sense7 fetch {source.name} --again"
        raise UserError(f"{path}: changed since it was fetched ({_both_hashes(record)}). {fix}")
    return record


def _both_hashes(record: Provenance) -> str:
    return f"recorded sha256 {record.sha256[:12]}..., found {str(record.sha256_now)[:12]}..."


def fetched_digest(name: str) -> str:
    """Give the sha256 of what was fetched under a name, hashed again; "" if it isn't here.

    It isn't here either if a part is missing, or it was fetched for another version of this project: in every such case
    ``sense7 fetch NAME`` fixes it.
    """
    source = _source(name)
    record = _recorded(source)
    if record is None or not _is_current(source, record):
        return ""
    files = [_cached(source, record), *(_part_path(source, path) for path in source.parts)]
    if not all(file.is_file() for file in files):
        return ""
    part_files(name)
    return _unchanged(source, record).sha256


def part_files(name: str) -> dict[str, Path]:
    """Give the published files of a fetched data set by their names, each verified by its hash."""
    source = _source(name)
    for path in source.parts:
        if not _is_intact(source, path):
            file, fix = _part_path(source, path), f"Run: sense7 fetch {name}"
            raise UserError(
                f"{name}: {file.name} isn't in {file.parent} as it was published. {fix}"
            )
    return {path.rpartition("/")[2]: _part_path(source, path) for path in source.parts}


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
    if data == _SYNTHETIC:
        path = data_file("synthetic.xlsx")
        return path, replace(Provenance.of(path), kind="synthetic")
    if isinstance(data, str) and data in SOURCES:
        source, fix = SOURCES[data], f"Run: sense7 fetch {data}"
        record = _recorded(source)
        if record is None:
            raise UserError(f"{data}: not fetched yet. {fix} (looked in {cache_folder() / data})")
        if not _is_current(source, record):
            raise UserError(
                f"{data}: fetched for another version of this project, which converted it otherwise. {fix}"
            )
        path = _cached(source, record)
        if not path.exists():
            raise UserError(f"{path}: fetched once, gone now. {fix}")
        return path, _unchanged(source, record)
    path = user_path(data)
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        names = [_SYNTHETIC, *SOURCES]
        hint = did_you_mean(str(data), names, "Check the path.")
        raise UserError(
            f"{data}: neither the name of a data set ({', '.join(names)}) nor a file: there is no {path.absolute()}. "
            f"{hint}"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: can't be read ({reason(error)}). Check its path and permissions."
        ) from None
    if path.is_dir():
        path = path.resolve()  # "." and ".." have no name
    provenance = Provenance.of(path)
    record = read_record(path)
    if record is not None:
        record = replace(record, sha256_now=provenance.sha256)
        if not record.unchanged:
            raise UserError(
                f"{path}: changed since its origin was recorded ({_both_hashes(record)}). "
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
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UserError(f"{text}: {one_line(error)} Give the whole path.") from None


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
