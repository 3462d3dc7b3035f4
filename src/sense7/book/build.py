"""An edition: the book of one workbook, complete in one folder.

``_build/editions/NAME`` holds html/, notebooks/ (executed), results/ (recorded values),
ledger.json, edition.json, manifest.json, and data/ with the copy of the workbook that all of it rests
on. A new edition is made beside its place and takes it in one step; if anything fails,
the last good book stays where it was. ``_build/editions/editions.js`` lists the finished ones.
"""

import contextlib
import functools
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sense7 import sources
from sense7.book.editions import EXPLORER_FOLDER, EXPLORER_PAGE, JUDGE_LOGS, claim_edition, list_editions
from sense7.book.execute import SCRATCH, BuildError, Kernels, start_kernels
from sense7.book.inputs import Inputs, resolve_inputs
from sense7.book.jupyter_book import JupyterBook
from sense7.book.ledger import read_truth, write_ledger
from sense7.book.manifest import damage, environment_of, shown, write_manifest
from sense7.book.notebooks import installable_from
from sense7.book.pages import forget_pages, pages_under_way
from sense7.book.plan import digest_files
from sense7.book.replacing import replace_edition, under_way
from sense7.book.rerun import write_downloads
from sense7.book.scheduler import connect
from sense7.claims import Row, summarize, summarize_other_works
from sense7.errors import UserError
from sense7.files import disk_trouble, not_written, write_whole
from sense7.judge.judges import is_planted
from sense7.loading import load
from sense7.record import MANIFEST, write_json
from sense7.sources import Provenance
from sense7.study import Study
from sense7.terminal import count_of
from sense7.workbook.diagnostics import warnings_by_kind
from sense7.workbook.options import ReadingOptions

if TYPE_CHECKING:
    from sense7.judge.judges import Judges

__all__ = ["Built", "build_edition", "copy_files"]

KEPT_IN_CACHE = 200
"""Number of executed notebooks that are kept."""


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
    command: Sequence[str] = (),
    observed: str | None = None,
) -> Built:
    """Build the book of a workbook.

    Parameters
    ----------
    data : str
        A name (``synthetic``, ``official``) or the path of a workbook.
    name : str, optional
        Name of the edition; the data set's name or the file's stem if not given.
    predictions : path, optional
        Folder of a judge's predictions for this data set; if not given, ``predictions_NAME`` where the book is
        built, or else those of the simulated judge that lie beside a synthetic workbook.
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
    command, observed : optional
        What follows ``sense7 build``, and what :func:`sense7.book.manifest.observe` gave of it: what the manifest says.

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
    inputs = resolve_inputs(data, name=name, predictions=predictions, parameters=parameters, options=options)
    editions = inputs.folder.parent
    if (inputs.folder / MANIFEST).exists() and (wrong := damage(inputs.folder)):
        say(f"{inputs.name}: damaged ({shown(wrong)}), and made again")
        forget_pages(_pages(inputs))
    changed = _up_to_date(inputs) is None
    # Kernels import what notebooks need while the workbook is read; a cluster has its own.
    started = start_kernels(inputs.jobs, _cache(inputs), say) if changed and scheduler is None else None
    with contextlib.closing(started) if started else contextlib.nullcontext() as kernels:
        # What cannot be used is refused before anything is written.
        content = _read(inputs, strict, say) if strict or changed else None
        with _naming_the_fix(inputs.folder), under_way(editions, _cache(inputs), KEPT_IN_CACHE):
            finished = _up_to_date(inputs)
            if finished is None:
                study, truth = content or _read(inputs, strict, say)
                manifest = functools.partial(write_manifest, arguments=command, observed=observed)
                finished = _make(inputs, study, truth, workers, scheduler, say, progress, program, kernels, manifest)
            list_editions(editions)
    return finished


def _cache(inputs: Inputs) -> Path:
    """Folder of executed notebooks, which all editions share."""
    return inputs.project.place / "_build" / "cache"


def _pages(inputs: Inputs) -> Path:
    """Folder of what is kept of an edition's pages from one build to the next."""
    return inputs.project.place / "_build" / "pages" / inputs.name


def _read(inputs: Inputs, strict: bool, say: Callable[[str], None]) -> tuple[Study, dict | None]:
    """The study, and its truth if it is synthetic; a judge's predictions are read as well, since they may be unfit."""
    study = load(
        inputs.data,
        prompted_condition=inputs.parameters.get("prompted_condition"),
        strict=strict,
        scale=inputs.options.scales,
        words=inputs.options.words,
        allow_unreadable=inputs.options.allow_unreadable,
        missing=inputs.options.missing,
    )
    return study, _truth(inputs, study, say)


def _make(
    inputs: Inputs,
    study: Study,
    truth: dict | None,
    workers: int | None,
    scheduler: str | None,
    say: Callable[[str], None],
    progress: Callable[[int, int, str], None],
    program: JupyterBook | None,
    kernels: Kernels | None,
    manifest: Callable[[Path], None],
) -> Built:
    """Execute, compare with the claims, make the pages, and put the edition in its place."""
    root, folder = inputs.project.sources, inputs.folder
    provenance = replace(inputs.provenance, kind=study.provenance.kind)
    making = tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{inputs.name}-", dir=folder.parent)
    with making as scratch, contextlib.nullcontext(program) if program else JupyterBook() as book:
        edition = Path(scratch) / "edition"
        _write_inputs(inputs, edition, study, provenance, truth)
        facts = _facts(inputs.name, study, provenance, inputs.jobs, inputs.options) | _facts_of_inputs(inputs)
        with pages_under_way(root, facts, inputs.config, _pages(inputs), Path(scratch), book) as make_pages:
            executed = _execute(inputs, edition, workers, scheduler, say, progress, kernels)
            facts |= _verdicts_of(write_ledger(root, edition, provenance, truth, inputs.jobs, inputs.claims))
            write_json(edition / "edition.json", facts)
            say("pages: Jupyter Book")
            explorer = functools.cache(functools.partial(_explorer_files, inputs, study))
            pages = make_pages(edition, facts, meanwhile=explorer)
        _complete_pages(inputs, edition, facts, explorer(), pages)
        manifest(edition)
        claim = functools.partial(claim_edition, folder, inputs.source, provenance.sha256)
        replace_edition(edition, folder, claim)
    return Built(folder, _verdicts(facts), executed, changed=True, warnings=facts["warnings"])


def _execute(
    inputs: Inputs,
    edition: Path,
    workers: int | None,
    scheduler: str | None,
    say: Callable[[str], None],
    progress: Callable[[int, int, str], None],
    kernels: Kernels | None,
) -> int:
    """Bring every notebook's result into the edition; returns how many had to be executed."""
    ready: list[str] = []

    def report(notebook: str, fresh: bool) -> None:
        ready.append(notebook)
        say(f"{notebook}: {'executed' if fresh else 'unchanged'}")
        progress(len(ready), len(inputs.jobs), notebook)

    progress(0, len(inputs.jobs), "")
    with connect(scheduler, workers, shared=_cache(inputs)) as where:
        return where.run(inputs.jobs, edition, _cache(inputs), report=report, say=say, kernels=kernels)


def _write_inputs(inputs: Inputs, edition: Path, study: Study, provenance: Provenance, truth: dict | None) -> None:
    """Put the workbook, what is known of it, and a judge's predictions into an edition's folder."""
    sources.copy_for_edition(inputs.path, provenance, edition / "data", inputs.options)
    if truth is not None:
        write_json(edition / "data" / "truth.json", truth)
    write_json(
        edition / "results" / "reader" / "warnings.json", [diagnostic.to_dict() for diagnostic in study.diagnostics]
    )
    copy_files(inputs.predictions, edition / "predictions")


@contextlib.contextmanager
def _naming_the_fix(folder: Path) -> Iterator[None]:
    """Say what to do where a disk is full or a folder is not ours, in this process or another."""
    try:
        yield
    except (OSError, BuildError) as error:
        full = disk_trouble(str(error))
        if full is not None:
            raise UserError(f"{not_written(folder, full)} What was finished is kept.") from error
        if isinstance(error, BuildError):
            raise
        raise UserError(
            f"{error.filename or folder.parent}: {error.strerror or error}. Is the disk full, or the folder not yours?"
        ) from error


def copy_files(files: Sequence[Path], folder: Path) -> None:
    """Copy files into a folder, which is made if there are any."""
    for file in files:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(file, folder / file.name)


def _truth(inputs: Inputs, study: Study, say: Callable[[str], None]) -> dict | None:
    """The truth of a synthetic workbook, as far as it is that of the judge that the book shows."""
    judges = _judges(study, inputs.predictions, say)
    return _without_other_judges(read_truth(inputs.truth, study), judges, inputs.parameters.get("judge", ""))


def _judges(study: Study, judged: Sequence[Path], say: Callable[[str], None]) -> "Judges | None":
    """The judges of an edition, None without files; says what has to be known of the files."""
    if not judged:
        return None
    from sense7.judge.judges import read_runs  # imports all statistics

    judges = read_runs(study, judged[0].parent)
    for file, note in judges.notes.items():
        say(f"{file}: {note}")
    return judges


def _without_other_judges(truth: dict | None, judges: "Judges | None", judge: str) -> dict | None:
    """The truth, without that of the simulated judge unless the judge that the book shows is that one."""
    if truth is None or "judge" not in truth:
        return truth
    from sense7.judge.judges import chosen_judge

    if judges and is_planted(truth, judges.simulated.get(chosen_judge(judges, judge), ())):
        return truth
    known = [entry for entry in truth["planted"] if not entry["key"].startswith("judge_")]
    return {key: value for key, value in truth.items() if key != "judge"} | {"planted": known}


def _up_to_date(inputs: Inputs) -> Built | None:
    """The finished edition, if it was made from the same inputs."""
    try:
        facts = json.loads((inputs.folder / "edition.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if facts.get("key") != inputs.key or damage(inputs.folder):
        return None
    return Built(inputs.folder, _verdicts(facts), 0, changed=False, warnings=facts.get("warnings", {}))


def _facts_of_inputs(inputs: Inputs) -> dict:
    return {
        "judge_logs": f"{JUDGE_LOGS}/index.html" if inputs.logs else "",
        "predictions": inputs.named_predictions,
        "key": inputs.key,
        "made": inputs.made,
    }


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
        "groups": {
            name: sorted(study.conversations[name].dropna().unique()) for name in ("condition", "topic", "participant")
        },
        "parameters": ", ".join(
            [*(_used(key, jobs) for key in ("confidence", "draws", "seed")), *([str(options)] if options else [])]
        ),
        "warnings": warnings_by_kind(study.warnings),
        "reader_warnings": count_of(len(study.warnings), "warning") if study.warnings else "no warning",
    }


def _verdicts_of(rows: Sequence[Row]) -> dict:
    """What pages may say about the ledger of their edition."""
    return {"verdicts": summarize(rows), "verdicts_of_other_works": summarize_other_works(rows)}


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


def _explorer_files(inputs: Inputs, study: Study) -> dict[str, str]:
    """The conversations for the explorer: of the last build, if it was of the same data, judges and library."""
    key, kept = _explorer_key(inputs), inputs.project.place / "_build" / "pages" / f"{inputs.name}.explorer.json"
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(kept.read_text(encoding="utf-8"))
        if stored["key"] == key:
            return stored["files"]
    from sense7.book.explorer import explorer_files  # imports all that draws, and takes as long as a page to make

    judges = _judges(study, inputs.predictions, say=lambda _: None)  # its notes were told when it was first read
    files = explorer_files(study, judges, inputs.parameters.get("judge", ""))
    write_json(kept, {"key": key, "files": files})
    return files


def _explorer_key(inputs: Inputs) -> str:
    """SHA-256 of all that the explorer's conversations depend on."""
    predictions = inputs.predictions
    parts = [
        inputs.options.digest(inputs.provenance.sha256),
        digest_files(predictions, predictions[0].parent) if predictions else "",
        inputs.parameters,
        inputs.made["library"],
        inputs.made["versions"],
        environment_of(inputs.project.sources),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def add_conversations(files: Mapping[str, str], pages: Path) -> list[Path]:
    """Write a study's conversations beside the pages of a book that has an explorer.

    Parameters
    ----------
    files : mapping
        As :func:`sense7.book.explorer.explorer_files` gives them.
    pages : Path
        The folder html of an edition.

    Returns
    -------
    list of Path
        The files; none if the book has no explorer.
    """
    if not (pages / EXPLORER_PAGE).exists():
        return []
    texts = {pages / EXPLORER_FOLDER / name: text for name, text in files.items()}
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)


def _complete_pages(inputs: Inputs, edition: Path, facts: Mapping, explorer: Mapping, pages: Path) -> None:
    """Put what Jupyter Book does not make beside the pages, and move all of it into the edition."""
    add_conversations(explorer, pages)
    write_downloads(inputs.project.sources, facts, pages, installable_from(inputs.config["repository"]))
    if facts["judge_logs"]:
        from sense7.judge.logs import bundle_logs

        bundle_logs(inputs.predictions[0].parent, pages / JUDGE_LOGS)
    shutil.move(pages, edition / "html")
