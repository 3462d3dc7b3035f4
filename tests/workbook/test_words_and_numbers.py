"""Which words and numbers are read as which levels: properties of every list of words and every form of a number."""

import itertools
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import naming
from sense7.study import ABSENT, NOT_RATED, RATED
from sense7.taxonomy import (
    AGREEMENT,
    DESIRED_EMPATHY,
    DIMENSION_NAMES,
    IMPORTANCE,
    LEVELS,
    POST_EMPATHY,
    TURN_RATING,
    normalise_word,
)
from sense7.workbook import ReadingOptions, WorkbookError, parse_sheets
from sense7.workbook.scales import (
    choose_vocabulary,
    declines,
    declining_words,
    english_lists,
    languages,
    other_lists,
)

SCALES = (TURN_RATING, AGREEMENT, POST_EMPATHY, IMPORTANCE, DESIRED_EMPATHY)
LISTS = [
    (scale, listed) for scale in SCALES for listed in (*english_lists(scale), *other_lists(scale))
]
"""Each scale with each list of words that may stand on it."""

MINUSES = ("-", "\u2212", "\u2010", "\u2011", "\u2013", "\ufe63", "\uff0d")
MARKS = ("", "\u200e", "\u200f", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u202a", "\u061c")
SPACES = ("", " ", "\u00a0", "\u202f", "\u2009", "\u3000", "\t")
ZEROS = ("0", "\uff10", "\u0660", "\u06f0", "\u0966", "\u09e6", "\u0be6", "\u0e50")
"""The digit zero of several scripts; the other nine follow it."""

FORMS = (
    "{n} ({w})", "{n} [{w}]", "{n}, {w}", "{n} / {w}", "{n} - {w}", "{n} \u2013 {w}", "{n}={w}", "{n}: {w}", "{n}. {w}",
    "({n}) {w}", "[{n}] {w}", "{n} {w}", "{w} ({n})", "{w}: {n}", "{w} = {n}", "{n}|{w}", "{n}; {w}",
)  # fmt: skip
ORDERS = (
    LEVELS,
    ("bad", "poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"),
    ("très mauvais", "mauvais", "moyen", "bon", "très bon"),
    ("很差", "差", "一般", "好", "很好"),
    ("とても悪い", "悪い", "普通", "良い", "とても良い"),
)
NO_ANSWER = (
    "not applicable",
    "unknown",
    "does not apply",
    "cannot judge",
    "keine Angabe",
    "sans objet",
    "no aplica",
)


def turn_ratings(minimal_sheets, cells, **options):
    """A study of twelve conversations of five turns whose overall ratings are the cells, in turn."""
    ratings = [cell for _, cell in zip(range(60), itertools.cycle(cells))]
    column = [cell for rating in ratings for cell in (None, rating)]
    numbers = [
        cell
        for rating in itertools.islice(itertools.cycle([2.0, 4.0, 5.0]), 60)
        for cell in (None, rating)
    ]
    messages = {"EmpathyOverall": column, **dict.fromkeys(DIMENSION_NAMES, numbers)}
    sheets = minimal_sheets(messages=messages, conversations=12, turns=5)
    return parse_sheets(sheets, options=ReadingOptions.of(**options)).turns


def refused_columns(refusal):
    """Kind of error and column, of each error for which a workbook was refused."""
    return {(fault.kind, fault.column) for fault in refusal.value.diagnostics.of("error")}


# Words


@given(st.sampled_from(LISTS), st.data())
def test_words_are_read_by_the_list_they_are_from_or_refused(scale_and_list, data):
    """In any language, and with any of its levels chosen by nobody."""
    scale, listed = scale_and_list
    assume(listed.size == scale.size)
    by_level = {}
    for word, level in listed.levels.items():
        by_level.setdefault(level, []).append(word)
    levels = data.draw(st.sets(st.sampled_from(sorted(by_level)), min_size=1))
    words = [data.draw(st.sampled_from(by_level[level])) for level in sorted(levels)]
    counts = Counter({word: data.draw(st.integers(1, 200)) for word in words})
    official = {level[0] for level in scale.vocabularies[0]}
    assume(sum(counts[word] for word in official) < 0.95 * counts.total())
    vocabulary = choose_vocabulary(scale, counts)
    if vocabulary.doubt is None:
        assert {word: vocabulary.levels.get(word) for word in words} == {
            word: listed.levels[word] for word in words
        }


@given(st.sampled_from(LISTS), st.data())
def test_a_list_with_another_number_of_levels_never_becomes_levels(scale_and_list, data):
    scale, listed = scale_and_list
    assume(listed.size != scale.size)
    words = data.draw(
        st.permutations([word for word in listed.levels if word == listed.main_words[word]])
    )
    assert choose_vocabulary(scale, Counter(words)).doubt is not None


def one_word_a_level(listed):
    """The words of a list that lead the others of their level."""
    return [
        next(word for word in listed.levels if listed.levels[word] == level)
        for level in set(listed.levels.values())
    ]


WITH_SYNONYMS = [
    (scale, listed)
    for scale, listed in LISTS
    if scale is not TURN_RATING and listed.size == scale.size < len(set(listed.main_words.values()))
]
OTHER_WORDS = [(scale, listed) for scale, listed in LISTS if listed is not english_lists(scale)[0]]


@given(st.sampled_from(WITH_SYNONYMS), st.data())
def test_a_second_word_of_a_level_is_one_level_too_many(scale_and_list, data):
    """Such as somewhat agree beside agree."""
    scale, listed = scale_and_list
    words = one_word_a_level(listed)
    main_words = {listed.main_words[word] for word in words}
    second = data.draw(
        st.sampled_from(
            [word for word in listed.levels if listed.main_words[word] not in main_words]
        )
    )
    assert choose_vocabulary(scale, Counter([*words, second])).doubt is not None


@given(st.sampled_from(OTHER_WORDS))
def test_a_further_word_that_no_list_has_is_one_level_too_many(scale_and_list):
    scale, listed = scale_and_list
    words = one_word_a_level(listed)
    assume(not {levels[0] for levels in scale.vocabularies[0]}.issuperset(words))
    assert choose_vocabulary(scale, Counter([*words, "a word that nobody knows"])).doubt is not None


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.name)
@given(data=st.data())
def test_the_official_words_alone_are_always_on_the_official_scale(scale, data):
    official = {levels[0]: number for number, levels in enumerate(scale.vocabularies[0], 1)}
    words = data.draw(st.lists(st.sampled_from(sorted(official)), min_size=1))
    vocabulary = choose_vocabulary(scale, Counter(words))
    assert vocabulary.doubt is None
    assert {word: vocabulary.levels[word] for word in words} == {
        word: official[word] for word in words
    }


@pytest.mark.parametrize(
    ("scale", "listed"), LISTS, ids=lambda part: getattr(part, "name", str(part))
)
def test_a_list_has_no_word_at_two_levels_and_each_in_its_normal_form(scale, listed):
    assert len(set(listed.levels.values())) == listed.size
    assert all(word == normalise_word(word) for word in listed.levels)
    assert {min(listed.levels.values()), max(listed.levels.values())} == {1, scale.size}


@pytest.mark.parametrize("language", languages())
def test_words_that_mean_the_same_stand_in_a_list_under_the_first_of_them(language):
    lists = [
        levels
        for kind in ("quality", "agreement", "importance", "desired")
        for levels in languages()[language][kind]
    ]
    words = {word for levels in lists for level in levels for word in level.split("|")}
    assert [same for same in languages()[language]["same"] if same.split("|")[0] not in words] == []


@pytest.mark.parametrize(
    ("words", "levels"),
    [
        ("disagree, somewhat disagree, neither, somewhat agree, agree", [1, 2, 3, 4, 5]),
        ("bad, poor, fair, good, excellent", [1, 2, 3, 4, 5]),
        ("very poor, poor, fair, good, excellent", [1, 2, 3, 4, 5]),
        ("fair, average, good, excellent", [2, 3, 4, 5]),
        ("mauvais, médiocre, passable, bon, excellent", [1, 2, 3, 4, 5]),
        (
            "trifft nicht zu, trifft eher nicht zu, teils-teils, trifft eher zu, trifft zu",
            [1, 2, 3, 4, 5],
        ),
        ("poor, fair, good, excellent", None),
        ("fair, good", None),
        (
            "strongly disagree, disagree, somewhat disagree, neutral, somewhat agree, agree, strongly agree",
            None,
        ),
        ("trifft nicht zu, trifft eher nicht zu, trifft eher zu, trifft zu", None),
        ("très mauvais, mauvais, médiocre, moyen, bon, très bon", None),
        (
            "discordo totalmente, discordo, discordo parcialmente, neutro, concordo parcialmente, concordo",
            None,
        ),
        ("非常不同意, 不同意, 不太同意, 一般, 比较同意, 同意, 非常同意", None),
        ("全くそう思わない, あまりそう思わない, そう思わない, そう思う, とてもそう思う", None),
    ],
)
def test_standard_scales_are_read_or_refused(words, levels):
    counts = Counter(map(normalise_word, words.split(", ")))
    vocabulary = choose_vocabulary(POST_EMPATHY, counts)
    assert (vocabulary.doubt is None) == (levels is not None)
    if levels:
        assert [vocabulary.levels[word] for word in counts] == levels


def test_columns_that_share_a_word_are_on_one_scale(minimal_sheets):
    """No column alone shows that the scale has more than five words."""
    columns = (["disagree", "neither", "agree"], ["neither", "somewhat agree", "strongly agree"])
    names = ("PostTaskExperience_Successful", "PostTaskExperience_Engaged")
    tasks = dict.fromkeys(names[2:])
    for name, words in zip(names, columns, strict=True):
        tasks[name] = words * 4
    others = {"PostTaskExperience_PositiveInteraction": None, "PostTaskExperience_UseAgain": None}
    with naming.refused(
        "column PostTaskExperience_Engaged",
        5,
        "make the",
        "--words",
        "--scale",
        error=WorkbookError,
    ) as refusal:
        parse_sheets(minimal_sheets(tasks=tasks | others, conversations=12))
    assert refused_columns(refusal) == {("other-scale", name) for name in names}


# Numbers


def in_digits(text, zero):
    return "".join(
        chr(ord(zero) + int(character)) if character.isdecimal() else character
        for character in text
    )


@given(
    st.integers(-300, 300),
    st.integers(0, 2),
    st.sampled_from(MINUSES),
    st.sampled_from(ZEROS),
    st.sampled_from((".", ",")),
    st.booleans(),
    st.lists(st.sampled_from((*MARKS, *SPACES)), min_size=2, max_size=2),
)
def test_a_number_is_read_however_a_program_writes_it(
    count, decimals, minus, zero, point, has_leading_zero, around
):
    number = count / 10**decimals
    digits = f"{abs(number):.{decimals}f}"
    if not has_leading_zero and decimals:
        digits = digits.removeprefix("0")
    text = in_digits(digits, zero).replace(".", point)
    sign = minus if number < 0 else ""
    assert TURN_RATING.split_number(f"{around[0]}{sign}{text}{around[1]}") == (
        pytest.approx(number),
        "",
    )


@pytest.mark.parametrize("text", ["4\u00bd", "\u00bd", "4 1/2", "4\u00b2"])
def test_a_fraction_or_a_small_digit_is_no_further_digit(text):
    number, word = TURN_RATING.split_number(text)
    assert number is None or any(map(str.isdigit, word))


@pytest.mark.parametrize(
    "text",
    ["1,000", "12,345", "1 000", "1'000", "3-4", "4/5", "4 of 5", "1.2.3", "1,2,3", "3 or 4"],
)
def test_what_could_be_two_numbers_is_none(text):
    number, word = TURN_RATING.split_number(text)
    assert number is None or any(map(str.isdigit, word))


@given(
    st.sampled_from(FORMS),
    st.sampled_from([*LEVELS, "somewhat so", "trifft zu"]),
    st.integers(0, 100),
)
def test_a_word_beside_a_number_is_split_off(form, word, number):
    assert TURN_RATING.split_number(form.format(n=number, w=word.title())) == (number, word)


# Words beside numbers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order[-1])
def test_numbers_against_their_words_are_refused_until_the_scale_is_declared(
    form, order, minimal_sheets
):
    cells = [form.format(n=6 - level, w=order[level - 1]) for level in (1, 2, 3, 4, 5)]
    with pytest.raises(WorkbookError) as refusal:
        turn_ratings(minimal_sheets, cells)
    assert refused_columns(refusal) == {("against-words", "EmpathyOverall")}
    read = turn_ratings(minimal_sheets, cells, scale="EmpathyOverall=5-1")
    assert read["overall"].tolist()[:5] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order[-1])
def test_numbers_with_their_words_are_read(form, order, minimal_sheets):
    cells = [form.format(n=level, w=order[level - 1]) for level in (1, 2, 3, 4, 5)]
    assert turn_ratings(minimal_sheets, cells)["overall"].tolist()[:5] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order[-1])
@pytest.mark.parametrize("scale", [None, "EmpathyOverall=1-7"])
def test_labels_at_the_ends_alone_say_which_end_is_which(order, scale, minimal_sheets):
    highest = 7 if scale else 5
    inner = [float(number) for number in range(2, highest)]
    upwards = [f"1 - {order[0]}", *inner, f"{highest} - {order[4]}"]
    assert turn_ratings(minimal_sheets, upwards, scale=scale)["overall"].max() == 5
    for downwards in (
        [f"1 - {order[4]}", *inner, f"{highest} - {order[0]}"],
        [f"1 - {order[4]}", *inner, highest],
    ):
        with pytest.raises(WorkbookError) as refusal:
            turn_ratings(minimal_sheets, downwards, scale=scale)
        assert refused_columns(refusal) == {("against-words", "EmpathyOverall")}


@given(
    st.sampled_from(sorted({*NO_ANSWER, *declining_words()})),
    st.integers(-9, 99),
    st.sampled_from(FORMS),
)
def test_an_answer_that_declines_is_no_level_beside_any_number(word, number, form):
    split = TURN_RATING.split_number(form.format(n=number, w=word))
    assume(split[0] == number)
    assert declines(split[1], TURN_RATING)


@pytest.mark.parametrize("number", [0, 3, 5, 6, 9, 99])
@pytest.mark.parametrize(
    ("word", "state"), [("not applicable", NOT_RATED), ("keine Angabe", NOT_RATED), ("n/a", ABSENT)]
)
def test_no_answer_stays_none_after_the_advice_is_followed(number, word, state, minimal_sheets):
    cells = [*(f"{level} ({LEVELS[level - 1]})" for level in (1, 2, 3, 4, 5)), f"{number} ({word})"]
    turns = turn_ratings(minimal_sheets, cells)
    assert turns["overall_state"].tolist()[:6] == [RATED] * 5 + [state]
    with pytest.raises(WorkbookError, match="1 to 5") as refusal:
        turn_ratings(minimal_sheets, cells, scale="EmpathyOverall=1-6")
    assert refused_columns(refusal) == {("other-scale", "EmpathyOverall")}
