"""The pages of an edition, made by one `jupyter-book build`; of notebooks, only those that changed since the last time.

``_build/pages/NAME`` keeps what the last pages of an edition were made from, and what Sphinx keeps of them, so that
Sphinx reads only what changed: notebooks, and pages that show a value of a notebook whose values did. All that more
than one page depends on is the *frame*: under another one, and after a build that failed, all is made again. The pages
are those that a first build makes; a test compares them to the byte.
"""

import contextlib
import copy
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

from sense7.book.assets import share_assets
from sense7.book.code import PACKAGE, digest_files, environment_of, is_source
from sense7.book.editions import DATA_PAGE
from sense7.errors import BuildError
from sense7.expected import FILE as EXPECTED
from sense7.files import digest_of, disk_trouble, read_json, write_whole
from sense7.outputs import OUTPUTS
from sense7.processes import KILLED, NO_MEMORY, without_keys
from sense7.sources.released import RELEASED

CODE = "sense7:code"
"""Stands on a page for what :func:`describe_code` says, which every commit and the first edit after it change."""

FRONT_PAGES = {"synthetic": "index.md", "official": "index-official.md"}
"""Kind of data -> source of the front page; of all others index-own.md."""

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
TEMPLATES = Environment(loader=PackageLoader("sense7.book", "extensions"), autoescape=True)
_PROVENANCE = TEMPLATES.get_template("provenance.html").module
_MAKERS = ("book", "figures", "simulate/parameters.py")
"""What makes pages, besides the modules of the top level; pages name what else they depend on."""

_OLD = 1
"""Time of every file that pages are made from, in seconds since 1970: see :mod:`sense7.book.extensions.changed`."""

_SEEN_ELSEWHERE = re.compile(r"#|\(.*\)=|.*\{(cite|index|glossary|bibliography)")
"""Lines of a notebook's prose that show on other pages: headings, names to refer to, sources cited."""


def make_pages(
    root: Path, edition: Path, facts: Mapping, config: dict, folder: Path, jupyter_book, page_files
) -> None:
    """Make the folder html of an edition in the making, whose results, notebooks, ledger and facts are there.

    ``folder`` is the edition's below ``_build/pages``; ``jupyter_book`` is what :func:`jupyter_book_waiting` gives;
    ``page_files`` gives the files of the page that is made from data without a notebook.

    Warnings are errors: BuildError quotes what Jupyter Book complained of.
    """
    # Without the commit and the library, which are put in afterwards: no page is made again for another one.
    of_code = {"changed", "commit", "library"}
    how_made = {name: value for name, value in facts["made"].items() if name not in of_code}
    steady_facts = {**facts, "made": how_made}
    content = _sources(root, edition, steady_facts)
    frame = frame_digest(root, content, steady_facts, config)
    mark = folder / "frame"
    if not mark.exists() or mark.read_text("utf-8") != frame:
        shutil.rmtree(folder, ignore_errors=True)
    mark.unlink(missing_ok=True)
    content["stage/_config.yml"] = _configuration(config, facts, folder / "edition")
    # What changed, and only that: which pages that concerns, the extension `changed` says.
    for part in ("edition", "stage"):
        for path in list((folder / part).rglob("*")):
            if path.is_file() and path.relative_to(folder).as_posix() not in content:
                path.unlink()
    for name, text in content.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            os.utime(path, (_OLD, _OLD))
    # MyST-NB writes its style sheet last, so that a page names its content only where one is there already.
    html_folder = folder / "pages" / "_build" / "html"
    for style in (html_folder / "_static").glob("mystnb.*.css"):
        style.unlink()
    files = jupyter_book(page_files)
    pages = Path(shutil.copytree(html_folder, edition / "html"))
    mark.write_text(frame, "utf-8")
    if (pages / "book/explorer.html").exists():
        for name, text in files.items():
            write_whole(pages / name, text, replace=True)
    words = html.escape(describe_code(facts["made"])).encode()
    revision = facts["made"]["commit"] or config["repository"]["branch"]
    for path in pages.rglob("*.html"):
        page = path.read_bytes().replace(CODE.encode(), words)
        path.write_bytes(page.replace(REVISION.encode(), html.escape(revision).encode()))
    share_assets(pages)


@contextlib.contextmanager
def jupyter_book_waiting(config: Mapping, folder: Path) -> Iterator[Callable[[Callable], object]]:
    """Have a process import what makes pages, until a function is called that makes them; nothing of it is left.

    Meanwhile the function calls what it is given, and gives what that gives.
    """
    modules = ["jupyter_book.cli.main", "jupyter_book.sphinx", "myst_nb.sphinx_ext"]
    modules += config["sphinx"]["config"]["extensions"]
    # -P: no module of the working directory is taken.
    command = [sys.executable, "-P", "-X", "utf8", "-c", _JUPYTER_BOOK]
    command += ["build", str(folder / "stage"), "--path-output", str(folder / "pages")]
    command += ["-W", "-n", "--keep-going", "--quiet", " ".join(modules)]
    environment = without_keys()
    environment["NO_COLOR"] = "1"
    environment["PYTHONWARNINGS"] = "ignore"
    environment["PYTHONHASHSEED"] = "0"
    # Sphinx would write its year where _config.yml gives another.
    environment.pop("SOURCE_DATE_EPOCH", None)
    with subprocess.Popen(  # noqa: S603 -- our own words
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    ) as process:

        def run(meanwhile: Callable) -> object:
            with contextlib.suppress(BrokenPipeError):  # what it died of is in what it wrote
                process.stdin.write(b"\n")
            result = meanwhile()
            log = process.stdout.read().decode("utf-8", "replace")
            _require_pages(re.sub(r"\x1b\[[0-9;]*m", "", log), process.wait(), folder)
            return result

        try:
            yield run
        finally:
            process.kill()


def _require_pages(log: str, code: int, folder: Path) -> None:
    """Refuse pages that Jupyter Book complained of."""
    lines = log.strip().replace(f"{folder / 'stage'}{os.sep}", "").splitlines()
    problems = [line for line in lines if re.search(r"WARNING|ERROR", line)]
    is_made = (folder / "pages" / "_build" / "html" / "index.html").exists()
    # The exit code alone is not to be trusted: Jupyter Book has been seen to end with 0 after errors.
    if is_made and not code and not problems:
        return
    full_disk = disk_trouble(log)
    if full_disk is not None:
        raise full_disk
    if code == KILLED:
        raise BuildError(f"the pages could not be made: Jupyter Book was killed. {NO_MEMORY}")
    if not problems:
        problems = re.findall(r"^[\w.]*(?:Error|Exception): .*\S", log, flags=re.MULTILINE)
        problems += lines[-15:]
    raise BuildError("\n  ".join(["the pages could not be made:", *problems]))


def _sources(root: Path, edition: Path, facts: Mapping) -> dict[str, bytes]:
    """All that pages are made from: path below the kept folder -> content."""
    book = [root / "_toc.yml", *(path for path in (root / "book").rglob("*") if path.is_file())]
    content = {f"stage/{path.relative_to(root).as_posix()}": path.read_bytes() for path in book}
    paths = [*(edition / "results").glob("*.json"), *(edition / "notebooks").glob("*.ipynb")]
    front = root / "book" / FRONT_PAGES.get(facts["kind"], "index-own.md")
    if front.exists():
        content["stage/book/index.md"] = front.read_bytes()
    paths += [edition / "ledger.json", edition / "data" / EXPECTED]
    for path in paths:
        if path.exists():
            content[f"edition/{path.relative_to(edition)}"] = path.read_bytes()
    content["edition/edition.json"] = json.dumps(facts, indent=1, sort_keys=True).encode()
    for path in (edition / "notebooks").glob("*.ipynb"):
        node = read_json(path)
        for cell in node["cells"]:
            for output in cell.get("outputs", ()):
                output.get("data", {}).pop(OUTPUTS, None)  # what notebooks show elsewhere
            tags = cell["metadata"].setdefault("tags", [])
            sets_up = "import sense7 as s7" in "".join(cell["source"]) and not cell.get("outputs")
            has_parameters = bool({"parameters", "injected-parameters"} & set(tags))
            if cell["cell_type"] == "code" and (sets_up or has_parameters):
                # Where files lie and how they are loaded: the notebook has it.
                tags.append("remove-cell")
        content[f"stage/notebooks/{path.name}"] = json.dumps(node, ensure_ascii=False).encode()
    return content


def _configuration(config: Mapping, facts: Mapping, edition: Path) -> bytes:
    """Jupyter Book's configuration with the edition's banner and folder."""
    config = copy.deepcopy(config)
    sphinx = config["sphinx"]["config"]
    options = sphinx["html_theme_options"]
    options["announcement"] = facts["label"]  # each page puts the banner in its place
    if facts["kind"] != "synthetic":
        # Binder and Colab would open the notebook on the repository's own data, not on what the page shows.
        options["launch_buttons"] = {}
    options["repository_url"] = config["repository"]["url"]
    options["repository_branch"] = REVISION
    sphinx["sense7_edition"] = str(edition)
    address = _published_address(facts["name"])
    if address:
        sphinx["html_baseurl"] = sphinx["ogp_site_url"] = address
    # Of the editions only this one's name: which others there are stands outside, so that no page changes by them.
    attributes = {"defer": "defer", "data-edition": facts["name"]}
    sphinx["html_js_files"] = [*sphinx.get("html_js_files", []), ["editions.js", attributes]]
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


def frame_digest(root: Path, sources: Mapping[str, bytes], facts: Mapping, config: Mapping) -> str:
    """SHA-256 of all that more than one page depends on."""
    code = [*PACKAGE.glob("*")]
    for name in _MAKERS:
        code += [PACKAGE / name, *(PACKAGE / name).rglob("*")]
    parts = {
        "config": config,
        "facts": {
            name: value
            for name, value in facts.items()
            if not name.startswith(("verdicts", "rehearsal"))
        },
        "packages": environment_of(root),
        "code": digest_files(filter(is_source, code), PACKAGE),
    }
    for name, content in sources.items():
        if name == "edition/edition.json" or name.startswith("edition/notebooks/"):
            continue
        if name.startswith("edition/results/"):
            # Where a value stands; what it is concerns the pages that show it.
            values = json.loads(content)
            parts[name] = [[value["key"], value["notebook"], value["cell"]] for value in values]
        elif name == "edition/ledger.json":
            parts[name] = []
            for row in json.loads(content):
                key = row["computed"]["key"] if row["computed"] else None
                parts[name].append(
                    [row["id"], row["rehearsal"] and row["rehearsal"]["is_set"], key]
                )
        elif name.startswith("stage/notebooks"):
            parts[name] = []
            for cell in json.loads(content)["cells"]:
                if cell["cell_type"] == "markdown":
                    lines = "".join(cell["source"]).splitlines()
                    parts[name] += [line for line in lines if _SEEN_ELSEWHERE.match(line)]
        else:
            parts[name] = digest_of(content)
    return digest_of(json.dumps(parts, sort_keys=True).encode())


# --- what every page says of its data, and of how it was made ----------------------------


def banner(
    facts: Mapping,
    dataset_page: str = f"{DATA_PAGE}.html",
    *,
    released: bool = False,
    front: bool = False,
) -> str:
    """What a page says of its data, as HTML; all that comes from outside is escaped.

    ``dataset_page`` lists the reader's warnings. A page that rests on ``released`` ratings of other studies alone has
    their line: the edition's would call real ratings simulated, in the synthetic edition.
    """
    return _PROVENANCE.banner(facts, released, dataset_page, front)


def label(facts: Mapping, *, released: bool = False) -> str:
    """What data a page shows, in a few words, for its title and for paper."""
    return html.unescape(str(_PROVENANCE.label(facts, released)))


def describe(facts: Mapping, page: str = "") -> str:
    """What a page, named without ending, says of how it was made, as HTML; all that comes from outside is escaped."""
    how = facts["made"]
    parameters, tables = facts["parameters"], []
    notebook = page.removeprefix("notebooks/")
    if page != notebook and notebook in how["notebooks"]:
        settings = [f"{name} = {value!r}" for name, value in how["notebooks"][notebook].items()]
        parameters = ", ".join(settings) or "none"
        tables = [RELEASED[name] for name in how.get("released", {}).get(notebook, ())]
    code = describe_code(how) if "commit" in how else CODE
    return _PROVENANCE.made(facts, parameters, tables, code)


def describe_code(how: Mapping) -> str:
    """Which commit and library made an edition, in words.

    >>> describe_code({"commit": "1a2b", "changed": True, "library": "3c4d"})
    'commit 1a2b, with changes that are not committed; library SHA-256 3c4d'
    """
    commit = how["commit"] or "not known"
    if how["changed"]:
        commit += ", with changes that are not committed"
    return f"commit {commit}; library SHA-256 {how['library'][:12]}"
