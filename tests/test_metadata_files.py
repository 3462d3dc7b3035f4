"""CITATION.cff, codemeta.json and CHANGELOG.md say the same of the project, in the form that readers expect."""

import datetime
import importlib.metadata
import importlib.util
import json
import re
from pathlib import Path

import yaml
from scripts import write_codemeta

import sense7

ROOT = Path(__file__).resolve().parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
CODEMETA = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]

TERMS = {
    *("@context", "type", "name", "identifier", "description", "version", "dateModified", "author", "license"),
    *("codeRepository", "issueTracker", "readme", "keywords", "programmingLanguage", "runtimePlatform"),
    *("softwareRequirements", "referencePublication", "givenName", "familyName", "datePublished", "url"),
}
"""Terms of CodeMeta 3.0 that are used: https://codemeta.github.io/terms/."""


def keys(value):
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(inner)


def test_codemeta_is_what_make_derived_writes():
    assert write_codemeta.codemeta() == CODEMETA, "run: make derived"


def test_codemeta_uses_terms_of_codemeta_only():
    assert CODEMETA["@context"] == "https://w3id.org/codemeta/3.0"
    assert CODEMETA["type"] == "SoftwareSourceCode"
    assert set(keys(CODEMETA)) == TERMS
    assert re.fullmatch(r"https://spdx\.org/licenses/[\w.-]+", CODEMETA["license"])


def test_the_version_stands_in_one_place():
    assert importlib.metadata.version("sense7-companion") == sense7.__version__
    assert str(CITATION["version"]) == CODEMETA["version"] == sense7.__version__
    assert f"version = {{{sense7.__version__}}}" in (ROOT / "book" / "cite.md").read_text("utf-8")
    assert f'"{sense7.__version__}"' not in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_address_is_that_of_the_repository():
    assert CITATION["repository-code"] == CITATION["url"] == CODEMETA["codeRepository"] == REPOSITORY


def test_the_paper_is_the_preferred_citation():
    paper = CITATION["preferred-citation"]
    assert paper["url"] == "https://arxiv.org/abs/2509.16437"
    assert CODEMETA["referencePublication"]["name"] == paper["title"]


def test_the_changelog_keeps_its_form():
    assert CHANGELOG.startswith("# Changelog\n")
    heads = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    versions = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", head) for head in heads[1:]]
    assert all(versions)
    assert versions[0][1] == sense7.__version__, "the newest version is the one that the code has"
    dates = [datetime.date.fromisoformat(version[2]) for version in versions]
    assert dates == sorted(dates, reverse=True)
    assert dates[0] == CITATION["date-released"]
    kinds = set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    links = re.findall(r"^\[(.+?)\]: (\S+)$", CHANGELOG, re.MULTILINE)
    assert [name for name, _ in links] == ["Unreleased", *(version[1] for version in versions)]
    assert all(address.startswith(REPOSITORY) for _, address in links)
