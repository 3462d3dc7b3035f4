r"""Does it hold elsewhere? The findings of SENSE-7, put to ratings that other studies released.

Three things stand here: what iEval's conversations say, with the statistics that the other pages use for SENSE-7; what
the experiment Felt heard and the four corpora of Kumar and others add; and the findings that they asked about
(:data:`FINDINGS`), on which a verdict follows from an interval by a rule. The rule is that of the claim itself where
the released data allow it.

Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain Empathetic
Chatbots. SIGDIAL.

Yin, Y., Jia, N., Wakslak, C. J. (2024). AI can help people feel heard, but an AI label diminishes this impact. PNAS,
121(14).

Kumar, A., Poungpeth, N., Yang, D., Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are Reliable
for Judging Empathic Communication. arXiv 2506.10150.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.files import parse_yaml
from sense7.findings.core import (
    Number,
    finding,
    frame_of,
    mean_number,
    resampled,
    tabulate,
    value_row,
)
from sense7.findings.individualized import (
    COMPARED,
    relations,
    variance_shares,
)
from sense7.findings.measures import turn_ratings
from sense7.findings.poor_turn import empathy_and_experience
from sense7.findings.reliability import correlations
from sense7.findings.whose_empathy import WITH_OTHERS, experts_agreement, panel
from sense7.sources import released
from sense7.sources.released import CORPORA, EXPERTS, FEELINGS, PERSON, ieval_study
from sense7.statistics.alpha import alpha_row
from sense7.statistics.bootstrap import (
    ParticipantBootstrap,
    ratio,
)
from sense7.statistics.estimates import estimate_table
from sense7.statistics.least_squares import cross_products, indicators
from sense7.statistics.ranks import spearman_in_draws
from sense7.study import Study

__all__ = [
    "comparisons",
    "felt_heard",
    "felt_heard_resampling",
    "felt_heard_tables",
    "felt_heard_verdict",
    "ieval",
    "published",
    "released_tables",
    "rules",
    "tables",
    "values_of",
    "verdict",
    "verdicts_of_claim",
]

# iEval

STATEMENTS = {
    "Affective": "understood",
    "Response": "appropriate",
    "Interest": "attentive",
    "Contextual": "sensible",
    "Prosocial": "polite",
}
"""Dimension that a statement of iEval stands for -> the statement."""


def ieval() -> Study:
    """Return the conversations of iEval as a study, with the valence of the scenario as its topic.

    1,920 conversations of 240 people with four bots, rated by those who had them; topic is ``positive`` or
    ``negative``. Of SENSE-7's dimensions five were asked (``STATEMENTS``).

    Examples
    --------
    >>> ieval().conversations.groupby("topic").size().to_dict()
    {'negative': 960, 'positive': 960}
    """
    study = ieval_study()
    table = released.ieval_conversations()
    names = table["worker"] + "-" + table["valence"].str[:3] + "-" + table["bot"]
    valence_of = pd.Series(table["valence"].to_numpy(), index=names)
    valence = valence_of.loc[study.conversations["conversation"]].to_numpy()
    return replace(study, conversations=study.conversations.assign(topic=valence))


@finding
def individual(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return how the page on individual judgments compares persons in iEval, and the shares of condition and context.

    Bots are the conditions, valence is the context: :func:`sense7.findings.individualized.variance_shares`.
    """
    shares = variance_shares(study, bootstrap).loc[[*COMPARED, "condition", "context"]]
    return shares.assign(key="ieval_" + shares["key"])


@finding
def tables(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return the tables of estimates of iEval and of the corpora.

    - ``consistency``: alpha of iEval's five statements, and two correlations that its authors report.
    - ``individual``: what the claims on individual judgments and on context are judged by, and the bots' share.
    - ``liking``: Spearman correlations of the empathy ratings with liking the bot, over conversations, and of people's
      means with the Toronto Empathy Questionnaire.
    - ``corpora``: alpha of the questions that three experts answered about 50 conversations each; in Lend an Ear three
      questions about faults are turned round (lowest plus highest minus the rating). EmpatheticDialogues is left out:
      one of its three questions is about empathy, the others about fluency and relevance.
    - ``judge``: observers' agreement minus that of a model (Gemini 2.5 Pro, which the ratings' authors call the LLM)
      with the person, see :mod:`sense7.findings.whose_empathy`.
    """
    if study.participants is None or "TEQ" not in study.participants:
        raise UserError(
            f"tables wants the study of iEval, which s7.elsewhere.ieval() gives. {study.name} has no column TEQ "
            "(Toronto Empathy Questionnaire) of participants."
        )
    ratings = turn_ratings(study)[list(STATEMENTS)].rename(columns=STATEMENTS).dropna(how="all")
    pairs = correlations(ratings, bootstrap)
    consistency = named(
        "measure",
        ("alpha of the five statements", "ieval_alpha", alpha_row(ratings, bootstrap)),
        (
            "understood with appropriate",
            "ieval_understood_appropriate_r",
            pairs.loc["understood with appropriate"],
        ),
        (
            "attentive with sensible",
            "ieval_attentive_sensible_r",
            pairs.loc["attentive with sensible"],
        ),
    )
    liking = named(
        "correlation",
        (
            "liking with the mean rating",
            "ieval_liking",
            empathy_and_experience(study, bootstrap).loc["positive interaction"],
        ),
        (
            "questionnaire with the mean rating",
            "ieval_teq",
            relations(study, bootstrap).estimates.loc["TEQ"],
        ),
    )
    return {
        "consistency": consistency,
        "individual": individual(study, bootstrap),
        "liking": liking,
        "corpora": alpha_of_corpora(bootstrap),
        "judge": judge_agreement(bootstrap),
    }


def named(name: str, *rows: tuple) -> pd.DataFrame:
    """A table of estimates from (label, key, estimate)."""
    by_label = {}
    for label, key, estimate in rows:
        by_label[label] = dict(estimate)
        by_label[label]["key"] = key
    return estimate_table(by_label, name)


def of_conversations(
    conversations: pd.Index, bootstrap: ParticipantBootstrap
) -> ParticipantBootstrap:
    """As many resamples of conversations."""
    units = pd.Series(conversations, dtype=object)
    return replace(bootstrap, participants=units, unit="conversation")


@finding
def alpha_of_corpora(bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Alpha of the questions that experts answered about one conversation."""
    # Of these questions a high rating is a fault.
    reversed_questions = ("advice_giving", "dismissing_emotions", "self_oriented")
    questions = {
        "perceived_empathy": "six feelings",
        "epitome": "three mechanisms",
        "lend_an_ear": "six behaviors",
    }
    conversations = released.judged_conversations()
    rows = []
    for corpus, words in questions.items():
        ratings = conversations[conversations["corpus"] == corpus]
        if corpus == "perceived_empathy":
            ratings = ratings[ratings["question"].isin(FEELINGS)]
        is_reversed = ratings["question"].isin(reversed_questions)
        tables_of_experts = []
        for expert in EXPERTS:
            turned = ratings["lowest"] + ratings["highest"] - ratings[expert]
            levels = ratings.assign(level=ratings[expert].where(~is_reversed, turned))
            tables_of_experts.append(
                levels.pivot_table(index="conversation", columns="question", values="level")
            )
        resampling = of_conversations(pd.unique(ratings["conversation"]), bootstrap)
        row = alpha_row(pd.concat(tables_of_experts), resampling)
        row["method"] = f"rated by three experts; {row['method']}"
        rows.append((f"{CORPORA[corpus]}, {words}", f"elsewhere_alpha_{corpus}", row))
    return named("questions", *rows)


@finding
def judge_agreement(bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Language models' agreement with the person, and how far the best of three stays below observers' agreement."""
    people = panel()
    resampling = of_conversations(people.scores.index, bootstrap)
    weights = resampling.times_taken(people.scores.index)
    pairs = [*WITH_OTHERS, ("gemini", PERSON), ("models", PERSON)]
    rho = spearman_in_draws(people.scores, pairs, weights)
    with_person = Number(
        label="the mean of three models with the person",
        statistic=rho["models", PERSON],
        unit="Spearman's rho",
        method="the models' mean with the person; means of six feelings",
        rows=people.scores.index,
        key="elsewhere_judge_with_person",
    )
    difference = Number(
        label="observers with each other, minus the model with the person",
        statistic=experts_agreement(rho) - rho["gemini", PERSON],
        unit="difference of Spearman's rho",
        method=(
            "an expert with the mean of the other two (mean over three), minus the model with the person; "
            "means of six feelings"
        ),
        rows=people.scores.index,
        key="elsewhere_judge_difference",
    )
    return tabulate("agreement", [with_person, difference], resampling)


# Felt heard. Every person got one answer, so the four combinations of source (who answered) and label (who was said to
# have answered) are groups of different people. Every group counts the same, not by its number of people.

SOURCES = {"ai": "answer by an AI", "human": "answer by a person"}
LABELS = {"ai": "labeled as by an AI", "human": "labeled as by a person"}
SOURCE = "source: AI minus person"
LABEL = "label: person minus AI"
EFFECTS = {
    SOURCE: ("source", (0.5, 0.5, -0.5, -0.5)),
    LABEL: ("label", (-0.5, 0.5, -0.5, 0.5)),
    "interaction: difference of the two label effects": ("interaction", (-1.0, 1.0, 1.0, -1.0)),
    "honest labels: AI minus person": ("honest_labels", (1.0, 0.0, 0.0, -1.0)),
}
"""Effect -> end of its key, and weights of the means of the four groups: source AI, label AI, human; source human."""
POINTS = "points (scale from 1 to 7)"


def felt_heard() -> pd.DataFrame:
    """Return the ratings of every person: participant, response and label, six feelings and ``mean of six`` (1 .. 7).

    Examples
    --------
    >>> felt_heard().groupby(["response", "label"])["mean of six"].mean().round(3).to_dict()
    {('ai', 'ai'): 5.407, ('ai', 'human'): 6.118, ('human', 'ai'): 4.82, ('human', 'human'): 5.511}
    """
    table = released.felt_heard().copy()
    table["mean of six"] = table[list(FEELINGS)].mean(axis=1)
    return table


def felt_heard_resampling(
    table: pd.DataFrame, draws: int, seed: int, confidence: float = 0.95
) -> ParticipantBootstrap:
    """Return bootstrap resamples of people within the four groups, whose sizes the experiment fixed."""
    groups = table["response"] + " " + table["label"]
    return ParticipantBootstrap(table["participant"], draws, seed, confidence, strata=groups)


@finding
def felt_heard_tables(
    table: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> dict[str, pd.DataFrame]:
    r"""Return the means of the four groups by source, the effects, and how consistent the six feelings are.

    With :math:`\bar y_{rl}` the mean of those whose answer came from r and was labeled as from l (a: AI, h: human),

    .. math::

       \text{source} &= \tfrac{1}{2}(\bar y_{aa} + \bar y_{ah}) - \tfrac{1}{2}(\bar y_{ha} + \bar y_{hh}) \\
       \text{label} &= \tfrac{1}{2}(\bar y_{ah} + \bar y_{hh}) - \tfrac{1}{2}(\bar y_{aa} + \bar y_{ha}) \\
       \text{interaction} &= (\bar y_{ah} - \bar y_{aa}) - (\bar y_{hh} - \bar y_{ha})

    These are the coefficients of a linear model with both factors coded as plus and minus one half.

    Examples
    --------
    >>> table = felt_heard()
    >>> by_name = felt_heard_tables(table, felt_heard_resampling(table, draws=200, seed=1))
    >>> by_name["effects"]["estimate"].round(3).to_list(), by_name["feelings"]["estimate"].round(3).to_list()
    ([0.598, 0.701, 0.02, -0.103], [0.969, 0.163])
    """
    groups = {}
    for source, label in product(SOURCES, LABELS):
        is_member = (table["response"] == source) & (table["label"] == label)
        groups[source, label] = table[is_member]

    def mean_of_group(source: str, label: str) -> Number:
        group = groups[source, label]
        return mean_number(
            bootstrap,
            group["mean of six"],
            group,
            label=LABELS[label],
            unit=POINTS,
            method="mean over people, mean of six",
            key=f"felt_heard_mean_{source}_{label}",
        )

    by_name = {}
    for source, words in SOURCES.items():
        means = [mean_of_group(source, label) for label in LABELS]
        by_name[words] = tabulate("label", means, bootstrap)

    # Of each person the rating and 1 in the column of their group: shape (people, 4, 2).
    group_names = [f"{source} {label}" for source, label in groups]
    in_groups = indicators(table["response"] + " " + table["label"], group_names)
    values = cross_products(in_groups, np.column_stack([table["mean of six"], np.ones(len(table))]))
    group_means = resampled(bootstrap, ratio, values, table["participant"])

    def effect(label: str, key: str, weights: np.ndarray) -> Number:
        return Number(
            label=label,
            statistic=group_means @ weights,
            unit=POINTS,
            method="difference of group means, each group counted the same; mean of six",
            rows=table[in_groups[:, weights != 0].any(axis=1)],
            key=f"felt_heard_{key}",
        )

    effects = []
    for label, (key, weights) in EFFECTS.items():
        effects.append(effect(label, key, np.array(weights)))
    by_name["effects"] = tabulate("effect", effects, bootstrap)

    feelings = table.set_index("participant")[list(FEELINGS)]
    is_highest = (feelings == 7).all(axis=1).to_numpy()
    ceiling = mean_number(
        bootstrap,
        is_highest,
        table,
        label="highest rating to all six",
        unit="share of people",
        method="share of people who gave the highest rating to all six feelings",
    )
    by_name["feelings"] = named(
        "measure",
        ("Cronbach's alpha", "felt_heard_alpha", alpha_row(feelings, bootstrap)),
        (ceiling.label, "felt_heard_ceiling_all", ceiling.row(bootstrap)),
    )
    return by_name


@finding
def felt_heard_verdict(effects: pd.DataFrame) -> dict:
    """Return the verdict on the effects of source and label that the study's title claims, for a record.

    "Seen" only if the intervals of source (AI minus person) and label (person minus AI) both lie above zero; "the
    opposite" if both lie below; else "not seen".
    """
    pair = effects.loc[[SOURCE, LABEL]]
    words = "not seen: an interval of source or label holds zero, or they have different signs"
    if (pair["low"] > 0).all():
        words = "seen: the intervals of source and label both lie above zero"
    elif (pair["high"] < 0).all():
        words = "the opposite: the intervals of source and label both lie below zero"
    return value_row(
        "felt_heard_verdict",
        words,
        n=int(pair["n"].max()),
        unit="verdict",
        method="rule on the intervals of source and label",
    )


def released_tables() -> pd.DataFrame:
    """Return what each released table has, one row per table: rows, what a row is, and credit with license and source.

    Examples
    --------
    >>> released_tables()["rows"].sum()
    np.int64(3791)
    """
    rows = {}
    for table in released.RELEASED.values():
        rows[table.title] = (table.rows, table.row, table.acknowledgement)
    return frame_of(rows, "table", ["rows", "a row is a", "credit"])


def values_of(tables: Mapping[str, pd.DataFrame]) -> dict[str, dict]:
    """Return rows of tables by their keys, as recorded values are read."""
    return {row["key"]: row for table in tables.values() for row in table.to_dict("records")}


# Comparisons with SENSE-7

SEEN = "seen here too"
NOT_SEEN = "not seen"
OPPOSITE = "the opposite"
NO_INTERVAL = "no verdict"
"""What stands where a value has no interval: then nothing is said."""


@dataclass(frozen=True)
class Rule:
    """Rule by which an interval becomes a verdict."""

    line: float
    contrary: float
    reason: str
    also: str = ""
    """Key of a second number whose interval has to lie above the line as well."""


@dataclass(frozen=True)
class Finding:
    """A finding of SENSE-7 and where else it was asked: data set -> key, measure and rule."""

    title: str
    claim: str
    asked: Mapping[str, tuple[str, str, Rule]]


OWN = "the claim's own rule"
_ALPHA = Rule(
    0.8,
    0.7,
    "not the claim's, which compares with a published figure for other questions. An alpha of 0.8 is customarily asked "
    "of a scale in research (Nunnally, 1978); below 0.7 ratings are not called consistent",
)

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "Who rates matters most",
        "finding_individualized",
        {
            "iEval": (
                "ieval_participant_share_beyond_condition_and_topic",
                "person's share minus that of chatbot and scenario",
                Rule(0.0, 0.0, OWN),
            )
        },
    ),
    Finding(
        "Judgments depend on the context",
        "finding_context_sensitive",
        {
            "iEval": (
                "ieval_context_share",
                "share that the kind of scenario explains",
                Rule(0.0, 0.0, f"{OWN}, with the kind of scenario as all of the context"),
            )
        },
    ),
    Finding(
        "A language model agrees in part",
        "judge_spearman",
        {
            "Perceived Empathy": (
                "elsewhere_judge_with_person",
                "correlation of three models' mean with the person",
                Rule(
                    0.0,
                    0.0,
                    "not the claim's, which compares with a published figure of another judge. In part means more than "
                    "not at all, and less than observers agree among themselves: both intervals lie above zero",
                    also="elsewhere_judge_difference",
                ),
            )
        },
    ),
    Finding(
        "Ratings are internally consistent",
        "alpha_turn",
        {
            "iEval": ("ieval_alpha", "alpha of five statements, by the user", _ALPHA),
            "Felt heard": (
                "felt_heard_alpha",
                "alpha of six feelings, by the person answered",
                _ALPHA,
            ),
            "Perceived Empathy": (
                "elsewhere_alpha_perceived_empathy",
                "alpha of six feelings, by experts",
                _ALPHA,
            ),
            CORPORA["epitome"]: (
                "elsewhere_alpha_epitome",
                "alpha of three mechanisms, by experts",
                _ALPHA,
            ),
            CORPORA["lend_an_ear"]: (
                "elsewhere_alpha_lend_an_ear",
                "alpha of six behaviors, by experts",
                _ALPHA,
            ),
        },
    ),
    Finding(
        "Empathy goes with satisfaction",
        "empathy_satisfaction",
        {
            "iEval": (
                "ieval_liking",
                "correlation of liking with the empathy ratings",
                Rule(0.0, 0.0, OWN),
            )
        },
    ),
)
"""The findings that another data set asked about, in the order of the table."""


def verdict(value: Mapping, rule: Rule) -> str:
    """Return the verdict of an interval (``low``, ``high``; None or NaN if there is none) on a claim.

    ``SEEN`` if the whole interval lies above the line; ``OPPOSITE`` if it lies wholly below ``rule.contrary``;
    ``NOT_SEEN`` else: the data cannot say; ``NO_INTERVAL`` without an interval.

    Examples
    --------
    >>> verdict({"low": 0.81, "high": 0.9}, Rule(0.8, 0.7, "")), verdict({"low": 0.75, "high": 0.9}, Rule(0.8, 0.7, ""))
    ('seen here too', 'not seen')
    >>> verdict({"low": -0.9, "high": -0.1}, Rule(0, 0, ""))
    'the opposite'
    """
    low = value["low"]
    high = value["high"]
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NO_INTERVAL
    if low > rule.line:
        return SEEN
    return OPPOSITE if high < rule.contrary else NOT_SEEN


def _verdict_of(key: str, rule: Rule, values: Mapping[str, Mapping]) -> str:
    """Return the verdict of a recorded value, where a rule asks for it of a second one as well."""
    first = verdict(values[key], rule)
    if first == SEEN and rule.also and verdict(values[rule.also], rule) != SEEN:
        return NOT_SEEN
    return first


def verdicts_of_claim(claim: str, values: Mapping[str, Mapping]) -> list[str]:
    """Return the verdicts of the data sets that could answer a claim, from recorded values.

    Parameters
    ----------
    claim : str
        Its id in ``data/claims.yml``.
    values : mapping
        Key -> recorded value. Data sets whose value is not among them are left out.
    """
    verdicts = []
    for claimed in FINDINGS:
        if claimed.claim != claim:
            continue
        for key, _, rule in claimed.asked.values():
            if key in values:
                verdicts.append(_verdict_of(key, rule, values))
    return verdicts


def comparisons(values: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return the verdict of every data set on the findings that it asked about, with its value.

    Parameters
    ----------
    values : mapping
        Key -> value, as :func:`values_of` gives them; the values of ``FINDINGS`` are used.

    Returns
    -------
    DataFrame
        Indexed by the finding: ``data set``, ``verdict``, ``measure``, estimate, low, high, unit and n.
    """
    rows = []
    for claimed in FINDINGS:
        for data_set, (key, measure, rule) in claimed.asked.items():
            outcome = _verdict_of(key, rule, values)
            row = {
                "finding": claimed.title,
                "data set": data_set,
                "verdict": outcome,
                "measure": measure,
            }
            for name in ("estimate", "low", "high", "unit", "n"):
                row[name] = values[key][name]
            rows.append(row)
    return pd.DataFrame(rows).set_index("finding")


def rules() -> pd.DataFrame:
    """Return the rule of every finding for readers: where its interval has to lie, and ``whose rule it is``.

    Any interval that is neither "seen here too" nor "the opposite" is "not seen".
    """
    rows = {}
    for claimed in FINDINGS:
        for _, _, rule in claimed.asked.values():
            above = f"wholly above {rule.line:g}"
            if rule.also:
                above += ", and a second one, too"
            rows[claimed.title] = (above, f"wholly below {rule.contrary:g}", rule.reason)
    columns = [f"{SEEN}: the interval lies", f"{OPPOSITE}: it lies", "whose rule it is"]
    return frame_of(rows, "finding", columns)


def published(claims: tuple[str, ...]) -> dict[str, dict]:
    """Return published words and source of claims about SENSE-7.

    Returns
    -------
    dict
        Id in ``data/claims.yml`` -> ``title``, ``value`` (None if published in words), ``source`` and
        ``of`` (the work).

    Examples
    --------
    >>> published(("finding_individualized",))["finding_individualized"]["source"]
    'abstract'
    """
    stored = parse_yaml(data_file("claims.yml").read_text(encoding="utf-8"))
    entries = {entry["id"]: entry for entry in stored}
    claimed = {}
    for claim in claims:
        entry = entries[claim]
        claimed[claim] = {name: entry[name] for name in ("title", "value", "source")}
        claimed[claim]["of"] = entry.get("of", "SENSE-7")
    return claimed
