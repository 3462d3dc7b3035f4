"""The notebooks and the book beside papermill and Jupyter Book alone, each in a copy of the checkout.

    python evidence/benchmarks/book.py pipeline FOLDER    our execution of all notebooks, nothing cached
    python evidence/benchmarks/book.py papermill FOLDER   the peer: one after another, each in a fresh kernel
    python evidence/benchmarks/book.py profile FILE       a build, and how long its steps took

A side that is measured by itself is a program, so that its start counts as well.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from measuring import ROOT, SENSE7, Counts, Row, run, say, timed

EDITED = "02-ratings"
"""The notebook that is edited."""

KEPT_WHEN_TINY = ("02-ratings", "16-coverage")
BOOK = [*SENSE7, "build", "synthetic", "--quiet"]


# --- copies ----------------------------------------------------------------------------


@contextmanager
def copied_checkout(counts: Counts) -> Iterator[Path]:
    """A copy of all that git knows of, and of what is new; nothing in it was ever built."""
    with tempfile.TemporaryDirectory(prefix="sense7-bench-") as folder:
        root = Path(folder) / "checkout"
        listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listing, check=True, capture_output=True, text=True).stdout  # noqa: S603 - commands of our own
        for name in filter(None, files.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, root / name)
        if counts.tiny:
            make_tiny(root)
        yield root


def make_tiny(root: Path) -> None:
    """Leave a front page, the conversations and few notebooks."""
    for path in (root / "notebooks").glob("*"):
        if path.stem not in KEPT_WHEN_TINY:
            path.unlink()
    shutil.rmtree(root / "data" / "synthetic_judge")  # predictions, which none of these notebooks takes
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["config"]["suppress_warnings"] = ["myst.xref_missing", "ref.term"]  # pages that are left out
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (root / "book" / "index.md").write_text("# Front\n\nText.\n", encoding="utf-8")
    pages = ["book/explorer", "book/cite", *(f"notebooks/{name}" for name in KEPT_WHEN_TINY)]
    toc = {"format": "jb-book", "root": "book/index", "chapters": [{"file": page} for page in pages]}
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    claims = yaml.safe_load((root / "data" / "claims.yml").read_text(encoding="utf-8"))
    for claim in claims:
        if claim["notebook"] not in KEPT_WHEN_TINY:
            claim |= {"notebook": None, "key": None, "why_not": "its notebook is left out"}
    (root / "data" / "claims.yml").write_text(yaml.safe_dump(claims), encoding="utf-8")


def values_of(folder: Path) -> dict[str, dict]:
    """Recorded values; not the number of the cell, which what is injected moves."""
    found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return {
        f"{name} {value['key']}": {key: part for key, part in value.items() if key != "cell"}
        for name, values in found.items()
        for value in values
    }


# --- programs --------------------------------------------------------------------------


def jobs_in(edition: Path) -> dict:
    """What is to be executed, with the data of the default edition beside it."""
    from sense7 import sources
    from sense7.book.ledger import read_truth
    from sense7.book.plan import plan_jobs
    from sense7.checkout import find_checkout
    from sense7.loading import load
    from sense7.record import write_json

    path, provenance = sources.resolve("synthetic")
    sources.copy_for_edition(path, provenance, edition / "data")
    truth = read_truth(path.with_name(f"{path.stem}_truth.json"), load("synthetic"))
    write_json(edition / "data" / "truth.json", truth)
    given = {"data": f"../data/{provenance.file}", "results": "../results"}
    return plan_jobs(find_checkout(), given, provenance.sha256, [])


def execute_by_pipeline(folder: Path) -> None:
    """All notebooks as the build executes them on this machine."""
    from sense7.book.scheduler import ThisMachine

    edition = folder / "edition"
    ThisMachine().run(jobs_in(edition), edition, folder / "cache")


def execute_by_papermill(folder: Path) -> None:
    """All notebooks one after another."""
    import papermill

    from sense7.book.notebooks import to_ipynb

    edition = folder / "edition"
    for part in ("given", "notebooks", "results"):
        (edition / part).mkdir(parents=True)
    for name, job in jobs_in(edition).items():
        given = edition / "given" / f"{name}.ipynb"
        given.write_text(to_ipynb(job.notebook), encoding="utf-8")
        done = edition / "notebooks" / f"{name}.ipynb"
        papermill.execute_notebook(
            given, done, job.parameters, cwd=edition / "notebooks", kernel_name="python3", progress_bar=False
        )


def profile_build(file: Path) -> None:
    """Build the book with a clock on its steps: name of a step -> seconds; and of each notebook."""
    from sense7 import sources
    from sense7.book import build, execute, inputs, jupyter_book, scheduler

    steps: dict[str, float] = {}
    notebooks: dict[str, float] = {}

    def clocked(owner: object, name: str, step: str) -> None:
        inner = getattr(owner, name)

        def timing(*arguments, **options):
            start = time.perf_counter()
            try:
                return inner(*arguments, **options)
            finally:
                steps[step] = steps.get(step, 0.0) + time.perf_counter() - start

        setattr(owner, name, timing)

    def first_fork(self, *arguments, inner=execute.Nursery.fork, **options):
        start = time.perf_counter()
        try:
            return inner(self, *arguments, **options)
        finally:
            steps.setdefault("kernels", time.perf_counter() - start)

    def one(job, *arguments, inner=execute._execute):
        start = time.perf_counter()
        inner(job, *arguments)
        notebooks[job.notebook.name] = time.perf_counter() - start

    execute.Nursery.fork, execute._execute = first_fork, one
    clocked(sources, "resolve", "resolving")
    clocked(build, "load", "reading")
    clocked(inputs, "plan_jobs", "planning")
    clocked(scheduler, "run", "notebooks")
    clocked(build, "write_ledger", "ledger")
    clocked(jupyter_book.JupyterBook, "finish", "pages")
    clocked(build, "_complete_pages", "beside")
    start = time.perf_counter()
    build.build_edition("synthetic")
    steps["whole"] = time.perf_counter() - start
    file.write_text(json.dumps({"steps": steps, "notebooks": notebooks}), encoding="utf-8")


def prepare_for_jupyter_book(root: Path, stage: Path) -> list[str | Path]:
    """The same pages and notebooks, to be executed by Jupyter Book itself; give the arguments to Python.

    What the roles of its pages weave into prose lies in the finished edition.
    """
    from sense7.book.editions import edition_folder
    from sense7.book.notebooks import find_notebooks, to_ipynb

    shutil.copytree(root / "book", stage / "book")
    shutil.copyfile(root / "_toc.yml", stage / "_toc.yml")
    (stage / "notebooks").mkdir()
    for notebook in find_notebooks(root):
        (stage / "notebooks" / f"{notebook.name}.ipynb").write_text(to_ipynb(notebook), encoding="utf-8")
    edition = edition_folder(root, "synthetic")
    shutil.copytree(edition / "results", stage / "_build" / "interactive" / "results")
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["execute"] = {"execute_notebooks": "force", "timeout": 1200}
    config["sphinx"]["config"] |= {"sense7_edition": str(edition), "nb_execution_raise_on_error": True}
    repository = {f"repository_{part}": config["repository"][part] for part in ("url", "branch")}
    config["sphinx"]["config"]["html_theme_options"] |= repository
    (stage / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    program = ["-c", "from jupyter_book.cli.main import main; main()", "build", stage]
    return [*program, "--path-output", stage / "pages", "--all", "--quiet"]


# --- measured --------------------------------------------------------------------------


def notebooks(counts: Counts) -> list[Row]:
    """Execution of all notebooks, nothing cached, nothing warm."""
    row = Row(
        "notebooks",
        "executing all notebooks, cold, start of the warm kernels included",
        "papermill, one after another, fresh kernels",
        "at most a sixth of its time",
        ratio_at_least=6,
    )
    return [executed_in_turn(row, counts, [__file__, "pipeline"], [__file__, "papermill"])]


def executed_in_turn(row: Row, counts: Counts, ours: list, theirs: list) -> Row:
    """Execute all notebooks by two programs in turn, whose last argument is a folder; both have to record the same."""
    with copied_checkout(counts) as root:
        for number in range(counts.long_pairs):
            with tempfile.TemporaryDirectory() as scratch:
                programs, times, values = {"ours": ours, "theirs": theirs}, {}, {}
                for name in sorted(programs, reverse=bool(number % 2)):
                    folder = Path(scratch) / name
                    command = [sys.executable, *programs[name], folder]
                    times[name] = timed(lambda command=command: run(command, root=root))
                    values[name] = values_of(folder / "edition" / "results")
                    say(f"{row.key}: pair {number + 1} of {counts.long_pairs}: {name} {times[name]:.1f} s")
                assert values["ours"] == values["theirs"]
                row.ours.append(times["ours"])
                row.theirs.append(times["theirs"])
    row.note = f"All {len(values['ours']):,} recorded values were equal."
    return row


def pages_of(html: Path) -> set[Path]:
    """Pages of the book and of its notebooks."""
    return {path.relative_to(html) for part in ("book", "notebooks") for path in (html / part).rglob("*.html")}


def edit(root: Path, old: str, new: str) -> None:
    """Change a notebook's text in one place."""
    path = root / "notebooks" / f"{EDITED}.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def empty_caches(folder: Path) -> dict[str, str]:
    """Nothing that an installer downloaded before is found."""
    return {"PIP_CACHE_DIR": str(folder / "pip"), "UV_CACHE_DIR": str(folder / "uv")}


def install_with_pip(root: Path, environment: Path) -> None:
    """Make an environment as one would without this project's Makefile: the same packages, the same hashes."""
    run(["python3", "-m", "venv", environment], root=root)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    with tempfile.TemporaryDirectory() as scratch:
        run([*pip, "--require-hashes", "-r", "requirements.lock"], root=root, **empty_caches(Path(scratch)))
        run([*pip, "--no-index", "--no-deps", "--no-build-isolation", "-e", "."], root=root)


def set_up(root: Path) -> None:
    """Make the environment as this project does."""
    with tempfile.TemporaryDirectory() as scratch:
        run(["make", "setup"], root=root, **empty_caches(Path(scratch)))


def book(counts: Counts) -> list[Row]:
    """From nothing to the whole book; the same again; and after an edit."""
    pip = "python -m venv and pip install, with the same lock and hashes"
    alone = "jupyter-book build of the same notebooks, execute_notebooks: force"
    rows = {
        "setup": Row("setup", "set-up, nothing downloaded before", pip, "4 times as fast", ratio_at_least=4),
        "nothing": Row(
            "from_nothing",
            "from a fresh clone to the whole book, set-up included",
            f"{pip}; {alone}",
            "4 times as fast",
            ratio_at_least=4,
        ),
        "cold": Row("book_cold", "whole book, cold", alone, "4 times as fast", ratio_at_least=4),
        "again": Row("book_unchanged", "whole book, nothing changed", "cold build", "at most 0.5 s", at_most=0.5),
        "prose": Row(
            "book_edited_prose",
            "one notebook edited: a line of prose",
            "cold build",
            "15 times as fast",
            ratio_at_least=15,
        ),
        "code": Row(
            "book_edited_code",
            "one notebook edited: a line of code",
            "cold build",
            "10 times as fast",
            ratio_at_least=10,
        ),
    }
    for number in range(counts.long_pairs):
        times = _one_round(number, counts)
        times["nothing"] = times["setup"] + times["cold"]
        times["nothing, otherwise"] = times["pip"] + times["alone"]
        peers = {"setup": "pip", "nothing": "nothing, otherwise", "cold": "alone"}
        for name, row in rows.items():
            row.ours.append(times[name])
            row.theirs.append(times[peers.get(name, "cold")])
    rows["nothing"].note = "Both sides added up from their two steps; cloning, the same on both, is left out."
    rows["cold"].note = "The same pages and recorded values."
    return list(rows.values())


def _one_round(number: int, counts: Counts) -> dict[str, float]:
    """Seconds of each step, both sides in a copy of the checkout with environments of their own."""
    times = {}

    def step(name: str, work: Callable[[], object]) -> None:
        times[name] = timed(work)
        say(f"book: round {number + 1} of {counts.long_pairs}: {name} {times[name]:.1f} s")

    with copied_checkout(counts) as root:
        ours, pip = root / ".venv", root / ".venv-pip"
        # What comes first in a round changes, since files that were just read are read faster again.
        setups = [("pip", lambda: install_with_pip(root, pip)), ("setup", lambda: set_up(root))]
        for name, work in setups[:: -1 if number % 2 else 1]:
            step(name, work)
        build = [ours / "bin" / "sense7", "build", "synthetic", "--quiet"]
        step("cold", lambda: run(build, root=root))
        step("again", lambda: run(build, root=root))
        edit(root, "\n## ", f"\nAn edited line {'more ' * number}of prose.\n\n## ")
        step("prose", lambda: run(build, root=root))
        edit(root, "import sense7 as s7\n", f"import sense7 as s7\n\nassert {number} >= 0\n")
        step("code", lambda: run(build, root=root))
        with tempfile.TemporaryDirectory() as scratch:
            stage, edition = Path(scratch) / "stage", root / "_build" / "editions" / "synthetic"
            path = f"{pip / 'bin'}:{os.environ['PATH']}"  # its kernels are those of the same environment
            command = [pip / "bin" / "python", *prepare_for_jupyter_book(root, stage)]
            step("alone", lambda: run(command, root=root, PYTHONWARNINGS="ignore", PATH=path))
            assert values_of(stage / "_build" / "interactive" / "results") == values_of(edition / "results")
            pages = [pages_of(html) for html in (stage / "pages" / "_build" / "html", edition / "html")]
            assert pages[0] == pages[1]
    return times


STEPS = {
    "start": "start of Python and imports",
    "resolving": "resolving the data set",
    "planning": "checking the notebooks, and what each depends on",
    "reading": "reading and validating the workbook",
    "kernels": "notebooks: waiting for the warm kernels",
    "notebooks": "notebooks: their own work",
    "ledger": "ledger",
    "pages": "pages: what Jupyter Book has left to do when the notebooks are done",
    "beside": "pages: what is added to them, such as the conversations",
    "rest": "the rest",
}


def profile(counts: Counts) -> dict:
    """Seconds of each step of one cold build, and of each notebook."""
    with copied_checkout(counts) as root:
        file = root / "profile.json"
        whole = timed(lambda: run([sys.executable, __file__, "profile", file], root=root))
        found = json.loads(file.read_text(encoding="utf-8"))
    steps = found["steps"]
    steps["start"] = whole - steps.pop("whole")
    steps["notebooks"] -= steps.get("kernels", 0.0)
    steps["rest"] = whole - sum(steps.values())
    return {
        "steps": [{"key": key, "step": words, "seconds": steps.get(key, 0.0)} for key, words in STEPS.items()],
        "notebooks": dict(sorted(found["notebooks"].items(), key=lambda item: -item[1])),
        "seconds": whole,
    }


ENTRIES = {"notebooks": notebooks, "book": book}


if __name__ == "__main__":
    programs = {"pipeline": execute_by_pipeline, "papermill": execute_by_papermill, "profile": profile_build}
    programs[sys.argv[1]](Path(sys.argv[2]))
