"""Editions side by side: their list, by which pages lead from one to another, and a web site made of several."""

import html
import io
import json
import math
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

EDITIONS_LIST = "editions.js"
EXPLORER_PAGE = "book/explorer.html"
"""The page that shows the conversations, inside an edition's html folder."""

EXPLORER_FOLDER = "explorer"
"""Their texts, in the same folder."""

PUBLISHED = ("html", "results", "ledger.json", "edition.json")
"""What a site holds of an edition: its pages, and what they were made from as files to read."""

CARD = "card.png"
"""The picture that stands for an edition where its address is shared, in the edition's folder of a site."""

_GITHUB = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
_MADE_FROM = ".made-from.json"
"""Name of the file that holds what each edition was made from: private paths, so it lies outside of every edition."""


def _json(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


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
    """
    before = _made_from(folder.parent).get(folder.name, source)
    try:
        known = _json(folder / "edition.json")["sha256"]
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
        known = _json(editions / _MADE_FROM)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def list_editions(editions: Path) -> list[dict]:
    """List the finished editions of a folder in ``editions.js``, with their pages; its script leads between them.

    A script that assigns a variable, since a page opened from disk may load that and nothing else. It lies
    outside of every edition, so that these stay as they are when another one comes.
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
        label = _json(folder / "edition.json")["label"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not (pages / "index.html").is_file():
        return None
    paths = [path.relative_to(pages) for path in pages.rglob("*.html")]
    names = [path.as_posix() for path in paths if path.parts[0] not in {"_static", "index.html"}]
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
    """Put editions together to a folder that any web server can publish as it is."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is there already. Remove it, or give another place.")
    for name in names:
        if _listed(editions / name) is None:
            raise UserError(f'{editions / name}: no finished edition. Build it first: sense7 build "{name}"')
        require_whole(editions / name)
    from jinja2 import Environment, PackageLoader  # Sphinx's

    try:
        with scratch_folder(out.parent) as scratch:
            site = scratch / "site"
            for name in dict.fromkeys(names):
                for part in PUBLISHED:
                    source, target = editions / name / part, site / "editions" / name / part
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
                ledger, facts = (_json(editions / name / f"{part}.json") for part in ("ledger", "edition"))
                (site / "editions" / name / CARD).write_bytes(card(ledger, facts["label"]))
            listed = list_editions(site / "editions")
            labels = {entry["name"]: entry["label"] for entry in listed}
            if address := published_address(repository):
                (site / "sitemap.xml").write_text(_site_map(address, listed), encoding="utf-8")
            template = Environment(loader=PackageLoader(__package__, ""), autoescape=True).get_template("site.html")
            front = template.render(editions=[(name, quote(name), labels[name]) for name in dict.fromkeys(names)])
            (site / "index.html").write_text(front, encoding="utf-8")
            if out.is_dir():
                out.rmdir()
            site.replace(out)
    except OSError as error:
        raise UserError(f"{error.filename or out}: {error.strerror or error}. Is the disk full?") from error
    return out / "index.html"


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


MARKS = {"passed": "●", "not-passed": "◆", "undecided": "○"}
"""Outcome of a claim's rule -> a mark, so that it does not rest on color alone."""

_WIDEST = 2
"""Largest multiple of a published value on the common axis; what lies beyond ends at its edge."""


def positions(row: Mapping) -> tuple[float, float, float, float] | None:
    """Where reference, estimate and both limits lie on a row's axis, in percent of its width.

    For a published figure the axis goes from zero to twice that figure; for a claim in words it
    is as wide as the interval needs to either side of the value that the claim excludes.

    Examples
    --------
    >>> published = {"value": 2.0, "kind": "figure", "compare": {"within": 0.1}}
    >>> computed = {"estimate": 2.0, "low": 1.0, "high": 4.0}
    >>> positions({"published": published, "computed": computed})
    (50.0, 50.0, 25.0, 100.0)
    """
    claim, computed = row["published"], row["computed"]
    if computed is None or not isinstance(computed["estimate"], int | float) or claim["kind"] == "check":
        return None
    numbers = [computed["estimate"], computed["low"], computed["high"]]
    numbers = [numbers[0] if number is None else number for number in numbers]
    rule = claim["compare"] or {}
    if claim["value"] is not None:
        places = [number / claim["value"] / _WIDEST for number in (claim["value"], *numbers)]
    elif "beyond" in rule or "sign" in rule:
        reference = rule.get("beyond", 0)
        reach = 2.1 * max(abs(number - reference) for number in numbers) or 1
        places = [0.5 + (number - reference) / reach for number in (reference, *numbers)]
    else:
        return None
    reference, estimate, low, high = (round(100 * min(max(place, 0), 1), 1) for place in places if math.isfinite(place))
    return reference, estimate, low, high


def card(ledger: Sequence[Mapping], label: str) -> bytes:
    """Draw what the ledger of an edition shows: published figures beside this edition's values and intervals."""
    from matplotlib.figure import Figure

    from sense7.figures.style import COLOURS, drawn, styled

    rows = [row for row in ledger if not row["published"]["release"] and row["published"]["value"] is not None]
    rows = [row for row in rows if positions(row) and row["computed"]["low"] is not None][:12]
    stream = io.BytesIO()
    with styled():
        drawing = Figure(figsize=(12, 6.3), facecolor="white")
        drawing.text(0.05, 0.86, "SENSE-7: a reproducible companion", fontsize=30, weight="bold")
        drawing.text(0.05, 0.78, f"Data: {drawn(label, 90)}", fontsize=17)
        axes = drawing.add_axes((0.3, 0.12, 0.65, 0.58))
        for place, row in enumerate(rows):
            reference, estimate, low, high = positions(row)
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=3)
            axes.plot([estimate], [place], "o", color=COLOURS[0], markersize=9)
            axes.axvline(reference, linestyle="--", color="black", linewidth=1)
        axes.set_xlim(0, 100)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        names = [drawn(row["published"]["short"] or row["published"]["title"], 32) for row in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=13)
        axes.set_xticks([0, 50, 100], ["zero", "as published", "twice as published"], fontsize=13)
        axes.grid(visible=False)
        drawing.savefig(stream, format="png", dpi=100, bbox_inches=None, metadata={"Software": None})
    return stream.getvalue()
