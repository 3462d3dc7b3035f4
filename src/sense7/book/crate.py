"""An edition as one archive to share: an RO-Crate 1.1 and Process Run Crate 0.5, with a Croissant description.

It holds recorded values, ledger, parameters and versions. The workbook is named by its SHA-256. It is in the archive
only if the user asks for it and its license is known; executed notebooks and pages, which quote it, are not.

https://www.researchobject.org/ro-crate/specification/1.1/ and https://w3id.org/ro/wfrun/process/0.5
"""

import datetime
import hashlib
import importlib.resources
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from sense7 import paper
from sense7.book.editions import (
    find_edition,
    listed_content,
    listed_files,
    read_facts,
    require_whole,
)
from sense7.book.inputs import configuration
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.files import not_written, one_line, replacing

_FIXED = json.loads((importlib.resources.files(__package__) / "crate.json").read_text("utf-8"))
"""What every archive says: words for files, and the entity of the profile."""

_SPEC = "https://w3id.org/ro/crate/1.1"
_PROFILE = _FIXED["entities"][-1]["@id"]
_SPDX = "https://spdx.org/licenses/"
_NO_LICENSE = "No license given: it is not said under which terms this may be used. Ask the person who shared it."


def write_crate(
    project: Project,
    edition: str,
    out: Path,
    *,
    with_data: bool = False,
    license: str = "",
    authors: Sequence[str] = (),
    replace: bool = False,
) -> Path:
    """Write an edition, named or by its folder, as a .zip file, and return that; equal editions give equal bytes.

    ``with_data`` puts in the workbook and its tables; ``license`` (SPDX identifier or address) is that of results, and
    of data of the user's own. Refused are editions that are damaged, and data whose license is not known.
    """
    folder = find_edition(project.place, edition)
    require_whole(folder)
    facts = read_facts(folder)
    given = _license_address(license) if license else ""
    if not any(path.split("/")[:2] == ["data", facts["file"]] for path in listed_files(folder)):
        raise UserError(
            f"{folder / 'edition.json'}: names a workbook that is not in the edition. Build it again."
        )
    workbook = folder / "data" / facts["file"]
    data = paper.archived(workbook)
    if data.study.provenance.sha256 != facts["sha256"]:
        raise UserError(
            f"{workbook}: not the workbook that the edition was made of. Build the edition again."
        )
    of_data = _license_address(data.license) if data.license else ""
    if data.kind == "own":
        of_data = given
    if with_data and not of_data:
        raise UserError(
            f"{workbook.name}: --with-data: the license of these data is not known, so they can't be shared. Give "
            "it if the data are yours: --license CC-BY-4.0, or an address; else leave out --with-data."
        )
    of_results = given or (of_data if paper.KINDS[facts["kind"]].has_truth else "")
    made = datetime.datetime.fromtimestamp(
        int((folder / "edition.json").stat().st_mtime), datetime.UTC
    )
    verified = ", verified by its record" if facts["verified"] else ", not verified"
    kind = paper.KINDS[facts["kind"]]
    about = f"Results of the {paper.NAME} companion on {kind.words}"
    about += f"{verified if kind.is_compared else ''}. Data: {facts['label']}."

    # What it holds: path in the archive -> bytes.
    workbook_path = f"data/{facts['file']}"
    contents = {}
    try:
        for path, digest in sorted(listed_files(folder).items()):
            is_about = path in {"edition.json", "ledger.json"}
            is_result = is_about or re.fullmatch(r"results/[^/]+\.json", path)
            is_workbook = path == workbook_path or path.startswith(f"{workbook_path}/")
            is_data = is_workbook or re.fullmatch(r"data/[^/]+\.reading\.yml", path)
            if is_result or (with_data and is_data):
                contents[path] = listed_content(folder, path, digest)
    except OSError as error:
        raise UserError(
            f"{error.filename}: can't be read ({one_line(error)}). Build the edition again."
        ) from None
    if with_data:
        for name, table in data.tables.items():
            contents[f"data/tables/{name}.csv"] = table.encode()
    described = f"Tables of the workbook {facts['file']}, SHA-256 {facts['sha256']}. {about}"
    if not with_data:
        described += (
            " The tables are not in this archive: sense7 export --with-data writes them, "
            "where that is allowed."
        )
    croissant = _FIXED["croissant"] | {
        "name": f"{paper.NAME} workbook {facts['name']}",
        "description": described,
        "license": of_data or "No license given",
        "url": paper.ARTICLE["url"],
        "citeAs": data.credit or f"{facts['file']}, SHA-256 {facts['sha256']}",
        "datePublished": made.date().isoformat(),
    }
    contents["croissant.json"] = _json(data.describe("data/tables", croissant))

    # How it says so: a graph of entities.
    repository = configuration(project.sources)["repository"]["url"]
    people = [
        _entity(f"#author-{number}", "Person", name=name) for number, name in enumerate(authors, 1)
    ]
    files = [_file(path, content) for path, content in contents.items()]
    named = {"license": {"@id": of_results} if of_results else _NO_LICENSE, "author": _ids(people)}
    root = _entity(
        "./",
        "Dataset",
        name=f"{paper.NAME} companion, edition {facts['name']}",
        description=about,
        **named,
    )
    root |= {
        "datePublished": made.isoformat(),
        "conformsTo": {"@id": _PROFILE},
        "hasPart": _ids(files),
    }
    root |= {
        "mentions": {"@id": "#run"},
        "isBasedOn": {"@id": "#workbook"},
        "citation": {"@id": paper.ARTICLE["@id"]},
    }
    said = f"The workbook that was analyzed: {facts['label']}."
    analyzed = _entity(
        "#workbook", "CreativeWork", name=facts["file"], description=said, creditText=data.credit
    )
    analyzed["identifier"] = f"sha256:{facts['sha256']}"
    analyzed["license"] = {"@id": of_data} if of_data else _NO_LICENSE
    run = _entity(
        "#run", "CreateAction", name="Notebooks executed on the workbook", endTime=made.isoformat()
    )
    run |= {
        "description": f"Parameters: {facts['parameters']}. edition.json has those of each notebook.",
        "instrument": {"@id": repository},
        "object": [{"@id": "#workbook"}],
        "result": [one for one in _ids(files) if one["@id"].startswith(("results/", "ledger"))],
    }
    versions = facts["made"]["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    said = f"Commit {facts['made'].get('commit') or 'not known'}; library SHA-256 {facts['made']['library']}; {listed}"
    software = _entity(
        repository,
        "SoftwareApplication",
        name=f"{paper.NAME}: a reproducible companion",
        description=said,
    )
    software |= {
        "version": versions["sense7"],
        "url": repository,
        "license": {"@id": f"{_SPDX}MIT"},
    }
    licenses = [
        _entity(address, "CreativeWork", name=address.removeprefix(_SPDX), url=address)
        for address in dict.fromkeys(filter(None, (of_results, of_data, f"{_SPDX}MIT")))
    ]
    graph = [
        *_FIXED["entities"],
        paper.ARTICLE,
        root,
        *files,
        analyzed,
        run,
        software,
        *people,
        *licenses,
    ]
    metadata = _json({"@context": f"{_SPEC}/context", "@graph": graph})
    moment = max(made.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    try:
        with (
            replacing(out, replace=replace) as part,
            zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for path, content in {"ro-crate-metadata.json": metadata, **contents}.items():
                archive.writestr(zipfile.ZipInfo(path, moment), content, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise UserError(not_written(out, error)) from None
    return out


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _entity(address: str, kind: str, **about) -> dict:
    """An entity of the graph, with what is known about it."""
    return {"@id": address, "@type": kind} | {name: one for name, one in about.items() if one}


def _ids(entities: Sequence[Mapping]) -> list[dict]:
    return [{"@id": entity["@id"]} for entity in entities]


def _license_address(text: str) -> str:
    """Address of a license: of its SPDX identifier, or as it is."""
    if re.fullmatch(r"https?://[^\s\"<>\\]+", text):
        return text
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", text):
        raise UserError(
            f"--license {text!r:.60}: expected an SPDX identifier, such as CC-BY-4.0, or an address."
        )
    return f"{_SPDX}{text}"


def _file(path: str, content: bytes) -> dict:
    """A file as an entity, which goes by its path as a part of an address.

    >>> _file("data/a b.xlsx", b"")["@id"]
    'data/a%20b.xlsx'
    """
    name = _FIXED["names"].get(path, Path(path).name)
    if path.startswith("results/"):
        name = f"Recorded values of notebook {Path(path).stem}"
    return _entity(quote(path), "File", name=name, contentSize=str(len(content))) | {
        "encodingFormat": _FIXED["types"].get(Path(path).suffix, "application/octet-stream"),
        "identifier": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
