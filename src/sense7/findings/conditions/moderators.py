"""Characteristics of participants by conditions and contexts: whether different people rate different ones higher.

The unit is the participant. What a participant's own conversations say of a condition or context, compared with that
participant's mean, is related to what the participants' sheet says of them.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, pieces
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words
from sense7.estimators.least_squares import within
from sense7.estimators.multiplicity import holm
from sense7.findings.individualized.characteristics import ANSWERED, NO_SHEET, characteristic_columns
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["Moderation", "moderation"]

CONTEXTS = {
    "condition": "condition",
    "topic": "topic",
    "importance": "importance",
    "desired_empathy": "desired empathy",
}
"""Column by which a characteristic may moderate ratings -> words."""

MOST_PERMUTATIONS = 2_000
FEWEST_PARTICIPANTS = 20
LEVEL = 0.05
_PIECE = 500
_HAIR = 1e-9


@dataclass(frozen=True, eq=False)
class Moderation:
    """Tests of every characteristic by every context.

    Attributes
    ----------
    tests : DataFrame
        A table of estimates with a row for each test, named "characteristic by context": the share of variance that
        the two have in common.
    shown : DataFrame
        The same in words, with p and p by Holm's rule.
    summary : DataFrame
        A table of estimates: ``tested``, ``significant`` (numbers of tests) and ``smallest p`` (Holm's).
    left_out : DataFrame
        Contexts that no characteristic can be tested with, with the reason.
    """

    tests: pd.DataFrame
    shown: pd.DataFrame
    summary: pd.DataFrame
    left_out: pd.DataFrame


def moderation(study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth") -> Moderation:
    r"""Return tests of every characteristic by every context: whether different people rate different ones higher.

    For participant p, with conversations i, columns h of the context (indicators of a condition or topic; importance
    or desired empathy as a number) and rating y, all minus the participant's own means, and y also minus what the
    context makes of everybody's:

    .. math:: s_p = \sum_i \tilde h_{pi} (\tilde y_{pi} - \tilde h_{pi}^\top \hat b)

    These scores are related to the characteristic x of the participants (a number, or indicators of groups) by
    Pillai's trace,

    .. math:: V = \mathrm{tr}\left[(X^\top X)^{+} X^\top S (S^\top S)^{+} S^\top X\right],

    with X minus its mean, divided by the smaller of the ranks of X and S: the share of variance that they have in
    common. p is the share of permutations of the characteristic over the participants in which V is at least as
    large, so that one participant counts once, however many conversations or turns they rated. What a characteristic
    does to a person's ratings in all conversations alike is not in s.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its seed serves the permutations, as many as its draws, at most 2,000.
    rating : str
        A rating of :func:`sense7.findings.measures.conversation_ratings`.

    Returns
    -------
    Moderation
        p is corrected by Holm's rule over all tests together. Characteristics are those that
        :func:`sense7.findings.individualized.characteristics.characteristic_columns` examines and at least 80% of the
        participants answered; participants without an answer, or whose conversations have only one value of a context,
        take no part in that test.

    References
    ----------
    Pillai, K. C. S. (1955). Annals of Mathematical Statistics 26, 117-121. Holm, S. (1979). Scandinavian Journal of
    Statistics 6, 65-70.

    Notes
    -----
    Checked against numpy's least squares: with one column on both sides V is the squared correlation of x and s.
    """
    frame = conversation_ratings(study)
    steps = study.conversations.set_index("conversation")[["importance", "desired_empathy"]]
    frame = frame.join(steps).rename(columns={rating: "y"})
    frame = frame[frame["y"].notna() & frame["participant"].notna()]
    people = pd.Index(frame["participant"].unique())
    columns = characteristic_columns(study.participants, people)
    columns = columns[(columns["kind"] != "") & (columns["answers"] >= ANSWERED * len(people))]
    reason = NO_SHEET if study.participants is None else "" if len(columns) else "no characteristic can be examined"
    scores = {name: _scores(frame, name) for name in CONTEXTS}
    left_out = pd.DataFrame({"reason": {CONTEXTS[name]: why for name, (_, why) in scores.items() if why}})
    rows, p = {}, {}
    if not reason:
        answers = study.participants.set_index("participant").reindex(people)
        rows, p = _tests(answers, columns["kind"], scores, bootstrap)
    tests = estimate_table(rows, "characteristic by context")
    p = pd.Series(p, index=tests.index, dtype=float)
    adjusted = pd.Series(holm(p), index=tests.index)
    shares = ["" if np.isnan(share) else f"{share:.1%}" for share in tests["estimate"]]
    shown = pd.DataFrame(
        {
            "share of variance in common": shares,
            "n": tests["n"],
            "p": p.map(p_in_words),
            "p (Holm)": adjusted.map(p_in_words),
        }
    )
    return Moderation(tests, shown, _summary(adjusted, len(people), reason, left_out), left_out)


def _tests(
    answers: pd.DataFrame,
    kinds: pd.Series,
    scores: dict[str, tuple[pd.DataFrame, str]],
    bootstrap: ParticipantBootstrap,
) -> tuple[dict[str, dict], dict[str, float]]:
    """Rows of estimates and p values of every characteristic by every context that has scores."""
    generator, permutations = np.random.default_rng(bootstrap.seed), min(bootstrap.draws, MOST_PERMUTATIONS)
    rows, p = {}, {}
    for context, (score, why) in scores.items():
        for characteristic, kind in kinds.items() if not why else ():
            words = f"{characteristic} by {CONTEXTS[context]}"
            answered = answers[characteristic].dropna()
            answered = answered[answered.index.isin(score.index)]
            x, s = _columns_of(answered, kind), score.loc[answered.index].to_numpy()
            share, p[words] = _shared_variance(x, s, permutations, generator)
            undefined = f"{count_of(len(answered), 'participant')} answered: too few, or all alike"
            rows[words] = estimate_row(
                share,
                n=len(answered),
                unit="share of variance in common",
                method="Pillai's trace, permutation",
                reason="" if np.isfinite(share) else undefined,
            )
    return rows, p


def _scores(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, str]:
    """Scores of the participants whose conversations differ in a context, and why there are none."""
    words = CONTEXTS[name]
    own = frame[frame[name].notna()]
    if own.empty:
        return pd.DataFrame(), f"{words} was not given in this data set"
    if own[name].nunique() < 2:
        return pd.DataFrame(), f"{words} is the same in every conversation"
    own = own[own.groupby("participant")[name].transform("nunique") > 1]
    if own["participant"].nunique() < FEWEST_PARTICIPANTS:
        several = count_of(own["participant"].nunique(), "participant")
        return pd.DataFrame(), f"{several} had conversations that differ in {words}: too few"
    context = _columns_of(own[name], "number" if name in ("importance", "desired_empathy") else "group")
    # Of participants whose conversations differ only, so that none adds a score of zero.
    both = within(np.column_stack([context, own["y"]]), own["participant"])
    h, y = both[:, :-1], both[:, -1]
    left = y - h @ np.linalg.lstsq(h, y, rcond=None)[0]
    return pd.DataFrame(h * left[:, None]).groupby(own["participant"].to_numpy(), sort=False).sum(), ""


def _columns_of(values: pd.Series, kind: str) -> np.ndarray:
    """A number as a column; of groups, the indicators of all but the first, in the order of their names."""
    if kind == "number":
        return values.to_numpy(dtype=float)[:, None]
    return pd.get_dummies(values.astype(str), drop_first=True, dtype=float).to_numpy()


def _basis(values: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the columns minus their means; columns that add nothing are left out."""
    values = values - values.mean(axis=0)
    left, sizes, _ = np.linalg.svd(values / np.maximum(np.abs(values).max(axis=0), _HAIR), full_matrices=False)
    return left[:, sizes > _HAIR * max(1.0, sizes.max(initial=0))]


def _shared_variance(x: np.ndarray, s: np.ndarray, permutations: int, generator) -> tuple[float, float]:
    """Pillai's trace by the smaller rank, and its p value by permutation; NaN where either is constant."""
    n = len(x)
    if n < FEWEST_PARTICIPANTS:
        return np.nan, np.nan
    first, second = _basis(x), _basis(s)
    rank = min(first.shape[1], second.shape[1])
    if not rank:
        return np.nan, np.nan
    observed, as_large = ((first.T @ second) ** 2).sum(), 0
    for piece in pieces(permutations, n, _PIECE):
        order = np.argsort(generator.random((piece.stop - piece.start, n)), axis=1)
        products = np.swapaxes(first[order], 1, 2) @ second
        as_large += int(((products**2).sum(axis=(1, 2)) >= observed - 1e-12).sum())
    return observed / rank, (as_large + 1) / (permutations + 1)


def _summary(adjusted: pd.Series, people: int, reason: str, left_out: pd.DataFrame) -> pd.DataFrame:
    known = adjusted.dropna()
    if not reason and known.empty:
        reason = "; ".join(left_out["reason"]) or "no test could be computed"
    method = f"permutation of participants, Holm over {count_of(len(known), 'test')}"
    common = {"n": people, "method": method}
    numbers = {"tested": len(known), "significant": (known <= LEVEL).sum(), "smallest p": known.min()}
    units = {"tested": "tests", "significant": "tests", "smallest p": "p value"}
    keys = {
        "tested": "moderation_tested",
        "significant": "moderation_significant",
        "smallest p": "moderation_smallest_p",
    }
    rows = {
        name: estimate_row(np.nan if reason else number, **common, unit=units[name], reason=reason)
        for name, number in numbers.items()
    }
    return estimate_table(rows, "tests", keys)


check_arguments(globals())
