"""Pages that answer a reader: the explorer and links into it; and analyses to choose, which the notebooks computed."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

from sense7.book.extensions.links import FILTERS, SCRIPTS, wrong_filters

from sense7.findings.robustness import HEADLINES
from sense7.record import format_value

STATIC = Path(__file__).resolve().parents[2] / "book" / "static"
SCRIPT = "\n".join((STATIC / name).read_text("utf-8") for name in SCRIPTS)


def test_every_link_into_the_explorer_leads_to_conversations_that_it_has(edition):
    """What a link asks for is known to the explorer, and some conversation of the edition has it."""
    script = (edition.html / "explorer" / "conversations.js").read_text("utf-8")
    index = json.loads(script.removeprefix("window.sense7Conversations=").removesuffix(";\n"))
    names, *groups = zip(*(row[:4] for row in index["conversations"]), strict=True)
    known = {"conversation": set(names)}
    for name, places in zip(("participant", "condition", "topic"), groups, strict=True):
        known[name] = {index[f"{name}s"][place] for place in places}
    found = set()
    for file in edition.files:
        for link in edition.page(file).select('a[href*="explorer.html#"]'):
            ((name, value),) = parse_qsl(urldefrag(link["href"]).fragment, strict_parsing=True)
            found.add(name)
            assert name == "conversation" or not wrong_filters({name: value}), file
            assert name not in known or link.get_text() in known[name], file
    asked = {name for name, answer in zip(("importance", "desired"), index["answers"], strict=False) if answer[2]}
    assert {"condition", "label"} <= found
    assert "topic" in found or edition.facts["kind"] != "synthetic", "of iEval's valences none has a table of its own"
    assert found & {"importance", "desired"} <= asked, "a question that was never asked has no groups"


def test_pages_about_other_data_lead_to_no_conversation(edition):
    for name in edition.facts["made"]["released"]:
        assert edition.page(f"notebooks/{name}").select('article a[href*="explorer.html#"]') == [], name


def test_script_and_pages_know_the_same_filters():
    empty = re.search(r"const EMPTY = \{(.*?)\n  \};", SCRIPT, re.DOTALL)[1]
    assert set(re.findall(r'(\w+): ""', empty)) == {*FILTERS, "page", "compare"}


# Analyses to choose: the first is the value of the finding's page

PAGE = "notebooks/15-robustness"
RECORDED = {
    "alpha": "alpha_turn",
    "context_share": "one_base_share_context",
    "continuity_contrast": "continuity_contrast_next_turn",
    "condition_difference": "prompted_minus_best_other",
    "empathy_satisfaction": "empathy_satisfaction",
    "expectation_loss": "expectation_loss",
    "judge_spearman": "judge_spearman",
    "kappa_affective": "kappa_affective",
    "participants_share": "participant_share_beyond_condition_and_topic",
    "poor_turn_d": "poor_turn_d",
    "relational_applicability": "relational_applicability",
}
"""Headline -> key under which its own page records it."""


def figures(edition):
    pages = [page for page in edition.notebooks if "sense7-specifications" in edition.text(page)]
    return [(page, figure) for page in pages for figure in edition.page(page).select("figure.sense7-specifications")]


def content(figure):
    return json.loads(figure.find("script", type="application/json").string)


def test_every_headline_stands_on_its_page_or_says_why(edition):
    shown = {content(figure)["name"] for page, figure in figures(edition) if page == PAGE}
    absent = " ".join(tag.get_text() for tag in edition.page(PAGE).select("p > em"))
    for name, one in HEADLINES.items():
        assert (name in shown) != (f"No curve of {one.title}: " in absent), name


def test_the_first_choice_is_the_value_of_the_findings_page(synthetic):
    shown = {content(figure)["name"]: content(figure)["rows"][0] for _, figure in figures(synthetic)}
    assert RECORDED.keys() <= shown.keys()
    for name, key in RECORDED.items():
        value = synthetic.values[key]
        assert shown[name][5] == f"{format_value(value)}, n = {value['n']:,}", name
