"""The page carries all it needs in each language, and what people wrote can't become a part of it."""

import base64
import hashlib
import json
import re

import pytest

from helpers import naming
from sense7.collect.page import SCALES, page_html, wording
from sense7.collect.study import LANGUAGES, StudyFile

HOSTILE = "</script><script>window.ran=1</script><!--<img src=x onerror=alert(1)>{title}{0}\u2028"


def carried(page):
    return json.loads(re.search(r'id="carried">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def study():
    return StudyFile("Ten chats")


def test_the_policy_names_this_script_and_style_and_closes_all_else(study, make_chat):
    page = page_html(study, [make_chat("C1")])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for name, begin, end in (
        ("script-src", '<script type="module">', "</script>"),
        ("style-src", "<style>", "</style>"),
    ):
        inner = page.partition(begin)[2].partition(end)[0]
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert set(rules.values()) == {"'none'"}
    assert rules.keys() >= {"default-src", "connect-src", "img-src", "form-action", "base-uri"}


def test_hostile_texts_stay_data(make_chat):
    study = StudyFile(HOSTILE, introduction=HOSTILE, consent=HOSTILE)
    chat = make_chat("C1")
    chat["messages"][0]["content"] = HOSTILE
    page = page_html(study, [chat])
    assert page.count("<script") == 2
    assert "<img" not in page
    content = carried(page)
    assert (
        content["settings"]["title"]
        == content["conversations"][0]["messages"][0]["content"]
        == HOSTILE
    )
    assert content["id"] == study.id


def test_a_conversation_that_nobody_can_rate_is_refused(make_chat):
    with naming.refused("conversation C1: "):
        page_html(StudyFile("a", turns=(9,)), [make_chat("C1")])
    with naming.refused("conversation C1: ", "None"):
        page_html(StudyFile("a", conversations="own"), [make_chat("C1")])


OTHERS = [language for language in LANGUAGES if language != "en"]


def leaves(content, place=()):
    if isinstance(content, dict):
        for key, value in content.items():
            yield from leaves(value, (*place, key))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from leaves(value, (*place, number))
    else:
        yield place, content


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_all_that_english_says_with_the_same_values(language):
    english, other = dict(leaves(wording("en"))), dict(leaves(wording(language)))
    assert other.keys() == english.keys()
    for place, text in other.items():
        assert text.strip() == text != ""
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(
            re.findall(r"\{\w+\}", english[place])
        ), place
    untranslated = [
        place for place, text in other.items() if text == english[place] and "{" not in text
    ]
    assert len(untranslated) < 8, untranslated


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SCALES)
def test_each_level_of_an_answer_has_a_word_of_its_own(language, name):
    words = wording(language)["scales"][name]
    assert len(set(words)) == SCALES[name].size
