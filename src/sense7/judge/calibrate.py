"""Prediction files brought to the level of the ratings, and what that changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge.evaluate import find_files
from sense7.judge.predictions import Predictions, read_files, write_predictions
from sense7.judge.reply import HIGHEST, LOWEST
from sense7.judge.scoring.calibrated import AS_GIVEN, calibrated, calibration_errors

__all__ = ["CalibratedFiles", "calibrate_files"]

_KEPT = ("conversation", "participant", "status", "reason", "ground_truth", "model", "run", "chat")


@dataclass(frozen=True, eq=False)
class CalibratedFiles:
    """What was written."""

    paths: dict[str, Path]
    errors: dict[str, dict[str, pd.DataFrame]] = field(repr=False)
    mapping: str
    notes: list[str]

    def text(self) -> str:
        """Calibration error before and after, and the path, of every file."""
        lines = []
        for name, path in self.paths.items():
            table, drop = self.errors[name]["calibration"], self.errors[name]["drop"]
            before, after, lower = table.loc[AS_GIVEN], table.loc[self.mapping], drop.loc[self.mapping]
            lines += [
                str(path),
                f"  expected calibration error, {before['n']:,} conversations: {_words(before)} as given, "
                f"{_words(after)} {self.mapping}; lower by {_words(lower)}",
            ]
        return "\n".join(lines)


def _words(row: pd.Series) -> str:
    interval = f" ({row['low']:.3f} to {row['high']:.3f})" if np.isfinite(row["low"]) else f" ({row['reason']})"
    return f"{row['estimate']:.3f}{interval}"


def calibrate_files(
    paths: Sequence[Path],
    out: str | Path,
    *,
    mapping: str = "isotonic",
    draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> CalibratedFiles:
    """Calibrate every file of predictions and write it to a folder under the name of its judge."""
    found, _ = find_files(paths)
    files, left_out = read_files(found, required=[Path(path) for path in paths if Path(path).is_file()])
    if not files:
        raise UserError(f"{paths[0]}: no file of predictions. Give files with the columns IS_EMPATHY and ground-truth.")
    ready, errors = {}, {}
    for file in files:
        if file.name in ready:
            raise UserError(f"{file.path}: another of these files is called so too. Calibrate them into two folders.")
        _require_own_place(file.path, Path(out))
        frame = file.frame
        if frame["participant"].isna().any() or frame["conversation"].isna().any():
            raise UserError(
                f"{file.path}: some rows have no PID or no TaskId, so that participants can't be held out. Fill in "
                "both columns."
            )
        try:
            ready[file.name] = frame.assign(score=np.clip(calibrated(frame, mapping), LOWEST, HIGHEST))
        except UserError as error:
            raise UserError(f"{file.path}: {error}") from None
        bootstrap = ParticipantBootstrap(frame["participant"], draws, seed, confidence)
        errors[file.name] = calibration_errors(frame, bootstrap)
    written = {}
    for file in files:
        written[file.name] = Path(out) / f"{_name(file)}.xlsx"
        write_predictions(written[file.name], _to_write(ready[file.name]))
    return CalibratedFiles(written, errors, mapping, [f"{path}: {why}" for path, why in left_out.items()])


def _require_own_place(path: Path, out: Path) -> None:
    if path.resolve().parent == out.resolve():
        raise UserError(f"{out}: holds {path.name}, which is to be calibrated. Give another folder as --out.")


def _name(file: Predictions) -> str:
    return file.name if not file.simulated or "simulated" in file.name.casefold() else f"simulated-{file.name}"


def _to_write(frame: pd.DataFrame) -> pd.DataFrame:
    """What a calibrated file holds: rows with a score, or why there is none; replies are those of another score."""
    kept = frame[[*_KEPT, "score"]]
    unstated = kept["score"].isna() & ~kept["status"].isin(
        ("parse_failure", "refusal", "truncated", "api_error", "not_asked")
    )
    return kept.assign(status=kept["status"].where(kept["score"].isna(), "ok"))[~unstated]


check_arguments(globals())
