"""Rated conversations that a judge is shown before the one it is to rate."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.chats import chats, same_chats
from sense7.judge.tfidf import conversation_texts, tfidf, word_counts
from sense7.study import Study

__all__ = []

HEADING = "Conversations that were rated, each followed by its score:"

_BLOCK = 256  # rows of similarities held at a time
_DIGITS = 12  # to which similarities are rounded, so that equal ones are equal on every machine


def examples_for(study: Study, number: int) -> pd.Series:
    """Return the examples of every conversation as text that can stand for ``~~EXAMPLES~~``, the most similar last."""
    chosen, said = chosen_examples(study, number), chats(study)
    chosen["chat"] = said[chosen["example"]].to_numpy()
    texts = {}
    for conversation, rows in chosen.groupby("conversation", sort=False):
        pairs = enumerate(zip(rows["chat"], rows["level"], strict=True), 1)
        parts = [f"Example {place}\n{chat}\n<S2>{level}</S2>" for place, (chat, level) in pairs]
        texts[conversation] = "\n\n".join([HEADING, *parts])
    return pd.Series(
        [texts.get(name, "") for name in said.index], said.index, dtype=object, name="examples"
    )


def chosen_examples(study: Study, number: int) -> pd.DataFrame:
    """Choose the examples of every conversation: of other participants' rated ones, the most similar of each level."""
    names = study.conversations["conversation"].to_numpy(dtype=object)
    people = pd.factorize(study.conversations["participant"])[0]
    levels = np.nan_to_num(labels(ground_truth(study.turns, names).to_numpy())).astype(
        int
    )  # 0: none
    rows = []
    if levels.any():
        texts, rated = same_chats(study), np.flatnonzero(levels)
        vectors = tfidf(word_counts(conversation_texts(study)))
        for row, near in enumerate(_similarities(vectors, rated)):
            allowed = (people[rated] != people[row]) & (texts[rated] != texts[row])
            nearest = np.argsort(-near, kind="stable")
            chosen = _by_turns(nearest[allowed[nearest]], levels[rated], texts[rated], number)
            chosen = chosen[np.lexsort((rated[chosen], -near[chosen]))][::-1]
            rows += [
                (names[row], names[rated[one]], near[one], levels[rated[one]]) for one in chosen
            ]
    return pd.DataFrame(rows, columns=["conversation", "example", "similarity", "level"])


def _similarities(vectors, rated: np.ndarray) -> Iterator[np.ndarray]:
    """Similarity of each conversation to all that are rated."""
    candidates = vectors[rated].T.tocsr()
    for start in range(0, vectors.shape[0], _BLOCK):
        yield from (
            np.round((vectors[start : start + _BLOCK] @ candidates).toarray(), _DIGITS) + 0.0
        )  # no -0.0


def _by_turns(
    nearest: np.ndarray, levels: np.ndarray, texts: np.ndarray, number: int
) -> np.ndarray:
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
