r"""Three language models as judges of 200 conversations, compared with three experts and a crowd.

Kumar and others (2025) released ratings of four corpora on 21 questions, and of every question and six pairs of raters
Spearman's correlation and Cohen's kappa with quadratic weights, between the values that occur in either series. Of the
experts and models together they used the median of the three experts, and Gemini 2.5 Pro alone.

A judge is compared with the experts on equal terms where each expert e in turn is left out and the mean :math:`t_{ce}`
of the other two is the target for this expert and for the judges alike:

.. math:: \frac{1}{3} \sum_e \rho(s_{\cdot e}, t_{\cdot e}), \quad \frac{1}{3} \sum_e \rho(s_{\cdot j}, t_{\cdot e})

The *error* has the mean over conversations of :math:`|s_c - t_{ce}| / (h - l)` in the place of Spearman's
:math:`\rho`, with l and h the ends of the question's scale: a judge that keeps to the usual ratings has small errors
without distinguishing conversations, and one that rates all too low may still order them as experts do. The *level* is
:math:`\frac{1}{C} \sum_c (s_{cj} - \bar e_c) / (h - l)`, above zero where a rater is more generous than the experts.
The alternative annotator test is described in :mod:`sense7.estimators.alternative_annotator`. As its authors have it,
each question is a data set and p values are corrected over its three experts; stricter, they are corrected over all
questions and experts. Its decisions are made again in every resample. Statistics are averaged over questions.

References
----------
Kumar, A., and others (2025). arXiv 2506.10150; ``annotations/all_annotator_pairs_spearman_kappa.csv``.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np
import pandas as pd

from sense7.estimators.alternative_annotator import (
    alternative_test,
    benjamini_yekutieli,
    winning_rate,
    wins,
)
from sense7.estimators.bootstrap import ConversationBootstrap, resampled_p
from sense7.estimators.estimates import Estimate, holm
from sense7.estimators.order import rounded
from sense7.estimators.ranks import spearman_in_draws, spearmans_in_draws
from sense7.estimators.rater_agreement import STEPS, quadratic_kappa
from sense7.findings.core import Number, finding, tabulate
from sense7.judge.scores.comparison import agreement_sums, krippendorff_alpha
from sense7.judge.scores.metrics import run_metrics
from sense7.sources.converters import QUESTIONS as STAND_INS
from sense7.sources.released import (
    CORPORA,
    CROWD,
    EXPERTS,
    JUDGES,
    PERSON,
    RELEASED,
    judged_conversations,
    published_agreement,
)

__all__ = [
    "ACKNOWLEDGEMENT",
    "CorpusBootstrap",
    "agreement_table",
    "by_question",
    "facts",
    "ratings",
    "reproduced",
    "sizes",
    "tables",
]

ACKNOWLEDGEMENT = RELEASED["judged_conversations"].acknowledgement
"""Whom to credit for the ratings, and under which licence they are."""

RATERS = (*JUDGES, CROWD)
NAMES = JUDGES | {CROWD: "crowd", "expert": "expert left out", "jury": "jury"}
ALL = "all questions"
EPSILON = 0.2
"""What a model may be worse by than an expert: the value that the test's authors advise for experts."""

EPSILONS = {"epsilon": (EPSILON, "experts"), "lower_epsilon": (0.1, "crowd workers")}
"""Name -> value, and for which raters the test's authors advise it."""

PASSED = 0.5
"""Winning rate from which on a model may replace the experts."""

CORRECTED = {
    "": "over questions and experts",
    "published_": "over the three experts of each question, as published",
}
"""How the names of the two ways of correcting p values begin -> over which tests each corrects."""

RHO, RANGE = "Spearman's rho", "share of the scale's range"


def ratings() -> pd.DataFrame:
    """Return the ratings of the 200 conversations, with three derived raters.

    Returns
    -------
    DataFrame
        As :func:`sense7.sources.released.judged_conversations`, one row per conversation and question (1,050), and
        three columns more: experts (median of the three experts) and llm (Gemini 2.5 Pro alone), as the authors have
        them, and jury (mean of the three models).

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> judged = ratings()
    >>> judged[["conversation", "corpus"]].drop_duplicates()["corpus"].value_counts().unique().tolist()
    [50]
    >>> judged.drop_duplicates(["corpus", "question"]).shape[0]
    21
    """
    judged = judged_conversations()
    jury = judged[list(JUDGES)].mean(axis=1)
    return judged.assign(
        experts=judged[list(EXPERTS)].median(axis=1), llm=judged["gemini"], jury=jury
    )


def sizes(judged: pd.DataFrame) -> str:
    """How many conversations there are, for captions.

    Examples
    --------
    >>> sizes(ratings())
    'n = 50 conversations in each corpus, 200 conversations in all'
    """
    numbers = sorted(set(judged.groupby("corpus")["conversation"].nunique()))
    each = " or ".join(f"{number:,}" for number in numbers)
    return f"n = {each} conversations in each corpus, {judged['conversation'].nunique():,} conversations in all"


# The published values


def agreement_table(judged: pd.DataFrame) -> pd.DataFrame:
    r"""Return every published agreement of two raters beside the one that is computed here.

    Returns
    -------
    DataFrame
        One row per question and pair of raters (126), in the order of corpora: corpus, question, first, second;
        spearman_published and spearman, kappa_published and kappa (between the values that occur), kappa_scale (by
        steps of the scale, where crowd means and the halves of a median stay as they are); n, of conversations.

    Notes
    -----
    Checked against scipy.stats.spearmanr and sklearn.metrics.cohen_kappa_score(weights="quadratic") to 1e-12.

    Examples
    --------
    >>> table = agreement_table(ratings()).set_index(["question", "first", "second"])
    >>> row = table.loc[("validating_emotions", "expert1", "expert2")]
    >>> row[["spearman_published", "spearman", "kappa_published", "kappa"]].astype(float).round(3).tolist()
    [0.48, 0.477, 0.25, 0.248]
    """
    groups = dict(iter(judged.groupby(["corpus", "question"])))
    table = published_agreement().rename(
        columns={"spearman": "spearman_published", "kappa": "kappa_published"}
    )
    rows = []
    for row in table.itertuples(index=False):
        group = groups[row.corpus, row.question]
        first, second = group[row.first].to_numpy(), group[row.second].to_numpy()
        rows.append(
            {
                "spearman": float(spearman_in_draws(first, second, np.ones((1, len(group))))[0]),
                "kappa": float(quadratic_kappa(first, second, steps="occurring")),
                "kappa_scale": float(quadratic_kappa(first, second, steps="scale")),
                "n": len(group),
            }
        )
    order = table["corpus"].map(list(CORPORA).index).argsort(kind="stable")
    return table.join(pd.DataFrame(rows)).iloc[order].reset_index(drop=True)


@finding
def reproduced(agreement: pd.DataFrame) -> list[dict]:
    """Return how many published values are reproduced, as arguments of ``Recorder.value``.

    A value is reproduced if the computed one, rounded to two decimals, is the published one: the two are compared in
    whole hundredths.

    Examples
    --------
    >>> [row["estimate"] for row in reproduced(agreement_table(ratings()))]
    [18, 18, 36, 54, 18, 18, 36, 54, 252, 93, '0.00498']
    """
    hundredths = {
        name: np.rint(100 * column) for name, column in agreement.select_dtypes("number").items()
    }
    equal, rows = "computed from the released ratings, equal to two decimals", []

    def count(key: str, same: pd.Series, method: str) -> None:
        shown = {"n": len(same), "unit": "published values", "method": method}
        rows.append({"key": f"kumar_{key}", "estimate": int(same.sum())} | shown)

    same, apart = {}, []
    for measure, title in {"spearman": "Spearman", "kappa": "kappa"}.items():
        same[measure] = hundredths[measure] == hundredths[f"{measure}_published"]
        apart.append((agreement[f"{measure}_published"] - agreement[measure]).abs().max())
        for corpus in CORPORA:
            count(
                f"{measure}_{corpus}",
                same[measure][agreement["corpus"] == corpus],
                f"{title} {equal}",
            )
    both = pd.concat(same.values())
    count("values_reproduced", both, equal)
    by_steps = f"quadratic weights by {STEPS['scale']}, equal to two decimals"
    count("kappa_steps_equal", hundredths["kappa_scale"] == hundredths["kappa_published"], by_steps)
    largest = {
        "key": "kumar_largest_difference",
        "estimate": f"{max(apart):.5f}",
        "n": len(both),
        "unit": "Spearman's rho or weighted kappa",
        "method": "largest absolute difference of a published and a computed value, before rounding",
    }
    return [*rows, largest]


def _words(question: str) -> str:
    return "cared for" if question == "caredfor" else question.replace("_", " ")


# Statistics of every question and resample


class CorpusBootstrap(ConversationBootstrap):
    """Bootstrap resamples of conversations within each corpus, each conversation with all ratings of it.

    The corpora were chosen by the authors, and each has as many conversations in every resample as it has. Corpora are
    resampled independently of each other.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns; only corpus and conversation are used.
    draws, seed, confidence
        As for :class:`sense7.estimators.bootstrap.ParticipantBootstrap`.

    Raises
    ------
    UserError
        If an argument is of another kind or out of range.

    Examples
    --------
    >>> bootstrap = CorpusBootstrap(ratings(), draws=1000, seed=1)
    >>> bootstrap.description
    '95% percentile interval, 1,000 resamplings of conversations within each corpus'
    >>> bootstrap.weights().shape
    (1000, 200)
    """

    def __init__(
        self, judged: pd.DataFrame, draws: int = 10_000, seed: int = 0, confidence: float = 0.95
    ):
        object.__setattr__(
            self, "corpora", dict(iter(judged.groupby("corpus", sort=False)["conversation"]))
        )
        super().__init__(judged["conversation"], draws, seed, confidence)

    @cached_property
    def _weights(self) -> np.ndarray:
        table = np.zeros((self.draws, len(self.names)))
        for number, conversations in enumerate(self.corpora.values()):
            # No two corpora, nor two seeds, share their random numbers.
            own = ConversationBootstrap(
                conversations, self.draws, len(self.corpora) * int(self.seed) + number
            )
            table[:, self.codes(own.names)] = own.weights()
        return table

    def describe(self, scale=None) -> str:
        """Kind of interval, in words."""
        return f"{super().describe(scale)} within each corpus"


@dataclass(frozen=True, eq=False)
class ByQuestion:
    """A statistic: rater -> corpus and question -> an array of 1 + draws numbers."""

    drawn: Mapping[str, Mapping[tuple[str, str], np.ndarray]]
    bootstrap: CorpusBootstrap
    key: str  # with places for rater and row
    unit: str
    method: str
    keyed: tuple[str, ...] = ("all",)  # rows that are recorded

    def mean(self, rater: str, corpora=CORPORA) -> np.ndarray:
        """Mean over the questions of these corpora."""
        return np.mean(
            [values for (corpus, _), values in self.drawn[rater].items() if corpus in corpora],
            axis=0,
        )

    def number(
        self, label: str, statistic: np.ndarray, key: str = "", corpora=CORPORA, **words
    ) -> Number:
        """A number of the conversations of these corpora."""
        about = {"unit": self.unit, "method": self.method} | words
        rows = pd.Index(pd.concat([self.bootstrap.corpora[corpus] for corpus in corpora]).unique())
        constant = "one of two raters gives every conversation the same rating"
        return Number(
            label, partial(np.asarray, statistic), rows=rows, key=key, undefined=constant, **about
        )

    def minus(self, pairs) -> "ByQuestion":
        """Paired differences of raters, on the same conversations of every resample."""
        values = {
            f"{a}_minus_{b}": {
                asked: self.drawn[a][asked] - self.drawn[b][asked] for asked in self.drawn[a]
            }
            for a, b in pairs
        }
        return replace(self, drawn=values, method=f"difference of {self.method}")

    def by_corpus(self) -> dict[str, pd.DataFrame]:
        """Rater, in words -> table of estimates: mean over each corpus's questions, and over all questions."""
        method, found = f"mean over questions: {self.method}", {}
        for rater, values in self.drawn.items():
            corpora = list(dict.fromkeys(corpus for corpus, _ in values))
            numbers = [
                self.number(
                    ALL if row == "all" else CORPORA[row],
                    self.mean(rater, own),
                    self.key.format(rater=rater, row=row) if row in self.keyed else "",
                    own,
                    method=method,
                )
                for row, own in {
                    **{corpus: (corpus,) for corpus in corpora},
                    "all": corpora,
                }.items()
            ]
            found[_title(rater)] = tabulate("corpus", numbers, self.bootstrap)
        return found

    def by_question(self) -> dict[str, dict[str, pd.DataFrame]]:
        """Corpus -> rater -> table of estimates with one row per question, each in words; none is recorded."""
        found = {CORPORA[corpus]: {} for corpus in self.bootstrap.corpora}
        for rater, values in self.drawn.items():
            for corpus in self.bootstrap.corpora:
                numbers = [
                    self.number(_words(question), numbers, corpora=(corpus,))
                    for (of, question), numbers in values.items()
                    if of == corpus
                ]
                found[CORPORA[corpus]][_title(rater)] = tabulate(
                    "question", numbers, self.bootstrap
                )
        return found


def _title(rater: str) -> str:
    return " minus ".join(NAMES[one] for one in rater.split("_minus_"))


def by_question(judged: pd.DataFrame, bootstrap: CorpusBootstrap) -> dict[str, ByQuestion]:
    """Return every statistic on every question, in the data and in every resample.

    Returns
    -------
    dict of str to ByQuestion
        agreement (with the median of three experts), level, left_out (Spearman's rho with two experts), error (distance
        from them); advantage, rate and published_rate of the alternative annotator test, _experts and _person; kappa
        and alpha.

    Examples
    --------
    >>> judged = ratings()
    >>> found = by_question(judged, CorpusBootstrap(judged, draws=100, seed=1))
    >>> rate = found["rate_experts"].drawn["gpt"]["empatheticdialogues", "empathy"]
    >>> rate.shape, float(rate[0])
    ((101,), 0.0)
    """
    weights = np.vstack([np.ones((1, len(bootstrap.names))), bootstrap.weights()])
    found = defaultdict(lambda: defaultdict(dict))
    p = defaultdict(lambda: defaultdict(dict))
    for asked, group in judged.groupby(["corpus", "question"], sort=False):
        w = weights[:, bootstrap.codes(group["conversation"])]
        s = {
            name: group[name].to_numpy(dtype=float)
            for name in (*EXPERTS, *RATERS, "experts", "jury")
        }
        targets = {
            f"without_{e}": np.mean([s[f] for f in EXPERTS if f != e], axis=0) for e in EXPERTS
        }
        columns, places = s | targets, {name: place for place, name in enumerate(s | targets)}
        several = [*RATERS, "jury"]
        pairs = [(rater, "experts") for rater in RATERS]
        pairs += [(rater, f"without_{e}") for e in EXPERTS for rater in (e, *several)]
        spearman = spearmans_in_draws(
            list(columns.values()), [(places[a], places[b]) for a, b in pairs], w
        )
        rho = dict(zip(pairs, spearman.T, strict=True))
        width = (group["highest"] - group["lowest"]).to_numpy(dtype=float)
        experts = np.column_stack([s[e] for e in EXPERTS])
        mean = lambda values, w=w: w @ values / w.sum(axis=1)  # noqa: E731
        own = lambda rater, e: e if rater == "expert" else rater  # noqa: E731

        for rater in RATERS:
            found["agreement"][rater][asked] = rho[rater, "experts"]
            found["level"][rater][asked] = mean((s[rater] - experts.mean(axis=1)) / width)
        for rater in ("expert", *several):
            found["left_out"][rater][asked] = np.mean(
                [rho[own(rater, e), f"without_{e}"] for e in EXPERTS], axis=0
            )
        for rater in ("expert", *JUDGES):
            errors = [np.abs(s[own(rater, e)] - targets[f"without_{e}"]) for e in EXPERTS]
            found["error"][rater][asked] = mean(np.mean(errors, axis=0) / width)
        kinds = {"experts": None}
        if group[PERSON].notna().all():
            kinds["person"] = group[PERSON].to_numpy(dtype=float)
        for kind, reference in kinds.items():
            for judge in JUDGES:
                test = alternative_test(wins(s[judge], experts, reference), EPSILON, w)
                found[f"advantage_{kind}"][judge][asked] = test.advantage.mean(axis=-1)
                found[f"published_rate_{kind}"][judge][asked] = winning_rate(
                    benjamini_yekutieli(test.p), test.p
                )
                p[kind][judge][asked] = test.p
        for a, b in [*combinations(EXPERTS, 2), ("experts", "gemini")]:
            found["kappa"][f"{a} {b}"][asked] = quadratic_kappa(s[a], s[b], w, steps="occurring")
        models = agreement_sums(np.stack([s[judge] for judge in JUDGES]))
        found["alpha"]["models"][asked] = krippendorff_alpha(w @ models)

    for kind, judges in p.items():
        for judge, tests in judges.items():
            each = np.concatenate(list(tests.values()), axis=-1)
            rejected = np.split(benjamini_yekutieli(each), len(tests), axis=-1)
            found[f"rate_{kind}"][judge] = {
                asked: winning_rate(decided, tests[asked])
                for asked, decided in zip(tests, rejected, strict=True)
            }
    left_out = "with the mean of two experts, the third left out, averaged over the three"
    closer = {
        "experts": "the other two as the expert left out",
        "person": "the person's own rating as an expert",
    }
    advantage = "average advantage probability: share of conversations on which the model is at least as close to"
    rate = f"winning rate at epsilon {EPSILON:g}, Benjamini-Yekutieli"
    ours, test, everywhere = "three_judges", "alternative", ("all", *CORPORA)
    declared = {
        "agreement": (ours, RHO, "Spearman's rho with the median of three experts", everywhere),
        "level": (ours, RANGE, "mean rating minus that of three experts", everywhere),
        "left_out": (ours, RHO, f"{RHO} {left_out}"),
        "error": (ours, RANGE, f"mean absolute error {left_out}"),
        "kappa": ("", "weighted kappa", f"kappas, quadratic weights by {STEPS['occurring']}"),
        "alpha": (
            "",
            "alpha",
            "Krippendorff's alpha (interval) of three models, mean over questions",
        ),
    }
    for kind, than in closer.items():
        declared[f"advantage_{kind}"] = test, "share of conversations", f"{advantage} {than}"
        for beginning, tests in CORRECTED.items():
            method = f"{rate} {tests}; {than}"
            declared[f"{beginning}rate_{kind}"] = test, "share of experts", method
    return {
        name: ByQuestion(found[name], bootstrap, f"{begin}_{name}_{{rater}}_{{row}}", *words)
        for name, (begin, *words) in declared.items()
    }


# The page's tables


@finding
def tables(judged: pd.DataFrame, bootstrap: CorpusBootstrap) -> dict[str, dict[str, pd.DataFrame]]:
    """Return all tables of the page.

    Of experts and models the authors give the median kappa of two experts and of the experts' median with the model,
    which are not alike: the median of three experts is steadier than one expert, which favors the model.

    Returns
    -------
    dict of str to dict of str to DataFrame
        Tables of estimates: by corpus of each rater (agreement, level, left_out, gaps, error; advantage and rate of
        experts and person), on each question of the corpora (questions), the accuracy of the judges by the SENSE-7
        authors' evaluation (accuracy), and single ones (more).

    Examples
    --------
    >>> judged = ratings()
    >>> found = tables(judged, CorpusBootstrap(judged, draws=100, seed=1))
    >>> found["left_out"]["GPT-4o"]["estimate"].round(2).iloc[-1]
    np.float64(0.56)
    """
    q = by_question(judged, bootstrap)
    near, kappa = q["left_out"], q["kappa"]
    shown = replace(near, drawn={rater: near.drawn[rater] for rater in ("expert", *RATERS)})
    q |= {"left_out": shown, "gaps": near.minus((judge, "expert") for judge in JUDGES)}
    found = {name: each.by_corpus() for name, each in q.items() if name not in {"kappa", "alpha"}}
    found["questions"] = replace(
        q["agreement"], drawn={j: q["agreement"].drawn[j] for j in JUDGES}
    ).by_question()

    scores = _scores(judged)
    known = {
        "ground_truth": scores[list(EXPERTS)].to_numpy().ravel(),
        "participant": np.repeat(scores.index, 3),
    }
    found["accuracy"] = {
        model: run_metrics(
            pd.DataFrame(known | {"score": np.repeat(scores[judge].to_numpy(), 3)}), bootstrap
        )
        .loc[["accuracy"]]
        .assign(unit="share of experts' scores", key=f"three_judges_lend_an_ear_{judge}_accuracy")
        for judge, model in JUDGES.items()
    }

    medians = []
    for key, label, chosen in (
        (
            "kumar_expert_expert_kappa",
            "two experts",
            [pair for pair in kappa.drawn if "experts " not in pair],
        ),
        ("kumar_expert_llm_kappa", f"experts (median) and {JUDGES['gemini']}", ["experts gemini"]),
    ):
        values = [each for pair in chosen for each in kappa.drawn[pair].values()]
        method = f"median of {len(values):,} {kappa.method}"
        medians.append(kappa.number(label, np.median(values, axis=0), key, method=method))

    mean = {rater: near.mean(rater) for rater in near.drawn}
    best = max(JUDGES, key=lambda judge: rounded(mean[judge][0]))
    differ = f"mean over questions: difference of {near.method}"
    pairs = {f"{a}_minus_{b}": mean[a] - mean[b] for a, b in combinations(JUDGES, 2)}
    differences = [
        near.number(_title(pair), apart, f"real_difference_spearman_{pair}", method=differ)
        for pair, apart in pairs.items()
    ]
    p = [resampled_p(apart[1:]) for apart in pairs.values()]
    gained = partial(near.number, method=f"gain of the jury, mean over questions: {near.method}")
    of_members = np.mean([mean[judge] for judge in JUDGES], axis=0)
    over = f"jury minus the best model ({JUDGES[best]})"
    gains = [
        gained(over, mean["jury"] - mean[best], "real_jury_mean_over_best_spearman"),
        gained(
            "jury minus the mean model",
            mean["jury"] - of_members,
            "real_jury_mean_over_mean_spearman",
        ),
    ]
    same = "the models give the same rating everywhere on a question"
    alpha = q["alpha"].number("alpha of three models", q["alpha"].mean("models"), "real_jury_alpha")
    found["more"] = {
        "medians": tabulate("pair", medians, bootstrap),
        "differences": tabulate("difference", differences, bootstrap).assign(p=p, p_holm=holm(p)),
        "gains": tabulate("gain", gains, bootstrap),
        "alpha": tabulate("jury", [replace(alpha, undefined=same)], bootstrap),
    }
    for target in ("experts", "person"):
        for corrected in CORRECTED:
            for name, (epsilon, _) in EPSILONS.items():
                ending = ""
                if epsilon != EPSILON:
                    ending = f"_{name}"
                passed = f"{corrected}passed_{target}"
                table = _questions_passed(judged, bootstrap, target, epsilon, corrected)
                table["key"] = [f"alternative_{passed}_{judge}{ending}" for judge in JUDGES]
                found["more"][f"{passed}{ending}"] = table
    return found


def _questions_passed(
    judged: pd.DataFrame, bootstrap: CorpusBootstrap, target: str, epsilon: float, corrected: str
) -> pd.DataFrame:
    """On how many questions each model may take an expert's place; ``corrected`` is a key of `CORRECTED`."""
    numbers = []
    for judge, model in JUDGES.items():
        p = []
        for _, group in judged.groupby(["corpus", "question"], sort=False):
            reference = None
            if target == "person":
                reference = group[PERSON].to_numpy(dtype=float)
                if np.isnan(reference).any():
                    continue
            experts = group[list(EXPERTS)].to_numpy(dtype=float)
            p.append(alternative_test(wins(group[judge], experts, reference), epsilon).p)
        p = np.array(p)
        rejected = benjamini_yekutieli(p)
        if not corrected:
            rejected = benjamini_yekutieli(p.ravel()).reshape(p.shape)
        passed = rounded(winning_rate(rejected, p)) >= PASSED
        reason = "a count of decisions has no interval"
        counted = partial(Estimate, float(passed.sum()), reason=reason)
        method = (
            f"winning rate at epsilon {epsilon:g} of at least {PASSED:g}, Benjamini-Yekutieli "
            f"{CORRECTED[corrected]}"
        )
        numbers.append(Number(model, counted, "questions", method, pd.Index(passed)))
    return tabulate("model", numbers, bootstrap)


def _scores(judged: pd.DataFrame) -> pd.DataFrame:
    """Mean by each rater of three questions near to dimensions of SENSE-7, one row per conversation of Lend an Ear."""
    questions = [question.replace(" ", "_") for question in STAND_INS.values()]
    chosen = judged[(judged["corpus"] == "lend_an_ear") & judged["question"].isin(questions)]
    return chosen.groupby("conversation", sort=False)[[*EXPERTS, *JUDGES]].mean()


@finding
def facts(judged: pd.DataFrame, tables: Mapping[str, Mapping[str, pd.DataFrame]]) -> list[dict]:
    """Return what the page counts, and says in words of each judge, as arguments of ``Recorder.value``."""
    conversations, questions = (
        judged["conversation"].nunique(),
        len(judged.drop_duplicates(["corpus", "question"])),
    )
    of = "in the released ratings"
    rows = [
        (
            "conversations",
            conversations,
            conversations,
            "conversations",
            f"rated by all seven raters {of}",
        ),
        ("questions", questions, questions, "questions", f"over the four corpora {of}"),
        ("models", ", ".join(JUDGES.values()), len(JUDGES), "models", f"as named {of}"),
    ]
    for judge in JUDGES:
        row = tables["gaps"][_title(f"{judge}_minus_expert")].loc[ALL]
        low, high = rounded(row["low"]), rounded(row["high"])
        side = "lower than" if high < 0 else "higher than" if low > 0 else "not distinguished from"
        words = "no verdict without an interval" if np.isnan(low) else f"{side} the expert"
        rows.append((f"standing_{judge}", words, int(row["n"]), "verdict", row["method"]))
    columns = ("key", "estimate", "n", "unit", "method")
    found = [dict(zip(columns, (f"three_judges_{key}", *rest), strict=True)) for key, *rest in rows]
    for name, (epsilon, raters) in EPSILONS.items():
        found.append(
            {
                "key": f"alternative_{name}",
                "estimate": epsilon,
                "n": questions,
                "unit": "share of conversations",
                "method": f"set: the value that the authors of the test advise for {raters}",
            }
        )
    return found
