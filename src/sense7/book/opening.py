"""How an edition's data are opened: the study and its judges."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sense7.judge.scores.judges import Judges
    from sense7.study import Study


class Opened(NamedTuple):
    """A study, its judges, None without any, and the parameters of the judge that is shown if it is a simulated one."""

    study: "Study"
    judges: "Judges | None" = None
    simulated_judge: dict | None = None


def open_data(study: "Study", predictions: Sequence[Path], parameters: Mapping) -> Opened:
    """Read a judge's predictions as well."""
    if not predictions:
        return Opened(study)
    from sense7.judge.scores.judges import (  # imports all statistics
        chosen_judge,
        read_runs,
        simulated_parameters,
    )

    judges = read_runs(study, predictions[0].parent)
    shown = chosen_judge(judges, parameters.get("judge", ""))
    return Opened(study, judges, simulated_parameters(judges.simulated.get(shown, ())))
