"""Context: topic, importance and desired empathy, and the gap between desired and experienced empathy.

Conversations differ in context, and so do the people who had them. So effects are estimated within participants: each
person's conversations are compared with that person's own mean. Demeaned cross products are sums over participants, so
that resampling them is exact.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from sense7.findings.core import (
    Needs,
    Number,
    finding,
    is_constant,
    mean_number,
    resampled,
    tabulate,
)
from sense7.findings.ground_truth import ground_truth
from sense7.findings.measures import OUTCOMES, answers_to, prompt_unknown
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces
from sense7.statistics.least_squares import coefficient, cross_products, within
from sense7.statistics.order import in_order_of_appearance, rounded
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
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


def varying(frame: pd.DataFrame, names: Iterable[str] = tuple(CONTEXT)) -> list[str]:
    """Return the context variables that differ between conversations: the others say nothing."""
    return [name for name in names if not is_constant(frame[name])]


def context_design(frame: pd.DataFrame, names: Iterable[str]) -> np.ndarray:
    """Columns of a design: steps as numbers, then texts as indicators of all but the first."""
    return pd.get_dummies(frame[list(names)], drop_first=True, dtype=float).to_numpy()


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
    reason = ""
    if not frame["participant"].duplicated().any():
        reason = "no participant has two conversations to compare"

    def number(topic: str, key: str) -> Number:
        rows = frame[frame["topic"] == topic]
        return mean_number(
            bootstrap,
            rows["departure"],
            rows,
            label=topic,
            unit="points",
            method="mean ground truth over conversations, minus the participant's own mean",
            needs=Needs(answers=answers_to(study, "topic"), varying={"topic is": frame["topic"]}),
            reason=reason,
            key=key,
        )

    # A topic's key has its number, since its name is a text of the workbook.
    topics = largest_groups(frame["topic"]) or [NOT_GIVEN]
    numbers = [number(topic, f"topic_mean_own_{n}") for n, topic in enumerate(topics, 1)]
    return tabulate("topic", numbers, bootstrap)


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
    steps = varying(frame, STEPS)
    numbers = [
        _slope(study, bootstrap, frame, "importance", steps, "importance_slope_within"),
        _slope(study, bootstrap, frame, "desired_empathy", steps, "desired_slope_within"),
        _difference_of_slopes(study, bootstrap, frame, steps),
    ]
    return tabulate("slope", numbers, bootstrap)


def _slope(
    study: Study,
    bootstrap: ParticipantBootstrap,
    frame: pd.DataFrame,
    name: str,
    steps: list[str],
    key: str,
) -> Number:
    """The slope on one of the steps, with those of the others that vary in the model."""
    names = [name, *(other for other in steps if other != name)]
    rows = frame.dropna(subset=names)
    words = ", ".join(CONTEXT[regressor] for regressor in names)

    def slope():
        columns = np.column_stack([context_design(rows, names), rows["y"]])
        z = within(columns, rows["participant"])
        return resampled(bootstrap, coefficient(0), cross_products(z), rows["participant"])

    return Number(
        label=CONTEXT[name],
        statistic=slope,
        unit="points per step",
        method=f"least squares on {words}; within participants",
        rows=rows,
        needs=Needs(
            answers=answers_to(study, CONTEXT[name]), varying={f"{CONTEXT[name]} is": rows[name]}
        ),
        key=key,
        undefined=f"{CONTEXT[name]} can't be distinguished from the rest of the model here",
    )


def _difference_of_slopes(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame, steps: list[str]
) -> Number:
    """The slope on desired empathy with the empathy prompt minus that in the other conditions."""
    covariates = ["condition", *(name for name in steps if name == "importance")]
    rows = frame.dropna(subset=["desired_empathy", *covariates])
    prompted = (rows["condition"] == study.prompted_condition).to_numpy()

    def difference():
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
        needs=Needs(
            answers=answers_to(study, "desired empathy", "condition"),
            in_each_group=1,
            varying={"desired empathy is": rows["desired_empathy"]},
        ),
        groups=prompted,
        reason=prompt_unknown(study),
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


def _mean_gap(
    study: Study, bootstrap: ParticipantBootstrap, frame: pd.DataFrame, *answers: str, **declared
) -> Number:
    """The mean gap of some conversations."""
    return mean_number(
        bootstrap,
        frame["gap"],
        frame,
        unit="points on a scale from 0 to 1",
        needs=Needs(answers=answers_to(study, "desired empathy", "post-task empathy", *answers)),
        **declared,
    )


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
        study,
        bootstrap,
        frame,
        label=SCALE,
        method=f"mean of experienced minus expected, {SCALE}",
        key="expected_experienced_gap",
    )
    return tabulate("way", [number], bootstrap)


@finding
def gap_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the gap on each topic (of more than 40, the 40 largest), as :func:`expected_experienced_gap`."""
    frame = expected_and_experienced(study)
    topics = largest_groups(frame["topic"].dropna()) or [NOT_GIVEN]
    numbers = []
    for n, topic in enumerate(topics, 1):
        number = _mean_gap(
            study,
            bootstrap,
            frame[frame["topic"] == topic],
            "topic",
            label=topic,
            method=f"experienced minus expected, {SCALE}",
            key=f"expected_experienced_gap_topic_{n}",
        )
        numbers.append(number)
    return tabulate("topic", numbers, bootstrap)


@finding
def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return whether the gap differs by topic: the p value by permutation of the topics within participants.

    The gap is that of percent ranks (the share of conversations below, ties counting half), so that p does not depend
    on units: it stays the same if the levels of either scale are replaced by any others in the same order. At most
    2,000 permutations, with the bootstrap's seed.
    """
    frame = expected_and_experienced(study)
    frame = frame.assign(
        ranks=_percent_ranks(frame["experienced"]) - _percent_ranks(frame["expected"])
    )
    frame = in_order_of_appearance(frame[frame["topic"].notna()], "participant")
    draws = min(bootstrap.draws, MOST_DRAWS)
    reason = ""
    if len(frame) and frame.groupby("participant")["topic"].nunique().max() < 2:
        reason = "no participant has conversations on two topics"

    y = within(frame[["ranks"]].to_numpy(dtype=float), frame["participant"])[:, 0]
    number = Number(
        label=RANKS,
        statistic=lambda: permutation_p(y, frame, draws, bootstrap.seed),
        unit="p value",
        method=f"{count_of(draws, 'permutation')} of topics within participants",
        rows=frame,
        needs=Needs(
            answers=answers_to(study, "desired empathy", "post-task empathy", "topic"),
            varying={"the gap of a participant's conversations is": rounded(y)},
        ),
        key="expected_experienced_p_ranks",
        reason=reason,
    )
    return tabulate("way", [number], bootstrap)


def _percent_ranks(values: pd.Series) -> np.ndarray:
    """Share of the values below each value, ties counting half."""
    return (stats.rankdata(rounded(values)) - 0.5) / max(len(values), 1)


def permutation_p(y: np.ndarray, frame: pd.DataFrame, draws: int, seed: int) -> float:
    """P value of a difference between topics, permuted among each participant's own conversations."""
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
    generator = np.random.default_rng(seed)
    as_large = 0
    for piece in pieces(draws, len(y), 500):
        # Sorting by participant plus a random number below one permutes within participants.
        sort_key = participants + generator.random((piece.stop - piece.start, len(y)))
        permuted = y[np.argsort(sort_key, axis=1)]
        as_large += int((rounded(between_topics(permuted)) >= observed).sum())
    return (1 + as_large) / (1 + draws)
