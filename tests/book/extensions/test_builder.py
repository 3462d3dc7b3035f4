"""Pages with less work: trees searched alike, and what rests on no edition read before there is one."""

import json
import time
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from sphinx import addnodes
from sphinx.search import IndexBuilder, js_index

from sense7.book import pages
from sense7.book.extensions import builder
from sense7.book.extensions.builder import find_nodes
from sense7.book.inputs import read_config
from sense7.book.jupyter_book import JupyterBook

_LEAVES = st.builds(nodes.Text, st.sampled_from(["text", "other"]))
_KINDS = st.sampled_from([nodes.paragraph, nodes.strong, nodes.emphasis])
TREES = st.recursive(
    _LEAVES, lambda inner: st.builds(lambda kind, parts: kind("", "", *parts), _KINDS, st.lists(inner, max_size=4))
).filter(lambda tree: isinstance(tree, nodes.Element))
CONDITIONS = (
    *(None, nodes.Text, nodes.paragraph, nodes.Element),
    *(lambda node: len(node.astext()) > 4, lambda node: isinstance(node, nodes.strong)),
)


def docutils_findall(node, *arguments, **options):
    """As docutils has it, which searches the branches by its own method, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes.Node, "findall", builder._findall)
        return list(builder._findall(node, *arguments, **options))


@given(
    tree=TREES,
    condition=st.sampled_from(CONDITIONS),
    options=st.fixed_dictionaries({name: st.booleans() for name in ("include_self", "descend", "siblings", "ascend")}),
    start=st.integers(0, 20),
)
def test_a_search_finds_what_docutils_finds_in_its_order(tree, condition, options, start):
    everything = docutils_findall(tree)
    node = everything[start % len(everything)]
    found, expected = list(find_nodes(node, condition, **options)), docutils_findall(node, condition, **options)
    assert list(map(id, found)) == list(map(id, expected))


def test_what_is_replaced_while_it_is_looked_at_is_as_in_docutils():
    def given_out(search):
        tree = nodes.container("", *(nodes.paragraph("", f"{number}") for number in range(3)))
        seen = []
        for node in search(tree, nodes.Node):
            seen.append(node.astext())
            if isinstance(node, nodes.paragraph) and node.astext() == "1":
                node.replace_self([nodes.strong("", "new"), nodes.strong("", "newer")])
        return seen

    assert given_out(find_nodes) == given_out(builder._findall)


def test_only_elements_of_which_none_was_made_are_known_to_be_absent(monkeypatch):
    monkeypatch.setattr(builder._Made, "classes", {nodes.Text})
    monkeypatch.setattr(nodes.Element, "__init__", builder._Made.init)
    tree = nodes.container("", nodes.paragraph("", "words", nodes.strong("", "more")))
    for all_here in (False, True):
        monkeypatch.setattr(builder._Made, "all_here", all_here)
        for condition in (nodes.strong, nodes.Text, nodes.Element, nodes.Inline, nodes.image, nodes.Invisible):
            assert list(find_nodes(tree, condition)) == docutils_findall(tree, condition)
        assert builder._Made.none_of(nodes.image) == all_here
        assert not any(map(builder._Made.none_of, (nodes.strong, nodes.Inline, nodes.Text, None)))


PAGES = {"x": "of an earlier build", "a": "turns and turn", "b": "A turn of words", "c": "other words"}


@pytest.fixture
def new_index():
    """Makes empty indexes of a book without any object."""
    env = SimpleNamespace(domains={}, version=1)

    def make():
        for part in ("titles", "filenames", "mapping", "title_mapping", "all_titles", "index_entries"):
            setattr(env, f"_search_index_{part}", {})
        env._search_index_objtypes, env._search_index_objnames = {}, {}
        return IndexBuilder(env, "en", {}, "")

    return make


def indexed(indexer, names):
    for name in names:
        entry = addnodes.index(entries=[("single", "Turn", f"{name}-1", "", None)])
        page = new_document("")
        page += [nodes.section("", nodes.title(text=f"Page {name}"), nodes.paragraph(text=PAGES[name])), entry]
        indexer.feed(name, f"{name}.md", f"Page {name}", page)
    return indexer


def test_the_search_of_pages_written_by_several_processes_is_that_of_one(new_index):
    alone, first, second = indexed(new_index(), "abc"), indexed(new_index(), "b"), indexed(new_index(), "x")
    builder.empty_index(second)
    builder.add_to_index(first, builder.index_of(indexed(second, "ca")))
    builder.sort_index(first)
    assert js_index.dumps(first.freeze()) == js_index.dumps(alone.freeze())


@pytest.fixture
def book(checkout):
    """A book of two pages, of which one shows something of the edition; gives its facts and configuration."""
    checkout.page("index", "# Front\n\n{edition}`label`\n")
    checkout.page("plain", "# Plain\n\nWords.\n")
    checkout.toc("book/plain")
    made = {"notebooks": {}, "versions": {}, "commit": None, "library": "0" * 12, "parameters": {}}
    facts = {"kind": "own", "label": "mine", "file": "mine.xlsx", "sha256": "0" * 64, "name": "mine", "made": made}
    facts |= {"parameters": "none", "verified": False}
    config = read_config(checkout.root)
    return checkout, facts, config


def test_what_rests_on_no_edition_is_read_before_there_is_one(book, tmp_path):
    checkout, facts, config = book
    kept, scratch, edition = tmp_path / "kept", tmp_path / "scratch", tmp_path / "edition"
    scratch.mkdir()
    doctrees = kept / "pages" / "_build" / ".doctrees" / "book"
    with (
        JupyterBook() as program,
        pages.pages_under_way(checkout.root, facts, config, kept, scratch, program) as make_pages,
    ):
        deadline = time.monotonic() + 300
        while not (doctrees / "plain.doctree").exists() and time.monotonic() < deadline:
            assert program._process.poll() is None, program.finish()
            time.sleep(0.05)
        assert (doctrees / "plain.doctree").exists()
        assert not (doctrees / "index.doctree").exists()
        for folder in ("results", "notebooks", "data"):
            (edition / folder).mkdir(parents=True)
        (edition / "ledger.json").write_text("[]", "utf-8")
        (edition / "edition.json").write_text(json.dumps(facts), "utf-8")
        html = make_pages(edition, facts | {"verdicts": "none"})
    assert "mine" in (html / "book" / "index.html").read_text("utf-8")
    assert "Words." in (html / "book" / "plain.html").read_text("utf-8")


def test_within_the_frame_of_the_last_pages_nothing_is_begun_early(book, tmp_path):
    checkout, facts, config = book
    (tmp_path / "scratch").mkdir()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "frame").write_text(
        pages._frame(checkout.root, pages._book(checkout.root), pages._steady(facts), config), "utf-8"
    )
    (kept / "page").touch()

    class Program:
        def start(self, *arguments):
            raise AssertionError(arguments)

    with pages.pages_under_way(checkout.root, facts, config, kept, tmp_path / "scratch", Program()):
        pass
    assert sorted(path.name for path in kept.iterdir()) == ["frame", "page"]


def test_every_role_and_directive_that_shows_an_edition_makes_its_page_wait():
    for text in ("{value}`a`", "{edition}`label`", "```{ledger} other works", "```{picture} a b", "{conversation}`T`"):
        assert builder._OF_EDITION.search(text)
    assert not builder._OF_EDITION.search("```{modules} judge\n```\n{term}`Turn` {cite}`a`")
