"""Topics of users' comments by a topic model, shown only if they recur in resampled participants.

The model is non-negative matrix factorization (NMF) of TF-IDF weights, by scikit-learn: on short texts it tends to do
better than latent Dirichlet allocation (Chen and others, 2019), and its usual start by singular vectors is not
random. A topic model finds topics in anything, so its topics are compared with those of the same comments with
their words shuffled.

References
----------
Chen, Y., Zhang, H., Liu, R., Ye, Z., & Lin, J. (2019). Knowledge-Based Systems 163, 1-13.
Greene, D., O'Callaghan, D., & Cunningham, P. (2014). How many topics? Stability analysis for topic models. ECML PKDD.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.words.terms import FEWEST_PEOPLE, NO_COMMENTS, commented_turns, terms_of, typical_in_length
from sense7.study import Study
from sense7.terminal import in_words

__all__ = ["NUMBERS", "TopicModel", "factorize", "shuffled", "topic_model"]

FEWEST_COMMENTS, FEWEST_WRITERS, FEWEST_TERMS = 50, 10, 10
"""Fewest comments with a usable word, participants who wrote them, and usable words for a model."""

NUMBERS = (2, 3, 4, 5, 6, 8, 10, 12)
"""Numbers of topics that are tried: not more than a reader can grasp."""

COMMENTS_PER_TOPIC, TERMS_PER_TOPIC = 10, 5
"""Fewest comments and usable words for each topic with which a number of topics is tried."""

RESAMPLINGS = 5
"""Resamplings of participants for each number of topics and each set of comments, shuffled or not."""

SHUFFLES = 19
"""Sets of shuffled comments: as few as give a p value of 0.05 if the comments as written are beyond all of them."""

LARGEST_P = 0.05
AGAIN = 50
"""Resamplings for the stability of each topic, once their number is chosen."""

SHOWN_TERMS = 6
NO_TOPIC = "none of these"
ALL = "all comments"
NOT_APART = (
    "no themes can be distinguished: for every number of topics, those of these comments are found again no better "
    "than topics of shuffled ones"
)

_SUMMARY = {
    "topics": "topics_told_apart",
    "found again": "topic_stability",
    "found again, shuffled": "topic_stability_shuffled",
    "p": "topic_stability_p",
}
"""Rows of the summary -> keys."""

_TOLERANCE, _MOST_STEPS = 3e-3, 500


@dataclass(frozen=True, eq=False)
class TopicModel:
    """Topics of the comments, or why there are none.

    Attributes
    ----------
    reason : str
        Why no topics are shown; "" if they are.
    comments : int
        Comments on turns, those without a usable word included.
    summary : DataFrame
        A table of estimates: the number of topics; how well they are found again (0..1), and the same for
        shuffled comments; p.
    stability : DataFrame
        By number of topics: how well topics are found again in the comments, and the mean, lowest and highest of
        the shuffled ones; empty if there were too few comments to try.
    topics : DataFrame
        One row per topic, numbered from the largest: words (the heaviest first), found again (0..1), comments,
        quotation.
    shares : DataFrame
        A table of estimates: share of the comments, one row per topic by number and three words, and those of none.
    ratings : DataFrame
        A table of estimates: mean rating of the turns, one row per topic, those of none, and all.
    """

    reason: str
    comments: int
    summary: pd.DataFrame
    stability: pd.DataFrame = field(default_factory=pd.DataFrame)
    topics: pd.DataFrame = field(default_factory=pd.DataFrame)
    shares: pd.DataFrame = field(default_factory=lambda: estimate_table({}, "topic"))
    ratings: pd.DataFrame = field(default_factory=lambda: estimate_table({}, "topic"))


def tf_idf(documents: Iterable[Sequence[str]], vocabulary: Sequence[str]) -> csr_array:
    r"""Return TF-IDF weights of the terms in each text, by scikit-learn.

    .. math:: x_{dw} \propto n_{dw} \left(1 + \log\frac{1 + D}{1 + D_w}\right)

    with :math:`n_{dw}` the times text d uses term w and :math:`D_w` of D texts using it; the sum of
    squares of a text is 1.

    Parameters
    ----------
    documents : iterable of sequence of str
        Terms of each text; those outside the vocabulary do not count.
    vocabulary : sequence of str
        The terms, each once.

    Returns
    -------
    sparse array, shape (texts, terms)
        0..1; a text without a term of the vocabulary is a row of zeros.

    Examples
    --------
    >>> tf_idf([["warm"], ["cold", "cold"]], ["cold", "warm"]).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    return csr_array(TfidfVectorizer(analyzer=list, vocabulary=list(vocabulary)).fit_transform(documents))


def factorize(matrix: csr_array, topics: int, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the non-negative matrix factorization of weighted texts.

    Minimizes :math:`\sum_d v_d \sum_w (x_{dw} - \sum_k a_{dk} h_{kw})^2` over :math:`a, h \ge 0`, with
    :math:`v_d` the weights: whole numbers give what copies of the texts would. Coordinate descent from the singular
    vectors (NNDSVD), the same on every call.

    Parameters
    ----------
    matrix : sparse array, shape (texts, terms)
        Not negative.
    topics : int
        Their number, at most that of texts with a weight and that of terms.
    weights : array, shape (texts,), optional
        How often each text is taken.

    Returns
    -------
    loadings : array, shape (texts with a weight, topics)
        How much of each topic is in each text.
    terms : array, shape (topics, terms)
        Weights of terms; the sum of squares of a topic is 1, or 0 for a topic without weights.

    References
    ----------
    Lee, D. D., & Seung, H. S. (1999). Nature 401, 788-791. Boutsidis, C., & Gallopoulos, E. (2008). Pattern
    Recognition 41, 1350-1362.

    Examples
    --------
    >>> matrix = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> factorize(matrix, 2)[1].round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    from sklearn import config_context
    from sklearn.decomposition import non_negative_factorization
    from sklearn.exceptions import ConvergenceWarning

    if weights is not None:
        # A row times the root of its weight has the squared error of so many copies.
        taken = np.flatnonzero(weights)
        roots = np.sqrt(weights[taken])
        matrix = matrix[taken]
        matrix.data *= np.repeat(roots, np.diff(matrix.indptr))
    options = {"init": "nndsvd", "random_state": 0, "tol": _TOLERANCE, "max_iter": _MOST_STEPS}
    # Of a thousand fits, each shorter than the checks of its options.
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        # Some may stop before they converge; their topics are used as they are.
        warnings.simplefilter("ignore", ConvergenceWarning)
        loadings, terms, _ = non_negative_factorization(matrix, n_components=topics, **options)
    size = np.linalg.norm(terms, axis=1)
    if weights is not None:
        loadings = loadings / roots[:, None]
    return loadings * size, terms / np.where(size > 0, size, 1)[:, None]


def heaviest_terms(terms: np.ndarray, count: int) -> np.ndarray:
    """Return which terms are the heaviest of each topic.

    Parameters
    ----------
    terms : array, shape (topics, terms)
        Weights of terms.
    count : int
        Largest number of terms of a topic; of equally heavy ones the first. Terms with less than a tenth of the
        weight of the heaviest are left out.

    Returns
    -------
    array of bool, shape (topics, terms)

    Examples
    --------
    >>> heaviest_terms(np.array([[0.6, 0.0, 0.8], [0.01, 1.0, 0.0]]), 2).astype(int).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    # Rounded, so that equal weights are equal on every machine.
    rounded = np.round(terms, 9)
    ranks = np.argsort(np.argsort(-rounded, axis=1, kind="stable"), axis=1)
    return (ranks < count) & (rounded > 0) & (rounded >= 0.1 * rounded.max(axis=1, keepdims=True))


def matched_similarity(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    r"""Return the similarity of each topic and its counterpart, topics matched one to one so that the sum is largest.

    Similarity is Jaccard's index of weights, :math:`\sum_w \min(a_w, b_w) / \sum_w \max(a_w, b_w)`, the weights of a
    topic summing to 1. The cosine would hide more: without any theme a topic is one frequent word with noise about
    it, and two such topics have a large cosine.

    Parameters
    ----------
    first, second : array, shape (topics, terms)
        Weights of terms, not negative.

    Returns
    -------
    array, shape (topics,)
        0..1, in the order of the first; 0 for a topic without words.

    References
    ----------
    Ruzicka, M. (1958). Biologia 13, 647-661. Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval
    Research Logistics Quarterly 2, 83-97.

    Examples
    --------
    >>> first = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    >>> matched_similarity(first, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 3.0]])).tolist()
    [0.6, 1.0]
    """
    a, b = (terms / np.maximum(terms.sum(axis=1, keepdims=True), 1e-12) for terms in (first, second))
    both = np.minimum(a[:, None], b).sum(axis=-1)
    either = np.maximum(a[:, None], b).sum(axis=-1)
    similarity = both / np.maximum(either, 1e-12)
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return similarity[rows, columns]


def shuffled(documents: Sequence[Sequence[str]], generator: np.random.Generator) -> list[list[str]]:
    """Return the same texts with their words permuted over all: each keeps its length, each word its number of uses.

    Examples
    --------
    >>> shuffled([["a"], ["b", "c"]], np.random.default_rng(2))
    [['c'], ['a', 'b']]
    """
    words = [word for document in documents for word in document]
    order = iter(generator.permutation(len(words)))
    return [[words[next(order)] for _ in document] for document in documents]


def farthest_above(curves: np.ndarray) -> tuple[int, float]:
    r"""Return where the first of several curves is farthest above their mean, and its p value.

    With :math:`d_s = \max_k (c_{sk} - \bar c_k)`, p is the share of curves with :math:`d_s \ge d_0`. If the first
    curve is one like the others, p is at most x with a probability of at most x, though k is chosen.

    Parameters
    ----------
    curves : array, shape (curves, numbers)
        The first is tested; the others show what chance does.

    Returns
    -------
    column : int
        0 .. numbers - 1; the first of equal ones.
    p : float
        1 / curves .. 1.

    Examples
    --------
    >>> farthest_above(np.array([[0.5, 0.9], [0.5, 0.1], [0.2, 0.2], [0.4, 0.4]]))
    (1, 0.25)
    """
    above = curves - curves.mean(axis=0)
    largest = above.max(axis=1)
    # Sums in another order differ slightly.
    return int(np.argmax(above[0])), float((largest >= largest[0] - 1e-12).mean())


def topic_model(study: Study, bootstrap: ParticipantBootstrap) -> TopicModel:
    """Return topics of users' comments, their stability, how often they occur, and how their turns are rated.

    The usable words are those of :func:`sense7.findings.words.terms.terms_of` that three participants use. For each
    number of topics in ``NUMBERS`` the model is fitted to all comments and to those of resampled participants; topics
    are found again as well as :func:`matched_similarity` says on average. The same is done with each of 19 sets of
    :func:`shuffled` comments. The number of topics is the one where the comments as written lie farthest above the
    mean of all sets, and p is the share of sets that lie at least so far above it, by :func:`farthest_above`; if p is
    above 0.05 no topics are shown.

    A comment belongs to the topic with the largest loading, if it uses one of that topic's six heaviest words.
    Intervals of shares and ratings resample participants with that assignment as it is: they do not tell how sure the
    topics are. Quotations are chosen by :func:`sense7.findings.words.terms.typical_in_length` among those comments of a
    topic whose loading is at least the median; nobody is quoted twice.

    Parameters
    ----------
    study : Study
        The data. Ratings of turns as in :func:`sense7.findings.measures.turn_levels`; a comment on an unrated turn
        counts for the topics and not for the ratings.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants, the first of which also serve for the stability; its seed serves the
        shuffles.

    Returns
    -------
    TopicModel
        With a reason instead of topics if there are fewer than 50 comments with a usable word, 10 participants who
        wrote them or 10 usable words; or if p is too large.
    """
    from threadpoolctl import threadpool_limits

    comments = _comments(study)
    used = comments[comments["terms"].map(len) > 0]
    vocabulary = sorted({term for terms in used["terms"] for term in terms})
    if reason := _too_few(comments, used, vocabulary):
        return TopicModel(reason, len(comments), _summary(len(used), reason=reason))
    most = min(len(used) // COMMENTS_PER_TOPIC, len(vocabulary) // TERMS_PER_TOPIC)
    tried = [number for number in NUMBERS if number <= most]
    # By one thread: sums come out alike on every machine, and threads only get in the way of matrices so small.
    with threadpool_limits(limits=1, user_api="blas"):
        weights = bootstrap.weights(slice(AGAIN))[:, bootstrap.codes(used["participant"])]
        curves = _stability_curves(used["terms"].tolist(), vocabulary, tried, weights[:RESAMPLINGS], bootstrap.seed)
        column, p = farthest_above(curves)
        number = tried[column]
        matrix = tf_idf(used["terms"], vocabulary)
        loadings, terms = factorize(matrix, number)
        again = _found_again(matrix, terms, weights)
    stability = pd.DataFrame(
        {
            "comments": curves[0],
            "shuffled": curves[1:].mean(axis=0),
            "shuffled, lowest": curves[1:].min(axis=0),
            "shuffled, highest": curves[1:].max(axis=0),
        },
        index=pd.Index(tried, name="topics"),
    )
    reason = NOT_APART if p > LARGEST_P else ""
    summary = _summary(len(used), number, again.mean(), stability.loc[number, "shuffled"], p, reason)
    model = TopicModel(reason, len(comments), summary, stability)
    return model if reason else _described(model, comments, used, vocabulary, loadings, terms, again, bootstrap)


def _comments(study: Study) -> pd.DataFrame:
    """Every comment with its usable words."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()].reset_index(drop=True)
    terms = [terms_of(comment) for comment in frame["comment"]]
    used = pd.DataFrame({"participant": frame["participant"], "term": terms}).explode("term").dropna()
    people = used.groupby("term")["participant"].nunique()
    usable = set(people.index[people >= FEWEST_PEOPLE])
    return frame.assign(terms=[[term for term in one if term in usable] for one in terms])


def _too_few(comments: pd.DataFrame, used: pd.DataFrame, vocabulary: list[str]) -> str:
    """Why there are too few comments for a model; "" if there are enough."""
    if comments.empty:
        return NO_COMMENTS
    writers = used["participant"].nunique()
    needed = (
        (len(used), FEWEST_COMMENTS, f"comments with a word that at least {in_words(FEWEST_PEOPLE)} participants use"),
        (writers, FEWEST_WRITERS, "participants who wrote such comments"),
        (len(vocabulary), FEWEST_TERMS, f"words that at least {in_words(FEWEST_PEOPLE)} participants use"),
    )
    for count, fewest, words in needed:
        if count < fewest:
            return f"a topic model needs {fewest} {words}; here there are {count:,}"
    return ""


def _stability_curves(
    documents: list[list[str]], vocabulary: list[str], tried: list[int], weights: np.ndarray, seed: int
) -> np.ndarray:
    """How well topics are found again: (sets of comments, numbers of topics), the comments as written first."""
    generator = np.random.default_rng(seed)
    sets = [documents, *(shuffled(documents, generator) for _ in range(SHUFFLES))]
    curves = []
    for one in sets:
        matrix = tf_idf(one, vocabulary)
        curves.append([_found_again(matrix, factorize(matrix, number)[1], weights).mean() for number in tried])
    return np.array(curves)


def _found_again(matrix: csr_array, terms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean similarity of each topic and its counterparts in resampled comments, zero where too few are taken."""
    similarities = np.zeros((len(weights), len(terms)))
    for row, draw in zip(similarities, weights, strict=True):
        if np.count_nonzero(draw) >= len(terms):
            row[:] = matched_similarity(terms, factorize(matrix, len(terms), draw)[1])
    return similarities.mean(axis=0)


def _summary(
    n: int, number: int = 0, again: float = np.nan, chance: float = np.nan, p: float = np.nan, reason: str = ""
) -> pd.DataFrame:
    """The outcome as a table of estimates; without a test every row has the reason."""
    how = "mean Jaccard index of the weights of words, topics matched by the Hungarian method"
    sets = f"{SHUFFLES} sets of shuffled comments"
    rows = {
        "topics": (
            np.nan if reason else number,
            "topics",
            "NMF of TF-IDF; the number farthest above shuffled comments",
        ),
        "found again": (again, "Jaccard index", f"{how}; {AGAIN} resamplings of participants"),
        "found again, shuffled": (chance, "Jaccard index", f"{how}; {RESAMPLINGS} resamplings of each of {sets}"),
        "p": (p, "p value", f"rank among {sets}"),
    }
    table = {
        name: estimate_row(value, n=n, unit=unit, method=method, reason="" if np.isfinite(value) else reason)
        for name, (value, unit, method) in rows.items()
    }
    return estimate_table(table, "quantity", _SUMMARY)


def _described(model, comments, used, vocabulary, loadings, terms, again, bootstrap) -> TopicModel:
    """The model with its topics, the largest first, and shares and ratings of their comments."""
    loadings = loadings.round(6)
    belongs = _assigned(loadings, terms, vocabulary, used["terms"])
    sizes = np.bincount(belongs[belongs >= 0], minlength=len(terms))
    order = np.lexsort((np.arange(len(terms)), -sizes))
    topic = pd.Series(-1, index=comments.index)
    topic[used.index] = np.where(belongs >= 0, np.argsort(order)[belongs], -1)
    heaviest = _words_in_order(terms[order], vocabulary)
    names = [f"{number}: {', '.join(words[:3]) or '(no word)'}" for number, words in enumerate(heaviest, 1)]
    people = comments["participant"]
    shares, ratings = {}, {}
    for number, name in [*enumerate(names), (-1, NO_TOPIC)]:
        chosen = topic == number
        values = chosen.astype(float)
        shares[name] = _mean(values, people, "share of comments", "comments of the topic", bootstrap)
        ratings[name] = _rating(comments[chosen], bootstrap)
    ratings[ALL] = _rating(comments, bootstrap)
    loading = pd.Series(loadings.max(axis=1), index=used.index)
    quotations = _quotations(used, topic[used.index], loading, len(names))
    topics = pd.DataFrame(
        {
            "words": [", ".join(words) for words in heaviest],
            "found again": again[order],
            "comments": sizes[order],
            "quotation": quotations,
        },
        index=pd.RangeIndex(1, len(names) + 1, name="topic"),
    )
    share_keys = {name: f"topic_share_{number}" for number, name in enumerate(names, 1)}
    rating_keys = {name: f"topic_rating_{number}" for number, name in enumerate(names, 1)}
    return replace(
        model,
        topics=topics,
        shares=estimate_table(shares, "topic", share_keys | {NO_TOPIC: "topic_share_none"}),
        ratings=estimate_table(
            ratings, "topic", rating_keys | {NO_TOPIC: "topic_rating_none", ALL: "topic_rating_all"}
        ),
    )


def _assigned(loadings: np.ndarray, terms: np.ndarray, vocabulary: list[str], documents: pd.Series) -> np.ndarray:
    """The topic of each comment, the first of equal ones; -1 where the comment uses none of its heaviest words."""
    chosen = [{vocabulary[term] for term in np.flatnonzero(row)} for row in heaviest_terms(terms, SHOWN_TERMS)]
    belongs = np.argmax(loadings, axis=1)
    uses = [not chosen[own].isdisjoint(said) for own, said in zip(belongs, documents, strict=True)]
    return np.where(uses, belongs, -1)


def _words_in_order(terms: np.ndarray, vocabulary: list[str]) -> list[list[str]]:
    """The heaviest words of each topic, the heaviest first."""
    order = np.argsort(-np.round(terms, 9), axis=1, kind="stable")
    chosen = heaviest_terms(terms, SHOWN_TERMS)
    return [[vocabulary[term] for term in row if own[term]] for row, own in zip(order, chosen, strict=True)]


def _mean(values: pd.Series, participants: pd.Series, unit: str, method: str, bootstrap: ParticipantBootstrap) -> dict:
    sums = np.column_stack([values, np.ones(len(values))])
    how = f"{bootstrap.description}, topics as they are"
    return bootstrap.row(
        bootstrap.estimate(ratio, sums, participants), n=len(values), unit=unit, method=method, how=how
    )


def _rating(comments: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    """Mean rating of the turns of some comments."""
    rated = comments[comments["rating"].notna()]
    unit, method = "level, 1 to 5", "mean rating of the turns with such a comment"
    if rated.empty:
        reason = "there is no such comment" if comments.empty else "no turn with such a comment was rated"
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    return _mean(rated["rating"], rated["participant"], unit, method, bootstrap)


def _quotations(comments: pd.DataFrame, topic: pd.Series, loading: pd.Series, count: int) -> list[str]:
    """For each topic a comment typical in length, of the half with the larger loadings; nobody is quoted twice."""
    quoted: set[str] = set()
    texts = []
    for number in range(count):
        own = comments[(topic == number) & ~comments["participant"].isin(quoted)]
        chosen = typical_in_length(own[loading[own.index] >= loading[own.index].median()], 1)
        quoted.update(chosen["participant"])
        nobody = "everybody who wrote one is quoted already" if (topic == number).any() else "there is none"
        texts.append(chosen["comment"].iloc[0] if len(chosen) else nobody)
    return texts


check_arguments(globals())
