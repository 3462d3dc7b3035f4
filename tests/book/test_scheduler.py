"""Where the tasks of a build run: on this machine, or on a cluster (test_scheduler_cluster.py)."""

import sys

import pytest

from sense7.book.scheduler import ThisMachine, connect
from sense7.errors import UserError


def test_without_dask_the_message_says_what_to_install(checkout, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match='pip install "distributed'), connect("tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize("workers", [1, 2])
def test_this_machine_maps_in_order(workers):
    assert ThisMachine(workers).map(abs, [-3, 2, -1]) == [3, 2, 1]
