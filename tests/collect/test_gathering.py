"""Downloads: used as the page wrote them or refused with the place in them; of many people they become one workbook."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import naming
from helpers.changing import changed, places
from sense7.collect.gathering import gather, read_download, read_downloads
from sense7.errors import UserError
from sense7.loading import load
from sense7.workbook.xlsx import read_sheets

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


FIRST = ("conversations", 0)
TURN = (*FIRST, "turns", 0)
BEFORE = (*FIRST, "before")
WRONG = [  # where in the download, what stands there, what of it is named
    (("format",), "other", []),
    (("version",), 1, ["version: ", 1, 2]),
    (("person",), "=cmd", ["person: ", "'=cmd'"]),
    (("person",), "nan", ["person: ", "'nan'"]),
    (("more",), 1, ["'more'"]),
    (("study_id",), "0" * 64, ["study_id: "]),
    (("study", "turns"), "some", ["study: turns: ", "'some'"]),
    (("consented",), None, ["consented: "]),
    (("started",), "yesterday", ["started: ", "'yesterday'"]),
    (("answers", "Age"), 17, ["answers: Age: ", 17]),
    (("answers", "Job"), "c", ["answers: Job: ", "'c'"]),
    (("answers", "Else"), "a", ["answers: ", "'Else'"]),
    (("conversations",), {}, ["conversations: "]),
    ((*FIRST, "id"), "=1", ["conversation '=1': id: "]),
    ((*FIRST, "id"), "C2", ["conversation 2: id: ", "'C2'"]),
    ((*FIRST, "messages", 1, "role"), "user", ["conversation 1: turn 1: message: ", 2]),
    ((*FIRST, "messages", 0, "content"), "\ud800", ["conversation 1: messages[1].content: "]),
    ((*BEFORE, "importance"), 6, ["conversation 1: before: importance: ", 6, 1, 5]),
    ((*FIRST, "after", "Affective"), 0, ["conversation 1: after: Affective: ", 0]),
    ((*FIRST, "after", "liked"), 1, ["conversation 1: after: ", "'liked'"]),
    ((*TURN, "Affective"), 5, ["conversation 1: turn 1: Affective: ", 5]),
    ((*TURN, "Afective"), "good", ["conversation 1: turn 1: ", "'Afective'"]),
    ((*TURN, "comment"), "x" * 10_001, ["conversation 1: turn 1: comment: "]),
    ((*TURN, "comment"), "a\x0bb", ["conversation 1: turn 1: comment: "]),
    ((*TURN, "message"), 1, ["conversation 1: turn 1: message: ", 1]),
    ((*TURN, "message"), 4, ["conversation 1: turn 2: message: ", 4]),
]


@pytest.mark.parametrize(("place", "value", "named"), WRONG)
def test_anything_else_is_refused_with_its_place(tmp_path, content, place, value, named):
    with naming.refused(f"{tmp_path / 'anna.json'}: ", *named):
        read(tmp_path, changed(content, place, value))


ODD = st.sampled_from(
    [None, True, -1, 2**70, 1.5, "", "=1+1", "<b>", "x" * 50_000, "\ud800", [], {}, [[]], {"a": 1}]
)


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


def test_three_people_make_a_workbook_without_a_warning(folder, make_download, tmp_path):
    people = {"anna": "good", "ben": "poor", "chloé": "unknown"}
    place = folder(**{code: make_download(code, rating=said) for code, said in people.items()})
    (place / ".hidden.json").write_text("x")
    gathered = gather(place, tmp_path / "mine.xlsx")
    naming.check(gathered.summary, 3, 6, 12)
    study = load(tmp_path / "mine.xlsx")
    assert (gathered.notes, study.warnings) == ([], [])
    names = [f"{chat}:{person}" for person in people for chat in ("C1", "C2")]
    assert study.conversations["conversation"].tolist() == names
    assert set(study.conversations["participant"]) == set(people)
    assert set(study.conversations["condition"]) == {"plain", "plain-empathy"}
    ratings = study.turns.groupby("participant")["Affective"]
    assert dict(ratings.first().dropna()) == {"anna": 4, "ben": 2}
    states = study.turns.loc[study.turns["participant"] == "chloé", "Affective_state"]
    assert set(states.astype(str)) == {"not rated"}
    answers = ["importance", "desired_empathy", "successful", "post_Affective", "topic"]
    assert study.conversations.iloc[0][answers].tolist() == [4, 3, 5, 2, "work"]
    assert list(study.messages["content"][:2]) == ["I had a bad day.", "What happened?"]


def test_ones_own_conversations_keep_their_names(folder, make_download, make_chat, tmp_path):
    study = {"title": "Own", "conversations": "own"}
    chats = {person: [make_chat(f"of {person}", participant=person)] for person in ("anna", "ben")}
    gather(
        folder(**{who: make_download(who, study, own) for who, own in chats.items()}),
        tmp_path / "mine.xlsx",
    )
    assert list(load(tmp_path / "mine.xlsx").conversations["conversation"]) == ["of anna", "of ben"]
    (note,) = read_downloads(folder(ben=make_download("ben", study, chats["anna"]))).notes
    naming.check(note, "ben.json: ", "conversation 1: ", "ben")


@pytest.fixture
def refused():
    """Gather downloads that are refused, and leave nothing: each line of the message names one of the places."""

    def gathered(place, *named):
        with naming.refused(*named) as error:
            gather(place, place / "mine.xlsx")
        assert not list(place.glob("*.xlsx"))
        return str(error.value)

    return gathered


def test_of_several_files_an_unusable_one_is_named(folder, make_download, tmp_path):
    ben = json.dumps(make_download("ben"))[:-50]
    place = folder(anna=make_download(), ben=ben, cleo=make_download("cleo"))
    (place / "dan.json").mkdir()
    gathered = gather(place, tmp_path / "mine.xlsx")
    assert [download.person for download in gathered.downloads] == ["anna", "cleo"]
    naming.check(gathered.notes[0], f"{place / 'ben.json'}: ")
    naming.check(gathered.notes[1], f"{place / 'dan.json'}: ")


def test_without_any_usable_file_each_is_named(folder, make_download, refused):
    place = folder(ben=json.dumps(make_download("ben"))[:-50], cleo="{}", dan=b"\xff")
    refused(place, *(f"{place / name}: " for name in ("ben.json", "cleo.json", "dan.json")))


def test_two_studies_are_never_mixed(folder, make_download, refused):
    other = make_download("ben", {"title": "Ten chats", "turns": "last"})
    refused(
        folder(anna=make_download(), ben=other, cleo=make_download("cleo")),
        *("ben.json: ", "anna.json"),
    )


def test_a_double_counts_once_and_is_named(folder, make_download):
    place = folder(anna=make_download(), copy=make_download(downloaded="2026-02-02T00:00:00.000Z"))
    (place / "notes.txt").write_text("x")
    gathered = read_downloads(place)
    assert len(gathered.downloads) == 1
    passed_over, double = gathered.notes
    naming.check(passed_over, f"{place}: ", "notes.txt")
    naming.check(double, f"{place / 'copy.json'}: ", "anna.json")


def test_a_later_download_that_only_adds_answers_counts(folder, make_download):
    early = make_download()
    early["conversations"][1] |= {"turns": [], "before": {}, "after": {}}
    for names in (("a", "b"), ("b", "a")):
        gathered = read_downloads(folder(**dict(zip(names, (early, make_download()), strict=True))))
        assert len(gathered.downloads[0].begun) == 2
        (note,) = gathered.notes
        naming.check(note, f"{names[0]}.json: ", f"{names[1]}.json")


def test_one_person_with_other_answers_is_refused(folder, make_download, refused):
    refused(
        folder(a=make_download(), b=make_download(rating="poor")),
        *("anna ", "a.json", "b.json", "message 2, "),
    )
    early, late = make_download(), make_download()
    early["conversations"][0]["turns"], late["conversations"][1]["turns"] = [], []
    refused(folder(a=early, b=late), "anna ", "a.json", "b.json")


def test_missing_ratings_stay_blank(folder, make_download, tmp_path):
    """A conversation without an answer is left out."""
    content = make_download()
    first = content["conversations"][0]
    del first["turns"][0]["Affective"]
    first["turns"][0]["comment"] = first["before"]["topic"] = "=1+1"
    content["conversations"][1] |= {"turns": [], "before": {}, "after": {}}
    gather(folder(anna=content), tmp_path / "mine.xlsx")
    study = load(tmp_path / "mine.xlsx")
    assert study.conversations["conversation"].tolist() == ["C1:anna"]
    assert study.turns["Affective"].isna().tolist() == [True, False]
    topics, comments = study.conversations["topic"], study.messages["comment"].dropna()
    assert topics.tolist() == comments.tolist() == ["=1+1"]


def test_answers_about_people_have_a_sheet_of_their_own(folder, make_download, tmp_path):
    """A code in another spelling is the same person."""
    study = {"title": "T", "questions": [{"name": "Age", "text": "Age?", "kind": "number"}]}
    people = [make_download(code, study, answers={"Age": 30}) for code in ("\u00e9", "e\u0301")]
    gather(folder(a=people[0], b=people[1]), tmp_path / "mine.xlsx")
    sheets = read_sheets(tmp_path / "mine.xlsx")
    assert sheets["Participants"].rows == [["\u00e9", 30.0]]
    origin = dict(zip(sheets["Gathered"].header, sheets["Gathered"].rows[0], strict=True))
    assert (origin["Rater"], origin["File"], origin["Conversation"]) == ("\u00e9", "a.json", "C1")
    assert load(tmp_path / "mine.xlsx").participants["Age"].tolist() == [30]


def test_a_folder_without_ratings_is_refused(folder, make_download, tmp_path, refused):
    refused(folder(), f"{folder()}: ")
    content = make_download()
    for one in content["conversations"]:
        one["turns"] = []
    refused(folder(anna=content), f"{folder()}: ")
    with naming.refused(f"{tmp_path / 'none'}: "):
        gather(tmp_path / "none", tmp_path / "mine.xlsx")
    with naming.refused(f"{Path(__file__)}: "):
        gather(Path(__file__), tmp_path / "mine.xlsx")
