"""The check before a release: each thing that keeps a version from being released is said, with how to fix it."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from scripts import check_release

import sense7

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("a-*.yml"))

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture
def ready(tmp_path, monkeypatch):
    """A repository whose version 1.2.3 can be released."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\n", "utf-8")
    (tmp_path / "codemeta.json").write_text('{"version": "1.2.3"}', "utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-01-31\n", "utf-8")
    check_release.git(tmp_path, "init", "-q")
    commit(tmp_path)
    assert check_release.problems(tmp_path, "1.2.3") == []
    return tmp_path


def commit(root):
    check_release.git(root, "add", "-A")
    check_release.git(root, *AUTHOR, "commit", "-q", "-m", "a")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("CITATION.cff", "version: 1.2.2\n", "CITATION.cff: says version 1.2.2"),
        ("CITATION.cff", "title: a\n", "CITATION.cff: says version None"),
        ("codemeta.json", json.dumps({"version": "1.2.4"}), "codemeta.json: says version 1.2.4"),
        ("CHANGELOG.md", "## [Unreleased]\n\n- 1.2.3\n", "CHANGELOG.md: no heading"),
        ("CHANGELOG.md", "## [1.2.3]\n", "CHANGELOG.md: no heading"),
        ("CHANGELOG.md", None, "CHANGELOG.md: no heading"),
    ],
)
def test_a_file_that_says_otherwise_is_named(ready, name, text, said):
    (ready / name).write_text(text, "utf-8") if text else (ready / name).unlink()
    commit(ready)
    (problem,) = check_release.problems(ready, "1.2.3")
    assert problem.startswith(said)


def test_what_is_not_committed_is_said(ready):
    (ready / "new.txt").touch()
    (problem,) = check_release.problems(ready, "1.2.3")
    assert "not committed" in problem


def test_a_version_is_released_once(ready):
    check_release.git(ready, "tag", "v1.2.3")
    (problem,) = check_release.problems(ready, "1.2.3")
    assert "released already" in problem


def test_only_three_numbers_are_a_version(ready):
    assert "no version to release" in check_release.problems(ready, "1.2.3.dev1")[0]


# The project itself


def test_every_file_says_the_same_version_and_repository():
    version = sense7.__version__
    assert set(check_release.stated(ROOT).values()) == {version}
    assert check_release.stated(ROOT).keys() == {"CITATION.cff", "codemeta.json", "book/cite.md"}
    assert re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[:2] == ["Unreleased", version]
    citation, config = (yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("CITATION.cff", "_config.yml"))
    assert citation["repository-code"] == config["repository"]["url"]


def test_codemeta_says_what_other_files_say():
    said = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert said["softwareRequirements"] == project["dependencies"]
    assert said["runtimePlatform"] == f"Python {project['requires-python']}"
    assert (said["description"], said["keywords"]) == (project["description"], project["keywords"])
    assert (said["name"], said["codeRepository"]) == (citation["title"], citation["repository-code"])
    assert said["dateModified"] == str(citation["date-released"])
    assert said["referencePublication"]["name"] == citation["preferred-citation"]["title"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates_are_forms_that_ask_for_what_is_needed(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    assert any(part["validations"]["required"] for part in form["body"] if "validations" in part)
    assert len({part["id"] for part in form["body"]}) == len(form["body"])
