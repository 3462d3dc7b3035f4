"""Rated conversations that a judge is shown before the one it is to rate."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.baselines import conversation_texts, tfidf, word_counts
from sense7.judge.requests import chats, same_chats
from sense7.study import Study

__all__ = []

SHOTS = ("adaptive", "personal")
"""Whose conversations are examples: those of other participants, or earlier ones of the same."""

ORDERS = ("similar-last", "similar-first", "file", "shuffled")
"""In which order the examples stand: by similarity, as in the file, or by the seed."""

HEADING = "Conversations that were rated, each followed by its score:"

COLUMNS = ("conversation", "example", "participant", "similarity", "level", "rank")

_BLOCK = 256  # rows of similarities held at a time
_DIGITS = 12  # to which similarities are rounded, so that equal ones are equal on every machine


def examples_for(
    study: Study,
    *,
    shots: str = "adaptive",
    number: int = 5,
    order: str = "similar-last",
    seed: int = 0,
) -> pd.Series:
    """Return the examples of every conversation as text that can stand for ``~~EXAMPLES~~``."""
    chosen = chosen_examples(study, shots=shots, number=number, order=order, seed=seed)
    said = chats(study)
    chat = dict(zip(said.index, said, strict=True))
    texts = {
        conversation: _text([chat[example] for example in rows["example"]], rows["level"])
        for conversation, rows in chosen.groupby("conversation", sort=False)
    }
    return pd.Series([texts.get(name, "") for name in said.index], said.index, dtype=object, name="examples")


def chosen_examples(
    study: Study,
    *,
    shots: str = "adaptive",
    number: int = 5,
    order: str = "similar-last",
    seed: int = 0,
) -> pd.DataFrame:
    """Choose the examples of every conversation."""
    _check(shots, number, order)
    conversations = study.conversations["conversation"]
    people = pd.factorize(study.conversations["participant"])[0]
    truth = ground_truth(study.turns, conversations).to_numpy()
    levels = np.nan_to_num(labels(truth)).astype(int)  # 0: none
    if number == 0 or not levels.any():
        return _frame([], study)
    texts = conversation_texts(study)
    vectors = tfidf(word_counts(texts))
    if shots == "adaptive":
        picked = _of_others(vectors, people, levels, same_chats(study), number)
    else:
        picked = _earlier(vectors, people, levels, number)
    rows = []
    for row, (examples, similarity) in enumerate(picked):
        rank = np.empty(len(examples), dtype=int)
        rank[np.lexsort((examples, -similarity))] = np.arange(1, len(examples) + 1)
        rows += [
            (row, examples[index], similarity[index], levels[examples[index]], rank[index])
            for index in _order(examples, rank, order, (seed, row))
        ]
    return _frame(rows, study)


def _check(shots: str, number: int, order: str) -> None:
    for value, known, what in ((shots, SHOTS, "kind of shots"), (order, ORDERS, "order of examples")):
        if value not in known:
            raise UserError(f"{value!r} is no {what}. Choose one of {', '.join(known)}.")
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
        raise UserError(f"{number!r} is no number of examples. Give a whole number from 0 on.")


def _of_others(vectors, people, levels, same_text, number):
    """For each conversation the places and similarities of the chosen ones of other participants."""
    rated = np.flatnonzero(levels)
    of_level = [np.flatnonzero(levels[rated] == level) for level in np.unique(levels[rated])]
    candidates = vectors[rated].T.tocsr()
    for start in range(0, len(people), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(people)))
        similarity = np.round((vectors[block] @ candidates).toarray(), _DIGITS) + 0.0  # no -0.0
        barred = people[block, None] == people[rated]
        barred |= same_text[block, None] == same_text[rated]
        for near, free in zip(similarity, ~barred, strict=True):
            allowed = [own[free[own]] for own in of_level]
            queues = [own[np.argsort(-near[own], kind="stable")] for own in allowed]
            chosen = _by_turns(queues, near, same_text[rated], number)
            yield rated[chosen], near[chosen]


def _by_turns(queues: list, near: np.ndarray, same_text: np.ndarray, number: int) -> np.ndarray:
    """Take one of each queue in turn, in every round the most similar first; no text twice."""
    chosen, seen = [], set()
    heads, waiting, fresh = [0] * len(queues), [], False
    while len(chosen) < number:
        offers = []
        for level in waiting:
            queue = queues[level]
            while heads[level] < len(queue) and same_text[queue[heads[level]]] in seen:
                heads[level] += 1
            if heads[level] < len(queue):
                offers.append((-near[queue[heads[level]]], queue[heads[level]], level))
        if offers:
            _, candidate, level = min(offers)
            chosen.append(candidate)
            seen.add(same_text[candidate])
            waiting.remove(level)
            fresh = False
        elif fresh:
            break
        else:
            waiting, fresh = list(range(len(queues))), True
    return np.array(chosen, dtype=int)


def _earlier(vectors, people, levels, number):
    """For each conversation the places and similarities of the chosen ones of the same participant."""
    rated_so_far: dict[int, list[int]] = {}
    for row, person in enumerate(people):
        before = np.array(rated_so_far.setdefault(person, []), dtype=int)
        near = np.round((vectors[before] @ vectors[row].T).toarray().ravel(), _DIGITS) + 0.0
        first = np.argsort(-near, kind="stable")[:number]
        yield before[first], near[first]
        if levels[row]:
            rated_so_far[person].append(row)


def _order(examples: np.ndarray, rank: np.ndarray, order: str, seed: tuple[int, int]) -> np.ndarray:
    """In which order the chosen conversations of one are given."""
    if order == "shuffled":
        # From the file's order, and a stream of its own for each: what others are given changes nothing.
        return np.random.default_rng(seed).permutation(np.argsort(examples))
    by = {"similar-first": (examples, rank), "similar-last": (examples, -rank), "file": (examples,)}[order]
    return np.lexsort(by)


def _frame(rows: list[tuple], study: Study) -> pd.DataFrame:
    names = study.conversations["conversation"].to_numpy(dtype=object)
    people = study.conversations["participant"].to_numpy(dtype=object)
    conversation, example = (np.array([row[column] for row in rows], dtype=int) for column in (0, 1))
    return pd.DataFrame(
        {
            "conversation": names[conversation],
            "example": names[example],
            "participant": people[example],
            "similarity": np.array([row[2] for row in rows], dtype=float),
            "level": np.array([row[3] for row in rows], dtype=int),
            "rank": np.array([row[4] for row in rows], dtype=int),
        },
        columns=list(COLUMNS),
    )


def _text(said: list[str], levels: Sequence[int]) -> str:
    parts = [
        f"Example {number}\n{chat}\n<S2>{level}</S2>"
        for number, (chat, level) in enumerate(zip(said, levels, strict=True), 1)
    ]
    return "\n\n".join([HEADING, *parts])
