"""From the name of a data set to a study: the one door that notebooks use."""

from dataclasses import replace
from pathlib import Path

from sense7.published_ids import read_published_ids, with_published_ids
from sense7.sources import Provenance, resolve
from sense7.sources.registry import SOURCE_SHEET
from sense7.study import Study
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook.reading import reading_digest
from sense7.workbook.sheets import ParsedWorkbook, parse_workbook, read_workbook


def load(data: str | Path, *, rated: bool = True) -> Study:
    """Load a data set by its name or from a file, and note where it came from.

    Parameters
    ----------
    data : str or path
        ``synthetic``; ``official``, ``ieval`` or ``lend-an-ear``, once fetched; or the path of a workbook.
        ``FILE.reading.yml`` beside it declares what its cells mean.
    rated : bool
        Whether a workbook without any rating is refused. A judge can be asked about one.

    Returns
    -------
    Study
        With its provenance. A workbook that says of itself that it is synthetic, or made of the data of others,
        is that, under any name and with any record beside it. Ids are those of the file; in an edition's copy of
        one's own workbook those of its pages (P1, C1), by the table beside it.

    Raises
    ------
    UserError
        If there is no such data set, or it can't be read or analysed.
    """
    path, provenance = resolve(data)
    study = _READ_AHEAD.pop((reading_digest(path, provenance.sha256), provenance.name), None)
    if study is None:
        study = read_workbook(path, name=provenance.name, rated=rated)
    study = _with_provenance(study, provenance)
    published = read_published_ids(path)
    return with_published_ids(study, published) if published else study


_READ_AHEAD: dict[tuple[str, str], Study] = {}
"""Digest of a workbook with its reading file, and name -> the study, for the first that loads it."""


def read_ahead(data: str | Path, name: str) -> None:
    """Read a workbook for the next :func:`load` of these bytes: by a build, before it forks the notebooks' kernels."""
    path, provenance = resolve(data)
    key = reading_digest(path, provenance.sha256), name
    _READ_AHEAD[key] = read_workbook(path, name=name)


def parse(data: str | Path) -> ParsedWorkbook:
    """Find a data set and read it as :func:`load` does, without making data frames of it."""
    path, provenance = resolve(data)
    parsed = parse_workbook(path, name=provenance.name)
    return _with_provenance(parsed, provenance)


def _with_provenance(
    read: Study | ParsedWorkbook, provenance: Provenance
) -> Study | ParsedWorkbook:
    """Note where a workbook came from, unless it says itself that it is synthetic, or made of the data of others."""
    if synthetic_marks(read) is not None:
        provenance = replace(provenance, kind="synthetic")
    elif provenance.kind == "official" and SOURCE_SHEET in read.sheets:
        # Its own sheet says whose data it holds; no record beside it makes those SENSE-7.
        provenance = replace(provenance, kind="third-party")
    return replace(read, provenance=provenance)


def synthetic_marks(study: Study | ParsedWorkbook) -> dict | None:
    """What a synthetic workbook says of its making: key -> value; None for any other workbook."""
    sheet = study.sheets.get(SYNTHETIC_SHEET)
    if sheet is None or sheet.header[:2] != ["key", "value"]:
        return None
    return {row[0]: row[1] for row in sheet.rows}
