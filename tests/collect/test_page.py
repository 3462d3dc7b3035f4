"""The page in each language (its policy, and hostile texts on it: tests/browser)."""

import re

import pytest

from helpers import naming
from sense7.collect.page import SCALES, page_html, wording
from sense7.collect.study import LANGUAGES, StudyFile


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
