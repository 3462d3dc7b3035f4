r"""Three language models compared with each other on 200 real conversations, and the jury that they would form.

Data and statistics are those of :mod:`sense7.judge.scoring.three_judges`: each expert in turn is left out, the mean of
the other two is the target, and a measure is averaged over the three targets and the 21 questions. Two measures are
compared: Spearman's correlation with the target, and the mean distance from it as a share of the scale's range. Two
raters are subtracted on the same conversations of every resample; Holm's rule is over the three pairs of one measure.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import resampled_p
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words
from sense7.estimators.multiplicity import holm
from sense7.judge.scoring.juries import RULES, Gain, Measured, agreement_sums, gains, jury_scores, krippendorff_alpha
from sense7.judge.scoring.three_judges import (
    ALL,
    DIFFERENCES,
    TITLES,
    ByQuestion,
    CorpusBootstrap,
    against_the_left_out_expert,
)
from sense7.sources.released import JUDGES

__all__ = [
    "MEASURES",
    "PANELS",
    "agreement_among_models",
    "gains_in_words",
    "jury_gains",
    "model_differences",
    "nearness",
    "panels",
    "with_juries",
]

MEASURES = {"spearman": "Spearman correlation", "error": "distance as a share of the range"}
"""Measure -> its name for readers; of the second, less is better."""

PANELS = {
    "spearman": "Spearman correlation: right of zero the first is nearer to the experts",
    "error": "distance: left of zero the first is nearer to the experts",
}
"""Measure -> title of the panel of differences."""

_DIFFERENCE_KEYS = {
    "spearman": {
        "gpt_minus_claude": "real_difference_spearman_gpt_minus_claude",
        "gpt_minus_gemini": "real_difference_spearman_gpt_minus_gemini",
        "claude_minus_gemini": "real_difference_spearman_claude_minus_gemini",
    },
    "error": {
        "gpt_minus_claude": "real_difference_error_gpt_minus_claude",
        "gpt_minus_gemini": "real_difference_error_gpt_minus_gemini",
        "claude_minus_gemini": "real_difference_error_claude_minus_gemini",
    },
}

_GAIN_KEYS = {
    "spearman": {
        "mean": ("real_jury_mean_over_best_spearman", "real_jury_mean_over_mean_spearman"),
        "median": ("real_jury_median_over_best_spearman", "real_jury_median_over_mean_spearman"),
        "majority": ("real_jury_majority_over_best_spearman", "real_jury_majority_over_mean_spearman"),
    },
    "error": {
        "mean": ("real_jury_mean_over_best_error", "real_jury_mean_over_mean_error"),
        "median": ("real_jury_median_over_best_error", "real_jury_median_over_mean_error"),
        "majority": ("real_jury_majority_over_best_error", "real_jury_majority_over_mean_error"),
    },
}
"""Measure -> rule -> keys of the gain over the best model, and over the mean of the three."""


def with_juries(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with three more raters: the juries of the three models.

    Parameters
    ----------
    judged : DataFrame
        What :func:`sense7.judge.scoring.three_judges.ratings` returns.

    Returns
    -------
    DataFrame
        With the columns jury_mean, jury_median and jury_majority, see :func:`sense7.judge.scoring.juries.jury_scores`.

    Examples
    --------
    >>> from sense7.judge.scoring.three_judges import ratings
    >>> judged = with_juries(ratings())
    >>> judged.loc[0, ["gpt", "claude", "gemini", "jury_median", "jury_majority"]].tolist()
    [3.0, 2.0, 3.0, 3.0, 3.0]
    """
    models = judged[list(JUDGES)].to_numpy(dtype=float).T
    return judged.assign(**{f"jury_{rule}": jury_scores(models, rule) for rule in RULES})


def nearness(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict[str, ByQuestion]:
    """Return both measures of the three models and their juries.

    Parameters
    ----------
    judged : DataFrame
        What :func:`with_juries` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.

    Returns
    -------
    dict
        Measure (``MEASURES``) -> raters expert, gpt, claude, gemini, jury_mean, jury_median, jury_majority.
    """
    raters = (*JUDGES, *(f"jury_{rule}" for rule in RULES))
    return {measure: against_the_left_out_expert(judged, resampling, measure, raters) for measure in MEASURES}


def model_differences(near: Mapping[str, ByQuestion]) -> dict[str, pd.DataFrame]:
    """Return the paired differences of the three models over all questions, with p values corrected by Holm's rule.

    Parameters
    ----------
    near : mapping
        What :func:`nearness` returns.

    Returns
    -------
    dict
        Measure -> table of estimates with one row per pair, key, p and p_holm.
    """
    tables = {}
    for measure, by_question in near.items():
        differences = by_question.minus(DIFFERENCES)
        tables_of_pairs = differences.by_corpus()
        rows = {pair: tables_of_pairs[pair].loc[ALL].to_dict() for pair in differences.estimates}
        drawn = differences.resamples.mean(axis=1)
        p = np.array([resampled_p(drawn[:, column]) for column in range(drawn.shape[1])])
        table = estimate_table(rows, "difference", _DIFFERENCE_KEYS[measure])
        tables[measure] = table.rename(index=TITLES).assign(p=p, p_holm=holm(p))
    return tables


def jury_gains(near: Mapping[str, ByQuestion]) -> pd.DataFrame:
    """Return what each jury of the three models adds to the best of them and to their mean.

    Parameters
    ----------
    near : mapping
        What :func:`nearness` returns.

    Returns
    -------
    DataFrame
        Table of estimates, positive where the jury is nearer to the experts: one row per measure, rule and member that
        it is compared with; with keys, and the columns measure, rule, against, per_call_low (one-sided limit of the
        gain per additional call, there are two of them), p (one-sided) and p_holm (over the rules, for each measure).
    """
    rows = {}
    for measure, by_question in near.items():
        for rule in RULES:
            found = _gain(by_question, measure, rule)
            for against, part, key in zip(
                (f"best ({JUDGES[found.best]})", "mean of the three"),
                (found.over_best, found.over_mean),
                _GAIN_KEYS[measure][rule],
                strict=True,
            ):
                rows[f"{MEASURES[measure]}: {rule} over {against}"] = _gain_row(by_question, part, key) | {
                    "measure": measure,
                    "rule": rule,
                    "against": against,
                }
    table = estimate_table(rows, "gain")
    table = table.assign(**{name: [row[name] for row in rows.values()] for name in ("measure", "rule", "against")})
    for name in ("per_call_low", "p"):
        table[name] = [row[name] for row in rows.values()]
    families = table.groupby(["measure", table["against"].str.startswith("best")], sort=False)["p"]
    return table.assign(p_holm=families.transform(lambda p: holm(p.to_numpy())))


def _gain(by_question: ByQuestion, measure: str, rule: str) -> Gain:
    measured = {
        rater: Measured(float(by_question.estimates[rater].mean()), by_question.resamples[..., column].mean(axis=1))
        for column, rater in enumerate(by_question.estimates)
    }
    members = {model: measured[model] for model in JUDGES}
    return gains(
        measured[f"jury_{rule}"], members, calls=len(members), of_runs=False, lower_is_better=measure == "error"
    )


def _gain_row(by_question: ByQuestion, part: Measured, key: str) -> dict:
    bootstrap = by_question.bootstrap
    method = f"gain of the jury, mean over questions: {by_question.method}"
    row = bootstrap.row(
        part.estimate, part.draws, bootstrap.judged["conversation"], unit=by_question.unit, method=method, key=key
    )
    per_call = part.draws[np.isfinite(part.draws)] / (len(JUDGES) - 1)
    low = float(np.quantile(per_call, 1 - bootstrap.confidence)) if len(per_call) else np.nan
    p = (1 + np.count_nonzero(per_call <= 0)) / (1 + len(per_call))
    return row | {"per_call_low": low, "p": p}


def panels(gains: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, tuple[float, ...]]]:
    """Panels of :func:`sense7.figures.forest`: measure -> gains of the juries, and the line at zero.

    Parameters
    ----------
    gains : DataFrame
        What :func:`jury_gains` returned.
    """
    shown = {}
    for measure, title in MEASURES.items():
        table = gains[gains["measure"] == measure]
        shown[f"gain, {title}"] = (table.set_index(table["rule"] + " over " + table["against"]), (0.0,))
    return shown


def gains_in_words(gains: pd.DataFrame) -> pd.DataFrame:
    """What :func:`jury_gains` returned as texts, with the limit per call and the verdict over the best model.

    Parameters
    ----------
    gains : DataFrame
        What :func:`jury_gains` returned.
    """
    calls = len(JUDGES) - 1
    verdicts = np.where(gains["per_call_low"] > 0, "above zero", "not shown to be above zero")
    return pd.DataFrame(
        {
            "gain": gains["estimate"].map("{:z.3f}".format),
            "interval": [f"{low:z.3f} to {high:z.3f}" for low, high in zip(gains["low"], gains["high"], strict=True)],
            "n": gains["n"].map("{:,}".format),
            "per additional call": (gains["estimate"] / calls).map("{:z.4f}".format),
            "at least": gains["per_call_low"].map("{:z.4f}".format),
            "p, Holm": gains["p_holm"].map(p_in_words),
            "gain per call": verdicts,
        },
        index=gains.index,
    )


def agreement_among_models(judged: pd.DataFrame, resampling: CorpusBootstrap) -> dict:
    """Return Krippendorff's alpha of the three models, mean over the questions, as a row of estimates to be recorded.

    Parameters
    ----------
    judged : DataFrame
        What :func:`sense7.judge.scoring.three_judges.ratings` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.
    """
    values, draws = [], []
    for (corpus, _), group in judged.groupby(["corpus", "question"], sort=False):
        sums = agreement_sums(group[list(JUDGES)].to_numpy(dtype=float).T)
        own = resampling.corpora[corpus]
        values.append(float(krippendorff_alpha(sums.sum(axis=0))))
        draws.append(own.distribution(krippendorff_alpha, sums, group["conversation"]))
    estimate, drawn = float(np.mean(values)), np.mean(draws, axis=0)
    method = "Krippendorff's alpha (interval) of three models, mean over questions"
    if not np.isfinite(estimate):
        reason = "the models give the same rating everywhere on a question"
        return estimate_row(n=judged["conversation"].nunique(), unit="alpha", method=method, reason=reason)
    return resampling.row(estimate, drawn, judged["conversation"], unit="alpha", method=method, key="real_jury_alpha")


check_arguments(globals())
