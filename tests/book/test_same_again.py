"""Same again: neither threads nor workers nor the way kernels start change a number, to the last byte."""

import json

import pytest

from sense7.book import execute
from sense7.book.plan import FIXED, plan

CODE = """\
import numpy as np
import threadpoolctl
import sense7 as s7

record = s7.Recorder("{name}", results)
random = np.random.default_rng(seed)
many = random.normal(size=(600, 600))
inverse = np.linalg.inv(many @ many.T)
record.value("sum_of_{name}", float(inverse.sum()), n=600, unit="levels", method="sum of an inverse")
record.value("eigenvalue_of_{name}", float(np.linalg.eigvalsh(inverse)[-1]), n=600, unit="levels", method="largest")
record.value("order_of_{name}", "".join({{"a", "b", "c", "d"}}), n=4, unit="letters", method="order of a set")
threads = max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
record.value("threads_of_{name}", threads, n=1, unit="threads", method="asked of the libraries")
inverse[:2, :2]"""
NAMES = ("01-a", "02-b")

WAYS = {"forked": {"threads": "4", "workers": 2, "fork": 1}, "fresh": {"threads": "1", "workers": 1, "fork": 99}}


@pytest.fixture(scope="module")
def executed(new_checkout):
    """Execute two notebooks in both ways: way -> file -> bytes."""
    checkout = new_checkout()
    for name in NAMES:
        checkout.notebook(name, CODE.format(name=name))
    jobs = plan(checkout.root, {"results": "../results"})
    found = {}
    for number, (way, how) in enumerate(WAYS.items()):
        folder = checkout.root / f"edition {number}"
        with pytest.MonkeyPatch.context() as patch:
            for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                patch.setenv(variable, how["threads"])
            patch.setenv("PYTHONHASHSEED", str(number))
            patch.setattr(execute, "WORTH_FORKING", how["fork"])
            execute.run(jobs, folder, folder / "cache", workers=how["workers"])
        files = [*folder.glob("results/*.json"), *folder.glob("notebooks/*.ipynb")]
        found[way] = {path.name: path.read_bytes() for path in files}
    return found


def test_threads_workers_and_kernels_change_no_byte(executed):
    assert set(executed["fresh"]) == {f"{name}.{ending}" for name in NAMES for ending in ("json", "ipynb")}
    assert executed["forked"] == executed["fresh"]


def test_kernels_compute_with_one_thread_whatever_the_environment_says(executed):
    for files in executed.values():
        values = {value["key"]: value["estimate"] for value in json.loads(files["01-a.json"])}
        assert values["threads_of_01-a"] == 1


def test_versions_and_threads_make_notebooks_run_again(new_checkout, monkeypatch):
    checkout = new_checkout()
    checkout.notebook("01-a", "1")

    def digest():
        return plan(checkout.root, {})["01-a"].digest

    before = digest()
    assert digest() == before
    with monkeypatch.context() as patch:
        patch.setattr("sense7.book.plan.versions", lambda: {"numpy": "another"})
        assert digest() != before
    with monkeypatch.context() as patch:
        patch.setitem(FIXED, "OMP_NUM_THREADS", "2")
        assert digest() != before
