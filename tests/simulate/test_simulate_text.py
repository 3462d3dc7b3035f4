import string

import numpy as np
import pytest
from scipy.stats import spearmanr

from sense7.simulate import Parameters, draw
from sense7.simulate.text import PHRASES, write_words
from sense7.taxonomy import DIMENSION_NAMES


def slots(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def balance_of(texts):
    """Whole sentences of good and very good turns minus those of poor ones, found in the texts."""
    good, poor = [], []
    for sayings in PHRASES["phrases"].values():
        levels = list(sayings.values())
        good += [phrase for level in levels[2:] for phrase in level if not slots(phrase)]
        poor += [phrase for phrase in levels[0] if not slots(phrase)]
    return np.array([sum(s in text for s in good) - sum(s in text for s in poor) for text in texts])


def test_text_carries_signal_but_not_all(default):
    balance = balance_of(default.words.assistant)
    quality = default.study.quality.mean(axis=1)
    overall = default.study.ratings[:, 7]
    assert 0.35 < spearmanr(balance, quality).statistic < 0.9
    assert 0.2 < spearmanr(balance[overall > 0], overall[overall > 0]).statistic < 0.8


def test_each_behaviour_follows_its_own_dimension(default):
    shown, quality = default.words.shown, default.study.quality
    for place, name in enumerate(DIMENSION_NAMES):
        rows = shown[:, place] >= 0
        assert rows.sum() > 500, name
        own = np.corrcoef(shown[rows, place], quality[rows, place])[0, 1]
        assert 0.6 < own < 0.97, name


def test_noise_drowns_the_signal():
    parameters = Parameters(participants=40, conversations=200, text_noise_sd=20)
    study = draw(parameters, np.random.default_rng(1))
    words = write_words(study, np.random.default_rng(2))
    shown = np.where(words.shown >= 0, words.shown, np.nan)
    correlation = np.corrcoef(np.nanmean(shown, axis=1), study.quality.mean(axis=1))[0, 1]
    assert abs(correlation) < 0.12


def test_text_does_not_know_the_person():
    """The same chances with another leniency give the same words: only comments follow ratings."""
    first = draw(Parameters(participant_sd=0.1), np.random.default_rng(3))
    second = draw(Parameters(participant_sd=1.5), np.random.default_rng(3))
    assert (first.ratings != second.ratings).any()
    one = write_words(first, np.random.default_rng(4))
    two = write_words(second, np.random.default_rng(4))
    assert one.assistant == two.assistant
    assert one.user == two.user


def test_failures_read_like_failures(default):
    words, study = default.words, default.study
    starts = tuple(phrase.split("{")[0] for phrase in PHRASES["failures"])
    failed = [words.assistant[row].startswith(starts) for row in range(len(study.turn))]
    assert failed == study.failure.tolist()
    complaint = tuple(phrase.split("{")[0].strip().lower() for phrase in PHRASES["complaints"])
    after = np.flatnonzero(study.failure[:-1] & (study.turn[1:] < study.turns[study.conversation[1:]] - 1)) + 1
    after = after[study.turn[after] > 0]
    assert len(after) > 100
    assert all(words.user[row].lower().startswith(complaint) for row in after)


def test_words_are_finished_and_varied(default):
    words = default.words
    for text in words.user + words.assistant + [c for c in words.comment if c]:
        assert text == " ".join(text.split())
        assert text
        assert not set("{}+") & set(text), text
    assert len(set(words.assistant)) > 0.95 * len(words.assistant)
    assert len(set(words.user)) > 0.4 * len(words.user)
    lengths = [len(text) for text in words.assistant]
    assert 120 < np.mean(lengths) < 400


def test_no_sentence_comes_twice_in_a_row(default):
    words, study = default.words, default.study
    for row in np.flatnonzero(study.turn > 0):
        assert words.assistant[row] != words.assistant[row - 1]


@pytest.mark.parametrize("name", DIMENSION_NAMES)
def test_phrases_can_always_be_said(name):
    levels = list(PHRASES["phrases"][name].values())
    assert len(levels) == 4
    allowed = {"feeling", "fact", "sore", "old", "goal", "advice", "question", "name", "project"}
    for level in levels:
        assert len(set(level)) >= 6 or name == "Interest"
        assert all(slots(phrase) <= allowed for phrase in level)
        # Relational needs something to recall, and is shown only where there is.
        free = {"advice", "question", "sore", "fact"} | ({"old"} if name == "Relational" else set())
        assert any(slots(phrase) <= free for phrase in level)


@pytest.mark.parametrize("topic", PHRASES["stories"])
def test_stories_hold_together(topic):
    story = PHRASES["stories"][topic]
    told = {"name", "project", "day", "span"}
    assert len(story["details"]) == 12
    for fact in (*story["openings"], *story["details"]):
        sentence, reference = fact["user"], fact["assistant"]
        assert slots(sentence) | slots(reference) <= told
        assert sentence.endswith(".")
        assert not reference.endswith(".")
    assert all(opening.get("burden", True) for opening in story["openings"])
    # Before names are known, there must be something to advise and to ask.
    assert any(not slots(text) - {"day"} for text in story["advice"])
    assert any(not slots(text) for text in story["questions"])
    assert all(goal.startswith("to ") for goal in story["goals"])


def test_comments_follow_ratings(default):
    study, comments = default.study, default.words.comment
    given = np.array([comment is not None for comment in comments])
    overall = study.ratings[:, 7]
    assert not given[(study.ratings[:, :7] <= 0).all(axis=1)].any()
    assert given[(overall > 0) & (overall <= 2)].mean() > 1.5 * given[overall == 4].mean()
    assert 0.04 < given.mean() < 0.2
