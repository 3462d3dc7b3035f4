"""Leads of pages on data that lack a number: what stays is whole, and the reason stands at the end, once."""

import re
from pathlib import Path

import pytest
from docutils import nodes

from sense7.book.extensions.finding import _say_why_instead
from sense7.book.words import NOT_AVAILABLE

LEAD = re.compile(r"^```\{finding\}[^\n]*\n(?::[^\n]*\n)*(.*?)^```", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r"\{([\w:]+)\}`([^`]*)`")
PAGES = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.md"))


def lead_of(words, missing):
    """A paragraph as the page has it: numbers in nodes of their own, "1" for one that is there."""
    paragraph = nodes.paragraph()
    lacking = f"{NOT_AVAILABLE} (nobody was asked)"
    before, *parts = ROLE.split(words.replace("\n", " "))
    paragraph += nodes.Text(before)
    for role, content, behind in zip(*[iter(parts)] * 3, strict=True):
        shown = "1"
        if role == "value" and content.partition(".")[0] in missing:
            shown, lacking = lacking, NOT_AVAILABLE
        paragraph += [nodes.inline(text=shown), nodes.Text(behind)]
    return paragraph


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_missing_number_drops_its_sentence_and_says_why_once(page):
    """Each of its numbers, and all of them."""
    leads = LEAD.findall(page.read_text("utf-8"))
    assert leads
    for words in leads:
        keys = {key.partition(".")[0] for role, key in ROLE.findall(words) if role == "value"}
        for missing in [*({key} for key in keys), keys]:
            paragraph = lead_of(words, missing)
            if NOT_AVAILABLE in paragraph.astext():
                _say_why_instead(paragraph)
                before, _, why = paragraph.astext().rpartition("Not available here: ")
                assert why == "nobody was asked.", missing
                assert not before.strip() or before.strip().endswith((".", "?")), missing
