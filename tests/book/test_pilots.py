"""Small studies of odd shapes: what `check` accepts, its pages are built of, and no page tells where it was made."""

import json
import sysconfig
from pathlib import Path

import pandas as pd
import pytest

from sense7.book.again import rerun
from sense7.checkout import Project
from sense7.loading import load
from sense7.taxonomy import LEVELS
from sense7.workbook.reading import STANDARD, write_reading

ROOT = Path(__file__).resolve().parents[2]
DIMENSIONS = (
    "Affective",
    "Cognitive",
    "Response",
    "Prosocial",
    "Interest",
    "Contextual",
    "Relational",
)


def pilot(path, conversations, participants, level_of):
    """A workbook of two models, two rated turns per conversation; ``level_of`` gives the level of a turn."""
    tasks, messages = [], []
    for number in range(conversations):
        task = {
            "PID": f"P{number % participants}",
            "Model": f"m{number % 2}",
            "TaskId": f"T{number}",
        }
        tasks.append(task | {"PreTaskImportance": 3, "PreTaskDesiredEmpathy": 2})
        for message in range(1, 5):
            row = {
                "TaskId": f"T{number}",
                "MessageId": message,
                "Role": "user",
                "Content": f"text {message}",
            }
            if message % 2 == 0:
                level = LEVELS[level_of(number, message)].capitalize()
                row |= {
                    "Role": "assistant",
                    **dict.fromkeys(("EmpathyOverall", *DIMENSIONS), level),
                }
            messages.append(row)
    with pd.ExcelWriter(path) as workbook:
        pd.DataFrame(tasks).to_excel(workbook, sheet_name="Tasks", index=False)
        pd.DataFrame(messages).to_excel(workbook, sheet_name="Messages", index=False)
    write_reading(path, STANDARD)
    return path


PILOTS = {
    "the same ground truth everywhere": ("13", 8, 4, lambda number, message: 3),
    "many conditions per person": (
        "17",
        40,
        12,
        lambda number, message: (3, 2, 4, 1)[(number + message) % 4],
    ),
    "one conversation": ("03", 1, 1, lambda number, message: message % 5),
}


@pytest.mark.parametrize(
    "shape",
    [
        "the same ground truth everywhere",
        "one conversation",
        pytest.param("many conditions per person", marks=pytest.mark.long),
    ],
)
def test_what_is_accepted_can_be_built_and_shows_no_path(tmp_path, monkeypatch, shape):
    notebook, *sizes = PILOTS[shape]
    monkeypatch.chdir(tmp_path)
    path = pilot(tmp_path / "pilot.xlsx", *sizes)
    load(path)
    done = rerun(
        Project(ROOT, ROOT), notebook, {"data": str(path), "draws": 100}, out=tmp_path / "out.ipynb"
    )
    cells = json.loads(done.notebook.read_text("utf-8"))["cells"]
    outputs = json.dumps([cell.get("outputs") for cell in cells])
    for folder in (ROOT, tmp_path, sysconfig.get_paths()["purelib"], "Warning:"):
        assert str(folder) not in outputs
