r"""May a language model take an expert's place? The alternative annotator test on four corpora with three experts.

Each question of each corpus is a test of its own: three experts, fifty conversations. Each expert is left out in turn,
and the model and that expert are compared by how close they come to the other two. Then the same with the person who
was answered in place of the other experts, on the questions that this person answered too: whose rating is closer to
theirs, the model's or an expert's?

The p values of a model, over all questions and experts, are corrected together at a false discovery rate of 5%, as
the authors of the test advise for several domains.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alternative_annotator import alternative_test, benjamini_yekutieli, winning_rate, wins
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.judge.scoring.three_judges import ALL, ByQuestion, CorpusBootstrap
from sense7.sources.released import EXPERTS, JUDGES, PERSON

__all__ = ["EPSILON", "against_experts", "against_the_person", "passed"]

EPSILON = 0.2
"""What a model may be worse by than an expert, as the authors of the test advise for experts."""

PASSED = 0.5
"""Winning rate from which a judge may take the annotators' place."""

_ADVANTAGE = "average advantage probability: share of conversations on which the model is at least as close to"
_RATE = f"winning rate at epsilon {EPSILON:g}, Benjamini-Yekutieli over questions and experts"


def against_experts(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, ByQuestion]:
    r"""Models compared with each expert by closeness to the other two experts.

    Parameters
    ----------
    judged : DataFrame
        As :func:`sense7.judge.scoring.three_judges.ratings` returns it.
    resampling : CorpusBootstrap
        Resamples of conversations within corpora.

    Returns
    -------
    dict
        "advantage": :math:`\rho`, mean over experts; "rate": the winning rate :math:`\omega`. Each by question and
        model. Rates of resamples are those of tests that are made again in each.

    Examples
    --------
    >>> from sense7.judge.scoring.three_judges import CorpusBootstrap, ratings
    >>> judged = ratings()
    >>> found = against_experts(judged, CorpusBootstrap(judged, draws=100, seed=1))
    >>> found["rate"].estimates.loc[("empatheticdialogues", "empathy")].round(3).tolist()
    [0.0, 0.0, 0.0]
    """
    return _compared(judged, resampling, "the other two as the expert left out", None)


def against_the_person(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, ByQuestion]:
    """Models compared with each expert by closeness to the rating of the person who was answered.

    Parameters
    ----------
    judged, resampling
        As for :func:`against_experts`; only questions that the person answered count.

    Returns
    -------
    dict
        As :func:`against_experts`.
    """
    asked = judged[judged[PERSON].notna()]
    return _compared(asked, resampling, "the person's own rating as an expert", PERSON)


def _compared(
    judged: pd.DataFrame, resampling: CorpusBootstrap, closer: str, reference: str | None
) -> dict[str, ByQuestion]:
    """Advantage and winning rate; (resamples, questions, models) each."""
    tests, resampled, names = [], [], []
    for name, group in judged.groupby(["corpus", "question"], sort=False):
        own = resampling.corpora[name[0]]
        names.append(name)
        tests.append(_question(group, reference, np.ones((1, len(group)))))
        resampled.append(_question(group, reference, own.weights()[:, own.codes(group["conversation"])]))
    point, drawn = _gathered(tests), _gathered(resampled)
    index = pd.MultiIndex.from_tuples(names, names=["corpus", "question"])
    whom = "person" if reference else "experts"
    keys = {
        name: lambda judge, row, name=name: f"alternative_{name}_{whom}_{judge}_{row}" if row == ALL else ""
        for name in ("advantage", "rate")
    }
    methods = {"advantage": f"{_ADVANTAGE} {closer}", "rate": f"{_RATE}; {closer}"}
    units = {"advantage": "share of conversations", "rate": "share of experts"}
    return {
        name: ByQuestion(
            pd.DataFrame(point[place][0], index, list(JUDGES)),
            drawn[place],
            resampling,
            units[name],
            methods[name],
            keys[name],
        )
        for place, name in enumerate(keys)
    }


def _question(group: pd.DataFrame, reference: str | None, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Advantages and p values of one question: (resamples, models, experts)."""
    experts = group[list(EXPERTS)].to_numpy(dtype=float)
    own = None if reference is None else group[reference].to_numpy(dtype=float)
    tests = [
        alternative_test(wins(group[judge].to_numpy(dtype=float), experts, own), EPSILON, weights) for judge in JUDGES
    ]
    shape = (len(weights), len(EXPERTS))
    return tuple(np.stack([part.reshape(shape) for part in parts], axis=1) for parts in zip(*tests, strict=True))


def _gathered(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean advantage and winning rate, (resamples, questions, models)."""
    advantages, p = (np.stack(parts, axis=1) for parts in zip(*found, strict=True))
    rejected = np.empty(p.shape, dtype=bool)
    for judge in range(p.shape[2]):
        tests = p[:, :, judge].reshape(len(p), -1)
        rejected[:, :, judge] = benjamini_yekutieli(tests).reshape(p[:, :, judge].shape)
    return advantages.mean(axis=-1), winning_rate(rejected, p)


def passed(found: Mapping[str, ByQuestion], kind: str) -> pd.DataFrame:
    """Number of questions on which each model may take the experts' place: winning rate of at least one half.

    Parameters
    ----------
    found : mapping
        As :func:`against_experts` returns it.
    kind : str
        ``experts`` or ``person``, for the keys.

    Returns
    -------
    DataFrame
        Table of estimates by model: how many of the questions.
    """
    rates = found["rate"].estimates
    rows = {
        name: estimate_row(
            int((rates[judge] >= PASSED).sum()),
            n=len(rates),
            unit="questions",
            method=f"{_RATE}; winning rate of at least {PASSED:g}",
            reason="a count of decisions has no interval",
            key=f"alternative_passed_{kind}_{judge}",
        )
        for judge, name in JUDGES.items()
    }
    return estimate_table(rows, "model")


check_arguments(globals())
