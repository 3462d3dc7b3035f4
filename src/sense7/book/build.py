"""An edition: the book of one workbook, complete in one folder.

``_build/editions/NAME`` holds html/, notebooks/ (executed), results/ (recorded values), ledger.json, edition.json,
manifest.json, and data/ with the copy of the workbook that all of it rests on. A new edition is made beside its place
and takes it in one step; if anything fails, the last good book stays where it was. ``_build/editions/editions.js``
lists the finished ones.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sense7.book.code import library_digest, versions
from sense7.book.editions import (
    DATA_PAGE,
    FORMAT,
    damage,
    list_editions,
    read_manifest,
    require_same_source,
    set_aside,
    shown,
    write_manifest,
)
from sense7.book.inputs import (
    Inputs,
    configuration,
    declared_configuration,
    resolve_inputs,
)
from sense7.book.run import Execution, execute_notebooks, in_threads, on_cluster
from sense7.checkout import commit_of, find_checkout, why_commit_unknown
from sense7.errors import BuildError, UserError
from sense7.files import (
    disk_trouble,
    lock_file,
    not_written,
    read_json,
    replacing_folder,
    scratch_folder,
)
from sense7.record import MANIFEST, write_json
from sense7.sources import Provenance, copy_for_edition
from sense7.terminal import count_of, plain_lines, silent

if TYPE_CHECKING:  # they import pandas, which nobody waits for where nothing changed
    from sense7.claims import Claim
    from sense7.judge.scores.judges import Judges
    from sense7.study import Study

KEPT_IN_CACHE = 200
"""Number of executed notebooks that are kept."""


@dataclass(frozen=True)
class Built:
    """A finished edition: its folder, the notebooks that were executed for it, and whether anything had changed."""

    folder: Path
    executed: list[str]
    changed: bool


@dataclass(frozen=True)
class Contents:
    """The study of an edition with its judges, the parameters of a simulated judge, and the claims."""

    study: "Study"
    judges: "Judges | None"
    simulated_judge: dict | None
    claims: Sequence["Claim"]


def build_edition(
    data: str,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    say: Callable = silent,
    **chosen,
) -> Built:
    """Build the book of a workbook; ``say`` takes a line, ``chosen`` are the options of :func:`resolve_inputs`."""
    inputs = resolve_inputs(data, **chosen)
    unchanged = Built(inputs.folder, [], changed=False)
    if is_finished(inputs, say):
        return unchanged
    from sense7.book.pages import jupyter_book_waiting  # with the templates

    ahead = inputs.path, inputs.name
    try:
        # What cannot be used is refused before anything is written. Meanwhile other processes import what they need.
        execution = in_threads(inputs.jobs, inputs.cache, workers, ahead)
        if scheduler:
            execution = on_cluster(scheduler)
        with jupyter_book_waiting(inputs.pages) as jupyter_book, execution as executor:
            contents = read_contents(inputs, say)
            with build_lock(inputs, say):
                if is_finished(inputs, say):
                    return unchanged
                return write_edition(inputs, contents, jupyter_book, executor, say)
    except (OSError, BuildError) as error:
        full_disk = disk_trouble(str(error))  # of this process or another
        if full_disk is not None:
            raise UserError(
                f"{not_written(inputs.folder, full_disk)} What was finished is kept."
            ) from error
        if isinstance(error, BuildError):
            raise
        raise UserError(not_written(error.filename or inputs.folder.parent, error)) from error


def is_finished(inputs: Inputs, say: Callable) -> bool:
    """Whether an edition is up to date; of a damaged one the pages are made again."""
    folder = inputs.folder
    damaged = []
    if (folder / MANIFEST).exists():
        damaged = damage(folder)
    if damaged:
        say(f"{inputs.name}: damaged ({shown(damaged)}), and made again")
        shutil.rmtree(inputs.pages, ignore_errors=True)
    if damaged or read_manifest(folder).get("key") != inputs.key:
        return False
    with scratch_folder(folder.parent):  # which clears away what a killed build left
        list_editions(folder.parent)
    return True


@contextlib.contextmanager
def build_lock(inputs: Inputs, say: Callable) -> Iterator[None]:
    """Wait until no other build is at work here, then keep of the cache what was used last.

    The system gives the lock back when its process ends, however it ends.
    """
    editions = inputs.folder.parent
    editions.mkdir(parents=True, exist_ok=True)
    with (editions / ".lock").open("a") as lock:
        try:
            lock_file(lock, wait=False)
        except BlockingIOError:
            say("waits until another build here ends")
            lock_file(lock)
        except OSError as error:
            say(
                f"{editions}: this disk has no locks ({error.strerror}): start no second build before this one ends"
            )
        with scratch_folder(inputs.cache) as scratch:  # which clears away what killed builds left
            finished = sorted(
                inputs.cache.glob("[!.]*"), key=lambda path: path.stat().st_mtime, reverse=True
            )
            for path in finished[KEPT_IN_CACHE:]:
                path.replace(scratch / path.name)
        yield


def read_contents(inputs: Inputs, say: Callable = silent) -> Contents:
    """Read the data with their judges, and the claims; refused if unfit."""
    from sense7.claims import load_claims
    from sense7.loading import load
    from sense7.published_ids import number_ids, with_published_ids

    claims = load_claims(inputs.project.sources / "data" / "claims.yml")
    study = load(inputs.data)
    judges = simulated_judge = None
    if inputs.predictions:
        from sense7.judge.scores.judges import (  # imports all statistics
            chosen_judge,
            read_runs,
            simulated_parameters,
        )

        judges = read_runs(study, inputs.predictions[0].parent)
        judge = chosen_judge(judges, inputs.parameters.get("judge", ""))
        simulated_judge = simulated_parameters(judges.simulated.get(judge, ()))
        for file, note in judges.notes.items():
            say(f"{file}: {note}")
    if study.provenance.kind == "own" and not study.published_ids:
        study = with_published_ids(study, number_ids(study))
    return Contents(study, judges, simulated_judge, claims)


def write_edition(
    inputs: Inputs,
    contents: Contents,
    jupyter_book: Callable,
    execution: Execution,
    say: Callable,
) -> Built:
    """Execute, compare with the claims, make the pages, and put the edition in its place."""
    from sense7.book.derived import derive_downloads
    from sense7.book.pages import make_pages
    from sense7.explorer import explorer_files

    folder = inputs.folder
    config = configuration(inputs.project.sources)
    with replacing_folder(folder, check=partial(set_aside, say=say)) as edition:
        executed, facts = compute(inputs, contents, edition, execution, say)
        say("pages: Jupyter Book")

        def further_files() -> dict[str, str]:
            """Files of pages that are made while Jupyter Book is at work: path below html -> text."""
            files = derive_downloads(inputs, edition, facts, config)
            judge = inputs.parameters.get("judge", "")
            for name, text in explorer_files(contents.study, contents.judges, judge).items():
                files[f"explorer/{name}"] = text
            return files

        root = inputs.project.sources
        make_pages(root, edition, facts, config, inputs.pages, jupyter_book, further_files)
        write_manifest(edition, inputs.key, inputs.source)
        require_same_source(folder, inputs.source, inputs.provenance.sha256)
    list_editions(folder.parent)
    return Built(folder, executed, changed=True)


def compute(
    inputs: Inputs,
    contents: Contents,
    edition: Path,
    execution: Execution,
    say: Callable,
) -> tuple[list[str], dict]:
    """Write all of an edition but its pages; return the executed notebooks, and the facts."""
    from sense7.book.ledger import write_ledger
    from sense7.book.words import summaries
    from sense7.published_ids import write_published_ids

    study = contents.study
    provenance = replace(inputs.provenance, kind=study.provenance.kind)
    copy = copy_for_edition(inputs.path, provenance, edition / "data")
    write_published_ids(copy, study)
    noticed = [diagnostic.to_dict() for diagnostic in study.diagnostics]
    write_json(edition / "results" / "reader" / "warnings.json", noticed)
    for file in inputs.predictions:
        (edition / "predictions").mkdir(exist_ok=True)
        shutil.copyfile(file, edition / "predictions" / file.name)
    executed = execute_notebooks(
        inputs.jobs, edition, inputs.cache, execution, failed=inputs.failed, say=say
    )
    facts = facts_of(inputs, study, provenance)
    root = inputs.project.sources
    rows = write_ledger(
        root, edition, contents.claims, provenance, contents.simulated_judge, inputs.jobs
    )
    facts |= summaries(rows)
    write_json(edition / "edition.json", facts)
    return executed, facts


def compute_apart(
    inputs: Inputs,
    edition: Path,
    workers: int | None = None,
    say: Callable = silent,
) -> None:
    """Write the data, values, notebooks, ledger and facts of an edition without pages, on this machine."""
    study = inputs.path, inputs.name
    with in_threads(inputs.jobs, inputs.cache, workers, study) as execution:
        compute(inputs, read_contents(inputs), edition, execution, say)


def derive_notebooks(say: Callable = silent) -> list[Path]:
    """Make the .ipynb beside the text notebooks from the synthetic workbook; return the changed ones."""
    from sense7.book.derived import derive_all, write_derived

    root = find_checkout()
    # The judge of the repository, not one that this user asked about the synthetic workbook.
    inputs = resolve_inputs("synthetic", predictions=root / "data" / "synthetic_judge")
    with build_lock(inputs, say), scratch_folder(inputs.cache) as scratch:
        edition = scratch / "edition"
        compute_apart(inputs, edition, say=say)
        notebooks = [job.notebook for job in inputs.jobs.values()]
        derived = derive_all(root, notebooks, edition, declared_configuration(root))
    return write_derived(root / "notebooks", derived)


def lines_of(edition: Path, root: Path) -> list[tuple[str, str]]:
    """Lines about a finished edition, each with its stream: warnings, verdicts, the front page."""
    facts = read_json(edition / "edition.json")
    lines = []
    if not facts["made"]["commit"]:
        problem = why_commit_unknown(root)
        if problem:
            lines.append(("stderr", problem))
    if facts["warnings"]:
        page = edition / "html" / f"{DATA_PAGE}.html"
        words = f"{facts['warnings']} about this workbook, listed on {page}"
        lines.append(("stderr", plain_lines(words)))
    lines.append(("stdout", f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"))
    lines.append(("stdout", str(edition / "html" / "index.html")))
    return lines


def facts_of(inputs: Inputs, study: "Study", provenance: Provenance) -> dict:
    """Facts about an edition that its pages show, apart from the verdicts, and how it was made."""
    from sense7.published_ids import texts_of

    warnings = ""
    if study.warnings:
        warnings = count_of(len(study.warnings), "warning")
    settings = [f"{name} = {value}" for name, value in sorted(inputs.parameters.items())]
    credit = ""
    if provenance.kind == "third-party" and provenance.source:
        credit = provenance.source.acknowledgement
    notebooks, released = {}, {}
    for name, job in sorted(inputs.jobs.items()):
        notebooks[name] = {**job.notebook.defaults, **job.parameters}
        notebooks[name].pop("results", None)
        if job.notebook.released_alone:
            released[name] = job.notebook.released_alone
    return {
        "format": FORMAT,
        **provenance.to_dict(),
        "label": provenance.label,
        "verified": provenance.verified,
        "credit": credit,
        "prompted_condition": study.prompted_condition or "not known",
        "prompted_reason": study.prompted_reason,
        "warnings": warnings,
        "texts": texts_of(study),
        "parameters": ", ".join(settings) or "as each notebook has them",
        "made": {
            "parameters": inputs.parameters,
            "notebooks": notebooks,
            "released": released,
            "versions": versions(),
            "library": library_digest(),
            **commit_of(inputs.project.sources),
        },
    }
