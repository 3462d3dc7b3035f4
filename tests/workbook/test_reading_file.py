"""The reading file: what it declares, what in it is refused, and the draft of it."""

import pytest

from helpers import naming
from helpers.studies import READING, parse_sheets, write_study
from sense7.loading import load
from sense7.sources import Provenance, copy_for_edition
from sense7.taxonomy import SCALES
from sense7.workbook.reading import (
    STANDARD,
    official_text,
    parse_reading,
    reading_digest,
    reading_path,
    usual_words,
    write_reading,
)
from sense7.workbook.xlsx import Sheet, write_sheets

REFUSED = {
    # text -> what the message names
    "": ["KEY: VALUE"],
    "{defaults: {}}": ["reading: 1"],
    "{reading: 2}": ["reading: 1"],
    "{reading: 1, scales: {}}": ["scales", "defaults"],
    "{reading: 1, reading: 1}": ["reading", "twice"],
    "{reading: 1, unreadable: 5}": ["unreadable", "0.05"],
    "{reading: 1, unforeseen: stop}": ["unforeseen", "leave out"],
    '{reading: 1, decimal: ";"}': ["decimal"],
    "{reading: 1, sheets: {Chats: Conversations}}": ["Chats", "Tasks"],
    "{reading: 1, columns: {Q1: Warmth}}": ["Q1", "Affective"],
    "{reading: 1, roles: {bot: model}}": ["bot", "assistant"],
    "{reading: 1, roles: {bot: ROLE}}": ["bot", "assistant"],
    "{reading: 1, prompted: [a, b]}": ["prompted", "contains"],
    "{reading: 1, prompted: {contains: []}}": ["prompted", "contains"],
    "{reading: 1, defaults: {ratings: {}}}": ["ratings", "turn ratings"],
    "{reading: 1, defaults: {turn ratings: {scales: [1, 5]}}}": ["turn ratings", "scale"],
    "{reading: 1, defaults: {turn ratings: {scale: 1-5}}}": ["turn ratings", "[1, 7]"],
    "{reading: 1, defaults: {turn ratings: {scale: [LEAST, MOST]}}}": ["LEAST", "[1, 7]"],
    "{reading: 1, defaults: {turn ratings: {scale: [3, 3]}}}": ["[1, 7]"],
    "{reading: 1, defaults: {turn ratings: {categories: good}}}": ["level"],
    "{reading: 1, defaults: {turn ratings: {categories: [good, Good]}}}": ["good", "level"],
    "{reading: 1, defaults: {turn ratings: {categories: [{value: a, level: 1}, {value: A, level: 2}]}}}": ["a", "once"],
    "{reading: 1, defaults: {turn ratings: {categories: [{value: a, level: LEVEL}, {value: b}]}}}": ["a"],
    "{reading: 1, defaults: {turn ratings: {categories: [{value: a, level: 6}]}}}": ["a", "1 to 5"],
    "{reading: 1, defaults: {turn ratings: {categories: [a, {value: b, level: 2}]}}}": ["value"],
    "{reading: 1, defaults: {turn ratings: {categories: [{value: [], level: 1}]}}}": ["value", "level"],
    "{reading: 1, defaults: {turn ratings: {missingValues: unknown}}}": ["label"],
    "{reading: 1, missingValues: [{value: x, label: none}]}": ["declined"],
    "{reading: 1, missingValues: [x, X]}": ["x"],
    "{reading: 1, missingValues: ['3'], defaults: {turn ratings: {scale: [1, 5]}}}": ["3", "on the scale"],
    "{reading: 1, exceptions: {Affective: {scale: [9, 1], missingValues: ['8']}}}": ["Affective", "8"],
    "{reading: 1, defaults: {turn ratings: {categories: [{value: b, level: 1}], missingValues: [b]}}}": ["b"],
    "{reading: 1, exceptions: {Content: {scale: [1, 5]}}}": ["Content"],
    "{reading: 1, exceptions: {Warmth: {scale: [1, 5]}}}": ["Warmth"],
    "{reading: 1, characteristics: {Age: numbers}}": ["Age", "number"],
    "{reading: 1, characteristics: {Age: {categories: [a]}}}": ["Age"],
    "{reading: &a 1, prompted: *a}": ["line 1", "alias"],
    "{reading: 1": ["YAML"],
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_foreseen_is_refused_by_its_place(text):
    with naming.refused("mine.xlsx.reading.yml", *REFUSED[text]):
        parse_reading(text, "mine.xlsx.reading.yml")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{reading: 1, sheets: {Aufgaben: Tasks}}", "'Aufgaben'"),
        ("{reading: 1, columns: {Q1: Retry}}", "'Q1'"),
        ("{reading: 1, characteristics: {Income: number}}", "'Income'"),
        ("{reading: 1, prompted: nobody}", "'nobody'"),
    ],
)
def test_a_name_that_the_workbook_does_not_have_is_refused(minimal_sheets, text, named):
    numbers = READING.partition("reading: 1\n")[2].partition("prompted")[0]
    with naming.refused(named):
        parse_sheets(minimal_sheets(), f"{text[1:-1].replace(', ', chr(10), 1)}\n{numbers}")


def test_the_official_file_declares_every_scale_and_the_standard_one_the_same_numbers():
    official, standard = parse_reading(official_text()), parse_reading(STANDARD)
    assert (official.leaves_out, standard.leaves_out) == (True, False)
    for scale in SCALES:
        assert official.answers[scale.name] == standard.answers[scale.name]
        assert len(usual_words(scale.name)) == scale.size


GERMAN = """
reading: 1
decimal: ","
sheets: {Aufgaben: Tasks, Verlauf: Messages, Personen: Participants}
columns:
  {Nutzer: PID, Chat: TaskId, Modell: Model, Q7_1: Affective, Rolle: Role, Text: Content, Zeit: TimeOffsetSeconds}
roles: {Mensch: user, KI: assistant}
missingValues: ["-99", "999"]
prompted: warm
defaults:
  turn ratings:
    scale: [1, 7]
    categories: [{value: sehr schlecht, level: 1}, {value: sehr gut, level: 7}]
characteristics:
  Alter: number
  Geschlecht: {categories: [{value: "1", label: Frau}, {value: "2", label: Mann}]}
  Kennwort: leave out
"""


def german_sheets():
    rows = [["T1", "Mensch", "Hallo -99", None, 0.0], ["T1", "KI", "Ja?", "sehr gut", "1,5"]]
    rows += [["T2", "Mensch", "-99", None, 0.0], ["T2", "KI", "Gut.", 4.0, "-99"]]
    people = [["P1", "30,5", 1.0, "a"], ["P2", 999.0, 2.0, "b"], ["P3", None, -99.0, "c"]]
    tasks = [["P1", "warm", "T1"], ["P2", "plain", "T2"], ["P3", "plain", "T3"]]
    sheets = [
        Sheet("Aufgaben", ["Nutzer", "Modell", "Chat"], tasks),
        Sheet("Verlauf", ["Chat", "Rolle", "Text", "Q7_1", "Zeit"], rows),
        Sheet("Personen", ["Nutzer", "Alter", "Geschlecht", "Kennwort"], people),
    ]
    return {sheet.name: sheet for sheet in sheets}


def test_names_roles_decimal_sign_codes_and_characteristics_are_declared():
    study = parse_sheets(german_sheets(), GERMAN)
    assert study.turns["Affective"].tolist() == [5.0, 3.0]
    assert study.messages["content"].tolist() == ["Hallo -99", "Ja?", "-99", "Gut."]
    assert study.turns["seconds"].iloc[0] == 1.5
    assert (study.prompted_condition, study.prompted_reason) == ("warm", "as the reading file says")
    people = study.participants
    assert people["Alter"].fillna(0).tolist() == [30.5, 0, 0]
    assert people["Geschlecht"].tolist() == ["Frau", "Mann", None]
    assert "Kennwort" not in people
    assert study.reading == GERMAN


@pytest.mark.parametrize(
    ("rule", "prompted"),
    [("{contains: [empath]}", "plain-empathy"), ("{contains: [plain]}", None), ("''", None)],
)
def test_the_prompted_condition_is_known_if_one_name_says_so(minimal_sheets, rule, prompted):
    assert (
        parse_sheets(minimal_sheets(), f"{STANDARD}prompted: {rule}").prompted_condition == prompted
    )


# Beside a workbook


def test_an_edition_carries_it_and_it_is_part_of_the_digest(minimal_sheets, tmp_path):
    path = tmp_path / "mine.xlsx"
    write_study(minimal_sheets(), path)
    provenance = Provenance.of(path)
    copy = copy_for_edition(path, provenance, tmp_path / "edition")
    assert reading_path(copy).read_text("utf-8") == READING
    assert load(copy).reading == READING
    with_reading = reading_digest(path, provenance.sha256)
    write_reading(path, STANDARD)
    assert len({with_reading, reading_digest(path, provenance.sha256), provenance.sha256}) == 3


# The draft


def test_the_draft_lists_all_that_is_not_declared_until_filled_in(minimal_sheets, tmp_path, sense7):
    path = tmp_path / "mine.xlsx"
    changes = {"Affective": [None, "heel goed"] * 8, "Interest": [None, 7.0] * 8, "Retry": ...}
    write_sheets(minimal_sheets(messages=changes), path)
    code, _, err = sense7("check", path)
    assert code == 2
    naming.check(err, "column Affective", "'heel goed' (8)", "column Interest", "--draft")
    code, out, _ = sense7("check", path, "--draft")
    place = reading_path(path)
    assert (code, out.strip()) == (0, str(place))
    text = place.read_text("utf-8")
    naming.check(text, "heel goed", "numbers from 7 to 7", "plain-empathy", "Age")
    code, _, err = sense7("check", path)
    assert code == 2
    naming.check(err, place, "LEAST")
    assert sense7("check", path, "--draft")[0] == 2  # never over one that is there
    text = text.replace("LEAST", "1").replace("MOST", "7").replace("level: LEVEL", "level: 7")
    text = text.replace("      - {value", "      - {value: x, level: 1}\n      - {value", 1)
    place.write_text(text, "utf-8")
    assert sense7("check", path)[0] == 0
    assert load(path).turns["Affective"].tolist() == [5.0] * 8


def test_what_a_reading_file_lacks_is_printed_until_nothing_is(tmp_path, sense7):
    """Names of sheets, then of columns, then roles and answers: the file is completed in three steps."""
    path = tmp_path / "mine.xlsx"
    write_sheets(german_sheets(), path)
    assert sense7("check", path, "--draft")[0] == 0
    naming.check(reading_path(path).read_text("utf-8"), '"Verlauf": SHEET', '"Q7_1"')
    for lines, lacks in ((4, '"Nutzer": COLUMN'), (6, '"KI": ROLE'), (7, "sehr gut")):
        declared = "\n".join(GERMAN.split("\n")[:lines])
        write_reading(path, declared)
        code, out, _ = sense7("check", path, "--draft")
        assert (code, reading_path(path).read_text("utf-8")) == (0, declared)
        naming.check(out, lacks)
    write_reading(path, GERMAN)
    assert sense7("check", path)[0] == 0


def test_official_columns_do_not_say_what_answers_mean(minimal_sheets, tmp_path, sense7):
    path = tmp_path / "mine.xlsx"
    write_sheets(minimal_sheets(messages={"Affective": [None, "heel goed"] * 8}), path)
    assert sense7("check", path, "--draft")[0] == 0
    naming.check(reading_path(path).read_text("utf-8"), "heel goed", "LEVEL")
    assert sense7("check", path)[0] == 2
