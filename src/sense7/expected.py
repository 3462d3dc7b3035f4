"""What is expected of every recorded value on simulated data.

Two sources, in this order:

- the true value in the workbook's truth file: computed from the model by plain code that uses none of this library's
  statistics (:mod:`sense7.simulate.true_values`);
- ``data/expected.json``: for every recorded value its mean over many simulated studies, by the notebooks themselves.
  An error of a statistic shows in both its value and this mean, so that it says what the statistic measures, and
  not that it is right. It holds for the parameters of its studies alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.files import read_json, reason

FILE = "expected.json"
"""Name of the stored means, in ``data/``."""

BEYOND = 1.96
"""Distances beyond this are expected of one normal value in twenty."""

INDEPENDENT = "independent code"
"""Source of a value of the truth file."""

_Z_OF_INTERVAL = 1.96  # intervals are of 95 % unless a user asks for another confidence
OF_JUDGE = "judge_"
"""How the names of planted and recorded values of a judge begin."""


@dataclass(frozen=True)
class ExpectedValue:
    """What is expected of one recorded value, given the parameters of the simulation.

    Attributes
    ----------
    value : float or str
        The expected value.
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
        r"""How far a recorded value lies from the expected one, in standard errors.

        .. math:: z = \frac{\text{found} - \text{expected}}{\sqrt{s^2 + e^2}}

        where s is the standard deviation over simulated studies and e the Monte Carlo error of the expected value.
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
        >>> ExpectedValue(1.0, error=0.3, sd=0.4).distance({"estimate": 2.0, "low": None, "high": None})
        2.0
        """
        estimate = value["estimate"]
        is_text = isinstance(estimate, str) or isinstance(self.value, str)
        if estimate is None or is_text or self.is_fixed:
            return None
        sd = self.sd
        if sd is None and value["low"] is not None:
            sd = (value["high"] - value["low"]) / (2 * _Z_OF_INTERVAL)
        if not sd:
            return None
        return (estimate - self.value) / math.hypot(sd, self.error)


def load_expected(path: Path) -> dict | None:
    """Read the stored means over simulated studies; None if the file is not there.

    Raises
    ------
    UserError
        If it can't be read.
    """
    if not path.exists():
        return None
    try:
        stored = read_json(path)
        _ = stored["parameters"], stored["studies"], stored["values"].keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path}: can't be read ({reason(error)}). Restore the file from the repository."
        ) from None
    return stored


def expected_values(
    truth: Mapping | None, stored_means: Mapping | None
) -> dict[str, ExpectedValue]:
    """What is expected of each recorded value of a simulated workbook.

    Parameters
    ----------
    truth : mapping or None
        The workbook's truth, as it is stored beside it; None for data that are not simulated.
    stored_means : mapping or None
        Means over simulated studies, as :func:`load_expected` reads them. They hold only for a workbook of the
        same parameters, and those of values of a judge only for a judge of the same parameters.

    Returns
    -------
    dict
        Key of a recorded value -> its expected value.

    Examples
    --------
    >>> planted = {"key": "alpha", "value": 0.9, "kind": "implied", "monte_carlo_error": 0.001}
    >>> truth = {"parameters": {"participants": 9}, "planted": [planted]}
    >>> mean = {"mean": 0.3, "sd": 0.1, "error": 0.01, "studies": 100}
    >>> means = {"studies": 100, "parameters": {"participants": 9}, "values": {"alpha": mean, "omega": mean}}
    >>> expected = expected_values(truth, means)
    >>> expected["alpha"].value, expected["alpha"].sd, expected["omega"].value, expected["omega"].source
    (0.9, 0.1, 0.3, "the companion's statistics, 100 studies")
    """
    if truth is None:
        return {}
    means = {}
    if stored_means is not None and stored_means["parameters"] == truth["parameters"]:
        means = _means_of_studies(stored_means, (truth.get("judge") or {}).get("parameters"))
    expected = {}
    for entry in truth["planted"]:
        key = entry["key"]
        mean = means.pop(key, None)
        if mean is not None and entry["kind"] == "parameter":
            expected[key] = mean
            continue
        true_value = ExpectedValue(entry["value"], entry.get("monte_carlo_error") or 0.0)
        if mean is not None:
            true_value = replace(true_value, sd=mean.sd, studies=mean.studies)
        expected[key] = true_value
    expected.update(means)
    return expected


def _means_of_studies(stored_means: Mapping, judge: Mapping | None) -> dict[str, ExpectedValue]:
    """Stored means that are numbers; those of values of a judge only for a judge of the same parameters."""
    same_judge = judge is not None and stored_means.get("judge", judge) == judge
    means = {}
    for key, entry in stored_means["values"].items():
        mean = entry["mean"]
        is_number = isinstance(mean, int | float) and math.isfinite(mean)
        of_judge = entry.get("judge", key.startswith(OF_JUDGE))
        if is_number and (same_judge or not of_judge):
            studies = entry["studies"]
            source = f"the companion's statistics, {studies:,} studies"
            means[key] = ExpectedValue(mean, entry["error"] or 0.0, entry["sd"], studies, source)
    return means
