"""Examples of turns and a conversation for a picture, by their rules."""

from helpers import naming
from helpers.studies import parse_sheets
from sense7.findings import examples


def test_a_dimension_never_asked_says_so(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"Relational": ...}))
    shown = examples.dimensions_shown(examples.rated_examples(study), "Relational")
    (reason,) = set(shown["assistant's turn"])
    naming.check(reason, "never asked")
    assert set(shown["rating"]) == {"none"}
