"""Fetching: a published data set is brought here, verified, and recorded."""

import contextlib
import shlex
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sense7.checkout import cache_folder
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
from sense7.sources.provenance import Provenance, disk_message, hashed, write_record_at
from sense7.sources.registry import Part, Source
from sense7.sources.resolving import user_path
from sense7.workbook.xlsx import write_sheets

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
        Another place: an https address, or a file that is copied. It is always read, unless the copy that is here
        came from the same address. What it holds is labelled unverified; if it is the same as the copy that is
        here, that copy and its record are kept. For a data set in parts, the address of a folder or a folder, in
        which the parts lie under the names of their files; verified by their hashes they are as good as any.
    again : bool
        Fetch even if it is here, and replace the copy that is here. If the content has changed upstream, both
        hashes are kept in the record. What was replaced by what is said on standard error.
    progress : bool
        Show a bar on standard error.

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
    source = known_source(name)
    try:
        old = recorded(source)
    except UserError:
        if not again:
            raise
        old = None
    usable = old is not None and not again and _is_usable(source, old)
    if usable and _settles(source, old, mirror):
        return cached(source, old)
    folder = cache_folder() / source.name
    try:
        with scratch_folder(folder) as temporary:
            workbook = temporary / source.file
            if source.parts:
                address = _bring_parts(source, mirror, temporary, again=again, progress=progress)
                if usable:  # each part was read and is the pinned one, so the workbook would be the same
                    print(_same(source, old, mirror), file=sys.stderr)
                    return cached(source, old)
                write_sheets(source.sheets(part_files(name)), workbook)
            else:
                address = _bring(source, mirror, workbook, progress=progress)
                _require(source, workbook, address)
            new = _record(source, workbook, address, mirror=mirror is not None)
            same = old is not None and old.sha256 == new.sha256 and is_current(source, old)
            if mirror is not None and same:
                # The record that is here says at least as much: a verified copy stays verified.
                print(_same(source, old, mirror), file=sys.stderr)
                new = old
            elif mirror is not None and usable:
                raise UserError(_refused(source, old, new, mirror))
            elif old is not None and _same_place(old, new) and not source.parts:
                new = replace(new, previous=old.previous if same else old.sha256)
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


def _is_usable(source: Source, record: Provenance) -> bool:
    """Whether the copy that is here can be used; an error if it was changed."""
    path = cached(source, record)
    if not path.exists() or not is_current(source, record):
        return False
    unchanged(source, record, path)
    return all(is_intact(source, part) for part in source.parts)


def _settles(source: Source, record: Provenance, mirror: str | Path | None) -> bool:
    """Whether a usable copy is the file that is asked for, without looking at the path that is asked for."""
    if source.parts and (mirror is None or _is_address(mirror)):
        return True  # the parts are pinned: another copy of them can hold nothing else
    if mirror is None:
        return not record.mirror
    return _is_address(mirror) and record.mirror and record.address == public_address(str(mirror))


def _same_place(old: Provenance, new: Provenance) -> bool:
    """Whether both are known to come from one place; the paths of local files aren't recorded."""
    return new.address is not None and (old.mirror, old.address) == (new.mirror, new.address)


def _same(source: Source, old: Provenance, mirror: str | Path) -> str:
    return (
        f"{source.name}: {_shown(mirror)} holds the same as the copy that is here, whose record was kept: "
        f"{_described(old)}"
    )


def _refused(source: Source, old: Provenance, new: Provenance, mirror: str | Path) -> str:
    return (
        f"{source.name}: {_shown(mirror)} differs from the copy that is here, which was kept.\n"
        f"  here:  {_described(old)}\n"
        f"  given: {_described(new)}\n"
        f"To replace the copy: sense7 fetch {source.name} --mirror {shlex.quote(_shown(mirror))} --again"
    )


def _changed(source: Source, old: Provenance, new: Provenance) -> str:
    if _same_place(old, new):
        what = "the content at the address that it was fetched from has changed"
        advice = (
            "No checksum is published, so this can't distinguish a new release from a mishap: look at the "
            "repository's history."
        )
    else:
        what = "the copy that was here was replaced by one from another place"
        advice = f"To get the authors' own file: sense7 fetch {source.name}" if new.mirror else ""
    lines = (
        f"{source.name}: {what}.",
        f"  before: {_described(old)}",
        f"  now:    {_described(new)}",
        advice,
    )
    return "\n".join(filter(None, lines))


def _described(record: Provenance) -> str:
    return f"sha256 {record.sha256}, {record.size:,} bytes, {record.fetched}, {_origin(record)}"


def _shown(mirror: str | Path) -> str:
    """Give a mirror as the user wrote it, without a key that may follow its address."""
    return public_address(str(mirror)) if _is_address(mirror) else str(mirror)


def _origin(record: Provenance) -> str:
    if record.address is None:
        return "a local file, whose path is not recorded"
    return f"mirror {record.address}" if record.mirror else f"the authors' address {record.address}"


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
    local = mirror is not None and not _is_address(mirror)
    for number, part in enumerate(source.parts, 1):
        if not (again or local) and is_intact(source, part):
            continue
        fresh = temporary / part.file
        if not local:
            address = f"{source.address}{part.path}" if mirror is None else _below(str(mirror), part.file)
            label = f"{part.file} ({number} of {len(source.parts)})"
            copy = "FOLDER_OR_ADDRESS (verified by hashes)"
            download(source.name, address, fresh, progress=progress, label=label, copy=copy)
            whence = public_address(address)
        else:
            whence = str(_in_folder(source, part, user_path(mirror)))
            _copy(Path(whence), fresh)
        _require_part(source, part, fresh, whence)
        path = part_place(source, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(path)
    if local:
        return None
    return source.address if mirror is None else public_address(str(mirror))


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
    return next((path for path in (folder / part.file, folder / part.path) if path.exists()), folder / part.file)


def _copy(local: Path, target: Path) -> None:
    hashed(local)  # says what is wrong with it, if anything is, before the copy can be blamed
    shutil.copyfile(local, target)


def _require_part(source: Source, part: Part, fresh: Path, whence: str) -> None:
    """Refuse what isn't the part that this project knows."""
    try:
        require_content(fresh, "the data")
    except UserError as error:
        raise UserError(f"{whence}: {error}") from None
    sha256 = hashed(fresh)[0]
    if sha256 != part.sha256:
        raise UserError(
            f"{source.name}: {part.file}: what came from {whence} isn't the file that this project knows (sha256 "
            f"{sha256}, expected {part.sha256}). It wasn't kept. Run the command again, or with another --mirror; if "
            "it stays so, report it to this project's maintainers."
        )


def _require(source: Source, workbook: Path, address: str | None) -> None:
    """Refuse a workbook that isn't what it should be."""
    try:
        (source.check or require_workbook)(workbook)
    except UserError as error:
        raise UserError(f"{address or 'the file given'}: {error}") from None
    sha256 = hashed(workbook)[0]
    if source.sha256 is not None and sha256 != source.sha256:
        raise UserError(
            f"{source.name}: what came isn't the file that this project knows (sha256 {sha256}, expected "
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
