"""An edition: the book of one workbook, complete in one folder.

``_build/editions/NAME`` holds html/, notebooks/ (executed), results/ (recorded values),
ledger.json, edition.json, and data/ with the copy of the workbook that all of it rests
on. A new edition is made beside its place and takes it in one step; if anything fails,
the last good book stays where it was. ``_build/editions/editions.js`` lists the finished ones.
"""

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from sense7 import claims, sources
from sense7.book.editions import JUDGE_LOGS, claim_edition, list_editions, require_same_source, source_of
from sense7.book.execute import SCRATCH, BuildError
from sense7.book.how_made import versions
from sense7.book.jupyter_book import JupyterBook
from sense7.book.notebooks import TextNotebook, find_notebooks, installable_from
from sense7.book.pages import pages_under_way
from sense7.book.plan import Job, digest_files, library_digest, plan
from sense7.book.rerun import write_downloads
from sense7.book.scheduler import connect
from sense7.checkout import commit_of
from sense7.errors import UserError
from sense7.files import disk_trouble, exchange, lock_file, not_written
from sense7.implied import FILE as IMPLIED
from sense7.implied import implied_truths, load_implied
from sense7.judge.predictions import files_to_copy
from sense7.judge.scoring.simulated import is_planted, simulated_files, simulated_folder
from sense7.loading import load, synthetic_marks
from sense7.record import read_values, write_json
from sense7.sources import released
from sense7.study import Study
from sense7.terminal import count_of
from sense7.workbook.options import ReadingOptions
from sense7.workbook.report import warnings_by_kind

if TYPE_CHECKING:
    from sense7.judge.scoring.available_judges import Judges

__all__ = [
    "Built",
    "build_edition",
    "copy_files",
    "data_beside",
    "edition_folder",
    "find_checkout",
    "how_made",
    "plan_jobs",
    "read_config",
    "read_ledger",
    "read_truth",
    "under_way",
    "write_ledger",
]

RESERVED = ("synthetic", *sources.SOURCES)
KEPT_IN_CACHE = 200
_ASIDE = ".last-"
LONGEST_NAME = 100


@dataclass(frozen=True)
class Built:
    """A finished edition.

    Attributes
    ----------
    folder : Path
        Where it lies.
    verdicts : str
        The ledger in one line.
    executed : int
        Number of notebooks that had to be executed.
    changed : bool
        False if everything was up to date already.
    warnings : mapping
        Kind of the reader's warnings about the workbook -> how many, and the number of places.
    """

    folder: Path
    verdicts: str
    executed: int
    changed: bool
    warnings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def index(self) -> Path:
        """Front page."""
        return self.folder / "html" / "index.html"


def find_checkout() -> Path:
    """The checkout to build from.

    Raises
    ------
    UserError
        If there is none.
    """
    root = sources.find_root()
    if root is None:
        raise UserError("no checkout found: run this inside one, or set SENSE7_ROOT to it.")
    return root


def edition_folder(root: Path, name: str) -> Path:
    """Where the edition of a name lies."""
    return root / "_build" / "editions" / name


def read_ledger(root: Path, name: str) -> tuple[list[dict], str]:
    """Ledger of a finished edition, as plain values, and what its data are.

    Raises
    ------
    UserError
        If there is no such edition.
    """
    folder = edition_folder(root, name)
    try:
        rows = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
        facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
    except OSError:
        present = sorted(path.parent.name for path in (root / "_build/editions").glob("*/ledger.json"))
        raise UserError(
            f"there is no edition {name!r} yet (present: {', '.join(present) or 'none'}). "
            f"Build it: make book DATA={name}"
        ) from None
    except ValueError as error:
        raise UserError(
            f"{folder}: its ledger can't be read ({error}). Build it again: make book DATA={name}"
        ) from None
    return rows, facts["label"]


def build_edition(
    data: str,
    *,
    name: str | None = None,
    predictions: str | Path | None = None,
    parameters: Mapping | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    strict: bool = False,
    options: ReadingOptions | None = None,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    program: JupyterBook | None = None,
) -> Built:
    """Build the book of a workbook.

    Parameters
    ----------
    data : str
        A name (``synthetic``, ``official``) or the path of a workbook.
    name : str, optional
        Name of the edition; the data set's name or the file's stem if not given.
    predictions : path, optional
        Folder of a judge's predictions for this data set; if not given, ``predictions_NAME`` of the checkout, or else
        those of the simulated judge that lie beside a synthetic workbook.
    parameters : mapping, optional
        Values for the notebooks' parameters, other than data, predictions and results.
    workers : int, optional
        Notebooks that run at once; one more than there are processors if not given.
    scheduler : str, optional
        Address of a Dask scheduler whose workers execute the notebooks; see :mod:`sense7.book.scheduler`.
    strict : bool
        Whether the reader's warnings are errors.
    options : ReadingOptions, optional
        Scales and words that the user declares; what lies beside the workbook if not given.
    say : callable
        Takes a line about what was done.
    progress : callable
        Takes how many of how many notebooks are ready, and the name of the last.
    program : JupyterBook, optional
        What makes the pages, if it was started already; not used yet.

    Returns
    -------
    Built
        The finished edition.

    Raises
    ------
    UserError
        If the data or the parameters are unfit, or the edition of this name was made from another source.
    BuildError
        If a notebook or a page fails; names it.
    """
    root = find_checkout()
    given, name = _given(parameters), _edition_name(name, data)
    path, provenance = sources.resolve(data)
    place, cache, source = edition_folder(root, name), root / "_build" / "cache", source_of(data, path)
    require_same_source(place, source, provenance.sha256)
    judged = _predictions(root, name, predictions, path)
    # Notebooks read the edition's own copy: whatever becomes of the file meanwhile, the pages show that.
    given |= {"data": f"../data/{provenance.file}", "results": "../results"}
    given |= {"predictions": "../predictions"} if judged else {}
    options = options or ReadingOptions.beside(path)
    jobs = plan_jobs(root, given, options.digest(provenance.sha256), judged)
    # Claims, and below predictions, are needed only when notebooks have run; what is wrong with them is said before.
    claims.load_claims(root / "data" / "claims.yml")
    config = _config(root)
    logged = _logs(judged)
    made = how_made(root, jobs, judged, parameters or {})
    truth_file = path.with_name(f"{path.stem}_truth.json")
    # Of bytes alone: all that reading them gives follows, so that a book that is up to date need not wait for it.
    key = _book_key(root, jobs, replace(provenance, name=name), truth_file, config["repository"], logged, made)
    read = functools.partial(
        load,
        data,
        prompted_condition=given.get("prompted_condition"),
        strict=strict,
        scale=options.scales,
        words=options.words,
        allow_unreadable=options.allow_unreadable,
    )
    study = read() if strict or _up_to_date(place, key) is None else None
    ready: list[str] = []

    def report(notebook: str, fresh: bool) -> None:
        ready.append(notebook)
        say(f"{notebook}: {'executed' if fresh else 'unchanged'}")
        progress(len(ready), len(jobs), notebook)

    judges = _judges(study, judged, say)
    with _naming_the_fix(place), under_way(place.parent, cache, KEPT_IN_CACHE):
        if (finished := _up_to_date(place, key)) is not None:
            list_editions(place.parent)
            return finished
        study = study or read()  # which was not needed a moment ago
        provenance = replace(provenance, name=name, kind=study.provenance.kind)
        judges = _judges(study, judged, say) if judges is None else judges
        truth = _without_other_judges(read_truth(truth_file, study), judges, given.get("judge", ""))
        making = tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{name}-", dir=place.parent)
        with making as scratch, contextlib.nullcontext(program) if program else JupyterBook() as book:
            edition = Path(scratch) / "edition"
            sources.copy_for_edition(path, provenance, edition / "data", options)
            _write_what_was_given(edition, study, truth, judged)
            progress(0, len(jobs), "")
            facts = _facts(name, study, provenance, jobs, options) | {
                "judge_logs": f"{JUDGE_LOGS}/index.html" if logged else "",
                "predictions": _named_predictions(judged, data, path),
                "key": key,
                "made": made,
            }
            with pages_under_way(
                root, facts, config, root / "_build" / "pages" / name, Path(scratch), book
            ) as make_pages:
                with connect(scheduler, workers, shared=cache) as where:
                    executed = where.run(jobs, edition, cache, report=report, say=say)
                facts |= _verdicts_of(write_ledger(root, edition, provenance, truth, jobs))
                write_json(edition / "edition.json", facts)
                say("pages: Jupyter Book")
                explorer = functools.cache(functools.partial(_explorer_files, study))
                pages = make_pages(edition, facts, meanwhile=explorer)
            _complete_pages(root, edition, facts, explorer(), config, judged, pages)
            _replace(edition, place, functools.partial(claim_edition, place, source, provenance.sha256))
        list_editions(place.parent)
    return Built(place, _verdicts(facts), executed, changed=True, warnings=facts["warnings"])


def _write_what_was_given(edition: Path, study: Study, truth: dict | None, judged: Sequence[Path]) -> None:
    """Put what is known of the workbook, and a judge's predictions, into an edition's folder."""
    if truth is not None:
        write_json(edition / "data" / "truth.json", truth)
    write_json(
        edition / "results" / "reader" / "warnings.json", [diagnostic.to_dict() for diagnostic in study.diagnostics]
    )
    copy_files(judged, edition / "predictions")


@contextlib.contextmanager
def _naming_the_fix(place: Path) -> Iterator[None]:
    """Say what to do where a disk is full or a folder not ours, whichever process found out."""
    try:
        yield
    except (OSError, BuildError) as error:
        full = disk_trouble(str(error))
        if full is not None:
            raise UserError(f"{not_written(place, full)} What was finished is kept.") from error
        if isinstance(error, BuildError):
            raise
        raise UserError(
            f"{error.filename or place.parent}: {error.strerror or error}. Is the disk full, or the folder not yours?"
        ) from error


# --- names, keys, facts ----------------------------------------------------------------


def _given(parameters: Mapping | None) -> dict:
    """Parameters of the notebooks that a user may give; the others are refused."""
    given = dict(parameters or {})
    if reserved := sorted({"data", "predictions", "results"} & given.keys()):
        raise UserError(
            f"{', '.join(reserved)}: set by the build itself. Choose the data as DATA=... or as the argument, "
            "and a judge's predictions by --predictions FOLDER."
        )
    return given


def _edition_name(name: str | None, data: str) -> str:
    given = name is not None
    name = name if given else data if data in RESERVED else Path(data).stem
    # Whatever its case: some systems do not tell Official from official.
    if name.casefold() in RESERVED and name != data:
        what = f"--name {name}" if given else data
        raise UserError(
            f"{what}: an edition can't be called {name!r}, which is the name of another data set. "
            f"Give another name: --name my-{name}"
        )
    if len(name) > LONGEST_NAME or not re.fullmatch(r"[^\W_]([\w .+()-]*[\w+()-])?", name):
        other = re.sub(r"[^\w.+()-]+", "-", name)[: LONGEST_NAME // 2].strip("-._+()")
        raise UserError(
            f"{name!r} can't be the name of an edition: letters, digits, spaces and . + - _ ( ), beginning with a "
            f"letter or digit, at most {LONGEST_NAME} of them. Give another: --name {other or 'NAME'}"
        )
    return name


def _predictions(root: Path, name: str, given: str | Path | None, workbook: Path) -> list[Path]:
    """Files of a judge's predictions for an edition; none if it has none.

    Those that a user gives come before those of the simulated judge beside the workbook.
    """
    folder = Path(given).expanduser() if given is not None else root / f"predictions_{name}"
    if given is not None and not folder.is_dir():
        raise UserError(f"{given}: no folder of predictions. Give the one that `sense7 judge run --out` names.")
    files = files_to_copy(folder) if folder.is_dir() else []
    if given is not None and not files:
        raise UserError(f"{given}: holds no prediction file (.xlsx or .csv). Make some: sense7 judge run --out {given}")
    return files or simulated_files(simulated_folder(workbook))


def _named_predictions(judged: Sequence[Path], data: str, workbook: Path) -> str:
    """Name of the folder of predictions, for a notebook that is run elsewhere; "" where the data set brings its own."""
    if not judged or (data == "synthetic" and judged[0].parent == simulated_folder(workbook)):
        return ""
    return judged[0].parent.absolute().name


def plan_jobs(root: Path, given: Mapping, workbook_digest: str, judged: Sequence[Path]) -> dict[str, Job]:
    """What is to be executed, and what each notebook's result depends on."""
    notebooks = find_notebooks(root)
    beside = data_beside(root, notebooks, judged)
    return plan(notebooks, given, workbook_digest, [root / "requirements.lock"], beside)


def data_beside(root: Path, notebooks: Sequence[TextNotebook], judged: Sequence[Path]) -> dict[str, str]:
    """Digests of what some notebooks look at besides the workbook; "" for what is not here."""
    beside = {name: sources.fetched_digest(name) for notebook in notebooks for name in notebook.sources}
    for name in (name for notebook in notebooks for name in notebook.stored):
        path = root / name
        beside[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
    for name in (name for notebook in notebooks for name in notebook.released):
        beside[released.RELEASED[name].file] = released.verified_digest(name)
    if judged:
        beside["predictions"] = digest_files(judged, judged[0].parent)
    return beside


def how_made(root: Path, jobs: Mapping[str, Job], judged: Sequence[Path], parameters: Mapping) -> dict:
    """All that is needed to make an edition again, and to say on its pages how it was made."""
    own = {
        name: {key: value for key, value in (job.notebook.defaults | job.parameters).items() if key != "results"}
        for name, job in jobs.items()
    }
    return {
        "parameters": dict(parameters),
        "notebooks": dict(sorted(own.items())),
        "needs": {name: list(job.notebook.needs) for name, job in sorted(jobs.items()) if job.notebook.needs},
        "released": released_only(jobs),
        "beside": data_beside(root, [job.notebook for job in jobs.values()], judged),
        "versions": versions(),
        **commit_of(root),
        "library": library_digest(skip=()),
    }


def released_only(jobs: Mapping[str, Job]) -> dict[str, list[str]]:
    """Notebooks that rest on released ratings and not on the edition's workbook: name -> tables.

    One that reads the workbook as well may say anything of it, and nothing about another work alone.
    """
    return {
        name: list(job.notebook.released)
        for name, job in sorted(jobs.items())
        if job.notebook.released and "data" not in job.notebook.schemas
    }


def _logs(judged: Sequence[Path]) -> list[Path]:
    """Logs of the sessions that the predictions come from, where what shows them is installed."""
    if not judged or importlib.util.find_spec("inspect_ai") is None:
        return []
    from sense7.judge.asking.logs import LOGS

    return sorted((judged[0].parent / LOGS).glob("*.eval"))


def copy_files(files: Sequence[Path], folder: Path) -> None:
    """Copy files into a folder, which is made if there are any."""
    for file in files:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(file, folder / file.name)


def read_truth(place: Path, study: Study) -> dict | None:
    """Truth of a synthetic workbook, if it is there and belongs to it."""
    if study.provenance.kind != "synthetic":
        return None
    try:
        truth = json.loads(place.read_text(encoding="utf-8"))
        marks = synthetic_marks(study) or {}
        belongs = str(truth["seed"]) == str(marks.get("seed")) and truth["parameters"] == json.loads(
            marks.get("parameters", "null")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return truth if belongs else None


def _judges(study: Study | None, judged: Sequence[Path], say: Callable[[str], None]) -> "Judges | None":
    """The judges of an edition, with what has to be known of their files said; None without files, or not read yet."""
    if study is None or not judged:
        return None
    from sense7.judge.scoring.available_judges import read_runs  # statistics, likewise

    judges = read_runs(study, judged[0].parent)
    for file, note in judges.notes.items():
        say(f"{file}: {note}")
    return judges


def _without_other_judges(truth: dict | None, judges: "Judges | None", judge: str) -> dict | None:
    """The truth, without that of the simulated judge unless the judge that the book shows is that one."""
    if truth is None or "judge" not in truth:
        return truth
    from sense7.judge.scoring.available_judges import chosen_judge

    if judges and is_planted(truth, judges.simulated.get(chosen_judge(judges, judge), ())):
        return truth
    known = [entry for entry in truth["planted"] if not entry["key"].startswith("judge_")]
    return {key: value for key, value in truth.items() if key != "judge"} | {"planted": known}


def _book_key(
    root: Path, jobs: Mapping, provenance, truth: Path, repository: dict, logged: Sequence[Path], made: dict
) -> str:
    """SHA-256 of everything that a finished edition depends on."""
    pages = [path for path in (root / "book").rglob("*") if path.is_file()]
    pages += [root / "_config.yml", root / "_toc.yml", root / "data" / "claims.yml"]
    simulated = [root / "data" / name for name in (IMPLIED, claims.POWER_FILE)]
    parts = {
        "jobs": {name: job.digest for name, job in jobs.items()},
        "notebooks": {name: job.notebook.source for name, job in jobs.items()},
        "pages": digest_files(pages, root),
        "made": made,
        "provenance": provenance.to_dict(),
        "truth": hashlib.sha256(truth.read_bytes()).hexdigest() if truth.is_file() else None,
        "simulated": digest_files([path for path in simulated if path.is_file()], root),
        "repository": repository,
        "logs": digest_files(logged, logged[0].parent) if logged else None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _up_to_date(place: Path, key: str) -> Built | None:
    try:
        facts = json.loads((place / "edition.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if facts.get("key") != key or not (place / "html" / "index.html").exists():
        return None
    return Built(place, _verdicts(facts), 0, changed=False, warnings=facts.get("warnings", {}))


def _verdicts(facts: Mapping) -> str:
    return f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"


def _facts(name: str, study: Study, provenance, jobs: Mapping, options: ReadingOptions) -> dict:
    """What pages may say about their edition, apart from the verdicts."""
    return {
        "name": name,
        "kind": provenance.kind,
        "label": provenance.label,
        "file": provenance.file,
        "sha256": provenance.sha256,
        "origin": _origin(provenance),
        "verified": provenance.verified,
        "fetched": provenance.fetched,
        "credit": provenance.source.acknowledgement if provenance.kind == "third-party" and provenance.source else "",
        "prompted_condition": study.prompted_condition or "not known",
        "prompted_reason": study.prompted_reason,
        "parameters": ", ".join(
            [*(_used(key, jobs) for key in ("confidence", "draws", "seed")), *([str(options)] if options else [])]
        ),
        "warnings": warnings_by_kind(study.warnings),
        "reader_warnings": count_of(len(study.warnings), "warning") if study.warnings else "no warning",
    }


def _verdicts_of(rows: Sequence[claims.Row]) -> dict:
    """What pages may say about the ledger of their edition."""
    return {"verdicts": claims.summarize(rows), "verdicts_of_other_works": claims.summarize_other_works(rows)}


def _origin(provenance) -> str:
    """Where the workbook came from and when, in words."""
    if provenance.address:
        return f"{provenance.address}, fetched {provenance.fetched}"
    if provenance.fetched:
        return f"copied from a local file, whose path is not kept, {provenance.fetched}"
    return "shipped with the project" if provenance.kind == "synthetic" else "a file given by its path"


def _used(key: str, jobs: Mapping) -> str:
    """What a parameter was; where notebooks have different defaults, in which of them."""
    where: dict = {}
    for name, job in jobs.items():
        if key in job.notebook.defaults:
            where.setdefault(job.parameters.get(key, job.notebook.defaults[key]), []).append(name)
    if len(where) > 1:
        return f"{key} = " + ", ".join(f"{value} ({', '.join(sorted(names))})" for value, names in where.items())
    return f"{key} = {next(iter(where), 'not used')}"


# --- ledger ----------------------------------------------------------------------------


def write_ledger(
    root: Path, edition: Path, provenance, truth: dict | None, jobs: Mapping[str, Job]
) -> list[claims.Row]:
    """Compare the claims with an edition's recorded values, and write the ledger into its folder."""
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {
        name: [table for table in tables if released.verified_digest(table)]
        for name, tables in released_only(jobs).items()
    }
    simulated = _simulated_means(root, truth, jobs)
    implied = implied_truths(truth, simulated)
    known = claims.load_claims(root / "data" / "claims.yml")
    rows = claims.make_ledger(known, values, provenance, truth, rests_on, implied)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if implied:
        truths = {key: asdict(truth) for key, truth in implied.items()}
        shares = (simulated or {}).get("beyond_shares", [])
        write_json(edition / "data" / IMPLIED, {"truths": truths, "beyond_shares": shares})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""


def _simulated_means(root: Path, truth: dict | None, jobs: Mapping[str, Job]) -> dict | None:
    """Stored means over simulated studies, where they hold: same parameters, and notebooks that analyze by default."""
    stored = load_implied(root / "data" / IMPLIED)
    changed = any(
        name not in _CHANCE and value != job.notebook.defaults.get(name)
        for job in jobs.values()
        for name, value in job.parameters.items()
    )
    return None if truth is None or changed or (stored or truth)["parameters"] != truth["parameters"] else stored


# --- pages -----------------------------------------------------------------------------


def read_config(root: Path) -> dict:
    """Read Jupyter Book's configuration as it stands in the checkout.

    Raises
    ------
    BuildError
        If it isn't YAML, or lacks what the build needs.
    """
    try:
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        _ = (
            config["repository"]["url"],
            config["repository"]["branch"],
            config["sphinx"]["config"]["html_theme_options"],
        )
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise BuildError(
            f"_config.yml: {type(error).__name__}: {' '.join(str(error).split())}. It has to hold repository: url and "
            "branch, and sphinx: config: html_theme_options."
        ) from None
    return config


def _config(root: Path) -> dict:
    """The same, with the address of this checkout's own repository where it is known."""
    config = read_config(root)
    address = os.environ.get("SENSE7_REPOSITORY", "")
    if not address and os.environ.get("GITHUB_REPOSITORY"):
        address = f"https://github.com/{os.environ['GITHUB_REPOSITORY']}"
    config["repository"]["url"] = address or config["repository"]["url"]
    return config


def _explorer_files(study: Study) -> dict[str, str]:
    """The conversations for the explorer, which take as long as a page to make."""
    from sense7.book.explorer import explorer_files

    return explorer_files(study)


def _complete_pages(
    root: Path, edition: Path, facts: Mapping, explorer: Mapping, config: dict, judged: Sequence[Path], pages: Path
) -> None:
    """Put what Jupyter Book does not make beside the pages, and all of it into the edition in the making."""
    from sense7.book.explorer import add_conversations

    add_conversations(explorer, pages)
    write_downloads(root, facts, pages, installable_from(config["repository"]))
    if facts["judge_logs"]:
        from sense7.judge.asking.logs import bundle_logs

        bundle_logs(judged[0].parent, pages / JUDGE_LOGS)
    shutil.move(pages, edition / "html")


# --- one step --------------------------------------------------------------------------


@contextlib.contextmanager
def under_way(editions: Path, cache: Path, kept: int | None) -> Iterator[None]:
    """Mark a build as under way; if it is the only one, first clear away what killed ones left.

    Parameters
    ----------
    editions, cache : Path
        Folders in which builds work; made if need be.
    kept : int or None
        How many finished notebooks the cache keeps; all if None.
    """
    editions.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    # The system gives a lock back when its process ends, however it ends.
    with (editions / ".lock").open("a") as lock:
        with contextlib.suppress(BlockingIOError):
            lock_file(lock, wait=False)
            _clear(editions, cache, kept)
        lock_file(lock, shared=True)
        yield


def _clear(editions: Path, cache: Path, kept: int | None) -> None:
    """Remove unfinished folders, bring back a book caught between two renames, keep the cache small."""
    for left in [*editions.glob(f"{SCRATCH}*"), *cache.glob(f"{SCRATCH}*")]:
        shutil.rmtree(left, ignore_errors=True)
    for aside in editions.glob(f"{_ASIDE}*"):
        place = editions / aside.name.removeprefix(_ASIDE)
        if place.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.replace(place)
    finished = sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in finished[len(finished) if kept is None else kept :]:
        # Not in its place: killed halfway, it would leave half an entry there.
        shutil.rmtree(path.rename(cache / f"{SCRATCH}{path.name}"), ignore_errors=True)


def _replace(new: Path, place: Path, claim: Callable[[], None] = lambda: None) -> None:
    """Put a finished folder in its place, if the claim holds; what stood there goes with the scratch folder."""
    with (place.parent / ".swap").open("a") as lock:
        lock_file(lock)
        claim()  # another build may have taken the place meanwhile
        if not place.exists():
            new.replace(place)
        elif not exchange(new, place):
            # Without an exchange in one step: two renames; the next build repairs what falls between them.
            aside = place.with_name(_ASIDE + place.name)
            place.replace(aside)
            new.replace(place)
            aside.replace(new)
