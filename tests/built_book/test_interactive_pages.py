"""Analyses to choose on pages, which the notebooks computed."""

import json

from sense7.findings.robustness import HEADLINES
from sense7.record import format_value

# The first is the value of the finding's page

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
