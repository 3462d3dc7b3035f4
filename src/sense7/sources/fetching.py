"""Fetching: a published data set is brought here, verified, and recorded."""

import contextlib
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sense7.download import download, public_address, require_content, require_workbook
from sense7.errors import UserError
from sense7.files import scratch_folder
from sense7.sources.cache import (
    cached,
    is_current,
    is_intact,
    known_source,
    part_files,
    part_place,
    record_place,
    recorded,
    unchanged,
)
from sense7.sources.places import cache_folder
from sense7.sources.provenance import Provenance, disk_message, hashed, write_record_at
from sense7.sources.registry import Part, Source
from sense7.sources.resolving import user_path
from sense7.workbook.sheets import write_sheets

__all__ = ["fetch"]


def fetch(name: str, *, mirror: str | Path | None = None, again: bool = False, progress: bool = True) -> Path:
    """Bring a data set here, once, and record where it came from.

    A data set that is published in parts is brought part by part, each verified by its hash, and
    converted to a workbook. Parts that are here are not brought again, so that a fetch that was
    interrupted goes on where it was.

    Parameters
    ----------
    name : str
        A name in :data:`SOURCES`.
    mirror : str or path, optional
        Another place: an https address, or a file that is copied. The copy is labelled
        unverified, whatever it holds. For a data set in parts, the address of a folder or a folder, in which
        the parts lie under the names of their files; verified by their hashes they are as good as any.
    again : bool
        Download anew even if it is here. If the content has changed upstream, both hashes are
        kept in the record, and that is said on standard error.
    progress : bool
        Show a bar on standard error.

    Returns
    -------
    Path
        The workbook in the cache. If it was here and is unchanged, nothing is downloaded, with one
        exception: a mirror's copy doesn't stand in for the source's own file, so asking
        without ``mirror`` fetches that.

    Raises
    ------
    UserError
        If the name is unknown, the place can't be reached or isn't allowed, what came isn't the
        data set, or it can't be written; also if the file here was changed since it was
        fetched. Whatever was here before is then still here.
    """
    source = known_source(name)
    try:
        old = recorded(source)
    except UserError:
        if not again:
            raise
        old = None
    if old is not None and not again and _stands(source, old, mirror):
        return cached(source, old)
    folder = cache_folder() / source.name
    try:
        with scratch_folder(folder) as temporary:
            workbook = temporary / source.file
            if source.parts:
                address = _bring_parts(source, mirror, temporary, again=again, progress=progress)
                write_sheets(source.sheets(part_files(name)), workbook)
            else:
                address = _bring(source, mirror, workbook, progress=progress)
                _require(source, workbook, address)
            new = _record(source, workbook, address, mirror=mirror is not None)
            if old is not None and old.mirror == new.mirror and old.address == new.address and not source.parts:
                new = replace(new, previous=old.previous if old.sha256 == new.sha256 else old.sha256)
            path = cached(source, new)
            path.parent.mkdir(exist_ok=True)
            workbook.replace(path)
        write_record_at(record_place(source), new)
    except OSError as error:
        raise UserError(disk_message(folder, error)) from None
    if old is not None and old.sha256 != new.sha256:
        if not source.parts:  # whose content can't change: all that did is the conversion
            print(_changed(source, old, new), file=sys.stderr)
        # Only what the old record named: another fetch may be under way beside this one.
        with contextlib.suppress(OSError):
            cached(source, old).unlink()
            cached(source, old).parent.rmdir()
    return path


def _stands(source: Source, record: Provenance, mirror: str | Path | None) -> bool:
    """Whether what is here is what is asked for; an error if it was changed."""
    path = cached(source, record)
    if not path.exists() or not is_current(source, record):
        return False
    if record.mirror and mirror is None and not source.parts:
        return False
    unchanged(source, record, path)
    return all(is_intact(source, part) for part in source.parts)


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


def _bring(source: Source, mirror: str | Path | None, workbook: Path, *, progress: bool) -> str | None:
    """Put the bytes at ``workbook``; give the address to record, None for a local file."""
    if _is_address(mirror) or mirror is None:
        address = source.address if mirror is None else str(mirror)
        download(source.name, address, workbook, progress=progress)
        return public_address(address)
    _copy(user_path(mirror), workbook)
    return None


def _bring_parts(
    source: Source, mirror: str | Path | None, temporary: Path, *, again: bool, progress: bool
) -> str | None:
    """Put every part into its place in the cache, once its hash is right; give the address to record."""
    for number, part in enumerate(source.parts, 1):
        if not again and is_intact(source, part):
            continue
        fresh = temporary / part.file
        if _is_address(mirror) or mirror is None:
            address = f"{source.address}{part.path}" if mirror is None else _below(str(mirror), part.file)
            label = f"{part.file} ({number} of {len(source.parts)})"
            copy = "FOLDER_OR_ADDRESS (verified by hashes)"
            download(source.name, address, fresh, progress=progress, label=label, copy=copy)
            whence = public_address(address)
        else:
            whence = str(_in_folder(source, part, user_path(mirror)))
            _copy(Path(whence), fresh)
        _require_part(source, part, fresh, whence)
        place = part_place(source, part)
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(place)
    if mirror is None:
        return source.address
    return public_address(str(mirror)) if _is_address(mirror) else None


def _is_address(mirror: str | Path | None) -> bool:
    return "://" in str(mirror)


def _below(address: str, file: str) -> str:
    """Give the address of a file in the folder at an address; a key behind ? stays behind it.

    >>> _below("https://example.org/data/?key=1", "a.csv")
    'https://example.org/data/a.csv?key=1'
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return address  # refused when it is asked for
    return parts._replace(path=f"{parts.path.rstrip('/')}/{file}").geturl()


def _in_folder(source: Source, part: Part, folder: Path) -> Path:
    """Find a part in a folder: under its file's name, or under its path as in a clone of the repository."""
    if folder.is_file() and len(source.parts) == 1:
        return folder
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: this is no folder. Give the one that holds {', '.join(source.pins)}.")
    return next((place for place in (folder / part.file, folder / part.path) if place.exists()), folder / part.file)


def _copy(local: Path, place: Path) -> None:
    hashed(local)  # says what is wrong with it, if anything is, before the copy can be blamed
    shutil.copyfile(local, place)


def _require_part(source: Source, part: Part, fresh: Path, whence: str) -> None:
    """Refuse what isn't the part that this project knows."""
    try:
        require_content(fresh, "the data")
    except UserError as error:
        raise UserError(f"{whence}: {error}") from None
    found = hashed(fresh)[0]
    if found != part.sha256:
        raise UserError(
            f"{source.name}: {part.file}: what came from {whence} isn't the file that this project knows (sha256 "
            f"{found}, expected {part.sha256}). It wasn't kept. Run the command again, or with another --mirror; if "
            "it stays so, report it to this project's maintainers."
        )


def _require(source: Source, workbook: Path, address: str | None) -> None:
    """Refuse a workbook that isn't what it should be."""
    try:
        (source.check or require_workbook)(workbook)
    except UserError as error:
        raise UserError(f"{address or 'the file given'}: {error}") from None
    found = hashed(workbook)[0]
    if source.sha256 is not None and found != source.sha256:
        raise UserError(
            f"{source.name}: what came isn't the file that this project knows (sha256 {found}, expected "
            f"{source.sha256}). Nothing was kept. Report it to this project's maintainers."
        )


def _record(source: Source, workbook: Path, address: str | None, *, mirror: bool) -> Provenance:
    """Make the record of a workbook that was found good."""
    sha256, size = hashed(workbook)
    return Provenance(
        kind=source.kind,
        name=source.name,
        file=source.file,
        address=address,
        fetched=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        sha256=sha256,
        size=size,
        mirror=mirror,
        parts=source.pins,
        conversion=source.conversion if source.parts else None,
    )
