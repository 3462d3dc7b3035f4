import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import sense7
from sense7.errors import UserError
from sense7.simulate import DEFAULT_SEED, NOT_PUT, UNKNOWN, Parameters, simulate, truth_text
from sense7.simulate.truth import ground_truth
from sense7.taxonomy import LEVELS, MESSAGE_COLUMNS, TASK_COLUMNS, TURN_RATING
from sense7.workbook.xlsx import read_sheets

DATA = Path(sense7.__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def written(default, tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    default.write(folder / "a.xlsx", folder / "a.json")
    return folder


def test_same_seed_same_content_other_seed_other_content(default, cheap):
    again, other = cheap(DEFAULT_SEED), cheap(DEFAULT_SEED + 1)
    assert again.sheets == default.sheets
    assert truth_text(again.truth) == truth_text(default.truth)
    assert other.sheets["Messages"].rows != default.sheets["Messages"].rows
    assert other.truth["planted"] == default.truth["planted"]
    assert other.truth["units"] != default.truth["units"]
    for name in ("score", "kind", "judgment"):
        np.testing.assert_array_equal(getattr(again.judged, name), getattr(default.judged, name))
    assert (other.judged.score != default.judged.score).any()


def test_file_is_what_the_sheets_say_and_small(default, written):
    assert read_sheets(written / "a.xlsx") == default.sheets
    assert (written / "a.xlsx").stat().st_size < 3e6
    assert (written / "a.json").stat().st_size < 1.5e6
    assert json.loads((written / "a.json").read_text(encoding="utf-8")) == default.truth
    assert not list(written.glob(".*"))


def test_embedded_files_are_regenerated(default):
    """data/ holds what the defaults give today."""
    workbook, truth = DATA / "synthetic.xlsx", DATA / "synthetic_truth.json"
    if not workbook.exists() or not truth.exists():
        pytest.skip("data/ holds no synthetic workbook")
    assert read_sheets(workbook) == default.sheets
    assert truth.read_text(encoding="utf-8") == truth_text(default.truth)


def test_tasks(default):
    sheet = default.sheets["Tasks"]
    assert sheet.header == [column.official for column in TASK_COLUMNS]
    assert len(sheet.rows) == 672
    assert len(set(sheet.column(2))) == 672
    people = set(default.sheets["Participants"].column(0))
    assert set(sheet.column(0)) == people
    assert len(people) == 109
    assert len(set(sheet.column(1))) == 4
    assert len(set(sheet.column(3))) == 8
    for place, column in enumerate(TASK_COLUMNS):
        if column.scale:
            assert set(sheet.column(place)) == set(map(float, range(1, column.scale.size + 1))), column.official


def test_messages(default):
    sheet = default.sheets["Messages"]
    assert sheet.header == [column.official for column in MESSAGE_COLUMNS]
    order, rows = [], {}
    for row in sheet.rows:
        if row[0] not in rows:
            order.append(row[0])
        rows.setdefault(row[0], []).append(row)
    assert order == default.sheets["Tasks"].column(2)
    known = set(LEVELS) | TURN_RATING.not_rated
    for messages in rows.values():
        assert [row[1] for row in messages] == [float(k + 1) for k in range(len(messages))]
        seconds = [row[2] for row in messages]
        assert seconds[0] >= 0
        assert all(b > a for a, b in itertools.pairwise(seconds))
        assert messages[0][3] == "user"
        assert messages[-1][3] == "assistant"
        for row in messages:
            cells = row[6:14]
            assert all(cell is None or cell.casefold() in known for cell in cells)
            if row[3] != "assistant":
                assert cells == [None] * 8
                assert row[14] is None
                assert row[5] is None
            assert all(cells) or not any(cells)
    roles = Counter(sheet.column(3))
    assert set(roles) == {"user", "assistant", "error"}
    assert roles["user"] == roles["assistant"]
    assert 40 < roles["error"] < 200
    assert 5 < sum(text is None for text in sheet.column(4)) < 100
    assert sum(cell is not None for cell in sheet.column(5)) > 100
    assert sum(cell is not None for cell in sheet.column(14)) > 200
    spellings = {cell for row in sheet.rows for cell in row[6:14] if cell}
    assert {"Very good", "very good", "Very Good", "Unknown", "unknown"} <= spellings


def test_cells_are_the_ratings(default):
    sheet, study = default.sheets["Messages"], default.study
    states = {None: NOT_PUT, "unknown": UNKNOWN} | {word: level for level, word in enumerate(LEVELS, 1)}
    cells = [row[6:14] for row in sheet.rows if row[3] == "assistant"]
    found = np.array([[states[cell and cell.casefold()] for cell in row] for row in cells])
    assert (found[:, 1:] == study.ratings[:, :7]).all()
    assert (found[:, 0] == study.ratings[:, 7]).all()


def test_some_conversations_have_no_rated_turn(default):
    rated = {row[0] for row in default.sheets["Messages"].rows if any(row[6:14])}
    assert len(set(default.sheets["Tasks"].column(2)) - rated) == 2


def test_participants(default):
    sheet = default.sheets["Participants"]
    assert sheet.header[:5] == ["PID", "Age", "Gender", "Role", "AIExperience"]
    assert sheet.header[-1] == "MostImportantDimension"
    assert len(sheet.header) == 14
    assert all(None not in row for row in sheet.rows)
    assert all(1 <= score <= 5 for row in sheet.rows for score in row[5:-1])


def test_truth_is_complete(default):
    truth = default.truth
    assert truth["format"] == 2
    assert Parameters.from_mapping(truth["parameters"]) == Parameters()
    planted = {entry["key"]: entry for entry in truth["planted"]}
    assert len(planted) == len(truth["planted"])
    dimensions = [column.name for column in MESSAGE_COLUMNS[7:14]]
    wanted = [
        *("participants", "conversations_released", "llm_conditions", "tasks", "dimensions", "levels"),
        *("alpha_turn", "alpha_turn_listwise", "alpha_turn_without_relational", "alpha_post"),
        *("relational_applicability", "relational_very_poor", "kappa_affective", "kappa_relational"),
        *("poor_turn_d", "icc_participant", "continuity_drop", "expectation_drop", "best_condition"),
        *("importance_cognitive", "importance_affective", "importance_response"),
        "condition_model_difference_model-a-empathy-prompt_model-b",
    ]
    families = ("applicability", "very_poor_of_rated", "mean", "kappa_linear", "kappa_quadratic")
    for family in families:
        wanted += [f"{family}_{name}" for name in dimensions]
    assert set(wanted) <= planted.keys()
    for entry in planted.values():
        assert entry["kind"] in {"parameter", "implied", "count"}
        assert entry["meaning"]
        assert entry["unit"]
        assert entry["how"]
        assert entry["value"] is not None
        assert entry["tuned"] <= (entry["near"] is not None)
        if entry["monte_carlo_error"] is not None:
            assert entry["kind"] == "implied"
    assert {entry["near"] for entry in planted.values() if entry["tuned"]} == {
        *(["participants", "conversations_released", "llm_conditions", "tasks", "alpha_turn", "alpha_post"]),
        *(["relational_applicability", "relational_very_poor", "poor_turn_d", "kappa_affective"]),
        *(["kappa_relational", "importance_cognitive", "importance_affective", "importance_response"]),
        *(["dimensions", "levels", "best_condition", "judge_spearman", "judge_accuracy"]),
    }
    assert planted["best_condition"]["value"] == "model-a-empathy-prompt"


def test_units_point_into_the_workbook(default):
    units = default.truth["units"]
    roles = {(row[0], row[1]): row[3] for row in default.sheets["Messages"].rows}
    assert len(units["participants"]["rows"]) == 109
    assert len(units["participant_conditions"]["rows"]) == 109 * 4
    conversations = units["conversations"]
    assert [row[0] for row in conversations["rows"]] == default.sheets["Tasks"].column(2)
    place = conversations["columns"].index("ground_truth")
    expected = ground_truth(default.study)
    for row, value in zip(conversations["rows"], expected, strict=True):
        assert (row[place] is None) == np.isnan(value)
        assert row[place] is None or row[place] == pytest.approx(value, abs=5.1e-5)
    for row in units["turns"]["rows"]:
        assert roles[row[0], row[1]] == "assistant"


@pytest.mark.long
def test_a_value_stays_tuned_until_it_is_moved_away_from_the_published_one():
    small = Parameters(participants=8, conversations=30, unrated_conversations=1, turn_sd=2.5)
    truth = simulate(small, 1).truth
    planted = {entry["key"]: entry for entry in truth["planted"]}
    assert not planted["participants"]["tuned"]
    assert planted["tasks"]["tuned"]
    assert planted["alpha_turn"]["tuned"]
    for entry in planted.values():
        if entry["tuned"] and entry["published"]:
            assert entry["value"] == pytest.approx(entry["published"], rel=0.1)
    assert json.loads(truth_text(truth)) == truth


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_seed_is_checked(seed):
    with pytest.raises(UserError, match="whole number of at least 0"):
        simulate(Parameters(participants=2, conversations=4), seed)


def test_unwritable_place_is_said(default, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="can't be written"):
        default.write(tmp_path / "a.xlsx", tmp_path / "file" / "a.json")


def test_a_study_without_texts_has_the_same_ratings():
    """The words come from a stream of their own, and no rating depends on them."""
    small = Parameters(participants=6, conversations=18)
    spoken, mute = (simulate(small, 5, None, texts=texts) for texts in (True, False))
    assert np.array_equal(spoken.study.ratings, mute.study.ratings)
    content = mute.sheets["Messages"].header.index("Content")
    role = mute.sheets["Messages"].header.index("Role")
    said = {row[content] for row in mute.sheets["Messages"].rows if row[role] in ("user", "assistant")}
    assert said <= {".", None}
