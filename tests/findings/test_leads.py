"""Leads of pages on data that lack something: what stays is whole, and the reason stands at the end, once."""

import re
from pathlib import Path

import pytest
from docutils import nodes

from helpers import naming
from helpers.findings import numbers
from helpers.studies import parse_sheets
from sense7.book.extensions.finding import _say_why_instead
from sense7.book.words import NOT_AVAILABLE
from sense7.taxonomy import TASK_COLUMNS

AFTER = [column.official for column in TASK_COLUMNS if column.official.startswith("PostTask")]
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LEAD = re.compile(r"^```\{finding\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r"\{([\w:]+)\}`([^`]*)`")


def lead_of(words, rows):
    """A paragraph as the page has it: numbers in nodes of their own, "1" for one that is there."""
    paragraph = nodes.paragraph()
    given = set()
    for place, part in enumerate(ROLE.split(words.replace("\n", " "))):
        if place % 3 == 0:
            paragraph += nodes.Text(part)
        elif place % 3 == 2:
            row = rows.get(part.partition(".")[0], {"estimate": 1.0, "reason": ""})
            shown = "1"
            if row["estimate"] != row["estimate"]:
                shown = f"{NOT_AVAILABLE} ({row['reason']})"
                if row["reason"] in given:
                    shown = NOT_AVAILABLE
                given.add(row["reason"])
            paragraph += nodes.inline(text=shown)
    return paragraph


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"tasks": dict.fromkeys(AFTER)}, "post-task empathy"),
        pytest.param({"tasks": {"Model": None}}, "condition", marks=pytest.mark.long),
        pytest.param({"tasks": {"PreTaskChoice": None}}, "topic", marks=pytest.mark.long),
        pytest.param(
            {"tasks": {"PreTaskDesiredEmpathy": ...}}, "desired empathy", marks=pytest.mark.long
        ),
        pytest.param({"messages": {"EmpathyOverall": None}}, "overall", marks=pytest.mark.long),
        pytest.param({"messages": {"Relational": None}}, "Relational", marks=pytest.mark.long),
        pytest.param({"participants": None}, "participants' sheet", marks=pytest.mark.long),
    ],
)
def test_a_missing_number_drops_its_own_words_and_says_why_once(minimal_sheets, changes, reason):
    found = numbers(parse_sheets(minimal_sheets(conversations=12, **changes)), 20)
    rows = {row["key"]: row for row in found.values() if row.get("key")}
    said = []
    for page in sorted(NOTEBOOKS.glob("*.md")):
        for _, lead in LEAD.findall(page.read_text("utf-8")):
            paragraph = lead_of(lead, rows)
            if NOT_AVAILABLE in paragraph.astext():
                _say_why_instead(paragraph)
                assert NOT_AVAILABLE not in paragraph.astext()
                before, _, why = paragraph.astext().rpartition("Not available here: ")
                assert not before.strip() or before.strip().endswith((".", "?")), page
                assert len(set(why.split("; "))) == len(why.split("; "))
                said.append(why)
    naming.check("\n".join(said), reason)
