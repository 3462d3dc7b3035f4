"""Means of conditions where some users rate: what is hidden stays hidden, and simulated studies know the truth."""

import numpy as np
import pandas as pd
import pytest

from sense7.judge.scoring.powered_means import condition_means, simulated_means


def predictions(seed=0, people=40, signal=1.0):
    generator = np.random.default_rng(seed)
    who = np.repeat([f"P{n}" for n in range(people)], 4)
    condition = np.tile(["a", "a", "b", "b"], people)
    quality = generator.normal(0, 0.6, len(who)) + (condition == "b") * 0.5
    truth = 3 + quality + generator.normal(0, 0.1, people).repeat(4)
    frame = {"participant": who, "condition": condition, "ground_truth": truth, "score": 2 + signal * quality}
    return pd.DataFrame(frame)


def test_a_good_judge_shortens_the_intervals_and_leaves_the_means_where_they_are():
    means = condition_means(predictions(), share=0.25)
    widths = {name: (table["high"] - table["low"]).mean() for name, table in means.items()}
    assert widths["all users"] < widths["some users and the judge"] < 0.8 * widths["some users alone"]
    assert means["all users"].loc["b", "estimate"] == pytest.approx(
        predictions().query("condition == 'b'")["ground_truth"].mean()
    )
    apart = (means["some users and the judge"]["estimate"] - means["all users"]["estimate"]).abs()
    assert (apart < 0.15).all()


def test_hidden_ratings_change_nothing():
    frame = predictions()
    people = frame["participant"].unique()
    rating = people[np.random.default_rng(1).choice(len(people), 10, replace=False)]
    changed = frame.assign(ground_truth=frame["ground_truth"].where(frame["participant"].isin(rating), 1.0))
    for name in ("some users alone", "some users and the judge"):
        pd.testing.assert_frame_equal(condition_means(frame, seed=1)[name], condition_means(changed, seed=1)[name])


def test_simulated_studies_hold_what_the_intervals_promise():
    table = simulated_means(predictions(), shares=(0.5,), studies=150)
    assert table["key"].tolist() == ["ppi_coverage_users_50", "ppi_coverage_judge_50", "ppi_width_ratio_50"]
    users, judge, ratio = table["estimate"]
    assert min(users, judge) > 0.9
    assert ratio < 0.8
    useless = simulated_means(predictions(signal=0.0).assign(score=3.0), shares=(0.5,), studies=50)
    assert 1 <= useless["estimate"].iloc[2] < 1.1


def test_few_participants_give_the_reason():
    table = simulated_means(predictions(people=4), shares=(0.5,), studies=5)
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {"no condition has 5 participants with ratings and scores"}
    assert simulated_means(predictions().iloc[:0], studies=5)["estimate"].isna().all()
