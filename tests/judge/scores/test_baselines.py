"""Baselines and examples from texts: by hand or by scikit-learn, and blind to what they may not see; as files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from helpers.judged import table_of
from helpers.made_up import lists, study_of
from sense7.judge.scores.baselines import (
    ALPHAS,
    TEXT_BASELINES,
    baseline_predictions,
    baseline_table,
    write_learned,
)
from sense7.judge.tfidf import conversation_texts, tfidf, word_counts
from sense7.statistics.bootstrap import ParticipantBootstrap


def turns_of(conversations=40):
    return [1 + number % 3 for number in range(conversations)]


def sample(**arguments):
    found = lists(**arguments)
    return study_of(*found, turns_of(len(found[0])))


@pytest.fixture(scope="module")
def found():
    return baseline_predictions(sample())


def frame_of(found, name):
    assert found[name].reason == ""
    return found[name].run.table


# What they predict


def test_majority_and_own_mean_are_those_of_the_others():
    found = baseline_predictions(study_of([1, 1, 2, 3, 3], [4, 5, 2, 2, 4.5]))
    majority = frame_of(found, "majority label")["score"]
    assert majority.tolist() == [2, 2, 4, 2, 2]  # of equally frequent ones the lowest
    own = frame_of(found, "own mean")["score"]
    assert own.tolist() == pytest.approx([5, 4, (4 + 5 + 2 + 4.5) / 4, 4.5, 2])


@pytest.mark.parametrize("name", ["words per turn", "all words, ridge"])
def test_what_is_fitted_is_ridge_regression_with_its_penalty_chosen_within_the_others(found, name):
    who, y, (_, _, _, answers) = np.array(lists()[0]), np.array(lists()[1]), lists()
    lengths = np.log1p(np.array([len(answer.split()) for answer in answers]) / turns_of())[:, None]
    counts, expected, plain = (
        word_counts(conversation_texts(sample())),
        np.empty(len(y)),
        np.empty(len(y)),
    )
    for train, test in GroupKFold(8).split(y, groups=who):
        # The scale of a length is that of all that is learned from, inside the inner folds as well.
        scaled = StandardScaler().fit(lengths[train]).transform(lengths)
        x = scaled if name == "words per turn" else tfidf(counts, train).toarray()
        inner = list(GroupKFold(5).split(train, groups=who[train]))
        chosen = RidgeCV(ALPHAS, cv=inner, scoring="neg_mean_squared_error").fit(x[train], y[train])
        expected[test], plain[test] = chosen.predict(x[test]), y[train].mean()
    frame = frame_of(found, name)
    np.testing.assert_allclose(frame["score"], expected, atol=1e-9)
    np.testing.assert_allclose(frame["above"], expected - plain, atol=1e-9)


def test_of_many_participants_there_are_ten_folds():
    who, truths, said, answers = lists(people=12, conversations=48)
    found = baseline_predictions(study_of(who, truths, said, answers))
    frame = frame_of(found, "words per turn")
    means = np.empty(len(who))
    for train, test in GroupKFold(10).split(who, groups=who):
        means[test] = np.mean([truths[number] for number in train])
    np.testing.assert_allclose(frame["score"] - frame["above"], means, atol=1e-9)


def test_the_learned_judge_is_the_mean_of_words_and_length(found):
    parts = [
        frame_of(found, name) for name in ("all words, ridge", "words per turn", "learned judge")
    ]
    words, lengths, learned = (part["score"].to_numpy() for part in parts)
    assert learned == pytest.approx((words + lengths) / 2, abs=1e-11)


def test_a_conversation_without_a_rating_is_predicted_and_never_learned_from():
    who, truths, said, answers = lists(people=5)
    unrated = [3, 17, 30]
    truths = [np.nan if number in unrated else truth for number, truth in enumerate(truths)]
    everything = baseline_predictions(
        study_of(who, truths, said, answers, turns_of()), unrated=True
    )
    said = ["sad" if number in unrated else text for number, text in enumerate(said)]
    other = baseline_predictions(study_of(who, truths, said, answers, turns_of()), unrated=True)
    assert tuple(everything) == TEXT_BASELINES
    for name in TEXT_BASELINES:
        frame, changed = frame_of(everything, name), frame_of(other, name)
        assert frame["ground_truth"].isna().to_numpy().nonzero()[0].tolist() == unrated
        assert np.isfinite(frame["score"]).all()
        pd.testing.assert_frame_equal(frame.drop(index=unrated), changed.drop(index=unrated))


# What they have not seen


def test_a_text_is_not_learned_from_where_it_is_to_be_predicted():
    who, truths, said, answers = lists(people=5)
    who, said, answers = list(who), list(said), list(answers)
    shared = who.index(1)
    twin = who.index(2)
    turns = turns_of()
    said[twin], answers[twin], turns[twin] = said[shared], answers[shared], turns[shared]
    changed = list(truths)
    changed[twin] = 6 - truths[twin]
    before, after = (
        baseline_predictions(study_of(who, levels, said, answers, turns))
        for levels in (truths, changed)
    )
    own = np.flatnonzero(np.array(who) == 1)
    for name in TEXT_BASELINES:
        pd.testing.assert_frame_equal(*(frame_of(way, name).loc[own] for way in (before, after)))


# How they are scored


@pytest.fixture(scope="module")
def bootstrap():
    return ParticipantBootstrap(sample().conversations["participant"], draws=200, seed=1)


WHO, TRUTHS, SAID, ANSWERS = lists()
SCARCE = {
    "one conversation of nearly everybody": (
        study_of([*range(len(WHO) - 1), 0], TRUTHS, SAID, ANSWERS),
        {"own mean": "2 of "},
    ),
    "four participants": (
        study_of([one % 4 for one in WHO], TRUTHS, SAID, ANSWERS),
        dict.fromkeys(TEXT_BASELINES, "4 participants are too few")
        | {"own mean": "", "majority label": ""},
    ),
    "one participant": (
        study_of([0] * len(WHO), TRUTHS, SAID, ANSWERS),
        {"own mean": "", "majority label": "there is only one participant"},
    ),
    "few conversations": (
        study_of(range(8), TRUTHS[:8], SAID[:8], ANSWERS[:8]),
        dict.fromkeys(TEXT_BASELINES, "8 conversations: too few")
        | {"own mean": "0 of 8 conversations"},
    ),
    "no word in common": (
        study_of(WHO, TRUTHS, [f"{'x' * number}" for number in range(1, len(WHO) + 1)]),
        dict.fromkeys(["words per turn"], "in this the conversations do not differ"),
    ),
}


@pytest.mark.parametrize("case", SCARCE)
def test_where_there_is_too_little_it_is_said(case):
    study, reasons = SCARCE[case]
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    found = baseline_predictions(study)
    for name, reason in reasons.items():
        assert found[name].reason.startswith(reason)
        assert (found[name].reason == "") == (reason == "")
        assert (len(found[name].run.score) > 0) == (reason == "")
    table = baseline_table(found, bootstrap)
    lacking = table[["estimate", "low"]].isna().any(axis=1)
    assert (table.loc[lacking, "reason"] != "").all()
    assert (table.loc[~lacking, "reason"] == "").all()


@pytest.fixture(scope="module")
def study():
    who, truths, said, answers = lists(people=5)
    rated = [np.nan if number in (3, 17) else truth for number, truth in enumerate(truths)]
    return study_of(who, rated, said, answers)


def test_the_file_holds_what_the_learned_judge_predicts_on_the_scale(study, tmp_path):
    known = baseline_predictions(study)["learned judge"].run.table.set_index("conversation")
    path = write_learned(study, tmp_path)
    assert path.name == "learned-judge-baseline-iter1.xlsx"
    frame = table_of(path).set_index("conversation")
    assert set(frame["status"]) == {"ok"}
    assert frame["score"][known.index].to_numpy() == pytest.approx(
        known["score"].clip(1, 5).to_numpy()
    )
    assert frame["ground_truth"].isna().sum() == 2
    assert len(frame) == len(study.conversations)
