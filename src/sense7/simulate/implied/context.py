"""Implied values of context: topic, importance and desired empathy, and expected against experienced empathy."""

import numpy as np

from sense7.simulate.implied import arrays
from sense7.simulate.implied.arrays import Tables
from sense7.simulate.implied.conversations import prompted

__all__ = ["details_of_context", "values_of_context"]


def values_of_context(tables: Tables) -> dict[str, float]:
    """Key -> value of what ratings have to do with the context of the conversation."""
    return _gaps(tables)


def details_of_context(tables: Tables) -> dict[str, float]:
    """The same of what costs more to compute."""
    return _means(tables) | _slopes(tables)


def _topics(tables: Tables) -> list[int]:
    """Numbers of the topics in alphabetical order."""
    names = tables.study.parameters.topics
    return [names.index(name) for name in sorted(names)]


def _means(tables: Tables) -> dict[str, float]:
    study, known = tables.study, ~np.isnan(tables.truth)
    truth = tables.truth[known]
    own = arrays.centered(truth, arrays.compact(study.participant[known]))
    topic, values = study.topic[known], {}
    for number, code in enumerate(_topics(tables), 1):
        values[f"topic_mean_{number}"] = arrays.mean(truth[topic == code])
        values[f"topic_mean_own_{number}"] = arrays.mean(own[topic == code])
    for prefix, answers, levels in (("importance", study.importance, 5), ("desired", study.desired, 3)):
        for level in range(1, levels + 1):
            values[f"{prefix}_mean_{level}"] = arrays.mean(truth[answers[known] == level])
    return values


def _slopes(tables: Tables) -> dict[str, float]:
    study, known = tables.study, ~np.isnan(tables.truth)
    truth, person = tables.truth[known], arrays.compact(study.participant[known])
    importance, desired = study.importance[known].astype(float), study.desired[known].astype(float)
    topics = (study.topic[known][:, None] == np.array(_topics(tables)[1:], dtype=int)).astype(float)
    steps = np.column_stack([importance, desired])
    values = {}
    over, _ = arrays.regression(arrays.with_ones(steps), truth)
    own, rest = arrays.centered(steps, person), arrays.centered(truth, person)
    within, _ = arrays.regression(own, rest)
    own_topics = arrays.centered(topics, person) if topics.shape[1] else topics
    everything = np.column_stack([own, own_topics])
    beside, _ = arrays.regression(everything, rest)
    for position, name in enumerate(("importance", "desired")):
        values[f"{name}_slope"] = over[1 + position]
        values[f"{name}_slope_within"] = within[position]
        values[f"{name}_slope_within_topics"] = beside[position]
    for name, columns in (
        ("context_share_topic", own_topics),
        ("context_share_importance", own[:, :1]),
        ("context_share_desired_empathy", own[:, 1:]),
        ("context_share", everything),
    ):
        values[name] = _adjusted_share(columns, rest, int(person.max(initial=-1)) + 1)
    return values | _slopes_by_condition(tables, steps, rest, person)


def _adjusted_share(columns: np.ndarray, rest: np.ndarray, people: int) -> float:
    """Share explained within participants, each column and participant paid for by a degree of freedom."""
    freedom = len(rest) - people
    if not columns.shape[1] or freedom <= columns.shape[1]:
        return np.nan
    _, left = arrays.regression(columns, rest)
    return 1 - left / (freedom - columns.shape[1]) * freedom / (rest**2).sum()


def _slopes_by_condition(tables: Tables, steps: np.ndarray, rest: np.ndarray, person: np.ndarray) -> dict[str, float]:
    """Slopes within participants of one step in each condition, conditions and the other step held equal."""
    known = ~np.isnan(tables.truth)
    kinds = np.column_stack([rows[known] for _, rows in tables.conditions]).astype(float)
    values = {}

    def slopes(groups: np.ndarray, step: int) -> np.ndarray:
        columns = np.column_stack([groups * steps[:, [step]], kinds[:, 1:], steps[:, 1 - step]])
        return arrays.regression(arrays.centered(columns, person), rest)[0]

    for number, slope in enumerate(slopes(kinds, 1)[: kinds.shape[1]], 1):
        values[f"desired_slope_condition_{number}"] = slope
    name = prompted(tables.study.parameters)
    if name is None or kinds.shape[1] < 2:
        return values
    own = dict(tables.conditions)[name][known]
    groups = np.column_stack([own, ~own]).astype(float)
    for step, prefix in enumerate(("importance", "desired")):
        first, second = slopes(groups, step)[:2]
        values |= {f"{prefix}_slope_prompted": first, f"{prefix}_slope_others": second}
        values[f"{prefix}_slope_difference"] = first - second
    return values


def _gaps(tables: Tables) -> dict[str, float]:
    """Experienced minus desired empathy, brought to one scale from 0 to 1 in three ways."""
    study, unit, desired = tables.study, (tables.post - 1) / 4, tables.study.desired
    scale = unit - (desired - 1) / 2
    bins = np.digitize(np.round(unit, 9), (1 / 3 - 1e-9, 2 / 3 - 1e-9)) + 1
    values = {
        "expected_experienced_gap": scale.mean(),
        "expected_experienced_gap_scale": scale.mean(),
        "expected_experienced_gap_thirds": (unit - (2 * desired - 1) / 6).mean(),
        "expected_experienced_gap_bins": ((bins - desired) / 2).mean(),
    }
    for number, code in enumerate(_topics(tables), 1):
        values[f"expected_experienced_gap_topic_{number}"] = arrays.mean(scale[study.topic == code])
    return values
