"""Every recorded key leads to a function, and its line is where it says."""

import ast

import pytest

from sense7.book.ledger import source_of
from sense7.record import read_values


@pytest.fixture(scope="module")
def sources(synthetic):
    values = read_values(synthetic.folder / "results")
    folder = synthetic.folder / "notebooks"
    return {key: source_of(folder / f"{value['notebook']}.ipynb", value) for key, value in values.items()}


def test_every_recorded_key_leads_to_a_function(sources):
    assert [key for key, source in sources.items() if source is None] == []
    defined = {
        source.file: {
            node.name
            for node in ast.parse(source.file.read_text("utf-8")).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        for source in sources.values()
    }
    assert all(source.function.rpartition(".")[2] in defined[source.file] for source in sources.values())


def test_the_line_has_the_key_or_begins_the_function(sources):
    for key, source in sources.items():
        line = source.file.read_text("utf-8").splitlines()[source.line - 1]
        assert key in line or source.function.rpartition(".")[2] in line, (key, str(source))


@pytest.mark.parametrize(
    ("key", "function"),
    [
        ("importance_cognitive", "findings.importance.importance_shares"),
        ("importance_smallest_total", "findings.importance.smallest_total"),
        ("alpha_turn", "findings.reliability"),
    ],
)
def test_known_keys_lead_where_they_are_computed(sources, key, function):
    assert sources[key].function.startswith(f"sense7.{function}")
