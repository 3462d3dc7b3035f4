"""Editions side by side: their list, by which pages lead from one to another, and a web site made of several."""

import html
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from sense7.book.manifest import require_whole
from sense7.errors import UserError
from sense7.files import scratch_folder, write_whole
from sense7.sources import SOURCES

__all__ = [
    "CARD",
    "EDITIONS_LIST",
    "EXPLORER_FOLDER",
    "EXPLORER_PAGE",
    "JUDGE_LOGS",
    "claim_edition",
    "edition_folder",
    "list_editions",
    "published_address",
    "require_same_source",
    "source_of",
    "write_site",
]

EDITIONS_LIST = "editions.js"
EXPLORER_PAGE = "book/explorer.html"
"""The page that shows the conversations, inside an edition's html folder."""

EXPLORER_FOLDER = "explorer"
"""Their texts, in the same folder."""

JUDGE_LOGS = "judge-logs"
PUBLISHED = ("html", "results", "ledger.json", "edition.json")
"""What a site holds of an edition: its pages, and what they were made from as files to read."""

CARD = "card.png"
"""The picture that stands for an edition where its address is shared, in the edition's folder of a site."""

_GITHUB = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
_MADE_FROM = ".made-from.json"
"""Name of the file that holds what each edition was made from: private paths, so it lies outside of every edition."""

_SITE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SENSE-7 companion</title>
<style>
:root {{color-scheme: light dark}}
body {{font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem}}
</style>
</head>
<body>
<main>
<h1>SENSE-7 companion</h1>
<p>One book, made once for each data set. Every page leads to the same page in the other editions.</p>
<ul>
{items}
</ul>
{absent}</main>
</body>
</html>
"""
_NO_OFFICIAL = """<p>The official edition is not here: its workbook was not available when this site was made. It is one
command away: <code>sense7 fetch official</code>, then <code>sense7 build official</code>.</p>
"""


def edition_folder(place: Path, name: str) -> Path:
    """Where the edition of a name lies."""
    return place / "_build" / "editions" / name


def source_of(data: str, path: Path) -> str:
    """What an edition is made from: the name of a data set, or the absolute path of a workbook or folder of tables.

    Examples
    --------
    >>> source_of("official", Path("/cache/official.xlsx")), source_of("mine.xlsx", Path("/home/a/../b/mine.xlsx"))
    ('official', '/home/b/mine.xlsx')
    """
    return data if data in ("synthetic", *SOURCES) else os.path.abspath(path)  # noqa: PTH100 -- links stay links


def require_same_source(folder: Path, source: str, sha256: str) -> None:
    """Refuse to replace an edition that was made from another source.

    The same file with other content may replace it, and so may another file with the same content.

    Parameters
    ----------
    folder : Path
        Folder of the edition; it may be absent.
    source : str
        As :func:`source_of` gave it.
    sha256 : str
        Of the workbook that is to replace it.

    Raises
    ------
    UserError
        If the edition was made from another source, whose content differs.
    """
    before = _made_from(folder.parent).get(folder.name, source)
    try:
        known = json.loads((folder / "edition.json").read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # no finished edition is there to be replaced
    if before != source and known != sha256:
        raise UserError(
            f"{folder.name}: an edition of this name exists, made from {before} (sha256 {known[:12]}...), and was "
            f"kept. Give the edition of {source} another name (--name OTHER; with make book, NAME=OTHER), or remove "
            f"{folder}"
        )


def claim_edition(folder: Path, source: str, sha256: str) -> None:
    """Note what an edition is made from, just before it takes its place; refused as by :func:`require_same_source`."""
    require_same_source(folder, source, sha256)
    known = _made_from(folder.parent)
    if known.get(folder.name) != source:
        write_whole(folder.parent / _MADE_FROM, json.dumps(known | {folder.name: source}, indent=1) + "\n")


def _made_from(editions: Path) -> dict[str, str]:
    """Name of an edition -> its source; without those that were built before this was noted."""
    try:
        known = json.loads((editions / _MADE_FROM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def list_editions(editions: Path) -> list[dict]:
    """List the finished editions of a folder in ``editions.js``, with their pages; its script leads between them.

    A script that assigns a variable, since a page opened from disk may load that and nothing else. It lies
    outside of every edition, so that these stay as they are when another one comes.

    Parameters
    ----------
    editions : Path
        Folder with one folder per edition.

    Returns
    -------
    list of dict
        Name, label (what the data are) and pages of each, by name.
    """
    entries = (_listed(folder) for folder in sorted(editions.glob("[!.]*")) if folder.is_dir())
    listed = [entry for entry in entries if entry]
    text = f"window.sense7Editions = {json.dumps(listed, indent=1)};\n"
    path = editions / EDITIONS_LIST
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
    return listed


def _listed(folder: Path) -> dict | None:
    """An edition's name, what its data are, and its pages; None if it is not finished."""
    pages = folder / "html"
    try:
        label = json.loads((folder / "edition.json").read_text(encoding="utf-8"))["label"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not (pages / "index.html").is_file():
        return None
    paths = [path.relative_to(pages) for path in pages.rglob("*.html")]
    names = [path.as_posix() for path in paths if path.parts[0] not in {"_static", JUDGE_LOGS, "index.html"}]
    return {"name": folder.name, "label": label, "pages": sorted(names)}


def published_address(repository: str, name: str = "") -> str:
    """Where the site of a repository on GitHub is published, or one edition in it; "" of any other repository.

    Examples
    --------
    >>> published_address("https://github.com/me/book", "synthetic")
    'https://me.github.io/book/editions/synthetic/'
    >>> published_address("https://example.org/me/book")
    ''
    """
    if not (found := _GITHUB.fullmatch(repository)):
        return ""
    site = f"https://{found['owner'].lower()}.github.io/{found['name']}/"
    return f"{site}editions/{quote(name)}/" if name else site


def write_site(editions: Path, names: Sequence[str], out: Path, repository: str = "") -> Path:
    """Put editions together to a folder that any web server can publish as it is.

    Parameters
    ----------
    editions : Path
        Folder of the finished editions.
    names : sequence of str
        Those to publish, in the order in which the front page is to name them.
    out : Path
        Folder to write; it must be absent or empty.
    repository : str
        Address of the repository. If its site has an address, a map of all pages is written for search engines.

    Returns
    -------
    Path
        The front page. Beside it, ``editions/NAME`` holds pages, recorded values and the ledger of each edition;
        workbooks, executed notebooks and predictions are not copied.

    Raises
    ------
    UserError
        If an edition is not finished or damaged, or the folder is in use or can't be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is there already. Remove it, or give another place.")
    for name in names:
        if _listed(editions / name) is None:
            raise UserError(f'{editions / name}: no finished edition. Build it first: sense7 build "{name}"')
        require_whole(editions / name)
    try:
        with scratch_folder(out.parent) as scratch:
            site = scratch / "site"
            for name in dict.fromkeys(names):
                for part in PUBLISHED:
                    source, target = editions / name / part, site / "editions" / name / part
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
                _write_card(site / "editions" / name)
            listed = list_editions(site / "editions")
            labels = {entry["name"]: entry["label"] for entry in listed}
            if address := published_address(repository):
                (site / "sitemap.xml").write_text(_site_map(address, listed), encoding="utf-8")
            items = "\n".join(
                f'<li><a href="editions/{quote(name)}/html/index.html">{html.escape(name)}</a>: '
                f"{html.escape(labels[name])}</li>"
                for name in dict.fromkeys(names)
            )
            front = _SITE.format(items=items, absent="" if "official" in names else _NO_OFFICIAL)
            (site / "index.html").write_text(front, encoding="utf-8")
            if out.is_dir():
                out.rmdir()
            site.replace(out)
    except OSError as error:
        raise UserError(f"{error.filename or out}: {error.strerror or error}. Is the disk full?") from error
    return out / "index.html"


def _write_card(edition: Path) -> None:
    from sense7.book.card import card  # draws: nothing else here needs matplotlib

    ledger = json.loads((edition / "ledger.json").read_text(encoding="utf-8"))
    label = json.loads((edition / "edition.json").read_text(encoding="utf-8"))["label"]
    (edition / CARD).write_bytes(card(ledger, label))


def _site_map(address: str, editions: Sequence[Mapping]) -> str:
    """All pages of a site in the format of sitemaps.org, but for those that only search and list."""
    pages = [
        f"{address}editions/{quote(edition['name'])}/html/{quote(page)}"
        for edition in editions
        for page in edition["pages"]
        if not page.startswith(("genindex", "search", "py-modindex"))
    ]
    urls = "".join(f"<url><loc>{html.escape(page)}</loc></url>\n" for page in [address, *pages])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )
