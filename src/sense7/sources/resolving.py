"""From the name of a data set, or a path, to a file and what is known of it."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sense7.checkout import cache_folder, data_file
from sense7.errors import UserError
from sense7.files import names_beside, not_written, one_line, reason, replacing
from sense7.sources.cache import both_hashes, cached, is_current, recorded, unchanged
from sense7.sources.provenance import Provenance, hashed, read_record, record_path, write_record
from sense7.sources.registry import SOURCES, Source
from sense7.sources.released import FOLDER
from sense7.terminal import did_you_mean
from sense7.workbook.options import ReadingOptions
from sense7.workbook.tables import table_files

__all__ = ["copy_for_edition", "resolve", "user_path"]

_SYNTHETIC = "synthetic"


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
        return path, Provenance.of(path, kind="synthetic", name=_SYNTHETIC)
    if isinstance(data, str) and data in SOURCES:
        return _resolve_source(SOURCES[data])
    path = user_path(data)
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(_unknown(str(data), path)) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Check its path and permissions.") from None
    if path.is_dir():
        path = path.resolve()  # "." and ".." have no name
    provenance = Provenance.of(path)
    record = read_record(path)
    if record is not None:
        record = replace(record, found=provenance.sha256)
        if not record.unchanged:
            raise UserError(
                f"{path}: changed since its origin was recorded ({both_hashes(record)}). "
                f"Restore it, or delete {record_path(path).name} to use it as your own data."
            )
        provenance = record
    # Suppressed where the embedded workbook is missing: a user's own file doesn't need it.
    with contextlib.suppress(UserError):
        if hashed(data_file("synthetic.xlsx"))[0] == provenance.sha256:
            provenance = replace(provenance, kind="synthetic")
    return path, provenance


def _resolve_source(source: Source) -> tuple[Path, Provenance]:
    record = recorded(source)
    if record is None:
        raise UserError(
            f"{source.name}: not fetched yet. Run: sense7 fetch {source.name} "
            f"(looked in {cache_folder() / source.name})"
        )
    if not is_current(source, record):
        raise UserError(
            f"{source.name}: fetched for another version of this project, which converted it otherwise. "
            f"Run: sense7 fetch {source.name}"
        )
    path = cached(source, record)
    if not path.exists():
        raise UserError(f"{path}: fetched once, gone now. Run: sense7 fetch {source.name}")
    return path, unchanged(source, record, path)


def user_path(text: str | Path) -> Path:
    """Read a path as users write it, with ~ for their home."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UserError(f"{text}: {one_line(error)} Give the whole path.") from None


def _unknown(data: str, path: Path) -> str:
    names = [_SYNTHETIC, *SOURCES]
    if data == FOLDER:
        return f"{data}: tables of released ratings, not a workbook of one study. To see them: sense7 check real"
    hint = did_you_mean(data, names) or did_you_mean(path.name, names_beside(path), "Check the path.")
    return (
        f"{data}: neither the name of a data set ({', '.join(names)}) nor a file: there is no {path.absolute()}. {hint}"
    )


def copy_for_edition(
    path: Path, provenance: Provenance, folder: str | Path, options: ReadingOptions | None = None
) -> Path:
    """Copy a workbook, or a folder of tables, into a folder, with its record and reading options beside it.

    An edition is built from such a copy, so that neither an edit during the build nor a later
    one parts the pages from their data.

    Parameters
    ----------
    path, provenance
        As :func:`resolve` gave them.
    folder : path
        Made if need be.
    options : ReadingOptions, optional
        How the workbook is to be read; what lies beside it if not given.

    Returns
    -------
    Path
        The copy, under the file's own name.

    Raises
    ------
    UserError
        If the file changed in between, or can't be copied.
    """
    hashed(path)  # says what is wrong with it, if anything is, before the copy can be blamed
    copy = Path(folder) / provenance.file
    copied = _copied_tables if path.is_dir() else _copied_file
    try:
        with copied(path, copy) as temporary:
            if hashed(temporary)[0] != provenance.sha256:
                raise UserError(f"{path}: changed while it was read. Run the command again.")
        (ReadingOptions.beside(path) if options is None else options).write_beside(copy)
    except OSError as error:
        raise UserError(not_written(copy, error)) from None
    write_record(copy, provenance)
    return copy


@contextlib.contextmanager
def _copied_file(path: Path, copy: Path) -> Iterator[Path]:
    """Copy a file; it takes its place when the block is left."""
    with replacing(copy) as temporary:
        shutil.copyfile(path, temporary)
        yield temporary


@contextlib.contextmanager
def _copied_tables(path: Path, copy: Path) -> Iterator[Path]:
    """Copy a folder's tables, and nothing else that lies there; they take their place when the block is left."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=copy.parent) as scratch:
        temporary = Path(scratch) / copy.name
        temporary.mkdir()
        for table in table_files(path):
            shutil.copyfile(table, temporary / table.name)
        yield temporary
        temporary.replace(copy)
