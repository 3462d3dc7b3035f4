"""The process from which tests fork others outlives those that asked it for one."""

import json
import os
import socket
from pathlib import Path

import pytest

CODE = "import sys; print(*sys.argv[1:]); sys.exit(3)"


@pytest.fixture
def request_of_one(tmp_path):
    return {"what": "python", "arguments": ["pass"], "folder": str(tmp_path), "environment": dict(os.environ)}


@pytest.mark.parametrize("asked", [False, True], ids=["before it asked", "after it asked"])
def test_who_is_killed_ends_nothing_but_itself(forks, asked, request_of_one, tmp_path):
    if forks is None:
        pytest.skip("processes are forked on Linux alone")
    for _ in range(20):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line, Path(os.devnull).open() as nothing:
            line.connect(forks.address)
            if asked:
                socket.send_fds(line, [json.dumps(request_of_one).encode()], [nothing.fileno()] * 3)
    after = forks.start(CODE, "still", "here", folder=tmp_path, environment=dict(os.environ))
    assert after.communicate(timeout=60) == ("still here\n", "")
    assert after.returncode == 3
