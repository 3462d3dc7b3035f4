r"""Does it hold elsewhere? The findings of SENSE-7, put to ratings that other studies released.

Three things stand here: what iEval's conversations say, with the statistics that the other pages use for SENSE-7; what
little the four corpora of Kumar and others add; and the matrix of findings by data sets, in which every verdict follows
from an interval by a rule (:data:`FINDINGS`) that is stated before the values.

Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain Empathetic
Chatbots. SIGDIAL.

Kumar, A., Poungpeth, N., Yang, D., Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are Reliable
for Judging Empathic Communication. arXiv 2506.10150.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ConversationBootstrap, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.files import parse_yaml, reading
from sense7.findings.context.shares import context_shares
from sense7.findings.individualized.characteristics import relations
from sense7.findings.individualized.same_person import participant_icc
from sense7.findings.individualized.variance_components import variance_parts
from sense7.findings.measures import turn_ratings
from sense7.findings.reliability import correlations
from sense7.findings.whole.outcomes import empathy_and_experience
from sense7.findings.whose_empathy import Resampled, experts_agreement, panel
from sense7.sources import released
from sense7.sources.released import CORPORA, EXPERTS, FEELINGS, PERSON
from sense7.sources.released_workbook import ieval_study
from sense7.study import Study

__all__ = [
    "NOT_ASKED",
    "Asked",
    "Finding",
    "Rule",
    "acknowledgements",
    "ieval",
    "lines_and_intervals",
    "matrix",
    "matrix_cells",
    "published",
    "rules",
    "tables",
    "tally",
    "values_of",
    "verdict",
    "why_not_asked",
]

SEEN, NOT_SEEN, OPPOSITE, NOT_ASKED = "seen here too", "not seen", "the opposite", "was not asked"
NO_INTERVAL = "no verdict"
"""What stands where a value has no interval: then nothing is said."""

STATEMENTS = {
    "Affective": "understood",
    "Response": "appropriate",
    "Interest": "attentive",
    "Contextual": "sensible",
    "Prosocial": "polite",
}
"""Dimension that a statement of iEval stands for -> the statement."""

DATA_SETS = {"ieval": "iEval", "felt_heard": "Felt heard", "perceived_empathy": "Perceived Empathy"} | {
    name: CORPORA[name] for name in ("epitome", "lend_an_ear", "empatheticdialogues")
}
"""The data sets: key -> name for readers, in the order of the columns."""

_CONSISTENCY = {
    "alpha of the five statements": "ieval_alpha",
    "understood with appropriate": "ieval_understood_appropriate_r",
    "attentive with sensible": "ieval_attentive_sensible_r",
}
"""Row of :func:`ieval_consistency` -> key."""

_PERSON = {
    "person's share, mixed model with bots fixed": "ieval_person_share",
    "ICC(1), mean of five": "ieval_icc",
}
"""Row of :func:`person_share` -> key."""

_SHARES = {
    "bot": "ieval_bot_share",
    "valence of the scenario": "ieval_valence_share",
}
"""Row of :func:`shares_within_people` -> key."""

_LIKING = {
    "liking with the mean rating": "ieval_liking",
    "questionnaire with the mean rating": "ieval_teq",
}
"""Row of :func:`liking_and_questionnaire` -> key."""

_CORPUS_ALPHAS = {
    "Perceived Empathy, six feelings": "elsewhere_alpha_perceived_empathy",
    "EPITOME, three mechanisms": "elsewhere_alpha_epitome",
    "Lend an Ear, six behaviors": "elsewhere_alpha_lend_an_ear",
}
"""Row of :func:`alpha_of_corpora` -> key."""

_TALLY = {
    SEEN: "elsewhere_count_seen",
    NOT_SEEN: "elsewhere_count_not_seen",
    OPPOSITE: "elsewhere_count_opposite",
    NOT_ASKED: "elsewhere_count_not_asked",
}
"""Row of :func:`tally` -> key."""

JUDGE = "gemini"
"""The model whose scores the authors of the corpora take for "the LLM"."""

REVERSED = ("advice_giving", "dismissing_emotions", "self_oriented")
"""Questions of Lend an Ear in which a high rating is a fault; our reading of the names."""

_CORRELATION_LINE = 0.3


# iEval


def ieval() -> Study:
    """The conversations of iEval as a study, with the valence of the scenario as its topic.

    Returns
    -------
    Study
        1,920 conversations of 240 people with four bots, rated by those who had them; topic is ``positive`` or
        ``negative``. Of SENSE-7's dimensions five were asked (``STATEMENTS``).

    Raises
    ------
    UserError
        If a file of the ratings is missing or is not the one that is pinned.

    Examples
    --------
    >>> ieval().conversations.groupby("topic").size().to_dict()
    {'negative': 960, 'positive': 960}
    """
    study = ieval_study()
    return replace(study, conversations=study.conversations.assign(topic=_valence_of(study)))


def _valence_of(study: Study) -> np.ndarray:
    """Valence of each conversation, in the order of the study's conversations."""
    table = released.ieval_conversations()
    names = table["worker"] + "-" + table["valence"].str[:3] + "-" + table["bot"]
    return pd.Series(table["valence"].to_numpy(), index=names).loc[study.conversations["conversation"]].to_numpy()


def acknowledgements() -> pd.DataFrame:
    """Whose ratings these pages show, with their licenses and sources.

    Returns
    -------
    DataFrame
        One row per release: ``credit``.

    Examples
    --------
    >>> acknowledgements().index.tolist()
    ['iEval', 'Felt heard', 'Perceived Empathy, EPITOME, Lend an Ear, EmpatheticDialogues']
    """
    corpora = ", ".join(name for key, name in DATA_SETS.items() if key in CORPORA)
    tables = {"iEval": "ieval", "Felt heard": "felt_heard", corpora: "judged_conversations"}
    credit = {name: released.RELEASED[table].acknowledgement for name, table in tables.items()}
    return pd.DataFrame({"credit": credit}).rename_axis("data set")


def ieval_consistency(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Internal consistency of iEval's five statements, and two correlations that its authors report.

    Parameters
    ----------
    study : Study
        As :func:`ieval` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of its people.

    Returns
    -------
    DataFrame
        Table of estimates: estimate (at most 1), low, high, n (conversations), unit, method, reason.
    """
    ratings = turn_ratings(study)[list(STATEMENTS)].rename(columns=STATEMENTS).dropna(how="all")
    pairs = correlations(ratings, bootstrap)
    rows = {
        "alpha of the five statements": alpha_row(ratings, bootstrap),
        "understood with appropriate": pairs.loc["understood with appropriate"].to_dict(),
        "attentive with sensible": pairs.loc["attentive with sensible"].to_dict(),
    }
    return estimate_table(rows, "measure", _CONSISTENCY)


def person_share(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the variance of ratings that is the person's own, by a mixed model and as ICC(1).

    Parameters
    ----------
    study : Study
        As :func:`ieval` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of its people.

    Returns
    -------
    DataFrame
        Table of estimates: estimate (at most 1), low, high, n (conversations), unit, method, reason.

    See Also
    --------
    sense7.findings.individualized.variance_components.variance_parts,
    sense7.findings.individualized.same_person.participant_icc : the formulas.
    """
    shares = (
        variance_parts(study, bootstrap).shares.loc["participant"],
        participant_icc(study, bootstrap).iloc[0],
    )
    rows = {name: share.to_dict() for name, share in zip(_PERSON, shares, strict=True)}
    return estimate_table(rows, "measure", _PERSON)


def shares_within_people(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of the variance within people that lies between bots, and between positive and negative scenarios.

    Parameters
    ----------
    study : Study
        As :func:`ieval` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of its people; at most 2,000 of them.

    Returns
    -------
    DataFrame
        Table of estimates: adjusted shares (:func:`sense7.findings.context.shares.context_shares`), at most 1 and zero
        on average if it does not matter; low, high, n (conversations), unit, method, reason.
    """
    rows = {}
    for name, column in {"bot": "condition", "valence of the scenario": "topic"}.items():
        grouped = replace(study, conversations=study.conversations.assign(topic=study.conversations[column]))
        row = context_shares(grouped, bootstrap).iloc[0].to_dict()
        rows[name] = row | {"method": f"{name}: {row['method']}"}
    return estimate_table(rows, "what explains it", _SHARES)


def liking_and_questionnaire(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Spearman correlations of empathy ratings with liking the bot, and with the Toronto Empathy Questionnaire.

    Parameters
    ----------
    study : Study
        As :func:`ieval` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of its people.

    Returns
    -------
    DataFrame
        "likable" with the mean of the five statements, over conversations
        (:func:`sense7.findings.whole.outcomes.empathy_and_experience`), and the questionnaire with the person's mean
        rating, over people. Estimate (-1 .. 1), low, high, n, unit, method, reason. Mean ratings are rounded to nine
        decimals, so that equal ones are ties.
    """
    rows = {
        "liking with the mean rating": empathy_and_experience(study, bootstrap).loc["positive interaction"].to_dict(),
        "questionnaire with the mean rating": relations(study, bootstrap).estimates.loc["TEQ"].to_dict(),
    }
    return estimate_table(rows, "correlation", _LIKING)


# The corpora of Kumar and others


def alpha_of_corpora(draws: int, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    """Cronbach's alpha of the questions that experts answered about one conversation.

    Parameters
    ----------
    draws, seed, confidence
        As for :class:`sense7.estimators.bootstrap.ConversationBootstrap`: whole conversations, each with its three
        experts, are left out in turn.

    Returns
    -------
    DataFrame
        Table of estimates: estimate (at most 1), low, high, n (150 = three experts for each of 50
        conversations), unit, method, reason. In Lend an Ear the questions ``REVERSED`` are turned round: lowest plus
        highest minus the rating. EmpatheticDialogues is left out: one of its three questions is about empathy, the
        others about fluency and relevance.

    Examples
    --------
    >>> alpha_of_corpora(draws=200, seed=1)["estimate"].round(3).to_list()
    [0.958, 0.355, 0.64]
    """
    table = released.judged_conversations()
    rows = {}
    for name in _CORPUS_ALPHAS:
        corpus = next(key for key, words in CORPORA.items() if words == name.partition(", ")[0])
        own = table[table["corpus"] == corpus]
        if corpus == "perceived_empathy":
            own = own[own["question"].isin(FEELINGS)]
        bootstrap = ConversationBootstrap(pd.unique(own["conversation"]), draws, seed, confidence)
        frames = []
        for expert in EXPERTS:
            turned = own["lowest"] + own["highest"] - own[expert]
            levels = own.assign(level=own[expert].where(~own["question"].isin(REVERSED), turned))
            frames.append(levels.pivot_table(index="conversation", columns="question", values="level"))
        row = alpha_row(pd.concat(frames), bootstrap)
        rows[name] = row | {"method": f"rated by three experts; {row['method']}"}
    return estimate_table(rows, "questions", _CORPUS_ALPHAS)


def judge_difference(draws: int, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    r"""Agreement among observers minus a language model's agreement with the person.

    A rater's score of a text is the mean over the six feelings: p is the person's, :math:`e_1, e_2, e_3` the experts'
    and g the model's (Gemini 2.5 Pro, which the ratings' authors call the LLM). With :math:`\rho` Spearman's
    correlation over texts:

    .. math:: \frac13 \sum_k \rho\Bigl(e_k, \tfrac12 \sum_{l \ne k} e_l\Bigr) - \rho(g, p)

    Parameters
    ----------
    draws, seed, confidence
        As for :class:`sense7.estimators.bootstrap.ConversationBootstrap`; all ranks are those of the resampled texts.

    Returns
    -------
    DataFrame
        One row: estimate (-2 .. 2), low, high, n (texts), unit, method, reason.

    See Also
    --------
    sense7.findings.whose_empathy : the two correlations, and many more of these ratings.

    Examples
    --------
    >>> judge_difference(draws=200, seed=1)["estimate"].round(3).to_list()
    [0.419]
    """
    people = panel()
    resampled = Resampled(people, people.resampling(draws, seed, confidence))
    row = resampled.row(
        experts_agreement(resampled) - resampled.spearman(JUDGE, PERSON),
        "difference of Spearman's rho",
        "an expert with the mean of the other two (mean over three), minus the model with the person; means of six "
        "feelings",
    )
    name = "observers with each other, minus the model with the person"
    return estimate_table({name: row}, "agreement", {name: "elsewhere_judge_difference"})


SECTIONS = {
    "consistency": "elsewhere-ieval",
    "person": "elsewhere-ieval",
    "shares": "elsewhere-ieval",
    "liking": "elsewhere-ieval",
    "effects": "elsewhere-felt-heard",
    "feelings": "elsewhere-felt-heard",
    "corpora": "elsewhere-corpora",
    "judge": "elsewhere-corpora",
}
"""Table of :func:`tables`, or of Felt heard -> anchor of the section of the page that shows it."""


def tables(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Tables of estimates that the matrix rests on.

    Parameters
    ----------
    study : Study
        As :func:`ieval` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of its people; draws, seed and confidence serve the corpora as well.

    Returns
    -------
    dict
        Name (those of ``SECTIONS``) -> table of estimates.
    """
    settings = bootstrap.draws, bootstrap.seed, bootstrap.confidence
    return {
        "consistency": ieval_consistency(study, bootstrap),
        "person": person_share(study, bootstrap),
        "shares": shares_within_people(study, bootstrap),
        "liking": liking_and_questionnaire(study, bootstrap),
        "corpora": alpha_of_corpora(*settings),
        "judge": judge_difference(*settings),
    }


def values_of(tables: Mapping[str, pd.DataFrame]) -> dict[str, dict]:
    """Rows of tables by their keys, as recorded values are read, with the section of the page that shows each.

    Parameters
    ----------
    tables : mapping
        Name (those of ``SECTIONS``) -> table of estimates: those of :func:`tables`, and ``effects`` and ``feelings`` of
        :mod:`sense7.findings.felt_heard`.

    Examples
    --------
    >>> row = estimate_row(0.5, n=9, unit="correlation", method="rho", key="ieval_liking")
    >>> table = estimate_table({"liking": row}, "correlation")
    >>> value = values_of({"liking": table})["ieval_liking"]
    >>> value["estimate"], value["link"]
    (0.5, '#elsewhere-ieval')
    """
    return {
        row["key"]: row | {"link": f"#{SECTIONS[name]}"}
        for name, table in tables.items()
        for row in table.to_dict("records")
    }


# The matrix


@dataclass(frozen=True)
class Rule:
    """Rule by which an interval becomes a verdict.

    Attributes
    ----------
    line : float
        Of the claim: an interval wholly beyond it is "seen here too".
    reason : str
        Why the line stands there.
    contrary : float or None
        An interval wholly below it is "the opposite"; not above ``line``. None for a claim without a direction:
        then the claim is seen on either side of the line, and has no opposite.
    """

    line: float
    reason: str
    contrary: float | None = None

    @property
    def words(self) -> tuple[str, str]:
        """Where an interval has to lie for "seen here too" and for "the opposite"."""
        if self.contrary is None:
            return f"wholly on one side of {self.line:g}", "cannot occur: the claim has no direction"
        return f"wholly above {self.line:g}", f"wholly below {self.contrary:g}"


@dataclass(frozen=True)
class Asked:
    """A data set that can answer: the key of its recorded value, and what it measures, in few words."""

    key: str
    measure: str


@dataclass(frozen=True)
class Finding:
    """A finding of SENSE-7 and where else it can be looked for.

    Attributes
    ----------
    name : str
        Short name, for keys.
    title : str
        What a reader sees.
    claim : str
        Id of the published claim in ``data/claims.yml``.
    rule : Rule or None
        None if no data set can answer.
    asked : mapping
        Data set -> :class:`Asked`.
    reasons : mapping
        Data set -> why it cannot answer; ``""`` holds the reason of all others.
    """

    name: str
    title: str
    claim: str
    rule: Rule | None = None
    asked: Mapping[str, Asked] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


_NO_SIZE = (
    "published without a size, so the line is no effect, as in the ledger; how large an effect is stands beside it"
)
_NOT_USERS = "experts rated what others had written; no user rated"
_ONE_EACH = "each person rated one answer"
_SAME_PEOPLE = "its people are part of Felt heard, where this was asked"

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "consistency",
        "Ratings given together are internally consistent",
        "alpha_turn",
        Rule(
            0.8,
            "an alpha of 0.8 is customarily asked of a scale in research (Nunnally, 1978), and below 0.7 ratings "
            "are not called consistent",
            0.7,
        ),
        {
            "ieval": Asked("ieval_alpha", "alpha of five statements, by the user"),
            "felt_heard": Asked("felt_heard_alpha", "alpha of six feelings, by the person answered"),
            "perceived_empathy": Asked("elsewhere_alpha_perceived_empathy", "alpha of six feelings, by experts"),
            "epitome": Asked("elsewhere_alpha_epitome", "alpha of three mechanisms, by experts"),
            "lend_an_ear": Asked("elsewhere_alpha_lend_an_ear", "alpha of six behaviors, by experts"),
        },
        {"": "one of the three questions is about empathy"},
    ),
    Finding(
        "individual",
        "Judgments are individual: part of the differences is the person's own",
        "finding_individualized",
        Rule(
            0.05,
            "a share of variance cannot be negative, so its interval lies above zero in nearly any data and a line at "
            "zero could not fail",
            0.05,
        ),
        {"ieval": Asked("ieval_person_share", "person's share of the variance")},
        {"": _NOT_USERS, "felt_heard": _ONE_EACH, "perceived_empathy": _ONE_EACH},
    ),
    Finding(
        "context",
        "Judgments depend on the context",
        "finding_context_sensitive",
        Rule(0.0, _NO_SIZE),
        {
            "ieval": Asked("ieval_valence_share", "share that the scenario's valence explains within people"),
            "felt_heard": Asked("felt_heard_label", "label, person minus AI, in points"),
        },
        {"": "nothing of the context was varied or released", "perceived_empathy": _SAME_PEOPLE},
    ),
    Finding(
        "continuity",
        "Judgments suffer when continuity fails",
        "finding_continuity",
        reasons={"": "no rating of continuity", "ieval": "rated once, at the end, without a question on continuity"},
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
        Rule(0.0, _NO_SIZE),
        {
            "ieval": Asked("ieval_bot_share", "share that the bot explains within people"),
            "felt_heard": Asked("felt_heard_source", "source, AI minus person, in points"),
        },
        {"": "who or what answered was not varied or released", "perceived_empathy": _SAME_PEOPLE},
    ),
    Finding(
        "judge",
        "A language model agrees with the person only in part",
        "judge_spearman",
        Rule(
            0.0,
            "in part means less than observers agree among themselves, so the line is no difference between the two",
            0.0,
        ),
        {
            "perceived_empathy": Asked(
                "elsewhere_judge_difference", "observers' agreement minus the model's with the person"
            )
        },
        {"": _NOT_USERS, "ieval": "no model's scores were released", "felt_heard": "no model's scores were released"},
    ),
    Finding(
        "satisfaction",
        "Empathy goes with satisfaction",
        "empathy_satisfaction",
        Rule(
            _CORRELATION_LINE,
            "two ratings that one person gives at the same moment are a little correlated for any questions, so a "
            "line at zero could hardly fail; the contrary is a negative correlation",
            0.0,
        ),
        {"ieval": Asked("ieval_liking", "correlation of liking with the empathy ratings")},
        {"": "satisfaction was not rated"},
    ),
    Finding(
        "characteristics",
        "Ratings go with characteristics of the person (SENSE-7: collected, no result available)",
        "finding_data",
        Rule(0.0, _NO_SIZE),
        {"ieval": Asked("ieval_teq", "correlation of an empathy questionnaire with the person's mean rating")},
        {"": "no characteristic of the person is released"},
    ),
)
"""The findings in the order of the rows."""


def verdict(value: Mapping, rule: Rule) -> str:
    """Verdict of an interval on a claim.

    Parameters
    ----------
    value : mapping
        With ``low`` and ``high``, the limits of the interval; None or NaN if there is none.
    rule : Rule
        The claim's line.

    Returns
    -------
    str
        ``SEEN`` if the whole interval lies on the claimed side of the line; ``OPPOSITE`` if it lies wholly below
        ``rule.contrary``; ``NOT_SEEN`` else: the data cannot say; ``NO_INTERVAL`` without an interval.

    Examples
    --------
    >>> verdict({"low": 0.81, "high": 0.9}, Rule(0.8, "", 0.7)), verdict({"low": 0.75, "high": 0.9}, Rule(0.8, "", 0.7))
    ('seen here too', 'not seen')
    >>> verdict({"low": -0.9, "high": -0.1}, Rule(0, "", 0)), verdict({"low": -0.9, "high": -0.1}, Rule(0, ""))
    ('the opposite', 'seen here too')
    """
    low, high = value["low"], value["high"]
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NO_INTERVAL
    if low > rule.line or (rule.contrary is None and high < rule.line):
        return SEEN
    return OPPOSITE if rule.contrary is not None and high < rule.contrary else NOT_SEEN


def rules() -> pd.DataFrame:
    """The rule of every finding that a data set can answer, for readers, before any value.

    Returns
    -------
    DataFrame
        Indexed by the finding's title: where the interval has to lie for "seen here too" and for "the opposite", and
        ``why this line``. Any other interval is "not seen".

    Examples
    --------
    >>> rules().iloc[0, :2].to_list()
    ['wholly above 0.8', 'wholly below 0.7']
    """
    shown = {one.title: (*one.rule.words, one.rule.reason) for one in FINDINGS if one.rule}
    columns = [f"{SEEN}: the interval lies", f"{OPPOSITE}: it lies", "why this line"]
    return pd.DataFrame.from_dict(shown, orient="index", columns=columns).rename_axis("finding")


def published(claims: tuple[str, ...] = ()) -> dict[str, dict]:
    """Published words and grade of claims about SENSE-7.

    Parameters
    ----------
    claims : tuple of str
        Ids in ``data/claims.yml``; those of ``FINDINGS`` if none is given.

    Returns
    -------
    dict
        Id -> ``title``, ``value`` (None if published in words), ``grade`` and ``of`` (the work).

    Raises
    ------
    UserError
        If the file cannot be read, or a claim is not in it.

    Examples
    --------
    >>> published(("finding_individualized",))["finding_individualized"]["grade"]
    'A'
    """
    claims = claims or tuple(finding.claim for finding in FINDINGS)
    path = data_file("claims.yml")
    with reading(path) as stream:
        entries = {entry["id"]: entry for entry in parse_yaml(stream.read().decode("utf-8"))}
    if missing := [claim for claim in claims if claim not in entries]:
        raise UserError(f"{path}: no claim {', '.join(missing)}. Restore the file: git checkout -- data/claims.yml")
    names = ("title", "value", "grade")
    return {
        claim: {name: entries[claim][name] for name in names} | {"of": entries[claim].get("of", "SENSE-7")}
        for claim in claims
    }


def matrix(values: Mapping[str, Mapping]) -> pd.DataFrame:
    """Verdict of every data set on every finding, and the value that it rests on.

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

    Raises
    ------
    UserError
        If a value that a finding names is not among them.
    """
    rows = []
    for finding in FINDINGS:
        for data_set in DATA_SETS:
            asked = finding.asked.get(data_set)
            row = {
                "finding": finding.name,
                "data_set": data_set,
                "verdict": NOT_ASKED,
                "key": "",
                "measure": "",
                "why": "",
                "link": "",
            }
            if asked is None:
                rows.append(row | {"why": finding.reasons.get(data_set, finding.reasons.get(""))})
                continue
            if asked.key not in values:
                raise UserError(
                    f"{asked.key}: not among the values. Give values_of all tables that the matrix rests on."
                )
            value = values[asked.key]
            known = {name: value[name] for name in ("estimate", "low", "high", "n", "unit", "method")}
            said = {"verdict": verdict(value, finding.rule), "link": value["link"]}
            rows.append(row | {"key": asked.key, "measure": asked.measure} | said | known)
    return pd.DataFrame(rows)


def matrix_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The matrix for readers: one row per cell, the published words first in each row.

    Parameters
    ----------
    table : DataFrame
        As :func:`matrix` gives it.

    Returns
    -------
    DataFrame
        row, column (names for readers), verdict ("" in the column of SENSE-7), value (a mapping with estimate, low,
        high, unit, or None), text, n and link (address from the page of the matrix; "" if there is none).
    """
    words = published()
    rows = []
    for finding in FINDINGS:
        claim = words[finding.claim]
        grade = f"grade {claim['grade']}" + ("" if claim["of"] == "SENSE-7" else ", follow-up paper")
        link = f"../book/ledger.html#claim-{finding.claim.replace('_', '-')}"
        own = {"row": finding.title, "column": "SENSE-7, as published", "verdict": "", "link": link}
        rows.append(own | {"text": f"{claim['title']} ({grade})", "value": claim["value"], "n": None})
        for _, cell in table[table["finding"] == finding.name].iterrows():
            asked = cell["verdict"] != NOT_ASKED
            value = {name: cell[name] for name in ("estimate", "low", "high", "unit")} if asked else None
            rows.append(
                {
                    "row": finding.title,
                    "column": DATA_SETS[cell["data_set"]],
                    "verdict": cell["verdict"],
                    "link": cell["link"],
                    "text": cell["measure"],
                    "value": value,
                    "n": int(cell["n"]) if asked else None,
                }
            )
    return pd.DataFrame(rows)


def why_not_asked(table: pd.DataFrame) -> pd.DataFrame:
    """Why a data set cannot answer, one row per finding and reason.

    Parameters
    ----------
    table : DataFrame
        As :func:`matrix` gives it.

    Returns
    -------
    DataFrame
        Indexed by the finding's title: ``data sets`` and ``why not``.
    """
    titles = {finding.name: finding.title for finding in FINDINGS}
    some = table[table["verdict"] == NOT_ASKED].assign(name=lambda frame: frame["data_set"].map(DATA_SETS))
    shown = some.groupby(["finding", "why"], sort=False)["name"].agg(", ".join).reset_index()
    shown = shown.set_index(shown["finding"].map(titles).rename("finding"))
    return shown[["name", "why"]].rename(columns={"name": "data sets", "why": "why not"})


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Number of cells of the matrix with each verdict.

    Parameters
    ----------
    table : DataFrame
        As :func:`matrix` gives it.

    Returns
    -------
    DataFrame
        Table of estimates: estimate (cells), n (all cells), unit, method, reason.
    """
    counts = Counter(table["verdict"])
    method = "cells of the matrix, by rule"
    rows = {
        name: estimate_row(counts[name], n=len(table), unit="cells", method=method, reason="no interval: a count")
        for name in _TALLY
    }
    return estimate_table(rows, "verdict", _TALLY)


def lines_and_intervals(table: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, tuple[float, ...]]]:
    """Values of the matrix by finding, with the lines that judge them, for a figure.

    Parameters
    ----------
    table : DataFrame
        As :func:`matrix` gives it.

    Returns
    -------
    dict
        Title -> table of estimates with a row for each data set, and the lines: that of the claim, and that of its
        contrary where it is another one. A finding whose values have several units gives one entry for each unit, as
        those cannot share an axis.
    """
    panels = {}
    for finding in FINDINGS:
        own = table[(table["finding"] == finding.name) & (table["key"] != "")]
        groups = list(own.groupby("unit", sort=False))
        for unit, some in groups:
            rows = {
                DATA_SETS[row["data_set"]]: estimate_row(
                    row["estimate"], row["low"], row["high"], n=row["n"], unit=unit, method=row["method"]
                )
                for _, row in some.iterrows()
            }
            title = finding.title + (f": {', '.join(rows)}" if len(groups) > 1 else "")
            lines = (finding.rule.line, *{finding.rule.contrary} - {finding.rule.line, None})
            panels[title] = estimate_table(rows, "data set"), lines
    return panels


check_arguments(globals())
