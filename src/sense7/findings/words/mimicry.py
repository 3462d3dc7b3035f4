"""Proxies of mimicry that does not serve the user: echo of the user's words, and warmth without a fitting response.

The notes on the paper say that expressive mimicry which does not serve what the user needs can backfire. No rating of
the format asks about mimicry. These statistics are computed from texts and ratings, and are called proxies wherever
they are shown: they are not the authors' coding.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio, ratio_difference
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.within_correlation import within_correlation
from sense7.findings.examples import turns_with_texts
from sense7.findings.measures import is_poor
from sense7.findings.words.terms import GOOD, terms_of
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["echo", "mimicry_proxies", "warm_and_fitting"]

_PROXIES = {
    "echo, mean share of the answer's words": "echo_share",
    "echo and overall rating": "echo_with_overall_rating",
    "echo and overall rating, length held equal": "echo_with_overall_rating_equal_length",
    "warm but unfitting turns": "warm_unfitting_turns",
    "warm but unfitting, share of turns": "warm_unfitting_share",
    "warm but unfitting minus cold and unfitting": "warm_unfitting_minus_cold_unfitting",
    "warmer than fitting and overall rating": "warmer_than_fitting_with_overall_rating",
}
"""Rows of :func:`mimicry_proxies` -> keys."""

FEWEST_TURNS = 20
FEWEST_PARTICIPANTS = 5
"""Turns, and participants who rated them, below which a kind of turn is too rare to be compared."""

LEVEL = "level, difference"


def echo(user: str, assistant: str) -> float:
    """Return the share of the different words of an answer that the user's message before it has as well.

    Words as :func:`sense7.findings.words.terms.terms_of` gives them: lower case, without stop words.

    Parameters
    ----------
    user, assistant : str
        The two texts.

    Returns
    -------
    float
        0..1; NaN where either text has no such word.

    Examples
    --------
    >>> echo("My boss ignored me again", "Your boss ignored you, and that hurts")
    0.6666666666666666
    """
    own, before = set(terms_of(assistant)), set(terms_of(user))
    return len(own & before) / len(own) if own and before else float("nan")


def echo_of_turns(study: Study) -> pd.DataFrame:
    """Return the echo of every assistant turn that has a text and a user's message before it.

    Returns
    -------
    DataFrame
        The rows of :func:`sense7.findings.examples.turns_with_texts` with ``echo`` (0..1; see :func:`echo`) and
        ``length`` (natural logarithm of one plus the number of the answer's words).
    """
    turns = turns_with_texts(study)
    shares = [echo(user, answer) for user, answer in zip(turns["user"], turns["assistant"], strict=True)]
    length = [np.log1p(len(answer.split())) for answer in turns["assistant"]]
    return turns.assign(echo=np.array(shares, dtype=float), length=np.array(length, dtype=float))


def warm_and_fitting(study: Study) -> pd.DataFrame:
    """Return turns by warmth and fit: numbers of turns and of participants, and the mean overall rating.

    Returns
    -------
    DataFrame
        One row per kind: warm (Affective good or very good) or cold (poor or very poor), and fitting or unfitting
        (Response Appropriateness likewise); turns, participants, overall (mean of those rated overall, 1..5; NaN if
        there is none). Turns that are neutral on one of the two, or not rated, are in none of them.
    """
    kinds = _kinds(study)
    rows = {}
    for name, chosen in kinds.items():
        own = study.turns[chosen]
        rows[name] = {
            "turns": len(own),
            "participants": own["participant"].nunique(),
            "overall": own["overall"].astype(float).mean(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("turns")


def _kinds(study: Study) -> dict[str, pd.Series]:
    affective, response = (study.turns[name].astype(float) for name in ("Affective", "Response"))
    warm = {"warm": affective >= GOOD, "cold": is_poor(affective)}
    fitting = {"fitting": response >= GOOD, "unfitting": is_poor(response)}
    return {f"{one} and {other}": warm[one] & fitting[other] for one in warm for other in fitting}


def mimicry_proxies(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return every proxy with its association with the overall rating of the turn.

    - *echo*: :func:`echo`; its correlation with the overall rating within conversations, as it is, and with the length
      of the answer held equal, since a long answer shares fewer of its words with a message.
    - *warm but unfitting*: Affective at least good, and Response Appropriateness at most poor; and the mean overall
      rating of such turns minus that of turns which are poor on both. Below zero would mean that warmth backfires where
      the response does not fit.
    - *warmer than fitting*: Affective minus Response, correlated with the overall rating within conversations, the mean
      of the two held equal.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row for each proxy and association: estimate, low, high, n (turns), unit, method, reason. A kind of
        turn that occurs fewer than 20 times, or with fewer than 5 participants, is called too rare and is not compared.
    """
    names = list(_PROXIES)
    turns = echo_of_turns(study)
    rows = {names[0]: _mean_echo(turns, bootstrap)}
    rows[names[1]] = _within(turns, ["echo", "overall"], bootstrap, "echo and overall rating")
    how = "echo and overall rating, length of the answer held equal"
    rows[names[2]] = _within(turns, ["echo", "overall", "length"], bootstrap, how)
    rows |= dict(zip(names[3:6], _warm_unfitting(study, bootstrap), strict=True))
    both = study.turns[["conversation", "participant", "overall"]].assign(
        more=study.turns["Affective"].astype(float) - study.turns["Response"].astype(float),
        mean=(study.turns["Affective"].astype(float) + study.turns["Response"].astype(float)) / 2,
    )
    how = "Affective minus Response and overall rating, mean of the two held equal"
    rows[names[6]] = _within(both, ["more", "overall", "mean"], bootstrap, how)
    return estimate_table(rows, "proxy", _PROXIES)


def _mean_echo(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    known = turns[turns["echo"].notna()]
    common = {"n": len(known), "unit": "share of words", "method": "mean over turns of the echo"}
    if known.empty:
        return estimate_row(**common, reason="no turn has a text and a user's message before it")
    values = np.column_stack([known["echo"], np.ones(len(known))])
    return bootstrap.row(bootstrap.estimate(ratio, values, known["participant"]), **common)


def _within(turns: pd.DataFrame, columns: list[str], bootstrap: ParticipantBootstrap, words: str) -> dict:
    known = turns[turns[columns].notna().all(axis=1)]
    method = f"correlation within conversations of {words}"
    if known.empty:
        reason = "no turn has both, with an overall rating"
        return estimate_row(n=0, unit="correlation", method=method, reason=reason)
    values = known[columns].to_numpy(dtype=float)
    return within_correlation(values, known["conversation"], known["participant"], bootstrap, method)


def _warm_unfitting(study: Study, bootstrap: ParticipantBootstrap) -> list[dict]:
    """Count, share, and difference from turns that are cold and unfitting."""
    kinds, turns = _kinds(study), study.turns
    rated_on_both = turns["Affective"].notna() & turns["Response"].notna()
    chosen, cold = kinds["warm and unfitting"], kinds["cold and unfitting"]
    words = "Affective at least good, Response at most poor"
    if not rated_on_both.any():
        reason = "no turn was rated on both Affective and Response"
        units = ("turns", "share of turns", LEVEL)
        return [estimate_row(n=0, unit=unit, method=words, reason=reason) for unit in units]
    n = int(rated_on_both.sum())
    count = estimate_row(chosen.sum(), n=n, unit="turns", method=f"counted: {words}")
    values = np.column_stack([chosen[rated_on_both], np.ones(n)]).astype(float)
    share = bootstrap.estimate(ratio, values, turns.loc[rated_on_both, "participant"])
    share = bootstrap.row(share, n=n, unit="share of turns", method=words)
    rated = turns["overall"].notna()
    n = int(((chosen | cold) & rated).sum())
    common = {"n": n, "unit": LEVEL, "method": "mean overall rating, warm and unfitting minus cold and unfitting"}
    for kind, rows in (("warm and unfitting", chosen & rated), ("cold and unfitting", cold & rated)):
        people = turns.loc[rows, "participant"].nunique()
        if rows.sum() < FEWEST_TURNS or people < FEWEST_PARTICIPANTS:
            counted = f"{count_of(int(rows.sum()), 'turn')} of {count_of(people, 'participant')}"
            return [count, share, estimate_row(**common, reason=f"too rare to be compared: {counted} {kind}")]
    used = (chosen | cold) & rated
    groups = np.column_stack([chosen[used], cold[used]]).astype(float)
    values = groups[:, :, None] * np.column_stack([turns.loc[used, "overall"], np.ones(n)])[:, None, :]
    difference = bootstrap.estimate(ratio_difference, values, turns.loc[used, "participant"])
    return [count, share, bootstrap.row(difference, **common)]


check_arguments(globals())
