"""How an edition's data are opened: the study and its judges."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sense7.workbook.options import ReadingOptions

if TYPE_CHECKING:
    from sense7.judge.scores.judges import Judges
    from sense7.study import Study


class Opened(NamedTuple):
    """A study, its judges, None without any, and the parameters of the judge that is shown if it is a simulated one."""

    study: "Study"
    judges: "Judges | None" = None
    simulated_judge: dict | None = None


def open_study(
    data: str | Path,
    parameters: Mapping,
    options: ReadingOptions | None = None,
    strict: bool = False,
) -> "Study":
    """Read data with the parameters of notebooks that say how; without options as the file beside them says."""
    from sense7.loading import load

    how = {}
    if options is not None:
        how = {
            "scale": options.scales,
            "words": options.words,
            "allow_unreadable": options.allow_unreadable,
            "missing": options.missing,
        }
    prompted = parameters.get("prompted_condition")
    return load(data, prompted_condition=prompted, strict=strict, **how)


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
