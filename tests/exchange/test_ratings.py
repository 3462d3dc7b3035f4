"""Ratings in a table are joined to turns as a map beside the table declares, or refused by their place."""

import openpyxl
import pytest

from helpers import naming
from sense7.loading import load
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.xlsx import Sheet, write_sheets

TALK = [("user", "a"), ("assistant", "one"), ("user", "b"), ("assistant", "two")]
CHATS = [
    {
        "id": "c1",
        "participant": "P1",
        "condition": "m",
        "messages": [{"role": role, "content": text} for role, text in TALK],
    },
    {"id": "c2", "messages": [{"role": role, "content": f"={text}"} for role, text in TALK]},
]
READING = "reading: {defaults: {turn ratings: {scale: [1, 5]}, importance: {scale: [1, 5]}}}\n"
LONG = "TaskId: chat\nTurn: 'no'\nAffective: q1\n" + READING
WIDE = "TaskId: chat\nAffective: T{turn}_q1\n" + READING


@pytest.fixture
def bring(run, write, tmp_path):
    """Import two conversations with a table of ratings and its map; give what was printed, and the study."""

    def brought(table, declared=LONG, name="ratings.csv"):
        write("chats.jsonl", CHATS, lines=True)
        if table:
            write(name, table)
        write(f"{name}.map.yml", declared)
        done = run("chats.jsonl", "--out", "mine.xlsx", "--ratings", name)
        return done, load(tmp_path / "mine.xlsx")

    return brought


def rated(study, name="Affective"):
    frame = study.turns[study.turns[name].notna()]
    return {(row.conversation, row.turn): row[name] for _, row in frame.iterrows()}


@pytest.mark.parametrize(
    ("table", "declared"),
    [
        ("chat,no,q1\nc1,2,4\nc2,1,5\n", LONG),
        ("chat;no;q1\nc1;2.0;4.0\nc2;1.0;Very good\n", LONG),
        ("chat,no,q1\nc1,1,\nc1,2,4\nc2,1,5\n", LONG),
        ("chat,T1_q1,T2_q1\nc1,,4\nc2,5,\n", WIDE),
        ("chat,T1_q1,T2_q1,T7_q1\nc1,,4,\nc2,5,,\nc9,,,\n", WIDE),
        ("chat,T1_q1,T2_q1\nwhich?,a,b\nx,y,z\nc1,,4\nc2,5,\n", "header_rows: 3\n" + WIDE),
    ],
    ids=["a row a turn", "words", "blank rows", "a column a turn", "unused", "three header rows"],
)
def test_answers_are_joined_to_their_turns(bring, table, declared):
    done, study = bring(table, declared)
    assert rated(study) == {("c1", 2): 4, ("c2", 1): 5}
    assert "cells joined" in done.stdout
    assert study.conversations[["participant", "condition"]].iloc[0].tolist() == ["P1", "m"]


def test_what_a_reader_of_the_table_would_not_expect_is_said(run, write, tmp_path):
    """Hidden rows, further sheets, and a reply in two messages, each of which is a turn."""
    messages = [*CHATS[0]["messages"], {"role": "assistant", "content": "three"}]
    write("chats.jsonl", [{**CHATS[0], "messages": messages}], lines=True)
    workbook = openpyxl.Workbook()
    for row in (["chat", "no", "q1"], ["c1", 1, 4], ["c1", 2, 5]):
        workbook.active.append(row)
    workbook.active.row_dimensions[3].hidden = True
    workbook.create_sheet("second wave").append(["chat"])
    workbook.save(tmp_path / "ratings.xlsx")
    write("ratings.xlsx.map.yml", LONG)
    done = run("chats.jsonl", "--out", "mine.xlsx", "--ratings", "ratings.xlsx")
    for part in ("1 hidden row read like all others", "not read: second wave", "follow each other"):
        assert part in " ".join(done.stdout.split())


def test_a_pattern_stands_for_the_seven_dimensions(bring):
    header = [f"T{turn}_{name}" for turn in (1, 2) for name in DIMENSION_NAMES]
    table = f"chat,{','.join(header)}\nc1,{','.join('12345125432154')}\n"
    _, study = bring(table, "TaskId: chat\nratings: 'T{turn}_{dimension}'\n" + READING)
    assert [rated(study, name)["c1", 1] for name in DIMENSION_NAMES] == [1, 2, 3, 4, 5, 1, 2]
    assert [rated(study, name)["c1", 2] for name in DIMENSION_NAMES] == [5, 4, 3, 2, 1, 5, 4]


def test_questions_conditions_and_characteristics_come_by_the_same_map(bring):
    declared = LONG + "PID: who\nModel: arm\nPreTaskImportance: weight\nComment: note\n"
    declared += "participants: {Age: years}\n"
    table = "chat,no,q1,who,arm,weight,note,years\nc1,1,4,A,x,5,warm,30\nc1,2,4,A,x,,,30\nc2,1,2,B,y,1,,\n"
    _, study = bring(table, declared)
    names = ["participant", "condition", "importance"]
    assert study.conversations[names].to_numpy().tolist() == [["A", "x", 5], ["B", "y", 1]]
    assert study.messages["comment"].tolist()[1] == "warm"
    assert study.participants[["participant", "Age"]].to_numpy().tolist() == [["A", 30]]


def test_a_person_who_was_asked_once_about_himself_has_one_row(bring):
    declared = LONG + "PID: who\nparticipants: {Age: years, Job: work}\n"
    done, study = bring("chat,no,q1,who,years,work\nc1,,,A,30,\nc2,1,2,A,,cook\n", declared)
    assert "1 conversation without an answer, such as 'c1'" in done.stdout
    assert "follow each other" not in done.stdout
    assert study.participants.iloc[:, :3].to_numpy().tolist() == [["A", 30, "cook"]]


def test_several_people_rate_the_same_conversation(bring):
    _, study = bring("chat,no,q1,who\nc1,1,4,A\nc1,1,2,B\nc1,2,3,A\n", LONG + "PID: who\n")
    assert rated(study) == {("c1:A", 1): 4, ("c1:A", 2): 3, ("c1:B", 1): 2}
    assert study.conversations["participant"].tolist()[:2] == ["A", "B"]


def test_the_reading_file_is_the_one_that_the_map_declares(bring, tmp_path):
    declared = LONG.replace("[1, 5]}, imp", "[1, 7], missingValues: ['no', '-99']}, imp")
    _, study = bring("chat,no,q1\nc1,1,7\nc1,2,-99\nc2,1,4\nc2,2,no\n", declared)
    assert rated(study) == {("c1", 1): 5, ("c2", 1): 3}
    assert (tmp_path / "mine.xlsx.reading.yml").exists()


def test_a_missing_value_beyond_the_end_of_a_conversation_is_blank(bring):
    declared = WIDE.replace("[1, 5]}, imp", "[1, 5], missingValues: ['-99']}, imp")
    _, study = bring("chat,T1_q1,T2_q1,T3_q1\nc1,4,-99,-99\nc2,5,3,-99\n", declared)
    assert rated(study) == {("c1", 1): 4, ("c2", 1): 5, ("c2", 2): 3}


def test_a_table_may_be_a_workbook(bring, tmp_path):
    header = ["chat", "no", "q1", "kids"]
    write_sheets([Sheet("Answers", header, [["c1", 1.0, 4.0, 0.0]])], tmp_path / "r.xlsx")
    _, study = bring(None, LONG + "participants: {Kids: kids}\n", name="r.xlsx")
    assert rated(study) == {("c1", 1): 4}
    assert study.participants["Kids"].tolist() == [0]


def test_a_formula_without_a_value_is_refused(bring, tmp_path):
    workbook = openpyxl.Workbook()
    for row in (["chat", "no", "q1"], ["c1", 1, 4], ["c1", 2, "=1+1"]):
        workbook.active.append(row)
    workbook.save(tmp_path / "r.xlsx")
    with naming.refused("r.xlsx: row 3, column 'q1'"):
        bring(None, LONG, name="r.xlsx")


REFUSED = {
    "another conversation": ("chat,no,q1\nc1,1,4\nc9,1,4\n", LONG, ["row 3, column 'chat'", "'c9'"]),
    "no conversation": ("chat,no,q1\n,1,4\n", LONG, ["row 2, column 'chat'"]),
    "no such turn": ("chat,no,q1\nc1,3,4\n", LONG, ["row 2, column 'q1'", "turn 3 of 'c1'", 2]),
    "turns from 0": ("chat,T0_q1,T1_q1\nc1,4,4\n", WIDE, ["row 2, column 'T0_q1'", "turn 0"]),
    "a turn twice": ("chat,no,q1\nc1,1,4\nc1,1,4\n", LONG, ["row 3, column 'q1'", "row 2", "turn 1", "c1", "PID"]),
    "a turn twice by one person": (
        "chat,no,q1,who\nc1,1,4,A\nc1,1,5,A\n", LONG + "PID: who\n", ["row 3, column 'q1'", "row 2", "participant A"]
    ),
    "two conditions": ("chat,no,q1,arm\nc1,1,4,x\nc1,2,4,y\n", LONG + "Model: arm\n", ["row 3, column 'arm'", "row 2"]),
    "two ages": (
        "chat,no,q1,who,y\nc1,1,4,A,30\nc2,1,4,A,31\n",
        LONG + "PID: who\nparticipants: {Age: y}\n",
        ["row 3, column 'y'", "'31'", "'30' in row 2", "participant A"],
    ),
    "three header rows": ("chat,T1_q1\nc1,4\n", "header_rows: 3\n" + WIDE, ["row 4"]),
    "an absent column": ("chat,no,q2\nc1,1,4\n", LONG, ["'q1'", "Affective", "chat, no, q2"]),
    "a column of one turn": (
        "chat,T1_q1,T1_q2,T2_q1\nc1,4,4,4\n", WIDE + "Interest: T{turn}_q2\n", ["'T2_q2'", "Interest"]
    ),
    "a column twice": ("chat,no,q1,q1\nc1,1,4,5\n", LONG, ["'q1'", "Affective"]),
    "a number off the scale": ("chat,no,q1\nc1,1,9\n", LONG, ["column Affective", "'9'", "ratings.csv.map.yml"]),
    "no UTF-8": (b"chat,no,q1\nc1,1,\xff\n", LONG, ["ratings.csv: ", "line 2, "]),
    "no table": (None, LONG, ["ratings.csv"]),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_a_table_that_does_not_fit_is_refused_and_nothing_is_written(bring, tmp_path, fault):
    table, declared, named = REFUSED[fault]
    with naming.refused(*named):
        bring(table, declared)
    assert not list(tmp_path.glob("mine.xlsx*"))


MAPS = {
    "an unknown key": (LONG + "Mood: q2\n", ["Mood", "Model"]),
    "a list of columns": (LONG + "Interest: [q1]\n", ["Interest"]),
    "a column without a name": (LONG + "Interest: ''\n", ["Interest: ''"]),
    "no conversation": (LONG.replace("TaskId: chat", ""), ["TaskId"]),
    "one column of two ratings": (LONG + "Interest: q1\n", ["{dimension}"]),
    "a pattern of one dimension": (WIDE + "ratings: T{turn}\n", ["{dimension}"]),
    "no rating": (LONG.replace("Affective: q1", ""), ["TaskId"]),
    "no turn": (LONG.replace("Turn: 'no'", ""), ["Affective", "{turn}"]),
    "two kinds of turn": (LONG + "Interest: T{turn}\n", ["Interest", "{turn}"]),
    "a turn of a characteristic": (WIDE + "participants: {Age: T{turn}}\n", ["Age", "{turn}"]),
    "a turn of a condition": (WIDE + "Model: T{turn}\n", ["Model", "{turn}"]),
    "a wrong reading": (LONG.replace("scale", "scales"), ["scales"]),
    "a condition that is not there": (LONG.replace("reading: {", "reading: {prompted: x, "), ["prompted", "'x'"]),
}  # fmt: skip


@pytest.mark.parametrize("fault", MAPS)
def test_a_map_that_can_not_be_used_is_refused_and_nothing_is_written(bring, tmp_path, fault):
    declared, named = MAPS[fault]
    with naming.refused("ratings.csv.map.yml", *named):
        bring("chat,no,q1\nc1,1,4\n", declared)
    assert not list(tmp_path.glob("mine.xlsx*"))


OPTIONS = {
    "--out a.csv": ["--out a.csv: ", ".jsonl", ".xlsx"],
    "--out a.jsonl --ratings r.csv": ["--out a.jsonl: ", ".xlsx"],
    "--out chats.jsonl": ["chats.jsonl: ", "--force"],
    "--out a.xlsx --ratings r.csv": ["r.csv: ", "r.csv.map.yml"],
    "--out b.xlsx --ratings s.csv": ["b.xlsx.reading.yml: ", "--force"],
}


@pytest.mark.parametrize("options", OPTIONS)
def test_options_that_do_not_fit(run, write, options):
    write("chats.jsonl", CHATS, lines=True)
    write("s.csv.map.yml", LONG)
    write("b.xlsx.reading.yml", "reading: 1")
    with naming.refused(*OPTIONS[options]):
        run("chats.jsonl", *options.split())


# What is written


def test_a_workbook_without_ratings_can_be_judged_and_not_analyzed(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    run("chats.jsonl", "--out", "mine.xlsx", "--participant", "P1", "--condition", "m")
    with naming.refused("mine.xlsx: ", "sense7 judge run"):
        load(tmp_path / "mine.xlsx")
    study = load(tmp_path / "mine.xlsx", rated=False)
    assert len(study.turns) == 4
    assert study.warnings == [item for item in study.diagnostics if item.kind == "no-rating"]
