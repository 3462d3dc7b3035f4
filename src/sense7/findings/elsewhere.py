r"""Does it hold elsewhere? The findings of SENSE-7, put to ratings that other studies released.

Three things stand here: what iEval's conversations say, with the statistics that the other pages use for SENSE-7; what
the experiment Felt heard and the four corpora of Kumar and others add; and the matrix of findings by data sets, in
which every verdict follows from an interval by a rule (:data:`FINDINGS`) that is stated before the values. The rule is
that of the claim itself where the released data allow it.

Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain Empathetic
Chatbots. SIGDIAL.

Yin, Y., Jia, N., Wakslak, C. J. (2024). AI can help people feel heard, but an AI label diminishes this impact. PNAS,
121(14).

Kumar, A., Poungpeth, N., Yang, D., Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are Reliable
for Judging Empathic Communication. arXiv 2506.10150.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pandas as pd

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.files import parse_yaml, reading
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
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.least_squares import cross_products, indicators
from sense7.statistics.ranks import spearman_in_draws
from sense7.study import Study

__all__ = [
    "acknowledgements",
    "felt_heard",
    "felt_heard_resampling",
    "felt_heard_tables",
    "felt_heard_verdict",
    "ieval",
    "matrix",
    "matrix_cells",
    "published",
    "rules",
    "tables",
    "tally",
    "values_of",
    "verdict",
    "verdicts_of_claim",
    "why_not_asked",
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
    """Return the tables of estimates of iEval and of the corpora that the matrix rests on.

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


def acknowledgements() -> pd.DataFrame:
    """Return whose ratings these pages show, with their licenses and sources, one row per release."""
    corpora = ", ".join(CORPORA.values())
    tables = {"iEval": "ieval", "Felt heard": "felt_heard", corpora: "judged_conversations"}
    credit = {name: released.RELEASED[table].acknowledgement for name, table in tables.items()}
    return pd.DataFrame({"credit": credit}).rename_axis("data set")


SECTIONS = {
    **dict.fromkeys(("consistency", "individual", "liking"), "elsewhere-ieval"),
    **dict.fromkeys(("effects", "feelings", *SOURCES.values()), "elsewhere-felt-heard"),
    **dict.fromkeys(("corpora", "judge"), "elsewhere-corpora"),
}
"""Table -> anchor of the section of the page that shows it."""


def values_of(tables: Mapping[str, pd.DataFrame]) -> dict[str, dict]:
    """Return rows of tables by their keys, as recorded values are read, with the section of the page that shows it."""
    values = {}
    for name, table in tables.items():
        for row in table.to_dict("records"):
            values[row["key"]] = {**row, "link": f"#{SECTIONS[name]}"}
    return values


# The matrix

SEEN = "seen here too"
NOT_SEEN = "not seen"
OPPOSITE = "the opposite"
NOT_ASKED = "was not asked"
NO_INTERVAL = "no verdict"
"""What stands where a value has no interval: then nothing is said."""

DATA_SETS = {
    "ieval": "iEval",
    "felt_heard": "Felt heard",
    "perceived_empathy": "Perceived Empathy",
    "epitome": CORPORA["epitome"],
    "lend_an_ear": CORPORA["lend_an_ear"],
    "empatheticdialogues": CORPORA["empatheticdialogues"],
}
"""The data sets: key -> name for readers, in the order of the columns."""


@dataclass(frozen=True)
class Rule:
    """Rule by which an interval becomes a verdict."""

    line: float
    contrary: float | None
    reason: str
    also: str = ""
    """Key of a second number whose interval has to lie above the line as well."""

    @property
    def words(self) -> tuple[str, str]:
        """Where an interval has to lie for "seen here too" and for "the opposite"."""
        if self.also:
            return f"and a second one wholly above {self.line:g}", f"wholly below {self.contrary:g}"
        if self.contrary is None:
            return (
                f"wholly on one side of {self.line:g}",
                "cannot occur: the claim has no direction",
            )
        return f"wholly above {self.line:g}", f"wholly below {self.contrary:g}"


@dataclass(frozen=True)
class Finding:
    """A finding of SENSE-7 and where else it can be looked for."""

    name: str
    title: str
    claim: str
    asked: Mapping[str, tuple[str, str, Rule]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


OWN = "the claim's own rule"
_ALPHA = Rule(
    0.8,
    0.7,
    "not the claim's, which compares with a published figure for other questions. An alpha of 0.8 is customarily asked "
    "of a scale in research (Nunnally, 1978); below 0.7 ratings are not called consistent",
)
_BY_GROUPS = Rule(
    0.0,
    None,
    "not the claim's, which needs several conversations of one person: each person rated one answer. Instead, whether "
    "two groups of people differ",
)
_ANSWERER = (
    "not the claim's, which compares a condition with an empathy prompt: there is none. Instead, whether it matters at "
    "all who or what answers"
)
_NOT_USERS = "experts rated what others had written; no user rated"
_ONE_EACH = "each person rated one answer"
_SAME_PEOPLE = "its people are part of Felt heard, where this was asked"

OWN_READINGS = ("system", "characteristics")
"""Findings whose result the paper does not report; what is asked of them is this book's own reading."""

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "consistency",
        "Ratings are internally consistent",
        "alpha_turn",
        {
            "ieval": ("ieval_alpha", "alpha of five statements, by the user", _ALPHA),
            "felt_heard": (
                "felt_heard_alpha",
                "alpha of six feelings, by the person answered",
                _ALPHA,
            ),
            "perceived_empathy": (
                "elsewhere_alpha_perceived_empathy",
                "alpha of six feelings, by experts",
                _ALPHA,
            ),
            "epitome": ("elsewhere_alpha_epitome", "alpha of three mechanisms, by experts", _ALPHA),
            "lend_an_ear": (
                "elsewhere_alpha_lend_an_ear",
                "alpha of six behaviors, by experts",
                _ALPHA,
            ),
        },
        {"": "one of the three questions is about empathy"},
    ),
    Finding(
        "individual",
        "Who rates matters most",
        "finding_individualized",
        {
            "ieval": (
                "ieval_participant_share_beyond_condition_and_topic",
                "person's share minus that of bot and valence",
                Rule(0.0, 0.0, OWN),
            )
        },
        {"": _NOT_USERS, "felt_heard": _ONE_EACH, "perceived_empathy": _ONE_EACH},
    ),
    Finding(
        "context",
        "Judgments depend on the context",
        "finding_context_sensitive",
        {
            "ieval": (
                "ieval_context_share",
                "share that the scenario's valence explains",
                Rule(0.0, 0.0, f"{OWN}, with the valence as all of the context"),
            ),
            "felt_heard": ("felt_heard_label", "label, person minus AI, in points", _BY_GROUPS),
        },
        {"": "nothing of the context was varied or released", "perceived_empathy": _SAME_PEOPLE},
    ),
    Finding(
        "continuity",
        "Judgments suffer when continuity fails",
        "finding_continuity",
        reasons={
            "": "no rating of continuity",
            "ieval": "rated once, at the end, without a question on continuity",
        },
    ),
    Finding(
        "expectations",
        "Judgments suffer when expectations are not met",
        "finding_expectations",
        reasons={"": "no one said beforehand what was expected"},
    ),
    Finding(
        "system",
        "Who or what answers matters",
        "best_condition",
        {
            "ieval": (
                "ieval_condition_share",
                "share of the variance that the bot explains",
                Rule(0.0, None, _ANSWERER),
            ),
            "felt_heard": (
                "felt_heard_source",
                "source, AI minus person, in points",
                Rule(0.0, None, _ANSWERER),
            ),
        },
        {"": "who or what answered was not varied or released", "perceived_empathy": _SAME_PEOPLE},
    ),
    Finding(
        "judge",
        "A language model agrees in part",
        "judge_spearman",
        {
            "perceived_empathy": (
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
        {
            "": _NOT_USERS,
            "ieval": "no model's scores were released",
            "felt_heard": "no model's scores were released",
        },
    ),
    Finding(
        "satisfaction",
        "Empathy goes with satisfaction",
        "empathy_satisfaction",
        {
            "ieval": (
                "ieval_liking",
                "correlation of liking with the empathy ratings",
                Rule(0.0, 0.0, OWN),
            )
        },
        {"": "satisfaction was not rated"},
    ),
    Finding(
        "characteristics",
        "Ratings go with characteristics",
        "finding_data",
        {
            "ieval": (
                "ieval_teq",
                "correlation of an empathy questionnaire with the person's mean rating",
                Rule(
                    0.0,
                    None,
                    "no rule of a claim: SENSE-7 reports no result. The line is no correlation",
                ),
            )
        },
        {"": "no characteristic of the person is released"},
    ),
)
"""The findings in the order of the rows."""


def verdict(value: Mapping, rule: Rule) -> str:
    """Return the verdict of an interval (``low``, ``high``; None or NaN if there is none) on a claim.

    ``SEEN`` if the whole interval lies on the claimed side of the line; ``OPPOSITE`` if it lies wholly below
    ``rule.contrary``; ``NOT_SEEN`` else: the data cannot say; ``NO_INTERVAL`` without an interval.

    Examples
    --------
    >>> verdict({"low": 0.81, "high": 0.9}, Rule(0.8, 0.7, "")), verdict({"low": 0.75, "high": 0.9}, Rule(0.8, 0.7, ""))
    ('seen here too', 'not seen')
    >>> verdict({"low": -0.9, "high": -0.1}, Rule(0, 0, "")), verdict({"low": -0.9, "high": -0.1}, Rule(0, None, ""))
    ('the opposite', 'seen here too')
    """
    low = value["low"]
    high = value["high"]
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NO_INTERVAL
    if low > rule.line:
        return SEEN
    if rule.contrary is None:
        return SEEN if high < rule.line else NOT_SEEN
    return OPPOSITE if high < rule.contrary else NOT_SEEN


def _verdict_of(key: str, rule: Rule, values: Mapping[str, Mapping]) -> str:
    """Return the verdict of a recorded value, where a rule asks for it of a second one as well."""
    first = verdict(values[key], rule)
    if first == SEEN and rule.also and verdict(values[rule.also], rule) != SEEN:
        return NOT_SEEN
    return first


def rules() -> pd.DataFrame:
    """Return the rule of every finding that a data set can answer, for readers, before any value.

    Indexed by the finding's title, with the data set where its rule is another one: where the interval has to lie for
    "seen here too" and for "the opposite", and ``whose rule it is``. Any other interval is "not seen".
    """
    rows = {}
    for claimed in FINDINGS:
        data_sets_of = {}
        for data_set, (_, _, rule) in claimed.asked.items():
            data_sets_of.setdefault(rule, []).append(DATA_SETS[data_set])
        for rule, data_sets in data_sets_of.items():
            title = claimed.title
            if len(data_sets_of) > 1:
                title += f" ({', '.join(data_sets)})"
            rows[title] = (*rule.words, rule.reason)
    columns = [f"{SEEN}: the interval lies", f"{OPPOSITE}: it lies", "whose rule it is"]
    return frame_of(rows, "finding", columns)


def published(claims: tuple[str, ...] = ()) -> dict[str, dict]:
    """Return published words and source of claims about SENSE-7: those of ``FINDINGS`` if none is given.

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
    claims = claims or tuple(claimed.claim for claimed in FINDINGS)
    path = data_file("claims.yml")
    with reading(path) as stream:
        entries = {entry["id"]: entry for entry in parse_yaml(stream.read().decode("utf-8"))}
    missing = [claim for claim in claims if claim not in entries]
    if missing:
        raise UserError(
            f"{path}: no claim {', '.join(missing)}. Restore the file: git checkout -- data/claims.yml"
        )
    claimed = {}
    for claim in claims:
        entry = entries[claim]
        claimed[claim] = {name: entry[name] for name in ("title", "value", "source")}
        claimed[claim]["of"] = entry.get("of", "SENSE-7")
    return claimed


@finding
def matrix(values: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return the verdict of every data set on every finding, and the value that it rests on.

    Parameters
    ----------
    values : mapping
        Key -> value, as :func:`values_of` gives them; those that the findings name are used.

    Returns
    -------
    DataFrame
        One row per finding and data set: finding, data_set (short names), verdict; where asked also key, measure,
        estimate, low, high, n, unit, method and link (address from the page of the matrix), else why (NaN or ""
        elsewhere).
    """
    rows = []
    for claimed, data_set in product(FINDINGS, DATA_SETS):
        row = {
            "finding": claimed.name,
            "data_set": data_set,
            "verdict": NOT_ASKED,
            "key": "",
            "measure": "",
            "why": "",
            "link": "",
        }
        rows.append(row)
        if data_set not in claimed.asked:
            row["why"] = claimed.reasons.get(data_set, claimed.reasons.get(""))
            continue
        key, measure, rule = claimed.asked[data_set]
        if key not in values:
            raise UserError(
                f"{key}: not among the values. Give values_of all tables that the matrix rests on."
            )
        value = values[key]
        row["key"] = key
        row["measure"] = measure
        row["verdict"] = _verdict_of(key, rule, values)
        for name in ("estimate", "low", "high", "n", "unit", "method", "link"):
            row[name] = value[name]
    return pd.DataFrame(rows)


def matrix_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the matrix for readers: one row per cell, the published words first in each row.

    row, column (names for readers), verdict ("" in the column of SENSE-7), value (a mapping with estimate, low, high,
    unit, or None), text, n and link (address from the page of the matrix; "" if there is none).
    """
    published_claims = published()
    rows = []
    for claimed in FINDINGS:
        claim = published_claims[claimed.claim]
        source = claim["source"]
        if claim["of"] != "SENSE-7" and "follow-up paper" not in source:
            source += " of the follow-up paper"
        rows.append(
            {
                "row": claimed.title,
                "column": "SENSE-7, as published",
                "verdict": "",
                "link": f"../book/ledger.html#claim-{claimed.claim.replace('_', '-')}",
                "text": f"{claim['title']} ({source})",
                "value": claim["value"],
                "n": None,
            }
        )
        for cell in table[table["finding"] == claimed.name].to_dict("records"):
            value = None
            n = None
            if cell["verdict"] != NOT_ASKED:
                value = {name: cell[name] for name in ("estimate", "low", "high", "unit")}
                n = int(cell["n"])
            rows.append(
                {
                    "row": claimed.title,
                    "column": DATA_SETS[cell["data_set"]],
                    "text": cell["measure"],
                    "value": value,
                    "verdict": cell["verdict"],
                    "link": cell["link"],
                    "n": n,
                }
            )
    return pd.DataFrame(rows)


def why_not_asked(table: pd.DataFrame) -> pd.DataFrame:
    """Return why a data set cannot answer, one row per finding and reason: ``data sets`` and ``why not``."""
    titles = {claimed.name: claimed.title for claimed in FINDINGS}
    not_asked = table[table["verdict"] == NOT_ASKED]
    not_asked = not_asked.assign(name=not_asked["data_set"].map(DATA_SETS))
    names = not_asked.groupby(["finding", "why"], sort=False)["name"].agg(", ".join)
    reasons = names.reset_index()
    reasons = reasons.set_index(reasons["finding"].map(titles).rename("finding"))
    return reasons[["name", "why"]].rename(columns={"name": "data sets", "why": "why not"})


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


@finding
def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Return the number of cells of the matrix with each verdict, and of those that could be asked; n counts all.

    Of the cells that are seen, those of :data:`OWN_READINGS` are counted once more by themselves.
    """
    counts = Counter(table["verdict"])
    counts["could be asked"] = len(table) - counts[NOT_ASKED]
    is_own_reading = table["finding"].isin(OWN_READINGS)
    counts["seen, by this book's own reading"] = (is_own_reading & (table["verdict"] == SEEN)).sum()
    names = {
        SEEN: "seen",
        NOT_SEEN: "not_seen",
        OPPOSITE: "opposite",
        NOT_ASKED: "not_asked",
        "could be asked": "asked",
        "seen, by this book's own reading": "seen_by_own_reading",
    }
    rows = {}
    for name, key in names.items():
        rows[name] = estimate_row(
            counts[name],
            n=len(table),
            unit="number of cells",
            method="cells of the matrix, by rule",
            reason="no interval: a count",
            key=f"elsewhere_count_{key}",
        )
    return estimate_table(rows, "verdict")
