"""What CONTRIBUTING.md asks of a finding's docstring: formula, source, missing values, doctest, reference.

Functions that were written before this was checked are listed in ``docstrings_to_complete.json`` with what each lacks.
The list only becomes shorter: what is completed is taken off, and no function is added.
"""

import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import pytest

import sense7.findings

LISTED = Path(__file__).with_name("docstrings_to_complete.json")
MARKS = {
    "formula": r"\.\. math::|:math:`|^Formula: ",
    "source": r"^References\n-+$|^Source: ",
    "missing values": r"^Missing: |\b[Mm]issing\b|\bNaN\b|\bleft out\b",
    "doctest": r"^>>> ",
    "reference": r"^R: |^Reference: ",
}
"""Rule -> what of a docstring keeps it. Where there is none, a line of the Notes says so: ``Reference: none; why``."""

SAY = "CONTRIBUTING.md, Add a finding, shows the lines; `sense7 new finding` writes them"


def lacking(documentation):
    """Rules that a docstring does not keep."""
    return [rule for rule, mark in MARKS.items() if not re.search(mark, documentation, re.MULTILINE)]


def functions():
    """Public functions of the findings by their full name."""
    found = {}
    for entry in pkgutil.walk_packages(sense7.findings.__path__, "sense7.findings."):
        module = importlib.import_module(entry.name)
        public = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
        for name, one in public.items():
            if inspect.isfunction(one) and one.__module__ == entry.name:
                found[f"{entry.name.removeprefix('sense7.findings.')}.{name}"] = one
    return found


TO_COMPLETE = json.loads(LISTED.read_text("utf-8"))
FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_finding_says_what_a_reader_has_to_know(name):
    known, now = TO_COMPLETE.get(name, []), lacking(inspect.getdoc(FUNCTIONS[name]) or "")
    assert set(now) <= set(known), f"{name} does not say: {', '.join(sorted({*now} - {*known}))}. {SAY}"
    assert now == known, f"{name} is more complete than {LISTED.name} says: write {now} there, or take it off"


def test_the_list_names_functions_that_are_there():
    assert sorted(TO_COMPLETE.keys() - FUNCTIONS.keys()) == []
    assert [name for name, rules in TO_COMPLETE.items() if not rules] == []


def test_each_rule_is_kept_by_its_line_and_broken_without_it():
    template = Path(sense7.__file__).with_name("book") / "templates" / "module.txt"
    (documentation,) = re.findall(r'^    r"""(.*?)"""', template.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    documentation = inspect.cleandoc(documentation)
    assert lacking(documentation) == []
    for rule, mark in MARKS.items():
        assert lacking(re.sub(mark, "", documentation, flags=re.MULTILINE)) == [rule]
