r"""Headlines under all defensible choices: a multiverse.

Every choice that somebody could defend is listed here as data (:data:`HEADLINES`), the first option of each
being the one that the other pages take. All combinations are computed, on the same resamples of
participants, and shown as a specification curve: estimates with their intervals, sorted. It shows
the range, and the share of the specifications whose interval holds the published value or, where none is
published, lies above a reference. That share describes the choices. It is no p value: all specifications rest on
the same data.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.effect_size import cohens_d, group_moments
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import ground_truth
from sense7.findings.measures import OUTCOMES, POOR, is_poor
from sense7.findings.robustness.associations import (
    CONVERSATIONS,
    CORRELATIONS,
    EXPERIENCES,
    RATINGS_GIVEN,
    TURNS,
    WEIGHTS,
    affective_kappa,
    empathy_goes_with_experience,
)
from sense7.findings.robustness.specifications import (
    CONTEXTS,
    CONTINUITY_RATINGS,
    FAILURES,
    MISSING,
    MOMENTS,
    PEOPLE,
    RATINGS,
    REMOVED,
    TURN_RATINGS,
    context_explains,
    continuity_fails,
    participants_share,
)
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES, SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["HEADLINES", "IN_STUDIES", "Headline", "agreement", "multiverse", "specifications", "summary"]

CODINGS = {"five levels": (1, 2, 3, 4, 5), "three levels": (1, 1, 2, 3, 3), "very good or not": (0, 0, 0, 0, 1)}
"""Codings of the levels 1..5."""

_MISSING = MISSING
_CODING = tuple(CODINGS)
_FEWEST_TURNS = 3
_EXCLUSIONS = ("none", f"conversations under {_FEWEST_TURNS} rated turns", "first turns")
_AVERAGING = ("turn, then conversation", "all turns pooled")
_SCORES = ("mean of seven", "overall rating")
_POOR = (f"overall at most {POOR}", f"mean of seven at most {POOR + 0.5:g}", f"any dimension at most {POOR}")
_DENOMINATORS = ("turns put to rating", "turns with any dimension rated", "turns with an overall rating")
_DIMENSIONS = ("all seven", "without Relational")
_FEWEST = 2
_OVERALL = RATING_NAMES.index("overall")


NEVER_INCOMPLETE = "an overall rating is one rating and never incomplete, so that there is no rule for missing ones"
ONLY_OVERALL = (
    "in the same turn the loss is measured in the overall rating only, since Relational itself is part of the mean of "
    "the dimensions"
)
RUNS = ("mean over runs", "first run", "median of the runs' scores")
TRUTHS = ("turn, then conversation", "the same as a level", "all ratings pooled")
REPLIES = ("missing", "counted as 3")


@dataclass(frozen=True)
class Headline:
    """A figure whose dependence on choices is shown.

    Attributes
    ----------
    title : str
        Its name.
    unit : str
        Unit of the estimates.
    reference : float or None
        The value above which an interval has to lie to show what the headline says; None where a figure is published.
    claim : str
        Id of the published claim whose figure the intervals may hold; "" if only words are published.
    choices : dict
        Choice -> its options, the first being that of the other pages.
    left_out : str
        Why some combinations of the choices are left out; "" if none is.
    """

    title: str
    unit: str
    reference: float | None
    claim: str
    choices: dict[str, tuple[str, ...]] = field(repr=False)
    left_out: str = ""


HEADLINES = {
    "alpha": Headline(
        "Cronbach's alpha per turn",
        "alpha",
        None,
        "alpha_turn",
        {"missing": _MISSING, "coding": _CODING, "dimensions": _DIMENSIONS, "exclusions": _EXCLUSIONS},
    ),
    "condition_difference": Headline(
        "best minus worst condition",
        "standard deviations of a turn's score",
        0.0,
        "",
        {
            "score": _SCORES,
            "missing": _MISSING,
            "coding": _CODING,
            "averaging": _AVERAGING,
            "exclusions": _EXCLUSIONS,
        },
        NEVER_INCOMPLETE,
    ),
    "poor_turn_d": Headline(
        "conversations without minus with a poor turn",
        "Cohen's d",
        None,
        "poor_turn_d",
        {"poor turn": _POOR, "missing": _MISSING, "coding": _CODING, "exclusions": _EXCLUSIONS},
    ),
    "relational_applicability": Headline(
        "applicability of Relational",
        "share of turns",
        None,
        "relational_applicability",
        {"share of": _DENOMINATORS, "averaging": _AVERAGING[::-1], "exclusions": _EXCLUSIONS},
    ),
    "participants_share": Headline(
        "participants' share of the variance",
        "share of the variance",
        0.5,
        "",
        {"rating": TURN_RATINGS, "missing": MISSING, "conditions": REMOVED, "participants": PEOPLE},
        NEVER_INCOMPLETE,
    ),
    "context_share": Headline(
        "context's share of the variance within participants",
        "share of the variance within participants",
        0.0,
        "",
        {"rating": RATINGS, "missing": MISSING, "conditions": REMOVED[::-1], "context": tuple(CONTEXTS)},
        NEVER_INCOMPLETE,
    ),
    "continuity_contrast": Headline(
        "loss with a failure of Relational minus that with another",
        "level, difference",
        0.0,
        "",
        {
            "moment": MOMENTS,
            "rating": CONTINUITY_RATINGS,
            "failure": FAILURES,
            "exclusions": _EXCLUSIONS[::2],
        },
        ONLY_OVERALL,
    ),
    "kappa_affective": Headline(
        "kappa of Affective with the overall rating",
        "weighted kappa",
        None,
        "kappa_affective",
        {"weights": WEIGHTS, "turns": TURNS, "exclusions": _EXCLUSIONS, "conversations": CONVERSATIONS},
    ),
    "empathy_satisfaction": Headline(
        "correlation of empathy with the experience",
        "correlation",
        0.0,
        "",
        {
            "correlation": CORRELATIONS,
            "experience": tuple(EXPERIENCES),
            "missing": RATINGS_GIVEN,
            "conversations": CONVERSATIONS,
        },
    ),
    "judge_spearman": Headline(
        "the judge's correlation with the users' ratings",
        "Spearman's rho",
        None,
        "judge_spearman",
        {"runs": RUNS, "ground truth": TRUTHS, "replies without a score": REPLIES},
    ),
}
"""The headlines: key -> headline. That of the judge is computed where judges are known:
:func:`sense7.judge.judges.judge_multiverse`."""


def specifications(headline: str) -> pd.DataFrame:
    """Return every combination of the choices of a headline; the first is that of the other pages.

    Parameters
    ----------
    headline : str
        A key of ``HEADLINES``.

    Returns
    -------
    DataFrame
        One row per specification, numbered from 1; one column per choice. What a choice can't change is
        left out: the overall rating alone has no incomplete turns. So is what nobody would defend: the loss in the same
        turn is measured in the overall rating only, since Relational itself is part of the mean of the dimensions.

    Examples
    --------
    >>> {name: len(specifications(name)) for name in ("alpha", "participants_share", "continuity_contrast")}
    {'alpha': 36, 'participants_share': 20, 'continuity_contrast': 12}
    """
    choices = HEADLINES[headline].choices
    rows = pd.DataFrame(list(itertools.product(*choices.values())), columns=list(choices))
    rated = rows["score" if "score" in choices else "rating"] if {"score", "rating"} & set(choices) else None
    if rated is not None and "missing" in choices:
        rows = rows[~rated.str.startswith("overall rating") | (rows["missing"] == MISSING[0])]
    if "moment" in choices:
        rows = rows[(rows["moment"] != MOMENTS[1]) | (rows["rating"] == CONTINUITY_RATINGS[1])]
    return rows.set_index(pd.RangeIndex(1, len(rows) + 1, name="specification"))


@dataclass(frozen=True, eq=False)
class _Turns:
    """The turns put to rating, in arrays; ``kept`` by exclusion."""

    levels: np.ndarray
    conversation: np.ndarray
    participant: np.ndarray
    known: list[int]
    kept: dict[str, np.ndarray]


def _prepare(study: Study) -> _Turns:
    turns = study.turns_put_to_rating
    levels = turns[list(RATING_NAMES)].to_numpy(dtype=float)
    conversation = pd.Index(study.conversations["conversation"]).get_indexer(turns["conversation"])
    rated = np.isfinite(levels).any(axis=1)
    counts = np.bincount(conversation[rated], minlength=len(study.conversations))
    kept = (np.ones(len(turns), dtype=bool), counts[conversation] >= _FEWEST_TURNS, (turns["turn"] > 1).to_numpy())
    return _Turns(
        levels=levels,
        conversation=conversation,
        participant=turns["participant"].to_numpy(),
        known=[RATING_NAMES.index(name) for name in study.rated_dimensions],
        kept=dict(zip(_EXCLUSIONS, kept, strict=True)),
    )


def _code(levels: np.ndarray, coding: str) -> np.ndarray:
    """Levels 1..5 by a coding, linearly between two levels (of rescaled ratings); NaN stays NaN."""
    return np.interp(levels, np.arange(1, 6), CODINGS[coding])


def _row_means(values: np.ndarray, missing: str) -> np.ndarray:
    """Mean over the given values of a row, or over complete rows only; NaN where there is none."""
    counts = np.isfinite(values).sum(axis=1)
    enough = counts == values.shape[1] if missing == _MISSING[1] else counts > 0
    return np.where(enough & (counts > 0), np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


def best_and_worst(study: Study) -> tuple[str, str] | None:
    """Return the conditions of the highest and the lowest mean ground truth; None if there are not two.

    Conditions with fewer than two conversations with a ground truth are left out; ties go by name.
    """
    conversations = study.conversations
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    groups = pd.Series(truth).groupby(conversations["condition"].to_numpy()).agg(["mean", "count"])
    means = groups.loc[groups["count"] >= _FEWEST, "mean"].sort_index()
    if len(means) < _FEWEST:
        return None
    best = means.idxmax()
    return best, means.drop(best).idxmin()


def multiverse(
    study: Study, bootstrap: ParticipantBootstrap, headline: str, *, first_only: bool = False
) -> pd.DataFrame:
    r"""Return the estimate of every specification of a headline, on the same resamples of participants.

    - *alpha*: Cronbach's alpha of the turns' ratings as coded.
    - *condition_difference*: the conditions that are best and worst by mean ground truth, the same
      two in all specifications; the difference of their means of the score as coded, divided by
      the score's standard deviation over all turns, so that codings can be compared. The interval
      does not allow for the two having been picked as the extremes.
    - *poor_turn_d*: Cohen's d of mean post-task empathy as coded, of conversations without and with
      a poor turn.
    - *relational_applicability*: share of turns in which Relational has a level; averaged over
      conversations, or over all turns at once.
    - *participants_share*, *context_share*, *continuity_contrast*: the three findings of the abstract, see
      :mod:`sense7.findings.robustness.specifications`.
    - *kappa_affective*, *empathy_satisfaction*: see :mod:`sense7.findings.robustness.associations`.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for all intervals.
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
    chosen = specifications(headline).iloc[: 1 if first_only else None]
    compute, turns = _COMPUTE[headline](study), _prepare(study)
    rows = {
        number: compute(turns, row, bootstrap)
        for number, row in zip(chosen.index, chosen.to_dict("records"), strict=True)
    }
    return chosen.join(estimate_table(rows, "specification"))


def agreement(table: pd.DataFrame, headline: str, published: float | None = None) -> pd.Series:
    """Return whether the interval of each specification that has one agrees with the headline.

    Parameters
    ----------
    table, headline, published
        As for :func:`summary`.

    Returns
    -------
    Series of bool
        Of a headline with a published figure, whether the interval holds it (never, if it is not given); of another,
        whether the interval lies above the reference.
    """
    intervals = table[table["estimate"].notna() & table["low"].notna()]
    if not HEADLINES[headline].claim:
        return intervals["low"] > HEADLINES[headline].reference
    value = np.nan if published is None else published
    return (intervals["low"] <= value) & (value <= intervals["high"])


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
    one = HEADLINES[headline]
    known = table["estimate"].dropna()
    reason = "" if len(known) else f"no specification could be computed: {table['reason'].iloc[0]}"
    method = f"{len(known)} of {len(table)} specifications"
    key = f"multiverse_{headline}"
    rows = {
        words: estimate_row(
            known.agg(name),
            n=len(known),
            unit=one.unit,
            method=f"{name} of {method}",
            reason=reason,
            key=f"{key}_{name}",
        )
        for words, name in (("lowest estimate", "min"), ("highest estimate", "max"))
    }
    agree = agreement(table, headline, published)
    if one.claim:
        row, words = "intervals that hold the published value", "interval holds the published value"
        reason = reason or ("" if published is not None else "the published value was not given")
    else:
        row, words = "intervals above the dashed line", f"interval lies above {one.reference:g}"
    if not reason and agree.empty:
        reason = f"no specification has an interval: {table['reason'].iloc[0]}"
    rows[row] = estimate_row(
        np.nan if reason else agree.mean(),
        n=len(agree),
        unit="share of specifications",
        method=f"{words}; {len(agree)} of {len(table)} specifications",
        reason=reason,
        key=f"{key}_holds_published" if one.claim else f"{key}_above_reference",
    )
    if table["method"].str.startswith(SIMULATED_WORDS).any():
        rows = {name: row | {"method": f"{SIMULATED_WORDS}: {row['method']}"} for name, row in rows.items()}
    return estimate_table(rows, "of the specifications")


_Compute = Callable[[_Turns, dict, ParticipantBootstrap], dict]


def _alpha(study: Study) -> _Compute:
    def compute(turns: _Turns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        names = [name for name in DIMENSION_NAMES if choice["dimensions"] == _DIMENSIONS[0] or name != "Relational"]
        kept = turns.kept[choice["exclusions"]]
        columns = [RATING_NAMES.index(name) for name in names]
        coded = _code(turns.levels[kept][:, columns], choice["coding"])
        ratings = pd.DataFrame(coded, columns=names, index=turns.participant[kept])
        missing = "pairwise" if choice["missing"] == _MISSING[0] else "listwise"
        return alpha_row(ratings, bootstrap, missing=missing)

    return compute


def _condition(study: Study) -> _Compute:
    pair = best_and_worst(study)
    conditions = study.conversations["condition"].to_numpy()
    people = study.conversations["participant"].to_numpy()
    unit, method = HEADLINES["condition_difference"].unit, "difference of means by standard deviation of turns"

    def compute(turns: _Turns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        if pair is None:
            reason = "fewer than two conditions have two conversations with a ground truth"
            return estimate_row(n=0, unit=unit, method=method, reason=reason)
        if choice["score"] == _SCORES[0]:
            score = _row_means(_code(turns.levels[:, turns.known], choice["coding"]), choice["missing"])
        else:
            score = _code(turns.levels[:, _OVERALL], choice["coding"])
        used = turns.kept[choice["exclusions"]] & np.isfinite(score)
        score, of = score[used], turns.conversation[used]
        counts = np.bincount(of, minlength=len(people)).astype(float)
        totals = np.bincount(of, weights=score, minlength=len(people))
        squares = np.bincount(of, weights=score**2, minlength=len(people))
        if choice["averaging"] == _AVERAGING[0]:
            means = np.divide(totals, counts, out=np.zeros(len(people)), where=counts > 0)
            units, amounts = (counts > 0).astype(float), means
        else:
            units, amounts = counts, totals
        in_pair = [conditions == name for name in pair]
        values = np.column_stack(
            [
                *(column * chosen for chosen in in_pair for column in (units, amounts)),
                counts,
                totals,
                squares,
            ]
        )
        present = counts > 0
        n = int(units[in_pair[0] | in_pair[1]].sum())
        if any(not values[:, column].any() for column in (0, 2)):
            reason = "under this specification one of the two conditions has no turn with a score"
            return estimate_row(n=n, unit=unit, method=method, reason=reason)
        difference = bootstrap.estimate(_standardized_difference, values[present], people[present])
        undefined = "the score does not vary under this specification"
        return bootstrap.row(difference, n=n, unit=unit, method=method, undefined=undefined)

    return compute


def _standardized_difference(sums: np.ndarray) -> np.ndarray:
    n_best, best, n_worst, worst, n, total, squares = np.moveaxis(sums, -1, 0)
    variance = (squares - total**2 / n) / (n - 1)
    # Guards against a variance of zero that rounding made tiny.
    spread = np.where(variance > 1e-9, np.sqrt(np.maximum(variance, 0)), np.nan)
    return (best / n_best - worst / n_worst) / spread


def _poor_turn(study: Study) -> _Compute:
    people = study.conversations["participant"].to_numpy()
    columns = [name for name in OUTCOMES["empathy"] if study.conversations[name].notna().any()]
    post = study.conversations[columns].to_numpy(dtype=float)
    unit, method = HEADLINES["poor_turn_d"].unit, "without minus with a poor turn, between conversations"

    def compute(turns: _Turns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        if not columns:
            reason = "post-task empathy was never rated in this data set"
            return estimate_row(n=0, unit=unit, method=method, reason=reason)
        known, poor = _poor(turns, choice)
        known = known & turns.kept[choice["exclusions"]]
        rated = np.bincount(turns.conversation[known], minlength=len(people))
        with_poor = np.bincount(turns.conversation[known & poor], minlength=len(people)) > 0
        outcome = _row_means(_code(post, choice["coding"]), choice["missing"])
        used = (rated > 0) & np.isfinite(outcome)
        moments = group_moments(outcome[used], with_poor[used])
        counts = moments[:, :, 0].sum(axis=0).astype(int)
        if not known.any():
            reason = f"no turn has the ratings to tell whether it is poor: {choice['poor turn']}"
            return estimate_row(n=0, unit=unit, method=method, reason=reason)
        if counts.min() < _FEWEST:
            reason = f"{count_of(counts[1], 'conversation')} with such a turn and {counts[0]} without: too few"
            return estimate_row(n=counts.sum(), unit=unit, method=method, reason=reason)
        d = bootstrap.estimate(cohens_d, moments, people[used])
        return bootstrap.row(d, n=len(moments), unit=unit, method=method, undefined="the outcome does not vary")

    return compute


def _poor(turns: _Turns, choice: dict) -> tuple[np.ndarray, np.ndarray]:
    """Turns with the ratings that say whether they are poor, and those that are."""
    if choice["poor turn"] == _POOR[0]:
        overall = turns.levels[:, _OVERALL]
        return np.isfinite(overall), is_poor(overall)
    seven = turns.levels[:, turns.known]
    means = _row_means(seven, choice["missing"])
    known = np.isfinite(means)
    return known, means <= POOR + 0.5 if choice["poor turn"] == _POOR[1] else is_poor(seven).any(axis=1)


def _applicability(study: Study) -> _Compute:
    people = study.conversations["participant"].to_numpy()
    unit, method = HEADLINES["relational_applicability"].unit, "turns with a level of Relational by turns"
    relational = RATING_NAMES.index("Relational")
    seven = [column for column in range(len(RATING_NAMES)) if column != _OVERALL]
    asked = "Relational" in study.asked

    def compute(turns: _Turns, choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        if not asked:
            reason = "Relational was never asked in this data set"
            return estimate_row(n=0, unit=unit, method=method, reason=reason)
        base = {
            _DENOMINATORS[0]: np.ones(len(turns.levels), dtype=bool),
            _DENOMINATORS[1]: np.isfinite(turns.levels[:, seven]).any(axis=1),
            _DENOMINATORS[2]: np.isfinite(turns.levels[:, _OVERALL]),
        }[choice["share of"]] & turns.kept[choice["exclusions"]]
        rated = base & np.isfinite(turns.levels[:, relational])
        below = np.bincount(turns.conversation[base], minlength=len(people)).astype(float)
        above = np.bincount(turns.conversation[rated], minlength=len(people)).astype(float)
        present = below > 0
        if not present.any():
            return estimate_row(n=0, unit=unit, method=method, reason=f"there are no {choice['share of']}")
        values = np.column_stack([above, below])[present]
        if choice["averaging"] == _AVERAGING[0]:
            values = np.column_stack([values[:, 0] / values[:, 1], np.ones(len(values))])
        share = bootstrap.estimate(ratio, values, people[present])
        return bootstrap.row(share, n=int(base.sum()), unit=unit, method=method)

    return compute


def _of_turns(prepare: Callable) -> Callable[[Study], _Compute]:
    """Specifications that filter the turns put to rating themselves, with the arguments of the others."""

    def prepared(study: Study) -> _Compute:
        compute = prepare(study)
        return lambda turns, choice, bootstrap: compute(choice, turns.kept[choice["exclusions"]], bootstrap)

    return prepared


def _of_finding(prepare: Callable) -> Callable[[Study], _Compute]:
    """Specifications of a finding, which prepare their own ratings, with the arguments of the others."""

    def prepared(study: Study) -> _Compute:
        compute = prepare(study)
        return lambda _, choice, bootstrap: compute(choice, bootstrap)

    return prepared


_COMPUTE = {
    "participants_share": _of_finding(participants_share),
    "context_share": _of_finding(context_explains),
    "continuity_contrast": _of_finding(continuity_fails),
    "alpha": _alpha,
    "relational_applicability": _applicability,
    "kappa_affective": _of_turns(affective_kappa),
    "condition_difference": _condition,
    "poor_turn_d": _poor_turn,
    "empathy_satisfaction": _of_finding(empathy_goes_with_experience),
}

IN_STUDIES = tuple(_COMPUTE)
"""Headlines that a study alone gives, which are all but that of the judge, in the order of the page."""


check_arguments(globals())
