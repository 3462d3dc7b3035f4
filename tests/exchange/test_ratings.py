"""Ratings in a table of any layout are joined to the turns that they rate; what does not join is listed by row."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sense7 import cli
from sense7.errors import UserError
from sense7.exchange.content import Chat, Message
from sense7.exchange.joining import join_ratings, workbook_sheets
from sense7.loading import load
from sense7.workbook import read_sheets, write_sheets

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

    def brought(table, *options, study=True):
        write("chats.jsonl", CHATS, lines=True)
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
    ],
    ids=["turn", "message", "both, words", "a row for each message"],
)
def test_the_turn_is_named_in_any_way(bring, table):
    done, study = bring(table)
    assert rated(study) == {("c1", 2): 4, ("c2", 1): 5}
    assert "ratings of 2 turns joined" in done.stdout
    assert study.conversations["participant"].iloc[0] == "P1"


def test_columns_of_other_names(bring, write):
    write("map.yml", "TaskId: chat\nturn: 'no'\nAffective: q1\noverall: q9\n")
    table = "chat,no,q1,q2,q9,mood\nc1,1,2,3,4,x\n"
    done, study = bring(table, "--columns", "map.yml", "--column", "Interest=q2")
    found = [rated(study, name)["c1", 1] for name in ("Affective", "Interest", "overall")]
    assert found == [2, 3, 4]
    assert "ratings.csv: columns that are not used: mood" in done.stderr


def test_a_declared_scale_goes_with_the_workbook(bring, tmp_path):
    _, study = bring("TaskId,Turn,Affective\nc1,1,7\nc1,2,1\nc2,1,4\n", "--scale", "1-7")
    assert rated(study) == {("c1", 1): 5, ("c1", 2): 1, ("c2", 1): 3}
    assert (tmp_path / "mine.xlsx.reading.yml").exists()


def test_declared_words_go_with_the_workbook(bring, write):
    write("words.yml", "meh: 2\nwow: 5\n")
    _, study = bring("TaskId,Turn,Affective\nc1,1,Meh\nc1,2,wow\n", "--words", "words.yml")
    assert rated(study) == {("c1", 1): 2, ("c1", 2): 5}


def test_an_undeclared_scale_is_refused_before_anything_is_written(bring, tmp_path):
    with pytest.raises(UserError, match="declare the scale with --scale Affective=LOWEST-HIGHEST"):
        bring("TaskId,Turn,Affective\nc1,1,7\nc1,2,6\nc2,1,4\n")
    assert {path.name for path in tmp_path.iterdir()} == {"chats.jsonl", "ratings.csv"}


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
    assert done.stderr.splitlines() == [
        "sense7: ratings.csv: rows 3 (c9), 4 (c9), 10 (blank): not joined: no conversation has this id",
        "sense7: ratings.csv: row 5 (c1): not joined: no such turn",
        "sense7: ratings.csv: row 6 (c1): not joined: nothing says which turn",
        "sense7: ratings.csv: row 7 (c1): not joined: this message is none of the assistant's",
        "sense7: ratings.csv: row 8 (c1): not joined: Turn and MessageId name different turns",
        "sense7: ratings.csv: row 9 (c1): no answer in them, passed over",
    ]


def test_several_people_rate_the_same_conversation(bring):
    done, study = bring("TaskId,Turn,PID,Affective\nc1,1,A,4\nc1,1,B,2\nc1,2,A,3\n")
    assert rated(study) == {("c1-A", 1): 4, ("c1-A", 2): 3, ("c1-B", 1): 2}
    assert study.conversations["participant"].tolist()[:2] == ["A", "B"]
    assert "1 conversation without a rating" in done.stdout


def test_questions_about_the_conversation_come_along(bring):
    _, study = bring(
        "TaskId,Turn,Affective,importance,PreTaskChoice,Comment\nc1,1,4,5,work,warm\nc1,2,4,,work,\n"
    )
    first = study.conversations.iloc[0]
    assert (first["importance"], first["topic"]) == (5, "work")
    assert study.messages["comment"].tolist()[1] == "warm"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("TaskId,Affective\nc1,4\n", "no column for the turn, by one of Turn, MessageId"),
        (
            "Turn,Affective\n1,4\n",
            r"no column for the conversation \(columns present: Turn, Affective\)",
        ),
        ("TaskId,Turn\nc1,1\n", "no column for a rating"),
        (
            "TaskId,Turn,Affective\nc9,1,4\n",
            "not one row joins. Nothing was written.\n.*row 2 .c9.: not joined: no convers",
        ),
        ("TaskId,Turn,Affective\nc1,1,4\nc1,1,4\n", "rows 2 and 3 rate the same turn of 'c1'"),
        (
            "TaskId,Turn,Affective,Model\nc1,1,4,x\nc1,2,4,y\n",
            "rows 2 and 3: Model is 'x' and 'y' in the same conv",
        ),
        (
            "TaskId,Turn,Affective,affective\nc1,1,4,5\n",
            "columns 'Affective' and 'affective' could both be Affective",
        ),
        ("TaskId,Turn,Affective\nc1,1,splendid\n", "column Affective"),
        (b"TaskId,Turn,Affective\nc1,1,\xff\n", "line 2, byte 28: not UTF-8"),
        ('TaskId,Turn,Affective\nc1,1,"4\n', "Close every double quote"),
    ],
)
def test_a_table_that_cannot_be_used(bring, tmp_path, table, problem):
    with pytest.raises(UserError, match=f"(?s){problem}"):
        bring(table)
    assert not (tmp_path / "mine.xlsx").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--column", "Affective"), "--column Affective: expected NAME=COLUMN"),
        (
            ("--column", "Mood=q1"),
            "--column Mood=q1: 'Mood' is no column of the format. Use one of TaskId",
        ),
        (
            ("--column", "Affective=q1"),
            r"the column 'q1' \(Affective\) is missing in row 1 \(columns present: TaskId",
        ),
        (("--columns", "map.yml"), "map.yml: can't be read as YAML in UTF-8 .it holds no mapping"),
        (("--columns", "bare.yml"), "bare.yml: Turn: expected NAME=COLUMN"),
        (("--columns", "no.yml"), "no.yml: there is no such file"),
        (("--scale", "x"), "does not name a scale"),
    ],
)
def test_a_map_that_cannot_be_used(bring, write, options, problem):
    write("map.yml", "- a\n- b\n")
    write("bare.yml", "Turn: no\n")
    with pytest.raises(UserError, match=problem):
        bring("TaskId,Turn,Interest\nc1,1,4\n", *options)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ("--out", "a.csv"),
            r"--out a.csv: give a name that ends in .jsonl \(conversations\) or .xlsx",
        ),
        (("--out", "a.jsonl", "--ratings", "r.csv"), "--out a.jsonl: ratings stand in a workbook"),
        (("--out", "a.xlsx", "--column", "a=b"), "are about ratings. Give --ratings FILE.csv"),
        (
            ("--out", "a.xlsx", "--speaker", "Anna"),
            "--speaker 'Anna': expected NAME=user or NAME=assistant",
        ),
        (("--out", "chats.jsonl"), "chats.jsonl: is there already"),
        (
            ("--out", "a.xlsx", "--ratings", "r.txt"),
            "r.txt: expected a table that ends in .csv or .xlsx",
        ),
    ],
)
def test_options_that_do_not_fit(run, write, words, problem):
    write("chats.jsonl", CHATS, lines=True)
    with pytest.raises(UserError, match=problem):
        run("chats.jsonl", *words)


def test_a_workbook_of_ratings(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    write("ratings.csv", "TaskId,Turn,Affective\nc1,1,4\n")
    run("chats.jsonl", "--out", "first.xlsx", "--ratings", "ratings.csv")
    table = read_sheets(tmp_path / "first.xlsx")["Messages"]
    write_sheets([table], tmp_path / "ratings.xlsx")
    run("chats.jsonl", "--out", "mine.xlsx", "--ratings", "ratings.xlsx")
    assert rated(load(tmp_path / "mine.xlsx")) == {("c1", 1): 4}


def test_how_another_workbook_is_read_does_not_apply_to_this_one(run, write):
    write("chats.jsonl", CHATS, lines=True)
    write("mine.xlsx.reading.yml", "scales: {all: 1-7}")
    with pytest.raises(
        UserError, match=r"mine.xlsx.reading.yml: says how another workbook of this name is to be"
    ):
        run("chats.jsonl", "--out", "mine.xlsx")


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
    with pytest.raises(
        UserError, match=r"sheet Messages, cell E2: a text of 40,000 characters; an .xlsx cell"
    ):
        run("a.json", "--out", "mine.xlsx")
    run("a.json", "--out", "chats.jsonl")


def test_a_workbook_without_ratings_can_be_judged_and_not_analyzed(run, write, tmp_path):
    write("chats.jsonl", CHATS, lines=True)
    run("chats.jsonl", "--out", "mine.xlsx", "--participant", "P1", "--condition", "m")
    with pytest.raises(UserError, match="Without ratings only a judge can be asked"):
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
    assert "2 (2 conversations, runs: 1)" in done.stdout
    refused = CliRunner().invoke(cli.app, [*words, "--shots", "5"])
    assert "Without ratings only a judge can be asked, and without rated examples" in str(
        refused.exception
    )
