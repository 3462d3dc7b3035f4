"""Rated conversations that a judge is shown before the one it is to rate."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.baselines import conversation_texts, tfidf, word_counts
from sense7.judge.requests import Shots, chats, same_chats
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


def examples_for(study: Study, shots: Shots) -> pd.Series:
    """Return the examples of every conversation as text that can stand for ``~~EXAMPLES~~``."""
    chosen, said = chosen_examples(study, shots), chats(study)
    chosen["chat"] = said[chosen["example"]].to_numpy()
    texts = {}
    for conversation, rows in chosen.groupby("conversation", sort=False):
        pairs = enumerate(zip(rows["chat"], rows["level"], strict=True), 1)
        parts = [f"Example {place}\n{chat}\n<S2>{level}</S2>" for place, (chat, level) in pairs]
        texts[conversation] = "\n\n".join([HEADING, *parts])
    return pd.Series([texts.get(name, "") for name in said.index], said.index, dtype=object, name="examples")


def chosen_examples(study: Study, shots: Shots) -> pd.DataFrame:
    """Choose the examples of every conversation."""
    kind, number, order = shots.kind, shots.number, shots.order
    for value, known, what in ((kind, SHOTS, "kind of shots"), (order, ORDERS, "order of examples")):
        if value not in known:
            raise UserError(f"{value!r} is no {what}. Choose one of {', '.join(known)}.")
    names, participants = (study.conversations[name].to_numpy(dtype=object) for name in ("conversation", "participant"))
    people = pd.factorize(study.conversations["participant"])[0]
    levels = np.nan_to_num(labels(ground_truth(study.turns, names).to_numpy())).astype(int)  # 0: none
    rows = []
    if number and levels.any():
        texts, rated = same_chats(study), np.flatnonzero(levels)
        vectors = tfidf(word_counts(conversation_texts(study)))
        for row, near in enumerate(_similarities(vectors, rated)):
            if kind == "adaptive":
                allowed = (people[rated] != people[row]) & (texts[rated] != texts[row])
            else:
                allowed = (people[rated] == people[row]) & (rated < row)
            nearest = np.argsort(-near, kind="stable")
            nearest = nearest[allowed[nearest]]
            if kind == "adaptive":
                nearest = _by_turns(nearest, levels[rated], texts[rated], number)
            chosen = nearest[:number]
            chosen = chosen[np.lexsort((rated[chosen], -near[chosen]))]
            places = np.arange(len(chosen))
            if order == "similar-last":
                places = places[::-1]
            elif order != "similar-first":
                places = np.argsort(rated[chosen])
            if order == "shuffled":  # a stream of its own for each: what others are given changes nothing
                places = np.random.default_rng((shots.seed, row)).permutation(places)
            rows += [(row, rated[chosen[place]], near[chosen[place]], place + 1) for place in places]
    own, example, near, rank = np.array(rows, dtype=float).reshape(-1, 4).T
    own, example = own.astype(int), example.astype(int)
    columns = names[own], names[example], participants[example], near, levels[example], rank.astype(int)
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def _similarities(vectors, rated: np.ndarray) -> Iterator[np.ndarray]:
    """Similarity of each conversation to all that are rated."""
    candidates = vectors[rated].T.tocsr()
    for start in range(0, vectors.shape[0], _BLOCK):
        yield from np.round((vectors[start : start + _BLOCK] @ candidates).toarray(), _DIGITS) + 0.0  # no -0.0


def _by_turns(nearest: np.ndarray, levels: np.ndarray, texts: np.ndarray, number: int) -> np.ndarray:
    """Take the most similar of each level in turn, in every round the most similar first; no text twice."""
    chosen, waiting = [], np.zeros(levels.max() + 1, dtype=bool)
    while len(chosen) < number and len(nearest):
        if not waiting[levels[nearest]].any():  # a round begins
            waiting[levels[nearest]] = True
        best = nearest[waiting[levels[nearest]].argmax()]
        waiting[levels[best]] = False
        chosen.append(best)
        nearest = nearest[texts[nearest] != texts[best]]
    return np.array(chosen, dtype=int)
