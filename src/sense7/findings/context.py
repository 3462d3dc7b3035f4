"""Context: topic, importance and desired empathy, and the gap between desired and experienced empathy.

Conversations differ in context, and so do the people who had them. So effects are estimated within participants: each
person's conversations are compared with that person's own mean. Demeaned cross products are sums over participants, so
that resampling them is exact.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from sense7.findings.core import Number, finding, mean_number, need, resampled, tabulate
from sense7.findings.ground_truth import ground_truth
from sense7.findings.measures import OUTCOMES, need_prompt
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.least_squares import (
    NEGLIGIBLE,
    coefficient,
    cross_products,
    indicators,
    least_squares,
    within,
)
from sense7.statistics.order import in_order_of_appearance, rounded
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
NO_WHOLE_CONTEXT = "no conversation with ground truth has all of the context that was given"

MOST_GROUPS = 40
"""Largest number of topics that a table shows."""

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
    if values.nunique() < 2:
        return f"{CONTEXT[name]} is the same in every conversation"
    return ""


def context_design(frame: pd.DataFrame, names: Iterable[str]) -> np.ndarray:
    """Columns of a design: steps as numbers, texts as indicators of all but the first."""
    columns = [np.empty((len(frame), 0))]
    for name in names:
        values = frame[[name]].to_numpy()
        if name not in STEPS:
            levels = sorted(frame[name].unique())
            values = indicators(frame[name], levels)[:, 1:]
        columns.append(values)
    return np.column_stack(columns).astype(float)


def largest_groups(groups: pd.Series) -> list:
    """Groups in their order; of more than 40, the 40 largest."""
    sizes = groups.value_counts().sort_index()
    by_size = sizes.sort_values(ascending=False, kind="stable")
    return sorted(by_size.index[:MOST_GROUPS])


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
    rated = context_frame(study)
    frame = rated[rated["topic"].notna()]
    departures = within(frame[["y"]].to_numpy(), frame["participant"])
    frame = frame.assign(departure=departures[:, 0])
    no_topics = not_varying(rated, "topic")
    anybody_has_two = frame["participant"].duplicated().any()

    def number(topic: str, key: str) -> Number:
        rows = frame[frame["topic"] == topic]
        return mean_number(
            bootstrap,
            rows["departure"],
            rows,
            [
                (not no_topics, no_topics),
                (anybody_has_two, "no participant has two conversations to compare"),
            ],
            label=topic,
            unit="points",
            method="mean ground truth over conversations, minus the participant's own mean",
            key=key,
        )

    # A topic's key has its number, since its name is a text of the workbook.
    topics = largest_groups(frame["topic"]) or [NOT_GIVEN]
    numbers = [number(topic, f"topic_mean_own_{n}") for n, topic in enumerate(topics, 1)]
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
    frame = context_frame(study)
    varying = [name for name in CONTEXT if not not_varying(frame, name)]
    has_context = frame[varying].notna().all(axis=1) & bool(varying)
    frame = frame[has_context]
    participants = frame["participant"]
    fewer_draws = bootstrap.first(MOST_DRAWS)

    def explained():
        need(varying, "nothing of the context varies in this data set")
        need(len(frame), NO_WHOLE_CONTEXT)
        columns = np.column_stack([context_design(frame, varying), frame["y"]])
        products = cross_products(within(columns, participants))
        # Over the conversations of a participant, these add up to one.
        part_of_participant = 1 / participants.map(participants.value_counts()).to_numpy(float)
        values = np.column_stack(
            [
                products.reshape(len(frame), -1),
                np.ones(len(frame)),
                part_of_participant,
            ]
        )
        return resampled(fewer_draws, _adjusted_share, values, participants)

    number = Number(
        label="all of the context",
        statistic=explained,
        unit="share of the variance within participants",
        method="adjusted share explained by least squares",
        rows=frame,
        key="context_share",
        undefined="too few conversations of the same participant to compare, "
        "or their ratings do not vary",
        interval=f"{fewer_draws.describe()}, moved to the estimate",
        shifted=True,
    )
    return tabulate("context", [number], fewer_draws)


def _adjusted_share(sums: np.ndarray) -> np.ndarray:
    """Adjusted share explained, from cross products, then the numbers of conversations and of participants."""
    number_of_products = sums.shape[-1] - 2
    width = round(number_of_products**0.5)  # of a square matrix
    products = sums[..., :-2].reshape(*sums.shape[:-1], width, width)
    conversations = sums[..., -2]
    participants = sums[..., -1]
    _, residual, rank = least_squares(products)
    total = products[..., -1, -1]
    total_freedom = np.round(conversations - participants)
    residual_freedom = total_freedom - rank
    defined = (residual_freedom > 0) & (rank > 0) & (total > NEGLIGIBLE)
    unexplained = residual / residual_freedom * total_freedom / total
    return np.where(defined, 1 - unexplained, np.nan)


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
    frame = context_frame(study)
    varying = [name for name in STEPS if not not_varying(frame, name)]
    numbers = [
        _slope(bootstrap, frame, "importance", varying, "importance_slope_within"),
        _slope(bootstrap, frame, "desired_empathy", varying, "desired_slope_within"),
        _difference_of_slopes(study, bootstrap, frame, varying),
    ]
    return tabulate("slope", numbers, bootstrap)


def _slope(
    bootstrap: ParticipantBootstrap, frame: pd.DataFrame, name: str, varying: list[str], key: str
) -> Number:
    """The slope on one of the steps, with those of the others that vary in the model."""
    names = [name, *(other for other in varying if other != name)]
    rows = frame[:0]
    method = "least squares"
    if name in varying:
        rows = frame.dropna(subset=names)
        words = ", ".join(CONTEXT[regressor] for regressor in names)
        method = f"least squares on {words}; within participants"

    def slope():
        need(name in varying, not_varying(frame, name))
        need(len(rows), NO_WHOLE_CONTEXT)
        columns = np.column_stack([context_design(rows, names), rows["y"]])
        z = within(columns, rows["participant"])
        return resampled(bootstrap, coefficient(0), cross_products(z), rows["participant"])

    return Number(
        label=CONTEXT[name],
        statistic=slope,
        unit="points per step",
        method=method,
        rows=rows,
        key=key,
        undefined=f"{CONTEXT[name]} can't be distinguished from the rest of the model here",
    )


def _difference_of_slopes(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame, varying: list[str]
) -> Number:
    """The slope on desired empathy with the empathy prompt minus that in the other conditions."""
    covariates = ["condition", *(name for name in varying if name == "importance")]
    rows = frame.dropna(subset=["desired_empathy", *covariates])
    prompted = (rows["condition"] == study.prompted_condition).to_numpy()

    def difference():
        need("desired_empathy" in varying, not_varying(frame, "desired_empathy"))
        need(frame["condition"].notna().any(), "conditions were not given in this data set")
        need(len(rows), NO_WHOLE_CONTEXT)
        need_prompt(study, prompted)
        desired = rows["desired_empathy"].to_numpy(dtype=float)
        columns = np.column_stack(
            [
                np.where(prompted, desired, 0),
                np.where(prompted, 0, desired),
                context_design(rows, covariates),
                rows["y"],
            ]
        )
        z = within(columns, rows["participant"])
        return resampled(bootstrap, coefficient(0, minus=1), cross_products(z), rows["participant"])

    return Number(
        label="desired empathy, empathy prompt minus the other conditions",
        statistic=difference,
        unit="points per step",
        method="least squares within participants",
        rows=rows,
        key="desired_slope_difference",
        undefined=f"the slope of {CONTEXT['desired_empathy']} can't be distinguished "
        "from the rest of the model here",
    )


# Expected and experienced

# Ways to put desired (1..3) and experienced (1..5) empathy together.
SCALE = "both scales from 0 to 1"
RANKS = "percent ranks within the data set"


def expected_and_experienced(study: Study) -> pd.DataFrame:
    """Desired empathy before (1..3) and mean post-task empathy after (1..5), of the conversations that have both.

    ``gap`` is experienced minus expected, both on a scale from 0 to 1.
    """
    conversations = study.conversations
    frame = conversations[["participant", "topic"]].assign(
        expected=conversations["desired_empathy"],
        experienced=conversations[OUTCOMES["empathy"]].mean(axis=1),
    )
    frame = frame.dropna(subset=["expected", "experienced"]).reset_index(drop=True)
    experienced_share = (frame["experienced"] - 1) / 4
    expected_share = (frame["expected"] - 1) / 2
    return frame.assign(gap=experienced_share - expected_share)


def no_gap(study: Study, frame: pd.DataFrame) -> str:
    """Why desired and experienced empathy can't be compared; "" if they can."""
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was not given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    if frame.empty:
        return "no conversation has both"
    return ""


def _mean_gap(
    bootstrap: ParticipantBootstrap, frame: pd.DataFrame, reason: str, **declared: str
) -> Number:
    """The mean gap of some conversations; ``reason`` is why there is none, see :func:`no_gap`."""
    needs = [(not reason, reason), (len(frame), "topic was not given in this data set")]
    unit = "points on a scale from 0 to 1"
    return mean_number(bootstrap, frame["gap"], frame, needs, unit=unit, **declared)


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
    frame = expected_and_experienced(study)
    number = _mean_gap(
        bootstrap,
        frame,
        no_gap(study, frame),
        label=SCALE,
        method=f"mean of experienced minus expected, {SCALE}",
        key="expected_experienced_gap",
    )
    return tabulate("way", [number], bootstrap)


@finding
def gap_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the gap on each topic (of more than 40, the 40 largest), as :func:`expected_experienced_gap`."""
    frame = expected_and_experienced(study)
    reason = no_gap(study, frame)
    topics = largest_groups(frame["topic"].dropna()) or [NOT_GIVEN]
    numbers = []
    for n, topic in enumerate(topics, 1):
        number = _mean_gap(
            bootstrap,
            frame[frame["topic"] == topic],
            reason,
            label=topic,
            method=f"experienced minus expected, {SCALE}",
            key=f"expected_experienced_gap_topic_{n}",
        )
        numbers.append(number)
    return tabulate("topic", numbers, bootstrap)


@finding
def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return whether the gap differs by topic: p values by permutation of the topics within participants.

    Adding a constant to a scale moves all topics' gaps alike and leaves every p value as it is. The p value of percent
    ranks (the share of conversations below, ties counting half) does not depend on the units either: it stays the same
    if the levels of either scale are replaced by any others in the same order. At most 2,000 permutations, with the
    bootstrap's seed. One row for both scales from 0 to 1, and one for percent ranks.
    """
    frame = expected_and_experienced(study)
    gap_in_ranks = _percent_ranks(frame["experienced"]) - _percent_ranks(frame["expected"])
    reason = no_gap(study, frame)
    rows = {}
    for label, gap in {SCALE: frame["gap"], RANKS: gap_in_ranks}.items():
        if reason:
            rows[label] = estimate_row(n=0, unit="p value", method="permutation", reason=reason)
        else:
            rows[label] = permutation_row(frame.assign(y=gap), bootstrap)
    keys = {SCALE: "expected_experienced_p_scale", RANKS: "expected_experienced_p_ranks"}
    return estimate_table(rows, "way", keys)


def _percent_ranks(values: pd.Series) -> np.ndarray:
    """Share of the values below each value, ties counting half."""
    return (stats.rankdata(rounded(values)) - 0.5) / max(len(values), 1)


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
    topics = pd.factorize(frame["topic"])[0]
    participants = pd.factorize(frame["participant"])[0]
    size_of_topic = np.bincount(topics)

    def between_topics(permuted: np.ndarray) -> np.ndarray:
        """Sum of squares between topics, for each row of permuted values."""
        cells = topics + len(size_of_topic) * np.arange(len(permuted))[:, None]
        shape = (len(permuted), len(size_of_topic))
        sums = np.bincount(cells.ravel(), weights=permuted.ravel(), minlength=shape[0] * shape[1])
        return (sums.reshape(shape) ** 2 / size_of_topic).sum(axis=1)

    observed = rounded(between_topics(y[None])[0])
    generator = np.random.default_rng(bootstrap.seed)
    as_large = 0
    for piece in pieces(draws, len(y), 500):
        # Sorting by participant plus a random number below one permutes within participants.
        place = participants + generator.random((piece.stop - piece.start, len(y)))
        permuted = y[np.argsort(place, axis=1)]
        as_large += int((rounded(between_topics(permuted)) >= observed).sum())
    p = (1 + as_large) / (1 + draws)
    return estimate_row(p, n=len(frame), unit="p value", method=method)
