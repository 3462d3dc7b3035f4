"""Study files and conversations to rate say what is wanted in known words, or are refused with place and remedy."""

import json

import pytest

from helpers import naming
from sense7.collect.study import StudyFile, is_code, read_conversations, read_study_file


def write(tmp_path, text):
    path = tmp_path / "study.yml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


WRONG = {  # content, what of it is named
    "langauge: de": ["langauge: ", "language"], "language: fa": ["language: ", "'fa'"],
    "dimensions: [Afective]": ["dimensions: ", "'Afective'", "Affective"],
    "order: shuffled": ["seed: ", "order: shuffled"], "{order: shuffled, seed: -1}": ["seed: -1"],
    "{order: shuffled, seed: 1000000000000}": ["seed: 1000000000000"], "turns: frist": ["turns: ", "'frist'", "first"],
    "turns: [0]": ["turns: 1: 0"], "turns: [1, 1]": ["turns: [1, 1]"], "turns: [100001]": ["turns: 1: 100001"],
    "dimensions: []": ["dimensions: []"], "dimensions: [Interest, Interest]": ["dimensions: ['Interest', "],
    "before: [topic, topic]": ["before: ['topic', "], "after: [empathy, empathy]": ["after: ['empathy', "],
    "overall: 1": ["overall: 1"], "before: topic": ["before: "],
    "after: [sucessful]": ["after: ", "'sucessful'", "successful"], "conversations: all": ["conversations: ", "'all'"],
    "questions: [{name: Age, text: a}, {name: age, text: b}]": ["questions: 2: name: ", "age"],
}  # fmt: skip

QUESTIONS = {  # the keys of one question, what of it is named
    "name: Age": ["text: "], "name: Age, text: Old, typ: number": ["typ: "], "name: A, text: ' '": ["text: "],
    "name: P_ID, text: a": ["name: ", "'P_ID'"], "name: Participant, text: a": ["name: ", "'Participant'"],
    "name: T_askId, text: a": ["name: ", "'T_askId'"], f"name: {'A' * 41}, text: a": ["name: ", "'AAA"],
    "name: '=1', text: a": ["name: ", "'=1'", "Age"], "name: A, text: a, choices: [x, y]": ["choices: "],
    "name: A, text: a, lowest: 1": ["lowest: "], "name: A, text: a, highest: 1": ["highest: "],
    "name: A, text: a, kind: choice": ["choices: "], "name: A, text: a, kind: choice, choices: [x]": ["choices: "],
    "name: A, text: a, kind: choice, choices: [Yes, No]": ["choices: "],
    "name: A, text: a, kind: choice, choices: [x, x]": ["choices: "],
    "name: A, text: a, kind: number, lowest: 5, highest: 5": ["lowest, highest: "],
    "name: A, text: a, kind: number, lowest: -.inf": ["lowest, ", "-inf"],
    "name: A, text: a, kind: number, highest: 1000000000001": ["lowest, "],
}  # fmt: skip
for keys, (place, *further) in QUESTIONS.items():
    WRONG[f"questions: [{{{keys}}}]"] = [f"questions: 1: {place}", *further]


@pytest.mark.parametrize("line", WRONG)
def test_what_is_not_known_is_refused_with_file_key_and_remedy(tmp_path, line):
    text = "{title: T, " + line[1:] if line.startswith("{") else f"title: T\n{line}"
    path = write(tmp_path, text)
    with naming.refused(f"{path}: ", *WRONG[line]):
        read_study_file(path)


NO_STUDIES = {
    "no title": ("introduction: no title", ["title: "]),
    "a key twice": ("title: a\ntitle: b", ["line 2: ", "title: "]),
    "an alias": ("title: &a b\nconsent: *a", ["line 2"]),
    "a control character": ('title: "a\\u001b[31m"', ["title: "]),
    "a zero character": ('title: "a\\u0000"', ["title: "]), "a large file": ("#" * 2_000_000, []),
    "no UTF-8": ("title: Gespr\udce4che", ["byte 13: "]),
}  # fmt: skip


@pytest.mark.parametrize("fault", NO_STUDIES)
def test_a_file_that_can_not_be_a_study_is_refused(tmp_path, fault):
    text, named = NO_STUDIES[fault]
    path = write(tmp_path, text)
    with naming.refused(f"{path}: ", *named):
        read_study_file(path)


FULL = {
    "title": "Ten chats", "introduction": "Thank you.", "consent": "I may stop.", "language": "ja",
    "dimensions": ["Interest", "Affective"], "order": "shuffled", "seed": 0, "overall": False, "comment": False,
    "turns": [1, 3], "conversations": "own", "before": [], "after": ["use_again"],
    "questions": [
        {"name": "Age", "text": "Age?", "kind": "number", "when": "before", "lowest": 18},
        {"name": "Job", "text": "Job?", "kind": "choice", "when": "after", "choices": ["a", "b"]},
        {"name": "More", "text": "More?", "kind": "text", "when": "after"},
    ],
}  # fmt: skip


def test_a_study_survives_its_download():
    study = StudyFile.from_mapping(FULL, "study.yml")
    assert study.to_mapping() == FULL
    assert StudyFile("a").to_mapping() == {"title": "a"}
    again = StudyFile.from_mapping(study.to_mapping(), "download")
    spaced = {"title": "Ten chats ", "seed": 0.0, "turns": [3, 1.0]}
    spaced["questions"] = [
        {**question, "text": f"{question['text']}\n"} for question in FULL["questions"]
    ]
    respelt = StudyFile.from_mapping(FULL | spaced, "respelt")
    assert again.id == respelt.id == study.id


@pytest.mark.parametrize(
    ("turns", "rated"),
    [("all", [2, 4, 5]), ("first", [2]), ("last", [5]), ((1, 3, 9), [2, 5]), ((7,), [])],
)
def test_which_turns_are_rated(turns, rated):
    messages = [{"role": role} for role in ("user", "assistant", "user", "assistant", "assistant")]
    assert StudyFile("a", turns=turns).rated_turns(messages) == rated


@pytest.mark.parametrize(
    "text", ["-1", "+a", "@a", "a b", "a/b", "a:b", "a\n", "a\u202eb", ".a", "a" * 41, 5, None]
)
def test_no_codes(text):
    assert not is_code(text)


TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def write_chats(tmp_path, *lines):
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


NOT_TO_RATE = {  # a second line, what of it is named
    "a name that is a formula": ({"id": "=cmd()", "messages": TALK}, ["'=cmd()': id: "]),
    "a participant that is one": ({"id": "a", "participant": "@x", "messages": TALK}, ["participant: ", "'@x'"]),
    "no turn": ({"id": "a", "messages": [{"role": "user", "content": "Yes"}]}, ["conversation 'a': "]),
    "a long text": ({"id": "a", "messages": [{"role": "assistant", "content": "x" * 32_768}]}, ["message 1: "]),
    "no message": ({"id": "a", "messages": [*TALK, "x"]}, ["line 2: ", "messages[3]: "]),
}  # fmt: skip


@pytest.mark.parametrize("fault", NOT_TO_RATE)
def test_what_can_not_be_rated_is_refused_with_its_place(tmp_path, fault):
    line, named = NOT_TO_RATE[fault]
    path = write_chats(tmp_path, {"id": "first", "messages": TALK}, line)
    with naming.refused(f"{path}: ", *named):
        read_conversations(path)
