"""The multiverse: specifications by filtering and averaging frames, their summary, and detectable differences."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from helpers.studies import bootstrap_of, parse_sheets
from sense7.checkout import data_file
from sense7.findings import (
    agreement,
    conditions,
    disrupted,
    individualized,
    measures,
    poor_turn,
    ratings,
    robustness,
)
from sense7.statistics import alpha as alpha_module
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.sheets import read_workbook

SEVEN = list(DIMENSION_NAMES)


@pytest.fixture(scope="module")
def study():
    whole = read_workbook(data_file("synthetic.xlsx"))
    return whole.subset(participants=whole.conversations["participant"].unique()[:25])


def test_the_first_specification_is_that_of_the_other_pages(study):
    bootstrap = bootstrap_of(study)
    shares = individualized.variance_shares(study, bootstrap)
    pages = {
        "alpha_turn": alpha_module.alpha_row(
            measures.turn_ratings(study), bootstrap, key="alpha_turn"
        ),
        "poor_turn_d": poor_turn.poor_turn_effects(study, bootstrap).iloc[0],
        "relational_applicability": ratings.published_shares(study, bootstrap).iloc[0],
        "participant_share_beyond_condition_and_topic": shares.iloc[-1],
        "context_share": shares.loc["context"],
        "continuity_loss_after_failure": disrupted.continuity_losses(study, bootstrap).iloc[0],
        "expectation_loss": disrupted.unmet_expectations(study, bootstrap).iloc[-1],
        "prompted_minus_best_other": conditions.prompted_minus_best_other(study, bootstrap),
        "kappa_affective": agreement.published_kappas(study, bootstrap).iloc[0],
        "empathy_satisfaction": poor_turn.empathy_and_experience(study, bootstrap).loc[
            "all four together"
        ],
    }
    assert pages.keys() == set(robustness.IN_STUDIES)
    for headline, page in pages.items():
        assert page["key"] == headline
        first = robustness.multiverse(study, bootstrap, headline, first_only=True).loc[1]
        for name in ("estimate", "low", "high", "n"):
            assert first[name] == pytest.approx(page[name], abs=1e-9), (headline, name)


def test_two_conversations_with_a_poor_turn_are_enough_for_their_effect(minimal_sheets):
    overall = [None, "poor", None, "good"] * 2 + [None, "good"] * 4
    tasks = {f"PostTaskEmpathy_{name}": [1.0, 2.0, 3.0, 5.0] for name in SEVEN}
    few = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}, tasks=tasks))
    effect = robustness.multiverse(few, bootstrap_of(few, 5), "poor_turn_d", first_only=True).loc[1]
    assert effect["estimate"] == pytest.approx((4 - 1.5) / np.sqrt((0.5 + 2) / 2))


def test_relational_applies_in_the_share_of_the_turns_that_a_variant_counts(study):
    table = robustness.multiverse(study, bootstrap_of(study, 5), "relational_applicability")
    pooled = table[table["averaging"] == robustness.AVERAGING[0]]
    everything = pooled[pooled["exclusions"] == robustness.EXCLUSIONS[0]].set_index("share of")
    turns = study.turns_put_to_rating
    counted = (turns, turns.dropna(how="all", subset=SEVEN), turns.dropna(subset="overall"))
    for words, some in zip(robustness.DENOMINATORS, counted, strict=True):
        share = some["Relational"].notna().mean()
        assert everything.loc[words, "estimate"] == pytest.approx(share, abs=1e-12)


def estimates(numbers):
    rows = {
        "estimate": numbers,
        "reason": ["" if np.isfinite(number) else "why" for number in numbers],
    }
    frame = pd.DataFrame(rows, index=range(1, len(numbers) + 1)).assign(method="m")
    return frame.assign(low=frame["estimate"] - 0.25, high=frame["estimate"] + 0.25)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30))
def test_the_summary_is_range_and_what_intervals_hold(numbers):
    summary = robustness.summary(estimates(numbers), "poor_turn_d", 0.5)["estimate"]
    assert summary["lowest estimate"] == min(numbers)
    assert summary["highest estimate"] == max(numbers)
    assert summary["intervals that hold the published value"] == pytest.approx(
        np.mean([n - 0.25 <= 0.5 <= n + 0.25 for n in numbers])
    )
    in_words = robustness.summary(estimates(numbers), "context_share")["estimate"]
    assert in_words["intervals above the dashed line"] == pytest.approx(
        np.mean([n - 0.25 > 0 for n in numbers])
    )


# Conversations with some ratings


def conversations_of(study, choice):
    if choice["conversations"] == "all":
        return study.conversations
    return study.conversations.groupby(["participant", "condition"], sort=False).head(1)


def experience_by_frames(study, choice):
    used = conversations_of(study, choice)
    names = {"mean of four": measures.OUTCOMES["experience"]}.get(
        choice["experience"], [choice["experience"].replace(" ", "_")]
    )
    given = choice["missing"] == "ratings given"
    frame = pd.DataFrame(
        {
            "who": used["participant"],
            "x": used[[f"post_{name}" for name in SEVEN]].mean(axis=1, skipna=given),
            "y": used[names].mean(axis=1, skipna=given),
        }
    ).dropna()
    if choice["correlation"].startswith("Spearman"):
        return spearmanr(frame["x"], frame["y"]).statistic
    several = frame[frame.groupby("who")["x"].transform("size") > 1]
    centered = several[["x", "y"]] - several.groupby("who")[["x", "y"]].transform("mean")
    return centered.corr().iloc[0, 1]


def test_conversations_with_incomplete_ratings_count_only_where_those_given_do(study):
    holes = study.conversations.copy()
    holes.loc[holes.index % 3 == 0, "post_Affective"] = np.nan
    holes.loc[holes.index % 5 == 0, "use_again"] = np.nan
    some = type(study)(**(vars(study) | {"conversations": holes}))
    table = robustness.multiverse(some, bootstrap_of(some, 5), "empathy_satisfaction")
    expected = [experience_by_frames(some, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-9)
    assert table.groupby("missing")["n"].max().nunique() == 2


# Smallest detectable differences

FIVE = ParticipantBootstrap(list("abcde"), draws=100, seed=1)


def table_of(estimate, low, high, reason=""):
    row = estimate_row(estimate, low, high, n=10, unit="levels", method="mean", reason=reason)
    return estimate_table({"difference": row}, "statistic")


def test_it_is_the_textbook_multiple_of_the_standard_error():
    detectable = robustness.smallest_detectable(
        table_of(0.5, 0.5 - 1.959963984540054, 0.5 + 1.959963984540054), FIVE
    )
    assert detectable.loc["difference", "estimate"] == pytest.approx(
        1.959963985 + 0.841621234, abs=1e-8
    )
    assert detectable.loc["difference", "unit"] == "levels"
