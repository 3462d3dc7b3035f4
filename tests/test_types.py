"""What a type checker and an editor know of ``import sense7 as s7``, whose names are looked up when they are used."""

import os
import subprocess
import sys
from inspect import unwrap

import pytest
from scripts import derive

import sense7 as s7

USE = """
import sense7 as s7
from sense7 import figures

reveal_type(s7.load)
reveal_type(s7.load("synthetic"))
reveal_type(s7.conditions.odds_ratios)
s7.icc, s7.__version__, figures
s7.load("synthetic", stricter=True)
s7.lode("synthetic")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Line of ``USE`` -> what mypy says of it."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "use.py").write_text(USE, "utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={os.devnull}"]
    # What pandas and NumPy are is left open: reading theirs takes four times as long as ours.
    command += ["--no-site-packages", "--follow-imports=silent", "use.py"]
    environment = os.environ | {"MYPYPATH": str(derive.STUB.parents[1])}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    lines = {}
    for message in done.stdout.splitlines():
        file, _, rest = message.partition(":")
        if file == "use.py":
            number, _, text = rest.partition(": ")
            lines.setdefault(USE.splitlines()[int(number) - 1], text)
    return lines


def test_a_function_has_its_signature(said):
    loading = said["reveal_type(s7.load)"]
    assert "def (data: str | pathlib.Path, *, prompted_condition: str | None =" in loading
    assert loading.endswith('-> sense7.study.Study"')
    assert said['reveal_type(s7.load("synthetic"))'].endswith('"sense7.study.Study"')
    assert "study: sense7.study.Study" in said["reveal_type(s7.conditions.odds_ratios)"]


def test_what_is_not_there_is_refused_and_nothing_else(said):
    refused = [line for line, text in said.items() if text.startswith("error: ")]
    assert refused == ['s7.load("synthetic", stricter=True)', 's7.lode("synthetic")']
    assert "lode" in said['s7.lode("synthetic")']


def test_the_names_for_type_checkers_are_those_of_the_package():
    assert derive.STUB.read_text("ascii") == derive.stub(), "run `make derived`"
    assert (derive.STUB.parent / "py.typed").is_file()
    namespace = {}
    exec(derive.stub(), namespace)  # noqa: S102 -- made of this package's names
    assert {*s7.NAMES} < namespace.keys()
    assert namespace["__all__"] == s7.__all__
    for name, value in namespace.items():
        # The package gives a function with its checks; its module has it with or without them.
        assert name.startswith("__") or unwrap(value) is unwrap(getattr(s7, name)), name
