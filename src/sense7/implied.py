"""What every recorded value should be on simulated data: the truth that the planted parameters imply for it.

Two sources, in this order:

- the workbook's truth file: computed from the model by plain code that uses none of this library's statistics;
- ``data/implied.json``: for every recorded value its mean over many simulated studies, by the notebooks themselves.
  An error of a statistic shows in both its value and this mean, so that it says what the statistic measures, and
  not that it is right. It holds for the parameters of its studies alone.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sense7.errors import UserError
from sense7.files import reason

FILE = "implied.json"
"""Name of the stored means, in ``data/``."""

BEYOND = 1.96
"""Distances beyond this are expected of one normal value in twenty."""

INDEPENDENT = "independent code"
"""Source of a value of the truth file."""

_Z_OF_INTERVAL = 1.96  # intervals are of 95 % unless a user asks for another confidence
OF_JUDGE = "judge_"
"""How the names of planted and recorded values of a judge begin."""


@dataclass(frozen=True)
class ImpliedTruth:
    """What the planted parameters imply for one recorded value.

    Attributes
    ----------
    value : float or str
        The implied value.
    error : float
        Its Monte Carlo standard error; 0 if it is exact.
    sd : float or None
        Standard deviation of the recorded value over simulated studies of the same size; None if not known.
    studies : int or None
        Number of simulated studies behind ``sd`` in which the value was defined.
    source : str
        Where ``value`` comes from, in words.
    """

    value: float | str
    error: float = 0.0
    sd: float | None = None
    studies: int | None = None
    source: str = INDEPENDENT

    @property
    def is_fixed(self) -> bool:
        """Whether every simulated study gave the same value, so that no distance can be said."""
        return self.sd == 0

    def distance(self, value: Mapping) -> float | None:
        r"""How far a recorded value lies from the implied one, in standard errors.

        .. math:: z = \frac{\text{found} - \text{implied}}{\sqrt{s^2 + e^2}}

        where s is the standard deviation over simulated studies and e the Monte Carlo error of the implied value.
        Where s is not known, the half-width of a 95 % interval over 1.96 stands for it.

        Parameters
        ----------
        value : mapping
            The recorded value.

        Returns
        -------
        float or None
            None for texts, without an estimate, and where neither the spread nor an interval is known or both are 0.

        Examples
        --------
        >>> ImpliedTruth(1.0, error=0.3, sd=0.4).distance({"estimate": 2.0, "low": None, "high": None})
        2.0
        """
        estimate = value["estimate"]
        if (
            estimate is None
            or isinstance(estimate, str)
            or isinstance(self.value, str)
            or self.is_fixed
        ):
            return None
        sd = self.sd
        if sd is None and value["low"] is not None:
            sd = (value["high"] - value["low"]) / (2 * _Z_OF_INTERVAL)
        return (estimate - self.value) / math.hypot(sd, self.error) if sd else None


def load_implied(path: Path) -> dict | None:
    """Read the stored means over simulated studies; None if the file is not there.

    Raises
    ------
    UserError
        If it can't be read.
    """
    if not path.exists():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        _ = stored["parameters"], stored["studies"], stored["values"].keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path}: can't be read ({reason(error)}). Restore the file from the repository."
        ) from None
    return stored


def implied_truths(truth: Mapping | None, implied: Mapping | None) -> dict[str, ImpliedTruth]:
    """What the parameters of a simulated workbook imply for each recorded value.

    Parameters
    ----------
    truth : mapping or None
        The workbook's truth, as it is stored beside it; None for data that are not simulated.
    implied : mapping or None
        Stored means over simulated studies, as :func:`load_implied` reads them. They hold only for a workbook of the
        same parameters, and those of values of a judge only for a judge of the same parameters.

    Returns
    -------
    dict
        Key of a recorded value -> its implied truth.

    Examples
    --------
    >>> planted = {"key": "alpha", "value": 0.9, "kind": "implied", "monte_carlo_error": 0.001}
    >>> truth = {"parameters": {"participants": 9}, "planted": [planted]}
    >>> mean = {"mean": 0.3, "sd": 0.1, "error": 0.01, "studies": 100}
    >>> implied = {"studies": 100, "parameters": {"participants": 9}, "values": {"alpha": mean, "omega": mean}}
    >>> found = implied_truths(truth, implied)
    >>> found["alpha"].value, found["alpha"].sd, found["omega"].value, found["omega"].source
    (0.9, 0.1, 0.3, "the companion's statistics, 100 studies")
    """
    if truth is None:
        return {}
    known, judge = {}, (truth.get("judge") or {}).get("parameters")
    fits = implied is not None and implied["parameters"] == truth["parameters"]
    same_judge = fits and judge is not None and implied.get("judge", judge) == judge
    for key, entry in implied["values"].items() if fits else ():
        mean, studies, of_judge = (
            entry["mean"],
            entry["studies"],
            entry.get("judge", key.startswith(OF_JUDGE)),
        )
        if isinstance(mean, int | float) and math.isfinite(mean) and (same_judge or not of_judge):
            source = f"the companion's statistics, {studies:,} studies"
            known[key] = ImpliedTruth(mean, entry["error"] or 0.0, entry["sd"], studies, source)
    merged = {}
    for entry in truth["planted"]:
        stored = known.pop(entry["key"], None)
        if entry["kind"] != "parameter" or stored is None:
            spread = {} if stored is None else {"sd": stored.sd, "studies": stored.studies}
            merged[entry["key"]] = ImpliedTruth(
                entry["value"], entry.get("monte_carlo_error") or 0.0, **spread
            )
        else:
            merged[entry["key"]] = stored
    return merged | known
