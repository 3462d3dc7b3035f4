"""Three language models compared with each other on 200 real conversations, and the jury that they would form.

Data and statistics are those of :mod:`sense7.judge.scoring.three_judges`: each expert in turn is left out, the mean of
the other two is the target, and Spearman's correlation with it is averaged over the three targets and the 21 questions.
Two raters are subtracted on the same conversations of every resample.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import resampled_p
from sense7.estimators.estimates import estimate_row, estimate_table, holm
from sense7.judge.scoring.juries import Measured, agreement_sums, gains, krippendorff_alpha
from sense7.judge.scoring.three_judges import (
    ALL,
    DIFFERENCES,
    TITLES,
    ByQuestion,
    CorpusBootstrap,
    against_the_left_out_expert,
)
from sense7.sources.released import JUDGES

__all__ = ["agreement_among_models", "jury_gains", "model_differences", "nearness", "with_jury"]


def with_jury(judged: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with one more rater, ``jury``: the mean of the three models.

    Examples
    --------
    >>> from sense7.judge.scoring.three_judges import ratings
    >>> float(with_jury(ratings()).loc[0, "jury"].round(3))
    2.667
    """
    return judged.assign(jury=judged[list(JUDGES)].mean(axis=1))


def nearness(judged: pd.DataFrame, resampling: CorpusBootstrap) -> ByQuestion:
    """Return the correlations with two experts of the one left out, the three models and their jury.

    Parameters
    ----------
    judged : DataFrame
        What :func:`with_jury` returns.
    resampling : CorpusBootstrap
        Resamples of conversations.
    """
    return against_the_left_out_expert(judged, resampling, raters=(*JUDGES, "jury"))


def model_differences(near: ByQuestion) -> pd.DataFrame:
    """Return the paired differences of the three models over all questions, with p values corrected by Holm's rule.

    Parameters
    ----------
    near : ByQuestion
        What :func:`nearness` returns.

    Returns
    -------
    DataFrame
        Table of estimates with one row per pair, key, p and p_holm.
    """
    differences = near.minus(DIFFERENCES)
    tables = differences.by_corpus()
    rows = {pair: tables[pair].loc[ALL].to_dict() for pair in differences.estimates}
    drawn = differences.resamples.mean(axis=1)
    p = np.array([resampled_p(drawn[:, column]) for column in range(drawn.shape[1])])
    table = estimate_table(rows, "difference", {pair: f"real_difference_spearman_{pair}" for pair in rows})
    return table.rename(index=TITLES).assign(p=p, p_holm=holm(p))


def jury_gains(near: ByQuestion) -> pd.DataFrame:
    """Return what the mean of the three models adds to the best of them and to their mean.

    Parameters
    ----------
    near : ByQuestion
        What :func:`nearness` returns.

    Returns
    -------
    DataFrame
        Table of estimates, positive where the jury is nearer to the experts: one row for each that it is compared with.
    """
    measured = {
        rater: Measured(float(near.estimates[rater].mean()), near.resamples[..., column].mean(axis=1))
        for column, rater in enumerate(near.estimates)
    }
    members = {model: measured[model] for model in JUDGES}
    found = gains(measured["jury"], members, calls=len(members), of_runs=False)
    rows = {}
    for against, part in {"best": found.over_best, "mean": found.over_mean}.items():
        name = f"jury minus the best model ({JUDGES[found.best]})" if against == "best" else "jury minus the mean model"
        rows[name] = near.bootstrap.row(
            part.estimate,
            part.draws,
            near.bootstrap.judged["conversation"],
            unit=near.unit,
            method=f"gain of the jury, mean over questions: {near.method}",
            key=f"real_jury_mean_over_{against}_spearman",
        )
    return estimate_table(rows, "gain")


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
