"""No recorded value of the synthetic edition moves unnoticed: scripts/freeze_values.py writes what is compared here."""

import json

import pytest
from scripts import freeze_values


def test_every_value_is_the_frozen_one(synthetic):
    wanted = json.loads(freeze_values.FROZEN.read_text("utf-8"))
    found = freeze_values.frozen(synthetic.folder)
    assert found.keys() == wanted.keys()
    assert {key: (found[key], wanted[key]) for key in wanted if not same(found[key], wanted[key])} == {}


def same(one, other):
    """Sums of other processors and libraries differ in the last digits."""
    for kind in ("estimate", "low", "high", "n"):
        if isinstance(other[kind], float) and isinstance(one[kind], float):
            if one[kind] != pytest.approx(other[kind], rel=1e-7, abs=1e-9):
                return False
        elif one[kind] != other[kind]:
            return False
    return True
