"""A kernel provisioner of Jupyter that has its kernel forked from a process with the libraries imported.

The contract, with jupyter_client's ``KernelProvisionerBase``: a kernel specification whose ``metadata`` names the entry
point ``sense7-forked`` (group ``jupyter_client.kernel_provisioners``) starts its kernel here. Its ``config`` holds the
provisioner's traits. :meth:`ForkedKernelProvisioner.launch_kernel` gives the arguments of ``ipykernel_launcher``, the
folder and the environment to ``fork``, and gets a process with the methods of :class:`subprocess.Popen`, by which
:class:`LocalProvisioner` then watches, signals and ends the kernel. Where there is no ``fork``, or it raises
NurseryError, the kernel starts as LocalProvisioner starts any other.

``config`` holds functions, so the specification exists in memory only: it can't be a ``kernel.json``.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from jupyter_client import AsyncKernelManager, LocalProvisioner
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning import KernelProvisionerFactory
from traitlets import Any, Dict, Instance, default

from sense7.book.warm_kernels import NurseryError
from sense7.errors import UserError

__all__ = ["ENTRY_POINT", "ForkedKernelProvisioner", "kernel_manager"]

ENTRY_POINT = "sense7-forked"
_LAUNCHER = [sys.executable, "-m", "ipykernel_launcher"]


class ForkedKernelProvisioner(LocalProvisioner):
    """Starts a kernel with a fixed environment, by a fork where it can.

    Attributes
    ----------
    environment : dict
        All of the kernel's environment; what the manager asks for is ignored.
    fork : callable or None
        Takes arguments, folder and environment; returns a process, or raises NurseryError.
    fell_back : callable
        Called with the reason if the fork failed.
    started : callable
        Called with every process that was started.
    """

    environment = Dict()
    fork = Any(None, allow_none=True)
    fell_back = Any()
    started = Any()

    async def pre_launch(self, **options):
        """Complete the options of a start."""
        return await super().pre_launch(**options | {"env": self.environment})

    async def launch_kernel(self, cmd, **options):
        """Start the kernel, and return how to connect to it."""
        if not self._forked(cmd, options):
            await super().launch_kernel(cmd, **options)
        self.started(self.process)
        return self.connection_info

    def _forked(self, command: list[str], options: Mapping) -> bool:
        if self.fork is None:
            return False
        folder = str(options.get("cwd") or Path.cwd())
        try:
            self.process = self.fork(command[len(_LAUNCHER) :], folder, dict(options["env"]))
        except NurseryError as error:
            self.fell_back(str(error))
            return False
        self.pid, self.cwd = self.process.pid, folder
        return True


class _OneKernelSpec(KernelSpecManager):
    """Gives one specification under every name; kernels that a user has installed are not looked at."""

    spec = Instance(KernelSpec)

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return self.spec


def kernel_manager(connection_file: Path, config: Mapping) -> type[AsyncKernelManager]:
    """Class of a manager whose kernel the provisioner of this module starts.

    Parameters
    ----------
    connection_file : Path
        Where the addresses of the kernel's sockets are written.
    config : mapping
        Traits of :class:`ForkedKernelProvisioner`.

    Raises
    ------
    UserError
        If the environment was set up before the project had this entry point.
    """
    if ENTRY_POINT not in KernelProvisionerFactory.instance().provisioners:
        raise UserError(f"{sys.prefix}: does not have the entry point {ENTRY_POINT} of this project. Run: make setup")
    stanza = {"provisioner_name": ENTRY_POINT, "config": dict(config)}
    spec = KernelSpec(
        argv=[*_LAUNCHER, "-f", "{connection_file}"],
        display_name="Python 3",
        language="python",
        metadata={"kernel_provisioner": stanza},
    )

    class Manager(AsyncKernelManager):
        @default("connection_file")
        def _beside_the_run(self) -> str:
            return str(connection_file)

        @default("kernel_spec_manager")
        def _one_spec(self) -> KernelSpecManager:
            return _OneKernelSpec(spec=spec)

    return Manager
