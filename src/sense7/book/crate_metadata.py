"""What an edition is, in words of schema.org: the metadata of an RO-Crate 1.1 and Process Run Crate 0.5.

https://www.researchobject.org/ro-crate/specification/1.1/ and https://w3id.org/ro/wfrun/process/0.5
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sense7.errors import UserError
from sense7.sources import SOURCES

__all__ = ["NO_LICENSE", "PAPER", "CratePart", "DataSource", "about_edition", "crate_metadata", "license_address"]

_SPEC = "https://w3id.org/ro/crate/1.1"
_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_RUN, _WORKBOOK = "#run", "#workbook"

PAPER = "https://arxiv.org/abs/2509.16437"
NO_LICENSE = "#no-license"
"""Stands for a license where none was given."""

_KINDS = {
    "synthetic": "a synthetic workbook: nobody said or rated anything in it. No number in here is a finding about "
    "people, and none must be cited as one",
    "official": "the official SENSE-7 workbook",
    "third-party": "a workbook made of the data of others. It is not SENSE-7",
    "own": "a workbook of the user's own. It is not SENSE-7, and reproduces no claim of the paper",
}


@dataclass(frozen=True)
class CratePart:
    """A file in the archive: its path there, what it is, its type and size, and its SHA-256."""

    path: str
    name: str
    encoding: str
    size: int
    sha256: str


@dataclass(frozen=True)
class DataSource:
    """The workbook of an edition: name of the data set, its license (address; empty if not known), whom to credit."""

    name: str
    license: str
    credit: str

    @classmethod
    def of(cls, kind: str, name: str, given: str) -> "DataSource":
        """Find what is known of a data set; ``given`` is the license that its owner gives it.

        Examples
        --------
        >>> DataSource.of("synthetic", "synthetic", "").license
        'https://spdx.org/licenses/MIT'
        >>> DataSource.of("own", "mine", "")
        DataSource(name='mine', license='', credit='')
        """
        if kind == "synthetic":
            return cls(name, license_address("MIT"), "")
        if kind in ("official", "third-party") and name in SOURCES:
            return cls(name, license_address(SOURCES[name].licence), SOURCES[name].credit)
        return cls(name, given if kind == "own" else "", "")


def license_address(text: str) -> str:
    """Give the address of a license: of its SPDX identifier, or as it is.

    Raises
    ------
    UserError
        If it is neither.

    Examples
    --------
    >>> license_address("CC-BY-4.0"), license_address("https://example.org/terms")
    ('https://spdx.org/licenses/CC-BY-4.0', 'https://example.org/terms')
    """
    if re.fullmatch(r"https?://[^\s\"<>\\]+", text):
        return text
    if not _SPDX.fullmatch(text):
        raise UserError(f"--license {text!r:.60}: expected an SPDX identifier, such as CC-BY-4.0, or an address.")
    return f"https://spdx.org/licenses/{text}"


def about_edition(facts: Mapping) -> str:
    """Say in words what an edition shows, and of what data.

    Examples
    --------
    >>> about_edition({"kind": "own", "label": "workbook mine.xlsx, given by its path", "verified": False})[:60]
    "Results of the SENSE-7 companion on a workbook of the user's"
    """
    verified = ""
    if facts["kind"] == "official":
        verified = ", verified by its record" if facts["verified"] else ", not verified"
    return f"Results of the SENSE-7 companion on {_KINDS[facts['kind']]}{verified}. Data: {facts['label']}."


def crate_metadata(
    facts: Mapping,
    parts: Sequence[CratePart],
    source: DataSource,
    *,
    made: str,
    license: str,
    authors: Sequence[str],
    repository: str,
) -> dict:
    """Describe an archive of an edition.

    Parameters
    ----------
    facts : mapping
        Of the edition, as edition.json holds them.
    parts : sequence of CratePart
        The files in the archive.
    source : DataSource
        Of the workbook.
    made : str
        When the edition was made, in ISO 8601.
    license : str
        Address of the results' license; empty if none was given.
    authors : sequence of str
        Names of those who share it.
    repository : str
        Address of the companion.

    Returns
    -------
    dict
        JSON-LD of ``ro-crate-metadata.json``.
    """
    files = [_file(part) for part in parts]
    parameters = _parameters(facts["made"]["notebooks"])
    people = [{"@id": f"#author-{number}", "@type": "Person", "name": name} for number, name in enumerate(authors, 1)]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"SENSE-7 companion, edition {facts['name']}",
        "description": about_edition(facts),
        "datePublished": made,
        "license": {"@id": license or NO_LICENSE},
        "conformsTo": {"@id": _PROFILE},
        "hasPart": _ids(files),
        "mentions": {"@id": _RUN},
        "isBasedOn": {"@id": _WORKBOOK},
        "citation": {"@id": PAPER},
    } | ({"author": _ids(people) if len(people) > 1 else _ids(people)[0]} if people else {})
    workbook = {
        "@id": _WORKBOOK,
        "@type": "CreativeWork",
        "name": facts["file"],
        "description": f"The workbook that was analyzed: {facts['label']}.",
        "identifier": f"sha256:{facts['sha256']}",
        "license": {"@id": source.license or NO_LICENSE},
    } | ({"creditText": source.credit} if source.credit else {})
    run = {
        "@id": _RUN,
        "@type": "CreateAction",
        "name": "Notebooks executed on the workbook",
        "description": f"Parameters: {facts['parameters']}.",
        "endTime": made,
        "instrument": {"@id": repository},
        "object": [{"@id": _WORKBOOK}, *_ids(parameters)],
        "result": [one for one in _ids(files) if one["@id"].startswith(("results/", "ledger"))],
    }
    software = _software(facts["made"]["versions"], facts["made"], repository)
    of_all = (license or NO_LICENSE, source.license or NO_LICENSE, _OWN_LICENSE)
    licenses = [_license(address) for address in dict.fromkeys(of_all)]
    further = [*people, *parameters, *software, *licenses, _PROFILE_ENTITY, _PAPER_ENTITY]
    graph = [_descriptor(), root, *files, workbook, run, *further]
    return {"@context": f"{_SPEC}/context", "@graph": graph}


_OWN_LICENSE = license_address("MIT")
"""Of the companion's code and synthetic data."""

_PAPER_ENTITY = {
    "@id": PAPER,
    "@type": "ScholarlyArticle",
    "name": "SENSE-7: Taxonomy and Dataset for Measuring User Perceptions of Empathy in Sustained Human-AI "
    "Conversations",
    "datePublished": "2025-09",
    "identifier": "arXiv:2509.16437",
    "url": PAPER,
}
_PROFILE_ENTITY = {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}


def _descriptor() -> dict:
    return {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": _SPEC},
        "about": {"@id": "./"},
    }


def _ids(entities: Sequence[Mapping]) -> list[dict]:
    return [{"@id": entity["@id"]} for entity in entities]


def _file(part: CratePart) -> dict:
    """A file as an entity, which goes by its path as a part of an address.

    >>> _file(CratePart("data/a b.xlsx", "a b.xlsx", "text/csv", 1, "ab"))["@id"]
    'data/a%20b.xlsx'
    """
    return {
        "@id": quote(part.path),
        "@type": "File",
        "name": part.name,
        "encodingFormat": part.encoding,
        "contentSize": str(part.size),
        "identifier": f"sha256:{part.sha256}",
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
            entities.append(
                {
                    "@id": f"#parameter-{name}" if alike else f"#parameter-{notebook}-{name}",
                    "@type": "PropertyValue",
                    "name": name if alike else f"{name} of {notebook}",
                    "value": value if isinstance(value, str | int | float) else repr(value),
                }
            )
    return entities


def _software(versions: Mapping[str, str], made: Mapping, repository: str) -> list[dict]:
    """The companion, and what it computes with, each with its version."""
    others = [
        {
            "@id": (address := "https://www.python.org/" if name == "Python" else f"https://pypi.org/project/{name}/"),
            "@type": "SoftwareApplication",
            "name": name,
            "version": version,
            "url": address,
        }
        for name, version in versions.items()
        if name not in ("sense7", "system")
    ]
    commit = made.get("commit")
    described = f"commit {commit}{', with changes' if made.get('changed') else ''}; " if commit else ""
    companion = {
        "@id": repository,
        "@type": "SoftwareApplication",
        "name": "SENSE-7: a reproducible companion",
        "version": versions["sense7"],
        "url": repository,
        "description": f"{described}library SHA-256 {made['library']}",
        "operatingSystem": versions.get("system", ""),
        "license": {"@id": _OWN_LICENSE},
        "softwareRequirements": _ids(others),
    }
    return [companion, *others]


def _license(address: str) -> dict:
    if address == NO_LICENSE:
        return {
            "@id": NO_LICENSE,
            "@type": "CreativeWork",
            "name": "No license given",
            "description": "It is not said under which terms this may be used. Ask the person who shared it.",
        }
    name = address.removeprefix("https://spdx.org/licenses/")
    return {"@id": address, "@type": "CreativeWork", "name": name, "description": f"License: {name}.", "url": address}
