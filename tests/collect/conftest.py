"""A small study, its conversations, and downloads as the page writes them; tests/browser compares the two."""

import json

import pytest

from sense7.collect.study import StudyFile

STUDY = {"title": "Ten chats"}
TIME = "2026-01-02T03:04:05.678Z"


def chat(name, turns=2, **more):
    messages = [
        {"role": "user", "content": "I had a bad day."},
        {"role": "assistant", "content": "What happened?"},
    ]
    return {"id": name, **more, "messages": [dict(message) for message in messages * turns]}


CHATS = [
    chat("C1", condition="plain", topic="work"),
    chat("C2", condition="plain-empathy", topic="home"),
]


def only(answers, asked):
    return {key: value for key, value in answers.items() if key in asked}


def download(person="anna", study=STUDY, chats=CHATS, rating="good", **more):
    """Content of a download in which every turn has one rating for all dimensions."""
    study = StudyFile.from_mapping(study, "study.yml")
    ratings = dict.fromkeys((*study.dimensions, *(["overall"] if study.overall else [])), rating)
    return {
        "format": "sense7 ratings",
        "version": 2,
        "study_id": study.id,
        "study": study.to_mapping(),
        "person": person,
        "dimensions": list(study.dimensions),
        "consented": TIME if study.consent else None,
        "started": TIME,
        "downloaded": TIME,
        "answers": {},
        "conversations": [
            {
                **one,
                "before": only({"importance": 4, "desired_empathy": 3}, study.before),
                "turns": [{"message": n, **ratings} for n in study.rated_turns(one["messages"])],
                "after": only({"successful": 5}, study.after)
                | ({"Affective": 2} if "empathy" in study.after else {}),
            }
            for one in chats
        ],
    } | more


@pytest.fixture
def folder(tmp_path):
    """Write downloads into a folder: name -> content, or text or bytes as they are."""
    place = tmp_path / "ratings"
    place.mkdir()

    def write(**files):
        for name, content in files.items():
            raw = content if isinstance(content, bytes) else None
            text = (
                content if isinstance(content, str) else json.dumps(content) if raw is None else ""
            )
            (place / f"{name}.json").write_bytes(raw if raw is not None else text.encode())
        return place

    return write


@pytest.fixture(scope="session")
def make_download():
    return download


@pytest.fixture(scope="session")
def make_chat():
    return chat
