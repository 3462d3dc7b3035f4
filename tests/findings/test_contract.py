"""What holds of every number that a finding declares, found by calling every finding: nothing here is a list of names.

Order of rows and names of people change nothing; the seed changes intervals alone; intervals are those of participants
copied out; few people have no interval; and where something is missing, a reason says what.
"""

import re
import uuid
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from helpers.findings import FINDINGS, MANY, arguments, numbers, rows_of
from helpers.studies import parse_sheets
from sense7.errors import UserError
from sense7.taxonomy import DIMENSION_NAMES, TASK_COLUMNS
from sense7.workbook.xlsx import read_sheets

WORKBOOK = Path(__file__).resolve().parents[2] / "data" / "synthetic.xlsx"
PEOPLE, DRAWS = 16, 40
RATINGS = {"EmpathyOverall", *DIMENSION_NAMES}
RANDOM = re.compile(
    r"\bfolds?\b|\bpermut|noise|simulat|bootstrap standard errors|share of resamplings|first of a participant in"
)
"""Words of the methods of what rests on folds, permutations, or simulated data: these follow the order of rows."""


# Studies


@cache
def sheets_of_some(seed):
    """Sheets of some synthetic participants, chosen by a seed, with some of their answers changed or left out."""
    generator, sheets = np.random.default_rng(seed), read_sheets(WORKBOOK)
    tasks = sheets["Tasks"]
    everybody = list(dict.fromkeys(tasks.column(tasks.header.index("PID"))))
    people = set(generator.choice(everybody, PEOPLE, replace=False))
    talks = {
        row[tasks.header.index("TaskId")]
        for row in tasks.rows
        if row[tasks.header.index("PID")] in people
    }
    kept, changed = {"PID": people, "TaskId": talks}, {}
    for name, sheet in sheets.items():
        key = next((header for header in ("TaskId", "PID") if header in sheet.header), None)
        rows = [
            list(row)
            for row in sheet.rows
            if key is None or row[sheet.header.index(key)] in kept[key]
        ]
        for place, header in enumerate(sheet.header):
            if header.startswith(("PostTask", "PreTask")) or header in RATINGS:
                filled = [row for row in rows if row[place] not in {None, ""}]
                for row in filled:
                    chance = generator.random()
                    if chance < 0.05:
                        row[place] = None
                    elif chance < 0.2:
                        row[place] = generator.choice(filled)[place]
        changed[name] = replace(sheet, rows=rows)
    return changed


def shuffled(sheets, seed, *, people_stay):
    """The same rows in another order; if so, people keep the order of their first rows."""
    generator, moved = np.random.default_rng(seed), {}
    for name, sheet in sheets.items():
        key = generator.random(len(sheet.rows))
        if people_stay and "PID" in sheet.header:
            codes, names = pd.factorize(pd.Series(sheet.column(sheet.header.index("PID"))))
            key = codes + key * (len(names) - codes)  # anywhere after the person's place
            for code in range(len(names)):
                own = np.flatnonzero(codes == code)
                key[generator.choice(own)] = code
        moved[name] = replace(
            sheet, rows=[sheet.rows[place] for place in np.argsort(key, kind="stable")]
        )
    return moved


def renamed(sheets, seed):
    """The same with other ids."""
    generator, other = np.random.default_rng(seed), {}
    names = {
        cell
        for sheet in sheets.values()
        for head in ("PID", "TaskId")
        if head in sheet.header
        for cell in sheet.column(sheet.header.index(head))
    }
    for name in sorted(names, reverse=True):
        other[name] = str(uuid.UUID(bytes=generator.bytes(16), version=4))
    changed = {}
    for name, sheet in sheets.items():
        places = {place for place, header in enumerate(sheet.header) if header in {"PID", "TaskId"}}
        rows = [
            [other[cell] if place in places else cell for place, cell in enumerate(row)]
            for row in sheet.rows
        ]
        changed[name] = replace(sheet, rows=rows)
    return changed


def copied(sheets, times):
    """Every person with all their rows so many times, each copy a person of its own."""
    tasks = sheets["Tasks"]
    talks, people = (tasks.column(tasks.header.index(name)) for name in ("TaskId", "PID"))
    person = dict(zip(talks, people, strict=True))
    changed = {}
    for name, sheet in sheets.items():
        keys = [place for place, header in enumerate(sheet.header) if header in {"PID", "TaskId"}]
        rows = []
        for row in sheet.rows:
            ids = [row[place] for place in keys]
            who = [person.get(cell, cell) for cell in ids]
            for copy in range(times.get(who[0], 0) if who else 1):
                new = list(row)
                for place in keys:
                    new[place] = f"{row[place]}-{copy}"
                rows.append(new)
        changed[name] = replace(sheet, rows=rows)
    return changed


@cache
def known(seed, *, long):
    """A random study and its numbers."""
    study = parse_sheets(sheets_of_some(seed))
    return study, numbers(study, DRAWS, left_out=set() if long else MANY)


MODEL = re.compile("mixed model|REML")


def differing(found, expected, parts, tolerance=1e-12):
    """Which of these parts of the rows are not the same."""
    assert found.keys() == expected.keys()
    wrong = []
    for name, row in expected.items():
        # Numerical derivatives of a mixed model's likelihood end at other digits in another order of rows.
        is_fit = tolerance and MODEL.search(row["method"])
        near = 1e-8 if is_fit else tolerance
        for part in parts:
            one, other = found[name].get(part), row.get(part)
            if isinstance(other, str) or other is None:
                same = one == other
            else:
                same = bool(np.isclose(one, other, rtol=near, atol=near, equal_nan=True))
            if not same:
                wrong.append((name, part, one, other))
    return wrong


def follows_order(row):
    """Whether a number rests on folds, permutations, resamples or first conversations, which follow the rows' order."""
    said = f"{row['method'].split(';')[0]} {row['unit']} {row.get('conversations', '')}"
    return bool(RANDOM.search(said))


LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 15)]


@pytest.mark.parametrize("seed", [1, *LONG])
def test_no_estimate_depends_on_the_order_of_rows(seed, request):
    long = request.config.getoption("--long")
    _, expected = known(seed, long=long)
    study = parse_sheets(shuffled(sheets_of_some(seed), seed, people_stay=False))
    wrong = differing(
        numbers(study, DRAWS, left_out=set() if long else MANY), expected, ["estimate", "n"]
    )
    assert [one for one in wrong if not follows_order(expected[one[0]])] == []


@pytest.mark.parametrize("seed", [1, *LONG])
def test_no_interval_does_where_people_keep_the_order_of_their_first_rows(seed):
    _, expected = known(seed, long=False)
    found = numbers(parse_sheets(shuffled(sheets_of_some(seed), seed, people_stay=True)), DRAWS)
    wrong = differing(found, expected, ["estimate", "low", "high", "n", "unit", "method", "reason"])
    assert [one for one in wrong if not follows_order(expected[one[0]])] == []


def test_no_number_depends_on_how_ids_sort():
    """Folds, permutations and resamples included."""
    before, expected = known(1, long=False)
    study = parse_sheets(renamed(sheets_of_some(1), 5))
    orders = (
        pd.factorize(one.conversations["participant"], sort=True)[0].tolist()
        for one in (before, study)
    )
    assert next(orders) != next(orders)
    assert (
        differing(numbers(study, DRAWS), expected, ["estimate", "low", "high", "n", "reason"], 0)
        == []
    )


def test_the_seed_changes_intervals_and_no_estimate():
    study, expected = known(1, long=False)
    other = numbers(study, DRAWS, seed=5)
    assert [
        one
        for one in differing(other, expected, ["estimate"])
        if not follows_order(expected[one[0]])
    ] == []
    assert len(differing(other, expected, ["low"])) > 200


def test_every_row_says_what_it_is_and_why_it_lacks_something():
    for name, row in known(1, long=False)[1].items():
        assert row["unit"], name
        assert row["method"], name
        assert row["n"] >= 0, name
        number = isinstance(row["estimate"], float)
        if number and np.isnan(row["estimate"]):
            assert row["reason"], name
            assert np.isnan(row["low"]), name
        elif number and np.isfinite(row.get("low", np.nan)):
            assert row["low"] <= row["high"], name
            assert "interval" in row["method"], name


def test_a_key_is_a_number_of_one_function():
    functions = {}
    for row in known(1, long=False)[1].values():
        if row.get("key"):
            functions.setdefault(row["key"], set()).add(row["computed_by"].function)
    assert {key: names for key, names in functions.items() if len(names) > 1} == {}
    assert len(functions) > 200


def test_of_few_people_nothing_has_an_interval_and_the_reason_says_so():
    study, _ = known(1, long=False)
    few = study.subset(participants=study.conversations["participant"].unique()[:4])
    for name, row in numbers(few, DRAWS).items():
        if isinstance(row["estimate"], float) and "by permutation" not in row["method"]:
            model = re.search(r"mixed model|noncentral|Feldt", row["method"])
            assert model or not np.isfinite(row.get("low", np.nan)), name
            if np.isnan(row["estimate"]):
                assert row["reason"], name


def test_a_bootstrap_of_other_participants_is_refused():
    study, _ = known(1, long=False)
    few = study.subset(participants=study.conversations["participant"].unique()[:12])
    for one, other in ((few, study), (study, few)):
        given = arguments(one, DRAWS) | {"bootstrap": arguments(other, DRAWS)["bootstrap"]}
        messages = set()
        for function, asked in FINDINGS.values():
            if {"study", "bootstrap"} <= set(asked):
                with pytest.raises(UserError) as refusal:
                    function(**{parameter: given[parameter] for parameter in asked})
                messages.add(str(refusal.value))
        (message,) = messages
        naming.check(
            message,
            f"{len(given['bootstrap'].names)} participants",
            one.name,
            "s7.ParticipantBootstrap(study.conversations['participant'])",
        )


SEVEN = sorted(RATINGS - {"EmpathyOverall"})
AFTER = [column.official for column in TASK_COLUMNS if column.official.startswith("PostTask")]
CONTEXT = ["PreTaskChoice", "PreTaskImportance", "PreTaskDesiredEmpathy"]
TWELVE = {"conversations": 12}
LACKING = {
    "a third conversation": {"tasks": {"Model": "only"}},
    "topics and texts": TWELVE | {"tasks": {"PreTaskChoice": None}, "messages": {"Content": None}},
    "all conversations but one": {"conversations": 1, "turns": 1},
    "other participants": {"conversations": 2, "participants": 1},
    "nothing": TWELVE,
    "other dimensions": TWELVE | {"messages": dict.fromkeys(SEVEN[1:], ...)},
    "second turns": TWELVE | {"turns": 1},
    "other conditions": TWELVE | {"tasks": {"Model": "only"}},
    "dimensions": TWELVE | {"messages": dict.fromkeys(SEVEN)},
    "overall ratings": TWELVE | {"messages": {"EmpathyOverall": None}},
    "other levels": TWELVE | {"messages": dict.fromkeys(sorted(RATINGS), [None, "good"] * 24)},
    "levels": TWELVE | {"messages": dict.fromkeys(SEVEN, [None, "unknown"] * 24)},
    "other rated turns": TWELVE
    | {"messages": {name: [None, "poor", *[None] * 46] for name in sorted(RATINGS)}},
    "conditions": TWELVE | {"tasks": {"Model": None}},
    "the context": TWELVE | {"tasks": dict.fromkeys(CONTEXT)},
    "other contexts": TWELVE | {"tasks": dict.fromkeys(CONTEXT[1:], 1.0)},
    "a whole context": TWELVE
    | {
        "tasks": {
            name: [None if row % 3 == place else 1.0 + row % 2 for row in range(12)]
            for place, name in enumerate(CONTEXT)
        }
    },
    "ratings afterwards": TWELVE | {"tasks": dict.fromkeys(AFTER)},
    "times": TWELVE | {"messages": {"TimeOffsetSeconds": None}},
    "comments and people": {"messages": {"Comment": ...}, "participants": None},
}
"""What a small workbook lacks -> its changes."""

PLURAL = re.compile(r"(?<![\w.,])1 (?!(?:is|was|has|as|less)\b)[a-z]+s\b")
QUICK = 4
CASES = [
    pytest.param(changes, id=name, marks=[pytest.mark.long][place < QUICK :])
    for place, (name, changes) in enumerate(LACKING.items())
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("changes", CASES)
def test_what_lacks_something_gives_numbers_or_reasons(minimal_sheets, changes, request):
    left_out = set() if request.config.getoption("--long") else MANY
    rows = numbers(parse_sheets(minimal_sheets(**changes)), 20, left_out=left_out)
    assert len(rows) > 200
    for name, row in rows.items():
        missing = row["estimate"] is None or (
            isinstance(row["estimate"], float) and np.isnan(row["estimate"])
        )
        assert row["reason"] or not missing, name
        for text in (row["method"], row["reason"], row["unit"]):
            assert not PLURAL.search(str(text)), (name, text)


NO_POST = {"tasks": {f"PostTaskEmpathy_{name}": ... for name in SEVEN}}
VARIED = ["poor", "good", "very good", "neutral", "good", "poor", "very poor", "good", "neutral"]
VARIED = {"EmpathyOverall": [each for turn in VARIED * 6 for each in (None, turn)][:48]}
LEVELS = {"messages": {name: [None, "poor", None, "good", None, "neutral"] * 3 for name in SEVEN}}
THIRTEEN = {"conversations": 13, "tasks": {"Model": [f"m{number}" for number in range(13)]}}
THREE_TURNS = {"conversations": 3, "turns": 1, "tasks": {"Model": ["a", "b", "a"]}}
THREE_TURNS["messages"] = {"EmpathyOverall": [None, "poor", None, "neutral", None, "good"]}
REASONS = {
    "agreement.kappa_differences": [({"messages": {"Interest": None}}, "Interest")],
    "conditions.condition_differences": [({"tasks": {"Model": None}}, "condition")],
    "conditions.largest_loading_difference": [
        ({"messages": dict.fromkeys(SEVEN)}, 3),
        (LEVELS, 20),
    ],
    "conditions.odds_ratios": [({"tasks": {"Model": None}}, "condition"), (THIRTEEN, 13)],
    "context.context_slopes": [
        ({"tasks": {"PreTaskImportance": 3.0}}, "importance"),
        ({"tasks": {"PreTaskImportance": ...}}, "importance"),
    ],
    "context.gap_by_topic": [({"tasks": {"PreTaskChoice": None}}, "topic")],
    "disrupted.continuity_losses": [({}, "0 failures of Relational")],
    "disrupted.lasting_drop": [({}, "turns")],
    "disrupted.unmet_expectations": [
        ({}, "0 conversations"),
        ({"tasks": {"PreTaskDesiredEmpathy": ...}}, "desired empathy"),
        (NO_POST, "post-task empathy"),
    ],
    "ground_truth.changed_labels": [
        ({"messages": {"EmpathyOverall": None}}, "overall"),
        (NO_POST, "post-task empathy"),
    ],
    "importance.importance_shares": [
        ({"participants": {"Q17": ["Affective", "Affective", "Interest"]}}, "3 participants")
    ],
    "poor_turn.cross_validated_r2": [
        ({"conversations": 12, "messages": VARIED}, "post-task empathy"),
        ({"conversations": 3}, "3 conversations"),
    ],
    "poor_turn.poor_turn_measures": [
        ({}, "0 conversations"),
        ({"messages": {"EmpathyOverall": None}}, "overall"),
    ],
    "ratings.nearest_rivals": [({"messages": {"Relational": None}}, "Relational")],
    "words.comment_shares": [({"messages": {"Comment": ...}}, "comment")],
}
"""What a small workbook is changed by -> what the reason of a finding for a missing number or interval names."""


@pytest.mark.parametrize("name", REASONS)
def test_what_is_missing_is_the_reason(minimal_sheets, name):
    function, asked = FINDINGS[name]
    for changes, named in REASONS[name]:
        given = arguments(parse_sheets(minimal_sheets(**changes)), draws=20)
        rows = rows_of(function(**{one: given[one] for one in asked}))
        reasons = {row["reason"] for row in rows.values()} - {""}
        naming.check("\n".join(sorted(reasons)), named)


NOT_OF_COPIES = {
    "importance.importance_shares": "people who chose are resampled",
    "individualized.participant_icc": "the model is fitted in resamples of its own",
    "individualized.variance_shares": "the model is fitted in resamples of its own",
    "poor_turn.cross_validated_r2": "copies stay in the fold of their person",
}
"""Findings whose resampled value is not that of a study of copies, and why; they have tests of their own."""


def test_a_resampled_number_is_that_of_the_study_whose_people_are_copied_out(copies_of):
    study, _ = known(1, long=False)
    # In this draw the best and the worst condition, which one finding compares, are those of the study.
    bootstrap, times = copies_of(arguments(study, DRAWS, seed=5)["bootstrap"])
    whole = numbers(study, DRAWS, seed=5, bootstrap=bootstrap)
    copies = numbers(parse_sheets(copied(sheets_of_some(1), times)), DRAWS)
    compared = 0
    for name, row in whole.items():
        if (
            "percentile" not in row["method"]
            or name.partition("/")[0] in NOT_OF_COPIES
            or name not in copies
        ):
            continue
        expected = copies[name]["estimate"]
        if np.isfinite(expected) and np.isfinite(row["low"]):
            found = (
                row["low"] + row["high"] - row["estimate"]
            )  # the other limit is that of the study itself
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-6), name
            compared += 1
    assert compared > 200
