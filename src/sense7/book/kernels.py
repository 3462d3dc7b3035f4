"""Kernels forked from a process that has imported the libraries: by multiprocessing's fork server, under Linux.

What a notebook gives is what it gives in a fresh kernel. Kernels end with this process, however it ends, and the fork
server with them. Where a kernel can't be forked it starts fresh; see :mod:`sense7.book.execute`.
"""

import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from jupyter_client import AsyncKernelManager, LocalProvisioner
from jupyter_client.kernelspec import KernelSpec

from sense7.errors import UserError

_LIBRARIES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "matplotlib.backends.backend_svg",
    "pandas",
    "pandas.io.formats.html",
    "pandas.io.formats.csvs",
    "yaml",
)
_LAUNCHER = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]


def require_loopback() -> None:
    """Refuse to start kernels where this machine doesn't reach itself: each would be waited for a minute."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=10).close()
    except OSError as error:
        why = error.strerror or error
        raise UserError(
            "no notebook can be executed: Jupyter talks to its kernels by 127.0.0.1, which is not reached "
            f"({why}). Allow connections to it; in a container or sandbox without a network: ip link set lo up"
        ) from error


def start_fork_server(modules: Iterable[str], environment: Mapping[str, str]) -> None:
    """Begin to import what notebooks use, unless this process has a fork server already.

    An interruption from the keyboard, which every process of the terminal gets, reaches neither the server nor a kernel
    before it has its own session: they are ended by this process.
    """
    from multiprocessing import forkserver, resource_tracker  # Windows has none

    forkserver.set_forkserver_preload([*_LIBRARIES, *sorted(modules)])
    environment_of_build = dict(os.environ)
    # No module of the folder that the build was started in takes the place of an installed one.
    of_server = {**environment, "PYTHONSAFEPATH": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    # In place of the build's own, which may hold the key of a judge: the system shows what a process began with.
    os.environ.clear()
    os.environ.update(of_server)
    resource_tracker.ensure_running()  # it lets interruptions through afterwards
    signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        os.environ.clear()
        os.environ.update(environment_of_build)


def be_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Turn a copy of the fork server into a kernel, which is killed when the build is gone."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def end_with_the_build() -> None:
        multiprocessing.parent_process().join()
        os.killpg(os.getpid(), signal.SIGKILL)

    threading.Thread(target=end_with_the_build, daemon=True).start()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    sys.modules["numpy"].random.seed()  # else every copy would begin with the same state
    sys.argv = ["ipykernel_launcher", *arguments]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()


class _Forked:
    """A process of multiprocessing with the methods of subprocess.Popen that LocalProvisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self.pid, self._process = process.pid, process
        self.kill, self.terminate = process.kill, process.terminate

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def kernel_manager(
    connection_file: Path, environment: Mapping[str, str], fork: bool, started: Callable
) -> type[AsyncKernelManager]:
    """Class of a manager whose kernel has this environment, and is forked or starts fresh; ``started`` takes it."""

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd, **options):
            options["env"] = dict(environment)
            if fork:
                arguments = (cmd[3:], str(options.get("cwd") or Path.cwd()), options["env"])
                process = multiprocessing.get_context("forkserver").Process(
                    target=be_kernel, args=arguments
                )
                process.start()
                self.process, self.pid = _Forked(process), process.pid
            else:
                await super().launch_kernel(cmd, **options)
            started(self.process)
            return self.connection_info

    class Manager(AsyncKernelManager):
        # Not one of the user's.
        kernel_spec = KernelSpec(argv=_LAUNCHER, display_name="Python 3", language="python")

        def __init__(self, **traits):
            traits["connection_file"] = str(connection_file)
            traits["kernel_id"] = str(uuid.uuid4())
            super().__init__(**traits)
            self.provisioner = Provisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )

    return Manager
