"""The reference of the library, and the page of promises with R's values."""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import sense7
from sense7.book.extensions.page import expand
from sense7.book.extensions.truths import size

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("api*.md"))
ROLE = re.compile(r":(?:py:)?(?P<kind>func|class|meth|mod|data|attr|exc|obj):`(?P<name>[^`<]+)`")


def all_modules():
    return [importlib.import_module(entry.name) for entry in pkgutil.walk_packages(sense7.__path__, "sense7.")]


def test_all_that_s7_gives_is_listed_in_at_most_9000_words():
    text = "\n".join(expand(page.read_text("utf-8")) for page in PAGES)
    assert len(PAGES) == 3
    assert len(text.split()) <= 9_000
    sections = {*re.findall(r"^## (\S+)$", text, re.MULTILINE), "findings.ground_truth"}
    assert set(sense7._MODULES.values()) <= sections
    entries = dict(re.findall(r"^- `(\w+)(?:\([^`]*\))?`: (.+)$", text, re.MULTILINE))
    functions = {name for name in sense7._WHERE if callable(getattr(sense7, name))} - {"count_of", "ground_truth"}
    assert functions <= entries.keys()


def test_a_signature_names_what_is_needed_and_the_sentence_has_no_markup_of_docstrings():
    text = expand("```{functions} loading findings\n```")
    assert "- `load(data)`: " in text
    assert "\n- `importance_shares(study, bootstrap)`: " in text
    assert not re.search(r":(func|class|mod):|``\w", text)


def test_other_text_and_other_fences_stay_as_they_are():
    page = "# Title\n\n```python\nx = 1\n```\n\n{value}`a`\n\n```{note}\nfunctions\n```\n"
    assert expand(page) == page


def test_the_search_finds_findings_and_no_page_of_the_reference(synthetic):
    text = (synthetic.folder / "html" / "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    pages, terms = index["docnames"], index["terms"]
    found = [
        {pages[number] for number in ([hit] if isinstance(hit, int) else hit)}
        for hit in (terms["cronbach"], terms["alpha"])
    ]
    assert "notebooks/03-reliability" in found[0] & found[1]
    assert not [page for page in found[0] | found[1] if page.startswith("book/api")]


# What docstrings refer to


def resolves(name, module):
    """Whether a name in a docstring leads to something: from its module, a class of it, the package, or the top."""
    parts = name.removeprefix("~").removesuffix("()").split(".")
    package = sys.modules[module.__package__ or module.__name__]
    classes = [thing for thing in vars(module).values() if inspect.isclass(thing)]
    lengths = [length for length in range(len(parts), 0, -1) if ".".join(parts[:length]) in sys.modules]
    tops = [(sys.modules[".".join(parts[:length])], parts[length:]) for length in lengths[:1]]
    near = [(thing, parts) for thing in (module, package, *classes)]
    return any(leads(thing, rest) for thing, rest in [*near, *tops])


def leads(thing, parts):
    for part in parts:
        if part in getattr(thing, "__dataclass_fields__", {}):
            return True
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def test_every_name_that_a_docstring_refers_to_exists():
    lost = [
        (module.__name__, match["name"])
        for module in all_modules()
        for match in ROLE.finditer(inspect.getsource(module))
        if "{" not in match["name"] and not resolves(match["name"], module)
    ]
    assert lost == []


def test_the_check_finds_a_name_that_is_gone():
    module = importlib.import_module("sense7.loading")
    assert resolves("load", module)
    assert resolves("sense7.estimators.rater_agreement.weighted_kappa", module)
    assert not resolves("sense7.findings.agreement.gone", module)
    assert not resolves("gone", module)


# The page of R's values: every row of the stored table.


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "data" / "reference.json").read_text("utf-8"))


@pytest.fixture
def tables(synthetic):
    return synthetic.page("book/promises").select("table.sense7-reference")


def body(table):
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in table.select("tbody tr")]


def test_every_statistic_stands_with_its_values_tolerance_and_error(tables, stored):
    rows = body(tables[0])
    assert len(rows) == len(stored["families"])
    for (what, values, tolerance, error), row in zip(rows, stored["families"], strict=True):
        assert what.startswith(row["statistic"])
        assert all(package in what for package in row["packages"])
        assert values == f"{row['values']:,}"
        for found in row["errors"]:
            assert size(found, "tolerance") in tolerance
            assert size(found, "largest_error") in error


def test_every_promise_names_tests_that_exist():
    page = (ROOT / "book" / "promises.md").read_text("utf-8").partition("## Agreement with R")[0]
    promises = [line for line in page.splitlines() if line.startswith("- ")]
    assert len(promises) > 15
    for promise in promises:
        named = re.findall(r"`([\w/]+\.py)`", promise)
        assert named, promise
        assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
