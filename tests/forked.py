"""Python's processes for tests, forked from one that has imported all that a book needs.

Imports are nine tenths of the processor time of a small book. ``python forked.py serve DESCRIPTOR`` is the process that
has them, on a listening socket; asked for one, it forks a copy, which becomes

- Jupyter Book's process or the nursery of kernels: ``python forked.py ask ADDRESS WHAT DESCRIPTOR`` stands in the place
  of the module, hands its files to the copy, and ends as the copy ended;
- what ``python -c CODE ARGUMENTS`` would be: :meth:`Forks.start`, with the methods of :class:`subprocess.Popen`.

Tests of how these processes start, or how all of them end with a terminal or on a full disk, do without.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

LARGEST = 1 << 17
WHAT_A_COMMAND_IMPORTS = ("sense7.cli", "papermill", "nbclient", "jupyter_client.asynchronous", "zmq.asyncio")
SERVING = (sys.executable, "-P", "-X", "utf8", "-X", "frozen_modules=off", __file__)


# The tests' side


class Forks:
    """The process that is forked, in a folder for its socket."""

    def __init__(self, folder: Path):
        self.address = str(folder / "s")
        self.mark = f"{uuid.uuid4()}"
        fixed = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        fixed |= {"PYTHONHASHSEED": "0", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(self.address)
            listening.listen()
            self._process = subprocess.Popen(
                [*SERVING, "serve", self.address, str(listening.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                env=os.environ | fixed | {"SENSE7_TEST_MARK": self.mark},
                start_new_session=True,
            )
        self.pid = self._process.pid

    def command(self, what: str, *arguments: object) -> tuple[str, ...]:
        """What stands in the place of a module's command: pages or kernels; or of ``python -c``: python."""
        return asking(self.address, what, *map(str, arguments))

    def start(self, code: str, *arguments: object, folder: Path, environment: dict[str, str]) -> "Copy":
        """Start ``python -c code arguments`` in a folder and a session of its own."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line.connect(self.address)
        out, err = (tempfile.TemporaryFile("w+") for _ in "ab")  # noqa: SIM115 - closed when they were read
        given = [code, *map(str, arguments)]
        request = {"what": "python", "arguments": given, "folder": str(folder), "environment": environment}
        with Path(os.devnull).open() as nothing:
            files = [file.fileno() for file in (nothing, out, err)]
            socket.send_fds(line, [json.dumps(request).encode()], files)
        return Copy(int(line.recv(16)), line, out, err)

    def close(self) -> None:
        self._process.communicate()


class Copy:
    """A process that was forked, with the face of :class:`subprocess.Popen`; what it says goes to files."""

    def __init__(self, pid: int, line: socket.socket, out, err):
        self.pid, self.returncode, self._line, self._files = pid, None, line, (out, err)

    def poll(self) -> int | None:
        with contextlib.suppress(TimeoutError, BlockingIOError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._line.settimeout(timeout)
            self.returncode = int(self._line.recv(16))
            self._line.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        said = []
        for file in self._files:
            file.seek(0)
            said.append(file.read())
            file.close()
        return tuple(said)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def asking(address: str, what: str, *arguments: str) -> tuple[str, ...]:
    return sys.executable, "-I", "-S", __file__, "ask", address, what, *arguments


def ask(address: str, what: str, *arguments: str) -> int:
    """Have a copy made that sees the disks, and writes files as large, as this process; give its exit code."""
    request = {"what": what, "arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    request |= {"asker": os.getpid(), "limit": resource.getrlimit(resource.RLIMIT_FSIZE)}
    work = [] if what == "python" else [int(arguments[0])]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(address)
        socket.send_fds(line, [json.dumps(request).encode()], [0, 1, 2, *work])
        line.recv(16)  # the copy's id
        return int(line.recv(16) or b"1")


# The other side


def serve(address: str, descriptor: str) -> None:
    """Import what processes of a build do, then fork a copy for everyone who asks, until standard input is closed."""
    import gc

    import_all()
    gc.collect()
    gc.freeze()
    request = fork_for_all(socket.socket(fileno=int(descriptor)))
    if request is not None:
        os.environ.clear()
        os.environ.update(request["environment"])
        if "asker" in request:
            see_the_disks_of(request["asker"])
            resource.setrlimit(resource.RLIMIT_FSIZE, request["limit"])
        os.chdir(request["folder"])
        {"pages": be_pages, "kernels": be_nursery, "python": be_python}[request["what"]](address, request)


def import_all() -> None:
    """Import what kernels do, and then, without the warnings that Jupyter Book does not show, what it does."""
    import importlib
    import warnings

    from sense7.book import jupyter_book, warm_kernels

    warm_kernels._preload()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in (*jupyter_book._PRELOADED, *WHAT_A_COMMAND_IMPORTS):
            importlib.import_module(name)


def fork_for_all(listening: socket.socket) -> dict | None:
    """Fork for every request and tell how copies end; gives the request in a copy, and None at the end."""
    copies = {}  # pidfd -> pid, line
    while True:
        for ready in select.select([listening, 0, *copies], [], [])[0]:
            if ready == 0:
                return None
            if ready is not listening:
                tell_the_end(ready, *copies.pop(ready))
                continue
            line, _ = listening.accept()
            message, files = received(line)
            if not message:
                line.close()
                continue
            pid = os.fork()
            if pid == 0:
                for file in (listening, line, *(line for _, line in copies.values())):
                    file.close()
                for pidfd in copies:
                    os.close(pidfd)
                return json.loads(message) | {"files": take(files)}
            for file in files:
                os.close(file)
            copies[os.pidfd_open(pid)] = pid, line
            tell(line, pid)


def received(line: socket.socket) -> tuple[bytes, list[int]]:
    """What is asked for, with its files; nothing of one who was killed before it asked."""
    try:
        return socket.recv_fds(line, LARGEST, 4)[:2]
    except ConnectionResetError:
        return b"", []


def tell(line: socket.socket, number: int) -> None:
    """Send a number to who asked, if that one has not been killed since."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        line.send(str(number).encode())


def take(files: list[int]) -> list[int]:
    """Make the first three files the standard ones; give the others."""
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
        os.close(file)
    return files[3:]


def tell_the_end(pidfd: int, pid: int, line: socket.socket) -> None:
    os.close(pidfd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with line:
        tell(line, code)


def see_the_disks_of(pid: int) -> None:
    """Join the namespaces of a process that has disks mounted which others do not see."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    for kind in ("user", "mnt"):
        theirs, ours = (Path("/proc") / process / "ns" / kind for process in (str(pid), "self"))
        if theirs.readlink() != ours.readlink():
            with theirs.open() as namespace:
                if library.setns(namespace.fileno(), 0):
                    raise OSError(ctypes.get_errno(), "it can't be joined", str(theirs))


def be_pages(address: str, request: dict) -> None:
    import warnings

    from sense7.book import jupyter_book

    warnings.simplefilter("ignore")
    jupyter_book.main(*request["files"])


def be_nursery(address: str, request: dict) -> None:
    from sense7.book import warm_kernels

    os.setsid()
    warm_kernels._preload = lambda: None
    warm_kernels.main(*request["files"])


def be_python(address: str, request: dict) -> None:
    """Run the code as the main module of a process whose own processes are forked, too."""
    import types

    from sense7.book import execute, jupyter_book, warm_kernels

    os.setsid()
    jupyter_book._COMMAND = asking(address, "pages")
    warm_kernels.COMMAND = asking(address, "kernels")
    execute.WORTH_WARMING = 1
    code, *arguments = request["arguments"]
    sys.argv = ["-c", *arguments]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), vars(main))  # noqa: S102 - the test's own


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    sys.exit({"ask": ask, "serve": serve}[what](*arguments))
