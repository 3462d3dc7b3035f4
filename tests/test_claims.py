"""The ledger: no verdict says more than the data allow."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sense7 import claims
from sense7.errors import UserError
from sense7.implied import ImpliedTruth
from sense7.sources import SOURCES, Provenance
from sense7.sources.released import RELEASED

CLAIMS = Path(__file__).resolve().parents[1] / "data" / "claims.yml"
ALPHA = claims.Claim(
    id="alpha_turn",
    title="Alpha",
    kind="figure",
    value=0.961,
    unit="alpha",
    grade="D",
    source="notes",
    needs="the official workbook",
    notebook="03-reliability",
    key="alpha_turn",
    compare={"within": 0.005, "reason": "the full set"},
)
COUNT = replace(
    ALPHA,
    id="participants",
    value=109,
    unit="participants",
    grade="A",
    key="participants",
    compare={"at_most": 109, "reason": "the release may hold fewer"},
)


def provenance(kind="official", mirror=False, address=SOURCES["official"].address, changed=False):
    digest = "a" * 64
    return Provenance(
        kind=kind,
        name=kind,
        file=f"{kind}.xlsx",
        address=address if kind == "official" else None,
        fetched="2026-01-01T00:00:00+00:00",
        sha256=digest,
        size=1,
        mirror=mirror,
        found="b" * 64 if changed else digest,
    )


def recorded(estimate, low=None, high=None, reason=None, key="alpha_turn"):
    return {
        key: {
            "key": key,
            "estimate": estimate,
            "low": low,
            "high": high,
            "n": 100,
            "unit": "alpha",
            "method": "pairwise",
            "reason": reason,
            "notebook": "03-reliability",
            "cell": 5,
        }
    }


def truth(value, tuned=False, key="alpha_turn", kind="implied"):
    return {"planted": [{"key": key, "value": value, "tuned": tuned, "kind": kind}]}


def verdict(values, where, known=None, claim=ALPHA):
    (row,) = claims.make_ledger([claim], values, where, known)
    return row


def other(table="judged_conversations", **changes):
    """A claim about another work, compared with the table that this work released."""
    claim = replace(ALPHA, of=RELEASED[table].work, release=[table], needs="its released ratings", grade="B")
    return replace(claim, **changes)


RESTS_ON = {"03-reliability": ["judged_conversations"]}


def verdict_on_other(claim, values, where, rests_on=RESTS_ON, known=None):
    (row,) = claims.make_ledger([claim], values, where, known, rests_on)
    return row


# What each kind of data can say ---------------------------------------------------------


@pytest.mark.parametrize(
    ("estimate", "said"), [(0.961, "reproduced"), (0.966, "reproduced"), (0.9661, "differs"), (0.95, "differs")]
)
def test_the_verified_official_workbook_reproduces_or_differs(estimate, said):
    row = verdict(recorded(estimate, 0.9, 0.99), provenance())
    assert row.verdict == said
    assert "within 0.005 (the full set)" in row.why


def test_a_count_that_was_planted_is_found_by_construction():
    known = truth(109, key="participants", kind="count")
    for estimate, said, why in (
        (109, "by construction", "109 (planted) was found"),
        (108, "missed", "109 (planted) was not found"),
    ):
        row = verdict(recorded(estimate, key="participants"), provenance("synthetic"), known, COUNT)
        assert (row.verdict, row.why) == (said, why)
        assert (row.claim, row.truth, row.precision) == (COUNT, 109, None)


@pytest.mark.parametrize(
    ("low", "high", "said", "precision"),
    [
        (0.75, 1.25, "recovered", 0.25),
        (0.76, 1.25, "recovered", 0.245),
        (0.74, 1.25, "consistent", 0.255),
        (1.0, 1.5, "recovered", 0.25),
        (0.5, 1.0, "recovered", 0.25),
        (-1.0, 3.0, "consistent", 2.0),
        (1.01, 1.02, "missed", 0.005),
        (-3.0, 0.9, "missed", 1.95),
    ],
)
def test_a_truth_inside_a_wide_interval_is_consistent_and_no_more(low, high, said, precision):
    """Recovered excludes no effect, and half the effect, wherever the truth is inside the interval."""
    for sign in (1, -1):
        limits = sorted((sign * low, sign * high))
        row = verdict(recorded(sum(limits) / 2, *limits), provenance("synthetic"), truth(float(sign)))
        assert row.verdict == said
        assert row.precision == pytest.approx(precision)
        if said == "recovered":
            assert min(map(abs, limits)) >= 0.5 - 1e-9
            assert max(map(abs, limits)) <= 1.5 + 1e-9


def test_a_truth_of_zero_has_no_precision_and_is_consistent_at_most():
    row = verdict(recorded(0.01, -0.02, 0.03), provenance("synthetic"), truth(0.0))
    assert (row.verdict, row.precision) == ("consistent", None)
    assert row.why.startswith("0.000 (implied, by independent code) lies inside the interval; its precision can't be")
    assert verdict(recorded(0.02, 0.01, 0.03), provenance("synthetic"), truth(0.0)).verdict == "missed"


OWN = ImpliedTruth(0.95, 0.001, 0.01, 200, "the companion's statistics, 200 studies")


def simulated(values, claim=ALPHA, known=None, implied=OWN):
    implied = {} if implied is None else {"alpha_turn": implied}
    (row,) = claims.make_ledger([claim], values, provenance("synthetic"), known, implied=implied)
    return row


def test_what_the_truth_file_lacks_is_compared_with_the_mean_over_simulated_studies():
    row = simulated(recorded(0.94, 0.93, 0.96))
    assert (row.verdict, row.truth, row.tuned) == ("recovered", 0.95, False)
    assert row.why == (
        "0.950 (implied, by the companion's statistics, 200 studies) lies inside the interval; precision 1.6%"
    )
    assert simulated(recorded(0.94, 0.93, 0.96), known=truth(0.97)).truth == 0.97, "independent code comes first"


@pytest.mark.parametrize(("estimate", "said"), [(0.969, "consistent"), (0.971, "missed"), (0.929, "missed")])
def test_a_value_without_an_interval_is_compared_by_its_spread_over_simulated_studies(estimate, said):
    assert simulated(recorded(estimate)).verdict == said
    assert simulated(recorded(estimate), implied=replace(OWN, sd=None)).verdict == "not comparable"
    assert simulated(recorded(estimate), implied=replace(OWN, sd=0.0)).verdict == "not comparable"


def test_a_p_value_has_no_truth_and_is_judged_by_its_rule():
    values = recorded(0.003)
    values["alpha_turn"]["unit"] = "p value"
    row = simulated(values, SIGNIFICANT)
    assert row.verdict == "not comparable"
    assert row.why == "a p value has no truth that could be stated; see its rule"
    assert (row.rule["passed"], row.rule["mark"], row.check) == (True, "passed by these data", None)
    assert row.rule["asks"] == "The p value of the value has to be at most 0.05."


def test_on_simulated_data_a_rule_that_states_an_effect_is_passed_or_not_apart_from_recovery():
    wide = recorded(0.3, -0.1, 0.9)
    row = simulated(wide, BEYOND, truth(0.5))
    assert (row.verdict, row.rule["mark"]) == ("consistent", "not passed by these data")
    assert row.rule["asks"] == "The whole interval of the value has to lie above 0.100."
    assert row.check["says"] == "The interval contains 0.500, which follows from the simulation."
    planted = simulated(wide, BEYOND, truth(0.5, kind="parameter"))
    assert planted.check["says"] == "The interval contains 0.500, which was put into the simulation."
    assert simulated(recorded(0.9, 0.8, 0.95), BEYOND, truth(0.5)).rule["passed"]
    unknown = simulated(recorded("a"), FLAG, truth("a"))
    assert (unknown.rule["passed"], unknown.rule["why"]) == (None, "is highest: not recorded here")
    assert unknown.rule["mark"] == "can't be decided by these data"
    assert (unknown.check["passed"], unknown.check["mark"]) == (True, "found again")
    missed = simulated(recorded(0.3, 0.2, 0.4), BEYOND, truth(0.5))
    assert (missed.rule["passed"], missed.check["passed"]) == (True, False), "the two marks are apart"


def test_the_same_rule_is_applied_to_ratings_of_other_people():
    claim = replace(BEYOND, elsewhere={"key": "ieval_alpha", "study": "iEval"})
    values = recorded(0.3, 0.2, 0.9) | recorded(0.05, 0.01, 0.09, key="ieval_alpha")
    row = simulated(values, claim, truth(0.5))
    assert (row.rule["passed"], row.elsewhere["passed"]) == (True, False)
    assert row.elsewhere["value"]["estimate"] == 0.05
    assert simulated(recorded(0.3, 0.2, 0.9), claim, truth(0.5)).elsewhere is None


def test_a_rule_that_no_simulated_study_passes_is_not_failed_but_undecided():
    where, values = provenance("own"), recorded(0.3, -0.1, 0.9)
    rates = {"alpha_turn": {"planted": {"passed": 0, "studies": 200}, "null": {"passed": 0, "studies": 200}}}
    (row,) = claims.make_ledger([BEYOND], values, where, None, rates=rates)
    assert (row.rule["passed"], row.rule["mark"]) == (None, "can't be decided by this design")
    rates["alpha_turn"]["planted"]["passed"] = 56
    (row,) = claims.make_ledger([BEYOND], values, where, None, rates=rates)
    assert (row.rule["passed"], row.rule["power"], row.rule["null"]) == (False, 0.28, 0)


@pytest.mark.parametrize("where", [provenance("own"), provenance("third-party"), provenance(mirror=True)])
def test_data_that_cannot_be_compared_are_still_held_against_a_rule_that_states_an_effect(where):
    row = verdict(recorded(-0.2, -0.3, -0.1), where, claim=BEYOND)
    assert (row.verdict, row.rule["passed"]) == ("not comparable", False)
    assert verdict(recorded(0.961, 0.9, 0.99, key=ALPHA.key), where).rule["passed"] is None, "nearness is no rule"


FLAG = replace(ALPHA, value=None, compare={"flag": "is_highest", "reason": "names"})
SIGN = replace(ALPHA, value=None, compare={"sign": "either", "reason": "stated in words"})
POSITIVE = replace(SIGN, compare=SIGN.compare | {"sign": "positive"})
ABOVE = replace(ALPHA, value=0.85, compare={"above": 0.85, "reason": "published as r > .85"})
WHEN = replace(ALPHA, compare=ALPHA.compare | {"when": "made_alike"})
EXACT = replace(ALPHA, compare={"within": 0, "reason": "a count"})


@pytest.mark.parametrize(
    ("claim", "values", "where", "known", "said"),
    [
        (replace(ALPHA, key=None, why_not="in words"), {}, "official", None, "cannot be computed here: in words"),
        (ALPHA, {}, "official", None, "cannot be computed here: no notebook of this edition recorded alpha_turn"),
        (ALPHA, recorded(None, reason="never asked"), "own", None, "cannot be computed here: never asked"),
        (ALPHA, recorded(0.9), "own", None, "not comparable: the data are not the SENSE-7 release"),
        (ALPHA, recorded(0.9), "mirror", None, "not comparable: an unverified copy"),
        (ALPHA, recorded(0.9), "synthetic", None, "not comparable: synthetic data without a truth"),
        (ALPHA, recorded(0.9), "synthetic", truth(0.95), "not comparable: there is no interval"),
        (ALPHA, recorded(0.9, 0.8731, 0.93), "synthetic", truth(0.8729), "missed: 0.8729 (implied, by independent"),
        (
            ALPHA,
            recorded(0.9, 0.8, 0.96),
            "synthetic",
            truth(0.95),
            "recovered: 0.950 (implied, by independent code) l",
        ),
        (
            ALPHA,
            recorded(0.9, 0.8, 0.94),
            "synthetic",
            truth(0.95),
            "missed: 0.950 (implied, by independent code) lies",
        ),
        (ALPHA, recorded("a"), "synthetic", truth("a"), "recovered: a (implied, by independent code) was found"),
        (ALPHA, recorded("b"), "synthetic", truth("a"), "missed: a (implied, by independent code) was not found"),
        (
            replace(ALPHA, value=None, compare=None),
            recorded(0.9),
            "official",
            None,
            "not comparable: published in words",
        ),
        (WHEN, recorded(0.961), "official", None, "not comparable: not so here: made alike"),
        (
            WHEN,
            recorded(0.961) | recorded("yes", key="made_alike"),
            "official",
            None,
            "reproduced: agrees within 0.005",
        ),
        (SIGN, recorded(0.9), "official", None, "not comparable: there is no interval to tell the sign"),
        (
            SIGN,
            recorded(-0.9, -1, -0.8),
            "official",
            None,
            "reproduced: agrees in sign: the whole interval on one side",
        ),
        (SIGN, recorded(0.0, -1, 0.8), "official", None, "differs: does not agree in sign"),
        (POSITIVE, recorded(0.3, 0.1, 0.5), "official", None, "reproduced: agrees in sign"),
        (POSITIVE, recorded(0.3, 0.0, 0.5), "official", None, "differs: does not agree in sign"),
        (POSITIVE, recorded(-0.3, -0.5, -0.1), "official", None, "differs: does not agree in sign"),
        (FLAG, recorded("a") | recorded("yes", key="is_highest"), "official", None, "reproduced: agrees is highest (n"),
        (
            FLAG,
            recorded("a") | recorded("tie", key="is_highest"),
            "official",
            None,
            "differs: does not agree is highest",
        ),
        (FLAG, recorded("a"), "official", None, "not comparable: is highest: not recorded here"),
        (ABOVE, recorded(0.8501), "official", None, "reproduced: agrees above 0.850 (published as r > .85)"),
        (ABOVE, recorded(0.85), "official", None, "differs: does not agree above 0.850"),
        (COUNT, recorded(103, key="participants"), "official", None, "reproduced: agrees at most 109"),
        (COUNT, recorded(110, key="participants"), "official", None, "differs: does not agree at most 109"),
        (COUNT, recorded(0, key="participants"), "official", None, "differs: does not agree at most 109"),
        (EXACT, recorded(0.961), "official", None, "reproduced: agrees exactly (a count)"),
    ],
)
def test_every_row_keeps_its_claim_and_what_was_computed_and_says_why(claim, values, where, known, said):
    row = verdict(values, provenance(mirror=True) if where == "mirror" else provenance(where), known, claim)
    assert f"{row.verdict}: {row.why}".startswith(said)
    assert (row.claim, row.computed, row.tuned) == (claim, values.get(claim.key), False)
    assert row.truth == (known["planted"][0]["value"] if known else None)


@pytest.mark.parametrize("kind", ["official", "synthetic", "own", "mirror"])
@pytest.mark.parametrize(
    ("flag", "said"), [("yes", "possible as published"), ("no", "impossible as published"), (None, "not comparable")]
)
def test_a_check_of_published_figures_has_the_same_verdict_in_every_edition(kind, flag, said):
    claim = replace(FLAG, kind="check", value=109)
    values = recorded(192) | ({} if flag is None else recorded(flag, key="is_highest"))
    where = provenance(mirror=True) if kind == "mirror" else provenance(kind)
    row = verdict(values, where, truth(192), claim)
    assert (row.verdict, row.tuned, row.truth, row.check) == (said, False, None, None)
    assert row.rule["passed"] is {"yes": True, "no": False, None: None}[flag]


BEYOND = replace(ALPHA, value=None, compare={"beyond": 0.1, "reason": "a tenth"})
SIGNIFICANT = replace(ALPHA, value=None, compare={"significant": 0.05, "reason": "published as significant"})
COUNTS = replace(ALPHA, value=None, compare={"counts": 5, "reason": "each of five"})


@pytest.mark.parametrize(
    ("claim", "value", "said", "why"),
    [
        (BEYOND, (0.3, 0.11, 0.5), "reproduced", "agrees with the whole interval above 0.100 (a tenth)"),
        (BEYOND, (0.3, 0.1, 0.5), "differs", "does not agree with the whole interval above 0.100 (a tenth)"),
        (BEYOND, (0.3, 0.0, 0.5), "differs", "does not agree"),
        (BEYOND, (-0.3, -0.5, -0.2), "differs", "does not agree"),
        (BEYOND, (0.3, None, None), "not comparable", "there is no interval to tell the distance by"),
        (SIGNIFICANT, (0.05, None, None), "reproduced", "agrees at the level of significance 0.05 (published as"),
        (SIGNIFICANT, (0.0, None, None), "reproduced", "agrees"),
        (SIGNIFICANT, (0.0501, 0.0, 0.1), "differs", "does not agree at the level of significance 0.05"),
        (COUNTS, (5, None, None), "reproduced", "agrees with a count of 5 (each of five)"),
        (COUNTS, (5.0, None, None), "reproduced", "agrees"),
        (COUNTS, (4, None, None), "differs", "does not agree with a count of 5"),
    ],
)
def test_rules_that_an_effect_can_fail(claim, value, said, why):
    row = verdict(recorded(*value), provenance(), claim=claim)
    assert row.verdict == said
    assert row.why.startswith(why)


def test_every_rule_has_its_own_sentence():
    assert set(claims.RULES) == set(claims._APPLIED)
    values = recorded(0.961, 0.9, 0.99) | recorded("no", key="is_highest")
    rules = (ALPHA, COUNT, BEYOND, SIGNIFICANT, COUNTS, SIGN, FLAG, other(compare={"above": 0.961, "reason": "a"}))
    assert len({claims.apply_rule(claim, values)[1] for claim in rules}) == len(claims.RULES)


# Claims about other works


@pytest.mark.parametrize("kind", ["synthetic", "own", "third-party", "official"])
def test_a_claim_about_another_work_is_compared_with_its_released_numbers_in_every_edition(kind):
    known = truth(0.5, tuned=True)  # of the synthetic workbook, which has no part in it
    for estimate, said in ((0.961, "reproduced"), (0.95, "differs")):
        row = verdict_on_other(other(), recorded(estimate, 0.9, 0.99), provenance(kind), known=known)
        assert (row.verdict, row.tuned, row.truth) == (said, False, None)


@pytest.mark.parametrize(
    "rests_on",
    [{}, {"03-reliability": []}, {"03-reliability": ["ieval"]}, {"20-three-judges": ["judged_conversations"]}],
)
def test_it_is_not_compared_with_what_another_notebook_or_another_table_gave(rests_on):
    row = verdict_on_other(other(), recorded(0.961, 0.9, 0.99), provenance("synthetic"), rests_on)
    assert row.verdict == "not comparable"
    assert row.why == "not computed from the released table judged_conversations"


@pytest.mark.parametrize("where", [provenance("synthetic"), provenance("own"), provenance(mirror=True)])
def test_a_claim_about_sense_7_is_never_reproduced_from_released_numbers(where):
    """The tables that its notebook reads."""
    row = verdict_on_other(ALPHA, recorded(0.961, 0.9, 0.99), where)
    assert row.verdict not in {"reproduced", "differs"}


@pytest.mark.parametrize(
    ("of", "release", "said"),
    [
        (None, ["judged_conversations"], "the claim is of SENSE-7"),
        (
            "the follow-up paper on the same conversations (arXiv 2511.03143)",
            ["ieval"],
            "the claim is of the follow-up",
        ),
        (RELEASED["ieval"].work, ["judged_conversations"], "judged_conversations was released with Kumar"),
        (RELEASED["ieval"].work, ["sense7"], "there is no table 'sense7'"),
        (RELEASED["ieval"].work, "ieval", "is not of type 'array'"),
        (RELEASED["ieval"].work, [], "release: "),
    ],
)
def test_a_claim_names_only_tables_of_its_own_work(tmp_path, of, release, said):
    entry = yaml.safe_load(CLAIMS.read_text("utf-8"))[0] | {"release": release} | ({"of": of} if of else {})
    path = tmp_path / "claims.yml"
    path.write_text(yaml.safe_dump([entry]), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        claims.load_claims(path)


def test_a_row_is_written_whole():
    row = verdict(recorded(0.961, 0.94, 0.97), provenance("synthetic"), truth(0.95, tuned=True))
    written = row.to_dict()
    names = ["id", "published", "computed", "link", "verdict", "why", "tuned", "truth", "precision", "rule"]
    names += ["check", "elsewhere"]
    assert list(written) == names
    assert written["precision"] == pytest.approx(0.015 / 0.95)
    assert (written["rule"], written["check"]) == (row.rule, row.check)
    assert written["published"]["shown"] == "0.961"
    assert (written["published"]["title"], written["published"]["grade"]) == ("Alpha", "D")
    assert "id" not in written["published"]
    assert written["computed"] == recorded(0.961, 0.94, 0.97)["alpha_turn"]
    assert (written["id"], written["verdict"], written["why"]) == ("alpha_turn", "recovered", row.why)
    assert (written["tuned"], written["truth"]) == (True, 0.95)
    assert written["link"] == "notebooks/03-reliability.html#cell-5"


def test_the_summary_counts_both_marks():
    rows = [
        verdict(recorded(0.961, 0.94, 0.97), provenance("synthetic"), truth(0.961, tuned=True)),
        verdict(recorded(0.9, 0.8, 0.94), provenance("synthetic"), truth(0.95)),
        verdict({}, provenance("synthetic")),
    ]
    assert [row.tuned for row in rows] == [True, False, False]
    assert claims.summarize(rows) == (
        "Ledger: claim's rule 3 can't be decided; check of the method: 1 of 2 true values found "
        "(1 with a truth tuned to a published figure)"
    )


# The claims file ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_claims():
    return {claim.id: claim for claim in claims.load_claims(CLAIMS)}


# Facts of the paper, typed here a second time on purpose: id -> value, grade.
PUBLISHED = {
    "conversations_total": (695, "A"), "participants": (109, "A"), "conversations_released": (672, "A"),
    "dimensions": (7, "A"), "levels": (5, "A"), "llm_conditions": (4, "C"), "judge_spearman": (0.369, "A"),
    "judge_accuracy": (0.487, "A"), "alpha_turn": (0.961, "D"), "alpha_post": (0.94, "D"), "poor_turn_d": (1.142, "D"),
    "importance_cognitive": (0.281, "D"), "importance_affective": (0.198, "D"), "importance_response": (0.193, "D"),
    "importance_rounding": (109, "D"),
    "relational_applicability": (0.381, "D"), "relational_very_poor": (0.022, "D"), "kappa_affective": (0.703, "D"),
    "kappa_relational": (0.541, "D"), "best_condition": (None, "D"), "tasks": (8, "A"),
    "expected_experienced_gap": (None, "A"), "empathy_satisfaction": (None, "C"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "grade"), [(name, *fact) for name, fact in PUBLISHED.items()])
def test_every_published_figure_is_there_with_its_grade(all_claims, name, value, grade):
    assert (all_claims[name].value, all_claims[name].grade) == (value, grade)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("alpha_post", "0.94"),
        ("relational_very_poor", "2.2%"),
        ("importance_cognitive", "28.1%"),
        ("participants", "109"),
        ("best_condition", "in words"),
        ("ieval_understood_appropriate_r", "above 0.85"),
    ],
)
def test_published_figures_keep_their_digits(all_claims, name, shown):
    assert all_claims[name].published == shown


def broken(change):
    """Text of the claims after a change; made when its test runs, not wherever tests are collected."""

    def text():
        entries = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
        change(entries)
        return yaml.safe_dump(entries)

    return text


NUMBER = {"number": "the value", "reason": "a"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (broken(lambda e: e[0].pop("grade")), "conversations_total: 'grade' is a required property"),
        (broken(lambda e: e[0].update(grade="E")), "conversations_total: grade: 'E' is not one of"),
        (broken(lambda e: e[0].update(colour="red")), "('colour' was unexpected)"),
        (broken(lambda e: e[0].update(value="many")), "value: 'many' is not of type 'number', 'null'"),
        (broken(lambda e: e[0].pop("why_not")), "conversations_total: 'why_not' is a required property"),
        (broken(lambda e: e[1].pop("compare")), "participants: 'compare' is a required property"),
        (broken(lambda e: e[1]["compare"].pop("reason")), "compare: 'reason' is a required property"),
        (broken(lambda e: e[1]["compare"].update(within=1)), "compare: more than one rule, or none"),
        (
            broken(lambda e: e[1].update(compare={"counts": 108, **NUMBER})),
            "counts is 108, and the published value 109",
        ),
        (
            broken(lambda e: e[1].update(value=None, compare={"sign": "either", "reason": "a"})),
            "'number' is a dependency",
        ),
        (broken(lambda e: e[1].update(kind="check")), "compare: 'flag' is a required property"),
        (
            broken(lambda e: e[1].update(no_effect={"judge": {"judge_signal": None}})),
            "no_effect: judge: judge_signal: None",
        ),
        (broken(lambda e: e[0].update(no_effect={"turn_sd": 0})), "'compare' is a required property"),
        (broken(lambda e: e.append(dict(e[0]))), "conversations_total stands more than once"),
        ("just text", "claims.yml: 'just text' is not of type 'array'"),
        ("- a", "claim 1: 'a' is not of type 'object'"),
        ("a: [", "can't be read"),
    ],
)
def test_a_broken_claims_file_is_refused_with_its_place(tmp_path, content, message):
    path = tmp_path / "claims.yml"
    path.write_text(content if isinstance(content, str) else content())
    with pytest.raises(UserError, match=r"claims\.yml") as error:
        claims.load_claims(path)
    assert message in str(error.value)
