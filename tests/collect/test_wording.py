"""What the page says in each language: complete, with the same places for values, and words that the reader knows."""

import re
from pathlib import Path

import pytest

from sense7 import collect
from sense7.collect.page import SCALES, wording
from sense7.collect.study import LANGUAGES
from sense7.taxonomy import DIMENSIONS, normalise_word
from sense7.workbook.scales import declining_words, language_vocabularies

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
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[place])), place
    untranslated = [place for place, text in other.items() if text == english[place] and "{" not in text]
    assert len(untranslated) < 8, untranslated


def test_english_has_the_official_names_and_definitions():
    assert wording("en")["dimensions"] == {each.name: [each.title, each.definition] for each in DIMENSIONS}


def test_the_page_says_every_text():
    scripts = "".join(path.read_text("utf-8") for path in Path(collect.__file__).parent.glob("static/*.js"))
    unsaid = [key for key in wording("en") if not re.search(rf"words\.{key}\b|\"{key}\"", scripts)]
    assert unsaid == []
    said = set(re.findall(r"say\(\"(\w+)\"", scripts)) | set(re.findall(r"\bwords\.(\w+)", scripts))
    assert said <= wording("en").keys()


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", SCALES)
def test_the_reader_of_workbooks_reads_every_answer_word_at_its_level(language, name):
    words = wording(language)["scales"][name]
    assert len(words) == SCALES[name].size
    known = language_vocabularies(SCALES[name].name)
    levels = {normalise_word(word): level for level, word in enumerate(words, 1)}
    assert any(levels.items() <= vocabulary.items() for vocabulary in known)


@pytest.mark.parametrize("language", OTHERS)
def test_the_reader_knows_what_is_not_applicable(language):
    assert normalise_word(wording(language)["not_applicable"]) in declining_words()
