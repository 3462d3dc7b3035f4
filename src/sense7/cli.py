"""The command line: verbs only. What they do lies in the modules they call.

Exit codes: 0 done; 1 a book that could not be built, a strict ledger that differs or compares nothing, or an edition
that does not verify; 2 something that the user can mend; 130 and 143 interrupted, by Ctrl-C and by SIGTERM. Messages
go to standard error, results to standard output.
"""

import atexit
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sense7 import __version__
from sense7.cli_judge import judge
from sense7.cli_more import assignments, progress_bar, run, site, template, verify
from sense7.cli_scale import partition, statistics, sweep
from sense7.errors import UserError
from sense7.files import not_written
from sense7.terminal import count_of, plain_lines

__all__ = ["main"]

_INTERRUPTED = 130
_TERMINATED = 143
_STANDARD_OUTPUT = "standard output"
_RELEASED = "real"
"""What ``check`` calls the released ratings of other studies, after their folder in data/."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A SENSE-7 workbook of rated conversations in, a book of findings out.",
)
app.command()(run)
app.command()(template)
app.command()(site)
app.command()(verify)
app.command()(sweep)
app.command()(partition)
app.command()(statistics)
app.add_typer(judge, name="judge")


def main() -> None:
    """Run a verb; what a user can mend or ends is one message and its exit code, never a traceback."""
    terminated = _treat_sigterm_as_ctrl_c()
    _name_standard_output()
    try:
        code, message = _run_verb()
    except KeyboardInterrupt:
        code, message = _INTERRUPTED, ""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        atexit.register(signal.signal, number, signal.SIG_DFL)  # what is left is to end: no traceback from there
    if code == _INTERRUPTED:
        message = "interrupted; what was finished is kept"
        code = _TERMINATED if terminated else code
    if message:
        print(plain_lines(f"sense7: {message}"), file=sys.stderr)
    gc.freeze()  # the interpreter would search all that is left for cycles before it ends
    sys.exit(code)


def _run_verb() -> tuple[int, str]:
    """Give the exit code, and what is to be said on standard error."""
    try:
        try:
            app()
        except SystemExit as end:
            sys.stdout.flush()
            return end.code, ""
    except UserError as error:
        return 2, str(error)
    except OSError as error:
        if error.filename in (None, _STANDARD_OUTPUT):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the same again at the very end
        if isinstance(error, BrokenPipeError):
            return 1, ""  # whoever read it, such as head, has had enough
        return 2, not_written(error.filename or "a file", error)
    return 0, ""


def _name_standard_output() -> None:
    """Let errors of writing to standard output name it: those of a file may have no name either."""

    def naming(method):
        def call(*arguments):
            try:
                return method(*arguments)
            except OSError as error:
                error.filename = _STANDARD_OUTPUT
                raise

        return call

    sys.stdout.write, sys.stdout.flush = naming(sys.stdout.write), naming(sys.stdout.flush)


def _treat_sigterm_as_ctrl_c() -> list[int]:
    """Let SIGTERM end a verb as Ctrl-C does, with all the tidying up; give a list that tells whether it came.

    The handler of SIGINT is called, since an event loop installs one of its own. A script's shell starts background
    jobs with SIGINT ignored: that stays so, and SIGTERM ends them all the same.
    """
    received = []

    def terminate(number, frame) -> None:
        received.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        (interrupt if callable(interrupt) else signal.default_int_handler)(signal.SIGINT, frame)

    with contextlib.suppress(ValueError):  # signals are for the main thread
        signal.signal(signal.SIGTERM, terminate)
    return received


def _fail(message: str, code: int) -> None:
    print(plain_lines(f"sense7: {message}"), file=sys.stderr)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the verb."""


_Scale = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="1-7|COLUMN=1-7|FILE.yml",
        help="Scale of the ratings, where it is not the official one; may be repeated.",
    ),
]
_Words = Annotated[
    Path | None, typer.Option(metavar="FILE.yml", help="Answers in words: one line for each, WORD: NUMBER.")
]
_AllowUnreadable = Annotated[
    bool, typer.Option("--allow-unreadable", help="Go on although more than 5 % of a column can't be read.")
]


@app.command()
def check(
    file: Annotated[
        str, typer.Argument(help="A workbook, or the name of a data set; real: the released ratings of other studies.")
    ],
    strict: Annotated[bool, typer.Option(help="Count warnings as errors.")] = False,
    prompted: Annotated[str | None, typer.Option(help="The condition with the empathy prompt.")] = None,
    scale: _Scale = None,
    words: _Words = None,
    allow_unreadable: _AllowUnreadable = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what is in a workbook, and what is wrong with it."""
    from sense7.loading import parse
    from sense7.workbook.report import describe_parsed, print_description

    options = {"scale": scale, "words": words, "allow_unreadable": allow_unreadable}
    if file == _RELEASED:
        if strict or prompted or any(options.values()):
            raise UserError(f"{file}: these tables are checked by their hashes. Give no other option than --json.")
        _check_released(as_json)
        return
    description = describe_parsed(parse(file, prompted_condition=prompted, strict=strict, **options))
    if as_json:
        print(json.dumps(description, indent=1))
    else:
        print_description(description)


def _check_released(as_json: bool) -> None:
    """Describe the released ratings of other studies, each verified by its hash."""
    from sense7.sources.released import describe_released

    tables = describe_released()
    if as_json:
        print(json.dumps(tables, indent=1))
        return
    print("Released ratings of other studies: numbers only, no texts. None of them is SENSE-7.")
    for table in tables:
        print(f"\n{table['file']}: {table['title']}")
        print(f"  {table['rows']:,} rows, one per {table['row']}; verified, sha256 {table['sha256']}")
        width = max(map(len, table["columns"]))
        for name, column in table["columns"].items():
            print(f"    {name:<{width}}  {_column_in_words(column)}")
        print(f"  Source: {table['page']} at {table['commit'][:7]}")
        print(f"  Licence: {table['licence']}. Credit: {table['credit']}")


def _column_in_words(column: Mapping) -> str:
    values = column.get("values")
    if values is None:
        text = f"from {column['lowest']:g} to {column['highest']:g}"
    else:
        text = ", ".join(values) if isinstance(values, list) else f"{values:,} different texts"
    return text + (f"; {column['missing']:,} missing" if column["missing"] else "")


@app.command()
def simulate(
    out: Annotated[Path | None, typer.Option(help="Workbook to write.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random step.")] = 20250919,
    truth: Annotated[
        Path | None, typer.Option(help="Where to write the truth; OUT's stem and _truth.json if not given.")
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to write a simulated judge's predictions; OUT's stem and _judge if not given.",
        ),
    ] = None,
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Without a simulated judge.")] = False,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
    ] = None,
    parameters: Annotated[bool, typer.Option("--parameters", help="List the parameters.")] = False,
) -> None:
    """Write a synthetic workbook in the official format, its truth, and the predictions of a simulated judge."""
    from sense7 import simulate as simulation

    if parameters:
        for line in simulation.describe_parameters():
            print(line)
        return
    if out is None:
        raise UserError("say where the workbook is to be written: --out FILE.xlsx")
    if judge and no_judge:
        raise UserError(f"--judge {judge} and --no-judge exclude each other. Give one of them.")
    if truth is None:
        truth = out.with_name(f"{out.stem}_truth.json")
    given = assignments(parameter or [])
    of_judge = {name: value for name, value in given.items() if name.startswith("judge_")}
    if of_judge and no_judge:
        raise UserError(f"--set {next(iter(of_judge))} and --no-judge exclude each other. Leave out one of them.")
    chosen = simulation.Parameters.from_mapping({name: given[name] for name in given.keys() - of_judge.keys()})
    asked = None if no_judge else simulation.JudgeParameters.from_mapping(of_judge)
    simulated = simulation.simulate(chosen, seed=seed, judge=asked)
    if asked is None:
        simulated.write(out, truth)
        print(f"{out}\n{truth}")
        return
    from sense7.judge.simulated import require_own_folder, simulated_folder, write_simulated

    folder = judge or simulated_folder(out)
    require_own_folder(folder)
    simulated.write(out, truth)
    predictions = write_simulated(simulated, folder)
    print("\n".join(map(str, (out, truth, *predictions))))


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Name of the data set, e.g. official.")],
    mirror: Annotated[
        str | None,
        typer.Option(help="Another address, file or folder; a copy of the official workbook is labelled unverified."),
    ] = None,
    again: Annotated[bool, typer.Option(help="Fetch even if it is here, and replace the copy that is here.")] = False,
) -> None:
    """Bring a published data set here, and record where it came from."""
    from sense7 import sources

    path = sources.fetch(name, mirror=mirror, again=again)
    _, provenance = sources.resolve(name)
    print(f"{provenance.label}\nsha256 {provenance.sha256}\n{path}")


@app.command()
def build(
    data: Annotated[str, typer.Argument(help="A workbook, or the name of a data set.")] = "synthetic",
    name: Annotated[str | None, typer.Option(help="Name of the edition.")] = None,
    predictions: Annotated[
        str | None, typer.Option(help="Folder of a judge's predictions; predictions_NAME if that is there.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A notebook parameter; may be repeated."),
    ] = None,
    prompted: Annotated[str | None, typer.Option(help="The condition with the empathy prompt.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks that run at once.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, whose workers execute the notebooks.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Count the reader's warnings as errors.")] = False,
    scale: _Scale = None,
    words: _Words = None,
    allow_unreadable: _AllowUnreadable = False,
    quiet: Annotated[bool, typer.Option(help="Print the result only.")] = False,
) -> None:
    """Build the book of a workbook; the last line is the path of its front page."""
    from sense7.pipeline import unchanged

    command = sys.argv[2:]
    before = unchanged.observe(command)
    from sense7.pipeline.build import BuildError, build_edition
    from sense7.workbook.options import ReadingOptions

    given = assignments(parameter or [])
    options = ReadingOptions.of(scale, words, allow_unreadable)
    if prompted:
        given["prompted_condition"] = prompted
    try:
        with progress_bar(quiet) as (say, progress):
            built = build_edition(
                data,
                name=name,
                predictions=predictions,
                parameters=given,
                workers=jobs,
                scheduler=scheduler,
                strict=strict,
                options=options,
                say=say,
                progress=progress,
            )
    except BuildError as error:
        _fail(str(error), 1)
    said = []
    if built.warnings:
        page = built.folder / "html" / "notebooks" / "01-dataset.html"
        said.append(("stderr", plain_lines(f"{_said_of(built.warnings)}. Listed on {page}")))
    said += [("stdout", built.verdicts), ("stdout", str(built.index))]
    nothing = [] if quiet else [("stderr", "nothing changed since this edition was built")]
    unchanged.say(said if built.changed else [*nothing, *said])
    unchanged.keep(command, before, [*nothing, *said])


def _said_of(warnings: Mapping[str, Mapping[str, int]]) -> str:
    """How many warnings of the reader there are, by kind."""
    kinds = [f"{one['warnings']:,} {kind} ({count_of(one['places'], 'place')})" for kind, one in warnings.items()]
    total = sum(one["warnings"] for one in warnings.values())
    return f"{count_of(total, 'warning')} about this workbook: {', '.join(kinds)}"


@app.command()
def ledger(
    edition: Annotated[str, typer.Argument(help="Name of a built edition.")] = "synthetic",
    strict: Annotated[
        bool,
        typer.Option(help="Exit with 1 if the official workbook differs from a primary figure, or was not compared."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print every published claim beside what an edition computed."""
    from sense7.claims import DIFFERS, PRIMARY, REPRODUCED
    from sense7.pipeline.build import find_checkout, read_ledger

    rows, label = read_ledger(find_checkout(), edition)
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _print_ledger(f"Ledger of the edition {edition}: {label}", [row for row in rows if not _of_another(row)])
        if others := [row for row in rows if _of_another(row)]:
            _print_ledger("Claims about other works, compared with the numbers that they released", others)
    # Other works are compared with their own numbers in every edition, which says nothing of SENSE-7.
    rows = [row for row in rows if not _of_another(row)]
    if strict and not any(row["verdict"] in {REPRODUCED, DIFFERS} for row in rows):
        _fail(
            f"{edition}: nothing was compared with the paper, since these data are: {label}. Only the official "
            "workbook from the authors' repository is compared: sense7 fetch official, then make book DATA=official",
            1,
        )
    differing = [row["id"] for row in rows if row["verdict"] == DIFFERS and row["published"]["grade"] in PRIMARY]
    if strict and differing:
        _fail(f"{edition}: differs from a primary figure: {', '.join(differing)}", 1)


@app.command()
def notebooks(
    check_only: Annotated[bool, typer.Option("--check", help="Only say whether they are up to date.")] = False,
) -> None:
    """Derive the .ipynb files that Binder and Colab open from the text notebooks."""
    from sense7.files import write_whole
    from sense7.pipeline.build import find_checkout, read_config
    from sense7.pipeline.notebooks import find_notebooks, installable_from, to_ipynb

    root = find_checkout()
    address = installable_from(read_config(root)["repository"])
    stale = []
    for notebook in find_notebooks(root):
        place, text = notebook.path.with_suffix(".ipynb"), to_ipynb(notebook, address)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            stale.append(place.name)
            if not check_only:
                write_whole(place, text)
    if stale and check_only:
        _fail(f"not up to date: {', '.join(stale)}. Run: make derived", 1)
    print(f"{len(stale)} written" if stale else "up to date")


def _of_another(row: Mapping) -> bool:
    """Whether a row is about another work, compared with the numbers that this work released."""
    return bool(row["published"].get("release"))


def _print_ledger(title: str, rows: list[dict]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sense7.record import format_value

    table = Table(title=Text(plain_lines(title)), title_justify="left", show_lines=True)
    for head in ("Claim", "Grade", "Published", "This edition", "Verdict", "Why"):
        table.add_column(head)
    for row in rows:
        claim, computed = row["published"], row["computed"]
        note = f"\nContradiction: {claim['contradiction']}" if claim["contradiction"] else ""
        cells = (
            f"{claim['title']}{note}",
            claim["grade"],
            claim["shown"],
            format_value(computed) if computed else "-",
            row["verdict"] + (" (tuned)" if row["tuned"] else ""),
            row["why"],
        )
        table.add_row(*(Text(plain_lines(cell)) for cell in cells))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
