"""The multiverse: each specification by filtering and averaging frames, and where there is none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from helpers.studies import bootstrap_of
from sense7.checkout import data_file
from sense7.estimators import alpha as alpha_module
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.figures.specification import SpecificationCurve, specification_curve
from sense7.findings import agreement, measures, ratings
from sense7.findings.context import shares
from sense7.findings.disrupted import failures
from sense7.findings.ground_truth import ground_truth
from sense7.findings.individualized import variance_components
from sense7.findings.poor_turn import definitions
from sense7.findings.robustness import headlines, specifications
from sense7.findings.whole import outcomes
from sense7.tables import Sentence
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

SEVEN = list(DIMENSION_NAMES)


@pytest.fixture(scope="module")
def study():
    return read_workbook(data_file("synthetic.xlsx"))


@pytest.fixture(scope="module")
def tables(study):
    return {name: headlines.multiverse(study, bootstrap_of(study), name) for name in headlines.IN_STUDIES}


def coded(values, choice):
    return values.replace(dict(enumerate(headlines.CODINGS[choice["coding"]], 1)))


def kept(study, choice):
    turns = study.turns_put_to_rating
    if choice["exclusions"] == "first turns":
        return turns[turns["turn"] != 1]
    if choice["exclusions"].startswith("conversations"):
        rated = turns[["overall", *SEVEN]].notna().any(axis=1).groupby(turns["conversation"]).sum()
        return turns[turns["conversation"].map(rated) >= 3]
    return turns


def alpha_by_frames(study, choice):
    names = [name for name in SEVEN if choice["dimensions"] == "all seven" or name != "Relational"]
    frame = coded(kept(study, choice)[names], choice)
    if choice["missing"] == "complete turns only":
        frame = frame.dropna()
    covariances = frame.cov()
    return len(names) / (len(names) - 1) * (1 - np.trace(covariances) / covariances.to_numpy().sum())


def difference_by_frames(study, choice):
    turns = kept(study, choice)
    if choice["score"] == "overall rating":
        score = coded(turns["overall"], choice)
    else:
        score = coded(turns[SEVEN], choice).mean(axis=1, skipna=choice["missing"] == "ratings given")
    turns = turns.assign(score=score).dropna(subset=["score"])
    units = turns
    if choice["averaging"] == "turn, then conversation":
        units = turns.groupby(["conversation", "condition"], as_index=False)["score"].mean()
    means = units.groupby("condition")["score"].mean()
    best, worst = headlines.best_and_worst(study)
    return (means[best] - means[worst]) / turns["score"].std()


def poor_turn_by_frames(study, choice):
    turns = kept(study, choice)
    seven = turns[SEVEN].mean(axis=1, skipna=choice["missing"] == "ratings given")
    poor, told = {
        "overall at most 2": (turns["overall"] <= 2, turns["overall"].notna()),
        "mean of seven at most 2.5": (seven <= 2.5, seven.notna()),
        "any dimension at most 2": ((turns[SEVEN] <= 2).any(axis=1), seven.notna()),
    }[choice["poor turn"]]
    groups = poor[told].groupby(turns.loc[told, "conversation"]).any()
    conversations = study.conversations.set_index("conversation")
    post = coded(conversations[[f"post_{name}" for name in SEVEN]], choice)
    post = post.mean(axis=1, skipna=choice["missing"] == "ratings given").dropna()
    groups = groups[groups.index.isin(post.index)]
    without, with_poor = post[groups.index[~groups]], post[groups.index[groups]]
    freedom = len(without) + len(with_poor) - 2
    pooled = ((len(without) - 1) * without.var() + (len(with_poor) - 1) * with_poor.var()) / freedom
    return (without.mean() - with_poor.mean()) / np.sqrt(pooled)


def applicability_by_frames(study, choice):
    turns = kept(study, choice)
    base = {
        "turns put to rating": turns,
        "turns with any dimension rated": turns[turns[SEVEN].notna().any(axis=1)],
        "turns with an overall rating": turns[turns["overall"].notna()],
    }[choice["share of"]]
    rated = base["Relational"].notna()
    if choice["averaging"] == "all turns pooled":
        return rated.mean()
    return rated.groupby(base["conversation"]).mean().mean()


@pytest.mark.parametrize(
    ("headline", "by_frames"),
    [
        ("alpha", alpha_by_frames),
        ("condition_difference", difference_by_frames),
        ("poor_turn_d", poor_turn_by_frames),
        ("relational_applicability", applicability_by_frames),
    ],
)
def test_every_specification_equals_that_of_filtered_frames(study, tables, headline, by_frames):
    table = tables[headline]
    expected = [by_frames(study, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-10)


def test_the_first_specification_is_that_of_the_other_pages(study, tables):
    bootstrap = bootstrap_of(study)
    alpha = alpha_module.alpha_row(measures.turn_ratings(study), bootstrap)
    poor = definitions.poor_turn_effects(study, bootstrap).iloc[0]
    applied = ratings.applicability(study, bootstrap).loc["Relational"]
    for headline, other in (("alpha", alpha), ("poor_turn_d", poor), ("relational_applicability", applied)):
        first = tables[headline].loc[1]
        for name in ("estimate", "low", "high", "n"):
            assert first[name] == pytest.approx(other[name], abs=1e-12), (headline, name)


@pytest.mark.parametrize("name", headlines.HEADLINES)
def test_every_combination_stands_once(name):
    table = headlines.specifications(name)
    assert not table.duplicated().any()
    sizes = [len(options) for options in headlines.HEADLINES[name].choices.values()]
    # The overall rating is never incomplete: of its combinations one half falls away. Nor is the loss of the same turn
    # looked at in the mean of the dimensions.
    left = {
        "condition_difference": 3 / 4,
        "participants_share": 5 / 6,
        "context_share": 3 / 4,
        "continuity_contrast": 3 / 4,
    }
    assert len(table) == pytest.approx(np.prod(sizes) * left.get(name, 1))
    assert table.iloc[0].to_dict() == {key: options[0] for key, options in headlines.HEADLINES[name].choices.items()}


def test_resampled_standardized_differences_equal_copied_rows(study):
    """The first specification in two draws, against the turns of each draw copied out."""
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=2, seed=5, confidence=1 - 1e-12)
    table = headlines.multiverse(study, bootstrap, "condition_difference", first_only=True)
    assert table.index.tolist() == [1]
    # All of the distribution of two draws: its ends are the draws.
    copied = sorted(difference_of_copies(study, bootstrap, draw) for draw in range(2))
    assert table.loc[1, ["low", "high"]].tolist() == pytest.approx(copied, abs=1e-9)


def difference_of_copies(study, bootstrap, draw):
    times = dict(zip(bootstrap.names, bootstrap.weights()[draw].astype(int), strict=True))
    turns = study.turns.assign(score=study.turns[SEVEN].mean(axis=1)).dropna(subset=["score"])
    conversations = turns.groupby(["conversation", "condition", "participant"], as_index=False)["score"].mean()
    turns = turns.loc[turns.index.repeat(turns["participant"].map(times))]
    conversations = conversations.loc[conversations.index.repeat(conversations["participant"].map(times))]
    means = conversations.groupby("condition")["score"].mean()
    best, worst = headlines.best_and_worst(study)
    return (means[best] - means[worst]) / turns["score"].std()


def test_the_plain_specifications_equal_those_of_r(workbooks, golden):
    study = read_workbook(workbooks["reference"])
    alpha = headlines.multiverse(study, bootstrap_of(study), "alpha")["estimate"]
    choices = headlines.specifications("alpha")
    plain = (choices["coding"] == "five levels") & (choices["exclusions"] == "none")
    for missing, dimensions, name in (
        ("ratings given", "all seven", "alpha_raw_turn_pairwise"),
        ("complete turns only", "all seven", "alpha_raw_turn_listwise"),
        ("ratings given", "without Relational", "alpha_raw_turn_6dims_pairwise"),
    ):
        row = plain & (choices["missing"] == missing) & (choices["dimensions"] == dimensions)
        golden.check(name, alpha[row].item(), abs=1e-7)
    applied = headlines.multiverse(study, bootstrap_of(study), "relational_applicability", first_only=True)
    golden.check("share_rated_Relational", applied.loc[1, "estimate"], abs=1e-7)


def estimates(numbers):
    rows = {"estimate": numbers, "reason": ["" if np.isfinite(number) else "why" for number in numbers]}
    frame = pd.DataFrame(rows, index=range(1, len(numbers) + 1)).assign(method="m")
    return frame.assign(low=frame["estimate"] - 0.25, high=frame["estimate"] + 0.25)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=30))
def test_the_summary_is_range_and_what_intervals_hold(numbers):
    summary = headlines.summary(estimates(numbers), "poor_turn_d", 0.5)["estimate"]
    assert summary["lowest estimate"] == min(numbers)
    assert summary["highest estimate"] == max(numbers)
    assert summary["intervals that hold the published value"] == pytest.approx(
        np.mean([n - 0.25 <= 0.5 <= n + 0.25 for n in numbers])
    )
    in_words = headlines.summary(estimates(numbers), "context_share")["estimate"]
    assert in_words["intervals above the dashed line"] == pytest.approx(np.mean([n - 0.25 > 0 for n in numbers]))


def test_specifications_without_an_interval_are_not_counted():
    table = estimates([0.4, 0.6])
    table.loc[2, ["low", "high"]] = np.nan
    row = headlines.summary(table, "poor_turn_d", 0.5).loc["intervals that hold the published value"]
    assert (row["estimate"], row["n"]) == (1, 1)
    table["low"] = np.nan
    row = headlines.summary(table, "poor_turn_d", 0.5).loc["intervals that hold the published value"]
    assert np.isnan(row["estimate"])
    assert row["reason"].startswith("no specification has an interval")


def test_a_published_value_that_is_not_given_is_the_reason():
    row = headlines.summary(estimates([0.4]), "alpha").loc["intervals that hold the published value"]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "the published value was not given"


def test_only_headlines_without_a_published_figure_have_a_reference():
    for one in headlines.HEADLINES.values():
        assert (one.reference is None) == bool(one.claim)


def test_a_summary_of_nothing_says_why():
    table = headlines.summary(estimates([np.nan, np.nan]), "alpha")
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {"no specification could be computed: why"}


def test_without_the_first_specification_the_others_are_counted():
    table = headlines.summary(estimates([np.nan, 1.0]), "alpha", 1.0)
    assert table.loc["highest estimate", "estimate"] == 1
    assert table.loc["intervals that hold the published value", ["estimate", "n"]].tolist() == [1, 1]


# The abstract's findings


def test_the_first_specification_of_a_finding_is_that_of_its_page(study, tables):
    bootstrap = bootstrap_of(study)
    pages = {
        "participants_share": variance_components.variance_parts(study, bootstrap).shares.loc["participant"],
        "context_share": shares.context_shares(study, bootstrap).loc["all of the context"],
        "continuity_contrast": failures.continuity_contrasts(study, bootstrap).loc[
            "next turn, Relational minus the others"
        ],
    }
    for headline, page in pages.items():
        first = tables[headline].loc[1]
        for name in ("estimate", "low", "high", "n"):
            assert first[name] == pytest.approx(page[name], abs=1e-9), (headline, name)


def test_conditions_kept_are_part_of_the_variance(study, tables):
    table = tables["participants_share"]
    wide = table.pivot_table(index=["rating", "missing", "participants"], columns="conditions", values="estimate")
    assert (wide["kept"] < wide["removed"]).all()  # the planted conditions differ


def test_participants_with_few_conversations_are_left_out(study, tables):
    table = tables["participants_share"]
    counts = study.conversations["participant"].value_counts()
    few = ground_truth(study.turns, study.conversations["conversation"]).notna().to_numpy()
    enough = study.conversations[few].groupby("participant").size()
    kept = study.conversations["participant"].map(enough).to_numpy() >= 4
    assert counts.min() < 4
    assert table.loc[2, "n"] == (kept & few).sum() < table.loc[1, "n"]


def test_the_same_turn_is_that_of_the_page_on_disruption(study, tables):
    page = failures.continuity_contrasts(study, bootstrap_of(study)).loc["same turn, Relational minus the others"]
    table = tables["continuity_contrast"]
    row = table[(table["moment"] == "same turn") & (table["failure"] == "at most 2") & (table["exclusions"] == "none")]
    assert len(row) == 1
    for name in ("estimate", "low", "high", "n"):
        assert row[name].item() == pytest.approx(page[name], abs=1e-9)


def test_context_by_frames(study, tables):
    """Every specification of complete cases, by regression on indicators of participants."""
    table = tables["context_share"]
    for number, choice in table.iterrows():
        frame = study.conversations[
            ["conversation", "participant", "condition", "topic", "importance", "desired_empathy"]
        ]
        turns = study.turns
        if choice["rating"].startswith("overall"):
            score = turns["overall"]
        else:
            score = turns[SEVEN].mean(axis=1, skipna=choice["missing"] == "ratings given")
        frame = frame.assign(y=frame["conversation"].map(score.groupby(turns["conversation"]).mean())).dropna(
            subset="y"
        )
        if choice["conditions"] == "removed":
            frame["y"] -= frame.groupby("condition")["y"].transform("mean")
        names = specifications.CONTEXTS[choice["context"]]
        columns = [
            pd.get_dummies(frame[name], dtype=float).iloc[:, 1:] if name == "topic" else frame[[name]] for name in names
        ]
        people = pd.get_dummies(frame["participant"], dtype=float).to_numpy()
        both = np.column_stack([people, *columns])
        rests, freedom = [], []
        for design in (people, both):
            fitted, _, rank, _ = np.linalg.lstsq(design, frame["y"].to_numpy(), rcond=None)
            rests.append(((frame["y"] - design @ fitted) ** 2).sum())
            freedom.append(len(frame) - rank)
        expected = 1 - rests[1] / freedom[1] / (rests[0] / freedom[0])
        assert choice["estimate"] == pytest.approx(expected, abs=1e-9), number


# Further findings


def kappa_by_frames(study, choice):
    turns = kept(study, choice).dropna(subset=["overall", "Affective"])
    if choice["turns"] == "that rate every dimension":
        turns = turns.dropna(subset=SEVEN)
    turns = turns[turns["conversation"].isin(conversations_of(study, choice)["conversation"])]
    return cohen_kappa_score(turns["Affective"], turns["overall"], weights=choice["weights"], labels=[1, 2, 3, 4, 5])


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


@pytest.mark.parametrize(
    ("headline", "by_frames"),
    [
        ("kappa_affective", kappa_by_frames),
        ("empathy_satisfaction", experience_by_frames),
    ],
)
def test_further_specifications_equal_those_of_other_libraries(study, tables, headline, by_frames):
    table = tables[headline]
    expected = [by_frames(study, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-9)
    assert table["estimate"].nunique() > 3


def test_the_first_of_the_further_specifications_is_that_of_its_page(study, tables):
    bootstrap = bootstrap_of(study)
    pages = {
        "kappa_affective": agreement.agreement_with_overall(study, bootstrap).loc["Affective"],
        "empathy_satisfaction": outcomes.empathy_and_experience(study, bootstrap).loc["all four together"],
    }
    for headline, page in pages.items():
        first = tables[headline].loc[1]
        for name in ("estimate", "low", "high", "n", "unit"):
            assert first[name] == page[name], (headline, name)


def test_conversations_with_incomplete_ratings_count_only_where_those_given_do(study):
    holes = study.conversations.copy()
    holes.loc[holes.index % 3 == 0, "post_Affective"] = np.nan
    holes.loc[holes.index % 5 == 0, "use_again"] = np.nan
    some = type(study)(**(vars(study) | {"conversations": holes}))
    table = headlines.multiverse(some, bootstrap_of(some, 5), "empathy_satisfaction")
    expected = [experience_by_frames(some, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-9)
    assert table.groupby("missing")["n"].max().nunique() == 2


DEGENERATE = {
    "one condition": {"tasks": {"Model": "only"}},
    "no condition": {"tasks": {"Model": None}},
    "one participant": {"tasks": {"PID": "P1"}, "participants": None},
    "no overall rating": {"messages": {"EmpathyOverall": None}},
    "a dimension never rated": {"messages": {"Relational": None}},
    "a constant dimension": {"messages": {"Affective": [None, "good"] * 8}},
    "constant ratings": {"messages": {name: [None, "good"] * 8 for name in ("EmpathyOverall", *SEVEN)}},
    "no ratings after the conversation": {"tasks": {f"PostTaskEmpathy_{name}": None for name in SEVEN}},
    "three conversations": {"conversations": 3},
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("headline", headlines.IN_STUDIES)
def test_what_cannot_be_computed_says_why(minimal_sheets, case, headline):
    study = parse_sheets(minimal_sheets(**DEGENERATE[case]))
    table = headlines.multiverse(study, bootstrap_of(study, 20), headline)
    unknown = table["estimate"].isna()
    assert (table.loc[unknown, "reason"] != "").all()
    assert table.loc[unknown, ["low", "high"]].isna().all(axis=None)
    assert (table.loc[table["low"].isna(), "reason"] != "").all()
    summary = headlines.summary(table, headline)
    assert (summary.loc[summary["estimate"].isna(), "reason"] != "").all()
    shown = specification_curve(table, name=headline, caption="n")
    assert isinstance(shown, Sentence if unknown.all() else SpecificationCurve)
    assert "nan" not in shown._repr_html_().casefold().replace("dominant", "")


@pytest.mark.parametrize("silent", [0, 1], ids=["the best", "the worst"])
def test_a_condition_without_a_score_is_the_reason(minimal_sheets, silent):
    study = parse_sheets(minimal_sheets(messages={"Affective": [None, "good"] * 4 + [None, "poor"] * 4}))
    condition = headlines.best_and_worst(study)[silent]
    study.turns.loc[study.turns["condition"] == condition, "overall"] = np.nan
    table = headlines.multiverse(study, bootstrap_of(study, 20), "condition_difference")
    without = table[table["score"] == "overall rating"]
    assert len(without)
    assert set(without["reason"]) == {"under this specification one of the two conditions has no turn with a score"}


def test_conditions_are_extremes_by_ground_truth(study):
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    means = pd.Series(truth).groupby(study.conversations["condition"].to_numpy()).mean()
    assert headlines.best_and_worst(study) == (means.idxmax(), means.idxmin())


def test_equal_conditions_are_two_all_the_same(minimal_sheets):
    study = parse_sheets(minimal_sheets())
    assert headlines.best_and_worst(study) == ("plain", "plain-empathy")
