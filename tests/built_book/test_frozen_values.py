"""No recorded value of the synthetic edition moves unnoticed: scripts/freeze_values.py writes what is compared here."""

import json

import pytest
from scripts import freeze_values

KINDS = ("estimate", "low", "high", "n")


def test_every_value_is_the_frozen_one(synthetic):
    wanted = json.loads(freeze_values.FROZEN.read_text("utf-8"))
    found = freeze_values.frozen(synthetic.folder)
    assert found.keys() == wanted.keys()
    # Sums of other processors and libraries differ in the last digits.
    moved = {
        key: (found[key], wanted[key])
        for key in wanted
        if any(found[key][kind] != pytest.approx(wanted[key][kind], rel=1e-7, abs=1e-9) for kind in KINDS)
    }
    assert moved == {}
