"""Own earlier ratings: by loops over people, without a look ahead, and up to the limit that was planted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.intraclass import icc_1
from sense7.judge.scoring.personal import LIMIT, NO_JUDGE, own_ratings


def people_who_rate(seed=0, people=60, each=5, person=0.7, rest=0.5, judge=0.6):
    """Ratings, and a judge that sees a part of what does not belong to the person."""
    generator = np.random.default_rng(seed)
    who = np.repeat([f"P{n}" for n in range(people)], each)
    seen = generator.normal(0, judge, len(who))
    truth = 3.5 + generator.normal(0, person, people).repeat(each) + seen + generator.normal(0, rest, len(who))
    return pd.DataFrame({"participant": who, "ground_truth": truth}), 3 + seen


def bootstrap_of(frame):
    return ParticipantBootstrap(frame["participant"], draws=200, seed=1)


def by_hand(frame, score, count, most):
    """Share explained with so many earlier ratings, person by person."""
    truth = frame["ground_truth"].to_numpy()
    left = truth - score
    missed, whole = [], []
    for train, test in GroupKFold(10).split(truth, groups=frame["participant"]):
        mean, share = left[train].mean(), icc_1(left[train], frame["participant"].iloc[train])
        for row in test:
            before = [r for r in range(row) if frame["participant"][r] == frame["participant"][row]]
            if len(before) < most:
                continue
            weight = count * share / (1 + (count - 1) * share) if count else 0
            shift = weight * (left[before[-count:]].mean() - mean) if count else 0
            missed.append((left[row] - mean - shift) ** 2)
            whole.append((truth[row] - truth[train].mean()) ** 2)
    return 1 - np.sum(missed) / np.sum(whole), len(missed)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_shares_are_those_of_loops_over_people(count):
    frame, score = people_who_rate(people=20)
    table = own_ratings(frame, {"learned judge": score}, bootstrap_of(frame), most=3)["learned judge"]
    expected, n = by_hand(frame, score, count, 3)
    assert table.loc[str(count), "estimate"] == pytest.approx(expected)
    assert set(table["n"]) == {n} == {40}


def test_more_ratings_of_the_person_lead_to_the_limit_that_was_planted():
    frame, score = people_who_rate(people=400)
    tables = own_ratings(frame, {"learned judge": score}, bootstrap_of(frame))
    alone, learned = tables[NO_JUDGE]["estimate"], tables["learned judge"]["estimate"]
    whole = 0.7**2 + 0.5**2 + 0.6**2
    assert alone["0"] == 0
    assert alone[LIMIT] == pytest.approx(0.7**2 / whole, abs=0.08)
    assert learned["0"] == pytest.approx(0.6**2 / whole, abs=0.08)
    assert learned[LIMIT] == pytest.approx((0.6**2 + 0.7**2) / whole, abs=0.08)
    for shares in (alone, learned):
        assert shares[["0", "1", "2", "3", "4"]].is_monotonic_increasing
        assert shares["4"] < shares[LIMIT]


def test_later_ratings_change_nothing_that_was_predicted_before():
    frame, score = people_who_rate(people=20)
    last = frame.groupby("participant").cumcount() == 4
    before = own_ratings(frame[~last], {"j": score[~last]}, bootstrap_of(frame), most=2)["j"]
    shuffled = frame.sample(frac=1, random_state=1).sort_values("participant", kind="stable")
    order = shuffled.index.to_numpy()
    same = own_ratings(frame.loc[np.sort(order)][~last], {"j": score[~last]}, bootstrap_of(frame), most=2)["j"]
    pd.testing.assert_frame_equal(before, same)


def test_all_judges_are_compared_on_the_same_conversations():
    frame, score = people_who_rate()
    holes = np.where(np.arange(len(frame)) % 7 == 0, np.nan, score)
    tables = own_ratings(frame, {"a": score, "b": holes}, bootstrap_of(frame))
    assert len({n for table in tables.values() for n in table["n"]}) == 1


def test_a_judge_without_scores_says_so_and_changes_nothing_for_others():
    frame, score = people_who_rate()
    alone = own_ratings(frame, {"a": score}, bootstrap_of(frame))
    tables = own_ratings(frame, {"a": score, "b": np.full(len(frame), np.nan)}, bootstrap_of(frame))
    pd.testing.assert_frame_equal(tables["a"], alone["a"])
    assert set(tables["b"]["reason"]) == {"it has no scores"}
    assert tables["b"].index.tolist() == alone["a"].index.tolist(), "a figure shows all judges row by row"


@pytest.mark.parametrize(
    ("people", "each", "why"),
    [(3, 4, "3 participants with ratings and scores: too few"), (8, 1, "fewer than half of the participants have two")],
)
def test_too_little_gives_the_reason(people, each, why):
    frame, score = people_who_rate(people=people, each=each)
    for table in own_ratings(frame, {"j": score}, bootstrap_of(frame)).values():
        assert table.index.tolist() == ["0", "1"]
        assert table.loc["0", "reason"].startswith(why)
