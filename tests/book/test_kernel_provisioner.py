"""The kernel provisioner: found by its entry point, and kept to its contract with jupyter_client."""

import asyncio
import signal
from importlib.metadata import entry_points

import pytest
from jupyter_client import LocalProvisioner
from jupyter_client.provisioning import KernelProvisionerFactory

from sense7.book.kernel_provisioner import ENTRY_POINT, ForkedKernelProvisioner, kernel_manager
from sense7.book.warm_kernels import NurseryError
from sense7.errors import UserError


class Process:
    """What a nursery gives, with the methods of Popen."""

    stdin = stdout = stderr = None
    pid, returncode = 1 << 30, None  # a pid that no process has

    def poll(self):
        return self.returncode

    wait = poll

    def send_signal(self, number):
        self.returncode = -number


@pytest.fixture
def start(tmp_path):
    """Start a kernel by a manager with a fork of the test's; returns the manager, and what was reported."""

    managers = []

    def start(fork):
        reported = {"started": [], "fell_back": []}
        config = {name: given.append for name, given in reported.items()}
        config |= {"environment": {"ONLY": "this"}, "fork": fork}
        manager = kernel_manager(tmp_path / "connection.json", config)(kernel_name="python3")
        managers.append(manager)
        asyncio.run(manager.start_kernel(cwd=str(tmp_path), env={"ANOTHER": "environment"}))
        return manager, reported

    yield start
    for manager in managers:
        asyncio.run(manager.cleanup_resources())


def test_jupyter_finds_it_by_its_entry_point():
    (entry,) = entry_points(group=KernelProvisionerFactory.GROUP_NAME, name=ENTRY_POINT)
    assert entry.load() is ForkedKernelProvisioner


def test_a_kernel_is_forked_with_its_arguments_its_folder_and_a_fixed_environment(tmp_path, start):
    asked = []
    process = Process()
    manager, reported = start(lambda *request: asked.append(request) or process)
    ((arguments, folder, environment),) = asked
    assert arguments == ["-f", str(tmp_path / "connection.json")]
    assert folder == str(tmp_path)
    assert environment == {"ONLY": "this"}
    assert isinstance(manager.provisioner, ForkedKernelProvisioner)
    assert reported == {"started": [process], "fell_back": []}
    assert asyncio.run(manager.is_alive())
    asyncio.run(manager.provisioner.kill())
    assert process.returncode == -signal.SIGKILL
    assert not asyncio.run(manager.is_alive())


@pytest.mark.parametrize("fork", [None, "fails"])
def test_without_a_fork_the_kernel_starts_as_any_other(monkeypatch, start, fork):
    fresh = Process()

    async def launch(provisioner, command, **options):
        provisioner.process = fresh

    def fails(*request):
        raise NurseryError("it ended")

    monkeypatch.setattr(LocalProvisioner, "launch_kernel", launch)
    _, reported = start(fails if fork else None)
    assert reported == {"started": [fresh], "fell_back": ["it ended"] if fork else []}


def test_an_environment_that_is_older_than_the_entry_point_is_named(monkeypatch, start):
    monkeypatch.setattr(KernelProvisionerFactory.instance(), "provisioners", {})
    with pytest.raises(UserError, match=f"{ENTRY_POINT} of this project. Run: make setup"):
        start(None)
