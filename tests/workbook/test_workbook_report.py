"""What ``sense7 check`` prints of a workbook, to the letter."""

from sense7.workbook.diagnostics import print_description

DESCRIPTION = {
    "name": "mine",
    "provenance": "own workbook [not SENSE-7]",
    "counts": {"participants": 1200, "conversations": 7},
    "conditions": {"a": 3, "a longer name": 4},
    "prompted_condition": {"name": "a", "how": "given"},
    "topics": {"work": 7},
    "ratings": {"overall": {"not rated": 1000, "rated": 2}, "affective": {"rated": 1}},
    "participants_sheet": "Participants",
    "characteristics": ["age", "role"],
    "never_asked": ["Tasks.A", "Messages.B"],
    "not_recorded": ["Tasks.C"],
    "not_matched": ["Tasks.D", "Tasks.E"],
    "diagnostics": [
        {"severity": "warning", "text": "Tasks.A: odd", "count": 1000},
        {"severity": "error", "text": "Messages: no rating", "count": 34},
    ],
}

PRINTED = """\
mine: own workbook [not SENSE-7]

Counts
  participants   1,200
  conversations  7

Conditions (conversations)
  a              3
  a longer name  4
  with the empathy prompt: a (given; give it with --prompted)

Topics (conversations)
  work  7

Ratings of turns
  overall    1,000 not rated, 2 rated
  affective  1 rated

Participants: sheet Participants
  age, role

Never asked: Tasks.A, Messages.B
Not recorded: Tasks.C
Not matched: Tasks.D, Tasks.E

2 warnings, 1,034 places
  warning: Tasks.A: odd
  error: Messages: no rating
"""

NOTHING = """\
mine: not known

Counts

Conditions (conversations)
  none  no condition is given
  with the empathy prompt: not known (no name says so; give it with --prompted)

Topics (conversations)
  none  no topic is given

Ratings of turns

Participants: no further sheet has a PID column

Never asked: nothing; every question has answers
Not recorded: nothing; every further column holds values
Not matched: nothing; every column is known

No warnings.
"""


def test_everything_that_is_in_a_workbook_is_printed(capsys):
    print_description(DESCRIPTION)
    assert capsys.readouterr().out == PRINTED


def test_what_is_absent_is_said(capsys):
    nothing = {name: type(value)() for name, value in DESCRIPTION.items()}
    nothing |= {"name": "mine", "provenance": "not known"}
    print_description(nothing | {"prompted_condition": {"name": None, "how": "no name says so"}})
    assert capsys.readouterr().out == NOTHING


def test_many_entries_and_long_names_leave_the_rest_readable(capsys):
    many = {f"{'t' * 70}{number}": number for number in range(41)} | {"short": 1000}
    print_description(DESCRIPTION | {"topics": many})
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Topics (conversations)")
    assert lines[start + 1] == f"  {'t' * 70}0  0"
    assert lines[start + 40 : start + 43] == [f"  {'t' * 70}39  39", "  and 2 more; --json lists all", ""]
    print_description(DESCRIPTION | {"topics": {"t" * 70: 1, "short": 1000}})
    assert f"  {'short':<60}  1,000" in capsys.readouterr().out.splitlines()


def test_a_name_from_a_workbook_prints_nothing_but_itself(capsys):
    print_description(DESCRIPTION | {"name": "\x1b[31mred[/bold]"})
    assert capsys.readouterr().out.splitlines()[0] == r"\x1b[31mred[/bold]: own workbook [not SENSE-7]"
