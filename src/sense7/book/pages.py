"""The pages of an edition, made by Jupyter Book; Sphinx reads those again whose sources changed.

``_build/pages/NAME`` keeps the sources of an edition's last pages, and what Sphinx keeps of them. All that more than
one page depends on is the *frame*, a value of Sphinx's configuration: under another one all pages are made again.
"""

import contextlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from sense7.book.assets import write_styles
from sense7.book.code import PACKAGE, digest_files, environment_of, is_source
from sense7.book.run import digest_of_values
from sense7.book.words import CODE, PROVENANCE
from sense7.errors import BuildError
from sense7.expected import FILE as EXPECTED
from sense7.files import disk_trouble, read_json
from sense7.outputs import OUTPUTS
from sense7.processes import KILLED, NO_MEMORY, without_keys

REVISION = "sense7-revision"
"""Stands in links to the repository for the commit that the pages were made from."""

FRONT_PAGES = {"synthetic": "index.md", "official": "index-official.md"}
"""Kind of data -> source of the front page; of all others index-own.md."""

_MAKERS = ("book", "figures", "simulate/parameters.py")
"""Parts of the library that make pages, besides the modules of the top level; pages name what else they depend on."""


def make_pages(
    root: Path,
    edition: Path,
    facts: Mapping,
    config: dict,
    folder: Path,
    jupyter_book: Callable,
    further_files: Callable,
) -> None:
    """Make the folder html of an edition in the making, whose results, notebooks, ledger and facts are there.

    ``folder`` is the edition's below ``_build/pages``; ``jupyter_book`` is that of :func:`jupyter_book_waiting`;
    ``further_files`` gives the files that are not made by it: path below html -> text.

    Warnings are errors: BuildError quotes what Jupyter Book complained of.
    """
    # Without the commit and the library, which are put in afterwards: no page is made again for another one.
    of_code = {"changed", "commit", "library"}
    steady = {name: value for name, value in facts["made"].items() if name not in of_code}
    steady_facts = {**facts, "made": steady}
    content = _sources(root, edition, steady_facts)
    frame = frame_digest(root, content, steady_facts)
    content["stage/_config.yml"] = _configuration(config, facts, folder / "edition", frame)
    failed = folder / "failed"
    if failed.exists():  # of what a failed build kept nobody knows which pages are whole
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed.touch()
    # What changed, and only that: Sphinx goes by the times of files.
    for part in ("edition", "stage"):
        for path in list((folder / part).rglob("*")):
            if path.is_file() and path.relative_to(folder).as_posix() not in content:
                path.unlink()
    for name, text in content.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
    files = jupyter_book(further_files)
    pages = Path(shutil.copytree(folder / "html", edition / "html"))
    failed.unlink()
    for name, text in files.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(text, "utf-8", newline="\n")
    words = PROVENANCE.code(facts["made"]).encode()
    revision = facts["made"]["commit"] or config["repository"]["branch"]
    for path in pages.rglob("*.html"):
        page = path.read_bytes().replace(CODE.encode(), words)
        path.write_bytes(page.replace(REVISION.encode(), html.escape(revision).encode()))
    write_styles(pages, config["sphinx"]["config"]["html_css_files"])
    (pages / ".nojekyll").touch()  # else GitHub's Pages leave out folders such as _static


@contextlib.contextmanager
def jupyter_book_waiting(folder: Path) -> Iterator[Callable[[Callable], object]]:
    """Have a process import Jupyter Book, until a function is called that makes the pages of ``folder``.

    Meanwhile the function calls its argument, and returns what that returns.
    """
    # -P: no module of the working directory is taken.
    command = [sys.executable, "-P", "-X", "utf8", "-m", "sense7.book.jupyter_book", str(folder)]
    environment = {**without_keys(), "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"}
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
    # The exit code alone is not to be trusted: Jupyter Book has been seen to end with 0 after errors.
    if not code and not problems:
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
            has_parameters = {"parameters", "injected-parameters"} & set(tags)
            if cell["cell_type"] == "code" and (sets_up or has_parameters):
                # Where files lie and how they are loaded: the notebook has it.
                tags.append("remove-cell")
        content[f"stage/notebooks/{path.name}"] = json.dumps(node, ensure_ascii=False).encode()
    return content


def _configuration(config: dict, facts: Mapping, edition: Path, frame: str) -> bytes:
    """Give Jupyter Book's configuration the edition's banner and folder."""
    sphinx = config["sphinx"]["config"]
    options = sphinx["html_theme_options"]
    options["announcement"] = facts["label"]  # each page puts the banner in its place
    if facts["kind"] != "synthetic":
        # Binder and Colab would open the notebook on the repository's own data, not on what the page shows.
        options["launch_buttons"] = {}
    options["repository_branch"] = REVISION
    sphinx["sense7_edition"] = str(edition)
    sphinx["sense7_frame"] = frame
    # Of the editions only this one's name: which others there are stands outside, so that no page changes by them.
    attributes = {"defer": "defer", "data-edition": facts["name"]}
    sphinx["html_js_files"] = [*sphinx.get("html_js_files", []), ["editions.js", attributes]]
    return yaml.safe_dump(config, sort_keys=False).encode()


_OF_LEDGER = {"verdicts", "verdicts_of_other_works", "rehearsal"}
"""Facts that only pages with them show."""


def frame_digest(root: Path, sources: Mapping[str, bytes], facts: Mapping) -> str:
    """SHA-256 of all that more than one page depends on, besides the configuration."""
    code = [*PACKAGE.glob("*")]
    for name in _MAKERS:
        code += [PACKAGE / name, *(PACKAGE / name).rglob("*")]
    templates = {}
    for name, content in sources.items():
        if name.startswith("stage/") and not name.endswith((".md", ".ipynb")):
            templates[name] = content
    return digest_of_values(
        [
            {name: value for name, value in facts.items() if name not in _OF_LEDGER},
            environment_of(root),
            digest_files(filter(is_source, code), PACKAGE),
            templates,
        ]
    )
