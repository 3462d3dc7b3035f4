"""Variants: computed results that a reader switches between, without a script, a kernel or a network."""

import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from sense7 import figures
from sense7.tables import Sentence, Table, Variants

HOSTILE = '<script>alert(1)</script> "q" & \'a\' id="x" url(#y)'


def table(text="a", caption="n = 3"):
    return Table(pd.DataFrame({"text": [text, text]}, index=pd.Index(["one", "two"], name="row")), caption)


def heat_map(values, name="x"):
    return figures.heat_map(pd.DataFrame({"n": values}), name=name, label="turns", caption="n = 4 turns.")


def some():
    shown = {"pairwise": table("p"), "listwise": heat_map([1, 2, 2, 5]), "neither": Sentence("Nothing was rated.")}
    return Variants(shown, label="missing rule")


def soup(variants):
    return BeautifulSoup(variants._repr_html_(), "html.parser")


def test_every_variant_is_a_choice_with_its_name_and_the_first_is_chosen():
    group = soup(some()).fieldset
    assert group.legend.get_text() == "Switch: missing rule"
    choices = group.find_all("input", recursive=False)
    assert [choice["type"] for choice in choices] == ["radio"] * 3
    assert len({choice["name"] for choice in choices}) == 1
    assert [choice.has_attr("checked") for choice in choices] == [True, False, False]
    for choice, name in zip(choices, ["pairwise", "listwise", "neither"], strict=True):
        label = choice.find_next_sibling()
        assert (label.name, label["for"], label.get_text()) == ("label", choice["id"], name)
        shown = label.find_next_sibling()
        assert (shown["role"], shown["aria-labelledby"]) == ("group", label["id"])


def test_each_variant_is_shown_as_it_would_be_alone():
    variants = some()
    bodies = [str(body) for body in soup(variants).select("fieldset > div")]
    for body, alone in zip(bodies, variants.shown.values(), strict=True):
        expected = BeautifulSoup(alone._repr_html_(), "html.parser")
        assert BeautifulSoup(body, "html.parser").div.decode_contents() == expected.decode()


def test_it_needs_no_script_and_nothing_from_elsewhere():
    page = soup(some())
    assert page.find_all(["script", "link", "iframe"]) == []
    assert not re.search(r"url\(|@import|://", page.style.get_text())


def test_equal_variants_give_equal_html_and_others_share_no_id():
    assert some()._repr_html_() == some()._repr_html_()
    pages = [soup(some())]
    pages += [soup(Variants({"a": table(text), "b": Sentence("c")}, label="rule")) for text in "xy"]
    pages += [soup(Variants({name: table("x")}, label=label)) for name, label in (("a", "bc"), ("ab", "c"))]
    names = [page.input["name"] for page in pages]
    assert len(set(names)) == len(names)
    ids = [tag["id"] for page in pages for tag in page.find_all(id=True)]
    assert len(set(ids)) == len(ids)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True), st.text())
def test_names_and_labels_are_text_whatever_they_hold(names, label):
    html = Variants({name: Sentence("s") for name in names}, label=label)._repr_html_()
    # "<" and "&" as characters of the data are the only way to markup, and both are written as references.
    labels = re.findall(r"<label [^>]*>([^<]*)</label>", html)
    assert [text.count("&") for text in labels] == [sum(map(name.count, "&<>\"'")) for name in names]
    assert len(re.findall("<legend>[^<]*</legend>", html)) == 1
    assert html.count("<input ") == html.count("<label ") == len(names)


def test_texts_of_the_data_stay_as_they_are_inside_a_variant():
    page = soup(Variants({HOSTILE: table(HOSTILE, HOSTILE), "b": Sentence(HOSTILE)}, label=HOSTILE))
    assert page.find_all("script") == []
    assert page.label.get_text() == HOSTILE
    assert page.legend.get_text() == f"Switch: {HOSTILE}"
    assert {cell.get_text() for cell in page.find_all("td")} == {HOSTILE}
    assert page.em.get_text() == HOSTILE


def test_a_terminal_gets_all_variants_under_their_names():
    text = repr(some())
    assert text.startswith("Switch, missing rule:\n[pairwise]\nn = 3\n")
    assert "[listwise]\nFigure: Heat map of turns" in text
    assert text.endswith("[neither]\nNothing was rated.")


@pytest.mark.parametrize(
    ("shown", "problem"), [({}, "there is none"), ({"a": "<b>text</b>"}, "'a' is no figure, table or sentence")]
)
def test_what_cannot_be_shown_is_refused(shown, problem):
    with pytest.raises(ValueError, match=f"variants of 'rule': {problem}"):
        Variants(shown, label="rule")


def ids_and_references(figure):
    svg = figure.svg()
    return set(re.findall(r'\bid="([^"]*)"', svg)), set(re.findall(r'(?:href="|url\()#([^")]*)', svg))


def test_a_figure_refers_to_its_own_parts_only():
    """Else it would lose them with the figure that they stand in, once that one is switched away."""
    (first, used), (second, _) = (ids_and_references(heat_map(values)) for values in ([1, 2, 2, 5], [1, 2, 3, 5]))
    assert used
    assert used <= first
    assert first & second == set()


# In a browser


@pytest.fixture
def page(browser, tmp_path):
    """A page with two switches, opened from disk."""
    path = tmp_path / "page.html"
    second = Variants({"a": table("x"), "b": table("y")}, label="other")
    body = f"<main><h1>Variants</h1>{some()._repr_html_()}{second._repr_html_()}</main>"
    path.write_text(f"<!DOCTYPE html><html lang='en'><title>Variants</title><body>{body}</body></html>", "utf-8")
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(path.as_uri())
    yield opened
    context.close()


def visible(page):
    return [body.is_visible() for body in page.locator("fieldset > div").all()]


def test_a_reader_switches_by_mouse_and_by_keyboard_each_switch_for_itself(page):
    assert visible(page) == [True, False, False, True, False]
    page.get_by_text("listwise", exact=True).click()
    assert visible(page) == [False, True, False, True, False]
    page.keyboard.press("ArrowRight")
    assert visible(page) == [False, False, True, True, False]
    page.keyboard.press("ArrowRight")
    assert visible(page) == [True, False, False, True, False]


def test_on_paper_every_variant_stands_under_its_name(page):
    page.emulate_media(media="print")
    assert visible(page) == [True] * 5
    for label in page.locator("fieldset > label").all():
        name, shown = label.bounding_box(), label.locator("xpath=following-sibling::div[1]").bounding_box()
        assert name["y"] + name["height"] <= shown["y"]
    assert not any(choice.is_visible() for choice in page.locator("fieldset > input").all())


def test_a_screen_reader_finds_nothing_amiss(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    assert [(rule["id"], node["html"][:200]) for rule in found for node in rule["nodes"]] == []
    assert page.get_by_role("radio", name="listwise").count() == 1
    assert page.get_by_role("group", name="Switch: missing rule").count() == 1
