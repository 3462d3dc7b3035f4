"""The pages of an edition, made by one `jupyter-book build`; of notebooks, only those that changed since the last time.

``_build/pages/NAME`` keeps what the last pages of an edition were made from, and what Sphinx keeps of them, so that
Sphinx reads only what changed: notebooks, and pages that show a value of a notebook whose values did. All that more
than one page depends on is the *frame*: under another one, and after a build that failed, all is made again. The pages
are those that a first build makes; a test compares them to the byte.
"""

import contextlib
import copy
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import yaml
from jinja2 import Environment, PackageLoader

import sense7
from sense7 import paper
from sense7.book.assets import share_assets
from sense7.book.code import digest_files, environment_of
from sense7.errors import BuildError
from sense7.expected import FILE as EXPECTED
from sense7.files import disk_trouble, write_whole
from sense7.outputs import OUTPUTS
from sense7.processes import KILLED, NO_MEMORY, without_keys

CODE = "sense7:code"
"""Stands on a page for what :func:`describe_code` says, which every commit and the first edit after it change."""

EXAMPLE = "example.json"
"""One rated conversation in an edition's folder, for the front page."""

REVISION = "sense7-revision"
"""Stands in links to the repository for the commit that the pages were made from."""

# Pages are millions of objects that stay to the end: to look through them for cycles takes a third of the time. The
# thread ends the process with the build, whose end of the pipe the system closes.
_JUPYTER_BOOK = """import contextlib, gc, importlib, os, sys, threading
gc.disable()
for module in sys.argv.pop().split():
    with contextlib.suppress(Exception):
        importlib.import_module(module)
os.read(0, 1) or os._exit(1)
threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
os.chdir(sys.argv[2])
sys.argv[0] = "jupyter-book"
sys.modules["jupyter_book.cli.main"].main()
"""
_PACKAGE = Path(sense7.__file__).parent
TEMPLATES = Environment(loader=PackageLoader("sense7.book", "extensions"), autoescape=True)
_PROVENANCE = TEMPLATES.get_template("provenance.html").module
_MAKERS = ("book", "figures", "simulate/parameters.py")
"""What makes pages, besides the modules of the top level; pages name what else they depend on."""

_OLD = 1
"""Time of every file that pages are made from, in seconds since 1970: see :mod:`sense7.book.extensions.changed`."""

_SEEN_ELSEWHERE = re.compile(r"#|\(.*\)=|.*\{(cite|index|glossary|bibliography)")
"""Lines of a notebook's prose that show on other pages: headings, names to refer to, sources cited."""


def make_pages(
    root: Path, edition: Path, facts: Mapping, config: dict, kept: Path, jupyter_book, page_files
) -> None:
    """Make the folder html of an edition in the making, whose results, notebooks, ledger and facts are there.

    ``jupyter_book`` is what :func:`jupyter_book_waiting` gives; ``page_files`` gives the files of the
    page that is made from data without a notebook.

    Warnings are errors: BuildError quotes what Jupyter Book complained of.
    """
    # Without the commit and the library, which are put in afterwards: no page is made again for another one.
    made = {
        key: one
        for key, one in facts["made"].items()
        if key not in {"changed", "commit", "library"}
    }
    steady = facts | {"made": made}
    content = _sources(root, edition, steady)
    frame = _frame(root, content, steady, config)
    mark = kept / "frame"
    if not mark.exists() or mark.read_text(encoding="utf-8") != frame:
        shutil.rmtree(kept, ignore_errors=True)
    mark.unlink(missing_ok=True)
    content["stage/_config.yml"] = _configuration(config, facts, kept / "edition")
    # What changed, and only that: which pages that concerns, the extension `changed` says.
    for part in ("edition", "stage"):
        for path in [path for path in (kept / part).rglob("*") if path.is_file()]:
            if path.relative_to(kept).as_posix() not in content:
                path.unlink()
    for name, text in content.items():
        path = kept / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            os.utime(path, (_OLD, _OLD))
    # MyST-NB writes its style sheet last, so that a page names its content only where one is there already.
    for style in (kept / "pages" / "_build" / "html" / "_static").glob("mystnb.*.css"):
        style.unlink()
    files = jupyter_book(page_files)
    pages = Path(shutil.copytree(kept / "pages" / "_build" / "html", edition / "html"))
    mark.write_text(frame, encoding="utf-8")
    if (pages / f"{paper.FILES_OF_PAGE}.html").exists():
        for name, text in files.items():
            write_whole(pages / name, text, replace=True)
    words = html.escape(describe_code(facts["made"])).encode()
    revision = facts["made"]["commit"] or config["repository"]["branch"]
    for path in pages.rglob("*.html"):
        page = path.read_bytes().replace(CODE.encode(), words)
        path.write_bytes(page.replace(REVISION.encode(), html.escape(revision).encode()))
    share_assets(pages)


@contextlib.contextmanager
def jupyter_book_waiting(config: Mapping, kept: Path) -> Iterator[Callable[[Callable], object]]:
    """Have a process import what makes pages, until a function is called that makes them; nothing of it is left.

    Meanwhile the function calls what it is given, and gives what that gives.
    """
    options, extensions = (
        ["-W", "-n", "--keep-going", "--quiet"],
        config["sphinx"]["config"]["extensions"],
    )
    arguments = ["build", str(kept / "stage"), "--path-output", str(kept / "pages"), *options]
    modules = " ".join(
        ["jupyter_book.cli.main", "jupyter_book.sphinx", "myst_nb.sphinx_ext", *extensions]
    )
    environment = without_keys() | {
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "ignore",
        "PYTHONHASHSEED": "0",
    }
    environment.pop(
        "SOURCE_DATE_EPOCH", None
    )  # Sphinx would write its year where _config.yml gives another
    with subprocess.Popen(  # noqa: S603 -- our own words; -P: no module of the working directory is taken
        [sys.executable, "-P", "-X", "utf8", "-c", _JUPYTER_BOOK, *arguments, modules],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    ) as process:

        def run(meanwhile: Callable) -> object:
            with contextlib.suppress(BrokenPipeError):  # what it died of is in what it wrote
                process.stdin.write(b"\n")
            done, log = meanwhile(), process.stdout.read().decode("utf-8", "replace")
            _require_pages(re.sub(r"\x1b\[[0-9;]*m", "", log), process.wait(), kept)
            return done

        try:
            yield run
        finally:
            process.kill()


def _require_pages(log: str, code: int, kept: Path) -> None:
    """Refuse pages that Jupyter Book complained of."""
    lines = log.strip().replace(f"{kept / 'stage'}{os.sep}", "").splitlines()
    problems = [line for line in lines if re.search(r"WARNING|ERROR", line)]
    # The exit code alone is not to be trusted: Jupyter Book has been seen to end with 0 after errors.
    if code or problems or not (kept / "pages" / "_build" / "html" / "index.html").exists():
        if (full := disk_trouble(log)) is not None:
            raise full
        if code == KILLED:
            raise BuildError(f"the pages could not be made: Jupyter Book was killed. {NO_MEMORY}")
        raised = re.findall(r"^[\w.]*(?:Error|Exception): .*\S", log, flags=re.MULTILINE)
        raise BuildError(
            "\n  ".join(["the pages could not be made:", *(problems or [*raised, *lines[-15:]])])
        )


def _sources(root: Path, edition: Path, facts: Mapping) -> dict[str, bytes]:
    """All that pages are made from: path below the kept folder -> content."""
    book = [root / "_toc.yml", *(path for path in (root / "book").rglob("*") if path.is_file())]
    content = {f"stage/{path.relative_to(root).as_posix()}": path.read_bytes() for path in book}
    paths = [*(edition / "results").glob("*.json"), *(edition / "notebooks").glob("*.ipynb")]
    paths += [edition / "ledger.json", edition / "data" / "truth.json", edition / "data" / EXPECTED]
    paths.append(edition / EXAMPLE)
    content |= {
        f"edition/{path.relative_to(edition)}": path.read_bytes() for path in paths if path.exists()
    }
    content["edition/edition.json"] = json.dumps(facts, indent=1, sort_keys=True).encode()
    for path in (edition / "notebooks").glob("*.ipynb"):
        node = json.loads(path.read_text(encoding="utf-8"))
        for cell in node["cells"]:
            for shown in cell.get("outputs", ()):
                shown.get("data", {}).pop(OUTPUTS, None)  # what notebooks show elsewhere
            tags = cell["metadata"].setdefault("tags", [])
            sets_up = "import sense7 as s7" in "".join(cell["source"]) and not cell.get("outputs")
            if cell["cell_type"] == "code" and (
                sets_up or {"parameters", "injected-parameters"} & set(tags)
            ):
                tags.append(
                    "remove-cell"
                )  # where files lie and how they are loaded: the notebook has it
        content[f"stage/notebooks/{path.name}"] = json.dumps(node, ensure_ascii=False).encode()
    return content


def _configuration(config: Mapping, facts: Mapping, edition: Path) -> bytes:
    """Jupyter Book's configuration with the edition's banner and folder."""
    config = copy.deepcopy(config)
    sphinx = config["sphinx"]["config"]
    options = sphinx["html_theme_options"]
    options["announcement"] = facts["label"]  # each page puts the banner in its place
    if not paper.KINDS[facts["kind"]].has_truth:
        # Binder and Colab would open the notebook on the repository's own data, not on what the page shows.
        options["launch_buttons"] = {}
    options["repository_url"] = config["repository"]["url"]
    options["repository_branch"] = REVISION
    sphinx["sense7_edition"] = str(edition)
    address = _published_address(facts["name"])
    if address:
        sphinx["html_baseurl"] = sphinx["ogp_site_url"] = address
    # Of the editions only this one's name: which others there are stands outside, so that no page changes by them.
    own = {"defer": "defer", "data-edition": facts["name"]}
    sphinx["html_js_files"] = [*sphinx.get("html_js_files", []), ["editions.js", own]]
    # The extension for PDF numbers figures and tables in HTML as well, for which every page is gone through again.
    config.setdefault("latex", {})["use_jupyterbook_latex"] = False
    return yaml.safe_dump(config, sort_keys=False).encode()


def _published_address(name: str) -> str:
    """Where GitHub's Pages show an edition that is built on GitHub Actions; "" elsewhere."""
    owner, _, repository = os.environ.get("GITHUB_REPOSITORY", "").partition("/")
    server = os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
    if not repository or server != "https://github.com":
        return ""
    return f"https://{owner.lower()}.github.io/{repository}/editions/{quote(name)}/html/"


def _frame(root: Path, sources: Mapping[str, bytes], facts: Mapping, config: Mapping) -> str:
    """SHA-256 of all that more than one page depends on."""
    made_by = [
        path for name in _MAKERS for path in (_PACKAGE / name, *(_PACKAGE / name).rglob("*"))
    ]
    code = [*_PACKAGE.glob("*"), *made_by]
    parts = {
        "config": config,
        "facts": {name: value for name, value in facts.items() if not name.startswith("verdicts")},
        "packages": environment_of(root),
        "code": digest_files(
            [path for path in code if path.is_file() and path.suffix != ".pyc"], _PACKAGE
        ),
    }
    for name, content in sources.items():
        if name.startswith("edition/results/"):
            # Where a value stands; what it is concerns the pages that show it.
            parts[name] = [
                [value["key"], value["notebook"], value["cell"]] for value in json.loads(content)
            ]
        elif name == "edition/ledger.json":
            rows = json.loads(content)
            parts[name] = [
                [row["id"], row["tuned"], (row["computed"] or {}).get("key")] for row in rows
            ]
        elif name.startswith("stage/notebooks"):
            cells = [
                cell for cell in json.loads(content)["cells"] if cell["cell_type"] == "markdown"
            ]
            lines = (line for cell in cells for line in "".join(cell["source"]).splitlines())
            parts[name] = [line for line in lines if _SEEN_ELSEWHERE.match(line)]
        elif name != "edition/edition.json" and not name.startswith("edition/notebooks/"):
            parts[name] = hashlib.sha256(content).hexdigest()
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


# --- what every page says of its data, and of how it was made ----------------------------


def banner(
    facts: Mapping, dataset_page: str = f"{paper.DATA_PAGE}.html", *, released: bool = False
) -> str:
    """What a page says of its data, as HTML; all that comes from outside is escaped.

    ``dataset_page`` lists the reader's warnings. A page that rests on ``released`` ratings of other studies alone has
    their line: the edition's would call real ratings simulated, in the synthetic edition.
    """
    return _PROVENANCE.banner(facts, released, dataset_page)


def label(facts: Mapping, *, released: bool = False) -> str:
    """What data a page shows, in a few words, for its title and for paper."""
    return html.unescape(str(_PROVENANCE.label(facts, released)))


def shows(facts: Mapping) -> str:
    """What an edition shows of its own data, as a sentence of the front page."""
    if paper.KINDS[facts["kind"]].has_truth:
        return (
            "A rehearsal on simulated data: how much the method finds of what the simulation has. "
            "None of these numbers is a finding."
        )
    return f"{label(facts)}."


def describe(facts: Mapping, page: str = "") -> str:
    """What a page, named without ending, says of how it was made, as HTML; all that comes from outside is escaped."""
    made, parameters, tables = facts["made"], facts["parameters"], []
    notebook = page.removeprefix("notebooks/")
    if page != notebook and notebook in made["notebooks"]:
        given = made["notebooks"][notebook]
        parameters = ", ".join(f"{key} = {value!r}" for key, value in given.items()) or "none"
        tables = [paper.RELEASED[name] for name in made.get("released", {}).get(notebook, ())]
    return _PROVENANCE.made(
        facts, parameters, tables, describe_code(made) if "commit" in made else CODE
    )


def describe_code(made: Mapping) -> str:
    """Which commit and library made an edition, in words.

    >>> describe_code({"commit": "1a2b", "changed": True, "library": "3c4d"})
    'commit 1a2b, with changes that are not committed; library SHA-256 3c4d'
    """
    changed = ", with changes that are not committed" if made["changed"] else ""
    return (
        f"commit {made['commit'] or 'not known'}{changed}; library SHA-256 {made['library'][:12]}"
    )
