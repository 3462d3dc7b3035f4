"""Comments and words: who comments, in which words, quotations by a rule, double coding, and proxies of mimicry.

Where turns have no overall rating, the rounded mean of their dimensions takes its place. Proxies of mimicry are
computed from texts and ratings; they are not the authors' coding.
"""

import hashlib
import re

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import COLUMNS, Estimate, estimate_row, estimate_table
from sense7.estimators.least_squares import within_correlation
from sense7.estimators.order import rounded
from sense7.findings.core import Number, finding, need, require_own, share, tabulate
from sense7.findings.examples import turns_with_texts
from sense7.findings.ground_truth import labels
from sense7.findings.measures import is_poor, turn_levels
from sense7.segmentation import folded_words_in, words_in
from sense7.study import Study
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "GOOD",
    "codebook",
    "coder_agreement",
    "coding_sheet",
    "comment_counts",
    "comment_shares",
    "distinctive_terms",
    "leading_terms",
    "mimicry_proxies",
    "quotations",
]

GOOD = 4
"""A turn is good if its level is at least this."""

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


def commented_turns(study: Study) -> pd.DataFrame:
    """Return every assistant turn with its rating (NaN if none), its level, and its comment (None if none or blank)."""
    turns = study.turns[["conversation", "participant", "turn", "position"]]
    ratings = turn_levels(study)[0].rename(columns={"level": "rating"})[
        ["conversation", "turn", "rating"]
    ]
    frame = turns.merge(ratings, on=["conversation", "turn"], how="left").astype({"rating": float})
    frame["level"] = labels(frame["rating"])
    comments = study.messages[["conversation", "position", "comment"]]
    written = (
        comments["comment"]
        .map(lambda text: isinstance(text, str) and bool(text.strip()))
        .astype(bool)
    )
    frame = frame.merge(comments[written], on=["conversation", "position"], how="left").drop(
        columns="position"
    )
    return frame.assign(
        comment=frame["comment"].astype(object).where(frame["comment"].notna(), None)
    )


@finding
def comment_counts(study: Study) -> pd.DataFrame:
    """Return the number of comments on assistant turns, and of participants who wrote them; counted, so no interval."""
    frame = commented_turns(study)
    written = frame[frame["comment"].notna()]
    people, wrote = frame["participant"].nunique(), written["participant"].nunique()
    rows = {
        "comments": estimate_row(len(written), n=len(frame), unit="comments", method="counted"),
        "commenting_participants": estimate_row(
            wrote, n=people, unit="participants", method="counted"
        ),
    }
    keys = {"comments": "comments", "commenting_participants": "commenting_participants"}
    return estimate_table(rows, "count", keys)


@finding
def comment_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of rated turns with a comment, of all and by level; turns without a level are left out."""
    require_own(study, bootstrap)
    frame = commented_turns(study)
    rated = frame[frame["level"].notna()]

    def of(chosen: pd.DataFrame) -> np.ndarray:
        need(frame["comment"].notna().any(), NO_COMMENTS)
        need(len(chosen), "no turn was rated so")
        return share(
            bootstrap, chosen["comment"].notna(), np.ones(len(chosen)), chosen["participant"]
        )

    def number(label: str, chosen: pd.DataFrame, key: str) -> Number:
        method = "rated turns with a comment by rated turns"
        return Number(label, lambda: of(chosen), "share of turns", method, chosen, key)

    levels = {name: rated[rated["level"] == level] for level, name in enumerate(LEVELS, 1)}
    numbers = [number("all rated turns", rated, "comment_share")]
    numbers += [
        number(name, own, f"comment_share_{name.replace(' ', '_')}") for name, own in levels.items()
    ]
    return tabulate("level of the turn", numbers, bootstrap)


def terms_of(text: str) -> list[str]:
    """Return the words of a text: lower case, letters with their marks, without apostrophes and without stop words.

    Words are those of :func:`sense7.segmentation.folded_words_in`, in any script.

    Examples
    --------
    >>> terms_of("It didn't GET my point; 2nd time!")
    ['didnt', 'point', 'nd', 'time']
    """
    return [word for word in folded_words_in(text) if word not in STOP_WORDS]


def log_odds(
    counts: np.ndarray, totals: np.ndarray, prior: np.ndarray, prior_total: float
) -> np.ndarray:
    r"""Return the log-odds ratio of terms in two groups of texts, with an informative Dirichlet prior.

    .. math:: \delta_w = \log\frac{y_{w1} + \alpha_w}{n_1 + \alpha_0 - y_{w1} - \alpha_w}
              - \log\frac{y_{w2} + \alpha_w}{n_2 + \alpha_0 - y_{w2} - \alpha_w}

    Positive where the term is more of the first group; counts and totals by group on the last axis.

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


def distinctive_terms(
    study: Study, bootstrap: ParticipantBootstrap, count: int = 10
) -> pd.DataFrame:
    r"""Return terms that mark comments on poor turns, and those that mark comments on good ones.

    Terms are ranked by z, :func:`log_odds` by its standard error
    :math:`\sqrt{1/(y_{w1} + \alpha_w) + 1/(y_{w2} + \alpha_w)}`; the prior is 500 words, or as many as the
    kind with fewer has, with the shares that terms have in all comments. That z takes words as
    independent, so the interval is that of the log-odds ratio over resampled participants, with the prior
    as it is; there is none for a term of one kind only. A term needs three participants who use it about turns of that
    kind. Comments on neutral or unrated turns count for the prior only.

    Parameters
    ----------
    count : int
        Largest number of terms of each kind, at least 1.

    Returns
    -------
    DataFrame
        One row per term, the most of poor turns first, the most of good turns last; empty if a kind has no
        comments. estimate (log-odds ratio, positive: more of poor turns), n (times that the term is used about poor
        and good turns); and kind, z, poor and good (times used), participants (who use it about turns of its kind).

    References
    ----------
    Monroe, B. L., Colaresi, M. P., & Quinn, K. M. (2008). Political Analysis 16, 372-403.
    """
    require_own(study, bootstrap)
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    kind = np.select([is_poor(frame["level"]), frame["level"] >= GOOD], ["poor", "good"], "neither")
    frame = frame.assign(kind=kind, term=[terms_of(comment) for comment in frame["comment"]])
    words = frame[["participant", "kind", "term"]].explode("term").dropna(subset=["term"])
    of_kind = {kind: words[words["kind"] == kind] for kind in ("poor", "good")}
    columns = ["term", *COLUMNS, "kind", "z", "poor", "good", "participants"]
    rows = []
    if all(map(len, of_kind.values())):
        ranked = pd.DataFrame(index=pd.Index(sorted(words["term"].unique())))
        for kind, own in of_kind.items():
            ranked[kind] = (
                own["term"].value_counts().reindex(ranked.index, fill_value=0).astype(float)
            )
            people = own.groupby("term")["participant"].nunique()
            ranked[f"people_{kind}"] = people.reindex(ranked.index, fill_value=0)
        counts = ranked[list(of_kind)].to_numpy()
        totals = counts.sum(axis=0)
        size = min(500, totals.min())
        prior = size * words["term"].value_counts().reindex(ranked.index).to_numpy() / len(words)
        errors = np.sqrt((1 / (counts + prior[:, None])).sum(axis=1))
        ranked["z"] = log_odds(counts, totals, prior, size) / errors
        ranked = ranked.assign(prior=prior).iloc[np.lexsort((ranked.index, -rounded(ranked["z"])))]
        poor = ranked[(rounded(ranked["z"]) > 0) & (ranked["people_poor"] >= FEWEST_PEOPLE)][:count]
        good = ranked[(rounded(ranked["z"]) < 0) & (ranked["people_good"] >= FEWEST_PEOPLE)][
            -count:
        ]
        both = pd.concat(of_kind.values())
        groups = np.column_stack([both["kind"] == kind for kind in of_kind]).astype(float)
        common = {
            "unit": "log-odds ratio",
            "method": "log-odds ratio with an informative Dirichlet prior",
        }
        for kind, chosen in (("poor", poor), ("good", good)):
            for term, numbers in chosen.iterrows():
                values = np.stack(
                    [groups * (both["term"] == term).to_numpy()[:, None], groups], axis=1
                )

                def statistic(sums: np.ndarray, prior: float = numbers["prior"]) -> np.ndarray:
                    return log_odds(sums[..., 0, :], sums[..., 1, :], np.asarray(prior), size)

                found = bootstrap.estimate(statistic, values, both["participant"])
                if not values[:, 0].any(axis=0).all():
                    # A word that nobody uses in the sample is in no resample: the interval would be too narrow.
                    why = "no interval: used about turns of one kind only, and resampling can't tell how sure that is"
                    found = Estimate(found.estimate, reason=why)
                row = {"term": term} | bootstrap.row(found, n=int(values[:, 0].sum()), **common)
                row |= {
                    "kind": kind,
                    "z": numbers["z"],
                    "poor": int(numbers["poor"]),
                    "good": int(numbers["good"]),
                }
                rows.append(row | {"participants": int(numbers[f"people_{kind}"])})
    return pd.DataFrame(rows, columns=columns).set_index("term")


@finding
def leading_terms(terms: pd.DataFrame) -> pd.DataFrame:
    """Return the term that marks comments on poor turns most, and that of good ones, of :func:`distinctive_terms`.

    The estimate is the term, a text of letters only; None if no z is beyond chance, at least 1.96 in size.
    """
    rows = {}
    for kind, position in (("poor", 0), ("good", -1)):
        own = terms[(terms["kind"] == kind) & (rounded(terms["z"].astype(float).abs()) >= 1.96)]
        row = dict.fromkeys(COLUMNS, np.nan) | {
            "unit": "term",
            "method": "largest z of the log-odds ratio",
        }
        if own.empty:
            row |= {"n": 0, "reason": f"no term stands out in comments on {kind} turns"}
        else:
            row |= {
                "estimate": own.index[position],
                "n": int(own["n"].iloc[position]),
                "reason": "",
            }
        rows[kind] = row
    return estimate_table(rows, "turns", {kind: f"term_of_{kind}_turns" for kind in rows})


def typical_in_length(comments: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the comments whose length is nearest to the median length: the rule by which quotations are chosen.

    At most one comment per participant, each wording once; of equally near ones the first. Rows stay in their order.

    Examples
    --------
    >>> frame = pd.DataFrame({"participant": ["a", "a", "b"], "comment": ["kind", "it was kind", "so  kind"]})
    >>> typical_in_length(frame, 1)["comment"].tolist()
    ['so kind']
    """
    comments = comments.assign(
        comment=comments["comment"].map(lambda text: " ".join(text.split())).astype(object)
    )
    length = comments["comment"].str.len()
    ordered = comments.assign(distance=(length - length.median()).abs(), order=range(len(comments)))
    ordered = (
        ordered.sort_values(["distance", "order"])
        .drop_duplicates("comment")
        .drop_duplicates("participant")
    )
    return ordered.head(count).sort_values("order").drop(columns=["distance", "order"])


def quotations(study: Study, count: int = 5) -> pd.DataFrame:
    """Return so many comments of poor and of good turns: kind, level in words, comment; see `typical_in_length`."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    kinds = {"poor": is_poor(frame["level"]), "good": frame["level"] >= GOOD}
    parts = [
        typical_in_length(frame[chosen], count).assign(turn=kind) for kind, chosen in kinds.items()
    ]
    chosen = pd.concat(parts, ignore_index=True)
    level = [LEVELS[int(level) - 1] for level in chosen["level"]]
    shown = pd.DataFrame({"turn": chosen["turn"], "level": level, "comment": chosen["comment"]})
    return shown.set_index(pd.RangeIndex(1, len(shown) + 1, name="number"))


CODEBOOK = {
    "understood": (
        "says that the assistant grasped feelings, aims or circumstances",
        "It saw right away why I was upset.",
        "says only that the answer was good or useful",
    ),
    "misunderstood": (
        "says that the assistant missed or misread feelings, aims or circumstances",
        "That was not my problem at all.",
        "understood, and still not helped: wrong kind of help",
    ),
    "wrong kind of help": (
        "says that advice came where listening was wanted, or the other way round, or too much or too little of either",
        "I did not ask for a list of tips.",
        "the answer would be right for nobody: misunderstood",
    ),
    "generic": (
        "says that the answer would fit anybody",
        "Could have been said to everyone.",
        "generic wording of feelings: insincere",
    ),
    "insincere": (
        "says that the empathy seems put on, repeated by rote, or that it mirrors words without meaning",
        "It keeps telling me that it hears me.",
        "merely cold, without any show of feeling: none of these",
    ),
    "continuity": (
        "says that something said before was recalled, forgotten, or asked for again",
        "I had told it that already.",
        "the same answer twice, without anything forgotten: insincere or generic",
    ),
    "expectation": (
        "says what was hoped for or expected and did or did not come",
        "I had hoped for more than that.",
        "an aim that was not grasped: misunderstood",
    ),
    "none of these": (
        "says nothing of the above: technical remarks, plain praise or blame, other matters",
        "Took a while to answer.",
        "together with any other code",
    ),
}
"""Code -> when it applies, an example in our words, when it does not. The companion's reading, not the authors'."""

IDENTIFIER = "comment id"


def codebook() -> pd.DataFrame:
    """Return what every code means: one row per code.

    Examples
    --------
    >>> codebook().loc["generic", "applies where the comment"]
    'says that the answer would fit anybody'
    """
    columns = ["applies where the comment", "example (made up)", "not where it is"]
    return pd.DataFrame.from_dict(CODEBOOK, orient="index", columns=columns).rename_axis("code")


def coding_sheet(study: Study, seed: int = 0) -> pd.DataFrame:
    """Return all comments on turns in a shuffled order, with an empty column for every code.

    The sheet lacks the rating of the turn, the author and the condition: a coder should not know them. ``comment id``
    is made from the text, so that it stays the same in every order. A coder writes 1 where a code applies; several may.
    """
    comments = _named_comments(study)
    order = np.random.default_rng(seed).permutation(len(comments))
    shuffled = comments.iloc[order].reset_index(drop=True)
    return shuffled[[IDENTIFIER, "comment"]].assign(**dict.fromkeys(CODEBOOK, ""))


def _named_comments(study: Study) -> pd.DataFrame:
    """Comments in file order: comment id, comment (white space folded), participant."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    texts = pd.Series(
        [" ".join(text.split()) for text in frame["comment"]], index=frame.index, dtype=object
    )
    digest = texts.map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:10]).astype(object)
    number = digest.groupby(digest).cumcount() + 1
    names = [f"c{one}-{count}" for one, count in zip(digest, number, strict=True)]
    return pd.DataFrame(
        {IDENTIFIER: names, "comment": texts, "participant": frame["participant"]}, dtype=object
    )


def cohens_kappa(tables: np.ndarray) -> np.ndarray:
    r"""Return Cohen's kappa of two coders from tables of counts, for many tables at once.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \quad p_o = \sum_i p_{ii}, \quad p_e = \sum_i p_{i\cdot} p_{\cdot i}

    Counts of shape (..., k, k): rows the first coder's category, columns the second's. NaN where both use one and the
    same category only, or nothing was coded.

    References
    ----------
    Cohen, J. (1960). Educational and Psychological Measurement 20, 37-46.

    Examples
    --------
    >>> round(float(cohens_kappa(np.array([[20, 5], [10, 15]]))), 3)
    0.4
    """
    tables = np.asarray(tables, dtype=float)
    n = tables.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1) / n
        expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / n**2
        return np.where(rounded(1 - expected) > 0, (observed - expected) / (1 - expected), np.nan)


def coder_agreement(
    study: Study, first: pd.DataFrame, second: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Return the agreement of two coders: Cohen's kappa for every code, participants resampled.

    Parameters
    ----------
    study : Study
        The data from which the sheets were made.
    first, second : DataFrame
        The sheets of :func:`coding_sheet` as coded, read by ``pandas.read_csv`` or ``pandas.read_excel``. A code
        applies where its cell holds 1, x or yes, and does not where it holds 0 or no or is blank. A comment counts if
        both coders gave it at least one code.
    bootstrap : ParticipantBootstrap
        Resamples of the participants who wrote the comments.

    Returns
    -------
    DataFrame
        One row per code: estimate (kappa, at most 1), low, high, n (comments that both coded), unit, method (with the
        number of times that each coder used the code), reason.

    Raises
    ------
    UserError
        If a sheet lacks a column, has a comment twice or one that is not in this study, or holds another answer.
    """
    require_own(study, bootstrap)
    comments = _named_comments(study).set_index(IDENTIFIER)
    coded = []
    for sheet, coder in ((first, "first"), (second, "second")):
        if lacking := [name for name in (IDENTIFIER, *CODEBOOK) if name not in sheet.columns]:
            raise UserError(
                f"The {coder} coder's sheet lacks the columns {', '.join(lacking)}. Keep the columns of the sheet "
                "that was coded: s7.words.coding_sheet(study)."
            )
        names = sheet[IDENTIFIER].astype(str).str.strip()
        if (doubled := names[names.duplicated()]).size:
            raise UserError(
                f"The {coder} coder's sheet has the comment {doubled.iloc[0]} twice. Keep one of the rows."
            )
        if (strange := names[~names.isin(comments.index)]).size:
            raise UserError(
                f"The {coder} coder's sheet has the comment {strange.iloc[0]}, which is not in this study. "
                "Give the study whose comments were coded."
            )
        answers = {
            code: [
                _answer(cell, code, coder, name)
                for cell, name in zip(sheet[code], names, strict=True)
            ]
            for code in CODEBOOK
        }
        frame = pd.DataFrame(answers, index=pd.Index(names), dtype=float)
        coded.append(frame[frame.any(axis=1)])
    both = comments.index[comments.index.isin(coded[0].index) & comments.index.isin(coded[1].index)]
    one, other = (sheet.loc[both].to_numpy(dtype=float) for sheet in coded)
    people = comments.loc[both, "participant"]

    def kappa(x: np.ndarray, y: np.ndarray) -> Estimate:
        need(len(both), "no comment was coded by both" if len(comments) else NO_COMMENTS)
        tables = np.stack([x, 1 - x], axis=1)[:, :, None] * np.stack([y, 1 - y], axis=1)[:, None, :]
        return bootstrap.estimate(cohens_kappa, tables, people)

    numbers = []
    for code, x, y in zip(CODEBOOK, one.T, other.T, strict=True):
        used = f"used {count_of(int(x.sum()), 'time')} by the first coder and {int(y.sum())} by the second"
        undefined = "neither coder, or both of them always, used this code"
        kind = "kappa", f"Cohen's kappa; {used}", people
        numbers.append(Number(code, lambda x=x, y=y: kappa(x, y), *kind, undefined=undefined))
    return tabulate("code", numbers, bootstrap)


def _answer(cell: object, code: str, coder: str, name: str) -> float:
    text = "" if pd.isna(cell) else str(cell).strip().lower()
    if (yes := text in {"1", "1.0", "x", "yes", "true"}) or text in {"0", "0.0", "", "no", "false"}:
        return float(yes)
    raise UserError(
        f"The {coder} coder's sheet has {cell!r:.40} under {code}, comment {name}. Write 1 where the code applies, and "
        "leave the cell blank where it does not."
    )


def echo(user: str, assistant: str) -> float:
    """Return the share of the different words of an answer that the user's message before it has as well.

    Words are those of :func:`terms_of`; NaN where either text has none.

    Examples
    --------
    >>> echo("My boss ignored me again", "Your boss ignored you, and that hurts")
    0.6666666666666666
    """
    own, before = set(terms_of(assistant)), set(terms_of(user))
    return len(own & before) / len(own) if own and before else float("nan")


@finding
def mimicry_proxies(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return every proxy with its association with the overall rating of the turn; n counts turns.

    - *echo*: :func:`echo`; its correlation with the overall rating within conversations, the length of the answer (log
      of one plus its words) held equal, since a long answer shares fewer of its words with a message.
    - *warmer than fitting*: Affective minus Response, correlated with the overall rating within conversations, the mean
      of the two held equal.
    """
    require_own(study, bootstrap)
    turns = turns_with_texts(study)
    shares = [
        echo(user, answer) for user, answer in zip(turns["user"], turns["assistant"], strict=True)
    ]
    length = [np.log1p(len(words_in(answer))) for answer in turns["assistant"]]
    turns = turns.assign(echo=np.array(shares, dtype=float), length=np.array(length, dtype=float))
    known = turns[turns["echo"].notna()]

    def mean_echo() -> np.ndarray:
        need(len(known), "no turn has a text and a user's message before it")
        return share(bootstrap, known["echo"], np.ones(len(known)), known["participant"])

    def within(frame: pd.DataFrame, columns: list[str], words: str) -> dict:
        both = frame[frame[columns].notna().all(axis=1)]
        method = f"correlation within conversations of {words}"
        if both.empty:
            reason = "no turn has both, with an overall rating"
            return estimate_row(n=0, unit="correlation", method=method, reason=reason)
        values = both[columns].to_numpy(dtype=float)
        return within_correlation(
            values, both["conversation"], both["participant"], bootstrap, method
        )

    warm, fit = (study.turns[name].astype(float) for name in ("Affective", "Response"))
    warmer = study.turns.assign(more=warm - fit, mean=(warm + fit) / 2)
    rows = {
        "echo, mean share of the answer's words": Number(
            "echo", mean_echo, "share of words", "mean over turns of the echo", known
        ).row(bootstrap),
        "echo and overall rating, length held equal": within(
            turns,
            ["echo", "overall", "length"],
            "echo and overall rating, length of the answer held equal",
        ),
        "warmer than fitting and overall rating": within(
            warmer,
            ["more", "overall", "mean"],
            "Affective minus Response and overall rating, mean of the two held equal",
        ),
    }
    keys = (
        "echo_share",
        "echo_with_overall_rating_equal_length",
        "warmer_than_fitting_with_overall_rating",
    )
    return estimate_table(rows, "proxy", dict(zip(rows, keys, strict=True)))
