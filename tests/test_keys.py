"""A key of a recorded value is written whole where its statistic is computed; its table carries it to the notebook."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.md"))
PAGES = sorted((ROOT / "book").glob("*.md"))
PARTS = ("estimate", "interval", "n", "unit", "method")
MODULES = [path for folder in ("", "findings/**", "judge/**") for path in ROOT.glob(f"src/sense7/{folder}/*.py")]
STORED = [ROOT / "data" / "coverage.json"]  # rows of stored results carry their keys
CODE = [path.read_text("utf-8") for path in [*MODULES, *STORED]]
WHOLE = {word for text in CODE for word in re.findall(r"[\w.-]+", text)}
BEGINNINGS = {start.rstrip("_") + "_" for text in CODE for start in re.findall(r'"([a-z]+_\w*)["{]', text)}
"""Of keys that end with a name or a number from the data."""


def keys_of_prose(text):
    keys = re.findall(r"(?<!`` )\{value\}`([^`]+)`", text)
    for block in re.findall(r"```\{truths\}\n(.*?)```", text, re.DOTALL):
        keys += [line.split("|")[0].strip() for line in block.splitlines() if "|" in line]
    return {key.rpartition(".")[0] if key.endswith(tuple(f".{part}" for part in PARTS)) else key for key in keys}


def recording_calls(path):
    """Calls of the recorder in the cells of a notebook: (method, call)."""
    cells = "\n".join(re.findall(r"```\{code-cell\}[^\n]*\n(.*?)```", path.read_text("utf-8"), re.DOTALL))
    code = "\n".join(line for line in cells.splitlines() if not line.startswith(":tags:"))
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("record."):
            yield call.func.attr, call


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.stem)
def test_every_key_of_a_page_is_found_in_the_code(path):
    unknown = keys_of_prose(path.read_text("utf-8")) - WHOLE
    assert {key for key in unknown if not any(key.startswith(start) for start in BEGINNINGS)} == set()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_records_rows_and_tables_under_their_own_keys(path):
    for method, call in recording_calls(path):
        if method == "table":
            assert (len(call.args), len(call.keywords)) == (1, 0), ast.unparse(call)
        else:
            assert not call.args, ast.unparse(call)
            assert [keyword.arg for keyword in call.keywords] == [None], ast.unparse(call)


def test_there_are_keys_to_find():
    assert len(keys_of_prose("\n".join(path.read_text("utf-8") for path in NOTEBOOKS))) > 100
