"""Context: topic, importance and desired empathy against the ratings, and expected against experienced empathy.

Conversations differ in context and so do the people who had them. So every effect stands twice where
it can: over conversations, and within participants, each person's conversations compared with that person's
own mean. Demeaned cross products are sums over participants, so that resampling them is exact.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces, ratio
from sense7.statistics.disruption import OUTCOMES
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import ground_truth, labels
from sense7.statistics.least_squares import NEGLIGIBLE, least_squares
from sense7.statistics.multiplicity import holm
from sense7.statistics.order import in_order_of_appearance
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "CONTEXT",
    "GAP_KEYS",
    "GAP_TEST_KEYS",
    "PROMPT_KEYS",
    "SHARE_KEYS",
    "SLOPE_KEYS",
    "TEST_KEYS",
    "WAYS",
    "agreement_of_ways",
    "context_design",
    "context_frame",
    "context_shares",
    "context_slopes",
    "context_tests",
    "expected_and_experienced",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_differs_by_topic",
    "group_means",
    "not_varying",
    "numbered_keys",
    "slopes_by_condition",
    "slopes_with_prompt",
    "topics_that_differ",
    "within",
]

CONTEXT = {"topic": "topic", "importance": "importance", "desired_empathy": "desired empathy"}
"""What is known of a conversation before it begins: column -> words."""

STEPS = ("importance", "desired_empathy")
ADJUSTMENTS = {
    "over conversations": "",
    "within participants": "_within",
    "within participants, topics held equal": "_within_topics",
}
SLOPE_KEYS = {
    f"{CONTEXT[name]}, {adjustment}": f"{short}_slope{suffix}"
    for name, short in (("importance", "importance"), ("desired_empathy", "desired"))
    for adjustment, suffix in ADJUSTMENTS.items()
}
"""Rows of :func:`context_slopes` -> keys."""

SHARE_KEYS = {words: f"context_share_{name}" for name, words in CONTEXT.items()} | {
    "all of the context": "context_share"
}
TEST_KEYS = {words: f"context_p_{name}" for name, words in CONTEXT.items()} | {"any of the three": "context_p"}
PROMPT_KEYS = {
    "with the empathy prompt": "{}_slope_prompted",
    "the other conditions": "{}_slope_others",
    "difference": "{}_slope_difference",
}
"""Rows of :func:`slopes_with_prompt` -> keys, by the step."""

WAYS = {
    "both scales from 0 to 1": "scale",
    "desired level at the middle of its third": "thirds",
    "experienced cut into three bins": "bins",
    "percent ranks within the data set": "ranks",
}
"""Ways to put desired (1..3) and experienced (1..5) empathy together: words -> short name."""

GAP_KEYS = {words: f"expected_experienced_gap_{short}" for words, short in WAYS.items()}

GAP_TEST_KEYS = {
    "both scales from 0 to 1": "expected_experienced_p_scale",
    "desired level at the middle of its third": "expected_experienced_p_thirds",
    "experienced cut into three bins": "expected_experienced_p_bins",
    "percent ranks within the data set": "expected_experienced_p_ranks",
}
"""Rows of :func:`gap_differs_by_topic` -> keys."""

MOST_GROUPS = 40
MOST_DRAWS = 2_000
"""Draws are cut to this number where each costs an eigendecomposition or a permutation; ``method`` says so."""

NOT_GIVEN = "(not given)"
LEVEL = "level, 1 to 5"
PER_STEP = "points per step"
OF_SCALE = "points on a scale from 0 to 1"

_CHUNK = 500


# What several statistics share


def within(values: np.ndarray, groups: pd.Series) -> np.ndarray:
    """Values minus the mean of their group, column by column.

    Examples
    --------
    >>> within(np.array([[1.0], [3.0], [7.0]]), pd.Series(["a", "a", "b"])).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    codes, names = pd.factorize(pd.Series(groups).to_numpy())
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, codes, values)
    return values - (sums / np.bincount(codes, minlength=len(names))[:, None])[codes]


def numbered_keys(table: pd.DataFrame, pattern: str) -> dict:
    """Keys for rows whose names come from a workbook: levels by the level, texts by their number from 1.

    Examples
    --------
    >>> numbered_keys(pd.DataFrame(index=["<b>", "work"]), "topic_mean_{}")
    {'<b>': 'topic_mean_1', 'work': 'topic_mean_2'}
    """
    numbers = enumerate(table.index, 1)
    return {name: pattern.format(name if isinstance(name, int) else number) for number, name in numbers}


def context_frame(study: Study) -> pd.DataFrame:
    """Context and ground truth of the conversations that have ground truth.

    Returns
    -------
    DataFrame
        participant, condition, topic, importance (1..5), desired_empathy (1..3), ``y`` (ground
        truth, 1..5); NaN or None where not given.
    """
    conversations = study.conversations
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    frame = conversations[["participant", "condition", "topic", *STEPS]].assign(y=truth)
    return frame[np.isfinite(truth)].reset_index(drop=True)


def not_varying(frame: pd.DataFrame, name: str) -> str:
    """Why a context variable says nothing; "" if it does."""
    if frame.empty:
        return "no conversation has ground truth in this data set"
    given = frame[name].dropna()
    if given.empty:
        return f"{CONTEXT[name]} was not given in this data set"
    if given.nunique() < 2:
        return f"{CONTEXT[name]} is the same in every conversation"
    return ""


def context_design(frame: pd.DataFrame, names) -> np.ndarray:
    """Columns of a design: steps as numbers, texts as indicators of all but the first."""
    columns = []
    for name in names:
        if name in STEPS:
            columns.append(frame[[name]].to_numpy(dtype=float))
        else:
            columns.append(_indicators(frame[name])[:, 1:])
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _indicators(texts: pd.Series) -> np.ndarray:
    levels = sorted(texts.unique())
    return (texts.to_numpy()[:, None] == np.array(levels, dtype=object)[None, :]).astype(float)


def _products(z: np.ndarray) -> np.ndarray:
    return z[:, :, None] * z[:, None, :]


def _fewer(bootstrap: ParticipantBootstrap) -> ParticipantBootstrap:
    return replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))


# How the ratings depend on context


def group_means(study: Study, bootstrap: ParticipantBootstrap, by: str, *, own: bool = False) -> pd.DataFrame:
    r"""Mean ground truth of the conversations of each topic, importance or desired empathy.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    by : {"topic", "importance", "desired_empathy"}
        What makes the groups.
    own : bool
        Whether each conversation is first compared with its participant's own mean,
        :math:`y_{pc} - \bar y_p`: what is left of a group's mean when who is in it is set aside.

    Returns
    -------
    DataFrame
        One row per group, in its order (of more than 40 groups the 40 largest): estimate, low,
        high (1..5; points if ``own``), n (conversations), unit, method, reason. Conversations
        without ground truth or without the context are left out.
    """
    frame = context_frame(study)
    frame = frame[frame[by].notna()]
    if by != "topic":
        frame = frame.assign(**{by: labels(frame[by])})
    if own:
        frame = frame.assign(y=within(frame[["y"]].to_numpy(), frame["participant"])[:, 0])
    unit = "points" if own else LEVEL
    method = "mean ground truth over conversations" + (", minus the participant's own mean" if own else "")
    if frame.empty:
        reason = not_varying(context_frame(study), by) or f"{CONTEXT[by]} was not given in this data set"
        return estimate_table({NOT_GIVEN: estimate_row(n=0, unit=unit, method=method, reason=reason)}, CONTEXT[by])
    nothing = ""
    if own and frame[by].nunique() < 2:
        nothing = not_varying(frame, by)
    elif own and not frame["participant"].duplicated().any():
        nothing = "no participant has two conversations to compare"
    rows = {}
    for name in _largest(frame[by]):
        group = frame[frame[by] == name]
        if nothing:
            row = estimate_row(n=len(group), unit=unit, method=method, reason=nothing)
        else:
            row = _mean_row(group["y"], group["participant"], bootstrap, unit, method)
        rows[name if by == "topic" else int(name)] = row
    return estimate_table(rows, CONTEXT[by])


def _largest(groups: pd.Series) -> list:
    return sorted(groups.value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_GROUPS])


def _mean_row(y: pd.Series, participants: pd.Series, bootstrap, unit: str, method: str) -> dict:
    values = np.column_stack([y, np.ones(len(y))])
    return bootstrap.row(bootstrap.estimate(ratio, values, participants), n=len(y), unit=unit, method=method)


def context_slopes(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Change of the ground truth per step of importance and of desired empathy.

    Least squares with both in one model (one alone where the other was not given or does not
    vary): over conversations; within participants, all columns minus the participant's mean; and so
    with indicators of the topics beside them.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row per slope and adjustment (``SLOPE_KEYS``): estimate (points per step), low, high, n
        (conversations with ground truth and the columns of the model), unit, method, reason.

    Notes
    -----
    Checked against statsmodels' OLS with an indicator of each participant.
    """
    frame = context_frame(study)
    rows = {}
    for name in STEPS:
        for adjustment in ADJUSTMENTS:
            words = f"{CONTEXT[name]}, {adjustment}"
            reason = not_varying(frame, name)
            if not reason and "topics" in adjustment:
                reason = not_varying(frame, "topic")
            if reason:
                rows[words] = estimate_row(n=0, unit=PER_STEP, method="least squares", reason=reason)
            else:
                rows[words] = _slope_row(frame, name, adjustment, bootstrap)
    return estimate_table(rows, "slope")


def _slope_model(frame: pd.DataFrame, name: str, adjustment: str) -> tuple[pd.DataFrame, np.ndarray, str]:
    """Complete rows, (design, y) with the slope of ``name`` first, and the model in words."""
    names = [name, *(other for other in STEPS if other != name and not not_varying(frame, other))]
    if "topics" in adjustment:
        names.append("topic")
    complete = frame[frame[names].notna().all(axis=1)]
    design = context_design(complete, names)
    words = f"least squares on {', '.join(CONTEXT[each] for each in names)}; {adjustment}"
    if adjustment == "over conversations":
        return complete, np.column_stack([design, np.ones(len(complete)), complete["y"]]), words
    return complete, within(np.column_stack([design, complete["y"]]), complete["participant"]), words


def _first(sums: np.ndarray) -> np.ndarray:
    return least_squares(sums)[0][..., 0]


def _slope_row(frame: pd.DataFrame, name: str, adjustment: str, bootstrap: ParticipantBootstrap) -> dict:
    complete, z, method = _slope_model(frame, name, adjustment)
    if z.shape[1] > MOST_GROUPS // 4:
        bootstrap = _fewer(bootstrap)
    return _contrast_row(_first, z, complete["participant"], bootstrap, method, CONTEXT[name])


def _contrast_row(statistic, z: np.ndarray, participants: pd.Series, bootstrap, method: str, words: str) -> dict:
    """Row of a statistic of cross products; a slope that nothing identifies says so."""
    found = bootstrap.estimate(statistic, _products(z), participants)
    undefined = f"{words} can't be distinguished from the rest of the model here"
    return bootstrap.row(found, n=len(z), unit=PER_STEP, method=method, undefined=undefined)


def context_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Share of the variance within participants that context explains: what it adds to who is asked.

    .. math:: 1 - \frac{\mathrm{RSS} / (n - G - r)}{\mathrm{TSS} / (n - G)}

    with all columns minus their participant's mean, n conversations, G participants and r the rank of the
    context's columns. So chance alone gives zero on average, and single estimates may be negative.
    Resampling inflates it, as it does every share of explained variance: the draws are moved so
    that their mean is the estimate. In simulation (8 topics, 109 participants) such intervals covered the truth
    in 93 to 97 of 100 studies, and in all of them where it was zero: there they are too wide.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants, at most 2,000 of them.

    Returns
    -------
    DataFrame
        Rows topic, importance, desired empathy, all that were given: estimate (at most 1), low,
        high, n (conversations), unit, method, reason.

    References
    ----------
    Ezekiel, M. (1930). Methods of correlation analysis (the adjusted share of explained variance).
    """
    frame = context_frame(study)
    given = [name for name in CONTEXT if not not_varying(frame, name)]
    rows = {CONTEXT[name]: _share_row(frame, [name], not_varying(frame, name), bootstrap) for name in CONTEXT}
    reason = "" if given else "nothing of the context varies in this data set"
    rows["all of the context"] = _share_row(frame, given, reason, bootstrap)
    return estimate_table(rows, "context")


def _share_row(frame: pd.DataFrame, names: list, reason: str, bootstrap: ParticipantBootstrap) -> dict:
    unit, method = "share of the variance within participants", "adjusted share explained by least squares"
    if reason:
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    frame = frame[frame[names].notna().all(axis=1)]
    z = within(np.column_stack([context_design(frame, names), frame["y"]]), frame["participant"])
    size = frame["participant"].map(frame["participant"].value_counts()).to_numpy(dtype=float)
    values = np.column_stack([_products(z).reshape(len(z), -1), np.ones(len(z)), 1 / size])
    estimate = float(_adjusted_share(values.sum(axis=0), z.shape[1]))
    if not np.isfinite(estimate):
        reason = "too few conversations of the same participant to compare, or their ratings do not vary"
        return estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
    bootstrap = _fewer(bootstrap)
    draws = bootstrap.distribution(
        lambda sums: _adjusted_share(sums, z.shape[1]), np.asarray(values), frame["participant"]
    )
    found = estimate, *bootstrap.interval(draws, frame["participant"], shift_to=estimate)
    how = f"{bootstrap.description}, moved to the estimate"
    return bootstrap.row(found, n=len(frame), unit=unit, method=method, how=how)


def _adjusted_share(sums: np.ndarray, width: int) -> np.ndarray:
    cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
    n, people = sums[..., -2], sums[..., -1]
    _, residual, rank = least_squares(cross)
    freedom, total = np.round(n - people), cross[..., -1, -1]
    defined = (freedom - rank > 0) & (rank > 0) & (total > NEGLIGIBLE)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - residual / (freedom - rank) * freedom / total, np.nan)


def context_tests(study: Study, bootstrap: ParticipantBootstrap, *, corrected: bool = True) -> pd.DataFrame:
    """Whether ratings depend on topic, importance and desired empathy: p values, corrected for being three.

    Topic: permutation of the topics among each participant's own conversations, statistic the sum of
    squares between topics of the ratings minus the participant's mean. Importance and desired empathy: slope within
    participants by its bootstrap standard error, t with participants minus one degrees of freedom.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws, at most 2,000 permutations; seed.
    corrected : bool
        Whether the p values are Holm's, over those that can be computed.

    Returns
    -------
    DataFrame
        Rows topic, importance, desired empathy and, with Holm's, any of the three: estimate (p), n
        (conversations), unit, method, reason.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.
    """
    frame = context_frame(study)
    rows = {"topic": _permutation_row(frame, bootstrap)}
    for name in STEPS:
        method = "slope within participants, t by bootstrap standard error"
        if reason := not_varying(frame, name):
            rows[CONTEXT[name]] = estimate_row(n=0, unit="p value", method=method, reason=reason)
            continue
        complete, z, _ = _slope_model(frame, name, "within participants")
        rows[CONTEXT[name]] = _t_row(_first, _products(z), complete["participant"], bootstrap, method)
    table = estimate_table(rows, "context")
    if not corrected:
        return table
    table = _holm(table)
    known = table[table["estimate"].notna()]
    method = "the smallest of these p values, which holds for the three together"
    reason = "" if len(known) else "none of the three can be tested in this data set"
    smallest = known["estimate"].min() if len(known) else np.nan
    rows = table.to_dict("index")
    rows["any of the three"] = estimate_row(
        smallest, n=known["n"].max() if len(known) else 0, unit="p value", method=method, reason=reason
    )
    return estimate_table(rows, "context")


def _t_row(statistic, values, participants, bootstrap, method: str) -> dict:
    estimate = float(statistic(values.sum(axis=0)))
    p, reason = np.nan, bootstrap.too_few(participants)
    if not reason and not np.isfinite(estimate):
        reason = "the slope can't be told here"
    if not reason:
        draws = bootstrap.distribution(statistic, values, participants)
        *_, reason = bootstrap.interval(draws, participants)
        # Where there is an interval, there is a standard error: one rule for both.
        if not reason:
            freedom = pd.Series(participants).nunique() - 1
            p = 2 * stats.t.sf(abs(estimate) / np.nanstd(draws), freedom)
    reason = reason.replace("no interval", "no test")
    return estimate_row(p, n=len(values), unit="p value", method=method, reason=reason)


def _holm(table: pd.DataFrame) -> pd.DataFrame:
    tests = int(table["estimate"].notna().sum())
    counted = f"; Holm over {tests} tests" if tests > 1 else ""
    return table.assign(estimate=holm(table["estimate"]), method=table["method"] + counted)


def _permutation_row(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Give the p value of the topics, permuted among each participant's own conversations."""
    draws = min(bootstrap.draws, MOST_DRAWS)
    method = f"{count_of(draws, 'permutation')} of topics within participants"
    reason = not_varying(frame, "topic")
    frame = in_order_of_appearance(frame[frame["topic"].notna()], "participant")
    if not reason and frame.groupby("participant")["topic"].nunique().max() < 2:
        reason = "no participant has conversations on two topics"
    y = within(frame[["y"]].to_numpy(dtype=float), frame["participant"])[:, 0]
    if not reason and (y**2).sum() < NEGLIGIBLE:
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
    above = 0
    for piece in pieces(draws, len(y), _CHUNK):
        keys = participants + generator.random((piece.stop - piece.start, len(y)))
        above += int((between(y[np.argsort(keys, axis=1)]) >= observed * (1 - 1e-12)).sum())
    return estimate_row((1 + above) / (1 + draws), n=len(frame), unit="p value", method=method)


def slopes_by_condition(study: Study, bootstrap: ParticipantBootstrap, name: str = "desired_empathy") -> pd.DataFrame:
    """Slope of the ground truth on desired empathy (or importance) in each condition, within participants.

    One model: the slopes of all conditions, the conditions themselves and the other of the two steps, every
    column minus its participant's mean.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    name : {"desired_empathy", "importance"}
        Which slope.

    Returns
    -------
    DataFrame
        One row per condition, as :func:`context_slopes`; n counts the condition's conversations.
    """
    frame = _with_condition(study, name)
    if reason := _no_slopes(study, frame, name):
        none = estimate_row(n=0, unit=PER_STEP, method="least squares within participants", reason=reason)
        return estimate_table(dict.fromkeys(study.conditions or [NOT_GIVEN], none), "condition")
    kinds = sorted(frame["condition"].unique())
    z, participants = _interaction(frame, name, (frame["condition"].to_numpy()[:, None] == np.array(kinds)[None, :]))
    rows = {}
    for place, kind in enumerate(kinds):
        words = f"the slope of {CONTEXT[name]} in this condition"
        row = _contrast_row(_coefficient(place), z, participants, bootstrap, "least squares within participants", words)
        rows[kind] = row | {"n": int((frame["condition"] == kind).sum())}
    return estimate_table(rows, "condition")


def slopes_with_prompt(study: Study, bootstrap: ParticipantBootstrap, name: str = "desired_empathy") -> pd.DataFrame:
    """Slope on desired empathy (or importance) with the empathy prompt, with the others, and their difference.

    As :func:`slopes_by_condition`, with one slope for all other conditions together.

    Returns
    -------
    DataFrame
        Rows ``with the empathy prompt``, ``the other conditions``, ``difference`` (the first minus the second).
    """
    frame, method = _with_condition(study, name), "least squares within participants"
    reason = _no_slopes(study, frame, name)
    prompted = (frame["condition"] == study.prompted_condition).to_numpy()
    if not reason and study.prompted_condition is None:
        reason = "it is not known which condition has the empathy prompt"
    if not reason and (prompted.all() or not prompted.any()):
        reason = "there is no condition to compare the empathy prompt with"
    names = ("with the empathy prompt", "the other conditions", "difference")
    if reason:
        return estimate_table(
            dict.fromkeys(names, estimate_row(n=0, unit=PER_STEP, method=method, reason=reason)), "slope"
        )
    z, participants = _interaction(frame, name, np.column_stack([prompted, ~prompted]))
    statistics = (_coefficient(0), _coefficient(1), lambda sums: _coefficient(0)(sums) - _coefficient(1)(sums))
    rows = {}
    for words, statistic, n in zip(names, statistics, (prompted.sum(), (~prompted).sum(), len(frame)), strict=True):
        row = _contrast_row(statistic, z, participants, bootstrap, method, f"the slope of {CONTEXT[name]}")
        rows[words] = row | {"n": int(n)}
    return estimate_table(rows, "slope")


def _coefficient(place: int):
    return lambda sums: least_squares(sums)[0][..., place]


def _with_condition(study: Study, name: str) -> pd.DataFrame:
    frame = context_frame(study)
    others = [other for other in STEPS if other != name and not not_varying(frame, other)]
    return frame[frame[["condition", name, *others]].notna().all(axis=1)]


def _no_slopes(study: Study, frame: pd.DataFrame, name: str) -> str:
    if reason := not_varying(context_frame(study), name):
        return reason
    return "" if len(frame) else "conditions were not given in this data set"


def _interaction(frame: pd.DataFrame, name: str, groups: np.ndarray) -> tuple[np.ndarray, pd.Series]:
    """Slopes by group first, then conditions and the other step, then y; minus the participant's mean."""
    slopes = groups.astype(float) * frame[[name]].to_numpy(dtype=float)
    others = [other for other in STEPS if other != name and not not_varying(frame, other)]
    columns = np.column_stack(
        [slopes, _indicators(frame["condition"])[:, 1:], context_design(frame, others), frame["y"]]
    )
    return within(columns, frame["participant"]), frame["participant"]


# Expected before, experienced after


def expected_and_experienced(study: Study) -> pd.DataFrame:
    """Desired empathy before and mean post-task empathy after, of the conversations that have both.

    Returns
    -------
    DataFrame
        participant, topic, ``expected`` (desired empathy, 1..3), ``experienced`` (mean of the post-task
        ratings of empathy given, 1..5).
    """
    conversations = study.conversations
    frame = conversations[["participant", "topic"]].assign(
        expected=conversations["desired_empathy"], experienced=conversations[OUTCOMES["empathy"]].mean(axis=1)
    )
    return frame[frame[["expected", "experienced"]].notna().all(axis=1)].reset_index(drop=True)


def gaps(expected: np.ndarray, experienced: np.ndarray, way: str) -> np.ndarray:
    r"""Experienced minus expected empathy of each conversation, on a common scale from 0 to 1.

    With e the expected (1..3) and x the experienced level (1..5):

    - scale: :math:`(x - 1)/4 - (e - 1)/2`;
    - thirds: :math:`(x - 1)/4 - (2e - 1)/6`, a level of three being the middle of its third;
    - bins: x cut into three equal parts k (1..3): :math:`(k - e)/2`.

    Examples
    --------
    >>> gaps(np.array([1, 2, 3]), np.array([5.0, 3.0, 2.0]), "scale").tolist()
    [1.0, 0.0, -0.75]
    >>> gaps(np.array([1, 2, 3]), np.array([5.0, 3.0, 2.0]), "bins").tolist()
    [1.0, 0.0, -1.0]
    """
    unit = (experienced - 1) / 4
    if way == "scale":
        return unit - (expected - 1) / 2
    if way == "thirds":
        return unit - (2 * expected - 1) / 6
    if way == "bins":
        return (np.clip(np.floor(3 * unit + 1e-9), 0, 2) + 1 - expected) / 2
    raise ValueError(f"{way!r} is no way to put the scales together")


def _no_gap(study: Study, frame: pd.DataFrame) -> str:
    if not study.conversations["desired_empathy"].notna().any():
        return "desired empathy was not given in this data set"
    if not study.conversations[OUTCOMES["empathy"]].notna().any(axis=None):
        return "post-task empathy was never rated in this data set"
    return "" if len(frame) else "no conversation has both"


def expected_experienced_gap(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Mean over conversations of experienced minus expected empathy, by every way to put the scales together.

    See :func:`gaps`. Percent ranks have the same mean before and after whatever the answers are, so they give no
    overall gap; they compare topics (:func:`gap_by_topic`).

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row per way (``WAYS``): estimate (-1..1, positive if more was experienced), low, high, n
        (conversations), unit, method, reason.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    rows = {}
    for words, way in WAYS.items():
        method = f"mean of experienced minus expected, {words}"
        if missing or way == "ranks":
            reason = missing or "percent ranks have the same mean by construction; they only compare topics"
            rows[words] = estimate_row(n=len(frame), unit=OF_SCALE, method=method, reason=reason)
        else:
            y = gaps(frame["expected"].to_numpy(), frame["experienced"].to_numpy(), way)
            rows[words] = _mean_row(y, frame["participant"], bootstrap, OF_SCALE, method)
    return estimate_table(rows, "way")


def gap_by_topic(
    study: Study, bootstrap: ParticipantBootstrap, way: str = "scale", *, centred: bool = False
) -> pd.DataFrame:
    """The gap of the conversations on each topic.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; percent ranks are computed again in each.
    way : {"scale", "thirds", "bins", "ranks"}
        See :func:`gaps`; ranks: share of conversations below, ties counting half.
    centred : bool
        Whether the mean gap over all conversations with a topic is subtracted.

    Returns
    -------
    DataFrame
        One row per topic (of more than 40, the 40 largest), as :func:`expected_experienced_gap`.
    """
    frame = expected_and_experienced(study)
    reason = _no_gap(study, frame)
    frame = frame[frame["topic"].notna()]
    if not reason and frame.empty:
        reason = "topic was not given in this data set"
    unit = "points of rank from 0 to 1" if way == "ranks" else OF_SCALE
    method = f"experienced minus expected, {next(words for words, short in WAYS.items() if short == way)}"
    method += "; minus the mean over topics' conversations" if centred else ""
    if reason:
        return estimate_table({NOT_GIVEN: estimate_row(n=0, unit=unit, method=method, reason=reason)}, "topic")
    draws, estimates = _gap_draws(frame, way, centred, bootstrap)
    rows = {}
    for place, topic in enumerate(_largest(frame["topic"])):
        chosen = frame["topic"] == topic
        found = estimates[place], *bootstrap.interval(draws[:, place], frame.loc[chosen, "participant"])
        rows[topic] = bootstrap.row(found, n=chosen.sum(), unit=unit, method=method)
    return estimate_table(rows, "topic")


def _gap_draws(frame: pd.DataFrame, way: str, centred: bool, bootstrap) -> tuple[np.ndarray, np.ndarray]:
    """Gap of each topic shown in every draw (draws, topics), and in the data."""
    codes = bootstrap.codes(frame["participant"])
    topics = np.array(_largest(frame["topic"]), dtype=object)
    member = (frame["topic"].to_numpy()[:, None] == topics[None, :]).astype(float)
    expected, experienced = frame["expected"].to_numpy(), frame["experienced"].to_numpy()

    def _topic_gaps(rows: np.ndarray) -> np.ndarray:
        if way == "ranks":
            gap = rows * (percent_ranks(experienced, rows) - percent_ranks(expected, rows))
        else:
            gap = rows * gaps(expected, experienced, way)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = gap @ member / (rows @ member)
            return means - (gap.sum(axis=1) / rows.sum(axis=1))[:, None] if centred else means

    draws = bootstrap.in_every_draw(lambda weights: _topic_gaps(weights[:, codes]), len(codes), _CHUNK)
    return draws, _topic_gaps(np.ones((1, len(codes))))[0]


def percent_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Share of weight below each value, ties counting half, for many sets of weights.

    Parameters
    ----------
    values : array, shape (rows,)
        What is ranked.
    weights : array, shape (draws, rows)
        How often each row is taken.

    Returns
    -------
    array, shape (draws, rows)
        0..1.

    Examples
    --------
    >>> percent_ranks(np.array([3.0, 1.0, 3.0]), np.array([[1.0, 2.0, 1.0]])).tolist()
    [[0.75, 0.25, 0.75]]
    """
    levels, codes = np.unique(values, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(levels)))
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ((np.cumsum(counts, axis=1) - counts / 2) / totals)[:, codes]


def gap_differs_by_topic(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Whether the gap differs by topic: p values by permutation of the topics within participants, by way.

    Adding a constant to a scale moves all topics' gaps alike and leaves every p value as it is. The p value of percent
    ranks (those within the data set) does not depend on the units either: it stays the same if the levels of
    either scale are replaced by any others in the same order.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws, at most 2,000 permutations; seed.

    Returns
    -------
    DataFrame
        A row per way (``WAYS``), as :func:`context_tests`.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    rows = {}
    for words, way in WAYS.items():
        if missing:
            rows[words] = estimate_row(n=0, unit="p value", method="permutation", reason=missing)
            continue
        expected, experienced = frame["expected"].to_numpy(), frame["experienced"].to_numpy()
        if way == "ranks":
            once = np.ones((1, len(frame)))
            y = (percent_ranks(experienced, once) - percent_ranks(expected, once))[0]
        else:
            y = gaps(expected, experienced, way)
        rows[words] = _permutation_row(frame.assign(y=y), bootstrap)
    return estimate_table(rows, "way")


def agreement_of_ways(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Spearman correlation over topics of each way's gaps with those of the first way.

    Parameters
    ----------
    tables : mapping of words -> DataFrame
        From :func:`gap_by_topic`, with the same topics.

    Returns
    -------
    DataFrame
        A row each further way; n counts topics. No interval: topics are not sampled.
    """
    first, *others = tables
    reference = tables[first]["estimate"]
    rows = {}
    for words in others:
        method = f"Spearman correlation over topics with: {first}"
        gap = tables[words]["estimate"]
        if reference.isna().any() or gap.isna().any():
            row = estimate_row(n=0, unit="correlation", method=method, reason=tables[first]["reason"].iloc[0])
        elif len(gap) < 3:
            row = estimate_row(n=len(gap), unit="correlation", method=method, reason="fewer than three topics")
        elif np.ptp(gap) < 1e-12 or np.ptp(reference) < 1e-12:
            row = estimate_row(n=len(gap), unit="correlation", method=method, reason="all topics have the same gap")
        else:
            row = estimate_row(stats.spearmanr(reference, gap).statistic, n=len(gap), unit="correlation", method=method)
        rows[words] = row
    return estimate_table(rows, "way")


def topics_that_differ(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Topics whose gap differs from zero, by each way that has an overall gap: counts, Holm over topics.

    p by the bootstrap standard error, t with the topic's participants minus one degrees of freedom; differing
    if Holm's p is below one minus the confidence.

    Returns
    -------
    DataFrame
        Rows ``<way>: more experienced`` and ``<way>: less experienced``; n counts topics that could be tested.
    """
    frame = expected_and_experienced(study)
    missing = _no_gap(study, frame)
    frame = frame[frame["topic"].notna()]
    if not missing and frame.empty:
        missing = "topic was not given in this data set"
    rows, method = {}, "topics whose gap differs from zero, t by bootstrap standard error, Holm over topics"
    for words, way in WAYS.items():
        if way == "ranks":
            continue
        directions = {f"{words}: more experienced": 1, f"{words}: less experienced": -1}
        if missing:
            rows |= dict.fromkeys(directions, estimate_row(n=0, unit="topics", method=method, reason=missing))
            continue
        y = pd.Series(gaps(frame["expected"].to_numpy(), frame["experienced"].to_numpy(), way), index=frame.index)
        tests, signs = {}, {}
        for topic in _largest(frame["topic"]):
            chosen = frame["topic"] == topic
            values = np.column_stack([y[chosen], np.ones(chosen.sum())])
            tests[topic] = _t_row(ratio, values, frame.loc[chosen, "participant"], bootstrap, method)
            signs[topic] = np.sign(y[chosen].mean())
        p = _holm(estimate_table(tests, "topic"))["estimate"]
        for name, sign in directions.items():
            count = int(((p < 1 - bootstrap.confidence) & (pd.Series(signs) == sign)).sum())
            known = int(p.notna().sum())
            reason = "" if known else "no topic has enough participants"
            rows[name] = estimate_row(count if known else np.nan, n=known, unit="topics", method=method, reason=reason)
    return estimate_table(rows, "way")


check_arguments(globals())
