r"""Whether observers of an empathic answer agree with the person who was answered, or with each other.

Fifty people wrote about a difficult situation, received one answer, and rated how it made them feel: understood,
validated, affirmed, seen, accepted, cared for (Yin, Jia and Wakslak, 2024). Three experts, a crowd and three language
models read the same texts and rated the same six feelings (Kumar and others, 2025). A rater's *score* of a
conversation is the mean of the six ratings. Agreement is Spearman's rank correlation of two raters' scores over
conversations, so that a rater who is merely stricter than another one loses nothing.

Intervals resample conversations, each with all that was said about it; every statistic, differences and corrections
included, is computed again from the ranks of each resample. The raters are few and fixed: an interval says what other
conversations might have given, and nothing about other experts or models. None of these ratings is of SENSE-7.

.. math:: \bar\rho = \tfrac{1}{3} \sum_e \rho(x_e, \tfrac{1}{2} \sum_{f \neq e} x_f), \quad
          \rho_c = \rho / \sqrt{\alpha_y \alpha_{\bar x}}, \quad
          \rho_u = u \rho / \sqrt{1 - \rho^2 + u^2 \rho^2}

are the agreement of experts; Spearman's (1904) correction for attenuation, with alpha of the person's six questions
and of the three experts; and Thorndike's (1949) for restriction of range, u the ratio of the experts' spread to the
person's. The usual spread is the standard deviation; by the distance of the quartiles u is much larger here, which
favors the person, so that both are shown. Both corrections were derived for Pearson's correlation.

References
----------
Kumar, A., and others (2025). arXiv 2506.10150. Yin, Y., Jia, N., & Wakslak, C. J. (2024). PNAS 121(14). Spearman, C.
(1904). American Journal of Psychology 15, 72-101. Thorndike, R. L. (1949). Personnel selection. Wiley.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pandas as pd

from sense7.findings.core import Number, finding, resampled, tabulate, value_row
from sense7.sources.released import (
    CROWD,
    EXPERTS,
    FEELINGS,
    JUDGES,
    PERSON,
    RELEASED,
    felt_heard,
    judged_conversations,
)
from sense7.statistics.alpha import alpha_from_sums, alpha_row, moments_by_participant
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_table
from sense7.statistics.order import rounded
from sense7.statistics.ranks import spearman_in_draws
from sense7.statistics.weighted import weighted_deviation, weighted_mean, weighted_quantile

__all__ = ["CREDIT", "facts", "main_groups", "panel", "tables", "verdict"]

CREDIT = (
    f"Ratings by observers: {RELEASED['judged_conversations'].acknowledgement} Ratings by the people who were "
    f"answered, released with them: {RELEASED['felt_heard'].also.partition(' Released with')[0]}"
)
"""Whose ratings these are, and under which license."""

RATERS = (PERSON, *EXPERTS, CROWD, *JUDGES)
NAMES = {"claude": "Claude 3.7 Sonnet", "gemini": "Gemini 2.5 Pro", "gpt": "GPT-4o", CROWD: "Crowd"}
SEEN = "seen in these data"
NOT_SETTLED = "not settled by these data"
OPPOSITE = "the opposite is seen in these data"

_RHO = "Spearman's rho"
_DIFFERENCE = "difference of Spearman's rho"
_LEVEL = "level, mean of six questions (1 to 7)"
_MEANS = "scores are means of six questions"
_CORRELATION = f"Spearman correlation; {_MEANS}"
_DIFFERENCE_METHOD = f"difference of Spearman correlations in the same conversations; {_MEANS}"


@dataclass(frozen=True, eq=False)
class Panel:
    """Conversations rated by the person who was answered and by observers."""

    items: pd.DataFrame
    answers: pd.DataFrame

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Mean over the questions: one column per rater and per mean of raters.

        ``experts`` and ``models`` are means of three, ``without_expert1`` is that of the other two experts. Nine
        decimals, so that equal means are ties.
        """
        scores = pd.DataFrame({rater: self.items[rater].mean(axis=1) for rater in RATERS})
        experts = scores[list(EXPERTS)]
        models = scores[list(JUDGES)]
        scores["experts"] = experts.mean(axis=1)
        scores["models"] = models.mean(axis=1)
        for expert in EXPERTS:
            scores[f"without_{expert}"] = experts.drop(columns=expert).mean(axis=1)
        return rounded(scores)


def panel() -> Panel:
    """The conversations of the corpus Perceived Empathy that the person who was answered rated, too.

    Examples
    --------
    >>> people = panel()
    >>> len(people.scores), people.scores[["self", "experts"]].mean().round(2).to_dict()
    (50, {'self': 5.57, 'experts': 3.4})
    """
    table = judged_conversations()
    table = table[(table["corpus"] == "perceived_empathy") & table[PERSON].notna()]
    items = table.pivot_table(index="conversation", columns="question", values=list(RATERS))
    items = items.astype(float)
    items = items.loc[:, list(product(RATERS, FEELINGS))]
    answers = felt_heard().set_index("participant")
    return Panel(items, answers.loc[items.index, ["label", "response"]])


def alpha_in_draws(bootstrap: ParticipantBootstrap, items: pd.DataFrame) -> np.ndarray:
    """Cronbach's alpha of items in all conversations and in every resample of them."""
    moments = moments_by_participant(items.to_numpy(dtype=float), items.index)
    return resampled(bootstrap, alpha_from_sums, *moments)


WITH_OTHERS = [(expert, f"without_{expert}") for expert in EXPERTS]
"""Each expert, and the mean of the other two."""

PAIRS = [
    *WITH_OTHERS,
    *combinations(JUDGES, 2),
    *product(NAMES, ["experts"]),
    *product([PERSON], ["experts", "models", *NAMES]),
    *product([PERSON], [two_experts for _, two_experts in WITH_OTHERS]),
]
"""Columns of :attr:`Panel.scores` whose correlation the page shows."""


def experts_agreement(rho: Mapping[tuple[str, str], np.ndarray]) -> np.ndarray:
    """Mean over three experts of the correlation of each with the mean of the other two."""
    return np.mean([rho[pair] for pair in WITH_OTHERS], axis=0)


@finding
def tables(people: Panel, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return all tables of the page: observers, person, differences, levels, noise, spread.

    The main difference favors the person: the mean of three experts is steadier than the mean of two.
    ``whose_difference_same_target`` is free of that: the person takes the place of the expert who is left out. For the
    models, the best of the three with the person is subtracted, chosen again in every resample.

    Returns
    -------
    dict of str to DataFrame
        Tables of estimates with names for readers; n counts conversations.

    Examples
    --------
    >>> people = panel()
    >>> conversations = pd.Series(people.scores.index, dtype=object)
    >>> by_name = tables(people, ParticipantBootstrap(conversations, 100, 1, unit="conversation"))
    >>> by_name["differences"]["estimate"].round(2).iloc[0]
    np.float64(0.57)
    """
    scores = people.scores.assign(label=people.answers["label"] == "ai")
    weights = bootstrap.times_taken(scores.index)
    rho = spearman_in_draws(scores, [*PAIRS, (PERSON, "label"), ("experts", "label")], weights)
    observers = experts_agreement(rho)
    models = np.mean([rho[pair] for pair in combinations(JUDGES, 2)], axis=0)
    experts_with_person = rho[PERSON, "experts"]
    given_label = experts_with_person - rho[PERSON, "label"] * rho["experts", "label"]
    given_label /= np.sqrt((1 - rho[PERSON, "label"] ** 2) * (1 - rho["experts", "label"] ** 2))
    best_model_with_person = np.max([rho[PERSON, judge] for judge in JUDGES], axis=0)
    two_experts_with_person = np.mean(
        [rho[PERSON, two_experts] for _, two_experts in WITH_OTHERS], axis=0
    )
    ratings_of_person = people.items[PERSON]
    scores_by_expert = scores[list(EXPERTS)]
    # Spearman's correction for attenuation; NaN where an alpha is not positive.
    alpha_of_person = alpha_in_draws(bootstrap, ratings_of_person)
    alpha_of_experts = alpha_in_draws(bootstrap, scores_by_expert)
    are_positive = (alpha_of_person > 0) & (alpha_of_experts > 0)
    product_of_alphas = np.where(are_positive, alpha_of_person * alpha_of_experts, np.nan)
    corrected = experts_with_person / np.sqrt(product_of_alphas)
    person, experts = scores[PERSON], scores["experts"]
    wider_by_sd = _ratio_of_spread(
        weighted_deviation(experts, weights), weighted_deviation(person, weights)
    )

    def distance_of_quartiles(ratings: pd.Series) -> np.ndarray:
        upper = weighted_quantile(ratings, 0.75, weights)
        return upper - weighted_quantile(ratings, 0.25, weights)

    wider_by_quartiles = _ratio_of_spread(
        distance_of_quartiles(experts), distance_of_quartiles(person)
    )

    def number(label: str, key: str, values: np.ndarray, unit: str, method: str) -> Number:
        return Number(
            label=label,
            statistic=values,
            unit=unit,
            method=method,
            rows=scores.index,
            key=f"whose_{key}",
        )

    def correlation(label: str, key: str, values: np.ndarray, method: str = _CORRELATION) -> Number:
        return number(label, key, values, _RHO, method)

    def difference(
        label: str, key: str, values: np.ndarray, method: str = _DIFFERENCE_METHOD
    ) -> Number:
        return number(label, key, values, _DIFFERENCE, method)

    def level(label: str, key: str, rater: str) -> Number:
        values = weighted_mean(scores[rater], weights)
        return number(label, key, values, _LEVEL, "mean over conversations")

    numbers_of_observers = [
        correlation(
            "One expert with the other two",
            "observers_agree",
            observers,
            f"mean over three experts of the {_CORRELATION}, each with the other two's mean",
        ),
        correlation(
            "Two models with each other",
            "models_agree",
            models,
            f"mean over three pairs; {_CORRELATION}",
        ),
    ]
    numbers_with_person = [
        correlation("Experts' mean with the person", "experts_with_person", experts_with_person)
    ]
    for name, title in NAMES.items():
        numbers_of_observers.append(
            correlation(f"{title} with the experts", f"{name}_with_experts", rho[name, "experts"])
        )
        numbers_with_person.append(
            correlation(f"{title} with the person", f"{name}_with_person", rho[PERSON, name])
        )
    numbers_with_person.append(
        correlation(
            "The three models' mean with the person", "models_with_person", rho[PERSON, "models"]
        )
    )
    differences = [
        difference(
            "Experts: with each other, minus with the person",
            "difference",
            observers - experts_with_person,
        ),
        difference(
            "Experts: the person in the place of one expert",
            "difference_same_target",
            observers - two_experts_with_person,
        ),
        difference(
            "Models: with each other, minus the best of them with the person",
            "models_difference",
            models - best_model_with_person,
        ),
        difference(
            "Claude 3.7 Sonnet: with the experts, minus with the person",
            "claude_difference",
            rho["claude", "experts"] - rho[PERSON, "claude"],
        ),
    ]
    levels = [
        level("The person", "level_self", PERSON),
        level("Crowd", "level_crowd", CROWD),
        level("Experts", "level_experts", "experts"),
        level("Models", "level_models", "models"),
        number(
            "Experts minus the person",
            "level_experts_minus_person",
            weighted_mean(scores["experts"] - scores[PERSON], weights),
            "level, difference",
            "mean paired difference over conversations",
        ),
    ]
    noise = [
        correlation(
            "Experts' mean with the person, corrected for both",
            "experts_with_person_corrected",
            corrected,
            "Spearman correlation by the root of the product of the two alphas",
        ),
        correlation(
            "Experts' mean with the person, given the label",
            "experts_with_person_given_label",
            given_label,
            "partial Spearman correlation, answers labeled as by an AI or by a person",
        ),
    ]
    spread = []
    for name, key, wider in (
        ("standard deviations", "sd", wider_by_sd),
        ("quartiles", "quartiles", wider_by_quartiles),
    ):
        # Thorndike's correction for restriction of range, of a scale that would be so many times as wide.
        wider_rho = wider * experts_with_person
        at_wider_spread = wider_rho / np.sqrt(1 - experts_with_person**2 + wider_rho**2)
        spread += [
            number(
                f"Spread of the experts' mean by that of the person: {name}",
                f"wider_{key}",
                wider,
                "ratio",
                f"ratio over conversations, {name}",
            ),
            correlation(
                f"Experts' mean with the person, at the experts' spread: {name}",
                f"experts_with_person_wider_{key}",
                at_wider_spread,
                f"Thorndike's correction by the ratio of {name}",
            ),
            difference(
                f"Experts: with each other, minus with the person at that spread: {name}",
                f"difference_wider_{key}",
                observers - at_wider_spread,
                "difference to the corrected one",
            ),
        ]
    alphas = {
        "The person's mean of six questions: alpha": alpha_row(
            ratings_of_person, bootstrap, key="whose_reliability_person"
        ),
        "The mean of three experts: alpha over experts": alpha_row(
            scores_by_expert, bootstrap, key="whose_reliability_experts"
        ),
    }
    return {
        "observers": tabulate("who with whom", numbers_of_observers, bootstrap),
        "person": tabulate("who with whom", numbers_with_person, bootstrap),
        "differences": tabulate("difference", differences, bootstrap),
        "levels": tabulate("mean rating", levels, bootstrap),
        "noise": pd.concat(
            [estimate_table(alphas, "reliability"), tabulate("reliability", noise, bootstrap)]
        ),
        "spread": tabulate("spread", spread, bootstrap),
    }


def _ratio_of_spread(wide: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rounded(narrow) > 0, wide / narrow, np.nan)


@finding
def facts(people: Panel, tables: dict[str, pd.DataFrame]) -> list[dict]:
    """Return what the page says in words and counts, as arguments of ``Recorder.value``."""
    n = len(people.scores)
    at_wider_quartiles = tables["spread"].iloc[-1]
    by_people = int((people.answers["response"] == "human").sum())
    labeled_ai = int((people.answers["label"] == "ai").sum())

    def row(key: str, estimate: object, n: int, unit: str, method: str) -> dict:
        return value_row(f"whose_{key}", estimate, n=n, unit=unit, method=method)

    def verdict_row(key: str, difference: pd.Series) -> dict:
        method = "whether the interval of the difference lies above zero"
        words = verdict(difference["low"], difference["high"])
        return row(key, words, int(difference["n"]), "verdict", method)

    rated = "conversations with ratings by the person who was answered"
    return [
        row("models", ", ".join(JUDGES.values()), len(JUDGES), "models", "as published"),
        row("people", n, n, "number of people", rated),
        row("answers_by_people", by_people, n, "number of conversations", "answered by a person"),
        row("answers_labeled_ai", labeled_ai, n, "number of conversations", "labeled as by an AI"),
        verdict_row("verdict_wider_quartiles", at_wider_quartiles),
    ]


def verdict(low: float, high: float) -> str:
    """Verdict of the interval of a difference (NaN if there is none), in words.

    Examples
    --------
    >>> verdict(0.2, 0.9), verdict(-0.1, 0.9), verdict(float("nan"), float("nan"))
    ('seen in these data', 'not settled by these data', 'not settled by these data')
    """
    if rounded(low) > 0:
        return SEEN
    if rounded(high) < 0:
        return OPPOSITE
    return NOT_SETTLED


def main_groups(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return agreement among observers, and of the same observers with the person, for the page's main figure."""
    observers, person = tables["observers"], tables["person"]
    order = [f"{NAMES[name]} with the person" for name in ("gemini", "gpt", CROWD)]
    order += ["Experts' mean with the person", f"{NAMES['claude']} with the person"]
    return {"Observers with each other": observers, "Observers with the person": person.loc[order]}
