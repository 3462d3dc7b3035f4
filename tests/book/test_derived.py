"""Notebooks for readers: plain Markdown with the numbers of an edition, and outputs that any viewer shows."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell

from helpers import naming
from helpers.checkout import SHARED_JUDGE, SHARED_PARAMETERS, recording
from sense7.book.derived import Book, Prose, as_markdown, derive, write_derived
from sense7.book.notebooks import cells_digest, find_notebooks
from sense7.book.words import Edition
from sense7.errors import BuildError


def value(key, estimate=0.5, **given):
    known = {"key": key, "estimate": estimate, "low": None, "high": None, "n": 1234}
    known |= {"unit": "alpha", "method": "pairwise", "notebook": "01-a", "cell": 3}
    return known | {"reason": None if estimate is not None else "one participant only"} | given


VALUES = [
    value("a", 0.9613, low=0.95, high=0.97),
    value("none", None),
    value("count", 3, unit="number of components"),
    value("topic", "my_topic*", unit="topic"),
]


def row(name, passed, figure=None):
    published = {"title": f"Title of {name}", "kind": "figure", "source": "abstract"}
    published |= {"value": figure, "shown": f"{figure}", "of": "SENSE-7"}
    published |= dict.fromkeys(("compare", "no_effect", "release", "smallest"))
    studies = {"effect": {"passed": 160, "studies": 200}, "null": {"passed": 10, "studies": 200}}
    found = {"id": name, "published": published, "state": "met" if passed else "not met"}
    found |= {"why": "", "asks": "", "studies": studies}
    return found | dict.fromkeys(("computed", "rehearsal", "elsewhere"))


def book_of(checkout):
    """A book whose notebooks are those of a small checkout, of an edition with a few values."""
    folder = checkout.root / "edition"
    for name in ("results", "data"):
        (folder / name).mkdir(parents=True)
    facts = {"kind": "synthetic", "name": "synthetic", "file": "mine_1.xlsx", "sha256": "0" * 64}
    facts |= {"warnings": {}, "label": "a workbook", "verified": False, "credit": ""}
    for name, content in {
        "results/01-a.json": VALUES,
        "ledger.json": [row("yes", True, 0.5), row("no", False)],
        "edition.json": facts,
        "data/expected.json": {"values": {"a": {"value": 0.9}}},
    }.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    notebooks = find_notebooks(checkout.root)
    return Book(Edition(folder), notebooks, checkout.root, "A book", "git+x@main")


@pytest.fixture
def book(checkout):
    checkout.notebook("01-a")
    checkout.notebook("02-b")
    return book_of(checkout)


def plain(book, text):
    return Prose(book, book.notebooks[0]).plain(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{value}`a` of it", "0.961 [0.950, 0.970] of it"),
        ("{value}`a.estimate`, n = {value}`a.n`", "0.961, n = 1,234"),
        ("{value}`topic.estimate`", "my&#95;topic&#42;"),
        ("{published}`yes`", "0.5"),
        ("{edition}`file`", "mine&#95;1.xlsx"),
        ("A {term}`judge`", "A judge"),
        ("{term}`Applicability <applicability>`, a", "Applicability, a"),
        ("x {cite:p}`horn1965rationale`", "x ([Horn, 1965](https://doi.org/10.1007/BF02289447))"),
        ("[all](02-b)", "[all](02-b.ipynb)"),
        ("[all](02-b.md#a-heading)", "[all](02-b.ipynb)"),
        ("[own](../book/own-judge)", "[own](../book/own-judge.md)"),
        ("[own\ndata](../book/own-judge.md)", "[own\ndata](../book/own-judge.md)"),
        ("[out](https://example.org/a)", "[out](https://example.org/a)"),
        ("(a-target)=\n## Heading", "## Heading"),
        ("```{math}\na^2\n```", "$$\na^2\n$$"),
        ("so {math}`-1/n`", "so $-1/n$"),
        (":::{put-in}\nIt is {value}`a.estimate`.\n:::\n\nMore.", "It is 0.961.\n\nMore."),
        ("Above are\n{value}`count.estimate`. More.", "Above are\n&#51;. More."),
        ("Above are\n{value}`count.estimate` more.", "Above are\n3 more."),
        ("`code` and *emphasis*", "`code` and *emphasis*"),
    ],
)
def test_what_only_the_book_reads_becomes_plain_markdown(book, text, expected):
    assert plain(book, text) == expected


PICTURES = (
    "```{picture} notebooks/02-b drawn\n```\n\n```{picture} notebooks/02-b other\n```\n\nMore."
)
SAID = {  # what only the book reads, what of its plain form leads on
    "an answer that is yes": ("{answer}`yes`: so", ["**: so"]),
    "an answer that is no": ("{answer}`no`", []),
    "a figure": ("```{picture} notebooks/02-b drawn\n```", ["[02-b](02-b.ipynb)"]),
    "two figures of one notebook": (PICTURES, ["[02-b](02-b.ipynb)", "\n\nMore."]),
    "a reason, which is given once": (
        "{value}`none`, and {value}`none`",
        ["(one participant only), and "],
    ),
    "a box of claims": (
        "```{finding} yes no\n{answer}`yes`: {value}`a.estimate`.\n```",
        ["0.961", "Title of yes", "0.5 (abstract)", "Title of no", "160 of 200", "10 of 200"],
    ),
    "a box without a claim": (
        "```{finding}\n:claim: How many?\n\nThree.\n```",
        ["How many?", "Three."],
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_the_book_says_itself_is_said_in_plain_markdown(book, case):
    text, named = SAID[case]
    naming.check(plain(book, text), *named)


@pytest.mark.parametrize(
    "text", ["{cite:p}`gone`", "{new}`a`", "```{new} a\n```", "{answer}`gone`"]
)
def test_what_has_no_plain_form_is_refused_by_name(book, text):
    with pytest.raises(BuildError, match=r"01-a\.md: "):
        plain(book, text)


MARKUP = ("<b>", "a_b*c", "[x](javascript:1)", "0.9 [0.8, 1.0] [x](y:1)", "[1, 2](y:1)")


@pytest.mark.parametrize("text", [*MARKUP, "`x`", "$x$", "# x", "| a"])
def test_a_text_of_a_workbook_is_no_markup(text):
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(f"is {as_markdown(text)} so")
    assert html.count("<") == 2, html  # the paragraph


def executed(prose="Text."):
    """An executed notebook: prose, parameters, those that were given, and a cell that shows something."""

    def cell(source, *tags, kind="code"):
        return {
            "cell_type": kind,
            "source": source,
            "outputs": [],
            "metadata": {"tags": list(tags)},
        }

    parameters = cell('data = "synthetic"\nseed = 1\nresults = "results"', "parameters")
    heading = cell(f"# 01-a\n\n{prose}", kind="markdown")
    return {"cells": [heading, parameters, cell("seed = 7", "injected-parameters"), cell("shown")]}


def test_a_notebook_says_first_which_data_it_shows_and_how_to_run_it_on_others(checkout):
    checkout.notebook("01-a", "shown")
    book = book_of(checkout)
    node = json.loads(derive(book, book.notebooks[0], executed("{value}`a`.")))
    first = "".join(node["cells"][0]["source"])
    naming.check(first, '`data = "mine.xlsx"`', "01-a.md", "sense7 build")
    assert first.startswith("# 01-a\n\n> **Synthetic data")
    assert first.endswith("\n\n0.961 [0.950, 0.970].")
    assert [cell["execution_count"] for cell in node["cells"] if "outputs" in cell] == [1, 2, 3]
    assert "seed = 7" not in json.dumps(node)


def test_the_library_is_installed_below_the_parameters_only_where_it_is_missing(checkout):
    checkout.notebook("01-a", "shown")
    book = book_of(checkout)
    cells = json.loads(derive(book, book.notebooks[0], executed()))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert '%pip install --quiet "sense7-companion @ git+x@main"' in code[1]
    # Where the library is there, the cell does nothing, and needs no network.
    shell = InteractiveShell()
    shell.run_line_magic = pytest.fail
    assert shell.run_cell(code[1]).success


def notebook_with(picture, drawing="svg"):
    data = {"image/png": picture, "text/plain": "a"}
    output = {"data": data, "metadata": {"image/png": {"drawing": drawing}}}
    cell = {"cell_type": "code", "outputs": [output], "source": "x"}
    metadata = {"sense7": {"derived": cells_digest([cell])}}
    return json.dumps({"cells": [cell], "metadata": metadata})


@pytest.mark.parametrize(("drawing", "is_written"), [("svg", False), ("other", True)])
def test_a_picture_is_written_again_where_its_drawing_is_another(tmp_path, drawing, is_written):
    path = tmp_path / "01-a.ipynb"
    path.write_text(notebook_with("aaaa"), "utf-8")
    assert write_derived(tmp_path, {"01-a": notebook_with("bbbb", drawing)}) == [path] * is_written


# The verb, and builds, in a small checkout


@pytest.fixture
def with_synthetic_data(checkout):
    """A checkout with one notebook, a synthetic workbook and the judge that belongs to it."""
    checkout.book()
    checkout.notebook("01-a", recording("01-a", "seed_of_a"), parameters=SHARED_PARAMETERS)
    checkout.workbook(checkout.root / "data" / "synthetic.xlsx")
    folder = checkout.root / "data" / "synthetic_judge"
    folder.mkdir()
    (folder / "judge-iter1.csv").write_text(SHARED_JUDGE, "utf-8")
    return checkout


def test_only_what_changed_is_derived_again_and_no_build_does_it(with_synthetic_data, built):
    assert list((built.root / "notebooks").glob("*.ipynb")) == []
    checkout = with_synthetic_data
    copy = checkout.root / "notebooks" / "01-a.ipynb"
    done = checkout.call("notebooks", "-q")
    assert done.stderr == ""
    naming.check(done.stdout, 1)
    derived = copy.read_bytes()
    assert checkout.call("notebooks", "-q").stdout
    path = copy.with_suffix(".md")
    path.write_text(path.read_text("utf-8").replace("Text.", "{value}`seed_of_a` here."), "utf-8")
    assert checkout.call("build", "mine.xlsx").returncode == 0
    assert copy.read_bytes() == derived
    done = checkout.call("notebooks")
    naming.check(done.stdout.splitlines()[-1], 1)
    first = "".join(json.loads(copy.read_text("utf-8"))["cells"][0]["source"])
    assert first.endswith("\n\n1 here.")
