"""Poor turns: counts by definition, where there is nothing to compare, and models fitted one by one."""

import numpy as np
import pytest
import statsmodels.api as sm

from helpers import golden, naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import poor_turn
from sense7.statistics.estimates import estimate_row, estimate_table


@pytest.mark.parametrize(
    ("published", "held", "answer"),
    [(0.9, 2, "yes"), (1.15, 1, "yes"), (0.3, 0, "no"), (2.4, 1, "no")],
)
def test_the_definitions_whose_interval_holds_the_published_value_are_counted(
    published, held, answer
):
    rows = {
        name: estimate_row(estimate, low, high, n=9, unit="Cohen's d", method="m")
        for name, estimate, low, high in (
            ("a", 1.0, 0.8, 1.2),
            ("b", 0.7, 0.5, 0.95),
            ("c", 2.0, np.nan, np.nan),
            (poor_turn.BY_TURNS[0], 2.3, 2.1, 2.5),  # counted, and left out of the rule
        )
    }
    verdict = poor_turn.published_in_grid(estimate_table(rows, "definition"), published)
    assert verdict["counts"]["estimate"].tolist() == [held, 0.7, 2.3]
    assert verdict["counts"]["n"].tolist() == [3, 4, 4]
    assert verdict["held"]["estimate"] == answer


def test_a_single_rated_turn_is_not_compared_with_itself(minimal_sheets):
    overall = [None, "poor", None, None] * 2 + [None, "good", None, None] * 2
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}))
    effects = poor_turn.poor_turn_effects(study, bootstrap_of(study)).set_index("key")
    assert np.isnan(effects.loc["poor_turn_d_overall", "estimate"])
    naming.check(effects.loc["poor_turn_d_overall", "reason"], "two turns")


def test_the_end_is_the_last_rated_turn(minimal_sheets):
    overall = [None, "poor", None, "good", None, "very good", None, None]
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall * 4}, turns=4))
    first = poor_turn.turn_summaries(study).iloc[0]
    assert first[[*poor_turn.PREDICTORS, "rated"]].tolist() == pytest.approx([11 / 3, 2, 5, 5, 3])


def test_cross_validation_equals_models_fitted_one_by_one():
    study = golden.study()
    bootstrap, frame = bootstrap_of(study), poor_turn.turn_summaries(study)
    people = sorted(frame["participant"].unique())
    fold = np.random.default_rng(bootstrap.seed).permutation(
        np.arange(len(people)) % poor_turn.FOLDS
    )
    row_fold = frame["participant"].map(dict(zip(people, fold, strict=True)))

    def predicted(*chosen):
        errors = null = 0.0
        for number in range(poor_turn.FOLDS):
            train, test = frame[row_fold != number], frame[row_fold == number]
            fit = sm.OLS(train["outcome"], sm.add_constant(train[list(chosen)])).fit()
            errors += (
                (test["outcome"] - fit.predict(sm.add_constant(test[list(chosen)]))) ** 2
            ).sum()
            null += ((test["outcome"] - train["outcome"].mean()) ** 2).sum()
        return 1 - errors / null

    mean = predicted("mean")
    expected = [mean, predicted("peak", "end"), predicted(*poor_turn.PREDICTORS) - mean]
    np.testing.assert_allclose(
        poor_turn.cross_validated_r2(study, bootstrap)["estimate"], expected, atol=1e-9
    )
