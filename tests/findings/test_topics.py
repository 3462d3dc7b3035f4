"""Topics of comments: planted themes are found and noise is not, each step against arithmetic or brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from sense7 import tables
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.figures.charts import intervals
from sense7.figures.words import topic_stability
from sense7.findings.words import topics
from sense7.findings.words.terms import NO_COMMENTS
from sense7.record import Recorder, read_values
from sense7.study import Study
from sense7.tables import Sentence
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

LETTERS = "bcdfghjk"
THEMES = {
    "warmth": [f"warm{letter}" for letter in LETTERS],
    "advice": [f"tip{letter}" for letter in LETTERS],
    "memory": [f"past{letter}" for letter in LETTERS],
}
RATING = {"warmth": 5.0, "advice": 2.0, "memory": 4.0}


def study_of(rows):
    """Turns as (participant, rating or None, comment or None), each a conversation of its own."""
    frame = pd.DataFrame(rows, columns=["participant", "overall", "comment"])
    frame["conversation"] = [f"C{number}" for number in range(len(frame))]
    frame = frame.assign(turn=1, position=2).astype({"overall": float})
    comments = frame[["conversation", "position", "comment"]].astype({"comment": object})
    comments["comment"] = comments["comment"].where(comments["comment"].notna(), None)
    turns = frame.drop(columns="comment").assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    people = frame[["conversation", "participant"]]
    return Study("made up", people, comments, turns, None, pd.DataFrame())


def model_of(study, seed=1, draws=200):
    bootstrap = ParticipantBootstrap(study.turns["participant"], draws=draws, seed=seed)
    return topics.topic_model(study, bootstrap)


def planted(comments=150, people=25, seed=1):
    """Each comment takes five words of one theme; half of them are on advice. One more is of no theme."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(comments):
        theme = ("advice", "warmth", "advice", "memory")[number % 4]
        said = " ".join(generator.choice(THEMES[theme], size=5))
        rows.append((f"P{generator.integers(people)}", RATING[theme], said))
    return study_of([*rows, ("P1", 3.0, "zzz"), ("P2", None, "warmb warmc"), ("P3", 3.0, None)])


def noise(comments=150, people=25, seed=1):
    """The same words without any theme."""
    generator = np.random.default_rng(seed)
    every = list(itertools.chain(*THEMES.values()))
    rows = [(f"P{generator.integers(people)}", 3.0, " ".join(generator.choice(every, size=5))) for _ in range(comments)]
    return study_of(rows)


@pytest.fixture(scope="module")
def found():
    return model_of(planted())


# Planted themes, and none


def test_planted_themes_are_told_apart_by_number_and_words(found):
    assert found.reason == ""
    assert found.summary.loc["topics", "estimate"] == 3
    assert found.summary.loc["p", "estimate"] == 1 / (1 + topics.SHUFFLES)
    assert found.summary.loc["found again", "estimate"] > found.stability["shuffled, highest"].max()
    themes = []
    for words in found.topics["words"]:
        (theme,) = {name for name, own in THEMES.items() for word in words.split(", ") if word in own}
        themes.append(theme)
    assert themes[0] == "advice"
    assert sorted(themes) == sorted(THEMES)


def test_comments_are_given_to_their_theme(found):
    # 150 comments by turns, one of warmth without a rating, one without a usable word
    assert found.comments == 152
    assert found.topics["comments"].tolist() == [75, 39, 37]
    shares = found.shares["estimate"].to_numpy()
    assert shares == pytest.approx(np.array([75, 39, 37, 1]) / 152)
    assert found.shares.index[-1] == topics.NO_TOPIC
    assert found.shares["n"].unique().tolist() == [152]
    assert (found.shares["low"].iloc[:3] < shares[:3]).all()
    assert (found.shares["high"].iloc[:3] > shares[:3]).all()


def test_ratings_are_those_of_the_turns_commented_on(found):
    ratings = found.ratings["estimate"].to_numpy()
    assert ratings == pytest.approx([2, 5, 4, 3, (75 * 2 + 38 * 5 + 37 * 4 + 3) / 151])
    assert found.ratings["n"].tolist() == [75, 38, 37, 1, 151]
    # Where every comment has the same rating there is no width, and that is no certainty.
    assert found.ratings["reason"].iloc[0] == "no interval: every resampling gives the same value"


def test_a_topic_without_rated_turns_says_so():
    comments = pd.DataFrame({"participant": ["P1"], "rating": [np.nan]})
    bootstrap = ParticipantBootstrap(comments["participant"], draws=10)
    assert topics._rating(comments, bootstrap)["reason"] == "no turn with such a comment was rated"
    assert topics._rating(comments[:0], bootstrap)["reason"] == "there is no such comment"


def test_each_topic_is_quoted_by_another_person(found):
    assert found.topics["quotation"].is_unique
    for row in found.topics.itertuples():
        assert set(row.quotation.split()) & set(row.words.split(", "))


def test_nobody_is_quoted_twice():
    rows = [("P0", 2.0, " ".join(THEMES["advice"][:5]))] * 6 + [("P0", 5.0, " ".join(THEMES["warmth"][:5]))] * 6
    frame = pd.DataFrame(rows, columns=["participant", "rating", "comment"])
    topic = pd.Series([0] * 6 + [1] * 6 + [2] * 0)
    quoted = topics._quotations(frame, topic, pd.Series(1.0, index=frame.index), 3)
    assert quoted == [rows[0][2], "everybody who wrote one is quoted already", "there is none"]


def test_a_comment_that_holds_little_of_a_topic_does_not_speak_for_it():
    frame = pd.DataFrame({"participant": list("abcd"), "comment": ["x" * 4, "x" * 5, "x" * 9, "x" * 6]})
    loading = pd.Series([0.1, 0.2, 0.9, 0.8])
    # The lengths of those above the median loading are 9 and 6: both as near to their median, so the first.
    assert topics._quotations(frame, pd.Series([0] * 4), loading, 1) == ["x" * 9]


def test_in_comments_without_themes_none_are_told_apart(tmp_path):
    model = model_of(noise())
    assert model.reason == topics.NOT_APART
    assert model.summary.loc["p", "estimate"] > topics.LARGEST_P
    assert model.topics.empty
    assert model.shares.empty
    assert model.ratings.empty
    record = Recorder("x", tmp_path)
    record.table(model.summary, topics.SUMMARY_KEYS)
    record.table(model.shares, model.share_keys)
    assert read_values(tmp_path)["topics_told_apart"]["reason"] == topics.NOT_APART
    assert read_values(tmp_path)["topic_stability"]["estimate"] is not None


def test_the_words_of_one_person_are_no_topic():
    habit = [("P0", 5.0, "sprocket widget gadget")] * 80
    study = planted()
    rows = list(
        zip(study.turns["participant"], study.turns["overall"], study.messages["comment"], strict=True),
    )
    model = model_of(study_of([*rows, *habit]))
    assert model.summary.loc["topics", "n"] == 151, "comments without a word of three people do not take part"
    assert not any("sprocket" in words for words in model.topics["words"])


# The same seed, the same numbers


def test_neither_threads_nor_time_change_a_number(found):
    with threadpool_limits(limits=2):
        again = model_of(planted())
    for name in ("summary", "stability", "topics", "shares", "ratings"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(again, name), check_exact=True)


def test_another_seed_shuffles_otherwise(found):
    other = model_of(planted(), seed=2)
    assert other.summary.loc["topics", "estimate"] == 3
    assert (other.stability["shuffled"] != found.stability["shuffled"]).any()


# Each step


def test_weights_of_terms_are_those_of_the_formula():
    documents = [["a", "b", "a"], ["b"], ["c", "x"], []]
    counts = np.array([[2, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    raw = counts * (1 + np.log(5 / (1 + (counts > 0).sum(axis=0))))
    length = np.linalg.norm(raw, axis=1, keepdims=True)
    expected = raw / np.where(length > 0, length, 1)
    assert topics.tf_idf(documents, ["a", "b", "c"]).toarray() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_a_weighted_text_is_one_copied_out(seed, monkeypatch):
    # When to stop is judged by rows, and copies have more of them: so both go on to the end.
    monkeypatch.setattr(topics, "_TOLERANCE", 1e-12)
    monkeypatch.setattr(topics, "_MOST_STEPS", 20_000)
    generator = np.random.default_rng(seed)
    documents = [list(generator.choice(list("abcdefgh"), size=4)) for _ in range(30)]
    matrix = topics.tf_idf(documents, list("abcdefgh"))
    weights = generator.integers(0, 4, size=30).astype(float)
    copied = csr_array(np.repeat(matrix.toarray(), weights.astype(int), axis=0))
    loadings, terms = topics.factorise(matrix, 3, weights)
    loadings_of_copies, terms_of_copies = topics.factorise(copied, 3)
    assert terms == pytest.approx(terms_of_copies, abs=1e-6)
    assert np.repeat(loadings, weights[weights > 0].astype(int), axis=0) == pytest.approx(loadings_of_copies, abs=1e-6)


def test_a_matrix_of_few_topics_is_rebuilt_from_them():
    generator = np.random.default_rng(3)
    matrix = np.kron(np.eye(3), np.ones((10, 4))) * generator.uniform(0.5, 1, size=(30, 1))
    loadings, terms = topics.factorise(csr_array(matrix), 3)
    assert loadings @ terms == pytest.approx(matrix, abs=1e-2)
    assert np.linalg.norm(terms, axis=1) == pytest.approx(np.ones(3))
    assert (loadings >= 0).all()
    assert (terms >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(2, 6))
def test_comments_that_repeat_themselves_can_be_factorised(seed, different, number):
    """Fewer different texts than topics: some topics are left without words, and nothing is undefined."""
    generator = np.random.default_rng(seed)
    vocabulary = list("abcdefghijkl")
    bank = [list(generator.choice(vocabulary, size=generator.integers(1, 6))) for _ in range(different)]
    matrix = topics.tf_idf([bank[place] for place in generator.integers(different, size=40)], vocabulary)
    weights = np.r_[np.ones(number), generator.integers(0, 3, size=40 - number)]
    loadings, terms = topics.factorise(matrix, number, weights)
    assert np.isfinite(loadings).all()
    length = np.linalg.norm(terms, axis=1)
    assert ((np.abs(length - 1) < 1e-9) | (length == 0)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_topics_are_matched_as_well_as_can_be(seed, number):
    generator = np.random.default_rng(seed)
    first, second = generator.uniform(size=(2, number, 9)) * (generator.uniform(size=(2, number, 9)) < 0.6)
    first[:, 0] += 0.1  # no topic without words
    best = max(
        sum(jaccard(a / a.sum(), b / max(b.sum(), 1e-9)) for a, b in zip(first, order, strict=True))
        for order in itertools.permutations(second)
    )
    assert topics.matched_similarity(first, second).sum() == pytest.approx(best)
    assert topics.matched_similarity(first, 7 * first[::-1]) == pytest.approx(np.ones(number))


def jaccard(a, b):
    return sum(map(min, a, b)) / sum(map(max, a, b))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=8), st.integers(0, 2**32 - 1))
def test_shuffling_keeps_lengths_and_words(documents, seed):
    dealt = topics.shuffled(documents, np.random.default_rng(seed))
    assert [len(one) for one in dealt] == [len(one) for one in documents]
    assert sorted(itertools.chain(*dealt)) == sorted(itertools.chain(*documents))


def test_by_chance_alone_p_is_seldom_small():
    """The level of the test, choice of the number included: 20 curves alike, the first no other than the rest."""
    generator = np.random.default_rng(4)
    spread = np.array([0.3, 0.05, 0.1])
    p = np.array([topics.farthest_above(generator.normal(size=(20, 3)) * spread)[1] for _ in range(4000)])
    for level in (0.05, 0.2, 0.5):
        assert (p <= level + 1e-9).mean() == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 4000))


def test_the_number_is_where_the_comments_lie_farthest_above_the_others():
    curves = np.array([[0.9, 0.7, 0.8], [0.8, 0.2, 0.6], [0.9, 0.3, 0.4], [0.7, 0.3, 0.6]])
    assert topics.farthest_above(curves)[0] == 1


def test_topics_of_which_a_resampling_has_too_few_comments_are_not_found_again():
    matrix = topics.tf_idf([["a"], ["b"], ["c"]], ["a", "b", "c"])
    terms = topics.factorise(matrix, 3)[1]
    draws = np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    assert topics._found_again(matrix, terms, draws).tolist() == [0.5] * 3


# Where there is too little


def rows_of(comments, people, words):
    return [(f"P{number % people}", 3.0, " ".join(words)) for number in range(comments)]


WORDS = THEMES["warmth"] + THEMES["advice"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("P0", 3.0, None)], NO_COMMENTS),
        (rows_of(49, 12, WORDS), "a topic model needs 50 comments with a word .* here there are 49"),
        (rows_of(60, 9, WORDS), "a topic model needs 10 participants .* here there are 9"),
        (rows_of(60, 12, WORDS[:9]), "a topic model needs 10 words .* here there are 9"),
        ([*rows_of(60, 2, WORDS), ("P3", 3.0, "it was")], "a topic model needs 50 comments .* here there are 0"),
    ],
)
def test_too_few_comments_are_a_reason_and_no_topics(rows, reason, tmp_path):
    model = model_of(study_of(rows))
    assert pd.Series([model.reason]).str.fullmatch(f"(?:{reason}).*").all()
    assert set(model.summary["reason"]) == {model.reason}
    check_nothing(model, tmp_path)


def check_nothing(model, tmp_path):
    assert model.summary["estimate"].isna().all()
    assert isinstance(topic_stability(model.stability, name="x", caption="c"), Sentence)
    for table in (model.shares, model.ratings):
        assert isinstance(intervals(table, name="x", label="topics", caption="c"), Sentence)
    assert isinstance(tables.plain(model.topics, "c", empty=model.reason), Sentence)
    record = Recorder("x", tmp_path)
    record.table(model.summary, topics.SUMMARY_KEYS)
    record.table(model.shares, model.share_keys)
    record.table(model.ratings, model.rating_keys)
    assert set(read_values(tmp_path)) == set(topics.SUMMARY_KEYS.values())


def test_comments_that_are_all_alike_hold_no_topics():
    model = model_of(study_of(rows_of(60, 12, WORDS)))
    assert model.reason == topics.NOT_APART


def test_data_without_comments_say_so(workbooks, minimal_sheets, tmp_path):
    for name, study in {
        "real": read_workbook(workbooks["ieval"]),
        "small": parse_sheets(minimal_sheets(messages={"Comment": ...})),
    }.items():
        model = topics.topic_model(study, ParticipantBootstrap(study.conversations["participant"], draws=100))
        assert model.reason == NO_COMMENTS
        (tmp_path / name).mkdir()
        check_nothing(model, tmp_path / name)


# Shown


def test_topics_are_recorded_and_drawn(found, tmp_path):
    record = Recorder("x", tmp_path)
    record.table(found.summary, topics.SUMMARY_KEYS)
    record.table(found.shares, found.share_keys)
    record.table(found.ratings, found.rating_keys)
    values = read_values(tmp_path)
    assert values["topics_told_apart"]["estimate"] == 3
    assert values["topic_share_none"]["estimate"] == pytest.approx(1 / 152)
    assert values["topic_rating_1"]["estimate"] == 2
    figure = topic_stability(found.stability, name="x", caption="n = 152 comments")
    assert figure.alt.startswith("How well topics are found again. 2 topics: 0.")
    assert len(figure.data) == len(found.stability)
    assert intervals(found.shares, name="x", label="share (%)", caption="c").data.index[0].startswith("1: ")
