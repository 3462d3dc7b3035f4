"""A book on two workers of Dask gives the values of one process; a failure is named as ever."""

import json

import pytest

from helpers import naming
from helpers.checkout import Checkout, recording

distributed = pytest.importorskip("distributed", reason="the extra cluster is in no lock")


@pytest.fixture(scope="module")
def address():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster.scheduler_address


def test_a_book_made_on_a_cluster_has_the_values_of_one_process(address, tmp_path):
    gave = []
    for options in ((), ("--scheduler", address)):
        checkout = Checkout(tmp_path / f"{len(gave)}").book()
        checkout.notebook("02-b", recording("02-b", "read", "1"))
        done = checkout.sense7("build", "mine.xlsx", "--name", "same", *options)
        assert done.returncode == 0, done.stderr
        files = checkout.bytes("same")
        kept = ("results/", "notebooks/", "ledger.json")
        gave.append({file: content for file, content in files.items() if file.startswith(kept)})
    assert len(gave[0]) == 6
    assert gave[0] == gave[1]
    assert json.loads(gave[1]["results/02-b.json"])[0]["estimate"] == 1


def test_a_notebook_that_fails_on_a_cluster_is_named(address, checkout):
    done = checkout.book(code="1 / 0").sense7("build", "mine.xlsx", "--scheduler", address)
    assert done.returncode == 1
    naming.check(done.stderr, "01-a.md: ", "cell 3", "ZeroDivisionError")


def test_where_nothing_answers_the_message_says_how_to_start_a_scheduler(checkout):
    done = checkout.book().sense7("build", "mine.xlsx", "--scheduler", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    naming.check(done.stderr, "--scheduler tcp://127.0.0.1:9: ", "dask scheduler")
