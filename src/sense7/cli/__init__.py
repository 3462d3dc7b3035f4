"""The command line: verbs only. What they do lies in the modules they call.

Exit codes: 0 done; 1 a book that could not be built, a strict ledger that differs or compares nothing, or an edition
that does not verify; 2 something that the user can fix; 130 and 143 interrupted, by Ctrl-C and by SIGTERM. Messages
go to standard error, results to standard output.
"""

import atexit
import gc
import importlib
import io
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from sense7 import __version__
from sense7.cli.common import complain
from sense7.errors import UserError
from sense7.files import not_written

_INTERRUPTED = 130
_TERMINATED = 143
(_UsageError,) = typer.BadParameter.__bases__  # Typer exports it under no name

_PANELS = {
    "book": ("Build a book", ["build", "run", "ledger", "verify", "site", "notebooks"]),
    "data": ("Data", ["check", "template", "fetch", "simulate"]),
    "share": ("Collect ratings", ["import", "instrument", "gather"]),
    "judge": ("Judge", ["judge"]),
}
"""Module -> panel of the help, and its verbs."""

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    help="A SENSE-7 workbook of rated conversations in, a book of findings out.",
)


def add_verbs(called: str) -> None:
    """Add the verb that is called, without the modules of others; all of them where none is."""
    is_known = any(called in verbs for _, verbs in _PANELS.values())
    for name, (panel, verbs) in _PANELS.items():
        for verb in verbs:
            if is_known and verb != called:
                continue
            module = importlib.import_module(f"sense7.cli.{name}")
            if verb == "judge":
                app.add_typer(module.judge, name=verb, rich_help_panel=panel)
            else:
                function = getattr(module, verb if verb != "import" else "import_chats")
                app.command(verb, rich_help_panel=panel)(function)


add_verbs("".join(sys.argv[1:2]))


def main() -> None:
    """Run a verb; what a user can fix or ends is one message and its exit code, never a traceback."""
    # Measured: on several threads NumPy takes half as much processor time again, and hardly ends earlier.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Measured: `sense7 check` takes 10 % less where Python seldom looks for cycles, and never among modules.
    gc.freeze()
    gc.set_threshold(100_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Letters that its encoding lacks are escaped: Windows writes a file in a code page with few.
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _end)
    try:
        code, message = _run_verb()
    except KeyboardInterrupt:
        code, message = _INTERRUPTED, ""
    except SystemExit as end:
        code, message = end.code, ""
    for number in (signal.SIGINT, signal.SIGTERM):
        # A signal while Python ends would print a traceback.
        if signal.getsignal(number) is not signal.SIG_IGN:
            atexit.register(signal.signal, number, signal.SIG_DFL)
    if code in (_INTERRUPTED, _TERMINATED):
        message = "interrupted; what was finished is kept"
    if message:
        complain(message)
    gc.freeze()  # measured: `sense7 check` ends 6 % earlier without a last search for cycles
    sys.exit(code)


def _run_verb() -> tuple[int, str]:
    """Give the exit code, and what is to be said on standard error."""
    try:
        code = app(prog_name="sense7", standalone_mode=False)
        print(end="", flush=True)  # a closed output takes it, too
        return code or 0, ""
    except _UsageError as error:
        error.show()
        return error.exit_code, ""
    except UserError as error:
        return 2, str(error)
    except OSError as error:
        where = error.filename or "a file"
        try:
            if error.filename is None:  # that of standard output, unless that takes a line
                print(flush=True)
        except OSError:
            where = "standard output"
            # Python writes what is buffered once more when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 1, ""  # the reader, such as head, has closed the pipe
        return 2, not_written(where, error)


def _end(number: int, frame: object) -> NoReturn:
    """End a verb at SIGTERM as Ctrl-C does, with all the tidying up."""
    raise SystemExit(_TERMINATED)


def _version(requested: bool) -> None:
    if requested:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options before the verb."""
