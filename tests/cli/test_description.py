"""What `sense7 check` prints of a workbook."""

from helpers import naming
from sense7.cli.description import print_description

DESCRIPTION = {
    "name": "mine",
    "provenance": "own workbook [not SENSE-7]",
    "counts": {"participants": 1200, "conversations": 7},
    "conditions": {"a": 3, "a longer name": 4},
    "prompted_condition": {"name": "a", "how": "given"},
    "topics": {"work": 7},
    "ratings": {"overall": {"not rated": 1000, "rated": 2}, "affective": {"rated": 1}},
    "participants_sheet": "Participants",
    "characteristics": {"age": "number, 18 to 67", "role": "3 groups"},
    "reading_file": "none",
    "never_asked": ["Tasks.A", "Messages.B"],
    "not_recorded": ["Tasks.C"],
    "diagnostics": [
        {"severity": "warning", "text": "Tasks.A: odd", "count": 1000},
        {"severity": "error", "text": "Messages: no rating", "count": 34},
    ],
}


def test_what_is_absent_is_said(capsys):
    nothing = {name: type(value)() for name, value in DESCRIPTION.items()}
    nothing |= {"name": "mine", "provenance": "not known"}
    print_description(
        nothing | {"prompted_condition": {"name": "not known", "how": "no name says so"}}
    )
    naming.check(capsys.readouterr().out, "mine:", "PID")


def test_a_name_from_a_workbook_prints_nothing_but_itself(capsys):
    print_description(DESCRIPTION | {"name": "\x1b[31mred[/bold]"})
    assert (
        capsys.readouterr().out.splitlines()[0] == r"\x1b[31mred[/bold]: own workbook [not SENSE-7]"
    )
