"""Ratings after a conversation that repeat those of its turns are no judgment of the whole."""

import numpy as np
import pytest

from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import ground_truth, measures, poor_turn, reliability, robustness
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.xlsx import Sheet

WORDS = ["very poor", "poor", "neutral", "good", "very good"]


def rated_once(where):
    """Sixty conversations whose ratings after them are those of some of their turns; ``where`` says of which."""
    generator = np.random.default_rng(4)
    rated = ["EmpathyOverall", *DIMENSION_NAMES]
    tasks = [["PID", "Model", "TaskId", *(f"PostTaskEmpathy_{name}" for name in DIMENSION_NAMES)]]
    messages = [["TaskId", "MessageId", "Role", *rated]]
    for number in range(60):
        levels = generator.integers(1, 6, (3, 8))
        if where == "every turn":
            levels[:] = levels[0]
        after = {
            "only turn": levels[2, 1:],
            "every turn": levels[0, 1:],
            "first turn": levels[0, 1:],
            "last turn": levels[2, 1:],
            "lowest": levels[:, 1:].min(axis=0),
            "another rating": generator.integers(1, 6, 7),
        }[where]
        tasks.append([f"P{number // 3}", "a", f"T{number}", *map(float, after)])
        for turn in range(3):
            words = [WORDS[level - 1] for level in levels[turn]]
            if where == "only turn" and turn < 2:
                words = [None] * 8
            messages.append([f"T{number}", 2.0 * turn + 1, "user", *[None] * 8])
            messages.append([f"T{number}", 2.0 * turn + 2, "assistant", *words])
    sheets = {"Tasks": Sheet("Tasks", tasks[0], tasks[1:])}
    sheets["Messages"] = Sheet("Messages", messages[0], messages[1:])
    return parse_sheets(sheets)


OTHERS = ["only turn", "every turn", "first turn", "lowest"]


@pytest.mark.parametrize("where", OTHERS)
def test_ratings_that_repeat_those_of_turns_are_told(where):
    assert why_no_judgment_of_the_whole(rated_once(where))


@pytest.mark.parametrize(
    "where", ["last turn", *(pytest.param(where, marks=pytest.mark.long) for where in OTHERS)]
)
def test_what_asks_for_a_judgment_of_the_whole_has_no_number_where_there_is_none(where):
    study = rated_once(where)
    bootstrap = bootstrap_of(study)
    effects = poor_turn.poor_turn_effects(study, bootstrap).iloc[:6]
    turns, after = measures.turn_ratings(study), measures.post_task_ratings(study)
    repeated = why_no_judgment_of_the_whole(study)
    alphas = reliability.alpha_table(turns, after, bootstrap, repeated=repeated)
    refused = [
        *effects["reason"],
        *poor_turn.poor_turn_ladder(study, bootstrap)["reason"],
        *poor_turn.cross_validated_r2(study, bootstrap)["reason"],
        *robustness.multiverse(study, bootstrap, "poor_turn_d")["reason"],
        alphas.loc["after the conversation", "reason"],
        ground_truth.changed_labels(study, bootstrap)["reason"].iloc[-1],
    ]
    assert set(refused) == {repeated}
    assert effects["estimate"].isna().all()
    assert np.isfinite(alphas.loc["per turn, pairwise", "estimate"])


def test_a_few_differences_do_not_make_another_judgment():
    study = rated_once("last turn")
    study.conversations.loc[7, "post_Affective"] = 6 - study.conversations.loc[7, "post_Affective"]
    reason = poor_turn.poor_turn_effects(study, bootstrap_of(study))["reason"].iloc[0]
    assert reason == why_no_judgment_of_the_whole(study) != ""
