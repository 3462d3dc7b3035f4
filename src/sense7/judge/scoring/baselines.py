"""What a judge has to beat: predictions that need no judge, no key and no understanding.

Each baseline predicts the ground truth of a conversation without having seen it, and gives one score per
conversation, so that the metrics of judges apply to it as they are. What is fitted is fitted to other participants:
they are divided into folds, and each fold is predicted from the others. The one exception is the participant's
own mean, which is about knowing the person.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.linalg import solve
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import ground_truth, label_counts, labels
from sense7.judge.chat import same_chats
from sense7.judge.scoring.metrics import METRICS, label_metrics
from sense7.judge.scoring.text_features import SPEAKERS, conversation_texts, tfidf, word_counts
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "Baseline",
    "accuracy_gains",
    "baseline_predictions",
    "baseline_table",
]

BASELINES = ("majority label", "own mean", "words per turn", "all words, ridge", "learned judge")
"""Names of the baselines."""

TEXT_BASELINES = BASELINES[2:]
"""Those that are fitted to what was said, so that they can predict a conversation without any rating."""

_KEYS = dict(zip(BASELINES, ("majority", "participant_mean", "words_per_turn", "tfidf_ridge", "learned"), strict=True))
"""Baseline -> middle of its keys, such as ``baseline_majority_accuracy``."""

_METRICS = ("accuracy", "spearman")

FOLDS = 10
INNER_FOLDS = 5
ALPHAS = tuple(10.0**power for power in range(-1, 5))
"""Penalties of ridge regression that are tried, by folds of participants within what is learned from."""

FEWEST_PARTICIPANTS = 5
"""Participants below which nothing is fitted to texts."""

FEWEST_CONVERSATIONS = 10
"""Conversations below which nothing is learned from them."""

_DIGITS = 12  # to which scores are rounded, so that equal ones are equal and halves are halves
_TOLERANCE = 1e-10  # of the iterations: the result is then that of a direct solution
_TALL = 16  # rows for each feature, above which sums are less work than iterations
_FEW = 100  # features: of more, tables without zeros are quicker summed as soon as there are more rows,
_MANY = 256  # and of more than these, from twice as many rows on: a direct solution takes their number cubed
_MOST_SUMMED = 3000  # features: of more, the sums of all folds would take gigabytes
_ROWS_AT_ONCE = 4096
_MOST_DENSE = 10_000_000  # numbers in a table of features, or of scalar products of rows, that is held whole


@dataclass(frozen=True, eq=False)
class Baseline:
    """Predictions of one baseline."""

    name: str
    method: str
    predictions: pd.DataFrame = field(repr=False)
    reason: str = ""


def baseline_predictions(
    study: Study,
    *,
    names: Collection[str] | None = None,
    unrated: bool = False,
) -> dict[str, Baseline]:
    r"""Predictions of every conversation with ground truth by every baseline.

    - *majority label*: the most frequent label among the conversations of the other participants; of equally
      frequent ones the lowest;
    - *own mean*: mean ground truth of the participant's other conversations, earlier and later; where there is no
      other, the mean over the conversations of the other participants;
    - *words per turn*: ridge regression on the logarithm of 1 plus the number of words that the assistant wrote in a
      turn, on average over the conversation;
    - *all words, ridge*: ridge regression on :func:`sense7.judge.scoring.text_features.tfidf`;
    - *learned judge*: mean of *all words, ridge* and *words per turn*.

    All but *own mean* predict conversations of participants of whom nothing was learned: folds of participants
    (scikit-learn's GroupKFold, no chance in it), the penalty of ridge regression chosen by folds of participants
    within. A conversation that is word for word in the fold to be predicted is not learned from either.

    Parameters
    ----------
    study : Study
        The data. Conversations without ground truth are never learned from.
    names : collection of str, optional
        Of ``BASELINES``, those that are wanted; without it, all.
    unrated : bool
        Whether to predict conversations without ground truth as well, by what their participant's fold is predicted
        by; of ``TEXT_BASELINES`` only.

    Returns
    -------
    dict
        Name -> Baseline; each has either predictions for every conversation with ground truth (or every one), or the
        reason.

    Notes
    -----
    Ridge regression and the choice of its penalty are checked
    against scikit-learn's Ridge and RidgeCV.
    """
    data = _Data(study, unrated=unrated)
    ways = {
        "majority label": ("most frequent label of the other participants", _majority),
        "own mean": ("mean of the participant's other conversations", _own_mean),
        "words per turn": (f"ridge regression on the assistant's words per turn, {data.folds}", _words_per_turn),
        "all words, ridge": (f"ridge regression on TF-IDF, {data.folds}", _all_words),
        "learned judge": (f"mean of ridge regressions on TF-IDF and on words per turn, {data.folds}", _learned),
    }
    wanted = (TEXT_BASELINES if unrated else BASELINES) if names is None else names
    return {name: _baseline(name, method, predict, data) for name, (method, predict) in ways.items() if name in wanted}


def _baseline(name: str, method: str, predict: Callable, data: "_Data") -> Baseline:
    try:
        data.check()
        score, plain = predict(data)
    except _NothingToLearnError as why:
        return Baseline(name, method, data.frame.iloc[:0].assign(score=np.nan, above=np.nan), str(why))
    score = np.round(score, _DIGITS)
    return Baseline(name, method, data.frame.assign(score=score, above=np.round(score - plain, _DIGITS)))


def baseline_table(
    study: Study,
    bootstrap: ParticipantBootstrap,
    *,
    baselines: Mapping[str, Baseline] | None = None,
) -> pd.DataFrame:
    """Accuracy and Spearman's correlation of every baseline.

    As :func:`sense7.judge.scoring.metrics.label_metrics`, with one exception: Spearman's correlation is of the score
    *above* what its fold would be predicted without any feature. A fold's own level is the lower, the higher its
    participants rate, since they are not learned from; as it is, it would push the correlation of a baseline
    that knows nothing well below zero.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals. Predictions are held fixed: how much they would change
        with other participants to learn from is not in the intervals.
    baselines : mapping, optional
        As :func:`baseline_predictions` returns it; predicted here if not given.

    Returns
    -------
    DataFrame
        Indexed by metric (``accuracy``, ``spearman``) and baseline, so that ``table.loc["spearman"]`` is a table of
        estimates: estimate, low, high, n (conversations), unit, method, reason.

    """
    if baselines is None:
        baselines = baseline_predictions(study)
    scored = {name: _scored(baseline, bootstrap) for name, baseline in baselines.items()}
    return pd.concat(
        {
            metric: estimate_table({name: rows[metric] for name, rows in scored.items()}, "baseline")
            for metric in _METRICS
        },
        names=["metric"],
    )


def _scored(baseline: Baseline, bootstrap: ParticipantBootstrap) -> dict[str, dict]:
    """One row of the table of estimates for each metric of a baseline."""
    frame, rows = baseline.predictions, {}
    for metric in _METRICS:
        kind = METRICS[metric]
        rows[metric] = estimate_row(n=len(frame), unit=kind.unit, method=kind.method, reason=baseline.reason)
    if not baseline.reason:
        truth, people = frame["ground_truth"], frame["participant"]
        table = label_metrics(truth, frame["score"], people, bootstrap, frame["above"])
        rows = {metric: table.loc[metric].to_dict() for metric in rows}
        if np.ptp(frame["above"]) == 0:
            rows["spearman"]["reason"] = "it predicts the same for everybody"
    for metric, row in rows.items():
        row["method"] = f"{baseline.method}; {row['method']}"
        row["key"] = f"baseline_{_KEYS[baseline.name]}_{metric}"
    return rows


def accuracy_gains(baselines: Mapping[str, Baseline], bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Accuracy of each baseline minus that of the majority label, over the same conversations.

    Parameters
    ----------
    baselines : mapping
        As :func:`baseline_predictions` returns it.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals, which are of the difference.

    Returns
    -------
    DataFrame
        One row per baseline but the majority label: estimate, low, high (-1..1), n (conversations), unit, method,
        reason.
    """
    majority, rows = baselines["majority label"], {}
    for name, baseline in baselines.items():
        if name == "majority label":
            continue
        shown = {
            "unit": "share of conversations",
            "method": f"accuracy of: {baseline.method}; minus that of the majority label",
            "key": f"baseline_{_KEYS[name]}_accuracy_gain",
        }
        if reason := baseline.reason or majority.reason:
            rows[name] = estimate_row(n=len(baseline.predictions), reason=reason, **shown)
            continue
        truth = labels(baseline.predictions["ground_truth"])
        hits, usual = (labels(way.predictions["score"]) == truth for way in (baseline, majority))
        values = np.column_stack([hits.astype(float) - usual, np.ones(len(truth))])
        gain = bootstrap.estimate(ratio, values, baseline.predictions["participant"])
        rows[name] = bootstrap.row(gain, n=len(truth), **shown)
    return estimate_table(rows, "baseline")


class _NothingToLearnError(Exception):
    """Why a baseline has no predictions."""


class _Data:
    """What all baselines learn from: the conversations with ground truth."""

    def __init__(self, study: Study, *, unrated: bool = False):
        conversations = study.conversations
        truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
        self.known = np.isfinite(truth) | unrated
        self.truth = truth[self.known]
        self.frame = conversations.loc[self.known, ["conversation", "participant"]].reset_index(drop=True)
        self.frame["ground_truth"] = self.truth
        self.rated = np.isfinite(self.truth)
        names = self.frame["participant"]
        # Those who rated come first, so that who only has unrated conversations moves nobody to another fold.
        self.people = pd.Index(pd.concat([names[self.rated], names]).unique()).get_indexer(names)
        self.participants = len(np.unique(self.people[self.rated]))
        self.study = study

    def check(self) -> None:
        """Raise if there is nothing to predict."""
        if not self.rated.any():
            raise _NothingToLearnError("no conversation of this data set has ground truth")
        if np.ptp(self.truth[self.rated]) == 0:
            raise _NothingToLearnError("ground truth is the same in every conversation")

    @property
    def folds(self) -> str:
        return f"{count_of(min(FOLDS, self.participants), 'fold')} of participants"

    @property
    def texts(self) -> pd.DataFrame:
        return conversation_texts(self.study)[self.known]

    @cached_property
    def said(self) -> tuple[pd.DataFrame, dict[str, sparse.csr_matrix]]:
        """How much each side said, and which words how often. The texts, as large as the study, are not kept."""
        texts = self.texts
        return texts.drop(columns=list(SPEAKERS)), word_counts(texts)

    @cached_property
    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from and rows to predict, for each fold of participants."""
        if self.participants < FEWEST_PARTICIPANTS:
            raise _NothingToLearnError(
                f"{self.participants} participants are too few to learn from others"
                if self.participants > 1
                else "there is only one participant, and nobody else to learn from"
            )
        if not self.said[0][[f"{speaker}_words" for speaker in SPEAKERS]].to_numpy().any():
            raise _NothingToLearnError("no message of a conversation with ground truth has a text")
        same_text = same_chats(self.study)[self.known]
        splits, rows = [], np.flatnonzero(self.rated)
        fold = np.zeros(self.people.max() + 1, dtype=int)  # of a participant; the first, of who rated nothing
        divided = GroupKFold(min(FOLDS, self.participants)).split(rows, groups=self.people[rows])
        for number, (_, place) in enumerate(divided):
            fold[self.people[rows[place]]] = number
        for number in range(fold.max() + 1):
            test = np.flatnonzero(fold[self.people] == number)
            rated = np.flatnonzero((fold[self.people] != number) & self.rated)
            own = rated[~np.isin(same_text[rated], same_text[test])]
            if len(own) < FEWEST_CONVERSATIONS or len(np.unique(self.people[own])) < 2:
                shared = len(own) < len(rated)
                raise _NothingToLearnError(
                    "too little to learn from without the texts that several participants have in common"
                    if shared
                    else f"{count_of(int(self.rated.sum()), 'conversation')}: too few to learn from"
                )
            splits.append((own, test))
        return splits

    def inner_splits(self, train: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Folds of participants within what is learned from."""
        people = self.people[train]
        return list(GroupKFold(min(INNER_FOLDS, len(np.unique(people)))).split(train, groups=people))

    @cached_property
    def word_fits(self) -> list["_Fit"]:
        """Ridge regression on all words, for each fold."""
        splits, counts = self.splits, self.said[1]
        _check_varies(tfidf(counts))
        return [_Fit(self, tfidf(counts, train), train, test) for train, test in splits]


class _Fit:
    """Ridge regression of one fold: what it predicts, without the features, which are large."""

    def __init__(self, data: _Data, features, train: np.ndarray, test: np.ndarray, *, scaled: bool = False):
        self.test, self.truth = test, data.truth[train]
        if not features.shape[1]:  # nothing is known: the mean is predicted
            features = sparse.csr_matrix((features.shape[0], 1))
        if scaled:
            features = StandardScaler().fit(features[train]).transform(features)
        inner = data.inner_splits(train)
        solved = _solver(features, train, self.truth, inner)
        alpha = _penalty(features, train, self.truth, inner, solved)
        (slope,), (intercept,) = solved(None, [alpha])
        self.predicted = features[test] @ slope + intercept


_Solver = Callable[[int | None, Sequence[float]], tuple[np.ndarray, np.ndarray]]
"""Of an inner fold (None: of all) and penalties: slopes (penalties, features) and intercepts of ridge regression."""


def _solver(features, train: np.ndarray, truth: np.ndarray, inner: Sequence[tuple[np.ndarray, np.ndarray]]) -> _Solver:
    """Ridge regressions of the inner folds and of all of them, from rows, or from sums where that is less work."""
    rows, columns = len(train), features.shape[1]
    tall = _TALL if sparse.issparse(features) or columns < _FEW else 2 if columns > _MANY else 1
    if columns * tall >= rows or columns > _MOST_SUMMED:
        scalar = None
        if rows * max(rows, columns) <= _MOST_DENSE:
            known = features[train]
            whole = known.toarray() if sparse.issparse(known) else known
            scalar = whole @ whole.T

        def by_rows(fold, alphas):
            learned = np.arange(rows) if fold is None else inner[fold][0]
            own = features[train[learned]]
            within = None if scalar is None else scalar[np.ix_(learned, learned)]
            product = (lambda step: own @ (own.T @ step)) if within is None else within.__matmul__
            duals = _by_iterations(product, truth[learned], np.array(alphas))
            slopes = (own.T @ duals).T  # centred, as weights of rows sum to zero
            return slopes, truth[learned].mean() - np.asarray(own.mean(axis=0)).ravel() @ slopes.T

        return by_rows
    parts = [_cross_products(features, train[test], truth[test]) for _, test in inner]
    whole = np.sum(parts, axis=0)

    def by_sums(fold, alphas):
        sums = whole if fold is None else whole - parts[fold]
        mean = sums[-1, :-1] / sums[-1, -1]
        centred = sums[:-1, :-1] - sums[-1, -1] * np.outer(mean, mean)
        within, with_truth = centred[:-1, :-1], centred[:-1, -1]
        slopes = np.array([solve(within + alpha * np.eye(columns), with_truth, assume_a="pos") for alpha in alphas])
        return slopes, mean[-1] - slopes @ mean[:-1]

    return by_sums


def _by_iterations(product: Callable, truth: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    r"""Dual weights of ridge regression for each penalty: :math:`(K + \alpha I)^{-1} (y - \bar y)`."""
    least = alphas.min()
    rest = truth - truth.mean()
    step, steps = rest, np.repeat(rest[:, None], len(alphas), axis=1)
    duals, scale, before = np.zeros(steps.shape), np.ones(len(alphas)), np.ones(len(alphas))
    length_before, growth, size = 1.0, 0.0, rest @ rest
    enough = _TOLERANCE**2 * size
    for _ in range(10 * len(truth)):
        now = np.flatnonzero(scale**2 * size > enough)
        if not len(now):
            break
        turned = product(step)
        turned = turned - turned.mean() + least * step
        length = size / (step @ turned)
        a, b = scale[now], before[now]
        spread = length_before * b * (1 + length * (alphas[now] - least)) + length * growth * (b - a)
        ratios = b * length_before / spread
        before[now], scale[now] = a, a * ratios
        duals[:, now] += length * ratios * steps[:, now]
        rest = rest - length * turned
        left = rest @ rest
        length_before, growth, size = length, left / size, left
        step = rest + growth * step
        steps[:, now] = scale[now] * rest[:, None] + growth * ratios**2 * steps[:, now]
    return duals


def _cross_products(features, places: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Sums over the rows at these places of all products of two of the features, the truth and 1."""
    columns = features.shape[1] + 2
    total = np.zeros((columns, columns))
    for start in range(0, len(places), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        own = features[places[rows]]
        own = own.toarray() if sparse.issparse(own) else own
        block = np.column_stack([own, truth[rows], np.ones(len(truth[rows]))])
        total += block.T @ block
    return total


def _penalty(
    features,
    train: np.ndarray,
    truth: np.ndarray,
    inner: Sequence[tuple[np.ndarray, np.ndarray]],
    solved: _Solver,
) -> float:
    """Penalty of least squared error, mean over the inner folds, which is RidgeCV's choice."""
    losses = []
    for fold, (_, test) in enumerate(inner):
        slopes, intercepts = solved(fold, ALPHAS)
        predicted = features[train[test]] @ slopes.T + intercepts
        losses.append(np.square(predicted - truth[test, None]).mean(axis=0))
    return ALPHAS[np.mean(losses, axis=0).argmin()]


def _gathered(data: _Data, fits: Sequence[_Fit]) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and the mean that each fold is predicted without features."""
    score, plain = np.empty(len(data.truth)), np.empty(len(data.truth))
    for fit in fits:
        score[fit.test], plain[fit.test] = fit.predicted, fit.truth.mean()
    return score, plain


def _check_varies(features) -> None:
    if sparse.issparse(features):  # never unfolded: words are many
        varies = all(features.shape) and (features.max(axis=0) - features.min(axis=0)).nnz
    else:
        varies = features.size and np.ptp(features, axis=0).any()
    if not varies:
        raise _NothingToLearnError("in this the conversations do not differ")


def _ridge(data: _Data, features: np.ndarray, *, scaled: bool) -> tuple[np.ndarray, np.ndarray]:
    splits = data.splits
    _check_varies(features)
    return _gathered(data, [_Fit(data, features, train, test, scaled=scaled) for train, test in splits])


def _majority(data: _Data) -> tuple[np.ndarray, np.ndarray]:
    if data.participants < 2:
        raise _NothingToLearnError("there is only one participant, and nobody else to learn from")
    own = np.array([label_counts(data.truth[data.people == person]) for person in range(data.participants)])
    most = (own.sum(axis=0) - own).argmax(axis=1) + 1.0
    return most[data.people], most[data.people]


def _own_mean(data: _Data) -> tuple[np.ndarray, np.ndarray]:
    number = np.bincount(data.people)
    if number.max() < 2:
        raise _NothingToLearnError("no participant has two conversations with ground truth")
    total = np.bincount(data.people, weights=data.truth)
    alone = number == 1
    of_others = (total.sum() - total) / np.maximum(number.sum() - number, 1)
    own = (total[data.people] - data.truth) / np.maximum(number[data.people] - 1, 1)
    return np.where(alone[data.people], of_others[data.people], own), np.zeros(len(data.truth))


def _words_per_turn(data: _Data) -> tuple[np.ndarray, np.ndarray]:
    lengths, _ = data.said
    turns = lengths["turns"].to_numpy()
    per_turn = lengths["assistant_words"].to_numpy() / np.maximum(turns, 1)
    return _ridge(data, np.log1p(per_turn)[:, None], scaled=True)


def _learned(data: _Data) -> tuple[np.ndarray, np.ndarray]:
    (words, plain), (lengths, _) = _all_words(data), _words_per_turn(data)
    return (words + lengths) / 2, plain


def _all_words(data: _Data) -> tuple[np.ndarray, np.ndarray]:
    return _gathered(data, data.word_fits)


check_arguments(globals())
