"""What is expected of every recorded value of the project's simulated study.

Two sources, in this order:

- ``data/truth.json``: parameters that were put in, and what follows from them by plain array code that uses none of
  this library's statistics (``evidence/truth.py``). It has what a claim, a sentence or the coverage of intervals needs;
- ``data/expected.json``: for every recorded value its mean over many simulated studies, by the notebooks themselves.
  An error of a statistic shows in both its value and this mean, so that it says what the statistic measures, and
  not that it is right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sense7.taxonomy import SIMULATED_WORDS

FILE = "expected.json"
"""Name of the stored means, in ``data/``, and of what is expected in an edition."""

TRUTH = "truth.json"
"""Name of the stored values by plain code, in ``data/``."""

BEYOND = 1.96
"""Distances beyond this are expected of one normal value in twenty."""

INDEPENDENT = "independent code"
"""Source of a value by plain code."""

PUT_IN_COUNTS = frozenset(
    ("participants", "conversations_released", "llm_conditions", "tasks", "dimensions")
)
"""Keys of numbers of units that were put in as published."""

_SET_TO_PUBLISHED = frozenset(
    (
        "alpha_turn",
        "alpha_turn_feldt",
        "alpha_post",
        "applicability_Relational",
        "best_condition",
        "importance_affective",
        "importance_cognitive",
        "importance_response",
        "judge_accuracy",
        "judge_spearman",
        "kappa_affective",
        "kappa_linear_Affective",
        "kappa_linear_Relational",
        "kappa_relational",
        "poor_turn_d",
        "relational_applicability",
        "relational_very_poor",
        "very_poor_of_rated_Relational",
    )
)
"""Keys whose expected values were set near a published figure by the simulation's parameters."""

_OF_JUDGE = "judge_"


@dataclass(frozen=True)
class ExpectedValue:
    """What is expected of one recorded value, given the parameters of the simulation.

    Attributes
    ----------
    value : float
        The expected value.
    error : float
        Its Monte Carlo standard error; 0 of what was put in.
    sd : float or None
        Standard deviation of the recorded value over simulated studies of the same size; None if not known.
    studies : int or None
        Number of simulated studies behind ``sd`` in which the value was defined.
    source : str
        Where ``value`` comes from, in words.
    """

    value: float
    error: float = 0.0
    sd: float | None = None
    studies: int | None = None
    source: str = INDEPENDENT

    @property
    def is_put_in(self) -> bool:
        """Whether the value is a parameter of the simulation."""
        return self.source == INDEPENDENT and self.error == 0


def is_of_simulated_judge(value: Mapping) -> bool:
    """Whether a recorded value was computed from ratings of a simulated judge."""
    return (value["method"] or "").startswith(SIMULATED_WORDS)


def is_set_to_published(value: Mapping) -> bool:
    """Whether a recorded value of simulated data lies near a published figure because the simulation was set so.

    A judge's value does only if that judge is a simulated one.
    """
    is_of_simulation = not value["key"].startswith(_OF_JUDGE) or is_of_simulated_judge(value)
    return is_of_simulation and value["key"] in _SET_TO_PUBLISHED


def expected_values(
    truth: Mapping, stored_means: Mapping, judge: Mapping | None
) -> dict[str, ExpectedValue]:
    """What is expected of each recorded value of the simulated study.

    Parameters
    ----------
    truth : mapping
        Values by plain code.
    stored_means : mapping
        Means over simulated studies. They hold only for the same parameters.
    judge : mapping or None
        Parameters of the simulated judge that is shown. Values of a judge hold only for the same ones.

    Returns
    -------
    dict
        Key of a recorded value -> its expected value.

    Examples
    --------
    >>> common = {"parameters": {"participants": 9}, "judge": {"judge_runs": 2}}
    >>> truth = common | {"values": {"alpha": {"value": 0.9, "error": 0.001}}}
    >>> mean = {"mean": 0.3, "sd": 0.1, "error": 0.01, "studies": 100, "judge": False}
    >>> means = common | {"values": {"alpha": mean, "omega": mean}}
    >>> expected = expected_values(truth, means, None)
    >>> expected["alpha"].value, expected["alpha"].sd, expected["omega"].value, expected["omega"].source
    (0.9, 0.1, 0.3, "the companion's statistics, 100 studies")
    """
    expected = {}
    means = {}
    if stored_means["parameters"] == truth["parameters"]:
        means = stored_means["values"]
    for key, entry in means.items():
        if judge == stored_means["judge"] or not entry["judge"]:
            studies = entry["studies"]
            source = f"the companion's statistics, {studies:,} studies"
            expected[key] = ExpectedValue(
                entry["mean"], entry["error"], entry["sd"], studies, source
            )
    for key, entry in truth["values"].items():
        if key.startswith(_OF_JUDGE) and judge != truth["judge"]:
            continue
        value = ExpectedValue(entry["value"], entry["error"])
        if key in expected:
            value = replace(value, sd=expected[key].sd, studies=expected[key].studies)
        expected[key] = value
    return expected
