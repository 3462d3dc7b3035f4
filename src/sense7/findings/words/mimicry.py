"""Proxies of mimicry that does not serve the user: echo of the user's words, and more warmth than fit.

The notes on the paper say that expressive mimicry which does not serve what the user needs can backfire. No rating of
the format asks about mimicry. These statistics are computed from texts and ratings, and are called proxies wherever
they are shown: they are not the authors' coding.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import within_correlation
from sense7.findings.examples import turns_with_texts
from sense7.findings.words.terms import terms_of
from sense7.study import Study

__all__ = ["echo", "mimicry_proxies"]

_PROXIES = {
    "echo, mean share of the answer's words": "echo_share",
    "echo and overall rating, length held equal": "echo_with_overall_rating_equal_length",
    "warmer than fitting and overall rating": "warmer_than_fitting_with_overall_rating",
}
"""Rows of :func:`mimicry_proxies` -> keys."""


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


def mimicry_proxies(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return every proxy with its association with the overall rating of the turn.

    - *echo*: :func:`echo`; its correlation with the overall rating within conversations, the length of the answer held
      equal, since a long answer shares fewer of its words with a message.
    - *warmer than fitting*: Affective minus Response, correlated with the overall rating within conversations, the mean
      of the two held equal.

    Returns
    -------
    DataFrame
        One row for each proxy and association: estimate, low, high, n (turns), unit, method, reason.
    """
    names = list(_PROXIES)
    turns = echo_of_turns(study)
    rows = {names[0]: _mean_echo(turns, bootstrap)}
    how = "echo and overall rating, length of the answer held equal"
    rows[names[1]] = _within(turns, ["echo", "overall", "length"], bootstrap, how)
    both = study.turns[["conversation", "participant", "overall"]].assign(
        more=study.turns["Affective"].astype(float) - study.turns["Response"].astype(float),
        mean=(study.turns["Affective"].astype(float) + study.turns["Response"].astype(float)) / 2,
    )
    how = "Affective minus Response and overall rating, mean of the two held equal"
    rows[names[2]] = _within(both, ["more", "overall", "mean"], bootstrap, how)
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


check_arguments(globals())
