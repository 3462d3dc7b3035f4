"""Ratings in a table of any layout are joined to the turns that they rate; what does not join is listed by row."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from helpers import naming
from sense7 import cli
from sense7.errors import UserError
from sense7.exchange import Chat, Message
from sense7.exchange.joining import join_ratings, workbook_sheets
from sense7.loading import load
from sense7.workbook import read_sheets, write_sheets
from sense7.workbook.reading import STANDARD

TALK = [("user", "a"), ("assistant", "one"), ("user", "b"), ("assistant", "two")]
CHATS = [
    {
        "id": "c1",
        "participant": "P1",
        "condition": "m",
        "messages": [{"role": r, "content": t} for r, t in TALK],
    },
    {"id": "c2", "messages": [{"role": r, "content": f"={t}"} for r, t in TALK]},
]


@pytest.fixture
def bring(run, write, tmp_path):
    """Import two conversations with ratings; give what was printed, and the study."""

    def brought(table, *options, study=True, reading=STANDARD):
        write("chats.jsonl", CHATS, lines=True)
        if reading:
            write("mine.xlsx.reading.yml", reading)
        write("ratings.csv", table)
        done = run("chats.jsonl", "--out", "mine.xlsx", "--ratings", "ratings.csv", *options)
        return done, load(tmp_path / "mine.xlsx") if study else None

    return brought


def rated(study, name="Affective"):
    frame = study.turns[study.turns[name].notna()]
    return dict(
        zip(zip(frame["conversation"], frame["turn"], strict=True), frame[name], strict=True)
    )


@pytest.mark.parametrize(
    "table",
    [
        "TaskId,Turn,Affective\nc1,2,4\nc2,1,5\n",
        "TaskId,MessageId,Affective\nc1,4,4\nc2,2,5\n",
        "TaskId,Turn,MessageId,Affective\nc1,2,4,Good\nc2,1,,very good\n",
        "TaskId,MessageId,Affective\nc1,1,\nc1,4,4\nc2,2,5 - Very good\n",
        "TaskId;Turn;Affective\nc1;1.0;4.0\nc2;0.0;5.0\n",
    ],
    ids=["turn", "message", "both, words", "a row for each message", "from 0"],
)
def test_the_turn_is_named_in_any_way(bring, table):
    done, study = bring(table)
    assert rated(study) == {("c1", 2): 4, ("c2", 1): 5}
    assert "ratings of 2 turns" in done.stdout
    assert study.conversations["participant"].iloc[0] == "P1"


def test_one_name_in_several_spellings_is_no_contradiction(bring):
    table = "TaskId,Turn,PID,Model,Affective\nc1,1,P\u00e9,1,4\nc1,2,Pe\u0301 ,1.0,5\nc2,1,Q,m,3\n"
    _, study = bring(table)
    assert rated(study) == {("c1", 1): 4, ("c1", 2): 5, ("c2", 1): 3}
    assert study.conversations[["participant", "condition"]].iloc[0].tolist() == ["P\u00e9", "1"]


def test_columns_of_other_names(bring, write):
    write("map.yml", "TaskId: chat\nturn: 'no'\nAffective: q1\noverall: q9\n")
    table = "chat,no,q1,q2,q9,mood\nc1,1,2,3,4,x\n"
    done, study = bring(table, "--columns", "map.yml", "--column", "Interest=q2")
    found = [rated(study, name)["c1", 1] for name in ("Affective", "Interest", "overall")]
    assert found == [2, 3, 4]
    naming.check(done.stderr, "ratings.csv: ", "mood")


SEVEN = "{reading: 1, defaults: {turn ratings: {scale: [1, 7]}}}"


def test_ratings_are_read_by_the_reading_file_that_is_there_and_it_is_kept(bring, tmp_path):
    _, study = bring("TaskId,Turn,Affective\nc1,1,7\nc1,2,1\nc2,1,4\n", reading=SEVEN)
    assert rated(study) == {("c1", 1): 5, ("c1", 2): 1, ("c2", 1): 3}
    assert (tmp_path / "mine.xlsx.reading.yml").read_text() == SEVEN


def test_what_nobody_declared_is_listed_beside_the_workbook_to_be_filled_in(bring, tmp_path):
    table = "TaskId,Turn,Affective\nc1,1,7\nc1,2,6\nc2,1,wow\n"
    done, _ = bring(table, study=False, reading="")
    place = tmp_path / "mine.xlsx.reading.yml"
    naming.check(done.stderr, "mine.xlsx.reading.yml")
    naming.check(place.read_text(), "numbers from 6 to 7", "wow")
    with naming.refused("mine.xlsx.reading.yml", "LEAST"):
        load(tmp_path / "mine.xlsx")
    place.write_text(
        place.read_text()
        .replace("LEAST", "1")
        .replace("MOST", "7")
        .replace("      - {value", "      - {value: x, level: 1}\n      - {value")
        .replace("level: LEVEL", "level: 7")
    )
    assert rated(load(tmp_path / "mine.xlsx"))["c2", 1] == 5


def test_words_of_the_format_need_nothing(bring):
    _, study = bring("TaskId,Turn,Affective\nc1,1,Good\nc1,2,very poor\n", reading="")
    assert rated(study) == {("c1", 1): 4, ("c1", 2): 1}


def test_what_does_not_join_is_listed_by_row(bring):
    rows = (
        "c1,1,,4",
        "c9,1,,4",
        "c9,2,,4",
        "c1,3,,4",
        "c1,,,4",
        "c1,,3,4",
        "c1,2,2,4",
        "c1,2,,",
        ",2,,5",
        "c2,1,,4",
    )
    table = "\n".join(["TaskId,Turn,MessageId,Affective", *rows])
    done, study = bring(table)
    assert rated(study) == {("c1", 1): 4, ("c2", 1): 4}
    places = [
        ["rows 3 (c9), 4 (c9), 10 "],
        ["row 5 (c1): "],
        ["row 6 (c1): "],
        ["row 7 (c1): "],
        ["row 8 (c1): ", "Turn", "MessageId"],
        ["row 9 (c1): "],
    ]
    for line, named in zip(done.stderr.splitlines(), places, strict=True):
        naming.check(line, "ratings.csv: ", *named)


def test_several_people_rate_the_same_conversation(bring):
    done, study = bring("TaskId,Turn,PID,Affective\nc1,1,A,4\nc1,1,B,2\nc1,2,A,3\n")
    assert rated(study) == {("c1-A", 1): 4, ("c1-A", 2): 3, ("c1-B", 1): 2}
    assert study.conversations["participant"].tolist()[:2] == ["A", "B"]
    without = done.stdout.splitlines()[-2]
    naming.check(without, 1)


def test_questions_about_the_conversation_come_along(bring):
    _, study = bring(
        "TaskId,Turn,Affective,importance,PreTaskChoice,Comment\nc1,1,4,5,work,warm\nc1,2,4,,work,\n"
    )
    first = study.conversations.iloc[0]
    assert (first["importance"], first["topic"]) == (5, "work")
    assert study.messages["comment"].tolist()[1] == "warm"


NO_RATINGS = {
    "no turn": ("TaskId,Affective\nc1,4\n", ["Turn", "MessageId", "TaskId, Affective"]),
    "no conversation": ("Turn,Affective\n1,4\n", ["TaskId", "Turn, Affective"]),
    "no rating": ("TaskId,Turn\nc1,1\n", ["Affective", "TaskId, Turn"]),
    "nothing joins": ("TaskId,Turn,Affective\nc9,1,4\n", ["row 2 (c9): "]),
    "a turn twice": ("TaskId,Turn,Affective\nc1,1,4\nc1,1,4\n", ["rows 2 and 3", "'c1'"]),
    "two models": (
        "TaskId,Turn,Affective,Model\nc1,1,4,x\nc1,2,4,y\n",
        ["rows 2 and 3: ", "Model", "'x'", "'y'"],
    ),
    "a column twice": (
        "TaskId,Turn,Affective,affective\nc1,1,4,5\n",
        ["'Affective'", "'affective'"],
    ),
    "another word": ("TaskId,Turn,Affective\nc1,1,splendid\n", ["Affective", "splendid"]),
    "no UTF-8": (b"TaskId,Turn,Affective\nc1,1,\xff\n", ["ratings.csv: ", "line 2, ", "byte 28: "]),
    "an open quote": ('TaskId,Turn,Affective\nc1,1,"4\n', ["ratings.csv: "]),
}


@pytest.mark.parametrize("fault", NO_RATINGS)
def test_a_table_that_cannot_be_used(bring, tmp_path, fault):
    table, named = NO_RATINGS[fault]
    with naming.refused(*named):
        bring(table)
    assert not (tmp_path / "mine.xlsx").exists()


MAPS = {
    "--column Affective": ["--column Affective: "],
    "--column Mood=q1": ["--column Mood=q1: ", "'Mood'", "TaskId"],
    "--column Affective=q1": ["'q1'", "Affective", "row 1", "TaskId, Turn, Interest"],
    "--columns map.yml": ["map.yml: "],
    "--columns bare.yml": ["'no'", "Turn"],
    "--columns no.yml": ["no.yml: "],
}


@pytest.mark.parametrize("options", MAPS)
def test_a_map_that_cannot_be_used(bring, write, options):
    write("map.yml", "- a\n- b\n")
    write("bare.yml", "Turn: no\n")
    with naming.refused(*MAPS[options]):
        bring("TaskId,Turn,Interest\nc1,1,4\n", *options.split())


OPTIONS = {
    "--out a.csv": ["--out a.csv: ", ".jsonl", ".xlsx"],
    "--out a.jsonl --ratings r.csv": ["--out a.jsonl: ", ".xlsx"],
    "--out a.xlsx --column a=b": ["--column", "--ratings"],
    "--out chats.jsonl": ["--out chats.jsonl: ", "--force"],
    "--out a.xlsx --ratings r.txt": ["r.txt: ", ".csv", ".xlsx"],
}


@pytest.mark.parametrize("options", OPTIONS)
def test_options_that_do_not_fit(run, write, options):
    write("chats.jsonl", CHATS, lines=True)
    with naming.refused(*OPTIONS[options]):
        run("chats.jsonl", *options.split())


def test_a_workbook_of_ratings(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    write("ratings.csv", "TaskId,Turn,Affective\nc1,1,4\n")
    write("mine.xlsx.reading.yml", STANDARD)
    run("chats.jsonl", "--out", "first.xlsx", "--ratings", "ratings.csv")
    table = read_sheets(tmp_path / "first.xlsx")["Messages"]
    write_sheets([table], tmp_path / "ratings.xlsx")
    run("chats.jsonl", "--out", "mine.xlsx", "--ratings", "ratings.xlsx")
    assert rated(load(tmp_path / "mine.xlsx")) == {("c1", 1): 4}


@pytest.mark.parametrize("line", ["scales: {}", "prompted: warm", "sheets: {warm: Tasks}"])
def test_a_reading_file_that_cannot_be_used_is_refused_before_anything_is_written(
    run, write, tmp_path, line
):
    write("chats.jsonl", CHATS, lines=True)
    write("mine.xlsx.reading.yml", f"{STANDARD}{line}\n")
    with naming.refused("mine.xlsx.reading.yml: ", line.partition(":")[0]):
        run("chats.jsonl", "--out", "mine.xlsx", "--condition", "plain")
    assert not (tmp_path / "mine.xlsx").exists()


# What is written

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), max_size=40
)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), min_size=1, max_size=5))
def test_texts_in_a_workbook_stay_character_by_character(talk):
    chat = Chat("c1", tuple(Message(role, text) for role, text in talk))
    _, messages, *_ = workbook_sheets(join_ratings([chat]))
    assert messages.column(messages.header.index("Content")) == [text for _, text in talk]


def test_a_text_that_a_cell_cannot_hold(run, write):
    write(
        "a.json", [{"role": "user", "content": "a" * 40_000}, {"role": "assistant", "content": ""}]
    )
    with naming.refused("sheet Messages, ", "cell E2: ", "40,000"):
        run("a.json", "--out", "mine.xlsx")
    run("a.json", "--out", "chats.jsonl")


def test_a_workbook_without_ratings_can_be_judged_and_not_analyzed(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    run("chats.jsonl", "--out", "mine.xlsx", "--participant", "P1", "--condition", "m")
    with naming.refused("mine.xlsx: ", "sense7 judge run"):
        load(tmp_path / "mine.xlsx")
    study = load(tmp_path / "mine.xlsx", rated=False)
    assert len(study.turns) == 4
    assert study.warnings == [one for one in study.diagnostics if one.kind == "no-rating"]


def test_lines_go_on_being_one_conversation_each(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    run("chats.jsonl", "--out", "again.jsonl")
    assert [
        json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()
    ] == CHATS


def test_a_judge_is_asked_without_ratings_and_not_with_rated_examples(run, write):
    write("chats.jsonl", CHATS, lines=True)
    run("chats.jsonl", "--out", "mine.xlsx")
    words = [
        "judge",
        "run",
        "--data",
        "mine.xlsx",
        "--out",
        "x",
        "--base-url",
        "http://localhost:1/v1",
        "--dry-run",
    ]
    done = CliRunner().invoke(cli.app, words)
    requests = re.search(r"(?m)^.*conversations, runs.*$", done.stdout)[0]
    naming.check(requests, 2, "2 conversations", "runs: 1")
    refused = CliRunner().invoke(cli.app, [*words, "--shots", "5"])
    assert isinstance(refused.exception, UserError)
    naming.check(refused.exception, "mine.xlsx: ", "sheet Messages", "sense7 judge run")
