"""Editions side by side: their list, by which pages lead from one to another, and a web site made of several.

An edition's manifest has the digest of each of its files and the key of all that it was made from. A build makes a
damaged edition again; the ledger and the site refuse it.
"""

import json
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from sense7.errors import UserError
from sense7.files import (
    digest_of,
    digest_of_file,
    not_written,
    read_json,
    replacing_folder,
    require_empty,
    unused_path,
    write_whole,
)
from sense7.record import MANIFEST
from sense7.sources import SOURCES
from sense7.terminal import did_you_mean, silent

DATA_SETS = ("synthetic", *SOURCES)
"""Names of data sets; no edition of other data has one of them."""

DATA_PAGE = "notebooks/01-dataset"
"""The page that lists what the reader of data warned about."""

FORMAT = 6
"""Version of what an edition holds: it is raised whenever its files have other fields or places."""

PUBLISHED = ("html", "results", "ledger.json", "edition.json")
"""What a site holds of an edition: its pages, and what they were made from as files to read."""


def read_facts(edition: Path) -> dict:
    """Read the facts of an edition in edition.json; refused if it is damaged or of another version."""
    damaged = damage(edition)
    if damaged:
        repair = build_command(edition.name)
        raise UserError(f"{edition}: damaged ({shown(damaged)}). Repair it: {repair}")
    path = edition / "edition.json"
    facts = read_json(path)
    version = facts.get("format")
    if version != FORMAT:
        raise UserError(
            f"{path}: built by another version of this project (version of the edition: {version!s:.20}; this one "
            f"reads {FORMAT}). Build the edition again, or use the version that built it."
        )
    return facts


def edition_folder(working_folder: Path, name: str) -> Path:
    """Where the edition of a name lies."""
    return working_folder / "_build" / "editions" / name


def build_command(edition: str) -> str:
    """The command that builds an edition, given by its name or its workbook.

    Examples
    --------
    >>> build_command("official"), build_command("mine")
    ('sense7 build official', 'sense7 build WORKBOOK --name mine')
    """
    if edition in DATA_SETS or Path(edition).expanduser().is_file():
        return f"sense7 build {shlex.quote(edition)}"
    return f"sense7 build WORKBOOK --name {shlex.quote(edition)}"


def find_edition(working_folder: Path, edition: str) -> Path:
    """Folder of an edition by its name or its path."""
    by_name = edition_folder(working_folder, edition)
    for folder in (by_name, Path(edition).expanduser()):
        if (folder / "edition.json").is_file():
            return folder.absolute()
    present = sorted(path.parent.name for path in by_name.parent.glob("*/edition.json"))
    remedy = "Build one: sense7 build synthetic"
    if present:
        remedy = f"Build it: {build_command(edition)}, or give the path of its folder."
    raise UserError(
        f"{edition}: neither an edition (present: {', '.join(present) or 'none'}), nor the folder of one. "
        f"{did_you_mean(edition, present, remedy)}"
    )


def source_of(data: str, path: Path) -> str:
    """What an edition is made from: the name of a data set, or the absolute path of a workbook or folder of tables.

    Examples
    --------
    >>> source_of("official", Path("/cache/official.xlsx")), source_of("mine.xlsx", Path("/home/a/../b/mine.xlsx"))
    ('official', '/home/b/mine.xlsx')
    """
    if data in DATA_SETS:
        return data
    return os.path.abspath(path)  # noqa: PTH100 -- links stay links


def require_same_source(folder: Path, source: str, sha256: str) -> None:
    """Refuse to replace an edition that was made from another source.

    The same file with other content may replace it, and so may another file with the same content.
    """
    try:
        present = read_json(folder / "edition.json")["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # no finished edition is there to be replaced
    digest = digest_of_source(source)
    if present != sha256 and read_manifest(folder).get("source", digest) != digest:
        raise UserError(
            f"{folder.name}: an edition of this name exists, made from another workbook (sha256 {present[:12]}...), "
            f"and was kept. Give the edition of {source} another name (--name OTHER; with make book, NAME=OTHER), or "
            f"remove {folder}"
        )


def list_editions(editions: Path) -> list[dict]:
    """List the finished editions of a folder in ``editions.js``, with their pages; its script leads between them.

    A script that assigns a variable, since a page opened from disk may load that and nothing else. It lies
    outside of every edition, so that these stay as they are when another one comes.
    """
    entries = [_entry(folder) for folder in sorted(editions.glob("[!.]*"))]
    finished = [entry for entry in entries if entry]
    text = f"window.sense7Editions = {json.dumps(finished, indent=1)};\n"
    path = editions / "editions.js"
    if not path.is_file() or path.read_text("utf-8") != text:
        write_whole(path, text, replace=True)
    return finished


def _entry(folder: Path) -> dict | None:
    """An edition's name, what its data are, and its pages; None if it is not finished."""
    pages = folder / "html"
    facts = folder / "edition.json"
    if not facts.is_file() or not (pages / "index.html").is_file():
        return None
    paths = [path.relative_to(pages) for path in pages.rglob("*.html")]
    names = [path.as_posix() for path in paths if path.parts[0] not in {"_static", "index.html"}]
    return {"name": folder.name, "label": read_json(facts)["label"], "pages": sorted(names)}


def write_site(
    editions: Path, names: Sequence[str], out: Path, say: Callable[[str], object] = silent
) -> Path:
    """Put editions together to a folder that any web server can publish as it is.

    Its root leads to the front page of the official edition, if it is among them, else of the first. Of each edition it
    has what the manifest lists, and nothing else that lies beside the pages. Of one's own workbooks ``say`` is told
    before which texts of people the site will hold.
    """
    require_empty(out)
    for name in names:
        if _entry(editions / name) is None:
            raise UserError(
                f"{editions / name}: no finished edition. Build it first: {build_command(name)}"
            )
        facts = read_facts(editions / name)
        if facts["kind"] == "own":
            say(
                f"{name}: the site will hold, word for word, {facts['texts']} of your own workbook, and answers that "
                "could not be read. Publish it only if those who wrote them agreed to that."
            )
    from jinja2 import Environment, PackageLoader  # Sphinx's

    names = list(dict.fromkeys(names))
    first = "official" if "official" in names else names[0]
    templates = Environment(loader=PackageLoader(__package__, ""), autoescape=True)
    try:
        with replacing_folder(out) as site:
            for name in names:
                for path in read_manifest(editions / name)["files"]:
                    if path.split("/")[0] in PUBLISHED:
                        target = site / "editions" / name / path
                        target.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(editions / name / path, target)
            labels = {entry["name"]: entry["label"] for entry in list_editions(site / "editions")}
            front = templates.get_template("site.html").render(
                editions=[(name, quote(name), labels[name]) for name in names], first=quote(first)
            )
            (site / "index.html").write_text(front, "utf-8")
            # What GitHub's Pages, and many other servers, show in the place of a page that is none.
            missing = templates.get_template("missing.html").render()
            (site / "404.html").write_text(missing, "utf-8")
            # Else GitHub's Pages leave out folders such as _static, where a branch is published.
            (site / ".nojekyll").touch()
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from error
    return out / "index.html"


# --- the manifest -------------------------------------------------------------------------


def write_manifest(edition: Path, key: str = "", source: str = "") -> None:
    """Write the manifest of an edition, as its last file."""
    content = {"key": key, "source": digest_of_source(source), "files": _contents(edition)}
    write_whole(edition / MANIFEST, json.dumps(content, indent=1) + "\n", replace=True)


def read_manifest(edition: Path) -> dict:
    """The key of what an edition was made from, the digest of its source, and its files; {} if it is not finished."""
    try:
        content = read_json(edition / MANIFEST)
        return {"key": content["key"], "source": content["source"], "files": dict(content["files"])}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def digest_of_source(source: str) -> str:
    """What stands for the path of a workbook, which is nobody's business."""
    return digest_of(source.encode())


def set_aside(edition: Path, say: Callable[[str], object]) -> None:
    """Keep an edition in which somebody changed or added a file, before it is replaced."""
    changed = [path for path, what in differences(edition).items() if what != "is missing"]
    if changed:
        kept = unused_path(edition.parent.parent / "kept" / edition.name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        edition.replace(kept)
        say(f"the edition before is kept in {kept}, since no build wrote {shown(changed)}")


def damage(edition: Path) -> list[str]:
    """What of an edition differs from its manifest: files that changed or are missing, and recorded values too many."""
    if not read_manifest(edition):
        return [f"{MANIFEST} is missing or can't be read"]
    damaged = []
    for path, what in differences(edition).items():
        # Others may lie beside an edition's pages; recorded values would be read.
        if what != "was added" or path.startswith("results/"):
            damaged.append(f"{path} {what}")
    return damaged


def differences(edition: Path) -> dict[str, str]:
    """Path of a file that differs from the manifest -> what became of it."""
    listed, present = read_manifest(edition).get("files", {}), _contents(edition)
    changes = {}
    for path in listed | present:
        if path not in present:
            changes[path] = "is missing"
        elif path not in listed:
            changes[path] = "was added"
        elif present[path] != listed[path]:
            changes[path] = "changed"
    return changes


def shown(damaged: Sequence[str]) -> str:
    """The first three files of a damaged edition, and how many more there are."""
    names = list(damaged[:3])
    if len(damaged) > len(names):
        names.append(f"and {len(damaged) - len(names)} more")
    return ", ".join(names)


def _contents(edition: Path) -> dict[str, str]:
    """Path of every ordinary file of an edition but the manifest -> SHA-256; no link is followed."""
    digests = {}
    for file in edition.rglob("*"):
        path = file.relative_to(edition).as_posix()
        if path != MANIFEST and file.is_file() and not file.is_symlink():
            digests[path] = digest_of_file(file)
    return dict(sorted(digests.items()))
