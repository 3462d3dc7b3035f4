"""The pages of an edition, made by Jupyter Book; of notebooks, only those that changed since the last time.

``_build/pages/NAME`` keeps what the last pages of an edition were made from, and what Sphinx keeps of them. The next
build starts there, so that Sphinx reads only what changed: notebooks, and pages that show a value of a notebook whose
values did. All else that pages depend on, the rest of the book, the configuration, the packages, how the edition was
made, is its *frame*: under another one, and after a build that failed or was killed, all is made again. Of a frame that
is new before any notebook has run, Jupyter Book reads the pages that rest on none while they run. The
pages are those that a first build makes; a test compares them to the byte.
"""

import contextlib
import copy
import functools
import hashlib
import html
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from sense7.book.banner import banner
from sense7.book.execute import BuildError
from sense7.book.how_made import CODE, describe, describe_code
from sense7.book.icons import prepare_to_cut, reduce_icon_font
from sense7.book.jupyter_book import JupyterBook
from sense7.book.manifest import environment_of
from sense7.files import disk_trouble, lock_file
from sense7.implied import FILE as IMPLIED

__all__ = ["pages_under_way"]

_MARK = "frame"
_WHOLE = "whole-frame"
_BUILDER = "sense7.book.extensions.builder"
_NOTEBOOKS = "stage/notebooks"
_LAST_STATIC = "last-static"
_SEARCH_PAGE = "search.html"
_SEARCH = re.compile(rb'<script src="[^"]*(?:searchindex|searchtools|language_data)\.js[^"]*"></script>')
_ICONS = re.compile(rb'<script defer src="[^"]*/scripts/fontawesome\.js[^"]*"></script>')
_SET_UP_TAGS = {"parameters", "injected-parameters"}
_SEEN_ELSEWHERE = re.compile(r"#|\(.*\)=|.*\{(cite|index|glossary|bibliography)")
"""Lines of a notebook's prose that show on other pages: headings, names to refer to, sources cited."""


@contextlib.contextmanager
def pages_under_way(
    root: Path, facts: Mapping, config: dict, kept: Path, scratch: Path, program: JupyterBook
) -> Iterator[Callable[..., Path]]:
    """Make the pages of an edition with Jupyter Book: execution off, warnings are errors.

    Where nothing can be kept of the last pages, Jupyter Book begins at once with what rests on no edition.

    Parameters
    ----------
    root : Path
        The checkout.
    facts : mapping
        Of the edition, as edition.json will hold them; the verdicts may be missing.
    config : dict
        Jupyter Book's configuration, with the repository's address.
    kept : Path
        Folder for what is kept from one build to the next.
    scratch : Path
        Folder for what is not.
    program : JupyterBook
        Not used yet.

    Yields
    ------
    callable
        Takes the folder of the edition in the making, in which executed notebooks, results, ledger and truth lie by
        then, all facts, and what else is to be done while Jupyter Book is at work. Gives the folder of the pages, in
        ``scratch``; raises BuildError, which quotes what Jupyter Book complained of.
    """
    book = _book(root)
    frame = _frame(root, book, _steady(facts), config)

    def begin(workplace: Path, sources: Mapping[str, bytes]) -> None:
        settings = {"stage/_config.yml": _configuration(config, facts, workplace / "edition")}
        _bring_up_to_date(workplace, {**sources, **settings})
        # Always copied again; what lies there already gets another address.
        static = workplace / "pages" / "_build" / "html" / "_static"
        with contextlib.suppress(OSError):
            static.rename(scratch / _LAST_STATIC)
        shutil.rmtree(static, ignore_errors=True)
        arguments = ["build", str(workplace / "stage"), "--path-output", str(workplace / "pages")]
        program.start([*arguments, "-W", "-n", "--keep-going", "--quiet"], workplace / "stage")

    def finish(
        edition: Path, facts: Mapping, meanwhile: Callable[[], object] = lambda: None, begun: Path | None = None
    ) -> Path:
        sources = _edition_files(edition, _steady(facts)) | _notebooks(edition) | book
        with contextlib.nullcontext(begun) if begun else _workplace(kept, frame, scratch) as workplace:
            whole, mark = _frame(root, sources, _steady(facts), config), workplace / _WHOLE
            if begun:
                settings = (workplace / "stage" / "_config.yml").read_bytes()
                _bring_up_to_date(workplace, sources | {"stage/_config.yml": settings})
            else:
                if not mark.exists() or mark.read_text(encoding="utf-8") != whole:
                    shutil.rmtree(workplace / "pages", ignore_errors=True)
                begin(workplace, sources)
            mark.write_text(whole, encoding="utf-8")
            _check(*program.finish(functools.partial(_wait_usefully, scratch, meanwhile)), workplace)
            pages = Path(shutil.copytree(workplace / "pages" / "_build" / "html", scratch / "html"))
        _finish_pages(pages, facts["made"])
        (pages / "index.html").write_text(_landing(facts, config["title"]), encoding="utf-8")
        return pages

    if _made_within(kept) == frame:
        yield finish
        return
    with _workplace(kept, frame, scratch, emptied=True) as workplace:
        # Notebooks that are not executed yet have their places among the pages.
        coming = {f"{_NOTEBOOKS}/{path.stem}.ipynb": b"" for path in (root / "notebooks").glob("*.md")}
        begin(workplace, book | coming)
        yield functools.partial(finish, begun=workplace)


def _wait_usefully(scratch: Path, meanwhile: Callable[[], object]) -> None:
    """Do what takes time and needs no pages, while Jupyter Book is at work."""
    meanwhile()
    shutil.rmtree(scratch / _LAST_STATIC, ignore_errors=True)
    prepare_to_cut()


def _steady(facts: Mapping) -> dict:
    """Facts that pages are made from: not which build it is, nor the commit, which is put in afterwards."""
    made = {name: value for name, value in facts["made"].items() if name not in {"apart", "changed", "commit"}}
    return {name: value for name, value in facts.items() if name != "key"} | {"made": made}


def _finish_pages(pages: Path, made: Mapping) -> None:
    """Say on every page which commit made it, as no page is made again for another one; leave out heavy scripts.

    Of the theme's 1.5 MB of drawn icons a page shows a dozen, which its style sheets have as letters of a font, too.
    The search and its index, 0.4 MB, serve the search's own page alone, as nothing is searched while a reader types.
    """
    words = html.escape(describe_code(made)).encode()
    contents = {path: path.read_bytes() for path in pages.rglob("*.html")}
    for path, content in contents.items():
        finished = _without(_ICONS, content.replace(CODE.encode(), words))
        if path.name != _SEARCH_PAGE:
            finished = _without(_SEARCH, finished)
        if finished != content:
            path.write_bytes(finished)
    for drawn in (pages / "_static" / "scripts").glob("fontawesome.js*"):
        drawn.unlink()
    reduce_icon_font(pages / "_static", contents.values())


def _without(pattern: re.Pattern, content: bytes) -> bytes:
    """Content without what matches, and the space before it: with that in the pattern it takes ten times as long."""
    *before, last = pattern.split(content)
    return b"".join([*map(bytes.rstrip, before), last])


# --- what pages are made from ----------------------------------------------------------


def _edition_files(edition: Path, facts: Mapping) -> dict[str, bytes]:
    """What the roles and directives of pages look up."""
    paths = [*(edition / "results").glob("*.json"), *(edition / "notebooks").glob("*.ipynb")]
    paths += [edition / "ledger.json", edition / "data" / "truth.json", edition / "data" / IMPLIED]
    files = {f"edition/{path.relative_to(edition)}": path.read_bytes() for path in paths if path.exists()}
    return files | {"edition/edition.json": json.dumps(facts, indent=1, sort_keys=True).encode()}


def _notebooks(edition: Path) -> dict[str, bytes]:
    paths = (edition / "notebooks").glob("*.ipynb")
    return {f"{_NOTEBOOKS}/{path.name}": _page_source(path).encode() for path in paths}


def _book(root: Path) -> dict[str, bytes]:
    paths = [root / "_toc.yml", *(path for path in (root / "book").rglob("*") if path.is_file())]
    return {f"stage/{path.relative_to(root).as_posix()}": path.read_bytes() for path in paths}


def _configuration(config: Mapping, facts: Mapping, edition: Path) -> bytes:
    """Jupyter Book's configuration with the edition's banner and folder."""
    config = copy.deepcopy(config)
    options = config["sphinx"]["config"]["html_theme_options"]
    options["announcement"] = facts["label"]  # each page puts the banner in its place, see directives
    if facts["kind"] != "synthetic":
        # Binder and Colab would open the notebook on the repository's own data, not on what the page shows.
        options["launch_buttons"] = {}
    options["repository_url"] = config["repository"]["url"]
    options["repository_branch"] = config["repository"]["branch"]
    config["sphinx"]["config"] |= {"sense7_edition": str(edition), "sense7_name": facts["name"]}
    config["sphinx"]["extra_extensions"] = [*config["sphinx"].get("extra_extensions", ()), _BUILDER]
    # The extension for PDF numbers figures and tables in HTML as well, for which every page is gone through again.
    config.setdefault("latex", {})["use_jupyterbook_latex"] = False
    return yaml.safe_dump(config, sort_keys=False).encode()


def _page_source(path: Path) -> str:
    """The executed notebook as a page is made from it: without the cells that only set it up."""
    node = json.loads(path.read_text(encoding="utf-8"))
    for cell in node["cells"]:
        tags = cell["metadata"].setdefault("tags", [])
        if cell["cell_type"] == "code" and (_SET_UP_TAGS & set(tags) or _sets_up(cell)):
            tags.append("remove-cell")  # where files lie and how they are loaded: the notebook has it
    return json.dumps(node, ensure_ascii=False)  # with an indent it takes ten times as long


def _sets_up(cell: Mapping) -> bool:
    return "import sense7 as s7" in "".join(cell["source"]) and not cell["outputs"]


def _frame(root: Path, sources: Mapping[str, bytes], facts: Mapping, config: Mapping) -> str:
    """SHA-256 of all that more than one page depends on."""
    parts = {
        "config": config,
        "facts": {name: value for name, value in facts.items() if not name.startswith("verdicts")},
        "packages": environment_of(root),
    }
    for name, content in sources.items():
        if name.startswith("edition/results/"):
            # Where a value stands; what it is concerns the pages that show it.
            parts[name] = [[value["key"], value["notebook"], value["cell"]] for value in json.loads(content)]
        elif name == "edition/ledger.json":
            rows = json.loads(content)
            parts[name] = [[row["id"], row["tuned"], (row["computed"] or {}).get("key")] for row in rows]
        elif name.startswith(_NOTEBOOKS):
            parts[name] = _seen_elsewhere(json.loads(content))
        elif name != "edition/edition.json" and not name.startswith("edition/notebooks/"):
            parts[name] = hashlib.sha256(content).hexdigest()
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _seen_elsewhere(notebook: Mapping) -> list[str]:
    prose = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    return [line for text in prose for line in text.splitlines() if _SEEN_ELSEWHERE.match(line)]


# --- where they are made ---------------------------------------------------------------


@contextlib.contextmanager
def _workplace(kept: Path, frame: str, scratch: Path, *, emptied: bool = False) -> Iterator[Path]:
    """Give the folder of the last pages: as it is if they were made within the same frame, else emptied.

    It is another one in ``scratch`` if a second build of the edition is at work there. A build that is stopped leaves a
    folder without a mark, which is not used again.
    """
    kept.mkdir(parents=True, exist_ok=True)
    # The system gives a lock back when its process ends, however it ends.
    with kept.with_name(f"{kept.name}.lock").open("a") as lock:
        try:
            lock_file(lock, wait=False)
        except BlockingIOError:
            workplace = scratch / "work"
            workplace.mkdir()
            yield workplace
            return
        known = _made_within(kept)
        (kept / _MARK).unlink(missing_ok=True)
        if emptied or known != frame:
            shutil.rmtree(kept)
            kept.mkdir()
        yield kept
        (kept / _MARK).write_text(frame, encoding="utf-8")


def forget_pages(kept: Path) -> None:
    """Have the next build make every page again."""
    (kept / _MARK).unlink(missing_ok=True)


def _made_within(kept: Path) -> str:
    """Frame of the last pages; "" where they were not finished."""
    mark = kept / _MARK
    return mark.read_text(encoding="utf-8") if mark.exists() else ""


def _bring_up_to_date(workplace: Path, sources: Mapping[str, bytes]) -> None:
    """Write what changed, and only that, as Sphinx goes by the times of files; remove what is no source any more."""
    for part in ("edition", "stage"):
        for path in [path for path in (workplace / part).rglob("*") if path.is_file()]:
            if path.relative_to(workplace).as_posix() not in sources:
                path.unlink()
    for name, content in sources.items():
        path = workplace / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _check(code: int, log: str, workplace: Path) -> None:
    """Raise what Jupyter Book complained of, if anything."""
    log = re.sub(r"\x1b\[[0-9;]*m", "", log)
    stage = f"{workplace / 'stage'}{os.sep}"
    problems = [line.replace(stage, "") for line in log.splitlines() if re.search(r"WARNING|ERROR", line)]
    # The exit code alone is not to be trusted: Jupyter Book has been seen to end with 0 after errors.
    if code or problems or not (workplace / "pages" / "_build" / "html" / "index.html").exists():
        if (full := disk_trouble(log)) is not None:
            raise full
        raised = re.findall(r"^[\w.]*(?:Error|Exception): .*\S", log, flags=re.MULTILINE)
        lines = problems or [*raised, *log.strip().splitlines()[-15:]]
        raise BuildError("the pages could not be made:\n  " + "\n  ".join(lines))


def _landing(facts: Mapping, title: str) -> str:
    """The page at the top of the book: leads to the front page, and says what data it shows."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="refresh" content="0; url=book/index.html">\n'
        f"<title>{html.escape(title)}</title>\n</head>\n<body>\n{banner(facts, 'notebooks/01-dataset.html')}\n"
        f'<p><a href="book/index.html">Open the book</a></p>\n{describe(facts)}\n</body>\n</html>\n'
    )
