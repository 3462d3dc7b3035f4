"""Baselines of a judge: what simple rules predict of a conversation, and how right they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from sense7.errors import UserError
from sense7.files import require_as_written
from sense7.findings.core import (
    NotComputable,  # noqa: TID251 -- a baseline keeps its reason for its table
    finding,
    need,
    tabulate,
)
from sense7.findings.ground_truth import ground_truth, label_counts
from sense7.judge.chats import same_chats
from sense7.judge.files import Run, prediction_path, write_predictions
from sense7.judge.reply import HIGHEST, LOWEST
from sense7.judge.scores.metrics import METRICS, MeasuredRun
from sense7.judge.tfidf import SPEAKERS, conversation_texts, tfidf, word_counts
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.order import rounded
from sense7.study import Study
from sense7.terminal import count_of

__all__ = [
    "Baseline",
    "baseline_predictions",
    "baseline_table",
    "write_learned",
]

_KEYS = {
    "majority label": "majority",
    "own mean": "participant_mean",
    "words per turn": "words_per_turn",
    "all words, ridge": "tfidf_ridge",
    "learned judge": "learned",
}
"""Baseline -> middle of its keys, such as ``baseline_majority_accuracy``, and its name in ``_Data``."""

BASELINES = tuple(_KEYS)
"""Names of the baselines."""

TEXT_BASELINES = BASELINES[2:]
"""Those that are fitted to what was said, so that they can predict a conversation without any rating."""

FOLDS = 10
INNER_FOLDS = 5
ALPHAS = tuple(10.0**power for power in range(-1, 5))
"""Penalties of ridge regression that are tried, by folds of participants within what is learned from."""

FEWEST_PARTICIPANTS = 5
"""Participants below which nothing is fitted to texts."""

FEWEST_CONVERSATIONS = 10
"""Conversations below which nothing is learned from them."""

_Scores = tuple[np.ndarray, np.ndarray]
"""Scores of all conversations, and what each would be predicted without any feature."""

_DIGITS = 12  # to which scores are rounded, so that equal ones are equal and halves are halves
_TOLERANCE = 1e-10  # of the iteration that solves a regression on words


@dataclass(frozen=True, eq=False)
class Baseline:
    """Predictions of one baseline."""

    name: str
    method: str
    run: Run = field(repr=False)
    reason: str = ""


def baseline_predictions(
    study: Study,
    *,
    unrated: bool = False,
) -> dict[str, Baseline]:
    r"""Predictions of every conversation with ground truth by every baseline.

    - *majority label*: the most frequent label among the conversations of the other participants; of equally
      frequent ones the lowest;
    - *own mean*: mean ground truth of the participant's other conversations, earlier and later; where there is no
      other, the mean over the conversations of the other participants. The higher a person rates, the lower is that
      mean of the others; so there is no such score if most conversations are of people without another;
    - *words per turn*: ridge regression on the logarithm of 1 plus the number of words that the assistant wrote in a
      turn, on average over the conversation;
    - *all words, ridge*: ridge regression on :func:`sense7.judge.tfidf.tfidf`;
    - *learned judge*: mean of *all words, ridge* and *words per turn*.

    All but *own mean* predict conversations of participants of whom nothing was learned: folds of participants
    (scikit-learn's GroupKFold, no chance in it), the penalty of ridge regression chosen by folds of participants
    within. A conversation that is word for word in the fold to be predicted is not learned from either.

    Parameters
    ----------
    study : Study
        The data. Conversations without ground truth are never learned from.
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
    folds = f"{count_of(min(FOLDS, data.participants), 'fold')} of participants"
    methods = {
        "majority label": "most frequent label of the other participants",
        "own mean": "mean of the participant's other conversations",
        "words per turn": f"ridge regression on the assistant's words per turn, {folds}",
        "all words, ridge": f"ridge regression on TF-IDF, {folds}",
        "learned judge": f"mean of ridge regressions on TF-IDF and on words per turn, {folds}",
    }
    baselines = {}
    for name in TEXT_BASELINES if unrated else BASELINES:
        method = methods[name]
        try:
            need(data.rated.any(), "no conversation has ground truth")
            need(
                np.ptp(data.truth[data.rated]) > 0, "ground truth is the same in every conversation"
            )
            score, plain = getattr(data, _KEYS[name])
        except NotComputable as why:
            baselines[name] = Baseline(name, method, Run.of(data.frame.iloc[:0]), str(why))
            continue
        score = np.round(score, _DIGITS)
        frame = data.frame.assign(score=score, above=np.round(score - plain, _DIGITS))
        baselines[name] = Baseline(name, method, Run.of(frame))
    return baselines


@finding
def baseline_table(
    baselines: Mapping[str, Baseline], bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Accuracy and Spearman's correlation of every baseline.

    As :func:`sense7.judge.scores.metrics.run_metrics`, with one exception: Spearman's correlation is of the score
    *above* what its fold would be predicted without any feature. A fold's own level is the lower, the higher its
    participants rate, since they are not learned from; as it is, it would push the correlation of a baseline
    that knows nothing well below zero.

    Parameters
    ----------
    baselines : mapping
        As :func:`baseline_predictions` returns it.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals. Predictions are held fixed: how much they would change
        with other participants to learn from is not in the intervals.

    Returns
    -------
    DataFrame
        Indexed by metric (``accuracy``, ``spearman``) and baseline, so that ``table.loc["spearman"]`` is a table of
        estimates: estimate, low, high, n (conversations), unit, method, reason.

    """
    numbers = {"accuracy": [], "spearman": []}
    for name, baseline in baselines.items():
        run = MeasuredRun(baseline.run, bootstrap)
        for metric, of_metric in numbers.items():
            about = replace(METRICS[metric], method=f"{baseline.method}; {METRICS[metric].method}")
            undefined = baseline.reason or run.missing(metric)
            if not baseline.reason and metric == "spearman" and run.n and np.ptp(run.order) == 0:
                undefined = "it is the same for all"
            key = f"baseline_{_KEYS[name]}_{metric}"
            of_metric.append(about.number(name, run.drawn[metric], run.people, undefined, key))
    tables = {}
    for metric, of_metric in numbers.items():
        tables[metric] = tabulate("baseline", of_metric, bootstrap)
    return pd.concat(tables, names=["metric"])


class _Data:
    """What all baselines learn from: the conversations with ground truth."""

    def __init__(self, study: Study, *, unrated: bool):
        conversations = study.conversations
        truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
        self.study = study
        self.predicted = np.isfinite(truth) | unrated
        self.truth = truth[self.predicted]
        self.rated = np.isfinite(self.truth)
        frame = conversations.loc[self.predicted, ["conversation", "participant"]]
        self.frame = frame.reset_index(drop=True).assign(ground_truth=self.truth)
        names = self.frame["participant"]
        # Those who rated come first, so that who only has unrated conversations moves nobody to another fold.
        self.people = pd.Index(pd.concat([names[self.rated], names]).unique()).get_indexer(names)
        self.participants = len(np.unique(self.people[self.rated]))

    def need_others(self) -> None:
        """Raise where nobody can be learned from."""
        need(self.participants > 1, "there is only one participant, and nobody else to learn from")

    @cached_property
    def texts(self) -> tuple[pd.DataFrame, dict[str, sparse.csr_matrix]]:
        """How much each side said, and which words how often. The texts, as large as the study, are not kept."""
        texts = conversation_texts(self.study)[self.predicted]
        return texts.drop(columns=list(SPEAKERS)), word_counts(texts)

    @cached_property
    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from and rows to predict, for each fold of participants."""
        self.need_others()
        few = f"{self.participants} participants are too few to learn from others"
        need(self.participants >= FEWEST_PARTICIPANTS, few)
        lengths, _ = self.texts
        has_text = lengths[[f"{speaker}_words" for speaker in SPEAKERS]].to_numpy().any()
        need(has_text, "no message of a conversation with ground truth has a text")
        same_text = same_chats(self.study)[self.predicted]
        rows = np.flatnonzero(self.rated)
        # Who rated nothing is in the first fold.
        fold_of_person = np.zeros(self.people.max() + 1, dtype=int)
        divided = GroupKFold(min(FOLDS, self.participants)).split(rows, groups=self.people[rows])
        for number, (_, test) in enumerate(divided):
            fold_of_person[self.people[rows[test]]] = number
        fold = fold_of_person[self.people]
        splits = []
        for number in range(fold.max() + 1):
            test = np.flatnonzero(fold == number)
            rated = np.flatnonzero((fold != number) & self.rated)
            train = rated[~np.isin(same_text[rated], same_text[test])]
            why = f"{count_of(int(self.rated.sum()), 'conversation')}: too few to learn from"
            if len(train) < len(rated):
                why = "too little to learn from without the texts that several participants have in common"
            need(len(train) >= FEWEST_CONVERSATIONS, why)
            need(len(np.unique(self.people[train])) > 1, why)
            splits.append((train, test))
        return splits

    def fitted(
        self, features_of: Callable[[np.ndarray], object], *, scaled: bool = False
    ) -> _Scores:
        """Scores by ridge regression in folds, and the mean that each fold is predicted without features."""
        score = np.empty(len(self.truth))
        plain = np.empty(len(self.truth))
        for train, test in self.splits:
            features = features_of(train)
            if not features.shape[1]:  # nothing to go by: the mean is predicted
                features = sparse.csr_matrix((features.shape[0], 1))
            if scaled:
                features = StandardScaler().fit(features[train]).transform(features)
            predicted = partial(_ridge, features, self.truth)
            people = self.people[train]
            folds = GroupKFold(min(INNER_FOLDS, len(np.unique(people)))).split(train, groups=people)
            squares = []
            for inner_train, inner_test in folds:
                new = train[inner_test]
                errors = predicted(train[inner_train], new, ALPHAS) - self.truth[new]
                squares.append(np.square(errors).mean(axis=1))
            alpha = ALPHAS[rounded(np.mean(squares, axis=0)).argmin()]  # as RidgeCV chooses
            score[test] = predicted(train, test, [alpha])[0]
            plain[test] = self.truth[train].mean()
        need(np.round(score - plain, _DIGITS).any(), "in this the conversations do not differ")
        return score, plain

    @cached_property
    def tfidf_ridge(self) -> _Scores:
        """Which words occur."""
        _, counts = self.texts
        return self.fitted(partial(tfidf, counts))

    @cached_property
    def words_per_turn(self) -> _Scores:
        """How much the assistant wrote."""
        lengths, _ = self.texts
        turns = np.maximum(lengths["turns"].to_numpy(), 1)
        logarithm = np.log1p(lengths["assistant_words"].to_numpy() / turns)[:, None]
        return self.fitted(lambda train: logarithm, scaled=True)

    @property
    def learned(self) -> _Scores:
        """Both."""
        by_words, plain = self.tfidf_ridge
        by_length, _ = self.words_per_turn
        return (by_words + by_length) / 2, plain

    @property
    def majority(self) -> _Scores:
        """Most frequent label of the others."""
        self.need_others()
        by_person = [
            label_counts(self.truth[self.people == person]) for person in range(self.participants)
        ]
        of_others = np.sum(by_person, axis=0) - by_person
        label = of_others.argmax(axis=1) + 1.0
        return label[self.people], label[self.people]

    @property
    def participant_mean(self) -> _Scores:
        """Mean of the participant's other conversations."""
        number = np.bincount(self.people)
        with_others = np.sum(number[self.people] > 1)
        need(
            2 * with_others >= len(self.people),
            f"{with_others} of {len(self.people)} conversations are of a participant who has another",
        )
        total = np.bincount(self.people, weights=self.truth)
        of_others = (total.sum() - total) / np.maximum(number.sum() - number, 1)
        of_own = (total[self.people] - self.truth) / np.maximum(number[self.people] - 1, 1)
        score = np.where((number == 1)[self.people], of_others[self.people], of_own)
        return score, np.zeros(len(score))


def _ridge(features, truth: np.ndarray, train: np.ndarray, new: np.ndarray, alphas) -> np.ndarray:
    """Predictions of ridge regressions with an intercept: (penalties, new rows)."""
    learned_from = features[train]
    asked_for = features[new]
    predicted = []
    for alpha in alphas:
        fit = Ridge(alpha, tol=_TOLERANCE).fit(learned_from, truth[train])
        predicted.append(fit.predict(asked_for))
    return np.stack(predicted)


def write_learned(study: Study, folder: str | Path) -> Path:
    """Write the learned judge's predictions in the judges' layout, of conversations without a rating too."""
    path = prediction_path(folder, "learned-judge", "baseline", 1)
    require_as_written([path])  # before it learns, which takes a while
    learned = baseline_predictions(study, unrated=True)["learned judge"]
    if learned.reason:
        raise UserError(
            f"{study.name}: {learned.name}: {learned.reason}. Nothing was written. Give a workbook with rated "
            "conversations of more participants."
        )
    columns = ["conversation", "participant", "ground_truth", "status"]
    frame = learned.run.table[columns].assign(
        score=np.clip(learned.run.score, LOWEST, HIGHEST),
        model=learned.name,
        run=1,
        returned_model=learned.method,
    )
    write_predictions(path, frame, own=True)
    return path
