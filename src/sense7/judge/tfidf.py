"""Words of each side of a conversation, and their TF-IDF: which conversations are alike."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from sense7.estimators.bootstrap import pieces
from sense7.segmentation import folded_words_in, words_in
from sense7.study import Study

__all__ = ["SPEAKERS", "conversation_texts", "tfidf", "word_counts"]

SPEAKERS = ("user", "assistant")
"""Roles whose messages count, without regard to case."""

_ROWS_AT_ONCE = 4096
_EACH = 1 / np.sqrt(
    len(SPEAKERS)
)  # two blocks of unit length so scaled: their product is the mean of two cosines


def conversation_texts(study: Study) -> pd.DataFrame:
    """Text and number of words of each side in each conversation, and the number of turns."""
    messages, index = (
        study.messages,
        pd.Index(study.conversations["conversation"], name="conversation"),
    )
    said: dict[str, dict[str, list[str]]] = {speaker: defaultdict(list) for speaker in SPEAKERS}
    turns: Counter = Counter()
    # Message by message: prepared columns of all texts would each be as large as the study.
    for conversation, role, content in zip(
        messages["conversation"], messages["role"], messages["content"], strict=True
    ):
        speaker = "" if pd.isna(role) else str(role).lower()
        turns[conversation] += speaker == "assistant"
        if speaker in said and not pd.isna(content) and (text := str(content)):
            said[speaker][conversation].append(text)
    columns = {
        speaker: pd.Series(["\n".join(own.get(name, ())) for name in index], index, dtype=object)
        for speaker, own in said.items()
    }
    for speaker in SPEAKERS:
        columns[f"{speaker}_words"] = [len(words_in(text)) for text in columns[speaker]]
    return pd.DataFrame(columns, index).assign(turns=[turns[name] for name in index])


def word_counts(texts: pd.DataFrame) -> dict[str, sparse.csr_matrix]:
    """Counts of words by side."""
    counted = {}
    for speaker in SPEAKERS:
        counted[speaker] = sparse.csr_matrix((len(texts), 0))
        if any(map(folded_words_in, texts[speaker])):
            # Text by text: the words of all of them would be many times as large as their counts.
            counter = CountVectorizer(analyzer=folded_words_in, dtype=float)
            counted[speaker] = counter.fit_transform(texts[speaker]).tocsr()
    return counted


def tfidf(
    counts: dict[str, sparse.csr_matrix], learn_from: np.ndarray | None = None
) -> sparse.csr_matrix:
    """TF-IDF of both sides, whose scalar product is the mean of the two sides' cosines."""
    length = counts[SPEAKERS[0]].shape[0]
    weighing = []
    for speaker in SPEAKERS:
        known = counts[speaker] if learn_from is None else counts[speaker][learn_from]
        kept = np.flatnonzero(known.getnnz(axis=0) >= 2)
        if len(kept):
            weigh = TfidfTransformer(norm="l2", sublinear_tf=True).fit(known[:, kept])
            weighing.append((counts[speaker], kept, weigh))
        del known
    if not weighing:
        return sparse.csr_matrix((length, 0))
    # Some rows at a time: of very many texts, each further matrix of all counts.
    parts = [
        sparse.hstack(
            [
                weigh.transform(own[rows][:, kept], copy=False) * _EACH
                for own, kept, weigh in weighing
            ],
            format="csr",
        )
        for rows in pieces(length, 1, _ROWS_AT_ONCE)
    ]
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
