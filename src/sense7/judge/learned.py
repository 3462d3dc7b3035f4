"""A judge that learns from ratings, as files of predictions: it needs no model, no key and no network."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from sense7.errors import UserError
from sense7.estimators.estimates import safe_names
from sense7.judge.baselines import BASELINES, TEXT_BASELINES, Baseline, baseline_predictions
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.reply import HIGHEST, LOWEST
from sense7.study import Study

__all__ = [
    "LEARNED",
    "learned_predictions",
    "write_learned",
]

LEARNED = "learned judge"
"""The baseline that is written unless others are named."""


def learned_predictions(study: Study, names: Collection[str] = (LEARNED,)) -> dict[str, Baseline]:
    """Predictions of baselines, of conversations without a rating too, where a baseline reads texts."""
    for name in names:
        if name not in BASELINES:
            raise UserError(f"{name!r} is no baseline. Choose one of: {'; '.join(BASELINES)}.")
    reading = [name for name in names if name in TEXT_BASELINES]
    found = baseline_predictions(study, names=reading, unrated=True)
    found |= baseline_predictions(study, names=[name for name in names if name not in TEXT_BASELINES])
    return {name: found[name] for name in names}


def write_learned(study: Study, folder: str | Path, names: Collection[str] = (LEARNED,)) -> list[Path]:
    """Write the predictions of baselines in the judges' layout, a file for each."""
    paths, found = [], learned_predictions(study, names)
    for baseline in found.values():
        if baseline.reason:
            raise UserError(
                f"{study.name}: {baseline.name}: {baseline.reason}. Nothing was written. Give a workbook with rated "
                "conversations of more participants, or another --baseline."
            )
    file_names = safe_names(BASELINES)
    for name, baseline in found.items():
        frame = baseline.predictions[["conversation", "participant", "ground_truth", "score"]].copy()
        frame["score"] = np.clip(frame["score"], LOWEST, HIGHEST)
        path = prediction_path(folder, file_names[name], "baseline", 1)
        write_predictions(path, frame.assign(status="ok", model=name, returned_model=baseline.method, run=1))
        paths.append(path)
    return paths
