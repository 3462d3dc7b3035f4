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
and of the three experts; and Thorndike's (1949) for restriction of range, u the larger of the two ratios of spread
(standard deviation, distance of the quartiles), which favors the person. Both corrections were derived for Pearson's
correlation.

References
----------
Kumar, A., and others (2025). arXiv 2506.10150. Yin, Y., Jia, N., & Wakslak, C. J. (2024). PNAS 121(14). Spearman, C.
(1904). American Journal of Psychology 15, 72-101. Thorndike, R. L. (1949). Personnel selection. Wiley.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
import pandas as pd

from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ConversationBootstrap
from sense7.estimators.estimates import estimate_table
from sense7.estimators.order import rounded
from sense7.findings.core import Number, Resamples, finding, tabulate
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

__all__ = ["CREDIT", "facts", "main_groups", "panel", "tables", "verdict"]

CREDIT = (
    f"Ratings by observers: {RELEASED['judged_conversations'].acknowledgement} Ratings by the people who were "
    f"answered, released with them: {RELEASED['felt_heard'].credit.partition(' Released with')[0]}"
)
"""Whose ratings these are, and under which license."""

RATERS = (PERSON, *EXPERTS, CROWD, *JUDGES)
NAMES = {"claude": "Claude 3.7 Sonnet", "gemini": "Gemini 2.5 Pro", "gpt": "GPT-4o", CROWD: "Crowd"}
SEEN, NOT_SETTLED, OPPOSITE = (
    "seen in these data",
    "not settled by these data",
    "the opposite is seen in these data",
)
RHO, DIFFERENCE, MEANS = (
    "Spearman's rho",
    "difference of Spearman's rho",
    "scores are means of six questions",
)


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
        experts, models = scores[list(EXPERTS)], scores[list(JUDGES)]
        others = {f"without_{one}": experts.drop(columns=one).mean(axis=1) for one in EXPERTS}
        return rounded(
            scores.assign(experts=experts.mean(axis=1), models=models.mean(axis=1), **others)
        )


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
    items = table.pivot_table(index="conversation", columns="question", values=list(RATERS)).astype(
        float
    )
    items = items.loc[:, [(rater, question) for rater in RATERS for question in FEELINGS]]
    return Panel(
        items, felt_heard().set_index("participant").loc[items.index, ["label", "response"]]
    )


def experts_agreement(r: Resamples) -> np.ndarray:
    """Mean over three experts of the correlation of each with the mean of the other two."""
    return np.mean([r.spearman(expert, f"without_{expert}") for expert in EXPERTS], axis=0)


@finding
def tables(people: Panel, bootstrap: ConversationBootstrap) -> dict[str, pd.DataFrame]:
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
    >>> found = tables(people, ConversationBootstrap(pd.Series(people.scores.index, dtype=object), 100, 1))
    >>> found["differences"]["estimate"].round(2).iloc[0]
    np.float64(0.57)
    """
    r, s = Resamples(people.scores, bootstrap), people.scores
    rho, with_person = r.spearman, partial(r.spearman, PERSON)
    agree, models = (
        experts_agreement(r),
        np.mean([rho(*pair) for pair in combinations(JUDGES, 2)], axis=0),
    )
    best = np.max([with_person(judge) for judge in JUDGES], axis=0)
    two = np.mean([with_person(f"without_{expert}") for expert in EXPERTS], axis=0)
    experts = with_person("experts")
    own, by_expert = people.items[PERSON], s[list(EXPERTS)]
    of_person, of_experts = r.alpha(own), r.alpha(by_expert)
    with np.errstate(invalid="ignore", divide="ignore"):
        corrected = experts / np.sqrt(
            np.where((of_person > 0) & (of_experts > 0), of_person * of_experts, np.nan)
        )
        deviations = [r.deviation(s[name]) for name in (PERSON, "experts")]
        quartiles = [
            r.quantile(s[name], 0.75) - r.quantile(s[name], 0.25) for name in (PERSON, "experts")
        ]
        ratios = [np.where(rounded(a) > 0, b / a, np.nan) for a, b in (deviations, quartiles)]
    u = np.maximum(*ratios)
    wider = u * experts / np.sqrt(1 - experts**2 + (u * experts) ** 2)

    how = f"Spearman correlation; {MEANS}"
    differ = f"difference of Spearman correlations in the same conversations; {MEANS}"
    level, mean = "level, mean of six questions (1 to 7)", "mean over conversations"
    apart = f"mean over three experts of the {how}, each with the other two's mean"
    attenuated = "Spearman correlation by the root of the product of the two alphas"
    restricted = "Thorndike's correction, larger of the two ratios"
    declared = {
        ("observers", "who with whom"): [
            ("observers_agree", "One expert with the other two", agree, RHO, apart),
            (
                "models_agree",
                "Two models with each other",
                models,
                RHO,
                f"mean over three pairs; {how}",
            ),
            *(
                (
                    f"{name}_with_experts",
                    f"{NAMES[name]} with the experts",
                    rho(name, "experts"),
                    RHO,
                    how,
                )
                for name in NAMES
            ),
        ],
        ("person", "who with whom"): [
            ("experts_with_person", "Experts' mean with the person", experts, RHO, how),
            *(
                (
                    f"{name}_with_person",
                    f"{NAMES[name]} with the person",
                    with_person(name),
                    RHO,
                    how,
                )
                for name in NAMES
            ),
            (
                "models_with_person",
                "The three models' mean with the person",
                with_person("models"),
                RHO,
                how,
            ),
        ],
        ("differences", "difference"): [
            (
                "difference",
                "Experts: with each other, minus with the person",
                agree - experts,
                DIFFERENCE,
                differ,
            ),
            (
                "difference_same_target",
                "Experts: the person in the place of one expert",
                agree - two,
                DIFFERENCE,
                differ,
            ),
            (
                "models_difference",
                "Models: with each other, minus the best of them with the person",
                models - best,
                DIFFERENCE,
                differ,
            ),
            (
                "claude_difference",
                "Claude 3.7 Sonnet: with the experts, minus with the person",
                rho("claude", "experts") - with_person("claude"),
                DIFFERENCE,
                differ,
            ),
        ],
        ("levels", "mean rating"): [
            ("level_self", "The person", r.mean(s[PERSON]), level, mean),
            ("level_crowd", "Crowd", r.mean(s[CROWD]), level, mean),
            ("level_experts", "Experts", r.mean(s["experts"]), level, mean),
            ("level_models", "Models", r.mean(s["models"]), level, mean),
            (
                "level_experts_minus_person",
                "Experts minus the person",
                r.mean(s["experts"] - s[PERSON]),
                "level, difference",
                "mean paired difference over conversations",
            ),
        ],
        ("noise", "reliability"): [
            (
                "experts_with_person_corrected",
                "Experts' mean with the person, corrected for both",
                corrected,
                RHO,
                attenuated,
            )
        ],
        ("spread", "spread"): [
            (
                "experts_with_person_spread",
                "Experts' mean with the person, if the person varied so much more",
                wider,
                RHO,
                restricted,
            ),
            (
                "difference_spread",
                "Experts: with each other, minus with the person at that spread",
                agree - wider,
                DIFFERENCE,
                "difference to the corrected one",
            ),
        ],
    }
    found = {}
    for (name, rows), lines in declared.items():
        numbers = [
            Number(title, partial(np.asarray, values), unit, method, s.index, f"whose_{key}")
            for key, title, values, unit, method in lines
        ]
        found[name] = tabulate(rows, numbers, r.bootstrap)
    alphas = {
        "The person's mean of six questions: alpha": alpha_row(own, r.bootstrap)
        | {"key": "whose_reliability_person"},
        "The mean of three experts: alpha over experts": alpha_row(by_expert, r.bootstrap)
        | {"key": "whose_reliability_experts"},
    }
    found["noise"] = pd.concat([estimate_table(alphas, "reliability"), found["noise"]])
    return found


@finding
def facts(people: Panel, tables: dict[str, pd.DataFrame]) -> list[dict]:
    """Return what the page says in words and counts, as arguments of ``Recorder.value``."""
    n, main, wider = len(people.scores), tables["differences"].iloc[0], tables["spread"].iloc[-1]
    interval, by_people, by_ai = (
        "whether the interval of the difference lies above zero",
        int((people.answers["response"] == "human").sum()),
        int((people.answers["label"] == "ai").sum()),
    )
    rows = [
        ("models", ", ".join(JUDGES.values()), len(JUDGES), "models", "as published"),
        ("people", n, n, "people", "conversations with ratings by the person who was answered"),
        ("answers_by_people", by_people, n, "conversations", "answered by a person"),
        ("answers_labeled_ai", by_ai, n, "conversations", "labeled as by an AI"),
        ("verdict", verdict(main["low"], main["high"]), int(main["n"]), "verdict", interval),
        (
            "verdict_spread",
            verdict(wider["low"], wider["high"]),
            int(wider["n"]),
            "verdict",
            interval,
        ),
    ]
    columns = ("key", "estimate", "n", "unit", "method")
    return [dict(zip(columns, (f"whose_{key}", *rest), strict=True)) for key, *rest in rows]


def verdict(low: float, high: float) -> str:
    """Verdict of the interval of a difference (NaN if there is none), in words.

    Examples
    --------
    >>> verdict(0.2, 0.9), verdict(-0.1, 0.9), verdict(float("nan"), float("nan"))
    ('seen in these data', 'not settled by these data', 'not settled by these data')
    """
    return SEEN if rounded(low) > 0 else OPPOSITE if rounded(high) < 0 else NOT_SETTLED


def main_groups(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return agreement among observers, and of the same observers with the person, for the page's main figure."""
    observers, person = tables["observers"], tables["person"]
    order = [f"{NAMES[name]} with the person" for name in ("gemini", "gpt", CROWD)]
    order += ["Experts' mean with the person", f"{NAMES['claude']} with the person"]
    return {"Observers with each other": observers, "Observers with the person": person.loc[order]}
