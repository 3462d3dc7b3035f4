"""The ledger: no verdict says more than the data allow, and which truth is known of simulated data."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import naming
from helpers.judged import table_of
from helpers.studies import write_study
from sense7 import claims
from sense7.book.words import PROVENANCE, summaries
from sense7.expected import (
    PUT_IN_COUNTS,
    ExpectedValue,
    expected_values,
    is_set_to_published,
)
from sense7.judge.files import read_predictions
from sense7.loading import load
from sense7.sources import SOURCES, Provenance
from sense7.sources.provenance import write_record
from sense7.sources.released import RELEASED

DATA = Path(__file__).resolve().parents[1] / "data"
CLAIMS = DATA / "claims.yml"
ALPHA = claims.Claim(
    **{"id": "alpha_turn", "title": "Alpha", "kind": "figure", "value": 0.961, "unit": "alpha"},
    **{"grade": "D", "source": "notes", "needs": "the official workbook"},
    **{"notebook": "03-reliability", "key": "alpha_turn"},
    compare={"within": 0.005, "reason": "the full set"},
)
COUNT = replace(
    ALPHA,
    **{"id": "participants", "key": "participants", "unit": "participants", "grade": "A"},
    value=109,
    compare={"at_most": 109, "reason": "the release may hold fewer"},
)


def provenance(kind="official", mirror=False):
    digest = "a" * 64
    known = {"kind": kind, "name": kind, "file": f"{kind}.xlsx", "size": 1, "mirror": mirror}
    known |= {"address": SOURCES["official"].address if kind == "official" else None}
    fetched = "2026-01-01T00:00:00+00:00"
    return Provenance(**known, fetched=fetched, sha256=digest, sha256_now=digest)


def recorded(estimate, low=None, high=None, reason=None, key="alpha_turn"):
    value = {"key": key, "estimate": estimate, "low": low, "high": high, "reason": reason}
    value |= {"n": 100, "unit": "alpha", "method": "pairwise"}
    return {key: value | {"notebook": "03-reliability", "cell": 5}}


def verdict(values, where, claim=ALPHA, expected=None, rests_on=None):
    expected = {claim.key: expected} if expected else {}
    (row,) = claims.make_ledger([claim], values, where, rests_on or {}, expected, {})
    return row


OTHER_WORK = RELEASED["judged_conversations"].work
OTHER = replace(ALPHA, of=OTHER_WORK, release=["judged_conversations"], grade="B")
"""A claim about another work, compared with the table that this work released."""

RESTS_ON = {"03-reliability": ["judged_conversations"]}


def simulated(values, claim=ALPHA, expected=None):
    return verdict(values, provenance("synthetic"), claim, expected)


def verdict_of_source(claim, values, where):
    source = provenance(mirror=True) if where == "mirror" else provenance(where)
    return verdict(values, source, claim)


WORDS = replace(ALPHA, value=None, compare=None)
SIGN = replace(
    ALPHA, value=None, compare={"sign": "negative", "number": "the value", "reason": "a"}
)
POSITIVE = replace(SIGN, compare=SIGN.compare | {"sign": "positive"})
ABOVE = replace(ALPHA, value=0.85, compare={"above": 0.85, "reason": "published as r > .85"})
FLAG = replace(
    ALPHA, value=None, compare={"flag": "is_highest", "number": "the prompt", "reason": "a"}
)
WHEN = replace(ALPHA, compare=ALPHA.compare | {"when": "made_alike"})
EXACT = replace(ALPHA, compare={"within": 0, "reason": "a count"})
BEYOND = replace(
    ALPHA, value=None, compare={"beyond": 0.1, "number": "the value", "reason": "a tenth"}
)
NOT_RELEASED = replace(ALPHA, key=None, not_released="by hand")
UNDECIDABLE = replace(BEYOND, no_rule="no unit")
COUNTS = replace(ALPHA, value=None, compare={"counts": 5, "number": "the value", "reason": "a"})
State = claims.State
PASSED, NOT = State.MET, State.NOT_MET
HIGHEST = recorded("a") | recorded("yes", key="is_highest")


def counted(number):
    return recorded(number, key="participants")


@pytest.mark.parametrize(
    ("claim", "values", "where", "expected"),
    [
        (ALPHA, recorded(0.961), "own", State.WAITING),
        (ALPHA, recorded(0.961), "third-party", State.WAITING),
        (ALPHA, recorded(0.961), "synthetic", State.REHEARSED),
        (WHEN, recorded(0.961) | recorded("yes", key="made_alike"), "official", PASSED),
        (ALPHA, recorded(0.966), "official", PASSED),
        (ALPHA, recorded(0.9661), "official", NOT),
        (EXACT, recorded(0.961), "official", PASSED),
        (COUNT, counted(103), "official", PASSED),
        (COUNT, counted(110), "official", NOT),
        (COUNT, counted(0), "official", NOT),
        (ABOVE, recorded(0.8501), "official", PASSED),
        (ABOVE, recorded(0.85), "official", NOT),
        (SIGN, recorded(-0.9, -1, -0.8), "official", PASSED),
        (SIGN, recorded(0.0, -1, 0.8), "official", NOT),
        (POSITIVE, recorded(0.3, 0.1, 0.5), "official", PASSED),
        (POSITIVE, recorded(0.3, 0.0, 0.5), "official", NOT),
        # Nor does what rounding leaves above zero.
        (POSITIVE, recorded(0.3, 0.1 + 0.2 - 0.3, 0.5), "official", NOT),
        (POSITIVE, recorded(-0.3, -0.5, -0.1), "official", NOT),
        (FLAG, HIGHEST, "official", PASSED),
        (FLAG, recorded("a") | recorded("tie", key="is_highest"), "official", NOT),
        (BEYOND, recorded(0.3, 0.11, 0.5), "official", PASSED),
        (BEYOND, recorded(0.3, 0.1, 0.5), "official", NOT),
        # In floating point the limit lies above 0.1.
        (BEYOND, recorded(0.3, 0.4 - 0.3, 0.5), "official", NOT),
        (BEYOND, recorded(-0.3, -0.5, -0.2), "official", NOT),
        (COUNTS, recorded(5.0), "official", PASSED),
        (COUNTS, recorded(4), "official", NOT),
        (BEYOND, recorded(0.3, 0.11, 0.5), "own", PASSED),
        (BEYOND, recorded(-0.2, -0.3, -0.1), "mirror", NOT),
        (BEYOND, recorded(0.3, 0.11, 0.5), "synthetic", State.REHEARSED),
    ],
)
def test_no_state_says_more_than_the_data_allow(claim, values, where, expected):
    row = verdict_of_source(claim, values, where)
    assert (row.state, row.why) == (expected, "")


@pytest.mark.parametrize(
    ("claim", "values", "where", "expected", "named"),
    [
        (NOT_RELEASED, {}, "official", State.UNRELEASED, "by hand"),
        (UNDECIDABLE, recorded(0.3, 0.2, 0.4), "own", State.NO_RULE, "no unit"),
        (ALPHA, {}, "official", State.UNDECIDED, "alpha_turn"),
        (ALPHA, recorded(None, reason="never asked"), "own", State.WAITING, "never asked"),
        (ALPHA, recorded(None, reason="never asked"), "official", State.UNDECIDED, "never asked"),
        (BEYOND, recorded(None, reason="never asked"), "own", State.UNDECIDED, "never asked"),
        (ALPHA, recorded(0.961), "mirror", State.WAITING, "official"),
        (WORDS, recorded(0.9), "official", State.NO_RULE, ""),
        (WHEN, recorded(0.961), "official", State.UNDECIDED, "made alike"),
        (SIGN, recorded(0.9), "official", State.UNDECIDED, ""),
        (FLAG, recorded("a"), "official", State.UNDECIDED, "is highest"),
        (BEYOND, recorded(0.3), "official", State.UNDECIDED, ""),
    ],
)
def test_why_a_state_says_no_more_stands_beside_it(claim, values, where, expected, named):
    row = verdict_of_source(claim, values, where)
    assert row.state == expected
    naming.check(row.why, named)


def test_a_rehearsal_says_what_is_expected_and_whether_the_interval_contains_it():
    """By interval; an estimate without one is only shown."""
    values = recorded(0.95, 0.94, 0.96)
    cases = {
        (0.94, 0): {"expected": 0.94, "is_put_in": True, "is_inside": True},
        (0.93, 0): {"expected": 0.93, "is_put_in": True, "is_inside": False},
        (0.95, 0.001): {"expected": 0.95, "is_put_in": False, "is_inside": True},
    }
    claim = replace(BEYOND, key="alpha")
    for (expected, error), rehearsal in cases.items():
        row = simulated(
            recorded(0.95, 0.94, 0.96, key="alpha"), claim, ExpectedValue(expected, error)
        )
        assert row.rehearsal == rehearsal | {"is_set": False}
    assert (
        simulated(recorded(0.95, key="alpha"), claim, ExpectedValue(0.9)).rehearsal["is_inside"]
        is None
    )
    assert simulated(values).rehearsal["expected"] is None
    assert verdict(values, provenance("own")).rehearsal is None


def test_values_set_to_published_ones_are_marked_in_every_simulated_study_and_in_no_other():
    """Also where nothing is expected: their agreement is no evidence there, either."""
    assert simulated(recorded(0.961, 0.95, 0.97)).rehearsal["is_set"]
    other_key = simulated(recorded(0.3, 0.2, 0.4, key="share"), replace(ALPHA, key="share"))
    assert not other_key.rehearsal["is_set"]
    for count in (109, 40):
        assert simulated(counted(count), COUNT).rehearsal["is_set"] is (count == 109)
    judge = replace(ALPHA, key="judge_spearman")
    for method, is_set in (("simulated judge: mean", True), ("a model: mean", False)):
        values = recorded(0.37, 0.3, 0.4, key="judge_spearman")
        values["judge_spearman"]["method"] = method
        assert simulated(values, judge).rehearsal["is_set"] is is_set


@pytest.mark.parametrize("kind", ["official", "synthetic", "own"])
@pytest.mark.parametrize(
    ("flag", "state"),
    [("yes", State.CONSISTENT), ("no", State.CONTRADICTION), (None, State.UNDECIDED)],
)
def test_a_check_of_published_figures_is_the_same_in_every_edition(kind, flag, state):
    claim = replace(FLAG, kind="check", value=109)
    values = recorded(192) | ({} if flag is None else recorded(flag, key="is_highest"))
    row = verdict(values, provenance(kind), claim, ExpectedValue(192))
    assert (row.state, row.rehearsal) == (state, None)


# Claims about other works


@pytest.mark.parametrize("kind", ["synthetic", "own", "third-party", "official"])
def test_a_claim_about_another_work_is_compared_with_its_released_numbers_in_every_edition(kind):
    expected = ExpectedValue(0.5)  # of the synthetic workbook, which has no part in it
    for estimate, mark in ((0.961, PASSED), (0.95, NOT)):
        values = recorded(estimate, 0.9, 0.99)
        row = verdict(values, provenance(kind), OTHER, expected, RESTS_ON)
        assert (row.state, row.why, row.rehearsal) == (mark, "", None)


@pytest.mark.parametrize(
    "rests_on",
    [
        {},
        {"03-reliability": []},
        {"03-reliability": ["ieval"]},
        {"15-three-judges": ["judged_conversations"]},
    ],
)
def test_it_is_not_compared_with_what_another_notebook_or_another_table_gave(rests_on):
    values = recorded(0.961, 0.9, 0.99)
    row = verdict(values, provenance("synthetic"), OTHER, rests_on=rests_on)
    assert (row.state, row.rehearsal) == (State.UNDECIDED, None)
    naming.check(row.why, "judged_conversations")


def test_the_summary_counts_free_values_and_names_those_that_were_set():
    share, other_share = replace(ALPHA, key="share"), replace(ALPHA, key="other")
    rows = [
        simulated(recorded(0.961, 0.94, 0.97), expected=ExpectedValue(0.961)),
        simulated(recorded(0.9, 0.8, 0.94, key="share"), share, ExpectedValue(0.95)),
        simulated(recorded(0.9, 0.8, 0.94, key="other"), other_share, ExpectedValue(0.93)),
        simulated({}),
    ]
    naming.check(summaries(rows)["verdicts"], "3 of 4", "Of the 2", ", 1 ", ": 1")


# "Reproduced" is for the authors' workbook alone


@pytest.mark.parametrize("record", [{}, {"mirror": True}, {"kind": "own"}], ids=str)
def test_only_the_authors_own_workbook_reproduces(record, minimal_sheets, tmp_path):
    """Each condition of its record: tests/sources/test_sources.py."""
    path = tmp_path / "official.xlsx"
    write_study(minimal_sheets(), path)
    fetched = {"kind": "official", "name": "official", "fetched": "2026-01-01T00:00:00Z"}
    fetched |= {"address": SOURCES["official"].address}
    write_record(path, replace(Provenance.of(path), **(fetched | record)))
    known = load(path).provenance
    state = verdict(counted(109), known, claim=COUNT).state
    assert state == (State.WAITING if record else State.MET)
    facts = {name: getattr(known, name) for name in ("kind", "verified", "label", "sha256")}
    facts |= {"fetched": known.fetched, "credit": "", "file": path.name}
    shown = PROVENANCE.banner(facts, False, "", False)
    assert ("Official SENSE-7 workbook" in shown) is known.verified
    assert known.verified is (not record)


# Published and expected figures, and what is simulated, are called so


def test_every_expected_value_near_a_published_one_is_named_as_set(all_claims):
    stored = json.loads((DATA / "truth.json").read_text("utf-8"))["values"]
    near = set()
    for claim in all_claims.values():
        entry = stored.get(claim.key)
        if entry and claim.value is not None:
            distance = abs(entry["value"] - claim.value)
            near |= {claim.key} if distance <= 0.05 * abs(claim.value) else set()
    near -= PUT_IN_COUNTS
    assert len(near) > 8
    for key in near:
        assert is_set_to_published({"key": key, "method": "simulated judge: mean"}), key


def test_the_shipped_predictions_are_marked_by_name_in_every_row_and_by_a_sheet():
    shipped = sorted((DATA / "synthetic_judge").glob("*"))
    assert len(shipped) == 10
    notes = set()
    for path in shipped:
        found = read_predictions(path)
        assert (found.judge, found.simulated) == ("simulated-judge", True)
        notes.add(found.marks["note"])
        table = table_of(path)
        assert set(table["model"]) == {"simulated-judge"}
        assert table["output"].str.contains("Simulated: ", regex=False).all()
        assert table[["chat", "prompt"]].isna().all(axis=None), "no text of a conversation"
    (note,) = notes
    assert note


# The claims file ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_claims():
    loaded = claims.load_claims(CLAIMS)
    assert len({claim.id for claim in loaded}) == len(loaded)
    return {claim.id: claim for claim in loaded}


PARAMETERS = {"participants": 109, "turn_sd": 0.55}
COMMON = {"parameters": PARAMETERS, "judge": {"judge_runs": 10}}
PUT_IN = {"alpha": (0.96, 0.002), "importance": (0.2, 0), "judge_spearman": (0.37, 0.002)}
TRUTH = COMMON | {
    "workbook_sha256": "0" * 64,
    "values": {key: {"value": value, "error": error} for key, (value, error) in PUT_IN.items()},
}
MEAN = {"mean": 0.5, "sd": 0.04, "error": 0.003, "studies": 200, "judge": False}
MEANS = {"alpha": MEAN | {"mean": 0.9}, "importance": MEAN | {"mean": 0.21}, "omega": MEAN}
EXPECTED = COMMON | {"values": MEANS | {"ceiling": MEAN | {"judge": True}, "judge_words": MEAN}}


@pytest.mark.parametrize("parameters", [PARAMETERS | {"turn_sd": 0.5}, {}, PARAMETERS | {"new": 1}])
def test_means_of_studies_with_other_parameters_do_not_hold(parameters):
    means = EXPECTED | {"parameters": parameters}
    values = expected_values(TRUTH, means, None)
    assert values.keys() == {"alpha", "importance"}
    assert {value.sd for value in values.values()} == {None}


@pytest.mark.parametrize(
    ("judge", "there"), [(COMMON["judge"], True), ({"judge_runs": 9}, False), (None, False)]
)
def test_values_of_a_judge_hold_for_the_simulated_judge_of_the_same_parameters(judge, there):
    """Nothing is expected of a real judge's predictions of a synthetic workbook."""
    values = expected_values(TRUTH, EXPECTED, judge)
    assert ("judge_spearman" in values, "ceiling" in values) == (there, there)
    assert "judge_words" in values


# Frozen rules

WORDS_OF_A_RULE = ("number", "reason")
FROZEN_RULES = Path(__file__).parent / "reference" / "frozen_rules.json"


def digest_of_rule(claim):
    """Digest of what decides a claim: the published value, where its number is recorded, and the rule without words."""
    rule = {name: value for name, value in claim.compare.items() if name not in WORDS_OF_A_RULE}
    decides = [claim.key, claim.value, rule, claim.release, None]  # a field that decided nothing
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]


def test_rules_are_frozen(all_claims):
    """A rule is not changed any more, since official ratings may have been seen. That of a new claim is added."""
    digests = {name: digest_of_rule(claim) for name, claim in all_claims.items() if claim.compare}
    assert digests == json.loads(FROZEN_RULES.read_text("utf-8"))
