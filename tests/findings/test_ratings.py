"""How often a dimension is rated, by hand."""

from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import ratings
from sense7.taxonomy import DIMENSION_NAMES


def test_of_all_turns_those_not_put_to_rating_count_as_not_rated(minimal_sheets):
    answers = [None, "good", None, "unknown", None, None, None, "poor"] * 2
    study = parse_sheets(
        minimal_sheets(messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), answers))
    )
    bootstrap = bootstrap_of(study)
    assert (len(study.turns), len(study.turns_put_to_rating)) == (8, 6)
    put = ratings.applicability(study, bootstrap).loc["Relational"]
    every = ratings.applicability_of_all_turns(study, bootstrap).loc["Relational"]
    assert (put["estimate"], put["n"]) == (4 / 6, 6)
    assert (every["estimate"], every["n"]) == (4 / 8, 8)
    counts = ratings.level_counts(study).loc["Relational"]
    assert counts.to_dict() == {1: 0, 2: 2, 3: 0, 4: 2, 5: 0, "not rated": 2, "absent": 2}
