"""Rated conversations that a judge is shown before the one it is to rate."""

import numpy as np
import pandas as pd

from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.chats import chats, same_chats
from sense7.judge.tfidf import conversation_texts, tfidf, word_counts
from sense7.study import Study

HEADING = "Conversations that were rated, each followed by its score:"

_DIGITS = 12  # to which similarities are rounded, so that equal ones are equal on every machine


def examples_for(study: Study, number: int) -> pd.Series:
    """Return the examples of every conversation as text that can stand for ``~~EXAMPLES~~``, the most similar last."""
    chat_of = chats(study)
    texts = dict.fromkeys(chat_of.index, "")
    for conversation, rows in chosen_examples(study, number).groupby("conversation", sort=False):
        parts = [HEADING]
        for position, row in enumerate(rows.itertuples(), 1):
            parts.append(f"Example {position}\n{chat_of[row.example]}\n<S2>{row.level}</S2>")
        texts[conversation] = "\n\n".join(parts)
    return pd.Series(texts, chat_of.index, dtype=object, name="examples")


def chosen_examples(study: Study, number: int) -> pd.DataFrame:
    """Choose the examples of every conversation: of other participants' rated ones, the most similar of each level."""
    names = study.conversations["conversation"].to_numpy(dtype=object)
    people = pd.factorize(study.conversations["participant"])[0]
    levels = labels(ground_truth(study.turns, names).to_numpy())
    levels = np.nan_to_num(levels).astype(int)  # 0: none
    rated = np.flatnonzero(levels)
    rows = []
    if len(rated):
        texts = same_chats(study)
        vectors = tfidf(word_counts(conversation_texts(study)))
        candidates = vectors[rated].T.tocsr()
        for row in range(len(names)):
            products = (vectors[row] @ candidates).toarray()[0]
            similarity = np.round(products, _DIGITS) + 0.0  # no -0.0
            allowed = (people[rated] != people[row]) & (texts[rated] != texts[row])
            nearest = np.argsort(-similarity, kind="stable")
            nearest = nearest[allowed[nearest]]
            chosen = _by_turns(nearest, levels[rated], texts[rated], number)
            most_similar_last = np.lexsort((rated[chosen], -similarity[chosen]))[::-1]
            for example in chosen[most_similar_last]:
                candidate = rated[example]
                rows.append((names[row], names[candidate], levels[candidate]))
    return pd.DataFrame(rows, columns=["conversation", "example", "level"])


def _by_turns(
    nearest: np.ndarray, levels: np.ndarray, texts: np.ndarray, number: int
) -> np.ndarray:
    """Take the most similar of each level in turn, in every round the most similar first; no text twice."""
    chosen = []
    waiting = np.zeros(levels.max() + 1, dtype=bool)
    while len(chosen) < number and len(nearest):
        if not waiting[levels[nearest]].any():  # a round begins
            waiting[levels[nearest]] = True
        best = nearest[waiting[levels[nearest]].argmax()]
        waiting[levels[best]] = False
        chosen.append(best)
        nearest = nearest[texts[nearest] != texts[best]]
    return np.array(chosen, dtype=int)
