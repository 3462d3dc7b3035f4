"""An edition: the book of one workbook, complete in one folder.

``_build/editions/NAME`` holds html/, notebooks/ (executed), results/ (recorded values), ledger.json, edition.json,
manifest.json, and data/ with the copy of the workbook that all of it rests on. A new edition is made beside its place
and takes it in one step; if anything fails, the last good book stays where it was. ``_build/editions/editions.js``
lists the finished ones.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

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
    pages_of_contents,
    resolve_inputs,
)
from sense7.book.jobs import HowMade
from sense7.book.notebooks import installable_from, refuse_edited
from sense7.book.opening import Opened, open_data
from sense7.checkout import find_checkout
from sense7.errors import BuildError, UserError
from sense7.files import (
    disk_trouble,
    lock_file,
    not_written,
    read_json,
    replacing_folder,
    scratch_folder,
)
from sense7.published_ids import (
    number_ids,
    texts_of,
    with_published_ids,
    write_published_ids,
)
from sense7.record import MANIFEST, write_json
from sense7.sources import Provenance, copy_for_edition
from sense7.terminal import count_of, plain_lines, silent
from sense7.workbook.diagnostics import warnings_by_kind

KEPT_IN_CACHE = 200
"""Number of executed notebooks that are kept."""


class Built(NamedTuple):
    """A finished edition: its folder, the notebooks that were executed for it, and whether anything had changed."""

    folder: Path
    executed: list[str]
    changed: bool


def build_edition(
    data: str,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    strict: bool = False,
    say: Callable = silent,
    **given,
) -> Built:
    """Build the book of a workbook; ``say`` takes a line."""
    inputs = resolve_inputs(data, **given)
    unchanged = Built(inputs.folder, [], changed=False)
    was_finished = is_finished(inputs, say)
    refuse_edited(sorted((inputs.project.sources / "notebooks").glob("*.md")))
    if was_finished and not strict:
        return unchanged
    try:
        from sense7.book.execute import Kernels
        from sense7.book.pages import jupyter_book_waiting

        config = configuration(inputs.project.sources)
        pages_of_contents(inputs.project.sources)  # refused here if it can't be read
        with jupyter_book_waiting(config, inputs.pages) as jupyter_book:
            # What notebooks need is imported meanwhile. What cannot be used is refused before anything is written.
            if scheduler:
                executor = cluster_at(scheduler, inputs.cache)
            else:
                executor = contextlib.nullcontext(Kernels(inputs.jobs, inputs.cache, say))
            opened, claims = read_inputs(inputs, strict, say)
            with alone(inputs.folder, inputs.cache, say) as waited:
                if was_finished or (waited and is_finished(inputs, say)):
                    return unchanged
                return _make(inputs, opened, claims, config, jupyter_book, executor, workers, say)
    except (OSError, BuildError) as error:
        full_disk = disk_trouble(str(error))  # of this process or another
        if full_disk is not None:
            raise UserError(
                f"{not_written(inputs.folder, full_disk)} What was finished is kept."
            ) from error
        if isinstance(error, BuildError):
            raise
        raise UserError(
            f"{error.filename or inputs.folder.parent}: {error.strerror or error}. Is the disk full, or the folder not "
            "yours?"
        ) from error


def is_finished(inputs: Inputs, say: Callable) -> bool:
    """Whether an edition is up to date; says what of it is damaged, and has its pages made again."""
    folder = inputs.folder
    damaged = []
    if (folder / MANIFEST).exists():
        damaged = damage(folder)
    if damaged:
        say(f"{inputs.name}: damaged ({shown(damaged)}), and made again")
        (inputs.pages / "frame").unlink(missing_ok=True)
    if damaged or read_manifest(folder).get("key") != inputs.key:
        return False
    list_editions(folder.parent)
    return True


@contextlib.contextmanager
def cluster_at(address: str, cache: Path) -> Iterator:
    """A cluster that executes notebooks, until they are executed."""
    from sense7.book.scheduler import Cluster

    with contextlib.closing(Cluster(address, cache)) as cluster:
        yield cluster


@contextlib.contextmanager
def alone(folder: Path, cache: Path, say: Callable) -> Iterator[bool]:
    """Wait until no other build is at work here, then keep of the cache what was used last; gives whether it waited.

    The system gives the lock back when its process ends, however it ends.
    """
    editions = folder.parent
    waited = False
    editions.mkdir(parents=True, exist_ok=True)
    cache.mkdir(exist_ok=True)
    with (editions / ".lock").open("a+", encoding="utf-8") as lock:
        try:
            lock_file(lock, wait=False)
        except BlockingIOError:
            waited = True
            lock.seek(0)
            holder = lock.read().strip() or "another build"
            say(f"waits for {holder}")
            lock_file(lock)
        except OSError as error:
            say(
                f"{editions}: this disk has no locks ({error.strerror}): start no second build before this one ends"
            )
        lock.truncate(0)
        lock.write(f"the build of {folder.name} (process {os.getpid()})\n")
        lock.flush()
        with scratch_folder(cache) as scratch:  # which clears away what killed builds left
            finished = sorted(
                cache.glob("[!.]*"), key=lambda path: path.stat().st_mtime, reverse=True
            )
            for path in finished[KEPT_IN_CACHE:]:
                path.replace(scratch / path.name)
        yield waited


def read_inputs(inputs: Inputs, strict: bool, say: Callable) -> tuple[Opened, list]:
    """The data with their judges, and the claims; refused if unfit."""
    from sense7.claims import load_claims

    _ = inputs.jobs  # with unfit parameters nothing is read
    claims = load_claims(inputs.project.sources / "data" / "claims.yml")
    from sense7.loading import load

    study = load(inputs.data, strict=strict)
    opened = open_data(study, inputs.predictions, inputs.parameters)
    if opened.judges:
        for file, note in opened.judges.notes.items():
            say(f"{file}: {note}")
    if study.provenance.kind == "own" and not study.published_ids:
        opened = opened._replace(study=with_published_ids(study, number_ids(study)))
    return opened, claims


def _make(
    inputs: Inputs,
    opened: Opened,
    claims,
    config: dict,
    jupyter_book: Callable,
    executor: contextlib.AbstractContextManager,
    workers: int | None,
    say: Callable,
) -> Built:
    """Execute, compare with the claims, make the pages, and put the edition in its place."""
    from sense7.book.derived import write_downloads
    from sense7.book.pages import make_pages
    from sense7.explorer import explorer_files

    root = inputs.project.sources
    folder = inputs.folder
    with replacing_folder(folder, check=partial(set_aside, say=say)) as edition:
        with executor as kernels:
            executed, facts = _compute(inputs, opened, claims, edition, kernels, workers, say)
        say("pages: Jupyter Book")
        shown_judge = inputs.parameters.get("judge", "")

        def page_files() -> dict[str, str]:
            files = explorer_files(opened.study, opened.judges, shown_judge)
            return {f"explorer/{name}": text for name, text in files.items()}

        make_pages(root, edition, facts, config, inputs.pages, jupyter_book, page_files)
        write_downloads(inputs, edition, facts, config)
        write_manifest(edition, inputs.key, inputs.source)
        require_same_source(folder, inputs.source, inputs.provenance.sha256)
    list_editions(folder.parent)
    return Built(folder, executed, changed=True)


def _compute(
    inputs: Inputs,
    opened: Opened,
    claims,
    edition: Path,
    kernels,
    workers: int | None,
    say: Callable,
) -> tuple[list[str], dict]:
    """Write all of an edition but its pages; the notebooks that were executed for it, and its facts."""
    from sense7.book import execute
    from sense7.book.ledger import write_ledger
    from sense7.claims import summarize, summarize_other_works, summarize_rehearsal

    study = opened.study
    provenance = replace(inputs.provenance, kind=study.provenance.kind)
    copy = copy_for_edition(inputs.path, provenance, edition / "data")
    write_published_ids(copy, study)
    noticed = [diagnostic.to_dict() for diagnostic in study.diagnostics]
    write_json(edition / "results" / "reader" / "warnings.json", noticed)
    copy_files(inputs.predictions, edition / "predictions")
    executed = execute.run(
        inputs.jobs, edition, inputs.cache, workers=workers, say=say, kernels=kernels
    )
    facts = facts_of(inputs, study, provenance)
    root = inputs.project.sources
    rows = write_ledger(root, edition, claims, provenance, opened.simulated_judge, inputs.jobs)
    facts["verdicts"] = summarize(rows)
    facts["rehearsal"] = summarize_rehearsal(rows)
    facts["verdicts_of_other_works"] = summarize_other_works(rows)
    write_json(edition / "edition.json", facts)
    return executed, facts


def derive_notebooks(say: Callable = silent) -> list[Path]:
    """Make the .ipynb beside the text notebooks from what these give on the synthetic workbook; those that changed."""
    from sense7.book.derived import Addresses, derive_all, write_derived
    from sense7.book.execute import Kernels

    root = find_checkout()
    refuse_edited(sorted((root / "notebooks").glob("*.md")))
    # The judge of the repository, not one that this user asked about the synthetic workbook.
    inputs = resolve_inputs("synthetic", predictions=root / "data" / "synthetic_judge")
    opened, claims = read_inputs(inputs, strict=False, say=say)
    kernels = Kernels(inputs.jobs, inputs.cache, say)
    with alone(inputs.folder, inputs.cache, say), scratch_folder(inputs.cache) as scratch:
        edition = scratch / "edition"
        _compute(inputs, opened, claims, edition, kernels, None, say)
        install_from = installable_from(declared_configuration(root)["repository"])
        derived = derive_all(root, edition, Addresses.beside(), install_from)
    return write_derived(root / "notebooks", derived)


def copy_files(files: Sequence[Path], folder: Path) -> None:
    """Copy files into a folder, which is made if there are any."""
    for file in files:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(file, folder / file.name)


def lines_of(edition: Path) -> list[tuple[str, str]]:
    """What a build says of a finished edition, each line with its stream: warnings, verdicts, the front page."""
    facts = read_json(edition / "edition.json")
    lines = []
    if facts["warnings"]:
        words, total = [], 0
        for problem, count in facts["warnings"].items():
            total += count["warnings"]
            words.append(f"{count['warnings']:,} {problem} ({count_of(count['places'], 'place')})")
        page = edition / "html" / f"{DATA_PAGE}.html"
        line = f"{count_of(total, 'warning')} about this workbook: {', '.join(words)}. Listed on {page}"
        lines.append(("stderr", plain_lines(line)))
    lines.append(("stdout", f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"))
    lines.append(("stdout", str(edition / "html" / "index.html")))
    return lines


def facts_of(inputs: Inputs, study, provenance: Provenance) -> dict:
    """What pages may say about their edition, apart from the verdicts."""
    settings = [f"{name} = {value}" for name, value in sorted(inputs.parameters.items())]
    credit = ""
    if provenance.kind == "third-party" and provenance.source:
        credit = provenance.source.acknowledgement
    return {
        "format": FORMAT,
        "name": inputs.name,
        "kind": provenance.kind,
        "label": provenance.label,
        "file": provenance.file,
        "sha256": provenance.sha256,
        "verified": provenance.verified,
        "fetched": provenance.fetched,
        "credit": credit,
        "prompted_condition": study.prompted_condition or "not known",
        "prompted_reason": study.prompted_reason,
        "warnings": warnings_by_kind(study.warnings),
        "texts": texts_of(study),
        "reader_warnings": count_of(len(study.warnings), "warning"),
        "parameters": ", ".join(settings) or "as each notebook has them",
        "made": asdict(HowMade.of(inputs.project.sources, inputs.jobs, inputs.parameters)),
    }
