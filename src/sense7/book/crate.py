"""An edition as one archive to share: an RO-Crate, with a Croissant description of the workbook's tables.

It holds recorded values, ledger, parameters and versions. The workbook is named by its SHA-256. It is in the archive
only if the user asks for it and its license is known; executed notebooks and pages, which quote it, are not.
"""

import datetime
import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sense7.book.crate_metadata import (
    PAPER,
    CratePart,
    DataSource,
    about_edition,
    crate_metadata,
    license_address,
)
from sense7.book.manifest import require_whole
from sense7.book.plan import configuration
from sense7.book.verify import find_edition
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.exchange.croissant import csv_text, describe_tables, shared_tables
from sense7.files import not_written, one_line, replacing
from sense7.loading import load
from sense7.sources.registry import SOURCE_SHEET
from sense7.study import Study

__all__ = ["write_crate"]

_METADATA = "ro-crate-metadata.json"
_CROISSANT = "croissant.json"
_TABLES = "data/tables"
_JSON = "application/json"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_TYPES = {".json": _JSON, ".csv": "text/csv", ".xlsx": _XLSX, ".yml": "application/yaml"}


def write_crate(
    project: Project,
    edition: str,
    out: Path,
    *,
    with_data: bool = False,
    license: str = "",
    authors: Sequence[str] = (),
) -> Path:
    """Write an edition as an archive.

    Parameters
    ----------
    project : Project
        Where editions lie, and what they were built from.
    edition : str
        Name of a finished edition, or its folder.
    out : Path
        The .zip file to write.
    with_data : bool
        Whether the workbook and its tables are put in.
    license : str
        SPDX identifier, or address, of the license under which the user shares results, and data of their own.
    authors : sequence of str
        Names of those who share it; none if not given.

    Returns
    -------
    Path
        The archive. The same edition gives the same bytes.

    Raises
    ------
    UserError
        If there is no such edition, its files are not those of its manifest, its data are not those that it was made
        of, the license of data that are to be put in is not known, or the archive can't be written.
    """
    folder = find_edition(project.place, edition)
    facts = _facts(folder)
    require_whole(folder)
    given = license_address(license) if license else ""
    workbook = folder / "data" / facts["file"]
    study = load(workbook)
    if study.provenance.sha256 != facts["sha256"]:
        raise UserError(f"{workbook}: not the workbook that the edition was made of. Build the edition again.")
    # A workbook's own sheet says whose data it holds, also where it was given by its path.
    kind = "third-party" if SOURCE_SHEET in study.sheets else study.provenance.kind
    source = DataSource.of(kind, study.provenance.name, given)
    if with_data and not source.license:
        raise UserError(
            f"{workbook.name}: --with-data: the license of these data is not known, so they can't be shared. Give "
            "it if the data are yours: --license CC-BY-4.0, or an address; else leave out --with-data."
        )
    of_results = given or (source.license if facts["kind"] == "synthetic" else "")
    made = datetime.datetime.fromtimestamp(int((folder / "edition.json").stat().st_mtime), datetime.UTC)
    contents = _contents(folder, workbook, study, with_data=with_data)
    contents[_CROISSANT] = _json(_croissant(facts, study, source, made, with_data))
    parts = [
        CratePart(
            path, _name(path), _TYPES.get(Path(path).suffix, "application/octet-stream"), len(content), _sha(content)
        )
        for path, content in contents.items()
    ]
    repository = configuration(project.sources)["repository"]["url"]
    metadata = crate_metadata(
        facts,
        parts,
        source,
        made=made.isoformat(),
        license=of_results,
        authors=authors,
        repository=repository,
    )
    _write({_METADATA: _json(metadata), **contents}, made, out)
    return out


def _facts(folder: Path) -> dict:
    try:
        facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
        (facts["file"], facts["sha256"], facts["kind"], facts["made"]["versions"]["sense7"], facts["made"]["notebooks"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{folder}: no finished edition ({one_line(error)}). Build it again.") from None
    return facts


def _contents(folder: Path, workbook: Path, study: Study, *, with_data: bool) -> dict[str, bytes]:
    """Path in the archive -> bytes."""
    paths = [folder / "edition.json", folder / "ledger.json", *sorted((folder / "results").glob("*.json"))]
    if with_data:
        paths += sorted(workbook.iterdir()) if workbook.is_dir() else [workbook]
        paths += sorted((folder / "data").glob("*.reading.yml"))
    try:
        contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise UserError(f"{error.filename}: can't be read ({one_line(error)}). Build the edition again.") from None
    if with_data:
        for name, sheet in shared_tables(study.sheets, study.participants_sheet).items():
            contents[f"{_TABLES}/{name}.csv"] = csv_text(sheet).encode()
    return contents


def _croissant(facts: Mapping, study: Study, source: DataSource, made: datetime.datetime, with_data: bool) -> dict:
    description = f"Tables of the workbook {facts['file']}, SHA-256 {facts['sha256']}. {about_edition(facts)}"
    if not with_data:
        description += (
            " The tables are not in this archive: sense7 export --with-data writes them, where that is allowed."
        )
    about = {
        "name": f"SENSE-7 workbook {facts['name']}",
        "description": description,
        "license": source.license or "No license given",
        "url": PAPER,
        "citeAs": source.credit or f"{facts['file']}, SHA-256 {facts['sha256']}",
        "datePublished": made.date().isoformat(),
        "version": "1.0.0",
        "isLiveDataset": False,
    }
    return describe_tables(shared_tables(study.sheets, study.participants_sheet), _TABLES, about)


def _name(path: str) -> str:
    known = {"edition.json": "How the edition was made", "ledger.json": "Ledger of published claims"}
    if path.startswith("results/"):
        return f"Recorded values of notebook {Path(path).stem}"
    return known.get(path, Path(path).name)


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(contents: Mapping[str, bytes], made: datetime.datetime, out: Path) -> None:
    moment = max(made.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    try:
        with replacing(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in contents.items():
                archive.writestr(zipfile.ZipInfo(path, moment), content, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise UserError(not_written(out, error)) from None
