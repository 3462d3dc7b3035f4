"""Intraclass correlations where the mean squares that others divide by are zero."""

import numpy as np
import pytest

import sense7 as s7


@pytest.mark.parametrize(
    ("table", "perfect"),
    [
        ([[1, 1], [3, 3], [5, 5]], ("ICC1", "ICC2", "ICC3")),
        ([[1 / 3] * 3, [0.1] * 3, [2 / 3] * 3], ("ICC1", "ICC2", "ICC3")),
        ([[1, 2], [3, 4], [4, 5]], ("ICC3",)),
        ([[0.1, 0.2], [0.3, 0.4]], ("ICC3",)),
    ],
)
def test_perfect_agreement_is_1_with_its_limits(table, perfect):
    found = s7.icc(np.array(table, dtype=float))
    assert np.isfinite(found.to_numpy()).all()
    for name in perfect:
        assert found.loc[[name, f"{name}k"]].to_numpy() == pytest.approx(1, abs=1e-12)
    others = [name for name in ("ICC1", "ICC2", "ICC3") if name not in perfect]
    assert (found.loc[others, "estimate"] < 0.99).all()


@pytest.mark.parametrize("level", [3.0, 0.1])
def test_nothing_is_defined_where_nothing_varies(level):
    assert s7.icc(np.full((5, 3), level)).isna().all(axis=None)
