"""Study files and conversations to rate say what is wanted in known words, or are refused with place and remedy."""

import json

import pytest

from sense7.collect.study import StudyFile, is_code, read_conversations, read_study_file
from sense7.errors import UserError


def write(tmp_path, text):
    path = tmp_path / "study.yml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


WRONG = {
    "langauge: de": "langauge: there is no such key. Did you mean language?",
    "language: fa": "language: 'fa' is not known",
    "language: [de]": "language: ['de'] is not known",
    "dimensions: [Afective]": "dimensions: 'Afective' is not known. Did you mean Affective?",
    "dimensions: []": "dimensions: an empty list",
    "dimensions: [Interest, Interest]": "dimensions: names something twice",
    "order: shuffled": "seed: goes with order: shuffled",
    "seed: 3": "seed: goes with order: shuffled",
    "{order: shuffled, seed: -1}": "seed: -1",
    "turns: frist": "turns: 'frist' is not known. Did you mean first?",
    "turns: [3, 1]": "turns: write the numbers of the turns in ascending order",
    "overall: maybe": "overall: 'maybe' is neither true nor false",
    "consent: 5": "consent: holds no text",
    "before: topic": "before: no list",
    "after: [sucessful]": "Did you mean successful?",
    "conversations: all": "conversations: 'all' is not known",
    "questions: Age": "questions: no list",
    "questions: [{name: Age}]": "question 1: text: is missing",
    "questions: [{name: Age, text: Old, typ: number}]": "question 1: typ: there is no such key",
    "questions: [{name: PID, text: Who}]": "question 1: name: 'PID'",
    "questions: [{name: Age, text: a}, {name: age, text: b}]": "question 2: name: age is used twice",
    "questions: [{name: A, text: a, kind: choice}]": "choices: write a list of at least two",
    "questions: [{name: A, text: a, kind: choice, choices: [Yes, No]}]": "choices: holds no text",
    "questions: [{name: '=1', text: Who}]": "question 1: name: '=1'",
    "questions: [{name: A, text: a, kind: choice, choices: [x, x]}]": "choices: one stands there twice",
    "questions: [{name: A, text: a, choices: [x, y]}]": "choices: there is no such key of a question of kind text",
    "questions: [{name: A, text: a, kind: number, lowest: 5, highest: 5}]": "highest: is not above lowest",
    "questions: [{name: A, text: a, kind: number, lowest: .inf}]": "lowest: inf is no number",
}


@pytest.mark.parametrize(("line", "said"), WRONG.items(), ids=WRONG)
def test_what_is_not_known_is_refused_with_file_key_and_remedy(tmp_path, line, said):
    text = "{title: T, " + line[1:] if line.startswith("{") else f"title: T\n{line}"
    path = write(tmp_path, text)
    with pytest.raises(UserError) as refused:
        read_study_file(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no study file"),
        ("- a", "no study file"),
        ("introduction: no title", "title: is missing"),
        ("title: [a", "no YAML"),
        ("title: a\ntitle: b", "line 2: title: stands here twice"),
        ("title: a\nquestions: [{name: A, name: B, text: t}]", "line 2: name: stands here twice"),
        ("title: &a b\nconsent: *a", "an alias"),
        ('title: "a\\u0000"', "control character"),
        ("title: " + "a" * 30_000, "characters"),
        ("#" * 2_000_000, "larger than a study file can be"),
        ("title: Gespr\udce4che", "not UTF-8"),
    ],
)
def test_a_file_that_can_not_be_a_study_is_refused(tmp_path, text, said):
    with pytest.raises(UserError, match=said):
        read_study_file(write(tmp_path, text))


FULL = {
    "title": "Ten chats",
    "introduction": "Thank you.",
    "consent": "I may stop.",
    "language": "ja",
    "dimensions": ["Interest", "Affective"],
    "order": "shuffled",
    "seed": 0,
    "overall": False,
    "comment": False,
    "turns": [1, 3],
    "conversations": "own",
    "add_conversations": True,
    "before": [],
    "after": ["use_again"],
    "questions": [
        {
            "name": "Age",
            "text": "Age?",
            "kind": "number",
            "when": "before",
            "lowest": 18,
            "highest": 99.5,
        },
        {"name": "Job", "text": "Job?", "kind": "choice", "when": "after", "choices": ["a", "b"]},
        {"name": "More", "text": "More?", "kind": "text", "when": "after"},
    ],
}


def test_a_study_survives_its_download():
    study = StudyFile.from_mapping(FULL, "study.yml")
    assert study.to_mapping() == FULL
    assert StudyFile("a").to_mapping() == {"title": "a"}
    again = StudyFile.from_mapping(study.to_mapping(), "download")
    assert again.id == study.id


def test_the_id_is_of_the_content_not_of_the_file(tmp_path):
    plain = read_study_file(write(tmp_path, "title: A\nlanguage: de"))
    spaced = read_study_file(
        write(tmp_path, "# a comment\nlanguage: 'de'\n\ntitle: A   \nturns: all")
    )
    assert plain == spaced
    assert plain.id == spaced.id


@pytest.mark.parametrize("key", [key for key in FULL if key != "seed"])
def test_each_choice_makes_another_study(key):
    less = {
        name: value
        for name, value in FULL.items()
        if name != key and (key != "order" or name != "seed")
    }
    if key == "title":
        less["title"] = "Others"
    assert StudyFile.from_mapping(less, "").id != StudyFile.from_mapping(FULL, "").id


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
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("lines", "said"), [([""], "empty"), ([" "], "both sides"), (["{"], "column 2: no JSON")]
)
def test_a_file_without_conversations_is_refused(tmp_path, lines, said):
    with pytest.raises(UserError, match=said):
        read_conversations(write_chats(tmp_path, *lines))


def test_texts_are_kept_to_the_character(tmp_path):
    text = " two  spaces\r\n\ttab\u2028 \u202ertl </script> =1+1 \U0001f600\n"
    line = {"id": 7, "participant": "P1", "source": "x", "topic": None}
    line |= {"messages": [*TALK, {"role": "assistant", "content": text, "at": 3}]}
    read = read_conversations(write_chats(tmp_path, "", line, "  "))
    assert read == [
        {
            "id": "7",
            "participant": "P1",
            "messages": [*TALK, {"role": "assistant", "content": text}],
        }
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"id": "first", "messages": [{"role": "assistant"}]}',
            "line 2: the id 'first' is also that of",
        ),
        ("[]", "line 2: no known form of a conversation"),
        ({"id": "=cmd()", "messages": TALK}, "conversation '=cmd()': id: '=cmd()' is no text"),
        (
            {"id": "a", "participant": "@x", "messages": TALK},
            "conversation 'a': participant: '@x' is no text",
        ),
        ({"id": "a", "messages": TALK[:1]}, "conversation 'a': no message of the assistant"),
        (
            {"id": "a", "messages": [*TALK, {"role": "judge", "content": ""}]},
            "line 2: messages[3].role: 'judge'",
        ),
        ({"id": "a", "messages": [*TALK, "x"]}, "line 2: messages[3]: expected an object"),
        (
            {"id": "a", "messages": [{"role": "assistant", "content": [1]}]},
            "line 2: messages[1].content[1]: expected",
        ),
        (
            {"id": "a", "messages": [{"role": "assistant", "content": "x" * 32_768}]},
            "too many for a workbook's cell",
        ),
        (
            {"id": "a", "messages": [{"role": "assistant", "content": "\ud83d"}]},
            "half of a surrogate pair",
        ),
    ],
)
def test_what_can_not_be_rated_is_refused_with_its_place(tmp_path, line, said):
    path = write_chats(tmp_path, {"id": "first", "messages": TALK}, line)
    with pytest.raises(UserError) as refused:
        read_conversations(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)
