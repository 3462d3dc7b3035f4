"""An edition as one archive to share: an RO-Crate 1.1 and Process Run Crate 0.5, with a Croissant description.

It holds recorded values, ledger, parameters and versions. The workbook is named by its SHA-256. It is in the archive
only if the user asks for it and its license is known; executed notebooks and pages, which quote it, are not.

https://www.researchobject.org/ro-crate/specification/1.1/ and https://w3id.org/ro/wfrun/process/0.5
"""

import importlib.resources
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
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
from sense7.files import digest_of, not_written, one_line, replacing

_FIXED = json.loads((importlib.resources.files(__package__) / "crate.json").read_text("utf-8"))
"""What every archive says: words for files, and the entity of the profile."""

_SPEC = "https://w3id.org/ro/crate/1.1"
_PROFILE = _FIXED["entities"][-1]["@id"]
_SPDX = "https://spdx.org/licenses/"
_MIT = f"{_SPDX}MIT"
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
    chosen_license = _license_address(license)
    workbook = folder / "data" / facts["file"]
    if not any(path.split("/")[:2] == ["data", facts["file"]] for path in listed_files(folder)):
        raise UserError(
            f"{folder / 'edition.json'}: names a workbook that is not in the edition. Build it again."
        )
    data = paper.archived(workbook)
    if data.study.provenance.sha256 != facts["sha256"]:
        raise UserError(
            f"{workbook}: not the workbook that the edition was made of. Build the edition again."
        )
    license_of_data = chosen_license
    if data.kind != "own":
        license_of_data = _license_address(data.license)
    if with_data and not license_of_data:
        raise UserError(
            f"{workbook.name}: --with-data: the license of these data is not known, so they can't be shared. Give "
            "it if the data are yours: --license CC-BY-4.0, or an address; else leave out --with-data."
        )
    license_of_results = chosen_license
    if not chosen_license and paper.KINDS[facts["kind"]].has_truth:
        license_of_results = license_of_data
    finished = datetime.fromtimestamp(int((folder / "edition.json").stat().st_mtime), UTC)
    crate = Crate(facts, data, finished, license_of_results, license_of_data)
    contents = _contents(folder, facts["file"], with_data)
    if with_data:
        for name, table in data.tables.items():
            contents[f"data/tables/{name}.csv"] = table.encode()
    contents["croissant.json"] = _json(crate.croissant(with_data))
    repository = configuration(project.sources)["repository"]["url"]
    graph = crate.graph(contents, repository, authors)
    metadata = _json({"@context": f"{_SPEC}/context", "@graph": graph})
    moment = max(finished.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
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


def _contents(folder: Path, file: str, with_data: bool) -> dict[str, bytes]:
    """What an archive holds of an edition: path -> bytes."""
    workbook = f"data/{file}"
    contents = {}
    try:
        for path, digest in sorted(listed_files(folder).items()):
            is_about = path in {"edition.json", "ledger.json"}
            is_result = is_about or re.fullmatch(r"results/[^/]+\.json", path)
            is_workbook = path == workbook or path.startswith(f"{workbook}/")
            is_data = is_workbook or re.fullmatch(r"data/[^/]+\.reading\.yml", path)
            if is_result or (with_data and is_data):
                contents[path] = listed_content(folder, path, digest)
    except OSError as error:
        raise UserError(
            f"{error.filename}: can't be read ({one_line(error)}). Build the edition again."
        ) from None
    return contents


@dataclass(frozen=True)
class Crate:
    """What an archive says of an edition, its data, and when it was made; a license that is not known is empty."""

    facts: Mapping
    data: paper.Archived
    finished: datetime
    license_of_results: str
    license_of_data: str

    @property
    def about(self) -> str:
        """What the results are."""
        kind_of_data = paper.KINDS[self.facts["kind"]]
        verified = ""
        if kind_of_data.is_compared:
            verified = ", verified by its record" if self.facts["verified"] else ", not verified"
        return (
            f"Results of the {paper.NAME} companion on {kind_of_data.words}{verified}. "
            f"Data: {self.facts['label']}."
        )

    def croissant(self, with_data: bool) -> dict:
        """The description of the tables, which need not be in the archive."""
        file = self.facts["file"]
        sha256 = self.facts["sha256"]
        description = f"Tables of the workbook {file}, SHA-256 {sha256}. {self.about}"
        if not with_data:
            description += (
                " The tables are not in this archive: sense7 export --with-data writes them, "
                "where that is allowed."
            )
        properties = {
            **_FIXED["croissant"],
            "name": f"{paper.NAME} workbook {self.facts['name']}",
            "description": description,
            "license": self.license_of_data or "No license given",
            "url": paper.ARTICLE["url"],
            "citeAs": self.data.credit or f"{file}, SHA-256 {sha256}",
            "datePublished": self.finished.date().isoformat(),
        }
        return self.data.describe("data/tables", properties)

    def graph(
        self, contents: Mapping[str, bytes], repository: str, authors: Sequence[str]
    ) -> list[dict]:
        """The entities: the edition with its files, the workbook, the run, the software, people and licenses."""
        facts = self.facts
        moment = self.finished.isoformat()
        files = [_file(path, content) for path, content in contents.items()]
        people = []
        for number, name in enumerate(authors, 1):
            people.append(_entity(f"#author-{number}", "Person", name=name))
        root = _entity(
            "./",
            "Dataset",
            name=f"{paper.NAME} companion, edition {facts['name']}",
            description=self.about,
            license=_license(self.license_of_results),
            author=_ids(people),
            datePublished=moment,
            conformsTo={"@id": _PROFILE},
            hasPart=_ids(files),
            mentions={"@id": "#run"},
            isBasedOn={"@id": "#workbook"},
            citation={"@id": paper.ARTICLE["@id"]},
        )
        workbook = _entity(
            "#workbook",
            "CreativeWork",
            name=facts["file"],
            description=f"The workbook that was analyzed: {facts['label']}.",
            creditText=self.data.credit,
            identifier=f"sha256:{facts['sha256']}",
            license=_license(self.license_of_data),
        )
        results = [path for path in contents if path.startswith(("results/", "ledger"))]
        run = _entity(
            "#run",
            "CreateAction",
            name="Notebooks executed on the workbook",
            endTime=moment,
            description=f"Parameters: {facts['parameters']}. edition.json has those of each notebook.",
            instrument={"@id": repository},
            object=[{"@id": "#workbook"}],
            result=[{"@id": quote(path)} for path in results],
        )
        how = facts["made"]
        commit = how.get("commit") or "not known"
        packages = ", ".join(f"{name} {version}" for name, version in how["versions"].items())
        software = _entity(
            repository,
            "SoftwareApplication",
            name=f"{paper.NAME}: a reproducible companion",
            description=f"Commit {commit}; library SHA-256 {how['library']}; {packages}",
            version=how["versions"]["sense7"],
            url=repository,
            license=_license(_MIT),
        )
        licenses = []
        for address in dict.fromkeys([self.license_of_results, self.license_of_data, _MIT]):
            if address:
                name = address.removeprefix(_SPDX)
                licenses.append(_entity(address, "CreativeWork", name=name, url=address))
        entities = [*_FIXED["entities"], paper.ARTICLE, root, *files, workbook, run, software]
        return [*entities, *people, *licenses]


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _entity(address: str, entity_type: str, **properties) -> dict:
    """An entity of the graph, with those of its properties that are known."""
    entity = {"@id": address, "@type": entity_type}
    for name, value in properties.items():
        if value:
            entity[name] = value
    return entity


def _ids(entities: Sequence[Mapping]) -> list[dict]:
    return [{"@id": entity["@id"]} for entity in entities]


def _license(address: str) -> dict | str:
    """A license as an entity names it."""
    return {"@id": address} if address else _NO_LICENSE


def _license_address(text: str) -> str:
    """Address of a license: of its SPDX identifier, or as it is; "" without one."""
    if not text or re.fullmatch(r"https?://[^\s\"<>\\]+", text):
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
    return _entity(
        quote(path),
        "File",
        name=name,
        contentSize=str(len(content)),
        encodingFormat=_FIXED["types"].get(Path(path).suffix, "application/octet-stream"),
        identifier=f"sha256:{digest_of(content)}",
    )
