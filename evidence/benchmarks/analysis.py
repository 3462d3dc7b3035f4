"""Reading and statistics, beside the data frames, loops and models that one would write otherwise."""

import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from measuring import ROOT, Counts, Row, in_turn, timed
from sense7.estimators import alpha as alpha_module
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.effect_size import cohens_d
from sense7.estimators.mixed import fit_nested, nested_sums
from sense7.estimators.ranks import spearman_in_draws
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.findings import measures
from sense7.findings.conditions import condition_pairs
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook

DRAWS = 10_000
TOLERANCE_OF_VARIANCES = 1e-4  # squared levels; both stop their search where the likelihood hardly rises


def embedded() -> Study:
    """The study of the embedded workbook."""
    return read_workbook(ROOT / "data" / "synthetic.xlsx")


# --- reading ---------------------------------------------------------------------------


def reading(counts: Counts) -> list[Row]:
    """The workbook to validated frames, beside its bare sheets."""
    path = ROOT / "data" / "synthetic.xlsx"

    def theirs() -> dict[str, pd.DataFrame]:
        return {sheet: pd.read_excel(path, sheet_name=sheet, engine="openpyxl") for sheet in ("Tasks", "Messages")}

    study, sheets = read_workbook(path), theirs()
    assert study.conversations["conversation"].tolist() == sheets["Tasks"]["TaskId"].astype(str).tolist()
    assert study.messages["content"].fillna("").tolist() == sheets["Messages"]["Content"].fillna("").tolist()
    row = Row(
        "reading",
        "workbook to validated frames",
        "pandas.read_excel with openpyxl, two sheets, no validation",
        "6 times as fast",
        ratio_at_least=6,
    )
    return [in_turn(row, lambda: read_workbook(path), theirs, counts.pairs)]


# --- ground truth ----------------------------------------------------------------------


def loop_ground_truth(turns: pd.DataFrame, conversations: pd.Series) -> list[float]:
    """A filter for each conversation, and loops over its turns and dimensions, as in the authors' scripts."""
    truths = []
    for conversation in conversations:
        means = []
        for _, turn in turns[turns["conversation"] == conversation].iterrows():
            rated = [turn[name] for name in DIMENSION_NAMES if not np.isnan(turn[name])]
            if rated:
                means.append(np.mean(rated))
        truths.append(np.mean(means) if means else np.nan)
    return truths


def many(study: Study, times: int) -> tuple[pd.DataFrame, pd.Series]:
    """Turns and conversations of so many studies side by side, with names of their own."""
    turns = study.turns[["conversation", *DIMENSION_NAMES]]
    names = study.conversations["conversation"]
    copies = [turns.assign(conversation=f"{number} " + turns["conversation"]) for number in range(times)]
    return pd.concat(copies, ignore_index=True), pd.concat([f"{number} " + names for number in range(times)])


def truths(counts: Counts) -> list[Row]:
    """Ground truth of all conversations; and how its time grows with their number."""
    study = embedded()
    few = study.conversations["conversation"].head(counts.of(len(study.conversations), 5))
    turns = study.turns[study.turns["conversation"].isin(few)]
    ours, theirs = partial(ground_truth, turns, few), partial(loop_ground_truth, turns, few)
    np.testing.assert_allclose(ours().to_numpy(), theirs(), rtol=1e-12)
    row = Row(
        "ground_truth",
        "ground truth of all conversations",
        "a filter for each conversation, loops over turns and dimensions, as the authors do",
        "100 times as fast",
        ratio_at_least=100,
    )
    growth = Row(
        "ground_truth_growth",
        "growth of its time from 10 to 100 times the conversations (67,200)",
        "",
        "linear: an exponent of 1, at most 1.1",
        at_most=1.1,
        unit="exponent",
    )
    small, large = (partial(ground_truth, *many(study, times)) for times in ((1, 2) if counts.tiny else (10, 100)))
    small(), large()
    factor = math.log(counts.of(10, 2))
    growth.ours = [math.log(timed(large) / timed(small)) / factor for _ in range(counts.pairs)]
    return [in_turn(row, ours, theirs, counts.pairs), growth]


# --- bootstrap -------------------------------------------------------------------------


class Bootstrapped:
    """Six statistics of a study with their intervals, by the library and from copied rows."""

    def __init__(self, study: Study):
        self.study = study
        self.turns = measures.turn_ratings(study)
        self.groups = dict(list(self.turns.groupby(level=0)))
        self.first, self.second = next(iter(condition_pairs(study).values()))
        both = study.turns.set_index("participant")[["Affective", "overall"]].dropna()
        self.both = both.astype(int)
        self.frame = conversation_ratings(study).set_index("participant")[["condition", "ground_truth"]].dropna()
        # A judge that is one level off every so often.
        noise = np.random.default_rng(1).normal(scale=0.7, size=len(self.frame))
        self.frame["score"] = labels(self.frame["ground_truth"] + noise)

    def bootstrap(self, draws: int) -> ParticipantBootstrap:
        """New resamples of participants."""
        return ParticipantBootstrap(self.study.conversations["participant"], draws=draws, seed=1)

    def ours(self, draws: int) -> dict[str, tuple[float, float]]:
        """Limits of the six statistics, each from sums per participant."""
        bootstrap, people = self.bootstrap(draws), pd.Series(self.frame.index)
        truth, score, ones = self.frame["ground_truth"].to_numpy(), self.frame["score"].to_numpy(), np.ones(len(people))
        groups = np.column_stack([self.frame["condition"] == name for name in (self.first, self.second)]).astype(float)
        moments = groups[:, :, None] * np.column_stack([ones, truth, truth**2])[:, None, :]
        counts = np.zeros((len(self.both), 5, 5))
        counts[np.arange(len(counts)), self.both["Affective"] - 1, self.both["overall"] - 1] = 1
        hits = np.column_stack([labels(truth) == score, ones])
        codes = bootstrap.names.get_indexer(people)
        rho = bootstrap.in_every_draw(lambda weights: spearman_in_draws(truth, score, weights, codes))
        alpha = alpha_module.alpha_row(self.turns, bootstrap, interval="percentile")
        return {
            "alpha": (alpha["low"], alpha["high"]),
            "difference": bootstrap.estimate(difference, moments, people)[1:3],
            "d": bootstrap.estimate(cohens_d, moments, people)[1:3],
            "kappa": bootstrap.estimate(weighted_kappa, counts, pd.Series(self.both.index))[1:3],
            "Spearman": bootstrap.interval(rho, people)[:2],
            "accuracy": bootstrap.estimate(ratio, hits, people)[1:3],
        }

    def copied(self, draws: int) -> dict[str, tuple[float, float]]:
        """The same limits from the rows of each draw's participants, copied out."""
        found: dict[str, list[float]] = {}
        bootstrap = self.bootstrap(draws)
        for weights in bootstrap.weights().astype(int):
            names = np.repeat(bootstrap.names.to_numpy(), weights)
            turns, both, frame = (rows_of(table, names) for table in (self.turns, self.both, self.frame))
            one, other = (frame.loc[frame["condition"] == name, "ground_truth"] for name in (self.first, self.second))
            pooled = ((len(one) - 1) * one.var() + (len(other) - 1) * other.var()) / (len(one) + len(other) - 2)
            values = {
                "alpha": float(alpha_module.alpha_from_covariances(turns.cov().to_numpy())),
                "difference": one.mean() - other.mean(),
                "d": (one.mean() - other.mean()) / math.sqrt(pooled),
                "kappa": cohen_kappa_score(both["Affective"], both["overall"], weights="linear"),
                "Spearman": stats.spearmanr(frame["ground_truth"], frame["score"]).statistic,
                "accuracy": (labels(frame["ground_truth"]) == frame["score"]).mean(),
            }
            for name, value in values.items():
                found.setdefault(name, []).append(value)
        return {name: tuple(np.quantile(drawn, [0.025, 0.975])) for name, drawn in found.items()}

    def alpha_only(self, draws: int) -> np.ndarray:
        """Alpha alone, by copying rows; they are grouped beforehand, since only a draw's cost may be multiplied."""
        groups, names, generator = self.groups, list(self.groups), np.random.default_rng(1)
        alphas = []
        for _ in range(draws):
            rows = pd.concat([groups[names[code]] for code in generator.integers(len(names), size=len(names))])
            alphas.append(alpha_module.alpha_from_covariances(rows.cov().to_numpy()))
        return np.quantile(alphas, [0.025, 0.975])


def difference(sums: np.ndarray) -> np.ndarray:
    """Of two groups' means, from n, sum and sum of squares of each."""
    means = sums[..., 1] / sums[..., 0]
    return means[..., 0] - means[..., 1]


def rows_of(table: pd.DataFrame, names: np.ndarray) -> pd.DataFrame:
    """Rows of each name, as often as it is named."""
    groups = dict(list(table.groupby(level=0)))
    return pd.concat([groups[name] for name in names if name in groups])


def bootstrap(counts: Counts) -> list[Row]:
    """Six statistics with 10,000 draws, beside one statistic from copied rows."""
    both, same = Bootstrapped(embedded()), counts.of(40, 8)
    ours, theirs = both.ours(same), both.copied(same)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, err_msg=name)
    draws, few = counts.of(DRAWS, 20), counts.of(200, 2)
    row = Row(
        "bootstrap",
        f"intervals of alpha, difference, d, kappa, Spearman and accuracy, {draws:,} resamples of participants",
        f"copying rows of data frames, alpha alone ({few} draws timed, and multiplied)",
        "300 times as fast, and exact",
        ratio_at_least=300,
        note=f"Limits from the same {same} draws were equal for each statistic.",
    )
    return [in_turn(row, lambda: both.ours(draws), lambda: both.alpha_only(few), counts.pairs, share=few / draws)]


# --- variance --------------------------------------------------------------------------


def variance(counts: Counts) -> list[Row]:
    """Variance parts of turns: participant, participant by condition, conversation, turn."""
    study = embedded()
    frame = study.turns[["participant", "condition", "conversation"]].copy()
    frame["y"] = study.turns[list(DIMENSION_NAMES)].mean(axis=1).astype(float)
    frame = frame.dropna()
    if counts.tiny:
        frame = frame[frame["participant"].isin(frame["participant"].unique()[:30])]
    names = sorted(frame["condition"].unique())

    def ours() -> np.ndarray:
        design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
        sums = nested_sums(
            frame["y"].to_numpy(), design, frame["participant"], frame["condition"], frame["conversation"]
        )
        return fit_nested(sums).variances

    def theirs() -> np.ndarray:
        parts = {"1 condition": "0 + C(condition)", "2 conversation": "0 + C(conversation)"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its optimiser, where a variance is nearly zero
            effects = {"groups": frame["participant"], "re_formula": "1", "vc_formula": parts}
            model = smf.mixedlm("y ~ 0 + condition", frame, **effects)
            fit = model.fit(reml=True, method="lbfgs")
        return np.array([fit.cov_re.iloc[0, 0], *fit.vcomp, fit.scale])

    np.testing.assert_allclose(ours(), theirs(), atol=TOLERANCE_OF_VARIANCES * (100 if counts.tiny else 1))
    row = Row(
        "variance",
        "variance parts of turns, one fit",
        "statsmodels MixedLM",
        "not slower",
        ratio_at_least=1,
        note=f"Variances were equal to {TOLERANCE_OF_VARIANCES:g} squared levels. "
        "lme4 (R), not measured here, takes about 0.2 s.",
    )
    return [in_turn(row, ours, theirs, counts.pairs)]


ENTRIES = {"reading": reading, "ground-truth": truths, "bootstrap": bootstrap, "variance": variance}
