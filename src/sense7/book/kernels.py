"""Kernels forked from a process that has imported the libraries and read the study, by multiprocessing's fork server.

A notebook gives the same as in a fresh kernel. Kernels end with this process, however it ends, and the fork server
with them.
"""

import json
import multiprocessing
import os
import pkgutil
import random
import signal
import sys
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path

import sense7
from sense7.processes import FIXED, without_keys
from sense7.record import EXECUTED_BY

ENVIRONMENT = {
    **FIXED,
    EXECUTED_BY: "sense7",
    # Python's warnings name the path of a package on this machine. What findings can't compute they say in words.
    "PYTHONWARNINGS": "ignore",
    # Memory that the C library of Linux keeps: what it returned has to be cleared again, a fifth of a kernel's time.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 28),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
}
"""Variables of the environment of kernels."""

LIBRARIES = (
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
    "scipy.stats",
    "seaborn",
    "sklearn",
    "statsmodels.api",
    "yaml",
)
PACKAGES = ("findings", "figures", "statistics", "judge.scores")
"""Packages of this library that notebooks use."""


def start_fork_server(study: tuple[Path, str] | None = None) -> None:
    """Begin to import libraries and read a study (path and name), unless this process has a fork server already.

    An interruption from the keyboard, which every process of the terminal gets, reaches neither the server nor a kernel
    before it has its own session: they are ended by this process.
    """
    from multiprocessing import forkserver, resource_tracker  # Windows has none

    preload = [*LIBRARIES, "sense7.book.study_ahead"]
    for package in PACKAGES:
        folder = Path(sense7.__file__).parent.joinpath(*package.split("."))
        for module in pkgutil.iter_modules([str(folder)]):
            preload.append(f"sense7.{package}.{module.name}")
    forkserver.set_forkserver_preload(preload)
    environment_of_build = dict(os.environ)
    environment = {
        **without_keys(),
        **ENVIRONMENT,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # No module of the folder that the build was started in takes the place of an installed one.
        "PYTHONSAFEPATH": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    # In place of the build's own, which may hold the key of a judge: the system shows what a process began with.
    os.environ.clear()
    os.environ.update(environment)
    if study:
        os.environ["SENSE7_STUDY_AHEAD"] = json.dumps([str(study[0]), study[1]])
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
        self.pid = process.pid
        self._process = process
        self.kill = process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    wait = poll  # it is called once the process has ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def kernel_manager(folder: str, environment: Mapping[str, str], kernels) -> type:
    """Class of a manager whose kernel has this environment, and its connection and name by ``folder``."""
    from jupyter_client import AsyncKernelManager, LocalProvisioner
    from jupyter_client.kernelspec import KernelSpec

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd, **options):
            options["env"] = dict(environment)
            if kernels.fork:
                arguments = (cmd[3:], str(options["cwd"]), options["env"])
                context = multiprocessing.get_context("forkserver")
                process = context.Process(target=be_kernel, args=arguments)
                process.start()
                self.process = _Forked(process)
                self.pid = process.pid
            else:
                await super().launch_kernel(cmd, **options)
            kernels.add(self.process)
            return self.connection_info

    class Manager(AsyncKernelManager):
        # Not one of the user's.
        kernel_spec = KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
        )

        def __init__(self, **traits):
            traits["kernel_id"] = str(uuid.uuid4())
            traits["connection_file"] = f"{folder}/connection.json"
            if sys.platform != "win32":
                # Sockets in place of ports, which another process may take.
                traits["transport"] = "ipc"
                traits["ip"] = f"{folder}/kernel"
            super().__init__(**traits)
            self.provisioner = Provisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )

    return Manager
