"""What can be counted in a conversation's texts, user and assistant apart. Ratings are never looked at."""

import re
import unicodedata
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import pieces
from sense7.study import Study

__all__ = ["words_of"]

SPEAKERS = ("user", "assistant")
"""Roles whose messages count, without regard to case."""

_ROWS_AT_ONCE = 4096
_EACH = 1 / np.sqrt(len(SPEAKERS))  # two blocks of unit length so scaled: their product is the mean of two cosines


def conversation_texts(study: Study) -> pd.DataFrame:
    """Text and number of words of each side in each conversation, and the number of turns.

    Parameters
    ----------
    study : Study
        The data; messages are taken in file order. A blank message has no words, and is a turn all the same.

    Returns
    -------
    DataFrame
        One row per conversation in the order of sheet Tasks: user, assistant (their messages, a line feed between),
        user_words, assistant_words (by white space), turns (messages of the assistant).

    Examples
    --------
    >>> messages = pd.DataFrame({"conversation": "C1", "role": ["user", "Assistant", "assistant"],
    ...                          "content": ["I am tired.", "Rest a while.", None]})
    >>> names, none = pd.DataFrame({"conversation": ["C1", "C2"]}), pd.DataFrame()
    >>> talk = Study("made up", names, messages, turns=none, participants=None, columns=none)
    >>> conversation_texts(talk)[["assistant", "user_words", "turns"]].to_numpy().tolist()
    [['Rest a while.', 3, 2], ['', 0, 0]]
    """
    messages, index = study.messages, pd.Index(study.conversations["conversation"], name="conversation")
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
        columns[f"{speaker}_words"] = [len(text.split()) for text in columns[speaker]]
    return pd.DataFrame(columns, index).assign(turns=[turns[name] for name in index])


def words_of(text: str) -> list[str]:
    """Words of a text: lower case, letters only, without apostrophes; function words are kept.

    Examples
    --------
    >>> words_of("I DIDN'T get it; 2nd time!")
    ['i', 'didnt', 'get', 'it', 'nd', 'time']
    """
    plain = re.sub(r"['\N{RIGHT SINGLE QUOTATION MARK}]", "", unicodedata.normalize("NFKC", text).lower())
    return re.findall(r"[^\W\d_]+", plain)


def word_counts(texts: pd.DataFrame) -> dict[str, sparse.csr_matrix]:
    """Counts of words by side.

    Parameters
    ----------
    texts : DataFrame
        As :func:`conversation_texts` returns it.

    Returns
    -------
    dict
        Speaker -> counts, (conversations, words), the words of :func:`words_of` in alphabetical order; no
        columns where nothing was said.

    Examples
    --------
    >>> texts = pd.DataFrame({"user": ["so tired, so", ""], "assistant": ["", ""]})
    >>> counts = word_counts(texts)
    >>> counts["user"].toarray().tolist(), counts["assistant"].shape
    ([[2.0, 1.0], [0.0, 0.0]], (2, 0))
    """
    counted = {}
    for speaker in SPEAKERS:
        counted[speaker] = sparse.csr_matrix((len(texts), 0))
        if any(map(words_of, texts[speaker])):
            # Text by text: the words of all of them would be many times as large as their counts.
            counted[speaker] = CountVectorizer(analyzer=words_of, dtype=float).fit_transform(texts[speaker]).tocsr()
    return counted


def tfidf(counts: dict[str, sparse.csr_matrix], learn_from: np.ndarray | None = None) -> sparse.csr_matrix:
    r"""TF-IDF of both sides, whose scalar product is the mean of the two sides' cosines.

    For speaker s, word w and conversation c, with :math:`n` the conversations learned from, :math:`n_w` those of
    them that hold the word, and :math:`f` the counts,

    .. math:: x_{scw} \propto (1 + \ln f_{scw}) \left(1 + \ln \frac{1 + n}{1 + n_w}\right)

    scaled to length :math:`\sqrt{1/2}` for each speaker, or 0 where a speaker has no word that is known.

    Parameters
    ----------
    counts : dict
        As :func:`word_counts` returns it.
    learn_from : array of int, optional
        Rows whose words are known and give :math:`n_w`: texts only. All rows if not given.

    Returns
    -------
    csr_matrix
        (conversations, words of the user and of the assistant). Words in fewer than two of the conversations
        learned from are left out.

    Notes
    -----
    Computed by scikit-learn's TfidfTransformer (``sublinear_tf``, ``smooth_idf``).

    Examples
    --------
    >>> texts = pd.DataFrame({"user": ["long day", "DAY long", "tea"], "assistant": ["rest", "rest", "rest"]})
    >>> x = tfidf(word_counts(texts))
    >>> (x @ x.T).toarray().round(3)[0].tolist()
    [1.0, 1.0, 0.5]
    """
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
            [weigh.transform(own[rows][:, kept], copy=False) * _EACH for own, kept, weigh in weighing], format="csr"
        )
        for rows in pieces(length, 1, _ROWS_AT_ONCE)
    ]
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


check_arguments(globals())
