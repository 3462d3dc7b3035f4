"""The names of ``import sense7 as s7``: found by those who look for them, suggested to those who misspell them."""

import re
import subprocess
import sys

import pytest

import sense7 as s7


@pytest.mark.parametrize(
    ("short", "thing"),
    [
        ("icc", lambda: s7.rater_agreement.intraclass_correlations),
        ("omega", lambda: s7.factor.omega_total),
        ("cohens_kappa", lambda: s7.rater_agreement.weighted_kappa),
        ("cohens_d", lambda: s7.effect_size.cohens_d),
        ("holm", lambda: s7.estimates.holm),
    ],
)
def test_a_statistic_is_found_under_the_name_by_which_it_is_looked_for(short, thing):
    assert getattr(s7, short) is thing()
    assert short in dir(s7)


def test_every_listed_name_is_there():
    assert set(s7.__all__) <= set(dir(s7))
    for name in dir(s7):
        assert hasattr(s7, name), name


@pytest.mark.parametrize(("misspelt", "meant"), [("relaibility", "reliability"), ("Alpha", "alpha"), ("laod", "load")])
def test_what_was_meant_is_said_of_a_misspelt_name(misspelt, meant):
    with pytest.raises(AttributeError, match=rf"no attribute '{misspelt}'\. Did you mean {meant}\?$"):
        getattr(s7, misspelt)


def test_a_name_like_no_other_leads_to_the_list():
    with pytest.raises(AttributeError, match=re.escape("'qqqq'. dir(sense7) lists those it has.")):
        _ = s7.qqqq
    assert not hasattr(s7, "__wrapped__")


def test_the_command_line_starts_without_the_heavy_libraries():
    heavy = {"pandas", "numpy", "matplotlib", "scipy", "seaborn", "statsmodels", "papermill", "sphinx", "xlsxwriter"}
    code = f"import sys, sense7.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
