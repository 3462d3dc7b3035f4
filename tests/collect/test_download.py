"""A download is used as the page wrote it, or refused with the place in it."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7.collect import study as module
from sense7.collect.gathering import read_download
from sense7.errors import UserError

QUESTIONS = [
    {"name": "Age", "text": "Age?", "kind": "number", "lowest": 18, "highest": 99},
    {"name": "Job", "text": "Job?", "kind": "choice", "choices": ["a", "b"]},
    {"name": "Why", "text": "Why?"},
]
ASKED = {"title": "Ten chats", "consent": "I may stop.", "questions": QUESTIONS}


@pytest.fixture
def content(make_download):
    return make_download(study=ASKED, answers={"Age": 30, "Job": "a", "Why": "=1+1"})


def read(tmp_path, content):
    path = tmp_path / "anna.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read_download(path)


def changed(content, place, value):
    """The content with another value at a place; ``...`` removes it."""
    content = copy.deepcopy(content)
    *way, last = place
    inner = content
    for step in way:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return content


def test_what_the_page_writes_is_read(tmp_path, content):
    read_in = read(tmp_path, content)
    assert (read_in.person, read_in.study.title) == ("anna", "Ten chats")
    assert read_in.answers == {"Age": 30, "Job": "a", "Why": "=1+1"}
    assert [one.conversation["id"] for one in read_in.rated] == ["C1", "C2"]
    assert read_in.rated[0].turns[2]["Affective"] == "good"
    assert len(read_in.items) == 3 + 2 * (2 + 2 * 8 + 2)


FIRST = ("conversations", 0)
TURN = (*FIRST, "turns", 0)
WRONG = [
    (("format",), "other", "no download of a rating page"),
    (("version",), 2, "version: 2; this program reads version 1"),
    (("person",), "=cmd", "person: '=cmd' is no code"),
    (("person",), "../../x", "is no code"),
    (("person",), ..., "person: is missing"),
    (("more",), 1, "'more': the page writes no such key"),
    (("study_id",), "0" * 64, "study_id: does not belong to the study"),
    (("study", "title"), "Another", "study_id: does not belong to the study"),
    (("study", "turns"), "some", "study: turns: 'some' is not known"),
    (("dimensions",), ["Affective"], "dimensions: not those of the study"),
    (("dimensions", 0), "Cognitive", "dimensions: not those of the study"),
    (("consented",), None, "did not agree"),
    (("started",), "yesterday", "started: 'yesterday' is no time"),
    (("answers", "Age"), 17, "answers: Age: 17 is no number that the question allows"),
    (("answers", "Age"), True, "answers: Age: True"),
    (("answers", "Job"), "c", "answers: Job: 'c' is none of the choices"),
    (("answers", "Job"), ["a"], "answers: Job: "),
    (("answers", "Why"), "a\x07", "answers: Why: "),
    (("answers", "Else"), "a", "'Else': the page writes no such key"),
    (("conversations",), {}, "conversations: not as the page writes them"),
    ((*FIRST, "id"), "=1", "conversation '=1': id: '=1' is no text"),
    ((*FIRST, "id"), "C2", "conversation 2: id: 'C2' stands there twice"),
    ((*FIRST, "added"), True, "people add no conversations in this study"),
    ((*FIRST, "messages", 1, "role"), "user", "turn 1: message: 2 is no turn to rate"),
    ((*FIRST, "messages", 0, "content"), "\ud800", "half a character"),
    ((*FIRST, "before", "importance"), 6, "conversation 1: before: importance: 6 is not on the scale, 1 to 5"),
    ((*FIRST, "before", "desired_empathy"), 4, "desired_empathy: 4 is not on the scale, 1 to 3"),
    ((*FIRST, "before", "importance"), "5", "importance: '5' is not on the scale"),
    ((*FIRST, "before", "importance"), 2.5, "importance: 2.5 is not on the scale"),
    ((*FIRST, "after", "Affective"), 0, "after: Affective: 0 is not on the scale"),
    ((*FIRST, "after", "liked"), 1, "'liked': the page writes no such key"),
    ((*TURN, "Affective"), 5, "turn 1: Affective: 5 is none of very poor"),
    ((*TURN, "Affective"), "Very good", "Affective: 'Very good' is none of"),
    ((*TURN, "Afective"), "good", "'Afective': the page writes no such key"),
    ((*TURN, "comment"), "x" * 10_001, "turn 1: comment"),
    ((*TURN, "message"), 1, "message: 1 is no turn to rate"),
    ((*TURN, "message"), 4, "turn 2: message: 4 is no turn to rate, or stands there twice"),
    ((*TURN, "message"), [2], "is no turn to rate"),
]


@pytest.mark.parametrize(("place", "value", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_anything_else_is_refused_with_its_place_and_what_to_do(tmp_path, content, place, value, said):
    with pytest.raises(UserError) as refused:
        read(tmp_path, changed(content, place, value))
    message = str(refused.value)
    assert message.startswith(f"{tmp_path / 'anna.json'}: ")
    assert said in message
    assert message.endswith(".")


def test_a_file_cut_off_anywhere_is_refused(tmp_path, content):
    text = json.dumps(content)
    for end in range(0, len(text) - 1, 97):
        with pytest.raises(UserError, match="cut off or damaged"):
            read(tmp_path, text[:end])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "cut off or damaged"),
        ("\udcff{}", "cut off or damaged .*not UTF-8"),
        ("[]", "no download of a rating page"),
        ('{"format": NaN}', "no download of a rating page"),
        (" " * 20_000, "larger than"),
    ],
    ids=["deep", "bytes", "list", "NaN", "large"],
)
def test_a_file_that_is_no_download(tmp_path, monkeypatch, text, said):
    if said == "larger than":
        monkeypatch.setitem(module.LARGEST, "download", 100)
    with pytest.raises(UserError, match=said):
        read(tmp_path, text)


def places(content, way=()):
    yield way
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from places(value, (*way, key))


ODD = st.sampled_from([None, True, -1, 2**70, 1.5, "", "=1+1", "<b>", "x" * 50_000, "\ud800", [], {}, [[]], {"a": 1}])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_change_at_any_place_is_read_or_one_message(tmp_path, content, data):
    place = data.draw(st.sampled_from([way for way in places(content) if way]))
    message = "anna.json: read"
    try:
        read(tmp_path, changed(content, place, data.draw(ODD | st.just(...))))
    except UserError as error:
        message = str(error)
    assert "anna.json: " in message


def test_what_can_not_be_read_is_not_called_damaged(tmp_path):
    with pytest.raises(UserError, match=r"this is a folder\. Give the path of a file"):
        read_download(tmp_path)
