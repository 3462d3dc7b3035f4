"""Downloads of many people become one workbook that ``sense7 check`` passes; what does not fit together is named."""

import json
import os
from pathlib import Path

import openpyxl
import pytest

from sense7.collect.gathering import gather, read_downloads
from sense7.errors import UserError
from sense7.loading import load
from sense7.workbook import read_sheets


def test_three_people_make_a_workbook_without_a_warning(folder, make_download, tmp_path):
    people = {"anna": "good", "ben": "poor", "chloé": "unknown"}
    place = folder(**{person: make_download(person, rating=rating) for person, rating in people.items()})
    (place / ".hidden.json").write_text("x")
    gathered = gather(place, tmp_path / "mine.xlsx")
    assert "3 people, 6 rated conversations, 12 rated turns" in gathered.summary
    assert gathered.notes == []
    study = load(tmp_path / "mine.xlsx", strict=True)
    assert list(study.conversations["conversation"]) == [
        f"{chat}:{person}" for person in sorted(people) for chat in ("C1", "C2")
    ]
    assert set(study.conversations["participant"]) == set(people)
    assert set(study.conversations["condition"]) == {"plain", "plain-empathy"}
    ratings = study.turns.groupby("participant")["Affective"]
    assert dict(ratings.first().dropna()) == {"anna": 4, "ben": 2}
    assert set(study.turns.loc[study.turns["participant"] == "chloé", "Affective_state"].astype(str)) == {"not rated"}
    row = study.conversations.iloc[0]
    assert (row["importance"], row["desired_empathy"], row["successful"], row["post_Affective"]) == (4, 3, 5, 2)
    assert row["topic"] == "work"
    assert list(study.messages["content"][:2]) == ["I had a bad day.", "What happened?"]


def test_people_who_rate_their_own_conversations_keep_the_names_of_these(folder, make_download, make_chat, tmp_path):
    study = {"title": "Own", "conversations": "own"}
    chats = {person: [make_chat(f"of {person}", participant=person)] for person in ("anna", "ben")}
    gather(folder(**{who: make_download(who, study, own) for who, own in chats.items()}), tmp_path / "mine.xlsx")
    assert list(load(tmp_path / "mine.xlsx").conversations["conversation"]) == ["of anna", "of ben"]
    with pytest.raises(UserError, match="its participant is not ben"):
        read_downloads(folder(ben=make_download("ben", study, chats["anna"])))


def test_answers_about_people_and_their_files_have_sheets_of_their_own(folder, make_download, tmp_path):
    study = {"title": "T", "questions": [{"name": "Age", "text": "Age?", "kind": "number"}]}
    place = folder(a=make_download("anna", study, answers={"Age": 30}), b=make_download("ben", study))
    gather(place, tmp_path / "mine.xlsx")
    sheets = read_sheets(tmp_path / "mine.xlsx")
    assert sheets["Participants"].rows == [["anna", 30.0], ["ben", None]]
    (first, *_), header = sheets["Gathered"].rows, sheets["Gathered"].header
    origin = dict(zip(header, first, strict=True))
    assert (origin["Rater"], origin["File"], origin["Conversation"]) == ("anna", "a.json", "C1")
    assert load(tmp_path / "mine.xlsx", strict=True).participants["Age"].iloc[0] == 30


def test_what_looks_like_a_formula_is_text(folder, make_download, tmp_path):
    hostile = ['=HYPERLINK("http://x")', "+1", "-1", "@x", "<b>&amp;</b>", "\ttab"]
    content = make_download()
    for turn, text in zip((t for one in content["conversations"] for t in one["turns"]), hostile, strict=False):
        turn["comment"] = text
    content["conversations"][0]["before"]["topic"] = hostile[0]
    gather(folder(a=content), tmp_path / "mine.xlsx")
    cells = [cell for sheet in openpyxl.load_workbook(tmp_path / "mine.xlsx") for row in sheet for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert set(hostile[:4]) <= {cell.value for cell in cells}
    assert load(tmp_path / "mine.xlsx").conversations["topic"].iloc[0] == hostile[0]


def refused(place, *parts, out=None):
    with pytest.raises(UserError) as error:
        gather(place, out or place / "mine.xlsx")
    for part in parts:
        assert part in str(error.value)
    assert not list(place.glob("*.xlsx"))
    return str(error.value)


def test_every_broken_file_is_named_and_nothing_is_written(folder, make_download):
    text = json.dumps(make_download("ben"))
    place = folder(anna=make_download(), ben=text[:-50], cleo="{}", dan=b"\xff")
    message = refused(place, "ben.json: cut off", "cleo.json: no download", "dan.json: ", "Nothing was written.")
    assert "anna.json" not in message


def test_two_studies_are_never_mixed(folder, make_download):
    other = make_download("cleo", {"title": "Ten chats", "turns": "last"})
    message = refused(
        folder(anna=make_download(), ben=make_download("ben"), cleo=other),
        "cleo.json: of another study",
        "folder of its own",
    )
    assert "ben.json" not in message


def test_a_double_counts_once_and_is_named(folder, make_download):
    place = folder(anna=make_download(), copy=make_download(downloaded="2026-02-02T00:00:00.000Z"))
    (place / "notes.txt").write_text("x")
    gathered = read_downloads(place)
    assert len(gathered.downloads) == 1
    passed_over, double = gathered.notes
    assert "notes.txt" in passed_over
    assert "has all its answers" in double


def test_a_later_download_that_only_adds_answers_takes_the_place_of_the_earlier(folder, make_download):
    early = make_download()
    early["conversations"][1] |= {"turns": [], "before": {}, "after": {}}
    for names in (("a", "b"), ("b", "a")):
        gathered = read_downloads(folder(**dict(zip(names, (early, make_download()), strict=True))))
        assert sum(one.begun for one in gathered.downloads[0].rated) == 2
        assert any("has all its answers" in note for note in gathered.notes)


def test_one_person_with_other_answers_is_refused(folder, make_download):
    refused(folder(a=make_download(), b=make_download(rating="poor")), "anna gave other answers in", "message 2, ")
    early, late = make_download(), make_download()
    early["conversations"][0]["turns"], late["conversations"][1]["turns"] = [], []
    refused(folder(a=early, b=late), "gave other answers")


def test_one_id_with_other_texts_is_refused(folder, make_download, make_chat):
    other = make_download("ben", chats=[make_chat("C1", turns=3)])
    refused(folder(anna=make_download(), ben=other), "ben.json: conversation 'C1' is not the same as in anna.json")


def test_conversations_that_people_brought_may_share_a_name(folder, make_download, make_chat, tmp_path):
    study = {"title": "T", "add_conversations": True}
    contents = {who: make_download(who, study, [make_chat("mine", turns)]) for who, turns in (("a", 1), ("b", 2))}
    for content in contents.values():
        content["conversations"][0]["added"] = True
    gather(folder(**contents), tmp_path / "mine.xlsx")
    assert list(load(tmp_path / "mine.xlsx").conversations["conversation"]) == ["mine:a", "mine:b"]


def test_missing_ratings_are_counted_and_stay_blank(folder, make_download, tmp_path):
    content = make_download()
    del content["conversations"][0]["turns"][0]["Affective"]
    content["conversations"][1] |= {"turns": [], "before": {}, "after": {}}
    gathered = gather(folder(anna=content), tmp_path / "mine.xlsx")
    assert [note.partition(": ")[2] for note in gathered.notes] == ["17 of 32 ratings have no answer; they stay blank"]
    study = load(tmp_path / "mine.xlsx")
    assert list(study.conversations["conversation"]) == ["C1:anna"], "a conversation without an answer is left out"
    assert study.turns["Affective"].isna().tolist() == [True, False]


def test_a_folder_without_ratings_is_refused(folder, make_download, tmp_path):
    refused(folder(), "holds no download")
    content = make_download()
    for one in content["conversations"]:
        one["turns"] = []
    refused(folder(anna=content), "nobody rated a turn yet")
    with pytest.raises(UserError, match="Check the path"):
        gather(tmp_path / "none", tmp_path / "mine.xlsx")
    with pytest.raises(UserError, match="is no folder"):
        gather(Path(__file__), tmp_path / "mine.xlsx")


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist there")
def test_a_hostile_file_name_is_text(folder, make_download, tmp_path):
    place = folder()
    name = "=1+1 \x1b[31m<b>\n.json"
    (place / name).write_text(json.dumps(make_download()))
    gather(place, tmp_path / "mine.xlsx")
    cell = read_sheets(tmp_path / "mine.xlsx")["Gathered"].rows[0][4]
    assert cell == "=1+1 \\x1b[31m<b>\\n.json"
    (place / name).write_text("{")
    assert "\n" not in refused(place, "cut off").removesuffix("\nNothing was written.")


def test_an_existing_workbook_stays_unless_asked_for(folder, make_download, tmp_path):
    place, out = folder(anna=make_download()), tmp_path / "mine.xlsx"
    out.write_text("mine")
    with pytest.raises(UserError, match="--force"):
        gather(place, out)
    assert out.read_text() == "mine"
    gather(place, out, replace=True)
    with pytest.raises(UserError, match="a workbook is an"):
        gather(place, tmp_path / "mine.csv")


def test_only_what_was_asked_is_in_the_workbook(folder, make_download, tmp_path):
    study = {"title": "T", "turns": "last", "dimensions": ["Interest"], "overall": False, "before": [], "after": []}
    gather(folder(anna=make_download(study=study)), tmp_path / "mine.xlsx")
    turns = load(tmp_path / "mine.xlsx").turns
    assert turns["Interest"].tolist()[1::2] == [4, 4]
    assert turns["Interest"].isna().tolist() == [True, False, True, False]
    assert turns["Affective"].isna().all()


def test_low_answers_of_many_are_no_sign_of_another_scale(folder, make_download, tmp_path):
    """The page's scales are known: the workbook declares them, so that nobody is asked to."""
    people = {f"p{number}": make_download(f"p{number}") for number in range(20)}
    for number, content in enumerate(people.values()):
        for one in content["conversations"]:
            one["after"]["successful"] = one["before"]["importance"] = 1 + number % 3
    gather(folder(**people), tmp_path / "mine.xlsx")
    load(tmp_path / "mine.xlsx", strict=True)
