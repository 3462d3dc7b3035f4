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
The alternative annotator test is described in :mod:`sense7.statistics.alternative_annotator`. As its authors have it,
each question is a data set, and p values are corrected over its three experts. Its decisions are made again in every
resample. Statistics are averaged over questions.

References
----------
Kumar, A., and others (2025). arXiv 2506.10150; ``annotations/all_annotator_pairs_spearman_kappa.csv``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from sense7.findings.core import Number, finding, tabulate, value_row
from sense7.judge.files import Run
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
from sense7.statistics.alternative_annotator import (
    alternative_test,
    winning_rate,
    wins,
)
from sense7.statistics.bootstrap import ParticipantBootstrap, resampled_p
from sense7.statistics.estimates import holm
from sense7.statistics.order import rounded
from sense7.statistics.ranks import spearman_in_draws
from sense7.statistics.rater_agreement import STEPS, quadratic_kappa
from sense7.statistics.weighted import weighted_mean

__all__ = [
    "ACKNOWLEDGEMENT",
    "agreement_table",
    "by_question",
    "corpus_bootstrap",
    "facts",
    "ratings",
    "reproduced",
    "sizes",
    "tables",
]

ACKNOWLEDGEMENT = RELEASED["judged_conversations"].acknowledgement
"""Whom to credit for the ratings, and under which licence they are."""

RATERS = (*JUDGES, CROWD)
NAMES = {**JUDGES, CROWD: "crowd", "expert": "expert left out", "jury": "jury"}
ALL = "all questions"
EPSILON = 0.2
"""What a model may be worse by than an expert: the value that the test's authors advise for experts."""

PASSED = 0.5
"""Winning rate from which on a model may replace the experts."""

CORRECTED = "Benjamini-Yekutieli over the three experts of each question"

RHO, RANGE = "Spearman's rho", "share of the scale's range"

_LEFT_OUT = "with the mean of two experts, the third left out, averaged over the three"
_ADVANTAGE = "average advantage probability: share of conversations on which the model is at least as close to"
_RATE = f"winning rate at epsilon {EPSILON:g}, {CORRECTED}"
_THIRD = "the other two as the expert left out"
_FOURTH = "the person's own rating as an expert"
_STATISTICS = {
    "agreement": ("three_judges", RHO, f"{RHO} with the median of three experts"),
    "level": ("three_judges", RANGE, "mean rating minus that of three experts"),
    "left_out": ("three_judges", RHO, f"{RHO} {_LEFT_OUT}"),
    "error": ("three_judges", RANGE, f"mean absolute error {_LEFT_OUT}"),
    "kappa": ("", "weighted kappa", f"kappas, quadratic weights by {STEPS['occurring']}"),
    "alpha": ("", "alpha", "Krippendorff's alpha (interval) of three models, mean over questions"),
    "advantage_experts": ("alternative", "share of conversations", f"{_ADVANTAGE} {_THIRD}"),
    "published_rate_experts": ("alternative", "share of experts", f"{_RATE}; {_THIRD}"),
    "advantage_person": ("alternative", "share of conversations", f"{_ADVANTAGE} {_FOURTH}"),
    "published_rate_person": ("alternative", "share of experts", f"{_RATE}; {_FOURTH}"),
}
"""Statistic on a question -> beginning of its keys, unit, method."""


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
        pair = row.first, row.second
        once_each = np.ones((1, len(group)))
        (rho,) = spearman_in_draws(group, [pair], once_each)[pair]
        (kappa,) = quadratic_kappa(first, second, once_each, steps="occurring")
        (kappa_scale,) = quadratic_kappa(first, second, once_each, steps="scale")
        rows.append({"spearman": rho, "kappa": kappa, "kappa_scale": kappa_scale, "n": len(group)})
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
    hundredths = agreement.select_dtypes("number").mul(100).round()
    equal = "computed from the released ratings, equal to two decimals"
    counted = {}  # key -> whether each value is reproduced, and how that was computed
    differences = []
    for measure, title in {"spearman": "Spearman", "kappa": "kappa"}.items():
        is_reproduced = hundredths[measure] == hundredths[f"{measure}_published"]
        differences.append((agreement[f"{measure}_published"] - agreement[measure]).abs().max())
        for corpus in CORPORA:
            in_corpus = agreement["corpus"] == corpus
            counted[f"{measure}_{corpus}"] = (is_reproduced[in_corpus], f"{title} {equal}")
    all_values = pd.concat([is_reproduced for is_reproduced, _ in counted.values()])
    counted["values_reproduced"] = (all_values, equal)
    counted["kappa_steps_equal"] = (
        hundredths["kappa_scale"] == hundredths["kappa_published"],
        f"quadratic weights by {STEPS['scale']}, equal to two decimals",
    )
    rows = []
    for key, (is_reproduced, method) in counted.items():
        count, n = int(is_reproduced.sum()), len(is_reproduced)
        unit = "number of published values"
        rows.append(value_row(f"kumar_{key}", count, n=n, unit=unit, method=method))
    largest = value_row(
        "kumar_largest_difference",
        f"{max(differences):.5f}",
        n=len(all_values),
        unit="Spearman's rho or weighted kappa",
        method="largest absolute difference of a published and a computed value, before rounding",
    )
    rows.append(largest)
    return rows


# Statistics of every question and resample


def corpus_bootstrap(
    judged: pd.DataFrame, draws: int = 10_000, seed: int = 0, confidence: float = 0.95
) -> ParticipantBootstrap:
    """Return bootstrap resamples of conversations within each corpus, each conversation with all ratings of it.

    The corpora were chosen by the authors, and each has as many conversations in every resample as it has.

    Parameters
    ----------
    judged : DataFrame
        What :func:`ratings` returns; only corpus and conversation are used.
    draws, seed, confidence
        As for :class:`sense7.statistics.bootstrap.ParticipantBootstrap`.

    Examples
    --------
    >>> bootstrap = corpus_bootstrap(ratings(), draws=1000, seed=1)
    >>> bootstrap.description
    '95% percentile interval, 1,000 resamplings of conversations within each corpus'
    >>> bootstrap.weights().shape
    (1000, 200)
    """
    return ParticipantBootstrap(
        judged["conversation"],
        draws,
        seed,
        confidence,
        unit="conversation",
        strata=judged["corpus"],
    )


@dataclass(frozen=True, eq=False)
class ByQuestion:
    """A statistic: rater -> corpus and question -> an array of 1 + draws numbers."""

    drawn: Mapping[str, Mapping[tuple[str, str], np.ndarray]]
    bootstrap: ParticipantBootstrap
    conversations: Mapping[str, pd.Series]  # by corpus
    key: str  # with places for rater and row
    unit: str
    method: str
    keyed: tuple[str, ...] = ("all",)  # rows that are recorded

    def mean(self, rater: str, corpora=CORPORA) -> np.ndarray:
        """Mean over the questions of these corpora."""
        statistics = []
        for (corpus, _), statistic in self.drawn[rater].items():
            if corpus in corpora:
                statistics.append(statistic)
        return np.mean(statistics, axis=0)

    def number(
        self, label: str, statistic: np.ndarray, key: str = "", corpora=CORPORA, method: str = ""
    ) -> Number:
        """A number of the conversations of these corpora; ``method`` if it is another."""
        conversations = pd.concat([self.conversations[corpus] for corpus in corpora])
        return Number(
            label,
            statistic,
            self.unit,
            method or self.method,
            pd.Index(conversations.unique()),
            key=key,
            undefined="one of two raters gives every conversation the same rating",
        )

    def minus(self, pairs) -> "ByQuestion":
        """Paired differences of raters, on the same conversations of every resample."""
        differences = {}
        for first, second in pairs:
            differences[f"{first}_minus_{second}"] = {
                question: self.drawn[first][question] - self.drawn[second][question]
                for question in self.drawn[first]
            }
        return replace(self, drawn=differences, method=f"difference of {self.method}")

    def by_corpus(self) -> dict[str, pd.DataFrame]:
        """Rater, in words -> table of estimates: mean over each corpus's questions, and over all questions."""
        method = f"mean over questions: {self.method}"
        tables = {}
        for rater, statistics in self.drawn.items():
            rows = {corpus: (corpus,) for corpus, _ in statistics}
            rows["all"] = tuple(rows)
            numbers = []
            for row, corpora in rows.items():
                label = ALL if row == "all" else CORPORA[row]
                key = self.key.format(rater=rater, row=row) if row in self.keyed else ""
                numbers.append(self.number(label, self.mean(rater, corpora), key, corpora, method))
            tables[_title(rater)] = tabulate("corpus", numbers, self.bootstrap)
        return tables

    def by_question(self) -> dict[str, dict[str, pd.DataFrame]]:
        """Corpus -> rater -> table of estimates with one row per question, each in words; none is recorded."""
        tables = {CORPORA[corpus]: {} for corpus in self.conversations}
        for rater, statistics in self.drawn.items():
            numbers = defaultdict(list)
            for (corpus, question), statistic in statistics.items():
                label = question.replace("_", " ").replace("caredfor", "cared for")
                number = self.number(label, statistic, corpora=(corpus,))
                numbers[corpus].append(number)
            for corpus, of_corpus in numbers.items():
                table = tabulate("question", of_corpus, self.bootstrap)
                tables[CORPORA[corpus]][_title(rater)] = table
        return tables


def _title(rater: str) -> str:
    return " minus ".join(NAMES[name] for name in rater.split("_minus_"))


def by_question(judged: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, ByQuestion]:
    """Return every statistic on every question, in the data and in every resample.

    Returns
    -------
    dict of str to ByQuestion
        agreement (with the median of three experts), level, left_out (Spearman's rho with two experts), error (distance
        from them); advantage and published_rate of the alternative annotator test, _experts and _person; kappa and
        alpha.

    Examples
    --------
    >>> judged = ratings()
    >>> statistics = by_question(judged, corpus_bootstrap(judged, draws=100, seed=1))
    >>> rate = statistics["published_rate_experts"].drawn["gpt"]["empatheticdialogues", "empathy"]
    >>> rate.shape, float(rate[0])
    ((101,), 0.0)
    """
    drawn = defaultdict(lambda: defaultdict(dict))
    for question, group in judged.groupby(["corpus", "question"], sort=False):
        question_weights = bootstrap.times_taken(group["conversation"])
        for statistic, rater, values in _agreement_of(group, question_weights):
            drawn[statistic][rater][question] = values
        experts = group[list(EXPERTS)].to_numpy(dtype=float)
        references = {"experts": None}
        if group[PERSON].notna().all():
            references["person"] = group[PERSON].to_numpy(dtype=float)
        for target, judge in product(references, JUDGES):
            is_closer = wins(group[judge].to_numpy(dtype=float), experts, references[target])
            test = alternative_test(is_closer, EPSILON, question_weights)
            rate = winning_rate(test.p)
            drawn[f"advantage_{target}"][judge][question] = test.advantage.mean(axis=-1)
            drawn[f"published_rate_{target}"][judge][question] = rate
    conversations = dict(iter(judged.groupby("corpus", sort=False)["conversation"]))
    statistics = {}
    for name, (prefix, unit, method) in _STATISTICS.items():
        key = f"{prefix}_{name}_{{rater}}_{{row}}"
        statistics[name] = ByQuestion(drawn[name], bootstrap, conversations, key, unit, method)
    for name in ("agreement", "level"):
        statistics[name] = replace(statistics[name], keyed=("all", *CORPORA))
    return statistics


def _agreement_of(
    group: pd.DataFrame, weights: np.ndarray
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Statistic, rater and 1 + draws numbers of one question, but for the alternative annotator test."""
    scores = {
        name: group[name].to_numpy(dtype=float) for name in (*EXPERTS, *RATERS, "experts", "jury")
    }
    for expert in EXPERTS:
        further = [scores[name] for name in EXPERTS if name != expert]
        scores[f"without_{expert}"] = np.mean(further, axis=0)
    pairs = [(rater, "experts") for rater in RATERS]
    for expert in EXPERTS:
        pairs += [(rater, f"without_{expert}") for rater in (expert, *RATERS, "jury")]
    rho = spearman_in_draws(scores, pairs, weights)
    width = (group["highest"] - group["lowest"]).to_numpy(dtype=float)

    expert_mean = np.column_stack([scores[expert] for expert in EXPERTS]).mean(axis=1)
    for rater in RATERS:
        yield "agreement", rater, rho[rater, "experts"]
        yield "level", rater, weighted_mean((scores[rater] - expert_mean) / width, weights)
    for rater in ("expert", *RATERS, "jury"):
        rhos, errors = [], []
        for expert in EXPERTS:
            name = expert if rater == "expert" else rater
            rhos.append(rho[name, f"without_{expert}"])
            errors.append(np.abs(scores[name] - scores[f"without_{expert}"]))
        yield "left_out", rater, np.mean(rhos, axis=0)
        if rater == "expert" or rater in JUDGES:
            yield "error", rater, weighted_mean(np.mean(errors, axis=0) / width, weights)
    for first, second in [*combinations(EXPERTS, 2), ("experts", "gemini")]:
        kappa = quadratic_kappa(scores[first], scores[second], weights, steps="occurring")
        yield "kappa", f"{first} {second}", kappa
    models = np.stack([scores[judge] for judge in JUDGES])
    yield "alpha", "models", krippendorff_alpha(models, weights)


def krippendorff_alpha(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Krippendorff's alpha for intervals in every draw, of scores with a row for each rater.

    It is one minus the variance within conversations over that of all scores. Krippendorff, K. (2004). Content
    Analysis: An Introduction to Its Methodology, chapter 11.
    """
    within = weighted_mean(scores.var(axis=0, ddof=1), weights)
    centered = scores - scores.mean()
    mean = weighted_mean(centered.mean(axis=0), weights)
    square = weighted_mean((centered**2).mean(axis=0), weights)
    n = len(scores) * weights.sum(axis=1)
    variance = (square - mean**2) * n / (n - 1)
    return 1 - within / np.where(variance > 1e-12, variance, np.nan)


# The page's tables


@finding
def tables(
    judged: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> dict[str, dict[str, pd.DataFrame]]:
    """Return all tables of the page.

    Of experts and models the authors give the median kappa of two experts and of the experts' median with the model,
    which are not alike: the median of three experts is steadier than one expert, which favors the model.

    Returns
    -------
    dict of str to dict of str to DataFrame
        Tables of estimates: by corpus of each rater (agreement, level, left_out, gaps, error; advantage and
        published_rate of experts and person), on each question of the corpora (questions), the accuracy of the judges
        by the SENSE-7 authors' evaluation (accuracy), and single ones (more).

    Examples
    --------
    >>> judged = ratings()
    >>> left_out = tables(judged, corpus_bootstrap(judged, draws=100, seed=1))["left_out"]
    >>> left_out["GPT-4o"]["estimate"].round(2).iloc[-1]
    np.float64(0.56)
    """
    statistics = by_question(judged, bootstrap)
    left_out = statistics["left_out"]
    kappa, alpha = statistics.pop("kappa"), statistics.pop("alpha")
    shown_raters = {rater: left_out.drawn[rater] for rater in ("expert", *RATERS)}
    statistics["left_out"] = replace(left_out, drawn=shown_raters)
    statistics["gaps"] = left_out.minus((judge, "expert") for judge in JUDGES)
    page_tables = {name: statistic.by_corpus() for name, statistic in statistics.items()}
    agreement = statistics["agreement"]
    by_judge = {judge: agreement.drawn[judge] for judge in JUDGES}
    page_tables["questions"] = replace(agreement, drawn=by_judge).by_question()
    page_tables["accuracy"] = _accuracies(judged, bootstrap)
    reason = "the models give the same rating everywhere on a question"
    of_models = alpha.number("alpha of three models", alpha.mean("models"), "real_jury_alpha")
    single_tables = {
        "medians": _median_kappas(kappa, bootstrap),
        **_compared(left_out, bootstrap),
        "alpha": tabulate("jury", [replace(of_models, undefined=reason)], bootstrap),
    }
    for target in ("experts", "person"):
        name = f"published_passed_{target}"
        single_tables[name] = _questions_passed(statistics[f"published_rate_{target}"], name)
    page_tables["more"] = single_tables
    return page_tables


def _accuracies(judged: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Model -> its accuracy on Lend an Ear, each expert's rating a ground truth of its own."""
    # Three questions near to dimensions of SENSE-7: their mean by each rater, one row per conversation.
    questions = [question.replace(" ", "_") for question in STAND_INS.values()]
    rows = judged[(judged["corpus"] == "lend_an_ear") & judged["question"].isin(questions)]
    scores = rows.groupby("conversation", sort=False)[[*EXPERTS, *JUDGES]].mean()
    tables = {}
    for judge, model in JUDGES.items():
        rated = scores.melt(judge, list(EXPERTS), value_name="ground_truth", ignore_index=False)
        rated = rated.reset_index().rename(columns={"conversation": "participant", judge: "score"})
        accuracy = run_metrics(Run.of(rated), bootstrap).loc[["accuracy"]]
        key = f"three_judges_lend_an_ear_{judge}_accuracy"
        tables[model] = accuracy.assign(unit="share of experts' scores", key=key)
    return tables


def _median_kappas(kappa: ByQuestion, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Median kappa over questions of two experts, and of the experts' median with Gemini."""

    def median(key: str, label: str, pairs: list[str]) -> Number:
        kappas = []
        for pair in pairs:
            kappas += kappa.drawn[pair].values()
        method = f"median of {len(kappas):,} {kappa.method}"
        return kappa.number(label, np.median(kappas, axis=0), key, method=method)

    of_experts = [f"{first} {second}" for first, second in combinations(EXPERTS, 2)]
    with_model = f"experts (median) and {JUDGES['gemini']}"
    numbers = [
        median("kumar_expert_expert_kappa", "two experts", of_experts),
        median("kumar_expert_llm_kappa", with_model, ["experts gemini"]),
    ]
    return tabulate("pair", numbers, bootstrap)


def _compared(left_out: ByQuestion, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Differences of each two models, with p values; what the mean of the three gains over the best and mean one."""
    means = {rater: left_out.mean(rater) for rater in (*JUDGES, "jury")}
    method = f"mean over questions: difference of {left_out.method}"
    differences, p = [], []
    for first, second in combinations(JUDGES, 2):
        pair = f"{first}_minus_{second}"
        difference = means[first] - means[second]
        key = f"real_difference_spearman_{pair}"
        differences.append(left_out.number(_title(pair), difference, key, method=method))
        p.append(resampled_p(difference[1:]))
    jury = means.pop("jury")
    best = max(JUDGES, key=lambda judge: rounded(means[judge][0]))
    means["mean"] = np.mean(list(means.values()), axis=0)
    method = f"gain of the jury, mean over questions: {left_out.method}"
    gains = []
    for name, model_key, model in (
        (f"the best model ({JUDGES[best]})", "best", best),
        ("the mean model", "mean", "mean"),
    ):
        key = f"real_jury_mean_over_{model_key}_spearman"
        gain = jury - means[model]
        gains.append(left_out.number(f"jury minus {name}", gain, key, method=method))
    return {
        "differences": tabulate("difference", differences, bootstrap).assign(p=p, p_holm=holm(p)),
        "gains": tabulate("gain", gains, bootstrap),
    }


def _questions_passed(rate: ByQuestion, name: str) -> pd.DataFrame:
    """On how many questions each model may take an expert's place, from its winning rates."""
    method = f"winning rate at epsilon {EPSILON:g} of at least {PASSED:g}, {CORRECTED}"
    numbers = []
    for judge, model in JUDGES.items():
        rates = np.array([statistic[0] for statistic in rate.drawn[judge].values()])
        passed = rounded(rates) >= PASSED
        number = Number(
            label=model,
            statistic=float(passed.sum()),
            unit="number of questions",
            method=method,
            rows=pd.Index(passed),
            key=f"alternative_{name}_{judge}",
            note="a count of decisions has no interval",
        )
        numbers.append(number)
    return tabulate("model", numbers, rate.bootstrap)


@finding
def facts(judged: pd.DataFrame, tables: Mapping[str, Mapping[str, pd.DataFrame]]) -> list[dict]:
    """Return what the page counts, and says in words of each judge, as arguments of ``Recorder.value``."""
    conversations = judged["conversation"].nunique()
    questions = len(judged.drop_duplicates(["corpus", "question"]))
    rows = [
        value_row(
            "three_judges_conversations",
            conversations,
            n=conversations,
            unit="number of conversations",
            method="rated by all seven raters in the released ratings",
        ),
        value_row(
            "three_judges_questions",
            questions,
            n=questions,
            unit="number of questions",
            method="over the four corpora in the released ratings",
        ),
        value_row(
            "three_judges_models",
            ", ".join(JUDGES.values()),
            n=len(JUDGES),
            unit="models",
            method="as named in the released ratings",
        ),
        value_row(
            "alternative_epsilon",
            EPSILON,
            n=questions,
            unit="share of conversations",
            method="set: the value that the authors of the test advise for experts",
        ),
    ]
    for judge in JUDGES:
        row = tables["gaps"][_title(f"{judge}_minus_expert")].loc[ALL]
        low, high = rounded(row["low"]), rounded(row["high"])
        if np.isnan(low):
            standing = "no verdict without an interval"
        elif high < 0:
            standing = "lower than the expert"
        elif low > 0:
            standing = "higher than the expert"
        else:
            standing = "not distinguished from the expert"
        key = f"three_judges_standing_{judge}"
        n, method = int(row["n"]), row["method"]
        rows.append(value_row(key, standing, n=n, unit="verdict", method=method))
    return rows
