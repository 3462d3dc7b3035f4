"""Context: topic, importance and desired empathy, and the gap between desired and experienced empathy.

Conversations differ in context, and so do the people who had them. So effects are estimated within participants: each
person's conversations are compared with that person's own mean. Demeaned cross products are sums over participants, so
that resampling them is exact.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from sense7.estimators.bootstrap import ParticipantBootstrap, pieces
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import NEGLIGIBLE, coefficient, least_squares, within
from sense7.estimators.order import in_order_of_appearance, rounded
from sense7.findings.core import Number, finding, need, require_own, resampled, share, tabulate
from sense7.findings.ground_truth import ground_truth
from sense7.findings.measures import OUTCOMES
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "context_shares",
    "context_slopes",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_differs_by_topic",
    "own_topic_means",
]

CONTEXT = {"topic": "topic", "importance": "importance", "desired_empathy": "desired empathy"}
"""What is known of a conversation before it begins: column -> words."""
STEPS = ("importance", "desired_empathy")
NOT_GIVEN = "(not given)"

MOST_DRAWS = 2_000
"""Largest number of resamples where each costs an eigendecomposition or a permutation; ``method`` says so."""


def context_frame(study: Study) -> pd.DataFrame:
    """Participant, condition, context and ground truth ``y`` of the conversations that have ground truth."""
    conversations = study.conversations
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    frame = conversations[["participant", "condition", *CONTEXT]].assign(y=truth)
    return frame[np.isfinite(truth)].reset_index(drop=True)


def not_varying(frame: pd.DataFrame, name: str) -> str:
    """Why a context variable says nothing; "" if it does."""
    if frame.empty:
        return "no conversation has ground truth in this data set"
    values = frame[name].dropna()
    if values.empty:
        return f"{CONTEXT[name]} was not given in this data set"
    return f"{CONTEXT[name]} is the same in every conversation" if values.nunique() < 2 else ""


def context_design(frame: pd.DataFrame, names) -> np.ndarray:
    """Columns of a design: steps as numbers, texts as indicators of all but the first."""
    columns = [np.empty((len(frame), 0))]
    for name in names:
        levels = np.array(sorted(frame[name].unique())[1:], dtype=object)
        texts = name not in STEPS
        columns.append(
            frame[name].to_numpy()[:, None] == levels if texts else frame[[name]].to_numpy()
        )
    return np.column_stack(columns).astype(float)


def products(z: np.ndarray) -> np.ndarray:
    """Cross products of the columns of each row."""
    return z[:, :, None] * z[:, None, :]


def largest_groups(groups: pd.Series) -> list:
    """Groups in their order; of more than 40, the 40 largest."""
    return sorted(
        groups.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:40]
    )


@finding
def own_topic_means(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean ground truth of the conversations of each topic, minus the participant's own mean.

    .. math:: \overline{y_{pc} - \bar y_p}

    so that it does not matter who chose the topic.

    Returns
    -------
    DataFrame
        One row per topic, in its order (of more than 40 the 40 largest): estimate (points), low, high, n
        (conversations), unit, method, reason. Conversations without ground truth or topic are left out.
    """
    require_own(study, bootstrap)
    every = context_frame(study)
    frame = every[every["topic"].notna()]
    own = frame.assign(y=within(frame[["y"]].to_numpy(), frame["participant"])[:, 0])

    def mean(rows: pd.DataFrame):
        need(not not_varying(every, "topic"), not_varying(every, "topic"))
        need(
            frame["participant"].duplicated().any(),
            "no participant has two conversations to compare",
        )
        return share(bootstrap, rows["y"], np.ones(len(rows)), rows["participant"])

    how = "points", "mean ground truth over conversations, minus the participant's own mean"
    numbers = []
    for number, topic in enumerate(largest_groups(frame["topic"]) or [NOT_GIVEN], 1):
        rows = own[own["topic"] == topic]
        # A topic by its number, since it is a text of the workbook.
        numbers.append(Number(topic, partial(mean, rows), *how, rows, f"topic_mean_own_{number}"))
    return tabulate("topic", numbers, bootstrap)


@finding
def context_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the share of the variance within participants that context explains.

    .. math:: 1 - \frac{\mathrm{RSS} / (n - G - r)}{\mathrm{TSS} / (n - G)}

    with all columns minus their participant's mean, n conversations, G participants and r the rank of the context's
    columns. So chance alone gives zero on average, and single estimates may be negative. Resampling inflates it, as it
    does every share of explained variance: the resampled values (at most 2,000) are moved so that their mean is the
    estimate. In simulation (8 topics, 109 participants) such intervals covered the truth in 93 to 97 of 100 studies,
    and in all of them where it was zero: there they are too wide.

    Returns
    -------
    DataFrame
        One row, of topic, importance and desired empathy together, as far as they were given and vary: estimate (at
        most 1), low, high, n (conversations), unit, method, reason.

    References
    ----------
    Ezekiel, M. (1930). Methods of correlation analysis (the adjusted share of explained variance).
    """
    require_own(study, bootstrap)
    every = context_frame(study)
    varying = [name for name in CONTEXT if not not_varying(every, name)]
    frame = every[every[varying].notna().all(axis=1) & bool(varying)]
    own = replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))
    z = within(np.column_stack([context_design(frame, varying), frame["y"]]), frame["participant"])
    width = z.shape[1]

    def adjusted(sums: np.ndarray) -> np.ndarray:
        cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
        _, residual, rank = least_squares(cross)
        n, total = (
            np.round(sums[..., -2] - sums[..., -1]),
            cross[..., -1, -1],
        )  # conversations less participants
        defined = (n - rank > 0) & (rank > 0) & (total > NEGLIGIBLE)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(defined, 1 - residual / (n - rank) * n / total, np.nan)

    def explained() -> Estimate:
        need(varying, "nothing of the context varies in this data set")
        size = frame["participant"].map(frame["participant"].value_counts()).to_numpy(dtype=float)
        values = np.column_stack([products(z).reshape(len(z), -1), np.ones(len(z)), 1 / size])
        estimate, *draws = resampled(own, adjusted, values, frame["participant"])
        return Estimate(
            estimate, *own.interval(np.array(draws), frame["participant"], shift_to=estimate)
        )

    how = "share of the variance within participants", "adjusted share explained by least squares"
    undefined = (
        "too few conversations of the same participant to compare, or their ratings do not vary"
    )
    moved = f"{own.description}, moved to the estimate"
    number = Number("all of the context", explained, *how, frame, "context_share", undefined, moved)
    return tabulate("context", [number], own)


@finding
def context_slopes(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the change of the ground truth per step of importance and of desired empathy, within participants.

    Least squares with both in one model (one alone where the other was not given or does not vary), all columns minus
    the participant's mean. The last row is the slope on desired empathy in the condition with the empathy prompt minus
    that in all others, in one model with the conditions and the importance.

    Returns
    -------
    DataFrame
        One row per slope: estimate (points per step), low, high, n (conversations with ground truth and the columns of
        the model), unit, method, reason.
    """
    require_own(study, bootstrap)
    frame = context_frame(study)
    known = [name for name in STEPS if not not_varying(frame, name)]

    def slope(name: str, z: np.ndarray, people: pd.Series):
        need(name in known, not_varying(frame, name))
        return resampled(bootstrap, coefficient(0), products(z), people)

    numbers = []
    for name, key in zip(STEPS, ("importance_slope_within", "desired_slope_within"), strict=True):
        names = [name, *(other for other in known if other != name)]
        rows = frame[frame[names].notna().all(axis=1) & (name in known)]
        z = within(np.column_stack([context_design(rows, names), rows["y"]]), rows["participant"])
        method = (
            f"least squares on {', '.join(CONTEXT[each] for each in names)}; within participants"
        )
        undefined = f"{CONTEXT[name]} can't be distinguished from the rest of the model here"
        statistic, method = (
            partial(slope, name, z, rows["participant"]),
            method if name in known else "least squares",
        )
        numbers.append(
            Number(CONTEXT[name], statistic, "points per step", method, rows, key, undefined)
        )
    others = [name for name in known if name == "importance"]
    rows = frame[frame[["condition", "desired_empathy", *others]].notna().all(axis=1)]
    prompted = (rows["condition"] == study.prompted_condition).to_numpy()

    def difference():
        need("desired_empathy" in known, not_varying(frame, "desired_empathy"))
        need(len(rows), "conditions were not given in this data set")
        need(
            study.prompted_condition is not None,
            "it is not known which condition has the empathy prompt",
        )
        need(
            prompted.any() and not prompted.all(),
            "there is no condition to compare the empathy prompt with",
        )
        slopes = np.column_stack([prompted, ~prompted]) * rows[["desired_empathy"]].to_numpy(
            dtype=float
        )
        columns = [slopes, context_design(rows, ["condition", *others]), rows["y"]]
        z = within(np.column_stack(columns), rows["participant"])
        return resampled(bootstrap, coefficient(0, minus=1), products(z), rows["participant"])

    label = "desired empathy, empathy prompt minus the other conditions"
    undefined = (
        "the slope of desired empathy can't be distinguished from the rest of the model here"
    )
    how = "points per step", "least squares within participants"
    numbers.append(Number(label, difference, *how, rows, "desired_slope_difference", undefined))
    return tabulate("slope", numbers, bootstrap)


# Expected and experienced

SCALE, RANKS = "both scales from 0 to 1", "percent ranks within the data set"
"""Ways to put desired (1..3) and experienced (1..5) empathy together."""


def expected_and_experienced(study: Study) -> pd.DataFrame:
    """Desired empathy before (1..3) and mean post-task empathy after (1..5), of the conversations that have both.

    ``gap`` is experienced minus expected, both on a scale from 0 to 1.
    """
    conversations = study.conversations
    frame = conversations[["participant", "topic"]].assign(
        expected=conversations["desired_empathy"],
        experienced=conversations[OUTCOMES["empathy"]].mean(axis=1),
    )
    frame = frame[frame[["expected", "experienced"]].notna().all(axis=1)].reset_index(drop=True)
    return frame.assign(gap=(frame["experienced"] - 1) / 4 - (frame["expected"] - 1) / 2)


def no_gap(study: Study, frame: pd.DataFrame) -> str:
    """Why desired and experienced empathy can't be compared; "" if they can."""
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was not given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    return "" if len(frame) else "no conversation has both"


def mean_gap(study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame):
    """Mean gap of some conversations."""
    require_own(study, bootstrap)
    reason = no_gap(study, expected_and_experienced(study))
    need(not reason, reason)
    need(len(frame), "topic was not given in this data set")
    return share(bootstrap, frame["gap"], np.ones(len(frame)), frame["participant"])


@finding
def expected_experienced_gap(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the mean of experienced minus expected empathy, both scales from 0 to 1.

    .. math:: \overline{(x - 1)/4 - (e - 1)/2}

    with e the expected (1..3) and x the experienced level (1..5).

    Returns
    -------
    DataFrame
        One row: estimate (-1..1, positive if more was experienced), low, high, n (conversations), unit, method, reason.
    """
    require_own(study, bootstrap)
    frame, how = expected_and_experienced(study), f"mean of experienced minus expected, {SCALE}"
    statistic, unit = partial(mean_gap, study, bootstrap, frame), "points on a scale from 0 to 1"
    return tabulate(
        "way", [Number(SCALE, statistic, unit, how, frame, "expected_experienced_gap")], bootstrap
    )


@finding
def gap_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the gap on each topic (of more than 40, the 40 largest), as :func:`expected_experienced_gap`."""
    require_own(study, bootstrap)
    frame = expected_and_experienced(study)
    how = "points on a scale from 0 to 1", f"experienced minus expected, {SCALE}"
    numbers = []
    for number, topic in enumerate(largest_groups(frame["topic"].dropna()) or [NOT_GIVEN], 1):
        own = frame[frame["topic"] == topic]
        statistic = partial(mean_gap, study, bootstrap, own)
        numbers.append(
            Number(topic, statistic, *how, own, f"expected_experienced_gap_topic_{number}")
        )
    return tabulate("topic", numbers, bootstrap)


@finding
def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return whether the gap differs by topic: p values by permutation of the topics within participants.

    Adding a constant to a scale moves all topics' gaps alike and leaves every p value as it is. The p value of percent
    ranks (the share of conversations below, ties counting half) does not depend on the units either: it stays the same
    if the levels of either scale are replaced by any others in the same order. At most 2,000 permutations, with the
    bootstrap's seed. One row for both scales from 0 to 1, and one for percent ranks.
    """
    require_own(study, bootstrap)
    frame = expected_and_experienced(study)
    ranks = [
        (stats.rankdata(rounded(frame[name])) - 0.5) / max(len(frame), 1)
        for name in ("experienced", "expected")
    ]
    keys = {SCALE: "expected_experienced_p_scale", RANKS: "expected_experienced_p_ranks"}
    rows = {}
    for way, y in ((SCALE, frame["gap"]), (RANKS, ranks[0] - ranks[1])):
        reason = no_gap(study, frame)
        rows[way] = (
            estimate_row(n=0, unit="p value", method="permutation", reason=reason)
            if reason
            else permutation_row(frame.assign(y=y), bootstrap)
        )
    return estimate_table(rows, "way", keys)


def permutation_row(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """P value of the topics as a row of estimates, permuted among each participant's own conversations."""
    draws = min(bootstrap.draws, MOST_DRAWS)
    method = f"{count_of(draws, 'permutation')} of topics within participants"
    reason = not_varying(frame, "topic")
    frame = in_order_of_appearance(frame[frame["topic"].notna()], "participant")
    if not reason and frame.groupby("participant")["topic"].nunique().max() < 2:
        reason = "no participant has conversations on two topics"
    y = within(frame[["y"]].to_numpy(dtype=float), frame["participant"])[:, 0]
    if not reason and rounded((y**2).sum()) == 0:
        reason = "no participant's conversations differ"
    if reason:
        return estimate_row(n=len(frame), unit="p value", method=method, reason=reason)
    topics, participants = pd.factorize(frame["topic"])[0], pd.factorize(frame["participant"])[0]
    size = np.bincount(topics)

    def between(values: np.ndarray) -> np.ndarray:
        cells = topics + len(size) * np.arange(len(values))[:, None]
        sums = np.bincount(cells.ravel(), weights=values.ravel(), minlength=len(values) * len(size))
        return (sums.reshape(len(values), len(size)) ** 2 / size).sum(axis=1)

    observed = between(y[None])[0]
    generator = np.random.default_rng(bootstrap.seed)
    as_large = 0
    for piece in pieces(draws, len(y), 500):
        order = participants + generator.random((piece.stop - piece.start, len(y)))
        as_large += int((rounded(between(y[np.argsort(order, axis=1)])) >= rounded(observed)).sum())
    return estimate_row((1 + as_large) / (1 + draws), n=len(frame), unit="p value", method=method)
