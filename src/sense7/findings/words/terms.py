"""Comments on turns: how often users write them, in which words, and quotations chosen by a rule.

Poor levels are defined by :func:`sense7.findings.measures.is_poor`, good ones by ``GOOD``; where turns have
no overall rating, the rounded mean of their dimensions takes its place.
"""

import re
import unicodedata

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import COLUMNS, Estimate, estimate_row, estimate_table
from sense7.findings.ground_truth import labels
from sense7.findings.measures import is_poor, turn_levels
from sense7.study import Study
from sense7.taxonomy import LEVELS

__all__ = ["GOOD", "comment_counts", "comment_shares", "distinctive_terms", "leading_terms", "quotations"]

GOOD = 4
"""A turn is good if its level is at least this."""

PRIOR_WORDS = 500
"""Size of the prior in words; fewer if the comments of a kind have fewer."""

STANDS_OUT = 1.96
"""Smallest absolute z with which a term is called the mark of its kind."""

FEWEST_PEOPLE = 3
"""Fewest participants who use a term about turns of the kind that it is said to mark."""

NO_COMMENTS = "no turn has a comment in this data set"

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after again all also am an and any are as at be because been before being but by can could did do does
        for from get got had has have he her here him his how i if in into is it its ive just me my of on or our out s
        she should so some such t than that the their them then there these they this those to too up was we were what
        when where which while who why will with would you your
        """,
    )
)
"""Words that mean little by themselves; a short list of our own, which keeps not, no and never."""

_SHARES = {
    "all rated turns": "comment_share",
    "very poor": "comment_share_very_poor",
    "poor": "comment_share_poor",
    "neutral": "comment_share_neutral",
    "good": "comment_share_good",
    "very good": "comment_share_very_good",
}
"""Rows of :func:`comment_shares` -> keys."""

_LEADING = {"poor": "term_of_poor_turns", "good": "term_of_good_turns"}
"""Kind of turn -> key of the term that marks it most."""


def commented_turns(study: Study) -> pd.DataFrame:
    """Return every assistant turn with its level and its comment.

    Returns
    -------
    DataFrame
        In file order: conversation, participant, turn, rating (1..5; NaN if the turn was not rated),
        level (the rating as a whole number), comment (text; None if there is none or it is blank).
    """
    turns = study.turns[["conversation", "participant", "turn", "position"]]
    ratings = turn_levels(study)[0].rename(columns={"level": "rating"})[["conversation", "turn", "rating"]]
    frame = turns.merge(ratings, on=["conversation", "turn"], how="left").astype({"rating": float})
    frame["level"] = labels(frame["rating"])
    comments = study.messages[["conversation", "position", "comment"]]
    written = comments["comment"].map(lambda text: isinstance(text, str) and bool(text.strip())).astype(bool)
    frame = frame.merge(comments[written], on=["conversation", "position"], how="left").drop(columns="position")
    return frame.assign(comment=frame["comment"].astype(object).where(frame["comment"].notna(), None))


def comment_counts(study: Study) -> pd.DataFrame:
    """Return the number of comments on assistant turns, and of the participants who wrote them.

    Returns
    -------
    DataFrame
        Rows "comments" and "commenting_participants": estimate, n (assistant turns, participants),
        unit, method, reason. No interval: they are counted. Blank comments are none.
    """
    frame = commented_turns(study)
    written = frame[frame["comment"].notna()]
    people, wrote = frame["participant"].nunique(), written["participant"].nunique()
    rows = {
        "comments": estimate_row(len(written), n=len(frame), unit="comments", method="counted"),
        "commenting_participants": estimate_row(wrote, n=people, unit="participants", method="counted"),
    }
    keys = {"comments": "comments", "commenting_participants": "commenting_participants"}
    return estimate_table(rows, "count", keys)


def comment_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of rated turns with a comment, of all and by level.

    Returns
    -------
    DataFrame
        Rows "all rated turns" and the five levels: estimate, low, high (0..1), n (rated turns), unit,
        method, reason. Turns without a level are left out.
    """
    unit, method = "share of turns", "rated turns with a comment by rated turns"
    frame = commented_turns(study)
    rated = frame[frame["level"].notna()]
    rows = {}
    for name in _SHARES:
        chosen = rated if name not in LEVELS else rated[rated["level"] == LEVELS.index(name) + 1]
        reason = NO_COMMENTS if not frame["comment"].notna().any() else "" if len(chosen) else "no turn was rated so"
        if reason:
            rows[name] = estimate_row(n=len(chosen), unit=unit, method=method, reason=reason)
            continue
        values = np.column_stack([chosen["comment"].notna(), np.ones(len(chosen))]).astype(float)
        share = bootstrap.estimate(ratio, values, chosen["participant"])
        rows[name] = bootstrap.row(share, n=len(chosen), unit=unit, method=method)
    return estimate_table(rows, "level of the turn", _SHARES)


def terms_of(text: str) -> list[str]:
    """Return the words of a text: lower case, letters only, without apostrophes and without stop words.

    Examples
    --------
    >>> terms_of("It didn't GET my point; 2nd time!")
    ['didnt', 'point', 'nd', 'time']
    """
    plain = re.sub(r"['\N{RIGHT SINGLE QUOTATION MARK}]", "", unicodedata.normalize("NFKC", text).lower())
    return [word for word in re.findall(r"[^\W\d_]+", plain) if word.isalpha() and word not in STOP_WORDS]


def log_odds(counts: np.ndarray, totals: np.ndarray, prior: np.ndarray, prior_total: float) -> np.ndarray:
    r"""Return the log-odds ratio of terms in two groups of texts, with an informative Dirichlet prior.

    .. math:: \delta_w = \log\frac{y_{w1} + \alpha_w}{n_1 + \alpha_0 - y_{w1} - \alpha_w}
              - \log\frac{y_{w2} + \alpha_w}{n_2 + \alpha_0 - y_{w2} - \alpha_w}

    Parameters
    ----------
    counts : array, shape (..., 2)
        How often the term occurs in each group.
    totals : array, shape (..., 2)
        Words of each group.
    prior : array, shape (...)
        Words of the prior that are this term.
    prior_total : float
        Words of the prior.

    Returns
    -------
    array, shape (...)
        Positive where the term is more of the first group.

    References
    ----------
    Monroe, B. L., Colaresi, M. P., & Quinn, K. M. (2008). Political Analysis 16, 372-403, equation 15.

    Examples
    --------
    >>> round(float(log_odds(np.array([8.0, 2.0]), np.array([100.0, 100.0]), np.array(5.0), 50.0)), 4)
    0.6619
    """
    counts, totals = np.asarray(counts, dtype=float), np.asarray(totals, dtype=float)
    term = counts + np.asarray(prior, dtype=float)[..., None]
    odds = np.log(term / (totals + prior_total - term))
    return odds[..., 0] - odds[..., 1]


def distinctive_terms(study: Study, bootstrap: ParticipantBootstrap, count: int = 10) -> pd.DataFrame:
    r"""Return terms that mark comments on poor turns, and those that mark comments on good ones.

    Terms are ranked by z, :func:`log_odds` by its standard error
    :math:`\sqrt{1/(y_{w1} + \alpha_w) + 1/(y_{w2} + \alpha_w)}`; the prior is 500 words, or as many as the
    kind with fewer has, with the shares that terms have in all comments. That z takes words as
    independent, so the interval is that of the log-odds ratio over resampled participants, with the prior
    as it is; there is none for a term of one kind only. A term needs three
    participants who use it about turns of that kind.

    Parameters
    ----------
    count : int
        Largest number of terms of each kind, at least 1.

    Returns
    -------
    DataFrame
        One row per term, the most of poor turns first, the most of good turns last; empty if a kind has no
        comments. estimate (log-odds ratio, positive: more of poor turns), low, high, n (times that the
        term is used about poor and good turns), unit, method, reason; and kind ("poor" or "good"), z, poor
        and good (times used), participants (who use it about turns of its kind). Comments on neutral or
        unrated turns count for the prior only.

    References
    ----------
    Monroe, B. L., Colaresi, M. P., & Quinn, K. M. (2008). Political Analysis 16, 372-403.
    """
    words = _words(study)
    of_kind = {kind: words[words["kind"] == kind] for kind in ("poor", "good")}
    if not all(map(len, of_kind.values())):
        return _terms_table([])
    ranked, size = _ranked_terms(words, of_kind)
    poor = ranked[(ranked["z"] > 0) & (ranked["people_poor"] >= FEWEST_PEOPLE)][:count]
    good = ranked[(ranked["z"] < 0) & (ranked["people_good"] >= FEWEST_PEOPLE)][-count:]
    both = pd.concat(of_kind.values())
    groups = np.column_stack([both["kind"] == kind for kind in of_kind]).astype(float)
    rows = []
    for kind, chosen in (("poor", poor), ("good", good)):
        for term, numbers in chosen.iterrows():
            used = (both["term"] == term).to_numpy()
            values = np.stack([groups * used[:, None], groups], axis=1)
            row = _term_row(values, both["participant"], numbers["prior"], size, bootstrap)
            row |= {"kind": kind, "z": numbers["z"], "poor": int(numbers["poor"]), "good": int(numbers["good"])}
            rows.append({"term": term} | row | {"participants": int(numbers[f"people_{kind}"])})
    return _terms_table(rows)


def _ranked_terms(words: pd.DataFrame, of_kind: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, float]:
    """Terms from the largest z to the smallest: uses and participants by kind, prior, z; and the size of the prior."""
    terms = pd.DataFrame(index=pd.Index(sorted(words["term"].unique())))
    for kind, own in of_kind.items():
        terms[kind] = own["term"].value_counts().reindex(terms.index, fill_value=0).astype(float)
        people = own.groupby("term")["participant"].nunique()
        terms[f"people_{kind}"] = people.reindex(terms.index, fill_value=0)
    counts = terms[list(of_kind)].to_numpy()
    totals = counts.sum(axis=0)
    size = min(PRIOR_WORDS, totals.min())
    terms["prior"] = size * words["term"].value_counts().reindex(terms.index).to_numpy() / len(words)
    errors = np.sqrt((1 / (counts + terms["prior"].to_numpy()[:, None])).sum(axis=1))
    terms["z"] = log_odds(counts, totals, terms["prior"].to_numpy(), size) / errors
    return terms.iloc[np.lexsort((terms.index, -terms["z"]))], size


def leading_terms(terms: pd.DataFrame) -> pd.DataFrame:
    """Return the term that marks comments on poor turns most, and that of good ones.

    Parameters
    ----------
    terms : DataFrame
        From :func:`distinctive_terms`.

    Returns
    -------
    DataFrame
        Rows "poor" and "good" with the columns of a table of estimates: the estimate is the term, a text
        of letters only; n is the times that it is used about poor and good turns. None if no z is
        at least 1.96 in size.
    """
    rows = {}
    for kind, position in (("poor", 0), ("good", -1)):
        own = terms[(terms["kind"] == kind) & (terms["z"].astype(float).abs() >= STANDS_OUT)]
        row = dict.fromkeys(COLUMNS, np.nan) | {"unit": "term", "method": "largest z of the log-odds ratio"}
        if own.empty:
            row |= {"n": 0, "reason": f"no term stands out in comments on {kind} turns"}
        else:
            row |= {"estimate": own.index[position], "n": int(own["n"].iloc[position]), "reason": ""}
        rows[kind] = row
    return estimate_table(rows, "turns", _LEADING)


def _terms_table(rows: list[dict]) -> pd.DataFrame:
    columns = ["term", *COLUMNS, "kind", "z", "poor", "good", "participants"]
    return pd.DataFrame(rows, columns=columns).set_index("term")


def _words(study: Study) -> pd.DataFrame:
    """Each word of each comment on a turn: participant, kind of turn (poor, good or neither), term."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    kind = np.select([is_poor(frame["level"]), frame["level"] >= GOOD], ["poor", "good"], "neither")
    frame = frame.assign(kind=kind, term=[terms_of(comment) for comment in frame["comment"]])
    return frame[["participant", "kind", "term"]].explode("term").dropna(subset=["term"])


def _term_row(values, participants: pd.Series, prior: float, size: float, bootstrap: ParticipantBootstrap) -> dict:
    unit, method = "log-odds ratio", "log-odds ratio with an informative Dirichlet prior"

    def statistic(sums: np.ndarray) -> np.ndarray:
        return log_odds(sums[..., 0, :], sums[..., 1, :], np.asarray(prior), size)

    log_ratio = bootstrap.estimate(statistic, values, participants)
    if not values[:, 0].any(axis=0).all():
        # A word that nobody uses in the sample is in no resample: the interval would be too narrow.
        reason = "no interval: used about turns of one kind only, and resampling can't tell how sure that is"
        log_ratio = Estimate(log_ratio.estimate, reason=reason)
    return bootstrap.row(log_ratio, n=int(values[:, 0].sum()), unit=unit, method=method)


def typical_in_length(comments: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the comments whose length is nearest to the median length: the rule by which quotations are chosen.

    Parameters
    ----------
    comments : DataFrame
        participant, comment (text); in the order of the file.
    count : int
        Largest number of comments.

    Returns
    -------
    DataFrame
        The rows of the chosen comments, in the order of the file, with white space in comments folded. At most
        one comment per participant, each wording once; of equally near ones the first.

    Examples
    --------
    >>> frame = pd.DataFrame({"participant": ["a", "a", "b"], "comment": ["kind", "it was kind", "so  kind"]})
    >>> typical_in_length(frame, 1)["comment"].tolist()
    ['so kind']
    """
    comments = comments.assign(comment=comments["comment"].map(lambda text: " ".join(text.split())).astype(object))
    length = comments["comment"].str.len()
    ordered = comments.assign(distance=(length - length.median()).abs(), order=range(len(comments)))
    ordered = ordered.sort_values(["distance", "order"]).drop_duplicates("comment").drop_duplicates("participant")
    return ordered.head(count).sort_values("order").drop(columns=["distance", "order"])


def quotations(study: Study, count: int = 5) -> pd.DataFrame:
    """Return comments on poor and on good turns, chosen by a rule and not by hand.

    Of each kind those that :func:`typical_in_length` gives.

    Parameters
    ----------
    count : int
        Largest number of comments of each kind.

    Returns
    -------
    DataFrame
        turn (the kind), level (in words), comment (as written, white space folded): those of poor turns
        first, each in the order of the file; empty if there are none.
    """
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    kinds = {"poor": is_poor(frame["level"]), "good": frame["level"] >= GOOD}
    parts = [typical_in_length(frame[chosen], count).assign(turn=kind) for kind, chosen in kinds.items()]
    chosen = pd.concat(parts, ignore_index=True)
    level = [LEVELS[int(level) - 1] for level in chosen["level"]]
    shown = pd.DataFrame({"turn": chosen["turn"], "level": level, "comment": chosen["comment"]})
    return shown.set_index(pd.RangeIndex(1, len(shown) + 1, name="number"))


check_arguments(globals())
