r"""Headlines under all defensible choices: a multiverse.

Every choice that somebody could defend is listed here as data (:data:`HEADLINES`), the first option of each being the
one that the other pages take. All combinations are computed, on the same resamples of participants, and shown as a
specification curve: estimates with their intervals, sorted. It shows the range, and the share of the specifications
whose interval holds the published value or, where none is published, lies above a reference. That share describes the
choices. It is no p value: all specifications rest on the same data.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd

from sense7.findings.agreement import kappa_of
from sense7.findings.conditions import condition_differences, prompted_minus_best_other
from sense7.findings.context import CONTEXT
from sense7.findings.core import (
    Needs,
    Number,
    finding,
    mean_of_rows,
    rank_correlation,
    resampled,
    share,
    within_correlation,
)
from sense7.findings.disrupted import (
    LOW_BELOW,
    continuity_numbers,
    expectation_conversations,
    expectation_numbers,
)
from sense7.findings.ground_truth import ground_truth
from sense7.findings.individualized import MODEL_DRAWS, variance_shares
from sense7.findings.measures import (
    OUTCOMES,
    POOR,  # noqa: TID251 -- alternatives
    answers_to,
    is_first_turn,
    is_poor,
)
from sense7.findings.ratings import NEVER_ASKED
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.alpha import alpha_row
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.effect_size import cohens_d, group_moments
from sense7.statistics.estimates import COLUMNS, estimate_row, estimate_table
from sense7.statistics.order import rounded
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES, SIMULATED_WORDS

__all__ = [
    "HEADLINES",
    "IN_STUDIES",
    "headline_estimates",
    "multiverse",
    "smallest_detectable",
    "summary",
]

FEW_TURNS, FEW_CONVERSATIONS = 3, 4
CODINGS = {
    "five levels": (1, 2, 3, 4, 5),
    "three levels": (1, 1, 2, 3, 3),
    "very good or not": (0, 0, 0, 0, 1),
}
"""Codings of the levels 1..5."""
RATINGS = ("mean of the rated dimensions", "overall rating")
MISSING = ("ratings given", "complete turns only")
COMPLETE = ("ratings given", "complete ratings only")
EXCLUSIONS = ("none", f"conversations under {FEW_TURNS} rated turns", "first turns")
PEOPLE = ("all", f"{FEW_CONVERSATIONS} conversations or more")
CONVERSATIONS = ("all", "first of a participant in a condition")
CONTEXTS = {
    "all of it": tuple(CONTEXT),
    "topic alone": ("topic",),
    "importance and desired empathy": ("importance", "desired_empathy"),
}
UNITS = ("conversation", "turn")
FAILURES = (f"at most {POOR}", f"at most {POOR + 1}")
CUTS = {"3.5": LOW_BELOW, "3": 3.0, "4": 4.0}
POOR_TURNS = (
    f"overall at most {POOR}",
    f"mean of seven at most {POOR + 0.5:g}",
    f"any dimension at most {POOR}",
)
DENOMINATORS = (
    "turns shown for rating",
    "turns with any dimension rated",
    "turns with an overall rating",
)
AVERAGING = ("all turns pooled", "turn, then conversation")
DIMENSIONS = ("all seven", "without Relational")
TURNS = ("that rate Affective", "that rate every dimension")
CORRELATIONS = ("Spearman, over conversations", "Pearson, within participants")
EXPERIENCES = {"mean of four": OUTCOMES["experience"]}
EXPERIENCES |= {name.replace("_", " "): [name] for name in OUTCOMES["experience"]}
RUNS = ("mean over runs", "first run", "median of the runs' scores")
TRUTHS = ("turn, then conversation", "the same as a level", "all ratings pooled")
REPLIES = ("missing", "counted as 3")
NEVER_INCOMPLETE = "an overall rating is one rating and never incomplete, so that there is no rule for missing ones"


@dataclass(frozen=True)
class Headline:
    """A number whose dependence on choices is shown."""

    title: str
    unit: str
    reference: float | None
    choices: dict[str, tuple[str, ...]] = field(repr=False)
    left_out: str = ""

    @property
    def is_published(self) -> bool:
        """Whether the paper gives a figure, under the claim of the headline's name."""
        return self.reference is None


HEADLINES = {
    "alpha_turn": Headline(
        "Cronbach's alpha per turn",
        "alpha",
        None,
        {
            "missing": MISSING,
            "coding": tuple(CODINGS),
            "dimensions": DIMENSIONS,
            "exclusions": EXCLUSIONS,
        },
    ),
    "prompted_minus_best_other": Headline(
        "prompted condition minus the best of the others",
        "points (levels from 1 to 5)",
        0.0,
        {"rating": RATINGS, "missing": MISSING, "one row per": UNITS, "exclusions": EXCLUSIONS},
        NEVER_INCOMPLETE,
    ),
    "poor_turn_d": Headline(
        "conversations without minus with a poor turn",
        "Cohen's d",
        None,
        {
            "poor turn": POOR_TURNS,
            "missing": MISSING,
            "coding": tuple(CODINGS),
            "exclusions": EXCLUSIONS,
        },
    ),
    "relational_applicability": Headline(
        "applicability of Relational",
        "share of turns",
        None,
        {"share of": DENOMINATORS, "averaging": AVERAGING, "exclusions": EXCLUSIONS},
    ),
    "participant_share_beyond_condition_and_topic": Headline(
        "participants' share of the variance minus that of condition and topic",
        "share of the variance, difference",
        0.0,
        {"rating": RATINGS, "missing": MISSING, "participants": PEOPLE, "exclusions": EXCLUSIONS},
        NEVER_INCOMPLETE,
    ),
    "context_share": Headline(
        "context's share of the variance",
        "share of the variance",
        0.0,
        {"rating": RATINGS, "missing": MISSING, "context": tuple(CONTEXTS), "participants": PEOPLE},
        NEVER_INCOMPLETE,
    ),
    "continuity_loss_after_failure": Headline(
        "loss in the turn after a failure of Relational",
        "level, difference",
        0.0,
        {"rating": RATINGS, "failure": FAILURES, "exclusions": EXCLUSIONS[::2]},
    ),
    "expectation_loss": Headline(
        "extra loss when high desired empathy met low ratings",
        "level, difference",
        0.0,
        {
            "turns rated by": RATINGS,
            "low is below": tuple(CUTS),
            "missing": COMPLETE,
            "exclusions": EXCLUSIONS,
        },
    ),
    "kappa_affective": Headline(
        "kappa of Affective with the overall rating",
        "weighted kappa",
        None,
        {
            "weights": ("linear", "quadratic"),
            "turns": TURNS,
            "exclusions": EXCLUSIONS,
            "conversations": CONVERSATIONS,
        },
    ),
    "empathy_satisfaction": Headline(
        "correlation of empathy with the experience",
        "correlation",
        0.0,
        {
            "correlation": CORRELATIONS,
            "experience": tuple(EXPERIENCES),
            "missing": COMPLETE,
            "conversations": CONVERSATIONS,
        },
    ),
    "judge_spearman": Headline(
        "the judge's correlation with the users' ratings",
        "Spearman's rho",
        None,
        {"runs": RUNS, "ground truth": TRUTHS, "replies without a score": REPLIES},
    ),
}
"""The headlines: key of the number on its own page -> headline. One without a reference is published with a figure,
under the claim of the same name. That of the judge is computed where judges are known:
:func:`sense7.judge.scores.performance.judge_multiverse`."""


def specifications(headline: str) -> pd.DataFrame:
    """Every combination of the choices of a headline, numbered from 1; the first is that of the other pages.

    What a choice can't change is left out: the overall rating alone has no incomplete turns.

    Examples
    --------
    >>> {name: len(specifications(name)) for name in ("alpha_turn", "poor_turn_d", "expectation_loss")}
    {'alpha_turn': 36, 'poor_turn_d': 54, 'expectation_loss': 36}
    """
    choices = HEADLINES[headline].choices
    rows = pd.DataFrame(list(itertools.product(*choices.values())), columns=list(choices))
    if {"rating", "missing"} <= set(choices):
        rows = rows[(rows["rating"] != RATINGS[1]) | (rows["missing"] == MISSING[0])]
    return rows.set_index(pd.RangeIndex(1, len(rows) + 1, name="specification"))


@finding
def multiverse(
    study: Study, bootstrap: ParticipantBootstrap, headline: str, *, first_only: bool = False
) -> pd.DataFrame:
    r"""Return the estimate of every specification of a headline, on the same resamples of participants.

    - *alpha_turn*: Cronbach's alpha of the turns' ratings as coded.
    - *prompted_minus_best_other*: see :mod:`sense7.findings.conditions`.
    - *poor_turn_d*: Cohen's d of mean post-task empathy as coded, of conversations without and with a poor turn.
    - *relational_applicability*: share of turns in which Relational has a level; averaged over conversations, or over
      all turns at once.
    - *participant_share_beyond_condition_and_topic*, *context_share*: see
      :func:`sense7.findings.individualized.variance_shares`; 200 resamples, as many as on the page for the first
      specification.
    - *continuity_loss_after_failure*, *expectation_loss*: see :mod:`sense7.findings.disrupted`.
    - *kappa_affective*, *empathy_satisfaction*: as on their pages.

    Parameters
    ----------
    headline : str
        A key of ``HEADLINES``, other than that of the judge.
    first_only : bool
        Whether to compute the first specification only, that of the other pages.

    Returns
    -------
    DataFrame
        One row per specification: its choices, then the columns of a table of estimates.

    References
    ----------
    Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Perspectives on Psychological
    Science 11, 702-712. Simonsohn, U., Simmons, J. P., & Nelson, L. D. (2020). Nature Human
    Behaviour 4, 1208-1214.

    Notes
    -----
    The first specification equals the value of the headline's own page; each is checked against the
    same computed from filtered frames.
    """
    choices = specifications(headline)
    if first_only:
        choices = choices.iloc[:1]
    rated = rated_turns(study)
    rows = {}
    for number, choice in zip(choices.index, choices.to_dict("records"), strict=True):
        row = COMPUTE[headline](rated, choice, bootstrap)
        rows[number] = {name: row[name] for name in COLUMNS}
    return choices.join(estimate_table(rows, "specification"))


def agreement(table: pd.DataFrame, headline: str, published: float | None = None) -> pd.Series:
    """Whether the interval of each specification that has one agrees with the headline.

    Of a headline with a published figure, whether the interval holds it (never, if it is not given); of another,
    whether the interval lies above the reference.
    """
    with_interval = table[table["estimate"].notna() & table["low"].notna()]
    low = rounded(with_interval["low"])
    high = rounded(with_interval["high"])
    if not HEADLINES[headline].is_published:
        return low > HEADLINES[headline].reference
    value = np.nan if published is None else published
    return (low <= value) & (value <= high)


@finding
def summary(table: pd.DataFrame, headline: str, published: float | None = None) -> pd.DataFrame:
    """Return the range of a multiverse, and the share of its specifications whose interval agrees with the headline.

    Parameters
    ----------
    table : DataFrame
        As :func:`multiverse` returns it.
    headline : str
        A key of ``HEADLINES``.
    published : float, optional
        The published value, for a headline that has one.

    Returns
    -------
    DataFrame
        Rows ``lowest estimate``, ``highest estimate``, and ``intervals that hold the published value`` or, of a
        headline without a published figure, ``intervals above the dashed line``, its reference: shares.
        n is the number of specifications that could be computed or, for the shares, that have an interval. There
        are no intervals of these numbers, since specifications are no sample.
    """
    of_headline = HEADLINES[headline]
    estimates = table["estimate"].dropna()
    reason = ""
    if estimates.empty:
        reason = f"no specification could be computed: {table['reason'].iloc[0]}"
    rows = {}
    for label, statistic in (("lowest estimate", "min"), ("highest estimate", "max")):
        rows[label] = estimate_row(
            estimates.agg(statistic),
            n=len(estimates),
            unit=of_headline.unit,
            method=f"{statistic} of {len(estimates)} of {len(table)} specifications",
            reason=reason,
            key=f"multiverse_{headline}_{statistic}",
        )
    agrees = agreement(table, headline, published)
    if of_headline.is_published:
        label = "intervals that hold the published value"
        relation = "holds the published value"
        key = f"multiverse_{headline}_holds_published"
        if not reason and published is None:
            reason = "the published value was not given"
    else:
        label = "intervals above the dashed line"
        relation = f"lies above {of_headline.reference:g}"
        key = f"multiverse_{headline}_above_reference"
    if not reason and agrees.empty:
        reason = f"no specification has an interval: {table['reason'].iloc[0]}"
    rows[label] = estimate_row(
        np.nan if reason else agrees.mean(),
        n=len(agrees),
        unit="share of specifications",
        method=f"interval {relation}; {len(agrees)} of {len(table)} specifications",
        reason=reason,
        key=key,
    )
    if table["method"].str.startswith(SIMULATED_WORDS).any():
        for row in rows.values():
            row["method"] = f"{SIMULATED_WORDS}: {row['method']}"
    return estimate_table(rows, "of the specifications")


# How each headline is computed, by a choice of options.


@dataclass(frozen=True, eq=False)
class RatedTurns:
    """Turns of a study under each of ``EXCLUSIONS``, computed once for all variants: all, and those put to rating."""

    study: Study
    dimensions: list[str]
    all: dict[str, pd.DataFrame]
    put_to_rating: dict[str, pd.DataFrame]


def rated_turns(study: Study) -> RatedTurns:
    """The turns of a study without those that each exclusion leaves out."""
    turns_put = study.turns_put_to_rating
    is_rated = turns_put[list(RATING_NAMES)].notna().any(axis=1)
    number_rated = turns_put.loc[is_rated, "conversation"].value_counts()

    def by_exclusion(turns: pd.DataFrame) -> dict[str, pd.DataFrame]:
        has_enough = turns["conversation"].map(number_rated).fillna(0) >= FEW_TURNS
        is_later = ~is_first_turn(turns)
        return dict(zip(EXCLUSIONS, (turns, turns[has_enough], turns[is_later]), strict=True))

    return RatedTurns(
        study=study,
        dimensions=study.rated_dimensions,
        all=by_exclusion(study.turns),
        put_to_rating=by_exclusion(turns_put),
    )


def coded(levels: pd.DataFrame, coding: str) -> np.ndarray:
    """Levels 1..5 by a coding, linearly between two levels (of rescaled ratings); NaN stays NaN."""
    return np.interp(levels.to_numpy(dtype=float), np.arange(1, 6), CODINGS[coding])


def row_means(values: np.ndarray, missing: str) -> np.ndarray:
    """Mean over the given values of a row, or over complete rows only; NaN where there is none."""
    counts = np.isfinite(values).sum(axis=1)
    fewest = 1
    if missing != MISSING[0]:
        fewest = max(1, values.shape[1])
    means = np.nansum(values, axis=1) / np.maximum(counts, 1)
    return np.where(counts >= fewest, means, np.nan)


def rated_conversations(rated: RatedTurns, choice: dict) -> pd.DataFrame:
    """Conversations with the chosen rating as ``y``, their participant, condition and context."""
    study = rated.study
    turns = rated.all[choice.get("exclusions", EXCLUSIONS[0])]
    if choice["rating"] == RATINGS[1]:
        y = turns["overall"].astype(float).groupby(turns["conversation"]).mean()
    else:
        if choice["missing"] == MISSING[1]:
            is_complete = turns[rated.dimensions].notna().all(axis=1) & bool(rated.dimensions)
            turns = turns[is_complete]
        y = ground_truth(turns, study.conversations["conversation"])
    frame = study.conversations[["participant", "condition", *CONTEXT]]
    frame = frame.assign(y=y.reindex(study.conversations["conversation"]).to_numpy(dtype=float))
    frame = frame[frame["y"].notna()]
    if choice.get("participants") == PEOPLE[1]:
        conversations = frame.groupby("participant")["y"].transform("size")
        frame = frame[conversations >= FEW_CONVERSATIONS]
    return frame.reset_index(drop=True)


def _draws_of_model(headline: str, choice: dict) -> int:
    """Resamples in which a mixed model is fitted: for the first specification as many as on its own page."""
    if choice == specifications(headline).loc[1].to_dict():
        return MODEL_DRAWS
    return 200


def participant_share(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Participants' share minus that of condition and topic."""
    draws = _draws_of_model("participant_share_beyond_condition_and_topic", choice)
    shares = variance_shares(rated.study, bootstrap, draws, rated_conversations(rated, choice))
    return shares.loc["participant minus condition and topic"].to_dict()


def context_share(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Share of the context, of some of its variables if so chosen."""
    frame = rated_conversations(rated, choice)
    for name in CONTEXT:
        if name not in CONTEXTS[choice["context"]]:
            frame[name] = None
    draws = _draws_of_model("context_share", choice)
    return variance_shares(rated.study, bootstrap, draws, frame).loc["context"].to_dict()


def condition_difference(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """The prompted condition minus the best of the others."""
    frame = rated_conversations(rated, choice)
    if choice["one row per"] == UNITS[1]:
        turns = rated.all[choice["exclusions"]]
        scores = turns["overall"].astype(float)
        if choice["rating"] == RATINGS[0]:
            ratings = turns[rated.dimensions].to_numpy(dtype=float)
            scores = row_means(ratings, choice["missing"])
        frame = turns[["participant", "condition", "conversation"]].assign(y=scores)
    frame = frame[frame[["y", "condition", "participant"]].notna().all(axis=1)]
    return prompted_minus_best_other(rated.study, bootstrap, frame)


def continuity_loss(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Loss in the turn after a failure of Relational."""
    rating = "dimensions" if choice["rating"] == RATINGS[0] else "overall"
    poor = POOR + FAILURES.index(choice["failure"])
    first_turn = 2 if choice["exclusions"] == EXCLUSIONS[2] else 1
    plain_loss, *_ = continuity_numbers(rated.study, bootstrap, rating, poor, first_turn)
    return plain_loss.row(bootstrap)


def expectation_loss(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Loss when high desired empathy met low ratings, beyond both by themselves."""
    study = rated.study
    empathy = OUTCOMES["empathy"]
    is_complete = study.conversations[_answered(study, empathy)].notna().all(axis=1)
    rating = "dimensions" if choice["turns rated by"] == RATINGS[0] else "overall"
    post_task = study.conversations.copy()
    if choice["missing"] == COMPLETE[1]:
        post_task.loc[~is_complete, empathy] = np.nan
    other = replace(study, turns=rated.all[choice["exclusions"]], conversations=post_task)
    low_below = CUTS[choice["low is below"]]
    frame = expectation_conversations(other, low_below, rating)
    return expectation_numbers(study, bootstrap, frame)[-1].row(bootstrap)


def alpha(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Alpha of the ratings of turns."""
    names = list(DIMENSION_NAMES)
    if choice["dimensions"] != DIMENSIONS[0]:
        names.remove("Relational")
    turns = rated.put_to_rating[choice["exclusions"]]
    values = coded(turns[names], choice["coding"])
    ratings = pd.DataFrame(values, columns=names, index=turns["participant"].to_numpy())
    missing = "pairwise" if choice["missing"] == MISSING[0] else "listwise"
    return alpha_row(ratings, bootstrap, missing=missing)


def poor_turn_d(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Cohen's d of conversations without and with a poor turn."""
    study = rated.study
    columns = _answered(study, OUTCOMES["empathy"])
    post = study.conversations[["participant", "conversation", *columns]]
    turns = rated.put_to_rating[choice["exclusions"]]
    dimensions = turns[rated.dimensions].to_numpy(dtype=float)
    means = row_means(dimensions, choice["missing"])
    if choice["poor turn"] == POOR_TURNS[0]:
        overall = turns["overall"].to_numpy(dtype=float)
        can_tell = np.isfinite(overall)
        is_poor_turn = is_poor(overall)
    elif choice["poor turn"] == POOR_TURNS[1]:
        can_tell = np.isfinite(means)
        is_poor_turn = rounded(means) <= POOR + 0.5
    else:
        can_tell = np.isfinite(means)
        is_poor_turn = is_poor(dimensions).any(axis=1)
    conversations = turns.loc[can_tell, "conversation"].to_numpy()
    has_poor_turn = pd.Series(is_poor_turn[can_tell]).groupby(conversations).any()
    outcome = row_means(coded(post[columns], choice["coding"]), choice["missing"])
    frame = post.assign(outcome=outcome, poor=post["conversation"].map(has_poor_turn))
    frame = frame[frame["poor"].notna() & np.isfinite(frame["outcome"])]

    def d():
        moments = group_moments(frame["outcome"].to_numpy(), frame["poor"].to_numpy(dtype=bool))
        return resampled(bootstrap, cohens_d, moments, frame["participant"])

    answers = answers_to(study, "post-task empathy")
    if len(turns):  # an exclusion may leave none, which is not that nobody rated
        answers[f"a rating to tell a poor turn ({choice['poor turn']})"] = turns[can_tell]
    number = Number(
        label="poor turn",
        statistic=d,
        unit="Cohen's d",
        method="without minus with a poor turn, between conversations",
        rows=frame,
        needs=Needs(answers=answers, in_each_group=2),
        undefined="the outcome does not vary",
        reason=why_no_judgment_of_the_whole(study),
        groups=frame["poor"],
        contrast="Cohen's d",
    )
    return number.row(bootstrap)


def relational_applicability(
    rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap
) -> dict:
    """Share of turns in which Relational has a level."""
    turns = rated.put_to_rating[choice["exclusions"]]
    if choice["share of"] == DENOMINATORS[1]:
        turns = turns[turns[list(DIMENSION_NAMES)].notna().any(axis=1)]
    if choice["share of"] == DENOMINATORS[2]:
        turns = turns[turns["overall"].notna()]

    def applied():
        groups = turns["Relational"].notna().groupby(turns["conversation"], sort=False)
        applied_turns = groups.sum().to_numpy(dtype=float)
        all_turns = groups.size().to_numpy(dtype=float)
        people = turns.groupby("conversation", sort=False)["participant"].first()
        if choice["averaging"] == AVERAGING[1]:
            return mean_of_rows(bootstrap, applied_turns / all_turns, people)
        return share(bootstrap, applied_turns, all_turns, people)

    number = Number(
        label="Relational",
        statistic=applied,
        unit="share of turns",
        method="turns with a level of Relational by turns",
        rows=turns,
        counted="turn",
        reason="" if "Relational" in rated.study.asked else NEVER_ASKED,
    )
    return number.row(bootstrap)


def first_conversations(study: Study, conversations: str) -> np.ndarray:
    """Whether each conversation counts: all, or the first of its participant in its condition, in file order."""
    first = ~study.conversations.duplicated(["participant", "condition"]).to_numpy()
    return first | (conversations == CONVERSATIONS[0])


def kappa_affective(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Weighted kappa of Affective with the overall rating."""
    study = rated.study
    turns = rated.put_to_rating[choice["exclusions"]]
    if choice["turns"] == TURNS[1]:
        turns = turns[turns[["overall", *rated.dimensions]].notna().all(axis=1)]
    counts = first_conversations(study, choice["conversations"])
    conversations = study.conversations.loc[counts, "conversation"]
    turns = turns[turns["conversation"].isin(conversations)]
    number = kappa_of(
        study,
        turns,
        "Affective",
        bootstrap,
        choice["weights"],
        f"turns {choice['turns']}",
    )
    return number.row(bootstrap)


def empathy_satisfaction(rated: RatedTurns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
    """Correlation over conversations of empathy with the experience."""
    study = rated.study
    skip_missing = choice["missing"] == COMPLETE[0]
    empathy = _mean_of_asked(study, OUTCOMES["empathy"], skip_missing)
    experience = _mean_of_asked(study, EXPERIENCES[choice["experience"]], skip_missing)
    counts = first_conversations(study, choice["conversations"])
    has_both = np.isfinite(empathy) & np.isfinite(experience) & counts
    who = study.conversations["participant"]
    moment, _, level = choice["correlation"].partition(", ")
    correlation = rank_correlation
    if choice["correlation"] == CORRELATIONS[1]:
        has_both &= who.where(has_both).duplicated(keep=False).to_numpy()
        correlation = within_correlation
    who = who[has_both]
    number = Number(
        label="empathy and experience",
        statistic=partial(correlation, bootstrap, empathy[has_both], experience[has_both], who),
        unit="correlation",
        method=f"{moment} correlation of post-task empathy with the experience, {level}",
        rows=who,
        undefined="one of the two does not vary",
    )
    return number.row(bootstrap)


def _answered(study: Study, names: Sequence[str]) -> list[str]:
    """Those of the questions that somebody answered."""
    return [name for name in names if study.conversations[name].notna().any()]


def _mean_of_asked(study: Study, names: Sequence[str], skip_missing: bool) -> np.ndarray:
    """Mean over those of the questions that somebody answered, of each conversation."""
    answers = study.conversations[_answered(study, names)].astype(float)
    return answers.mean(axis=1, skipna=skip_missing).to_numpy(dtype=float)


COMPUTE = {
    "participant_share_beyond_condition_and_topic": participant_share,
    "context_share": context_share,
    "continuity_loss_after_failure": continuity_loss,
    "expectation_loss": expectation_loss,
    "alpha_turn": alpha,
    "relational_applicability": relational_applicability,
    "kappa_affective": kappa_affective,
    "prompted_minus_best_other": condition_difference,
    "poor_turn_d": poor_turn_d,
    "empathy_satisfaction": empathy_satisfaction,
}
IN_STUDIES = tuple(COMPUTE)
"""Headlines that a study alone gives, which are all but that of the judge, in the order of the page."""


# The smallest difference that could be detected


def headline_estimates(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the estimates whose intervals show what the design can detect, without keys: the other pages record them.

    The largest difference of two conditions' mean ground truths, and the first specification of the poor turn.
    """
    differences = condition_differences(study, bootstrap)
    largest = differences.loc[rounded(differences["estimate"].abs().fillna(0)).idxmax()].to_dict()
    specification = multiverse(study, bootstrap, "poor_turn_d", first_only=True).loc[1]
    rows = {
        "best and worst condition": largest,
        "poor turn, Cohen's d": specification[list(COLUMNS)].to_dict(),
    }
    return estimate_table(rows, "statistic")


@finding
def smallest_detectable(estimates: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the smallest true difference that a test of this design would detect with a given power.

    .. math:: (z_{1 - a/2} + z_{b}) \cdot SE, \quad
              SE = \frac{\text{high} - \text{low}}{2 z_{1 - (1 - \gamma)/2}}

    with a = 5% the level of a two-sided test, b = 80% the power, and :math:`\gamma` the confidence of the intervals:
    2.80 standard errors. The standard error is that of the resampled participants, from the interval's width: so the
    design is judged with all the dependence that its data have, and not by the estimate.

    Parameters
    ----------
    estimates : DataFrame
        As :func:`headline_estimates` returns it.
    bootstrap : ParticipantBootstrap
        That of its intervals.

    Returns
    -------
    DataFrame
        One row for each of ``estimates``, in its unit; no intervals. Missing where an interval is.

    References
    ----------
    Bloom, H. S. (1995). Minimum detectable effects. Evaluation Review 19, 547-556.
    """
    from scipy import stats  # takes as long to import as all that judges need

    level, power = 0.05, 0.8
    factor = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(power)
    method = (
        f"{factor:.2f} standard errors (power {power:.0%}, two-sided level {level:.0%}); "
        "standard error from the width of the participant-bootstrap interval"
    )
    keys = {
        "best and worst condition": "smallest_detectable_condition_difference",
        "poor turn, Cohen's d": "smallest_detectable_poor_turn_d",
    }
    rows = {}
    for name, row in estimates.iterrows():
        width = row["high"] - row["low"]
        smallest = np.nan
        reason = ""
        if np.isfinite(width) and width > 0:
            standard_error = width / (2 * stats.norm.ppf((1 + bootstrap.confidence) / 2))
            smallest = factor * standard_error
        else:
            reason = row["reason"] or "the interval has no width"
        rows[name] = estimate_row(
            smallest, n=row["n"], unit=row["unit"], method=method, reason=reason
        )
    return estimate_table(rows, "statistic", {name: keys.get(name, "") for name in rows})
