"""Words of each side of a conversation, and their TF-IDF: which conversations are alike."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from sense7.segmentation import folded_words_in, words_in
from sense7.statistics.bootstrap import pieces
from sense7.study import Study

__all__ = ["SPEAKERS", "conversation_texts", "tfidf", "word_counts"]

SPEAKERS = ("user", "assistant")
"""Roles whose messages count, without regard to case."""

_ROWS_AT_ONCE = 4096
_SIDE_LENGTH = 1 / np.sqrt(len(SPEAKERS))
"""Length of each side's block of TF-IDF: the product of two conversations is then the mean of two cosines."""


def conversation_texts(study: Study) -> pd.DataFrame:
    """Text and number of words of each side in each conversation, and the number of turns."""
    messages = study.messages
    index = pd.Index(study.conversations["conversation"], name="conversation")
    texts = {speaker: defaultdict(list) for speaker in SPEAKERS}
    turns = Counter()
    # Message by message: prepared columns of all texts would each be as large as the study.
    for conversation, role, content in zip(
        messages["conversation"], messages["role"], messages["content"], strict=True
    ):
        speaker = str(role).lower()
        if speaker == "assistant":
            turns[conversation] += 1
        if speaker in texts and not pd.isna(content) and str(content):
            texts[speaker][conversation].append(str(content))
    columns = {}
    for speaker, by_conversation in texts.items():
        joined = ["\n".join(by_conversation[name]) for name in index]
        columns[speaker] = pd.Series(joined, index, dtype=object)
    for speaker in SPEAKERS:
        columns[f"{speaker}_words"] = [len(words_in(text)) for text in columns[speaker]]
    columns["turns"] = [turns[name] for name in index]
    return pd.DataFrame(columns, index)


def word_counts(texts: pd.DataFrame) -> dict[str, sparse.csr_matrix]:
    """Counts of words by side."""
    counts = {}
    for speaker in SPEAKERS:
        counts[speaker] = sparse.csr_matrix((len(texts), 0))
        if any(map(folded_words_in, texts[speaker])):
            # Text by text: the words of all of them would be many times as large as their counts.
            counter = CountVectorizer(analyzer=folded_words_in, dtype=float)
            counts[speaker] = counter.fit_transform(texts[speaker]).tocsr()
    return counts


def tfidf(
    counts: dict[str, sparse.csr_matrix], learn_from: np.ndarray | None = None
) -> sparse.csr_matrix:
    """TF-IDF of both sides, whose scalar product is the mean of the two sides' cosines."""
    length = counts[SPEAKERS[0]].shape[0]
    sides = []
    for of_side in counts.values():
        training = of_side
        if learn_from is not None:
            training = of_side[learn_from]
        words = np.flatnonzero(training.getnnz(axis=0) >= 2)
        if len(words):
            weighing = TfidfTransformer(norm="l2", sublinear_tf=True).fit(training[:, words])
            sides.append((of_side, words, weighing))
        del training
    if not sides:
        return sparse.csr_matrix((length, 0))
    # Some rows at a time: of very many texts, each further matrix of all counts.
    parts = []
    for rows in pieces(length, 1, _ROWS_AT_ONCE):
        blocks = []
        for of_side, words, weighing in sides:
            weighted = weighing.transform(of_side[rows][:, words], copy=False)
            blocks.append(weighted * _SIDE_LENGTH)
        parts.append(sparse.hstack(blocks, format="csr"))
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr")
