"""Failures of continuity: against loops, on planted losses, on copies, and where there are none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import disrupted
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


def study_of(conversations, turns):
    return Study("made up", conversations, pd.DataFrame(), turns, None, pd.DataFrame())


def made(seed=1, conversations=60, people=12, longest=8):
    """Ratings with holes; the overall rating follows the dimensions, the outcome the overall ratings."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(conversations):
        for turn in range(1, generator.integers(1, longest + 1) + 1):
            quality = generator.normal(3, 1)
            given = [round(np.clip(quality + generator.normal(0, 0.7), 1, 5)) for _ in range(8)]
            rated = [level if generator.random() < 0.8 else np.nan for level in given]
            rows.append((f"C{number}", f"P{number % people}", turn, *rated))
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall", *DIMENSION_NAMES])
    frame = turns[["conversation", "participant"]].drop_duplicates().reset_index(drop=True)
    for name in DIMENSION_NAMES:
        frame[f"post_{name}"] = generator.integers(1, 6, size=len(frame)).astype(float)
    return study_of(frame, turns)


def bootstrap_of(study, draws=50, seed=1):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=seed)


def losses_and_failures_by_loop(turns, moment):
    """(loss, failures of the seven dimensions) of each turn that can be compared, turn by turn."""
    found = []
    for _, group in turns.groupby("conversation"):
        dimensions = group[list(DIMENSION_NAMES)]
        rating = group["overall"] if moment == "same" else dimensions.mean(axis=1)
        level = dict(zip(group["turn"], rating, strict=True))
        for turn, given in zip(group["turn"], dimensions.to_numpy(), strict=True):
            outcome = level[turn] if moment == "same" else level.get(turn + 1, np.nan)
            others = [y for at, y in level.items() if at not in (turn, turn + 1) and not np.isnan(y)]
            if not np.isnan(outcome) and others:
                found.append((np.mean(others) - outcome, given <= 2))
    return found


@pytest.mark.parametrize("moment", ["same", "next"])
def test_contrasts_of_continuity_are_those_of_statsmodels_on_a_loop(moment):
    study = made(seed=8)
    table = disrupted.continuity_contrasts(study, bootstrap_of(study))
    found = losses_and_failures_by_loop(study.turns, moment)
    failed = np.array([which for _, which in found], dtype=float)
    fit = sm.OLS([loss for loss, _ in found], sm.add_constant(failed)).fit().params
    own, others = fit[7], fit[1:7].mean()
    assert list(DIMENSION_NAMES).index("Relational") == 6
    expected = [own - others, own, others]
    rows = table.loc[[name for name in table.index if name.startswith(moment)]]
    np.testing.assert_allclose(rows["estimate"], expected[: len(rows)], atol=1e-10)
    counts = [failed[:, 6].sum(), failed[:, 6].sum(), failed[:, :6].any(axis=1).sum()]
    assert rows["n"].tolist() == counts[: len(rows)]


def planted(loss, seed, generic=0.0, conversations=1500, length=9):
    """Turns that lose so much after a failure of Relational, and so much after any low turn; all else is chance."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(conversations):
        before = 0.0
        for turn in range(1, length + 1):
            common, own = generator.normal(size=2)
            level = 3.6 - before + 0.7 * common
            rated = np.repeat(level, 7) + 0.3 * generator.normal(size=7)
            rated[-1] += 0.6 * own
            rated = rated.round().clip(1, 5)
            before = loss * (rated[-1] <= 2) - generic * min(common, 0)
            rows.append((f"C{number}", f"P{number % 150}", turn, round(rated[:6].mean()), *rated))
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall", *DIMENSION_NAMES])
    frame = turns[["conversation", "participant"]].drop_duplicates().reset_index(drop=True)
    return study_of(frame, turns)


# Where there is nothing to compute


def reasons_of_contrasts(study):
    table = disrupted.continuity_contrasts(study, bootstrap_of(study))
    assert table["estimate"].isna().all()
    return table["reason"].tolist()


def test_contrasts_of_continuity_say_what_is_missing(minimal_sheets, workbooks):
    none = "0 failures of Relational with what it can be compared with: too few"
    assert reasons_of_contrasts(parse_sheets(minimal_sheets())) == [none] * 4
    alone = {"Relational": [None, "poor", None, "poor", None, "good", None, "good"] * 4}
    only = disrupted.continuity_contrasts(
        study := parse_sheets(minimal_sheets(messages=alone, turns=4)), bootstrap_of(study)
    )
    assert set(only["reason"]) == {"no other dimension failed often enough"}
    never = ["the overall rating was never given in this data set"]
    never += ["Relational was never rated in this data set"] * 3
    assert reasons_of_contrasts(read_workbook(workbooks["ieval"])) == never


def test_dimensions_that_always_fail_together_cannot_be_distinguished(minimal_sheets):
    poor = [None, "poor", None, "poor", None, "good", None, "good"] * 4
    study = parse_sheets(minimal_sheets(messages={"Relational": poor, "Affective": poor, "Cognitive": poor}, turns=4))
    table = disrupted.continuity_contrasts(study, bootstrap_of(study))
    assert set(table["reason"]) == {"the failures of the dimensions cannot be distinguished"}
