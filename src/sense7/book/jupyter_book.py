"""Jupyter Book in a process of its own, which works while notebooks are executed and then waits for what they give.

The build holds the other end of its standard input. If that is closed, as the system does when the build is killed,
the process ends; so it does if it is never told what to do.
"""

import contextlib
import functools
import gc
import importlib.metadata
import inspect
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from sense7.judge.endpoint import without_keys

__all__ = ["JupyterBook"]

# -P: no module of the folder that the build was started in takes the place of an installed one.
_COMMAND = (sys.executable, "-P", "-X", "utf8", "-m", "sense7.book.jupyter_book")

_PRELOADED = (
    *("jupyter_book.cli.main", "jupyter_book.sphinx", "sphinx.builders.html"),
    *("myst_nb.sphinx_", "myst_nb.sphinx_ext", "myst_parser.sphinx_ext.main"),
    *("sphinx_book_theme", "pydata_sphinx_theme", "sphinxcontrib.bibtex", "sphinx_design", "sphinx_external_toc"),
    *("sphinx_copybutton", "sphinx_togglebutton", "sphinx_comments", "sphinx_multitoc_numbering", "sphinx_thebe"),
    *("sense7.book.extensions.directives", "sense7.book.extensions.explorer", "sense7.book.extensions.figure"),
    *("sense7.book.extensions.references", "sense7.book.extensions.api", "sense7.book.extensions.builder"),
    *("sense7.book.extensions.conversations", "sense7.book.extensions.truths"),
)


class JupyterBook:
    """The process; a context that ends it.

    Examples
    --------
    >>> with JupyterBook() as program:
    ...     program.start(["--version"], Path())
    ...     code, log = program.finish()
    >>> code
    0
    """

    def __enter__(self) -> "JupyterBook":
        theirs, self._held = os.pipe()
        work, self._work = os.pipe()
        # A file, since nobody reads while the process waits.
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [*_COMMAND, str(work)],
                stdin=theirs,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                pass_fds=[work],
                env=without_keys() | {"NO_COLOR": "1", "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"},
            )
        except BaseException:
            self._close()
            raise
        finally:
            os.close(theirs)
            os.close(work)
        return self

    def start(self, arguments: Sequence[str], folder: Path) -> None:
        """Run Jupyter Book with these arguments in a folder, once; pages of an edition wait for :meth:`finish`."""
        self._tell(json.dumps({"arguments": list(arguments), "folder": str(folder)}))

    def finish(self, meanwhile: Callable[[], object] = lambda: None) -> tuple[int, str]:
        """Say that the edition is complete, do something else, and wait for the end.

        Returns
        -------
        code : int
            Exit code.
        log : str
            What it printed.
        """
        self._tell("complete")
        meanwhile()
        code = self._process.wait()
        self._log.seek(0)
        return code, self._log.read().decode("utf-8", "replace")

    def _tell(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError), open(self._work, "w", encoding="utf-8", closefd=False) as stream:
            stream.write(f"{line}\n")

    def __exit__(self, *error: object) -> None:
        self._process.kill()  # does nothing to one that has ended
        self._process.wait()
        self._close()

    def _close(self) -> None:
        os.close(self._held)
        os.close(self._work)
        self._log.close()


def _spare_repetition() -> None:
    """Let Sphinx and what it uses do the same with less work, in the whole process."""
    import yaml

    # Asked hundreds of times, of packages and sources that stay as they are while pages are made.
    for name in ("importlib.metadata", "importlib_metadata"):
        with contextlib.suppress(ImportError):  # the second is what packages for older Python use
            module = importlib.import_module(name)
            module.entry_points = _entry_points(functools.cache(module.entry_points))
    inspect.getsource = functools.cache(inspect.getsource)
    # The configuration and the contents are read several times, by a loader in Python where there is one in C.
    yaml.safe_load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    logging.disable(logging.DEBUG)  # a thousand messages that nobody asked for


def _entry_points(find: Callable) -> Callable:
    """Select from what was found once."""
    return lambda **wanted: find().select(**wanted) if wanted else find()


def main(work: int) -> None:
    """Be that process."""
    threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
    _spare_repetition()
    for name in _PRELOADED:
        with contextlib.suppress(Exception):  # Jupyter Book says it better
            importlib.import_module(name)
    # Pages are millions of objects that stay to the end: looking through them for cycles takes a quarter of the time.
    gc.disable()
    with open(work, encoding="utf-8") as stream:
        line = stream.readline()
        if line:
            from sense7.book.extensions.builder import PagesBuilder

            request = json.loads(line)
            os.chdir(request["folder"])
            sys.argv = ["jupyter-book", *request["arguments"]]
            # The edition is complete once a second line comes; at the end of the stream, so is the build.
            PagesBuilder.edition_is_complete = staticmethod(functools.cache(lambda: stream.readline() or os._exit(1)))
            importlib.import_module("jupyter_book.cli.main").main()


if __name__ == "__main__":
    main(int(sys.argv[1]))
