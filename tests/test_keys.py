"""A recorded key is written out whole where its statistic is computed, and the table carries it: grep finds it."""

import ast
import re
from pathlib import Path

import jupytext
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
PAGES = [*NOTEBOOKS, *sorted((ROOT / "book").glob("*.md"))]
COMPUTED_IN = ("src/sense7/findings", "src/sense7/judge/scoring", "src/sense7/benchmarks.py", "data/coverage.json")
"""Keys of what is measured in simulated studies stand in the file that holds it."""
OF_THE_DATA = (
    *("characteristic_correlation_", "ceiling_needed_judge_", "ceiling_accuracy_at_", "ceiling_spearman_at_"),
    *("ground_truth_label_", "judge_recognition_", "three_judges_agreement_", "three_judges_error_"),
    *("personal_share_", "ppi_coverage_users_", "ppi_coverage_judge_", "ppi_width_ratio_"),
    *("alternative_advantage_", "alternative_rate_", "alternative_passed_"),
    *("three_judges_left_out_", "three_judges_lend_an_ear_", "three_judges_level_"),
)
"""Beginnings of keys that end with a number or a name of the data: a question, a level, a judge, a corpus."""

VALUE = re.compile(r"\{value\}`(\w+)[.`]")
TRUTHS = re.compile(r"```\{truths\}\n(.*?)```", re.DOTALL)


def keys_of(page):
    """Keys that a page shows in a sentence or compares with a truth."""
    text = page.read_text("utf-8")
    lines = [line for block in TRUTHS.findall(text) for line in block.splitlines() if "|" in line]
    return {*VALUE.findall(text), *(line.partition("|")[0].strip() for line in lines)}


def code():
    parts = [ROOT / part for part in COMPUTED_IN]
    files = [path for part in parts for path in ([part] if part.is_file() else sorted(part.rglob("*.py")))]
    return "\n".join(path.read_text("utf-8") for path in files)


@pytest.fixture(scope="module")
def words():
    """Everything in the code that could be a key, and the beginnings of f-strings."""
    text = code()
    return set(re.findall(r"\w+", text)), set(re.findall(r"(\w+)\{", text))


def is_written_out(key, words):
    whole, beginnings = words
    return key in whole or any(key.startswith(start) and start in beginnings for start in OF_THE_DATA)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_keys_of_a_page_stand_whole_in_the_code(page, words):
    assert sorted(key for key in keys_of(page) if not is_written_out(key, words)) == []


def test_keys_of_the_claims_stand_whole_in_the_code(words):
    claims = yaml.safe_load((ROOT / "data" / "claims.yml").read_text("utf-8"))
    keys = {claim["key"] for claim in claims if claim["key"]}
    assert len(keys) > 20
    assert sorted(key for key in keys if not is_written_out(key, words)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_records_tables_as_they_come(path):
    """No key is made in a notebook: tables and values bring their own."""
    for cell in jupytext.read(path, fmt="md:myst").cells:
        if cell.cell_type != "code":
            continue
        assert not re.search(r"\bKEYS\b|_KEYS\b|\bkeys\b|_keys\(", cell.source), cell.source
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "record.table":
                assert len(node.args) == 1, ast.unparse(node)
                assert node.keywords == []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "record.value":
                assert node.args == [], ast.unparse(node)


def test_a_key_that_is_put_together_would_be_found(words):
    assert is_written_out("poor_turn_ladder_as_they_are", words)
    assert not is_written_out("poor_turn_ladder_as_they_were", words)
