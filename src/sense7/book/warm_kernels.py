"""Kernels that start warm: one process imports the libraries once, and forks a kernel on request.

Of the seconds that a small notebook takes, most go into a fresh kernel's imports and into reading
the workbook. Here a *nursery* imports what notebooks use, and then waits. Asked for a kernel, it
reads the workbook that the notebook will load, unless it did so for the kernel before, and forks;
the copy becomes an ordinary IPython kernel on the connection file that it was given. It has run
nothing else, so what a notebook gives is what it gives in a fresh kernel; a test compares the two.

The build holds one end of a socket for each kernel and one for the nursery. If an end is closed,
as the system does when the build is killed, the kernel or all of them are killed. Forking is
relied on under Linux only; elsewhere, and wherever it fails, kernels start fresh.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ["Nursery", "NurseryError"]

FORKS = sys.platform == "linux" and hasattr(os, "pidfd_open")
"""Whether this system forks safely; macOS does not, once its libraries run."""

# -P: no module of the folder that the build was started in takes the place of an installed one.
COMMAND = (sys.executable, "-P", "-X", "frozen_modules=off", "-m", "sense7.book.warm_kernels")

_LARGEST = 1 << 17
_PRELOADED = (
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "matplotlib.pyplot", "matplotlib_inline.backend_inline"),
    # What a kernel, a table or a figure would else import when it is made.
    *("ipykernel.debugger", "IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect"),
    *("IPython.extensions.storemagic", "pandas.io.formats.html", "pandas.io.formats.csvs"),
    *("matplotlib.backends.backend_svg", "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin"),
    "PIL.PpmImagePlugin",
)
_LIBRARIES = ("pandas", "scipy.stats", "seaborn", "sklearn", "statsmodels.api", "yaml")
_PARTS = ("", "estimators", "figures", "findings", "judge", "sources", "workbook")


class NurseryError(Exception):
    """No kernel can be had here; the text says why."""


# The build's side -------------------------------------------------------------------------


class Nursery:
    """A process that forks warm kernels, as long as this object is open.

    Parameters
    ----------
    environment : mapping
        Environment that the imports see. A kernel gets its own.

    Raises
    ------
    NurseryError
        If this system has none.
    """

    def __init__(self, environment: dict[str, str]):
        if not FORKS:
            raise NurseryError("this system does not fork safely")
        self._kernels: list[ForkedKernel] = []
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this module itself
                [*COMMAND, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )

    def fork(
        self, arguments: list[str], folder: str, environment: dict[str, str], data: Path | None = None
    ) -> "ForkedKernel":
        """Ask for a kernel; the first one waits until the imports are done.

        Parameters
        ----------
        arguments : list of str
            Of the kernel's command line, e.g. ``-f connection.json``.
        folder : str
            Its working directory.
        environment : mapping
            Its environment.
        data : path, optional
            The workbook that it will load.

        Raises
        ------
        NurseryError
            If the nursery is gone.
        """
        asked = {"arguments": arguments, "folder": folder, "environment": environment, "data": data and str(data)}
        request = json.dumps(asked).encode()
        if len(request) > _LARGEST:
            raise NurseryError("the environment is too large")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reason = "it ended"
        try:
            with theirs:
                socket.send_fds(self._control, [request], [theirs.fileno()])
            answer = ours.recv(64)
        except OSError as error:
            answer, reason = b"", str(error)
        if not answer:
            ours.close()
            raise NurseryError(f"the process that forks kernels is gone ({reason})")
        self._kernels.append(ForkedKernel(int(answer), ours))
        return self._kernels[-1]

    def close(self) -> None:
        """End the nursery and the kernels that are left."""
        self._control.close()
        if not self._kernels:
            self._process.kill()  # it may still be importing, for nobody
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for kernel in self._kernels:
            kernel.poll()


class ForkedKernel:
    """A kernel that a nursery forked, with the face of :class:`subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, line: socket.socket):
        self.pid = pid
        self.returncode: int | None = None
        self._line = line

    def poll(self) -> int | None:
        """Exit code, or None while it runs."""
        return self._look(wait=False)

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end, and return the exit code."""
        if self.returncode is None:
            self._line.settimeout(timeout)
        try:
            return self._look(wait=True)
        except TimeoutError:
            raise subprocess.TimeoutExpired("kernel", timeout or 0) from None

    def _look(self, *, wait: bool) -> int | None:
        if self.returncode is None:
            try:
                answer = self._line.recv(64, 0 if wait else socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            except TimeoutError:
                raise
            except OSError:
                answer = b""
            self.returncode = int(answer) if answer else -signal.SIGKILL
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel and what it started; nothing once it has ended."""
        # Through the nursery, which has not reaped it yet if it is there: its pid can't be another's by now.
        with contextlib.suppress(OSError):
            self._line.send(str(int(number)).encode())

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


# The nursery's side -----------------------------------------------------------------------


def _preload() -> None:
    """Import what notebooks import. What can't be had is for the notebook to say."""
    import sense7

    packages = [sense7 if not part else importlib.import_module(f"sense7.{part}") for part in _PARTS]
    ours = [
        f"{package.__name__}.{entry.name}"
        for package in packages
        for entry in pkgutil.iter_modules(package.__path__)
        if package is not sense7 or not (entry.ispkg or entry.name.startswith("cli"))
    ]
    for name in (*_PRELOADED, *_LIBRARIES, *ours):
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _read(data: str) -> None:
    """Read what kernels load, in place of what earlier ones did. What can't be read is for the notebook to say."""
    gc.unfreeze()
    with contextlib.suppress(Exception):
        importlib.import_module("sense7.loading").read_ahead(data)
    gc.collect()
    # Measured: a kernel that loads the workbook and collects once takes a sixth of the processor time, since the
    # collector then leaves the pages that it shares with the nursery alone.
    gc.freeze()


def _serve(control: socket.socket) -> dict | None:
    """Fork a kernel for every request; returns the request in the copy, and None in the nursery at the end."""
    kernels: dict[int, tuple[int, socket.socket]] = {}  # pid -> pidfd, line
    read = None
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ, ("control", 0))
        try:
            while True:
                for key, _ in selector.select():
                    kind, pid = key.data
                    if kind == "ended" and pid in kernels:
                        _end(selector, kernels, pid)
                    elif kind == "line" and pid in kernels:
                        _signal(pid, kernels[pid][1])
                    elif kind == "control":
                        message, files, _, _ = socket.recv_fds(control, _LARGEST, 1)
                        if not message:
                            return None
                        line = socket.socket(fileno=files[0])
                        request = json.loads(message)
                        if request["data"] not in (None, read):
                            read = request["data"]
                            _read(read)
                        pid = os.fork()
                        if pid == 0:
                            # Nothing of the nursery's stays open here, else the build would never see an end.
                            for pidfd, other in kernels.values():
                                os.close(pidfd)
                                other.close()
                            kernels.clear()
                            line.close()
                            control.close()
                            return request
                        kernels[pid] = (os.pidfd_open(pid), line)
                        selector.register(kernels[pid][0], selectors.EVENT_READ, ("ended", pid))
                        selector.register(line, selectors.EVENT_READ, ("line", pid))
                        with contextlib.suppress(OSError):  # the build is gone; so is its end of all others
                            line.send(str(pid).encode())
        finally:
            for pid in list(kernels):
                _kill(pid, signal.SIGKILL)


def _signal(pid: int, line: socket.socket) -> None:
    """Pass on a signal; a line that was closed means that nobody waits for this kernel any more."""
    try:
        message = line.recv(64)
    except OSError:
        message = b""
    _kill(pid, int(message) if message else signal.SIGKILL)


def _kill(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)  # it leads a group of its own
    except ProcessLookupError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)  # not a leader yet


def _end(selector: selectors.BaseSelector, kernels: dict, pid: int) -> None:
    pidfd, line = kernels.pop(pid)
    _, status = os.waitpid(pid, 0)
    selector.unregister(pidfd)
    selector.unregister(line)
    os.close(pidfd)
    with line, contextlib.suppress(OSError):
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become_kernel(request: dict, nursery: int) -> None:
    """Turn this copy into the kernel that was asked for."""
    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    # The kernel watches its parent, and ends with it.
    os.environ.update(request["environment"] | {"JPY_PARENT_PID": str(nursery)})
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # else every copy would begin with the same state
    sys.argv = ["ipykernel_launcher", *request["arguments"]]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()


def main(descriptor: int) -> None:
    """Be a nursery until the other end of the socket is closed, or the kernel that was forked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the build, which then closes the socket
    nursery = os.getpid()
    _preload()
    gc.freeze()
    request = _serve(socket.socket(fileno=descriptor))
    if request is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _become_kernel(request, nursery)


if __name__ == "__main__":
    main(int(sys.argv[1]))
