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
    own = arrays.centered(tables.truth[known], arrays.compact(study.participant[known]))
    topic = study.topic[known]
    return {
        f"topic_mean_own_{number}": arrays.mean(own[topic == code]) for number, code in enumerate(_topics(tables), 1)
    }


def _slopes(tables: Tables) -> dict[str, float]:
    study, known = tables.study, ~np.isnan(tables.truth)
    truth, person = tables.truth[known], arrays.compact(study.participant[known])
    steps = np.column_stack([study.importance[known], study.desired[known]]).astype(float)
    topics = (study.topic[known][:, None] == np.array(_topics(tables)[1:], dtype=int)).astype(float)
    own, rest = arrays.centered(steps, person), arrays.centered(truth, person)
    within, _ = arrays.regression(own, rest)
    values = {"importance_slope_within": within[0], "desired_slope_within": within[1]}
    everything = np.column_stack([own, arrays.centered(topics, person) if topics.shape[1] else topics])
    values["context_share"] = _adjusted_share(everything, rest, int(person.max(initial=-1)) + 1)
    name = prompted(study.parameters)
    if name is None or len(study.parameters.conditions) < 2:
        return values
    # Slopes on desired empathy with the prompt and without it, conditions and importance held equal.
    kinds = np.column_stack([rows[known] for _, rows in tables.conditions]).astype(float)
    prompt = dict(tables.conditions)[name][known]
    columns = np.column_stack([np.column_stack([prompt, ~prompt]) * steps[:, [1]], kinds[:, 1:], steps[:, :1]])
    first, second = arrays.regression(arrays.centered(columns, person), rest)[0][:2]
    return values | {"desired_slope_difference": first - second}


def _adjusted_share(columns: np.ndarray, rest: np.ndarray, people: int) -> float:
    """Share explained within participants, each column and participant paid for by a degree of freedom."""
    freedom = len(rest) - people
    if not columns.shape[1] or freedom <= columns.shape[1]:
        return np.nan
    _, left = arrays.regression(columns, rest)
    return 1 - left / (freedom - columns.shape[1]) * freedom / (rest**2).sum()


def _gaps(tables: Tables) -> dict[str, float]:
    """Experienced minus desired empathy, both scales from 0 to 1."""
    study = tables.study
    gap = (tables.post - 1) / 4 - (study.desired - 1) / 2
    topics = enumerate(_topics(tables), 1)
    by_topic = {f"expected_experienced_gap_topic_{at}": arrays.mean(gap[study.topic == code]) for at, code in topics}
    return {"expected_experienced_gap": gap.mean(), **by_topic}
