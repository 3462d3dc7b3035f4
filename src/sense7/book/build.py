"""An edition: the book of one workbook, complete in one folder.

``_build/editions/NAME`` holds html/, notebooks/ (executed), results/ (recorded values), ledger.json, edition.json,
manifest.json, and data/ with the copy of the workbook that all of it rests on. A new edition is made beside its place
and takes it in one step; if anything fails, the last good book stays where it was. ``_build/editions/editions.js``
lists the finished ones.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sense7 import paper
from sense7.book.editions import (
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
from sense7.book.jobs import HowMade
from sense7.book.notebooks import (
    derive_copies,
    find_notebooks,
    installable_from,
    refuse_edited,
    to_ipynb,
)
from sense7.errors import BuildError, UserError
from sense7.files import (
    disk_trouble,
    lock_file,
    not_written,
    replacing_folder,
    scratch_folder,
    write_whole,
)
from sense7.record import MANIFEST, write_json
from sense7.terminal import count_of, plain_lines, silent

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
    folder, cache = inputs.folder, inputs.cache

    def is_finished() -> bool:
        """Whether the edition is up to date; says what of it is damaged, and has its pages made again."""
        wrong = damage(folder) if (folder / MANIFEST).exists() else []
        if wrong:
            say(f"{inputs.name}: damaged ({shown(wrong)}), and made again")
            (inputs.pages / "frame").unlink(missing_ok=True)
        if wrong or read_manifest(folder).get("key") != inputs.key:
            return False
        list_editions(folder.parent)
        return True

    finished = is_finished()
    refuse_edited(sorted((inputs.project.sources / "notebooks").glob("*.md")))
    try:
        if finished and not strict:
            return Built(folder, [], changed=False)
        from sense7.book.execute import Kernels
        from sense7.book.pages import jupyter_book_waiting

        with jupyter_book_waiting(
            configuration(inputs.project.sources), inputs.pages
        ) as jupyter_book:
            # What notebooks need is imported meanwhile. What cannot be used is refused before anything is written.
            kernels = None if scheduler else Kernels(inputs.jobs, cache, say)
            content = read_inputs(inputs, strict, say)
            with _alone(folder, cache, say) as waited:
                if finished or (waited and is_finished()):
                    return Built(folder, [], changed=False)
                return _make(inputs, *content, jupyter_book, kernels, workers, scheduler, say)
    except (OSError, BuildError) as error:
        # In this process or another.
        if (full := disk_trouble(str(error))) is not None:
            raise UserError(f"{not_written(folder, full)} What was finished is kept.") from error
        if isinstance(error, BuildError):
            raise
        raise UserError(
            f"{error.filename or folder.parent}: {error.strerror or error}. Is the disk full, or the folder not yours?"
        ) from error


@contextlib.contextmanager
def _alone(folder: Path, cache: Path, say: Callable) -> Iterator[bool]:
    """Wait until no other build is at work here, then keep of the cache what was used last; gives whether it waited.

    The system gives the lock back when its process ends, however it ends.
    """
    editions, waited = folder.parent, False
    editions.mkdir(parents=True, exist_ok=True)
    cache.mkdir(exist_ok=True)
    with (editions / ".lock").open("a+", encoding="utf-8") as lock:
        try:
            lock_file(lock, wait=False)
        except BlockingIOError:
            waited = True
            lock.seek(0)
            say(f"waits for {lock.read().strip() or 'another build'}")
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


def read_inputs(inputs: Inputs, strict: bool, say: Callable) -> tuple[paper.Opened, list]:
    """The data with their truth and judges, and the claims; refused if unfit."""
    from sense7.claims import load_claims

    _ = inputs.jobs  # with unfit parameters nothing is read
    claims = load_claims(inputs.project.sources / "data" / "claims.yml")
    study = paper.open_study(inputs.data, inputs.given, inputs.options, strict)
    truth = paper.read_truth(inputs.path.with_name(f"{inputs.path.stem}_truth.json"), study)
    opened = paper.open_data(study, truth, inputs.predictions, inputs.given)
    for file, note in opened.judges.notes.items() if opened.judges else ():
        say(f"{file}: {note}")
    return opened, claims


def _make(
    inputs: Inputs,
    opened: paper.Opened,
    claims,
    jupyter_book,
    kernels,
    workers,
    scheduler,
    say,
) -> Built:
    """Execute, compare with the claims, make the pages, and put the edition in its place."""
    from sense7.book import execute
    from sense7.book.ledger import write_ledger
    from sense7.book.pages import EXAMPLE, make_pages
    from sense7.book.scheduler import Cluster
    from sense7.claims import summarize, summarize_other_works

    root, folder = inputs.project.sources, inputs.folder
    config = configuration(root)
    install_from = installable_from(declared_configuration(root)["repository"])
    if inputs.project.is_checkout:
        derive_copies(find_notebooks(root), install_from)
    study, truth = opened.study, opened.truth
    provenance = replace(inputs.provenance, kind=study.provenance.kind)
    with replacing_folder(folder, check=partial(set_aside, say=say)) as edition:
        paper.copy_for_edition(inputs.path, provenance, edition / "data", inputs.options)
        if truth is not None:
            write_json(edition / "data" / "truth.json", truth)
        noticed = [diagnostic.to_dict() for diagnostic in study.diagnostics]
        write_json(edition / "results" / "reader" / "warnings.json", noticed)
        copy_files(inputs.predictions, edition / "predictions")
        cluster = (
            contextlib.closing(Cluster(scheduler, inputs.cache))
            if scheduler
            else contextlib.nullcontext(kernels)
        )
        with cluster as held:
            executed = execute.run(
                inputs.jobs, edition, inputs.cache, workers=workers, say=say, kernels=held
            )
        facts = _facts(inputs, study, provenance)
        rows = write_ledger(root, edition, claims, provenance, truth, inputs.jobs)
        facts |= {
            "verdicts": summarize(rows, simulated=provenance.kind == "synthetic"),
            "verdicts_of_other_works": summarize_other_works(rows),
        }
        write_json(edition / "edition.json", facts)
        example = paper.rated_example(opened)
        if example is not None:
            write_json(edition / EXAMPLE, example)
        say("pages: Jupyter Book")
        page_files = partial(paper.page_files, opened, inputs.given)
        make_pages(root, edition, facts, config, inputs.pages, jupyter_book, page_files)
        # A copy that runs in the place of every notebook that the pages offer for download: the page's own source has
        # the paths of the build's folders in it, which nobody else has.
        is_named = facts["name"] in paper.DATA_SETS
        own = {"data": facts["name"] if is_named else facts["file"]}
        for name, job in inputs.jobs.items():
            source, defaults = (
                edition / "html" / "_sources" / "notebooks" / f"{name}.ipynb",
                job.notebook.defaults,
            )
            if source.exists():  # the table of contents may leave out one
                given = own | {"results": f"{name}.results"}
                settings = {key: given.get(key, value) for key, value in defaults.items()}
                write_whole(source, to_ipynb(job.notebook, install_from, settings), replace=True)
        write_manifest(edition, inputs.key, inputs.source)
        require_same_source(folder, inputs.source, provenance.sha256)
    list_editions(folder.parent)
    return Built(folder, executed, changed=True)


def copy_files(files: Sequence[Path], folder: Path) -> None:
    """Copy files into a folder, which is made if there are any."""
    for file in files:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(file, folder / file.name)


def lines_of(edition: Path) -> list[tuple[str, str]]:
    """What a build says of a finished edition, each line with its stream: warnings, verdicts, the front page."""
    facts = json.loads((edition / "edition.json").read_text(encoding="utf-8"))
    kinds, lines = facts["warnings"], []
    if kinds:
        each = [
            f"{one['warnings']:,} {kind} ({count_of(one['places'], 'place')})"
            for kind, one in kinds.items()
        ]
        total = count_of(sum(one["warnings"] for one in kinds.values()), "warning")
        page = edition / "html" / f"{paper.DATA_PAGE}.html"
        lines.append(
            (
                "stderr",
                plain_lines(f"{total} about this workbook: {', '.join(each)}. Listed on {page}"),
            )
        )
    verdicts = f"{facts['verdicts']}. {facts['verdicts_of_other_works']}"
    return [*lines, ("stdout", verdicts), ("stdout", str(edition / "html" / "index.html"))]


def _facts(inputs: Inputs, study, provenance) -> dict:
    """What pages may say about their edition, apart from the verdicts."""
    given = [f"{name} = {value}" for name, value in sorted(inputs.given.items())]
    credited = provenance.kind == "third-party" and provenance.source
    about = paper.facts_of(study)
    return {
        "format": FORMAT,
        "name": inputs.name,
        "kind": provenance.kind,
        "label": provenance.label,
        "file": provenance.file,
        "sha256": provenance.sha256,
        "verified": provenance.verified,
        "fetched": provenance.fetched,
        "credit": provenance.source.acknowledgement if credited else "",
        "prompted_condition": about["prompted_condition"],
        "prompted_reason": about["prompted_reason"],
        "parameters": ", ".join(filter(None, [*given, str(inputs.options or "")]))
        or "as each notebook has them",
        "warnings": about["warnings"],
        "reader_warnings": about["reader_warnings"],
        "made": HowMade.of(inputs.project.sources, inputs.jobs, inputs.given).to_dict(),
    }
