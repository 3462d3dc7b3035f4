"""An edition as one archive to share: an RO-Crate 1.1 and Process Run Crate 0.5, with a Croissant description.

It holds recorded values, ledger, parameters and versions. The workbook is named by its SHA-256. It is in the archive
only if the user asks for it and its license is known; executed notebooks and pages, which quote it, are not.

https://www.researchobject.org/ro-crate/specification/1.1/ and https://w3id.org/ro/wfrun/process/0.5
"""

import datetime
import hashlib
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from sense7.book.manifest import require_whole
from sense7.book.plan import configuration
from sense7.book.verify import find_edition
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.exchange.croissant import csv_text, describe_tables, shared_tables
from sense7.files import not_written, one_line, replacing
from sense7.loading import load
from sense7.sources import SOURCES
from sense7.sources.registry import SOURCE_SHEET
from sense7.study import Study

__all__ = ["write_crate"]

_SPEC = "https://w3id.org/ro/crate/1.1"
_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_PAPER = "https://arxiv.org/abs/2509.16437"
_SPDX = "https://spdx.org/licenses/"
_NO_LICENSE = "#no-license"
"""Stands for a license where none was given."""

_TYPES = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yml": "application/yaml",
}
_KINDS = {
    "synthetic": "a synthetic workbook: nobody said or rated anything in it. No number in here is a finding about "
    "people, and none must be cited as one",
    "official": "the official SENSE-7 workbook",
    "third-party": "a workbook made of the data of others. It is not SENSE-7",
    "own": "a workbook of the user's own. It is not SENSE-7, and reproduces no claim of the paper",
}
_ENTITIES = [
    {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": _SPEC},
        "about": {"@id": "./"},
    },
    {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
    {
        "@id": _PAPER,
        "@type": "ScholarlyArticle",
        "name": "SENSE-7: Taxonomy and Dataset for Measuring User Perceptions of Empathy in Sustained Human-AI "
        "Conversations",
        "datePublished": "2025-09",
        "identifier": "arXiv:2509.16437",
        "url": _PAPER,
    },
]


def write_crate(
    project: Project,
    edition: str,
    out: Path,
    *,
    with_data: bool = False,
    license: str = "",
    authors: Sequence[str] = (),
) -> Path:
    """Write an edition, named or by its folder, as a .zip file, and return that; equal editions give equal bytes.

    ``with_data`` puts in the workbook and its tables; ``license`` (SPDX identifier or address) is that of results, and
    of data of the user's own. Refused are editions that are damaged, and data whose license is not known.
    """
    folder = find_edition(project.place, edition)
    try:
        facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
        (facts["file"], facts["sha256"], facts["kind"], facts["made"]["versions"]["sense7"], facts["made"]["notebooks"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{folder}: no finished edition ({one_line(error)}). Build it again.") from None
    require_whole(folder)
    given = _license_address(license) if license else ""
    workbook = folder / "data" / facts["file"]
    study = load(workbook)
    if study.provenance.sha256 != facts["sha256"]:
        raise UserError(f"{workbook}: not the workbook that the edition was made of. Build the edition again.")
    # A workbook's own sheet says whose data it holds, also where it was given by its path.
    kind = "third-party" if SOURCE_SHEET in study.sheets else study.provenance.kind
    known = SOURCES.get(study.provenance.name) if kind in ("official", "third-party") else None
    of_data, credit = given if kind == "own" else "", ""
    if kind == "synthetic":
        of_data = f"{_SPDX}MIT"
    elif known:
        of_data, credit = _license_address(known.licence), known.credit
    if with_data and not of_data:
        raise UserError(
            f"{workbook.name}: --with-data: the license of these data is not known, so they can't be shared. Give "
            "it if the data are yours: --license CC-BY-4.0, or an address; else leave out --with-data."
        )
    of_results = given or (of_data if facts["kind"] == "synthetic" else "")
    made = datetime.datetime.fromtimestamp(int((folder / "edition.json").stat().st_mtime), datetime.UTC)
    verified = ""
    if facts["kind"] == "official":
        verified = ", verified by its record" if facts["verified"] else ", not verified"
    about = f"Results of the SENSE-7 companion on {_KINDS[facts['kind']]}{verified}. Data: {facts['label']}."
    contents = _contents(folder, workbook, study, with_data=with_data)
    described = f"Tables of the workbook {facts['file']}, SHA-256 {facts['sha256']}. {about}"
    if not with_data:
        described += (
            " The tables are not in this archive: sense7 export --with-data writes them, where that is allowed."
        )
    croissant = {
        "name": f"SENSE-7 workbook {facts['name']}",
        "description": described,
        "license": of_data or "No license given",
        "url": _PAPER,
        "citeAs": credit or f"{facts['file']}, SHA-256 {facts['sha256']}",
        "datePublished": made.date().isoformat(),
        "version": "1.0.0",
        "isLiveDataset": False,
    }
    tables = shared_tables(study.sheets, study.participants_sheet)
    contents["croissant.json"] = _json(describe_tables(tables, "data/tables", croissant))
    repository = configuration(project.sources)["repository"]["url"]
    people = [{"@id": f"#author-{number}", "@type": "Person", "name": name} for number, name in enumerate(authors, 1)]
    files = [_file(path, content) for path, content in contents.items()]
    parameters, software = _parameters(facts["made"]["notebooks"]), _software(facts["made"], repository)
    results = [one for one in _ids(files) if one["@id"].startswith(("results/", "ledger"))]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"SENSE-7 companion, edition {facts['name']}",
        "description": about,
        "datePublished": made.isoformat(),
        "license": {"@id": of_results or _NO_LICENSE},
        "conformsTo": {"@id": _PROFILE},
        "hasPart": _ids(files),
        "mentions": {"@id": "#run"},
        "isBasedOn": {"@id": "#workbook"},
        "citation": {"@id": _PAPER},
    } | ({"author": _ids(people) if len(people) > 1 else _ids(people)[0]} if people else {})
    analyzed = {
        "@id": "#workbook",
        "@type": "CreativeWork",
        "name": facts["file"],
        "description": f"The workbook that was analyzed: {facts['label']}.",
        "identifier": f"sha256:{facts['sha256']}",
        "license": {"@id": of_data or _NO_LICENSE},
    } | ({"creditText": credit} if credit else {})
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "Notebooks executed on the workbook",
        "description": f"Parameters: {facts['parameters']}.",
        "endTime": made.isoformat(),
        "instrument": {"@id": repository},
        "object": [{"@id": "#workbook"}, *_ids(parameters)],
        "result": results,
    }
    of_all = dict.fromkeys((of_results or _NO_LICENSE, of_data or _NO_LICENSE, f"{_SPDX}MIT"))
    licenses = [_license(address) for address in of_all]
    graph = [*_ENTITIES, root, *files, analyzed, run, *people, *parameters, *software, *licenses]
    metadata = _json({"@context": f"{_SPEC}/context", "@graph": graph})
    moment = max(made.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    try:
        with replacing(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in {"ro-crate-metadata.json": metadata, **contents}.items():
                archive.writestr(zipfile.ZipInfo(path, moment), content, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise UserError(not_written(out, error)) from None
    return out


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
            contents[f"data/tables/{name}.csv"] = csv_text(sheet).encode()
    return contents


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _ids(entities: Sequence[Mapping]) -> list[dict]:
    return [{"@id": entity["@id"]} for entity in entities]


def _license_address(text: str) -> str:
    """Address of a license: of its SPDX identifier, or as it is."""
    if re.fullmatch(r"https?://[^\s\"<>\\]+", text):
        return text
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", text):
        raise UserError(f"--license {text!r:.60}: expected an SPDX identifier, such as CC-BY-4.0, or an address.")
    return f"{_SPDX}{text}"


def _license(address: str) -> dict:
    name, said = address.removeprefix(_SPDX), f"License: {address.removeprefix(_SPDX)}."
    if address == _NO_LICENSE:
        name, said = (
            "No license given",
            "It is not said under which terms this may be used. Ask the person who shared it.",
        )
    entity = {"@id": address, "@type": "CreativeWork", "name": name, "description": said}
    return entity if address == _NO_LICENSE else entity | {"url": address}


def _file(path: str, content: bytes) -> dict:
    """A file as an entity, which goes by its path as a part of an address.

    >>> _file("data/a b.xlsx", b"")["@id"]
    'data/a%20b.xlsx'
    """
    known = {"edition.json": "How the edition was made", "ledger.json": "Ledger of published claims"}
    of_notebook = f"Recorded values of notebook {Path(path).stem}"
    return {
        "@id": quote(path),
        "@type": "File",
        "name": of_notebook if path.startswith("results/") else known.get(path, Path(path).name),
        "encodingFormat": _TYPES.get(Path(path).suffix, "application/octet-stream"),
        "contentSize": str(len(content)),
        "identifier": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }


def _parameters(notebooks: Mapping[str, Mapping]) -> list[dict]:
    """Parameters as properties: one for all notebooks where they agree, else one for each."""
    values: dict[str, dict[str, object]] = {}
    for notebook, given in notebooks.items():
        for name, value in given.items():
            if name != "data":
                values.setdefault(name, {})[notebook] = value
    entities = []
    for name, by_notebook in values.items():
        alike = len({repr(value) for value in by_notebook.values()}) == 1
        for notebook, value in list(by_notebook.items())[: 1 if alike else None]:
            entity = {
                "@id": f"#parameter-{name}" if alike else f"#parameter-{notebook}-{name}",
                "@type": "PropertyValue",
                "name": name if alike else f"{name} of {notebook}",
            }
            entities.append(entity | {"value": value if isinstance(value, str | int | float) else repr(value)})
    return entities


def _software(made: Mapping, repository: str) -> list[dict]:
    """The companion, and what it computes with, each with its version."""
    versions = {name: one for name, one in made["versions"].items() if name not in ("sense7", "system")}
    addresses = {name: f"https://pypi.org/project/{name}/" for name in versions} | {"Python": "https://www.python.org/"}
    others = [
        {"@id": addresses[name], "@type": "SoftwareApplication", "name": name, "version": one, "url": addresses[name]}
        for name, one in versions.items()
    ]
    commit = f"commit {made['commit']}{', with changes' if made.get('changed') else ''}; " if made.get("commit") else ""
    companion = {
        "@id": repository,
        "@type": "SoftwareApplication",
        "name": "SENSE-7: a reproducible companion",
        "version": made["versions"]["sense7"],
        "url": repository,
        "description": f"{commit}library SHA-256 {made['library']}",
        "operatingSystem": made["versions"].get("system", ""),
        "license": {"@id": f"{_SPDX}MIT"},
        "softwareRequirements": _ids(others),
    }
    return [companion, *others]
