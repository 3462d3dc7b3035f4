"""The cache: where what was fetched lies, and whether it is still what was fetched.

::

    CACHE/official.provenance.json             the record; replacing it is the one step that counts
    CACHE/official/<sha256>/official.xlsx
    CACHE/ieval/parts/<sha256>/ieval_data.json

A file lies under its own hash, so that it never has to be replaced at the same moment as its
record: killed at any point, a fetch leaves the old pair or the new one.
"""

from pathlib import Path

from sense7.checkout import cache_folder
from sense7.errors import UserError
from sense7.sources.provenance import Provenance, hashed, read_record_at
from sense7.sources.registry import SOURCES, Part, Source

__all__ = [
    "both_hashes",
    "cached",
    "fetched_digest",
    "is_current",
    "is_fetched",
    "is_intact",
    "known_source",
    "part_files",
    "part_place",
    "record_place",
    "recorded",
    "unchanged",
]

_LETTERS = 16


def known_source(name: str) -> Source:
    """Give the source of a name.

    Raises
    ------
    UserError
        If nothing of that name can be fetched.
    """
    if name == "synthetic":
        raise UserError("synthetic: comes with the project; there is nothing to fetch.")
    if name not in SOURCES:
        raise UserError(f"{name}: not a data set that can be fetched. Known: {', '.join(SOURCES)}.")
    return SOURCES[name]


def record_place(source: Source) -> Path:
    """Give the place of a source's record."""
    return cache_folder() / f"{source.name}.provenance.json"


def recorded(source: Source) -> Provenance | None:
    """Read a source's record; None if it wasn't fetched."""
    return read_record_at(record_place(source), f"Run: sense7 fetch {source.name} --again")


def cached(source: Source, record: Provenance) -> Path:
    """Give the place of the workbook that a record is about."""
    return cache_folder() / source.name / record.sha256[:_LETTERS] / source.file


def part_place(source: Source, part: Part) -> Path:
    """Give the place of one of a source's parts."""
    return cache_folder() / source.name / "parts" / part.sha256[:_LETTERS] / part.file


def is_intact(source: Source, part: Part) -> bool:
    """Whether a part is here and is what it must be."""
    path = part_place(source, part)
    return path.is_file() and hashed(path)[0] == part.sha256


def is_current(source: Source, record: Provenance) -> bool:
    """Whether a record is about the parts and the conversion that this version of the project knows."""
    return record.parts == source.pins and record.conversion == (source.conversion if source.parts else None)


def unchanged(source: Source, record: Provenance, path: Path) -> Provenance:
    """Hold a record against its workbook.

    Raises
    ------
    UserError
        If the workbook was changed since.
    """
    record = record.against(path)
    if not record.unchanged:
        raise UserError(
            f"{path}: changed since it was fetched ({both_hashes(record)}). Run: sense7 fetch {source.name} --again"
        )
    return record


def both_hashes(record: Provenance) -> str:
    """Name the hash that was recorded and the one that was found."""
    return f"recorded sha256 {record.sha256[:12]}..., found {str(record.found)[:12]}..."


def is_fetched(name: str) -> bool:
    """Whether a data set was fetched and can be used as it is.

    Parameters
    ----------
    name : str
        A name in ``SOURCES``.

    Returns
    -------
    bool
        False also if it is incomplete, or was fetched for another version of this project: in every such
        case ``sense7 fetch NAME`` fixes it.

    Raises
    ------
    UserError
        If the name is unknown, or the record of it can't be read.
    """
    source = known_source(name)
    record = recorded(source)
    return (
        record is not None
        and is_current(source, record)
        and cached(source, record).is_file()
        and all(part_place(source, part).is_file() for part in source.parts)
    )


def fetched_digest(name: str) -> str:
    """Give the sha256 of what was fetched under a name, hashed again; "" if it isn't here.

    Raises
    ------
    UserError
        If the name is unknown, or what is here was changed.
    """
    if not is_fetched(name):
        return ""
    source = known_source(name)
    part_files(name)
    record = recorded(source)
    return unchanged(source, record, cached(source, record)).sha256


def part_files(name: str) -> dict[str, Path]:
    """Give the published files of a fetched data set, each verified by its hash.

    Returns
    -------
    dict
        Name of the file -> path in the cache; empty for a data set that is one workbook.

    Raises
    ------
    UserError
        If the name is unknown, or a file is missing or isn't what it must be.
    """
    source = known_source(name)
    for part in source.parts:
        if not is_intact(source, part):
            raise UserError(
                f"{name}: {part.file} isn't in {part_place(source, part).parent} as it was published. "
                f"Run: sense7 fetch {name}"
            )
    return {part.file: part_place(source, part) for part in source.parts}
