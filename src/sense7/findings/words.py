"""Comments and words: who comments, in which words, quotations by a rule, and double coding.

Where turns have no overall rating, the rounded mean of their dimensions takes its place.
"""

import re
from functools import partial

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import digest_of
from sense7.findings.core import Needs, Number, finding, frame_of, mean_number, resampled, tabulate
from sense7.findings.ground_truth import labels
from sense7.findings.measures import answers_to, is_poor, turn_levels
from sense7.segmentation import folded_words_in
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import COLUMNS, Estimate, estimate_row, estimate_table
from sense7.statistics.least_squares import indicators
from sense7.statistics.order import rounded
from sense7.statistics.rater_agreement import pair_tables, weighted_kappa
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
    "quotations",
]

GOOD = 4
"""A turn is good if its level is at least this."""

FEWEST_PEOPLE = 3
"""Fewest participants who use a term about turns of the kind that it is said to mark."""

_MARKED = ("poor", "good")
"""Turns whose comments are compared."""

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
    levels = turn_levels(study)[0].rename(columns={"level": "rating"})
    ratings = levels[["conversation", "turn", "rating"]]
    frame = turns.merge(ratings, on=["conversation", "turn"], how="left")
    frame = frame.astype({"rating": float})
    frame["level"] = labels(frame["rating"])

    comments = study.messages[["conversation", "position", "comment"]]
    comments = comments[comments["comment"].map(str.strip, na_action="ignore").fillna("") != ""]
    frame = frame.merge(comments, on=["conversation", "position"], how="left")
    comment = frame["comment"].astype(object)
    return frame.drop(columns="position").assign(comment=comment.where(comment.notna(), None))


@finding
def comment_counts(study: Study) -> pd.DataFrame:
    """Return the number of comments on assistant turns, and of participants who wrote them; counted, so no interval."""
    frame = commented_turns(study)
    written = frame[frame["comment"].notna()]
    counts = {
        "comments": (len(written), len(frame)),
        "commenting_participants": (
            written["participant"].nunique(),
            frame["participant"].nunique(),
        ),
    }
    rows = {}
    for key, (count, n) in counts.items():
        unit = f"number of {key.removeprefix('commenting_')}"
        rows[key] = estimate_row(count, n=n, unit=unit, method="counted", key=key)
    return estimate_table(rows, "count")


@finding
def comment_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of rated turns with a comment, of all and by level; turns without a level are left out."""
    frame = commented_turns(study)
    rated = frame[frame["level"].notna()]

    def number(label: str, turns: pd.DataFrame, key: str) -> Number:
        return mean_number(
            bootstrap,
            turns["comment"].notna(),
            turns,
            label=label,
            unit="share of turns",
            method="rated turns with a comment by rated turns",
            counted="turn",
            needs=Needs(answers=answers_to(study, "a comment")),
            key=key,
        )

    numbers = [number("all rated turns", rated, "comment_share")]
    for level, name in enumerate(LEVELS, 1):
        turns_of_level = rated[rated["level"] == level]
        numbers.append(number(name, turns_of_level, f"comment_share_{name.replace(' ', '_')}"))
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
    counts = np.asarray(counts, dtype=float)
    totals = np.asarray(totals, dtype=float)
    term = counts + np.asarray(prior, dtype=float)[..., None]
    other_terms = totals + prior_total - term
    odds = np.log(term / other_terms)
    return odds[..., 0] - odds[..., 1]


@finding
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
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    quality = np.select(
        [is_poor(frame["level"]), frame["level"] >= GOOD], list(_MARKED), default="neither"
    )
    terms_of_comments = [terms_of(comment) for comment in frame["comment"]]
    frame = frame.assign(kind=quality, term=terms_of_comments)
    words = frame[["participant", "kind", "term"]].explode("term").dropna(subset=["term"])
    marked = pd.concat([words[words["kind"] == quality] for quality in _MARKED])
    columns = ["term", *COLUMNS, "kind", "z", "poor", "good", "participants"]
    rows = []
    if set(marked["kind"]) == set(_MARKED):
        ranked, prior_total = _ranked_terms(words)
        is_beyond = {"poor": rounded(ranked["z"]) > 0, "good": rounded(ranked["z"]) < 0}
        for quality in _MARKED:
            enough_people = ranked[f"people_{quality}"] >= FEWEST_PEOPLE
            candidates = ranked[is_beyond[quality] & enough_people]
            leading = candidates[:count] if quality == "poor" else candidates[-count:]
            for term, of_term in leading.iterrows():
                row = _row_of_term(marked, term, of_term["prior"], prior_total, bootstrap)
                row.update(term=term, kind=quality, z=of_term["z"])
                row.update(poor=int(of_term["poor"]), good=int(of_term["good"]))
                row["participants"] = int(of_term[f"people_{quality}"])
                rows.append(row)
    return pd.DataFrame(rows, columns=columns).set_index("term")


def _ranked_terms(words: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """Terms in the order of z, with uses and users about poor and good turns and the prior; words of the prior."""
    ranked = pd.DataFrame(index=pd.Index(sorted(words["term"].unique())))
    for quality in _MARKED:
        of_quality = words[words["kind"] == quality]
        uses = of_quality["term"].value_counts()
        people = of_quality.groupby("term")["participant"].nunique()
        ranked[quality] = uses.reindex(ranked.index, fill_value=0).astype(float)
        ranked[f"people_{quality}"] = people.reindex(ranked.index, fill_value=0)
    counts = ranked[list(_MARKED)].to_numpy()
    totals = counts.sum(axis=0)
    prior_total = min(500, totals.min())
    uses_in_all = words["term"].value_counts().reindex(ranked.index).to_numpy()
    prior = prior_total * uses_in_all / len(words)
    errors = np.sqrt((1 / (counts + prior[:, None])).sum(axis=1))
    ranked["z"] = log_odds(counts, totals, prior, prior_total) / errors
    ranked["prior"] = prior
    order = np.lexsort((ranked.index, -rounded(ranked["z"])))
    return ranked.iloc[order], prior_total


def _row_of_term(
    words: pd.DataFrame,
    term: str,
    prior: float,
    prior_total: float,
    bootstrap: ParticipantBootstrap,
) -> dict:
    """The log-odds ratio of a term with its interval, from the words about poor and good turns."""
    of_quality = indicators(words["kind"], _MARKED)
    is_term = (words["term"] == term).to_numpy()
    uses = of_quality * is_term[:, None]

    def statistic(sums: np.ndarray) -> np.ndarray:
        return log_odds(sums[..., 0, :], sums[..., 1, :], np.asarray(prior), prior_total)

    values = np.stack([uses, of_quality], axis=1)
    estimate = bootstrap.estimate(statistic, values, words["participant"])
    if not uses.any(axis=0).all():
        # A word that nobody uses in the sample is in no resample: the interval would be too narrow.
        why = "no interval: used about turns of one kind only, and resampling can't tell how sure that is"
        estimate = Estimate(estimate.estimate, reason=why)
    return bootstrap.row(
        estimate,
        n=int(uses.sum()),
        unit="log-odds ratio",
        method="log-odds ratio with an informative Dirichlet prior",
    )


@finding
def leading_terms(terms: pd.DataFrame) -> pd.DataFrame:
    """Return the term that marks comments on poor turns most, and that of good ones, of :func:`distinctive_terms`.

    The estimate is the term, a text of letters only; None if no z is beyond chance, at least 1.96 in size.
    """
    rows = {}
    for quality, position in (("poor", 0), ("good", -1)):
        is_beyond_chance = rounded(terms["z"].astype(float).abs()) >= 1.96
        marking = terms[(terms["kind"] == quality) & is_beyond_chance]
        row = dict.fromkeys(COLUMNS, np.nan)
        row["unit"] = "term"
        row["method"] = "largest z of the log-odds ratio"
        if marking.empty:
            row["n"] = 0
            row["reason"] = f"no term stands out in comments on {quality} turns"
        else:
            row["estimate"] = marking.index[position]
            row["n"] = int(marking["n"].iloc[position])
            row["reason"] = ""
        rows[quality] = row
    return estimate_table(rows, "turns", {quality: f"term_of_{quality}_turns" for quality in rows})


def typical_in_length(comments: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the comments whose length is nearest to the median length: the rule by which quotations are chosen.

    At most one comment per participant, each wording once; of equally near ones the first. Rows stay in their order.

    Examples
    --------
    >>> frame = pd.DataFrame({"participant": ["a", "a", "b"], "comment": ["kind", "it was kind", "so  kind"]})
    >>> typical_in_length(frame, 1)["comment"].tolist()
    ['so kind']
    """
    folded = comments["comment"].map(_folded).astype(object)
    length = folded.str.len()
    distance = (length - length.median()).abs()
    ordered = comments.assign(comment=folded, distance=distance, order=range(len(comments)))
    ordered = ordered.sort_values(["distance", "order"])
    distinct = ordered.drop_duplicates("comment").drop_duplicates("participant")
    return distinct.head(count).sort_values("order").drop(columns=["distance", "order"])


def _folded(text: str) -> str:
    """A text with each stretch of white space as one space."""
    return " ".join(text.split())


def quotations(study: Study, count: int = 5) -> pd.DataFrame:
    """Return so many comments of poor and of good turns: kind, level in words, comment; see `typical_in_length`."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    poor = typical_in_length(frame[is_poor(frame["level"])], count)
    good = typical_in_length(frame[frame["level"] >= GOOD], count)
    chosen = pd.concat([poor.assign(turn="poor"), good.assign(turn="good")], ignore_index=True)
    levels = [LEVELS[int(level) - 1] for level in chosen["level"]]
    table = pd.DataFrame({"turn": chosen["turn"], "level": levels, "comment": chosen["comment"]})
    return table.set_index(pd.RangeIndex(1, len(table) + 1, name="number"))


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
    return frame_of(CODEBOOK, "code", columns)


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
    comments = frame["comment"]
    texts = pd.Series([_folded(text) for text in comments], index=frame.index, dtype=object)
    digests = pd.Series([digest_of(text.encode())[:10] for text in texts], dtype=object)
    # Equal comments are numbered.
    numbers = digests.groupby(digests).cumcount() + 1
    names = [f"c{digest}-{number}" for digest, number in zip(digests, numbers, strict=True)]
    columns = {IDENTIFIER: names, "comment": texts, "participant": frame["participant"]}
    return pd.DataFrame(columns, dtype=object)


@finding
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
    comments = _named_comments(study).set_index(IDENTIFIER)
    first = _coded(first, "first", comments.index)
    second = _coded(second, "second", comments.index)
    in_both = comments.index.isin(first.index) & comments.index.isin(second.index)
    coded = comments[in_both]

    def number(code: str) -> Number:
        x = first.loc[coded.index, code].to_numpy()
        y = second.loc[coded.index, code].to_numpy()
        tables = pair_tables(x, y)
        uses = f"used {count_of(int(x.sum()), 'time')} by the first coder and {int(y.sum())} by the second"
        return Number(
            label=code,
            # With two categories, weighted kappa is Cohen's.
            statistic=partial(resampled, bootstrap, weighted_kappa, tables, coded["participant"]),
            unit="kappa",
            method=f"Cohen's kappa; {uses}",
            rows=coded["participant"],
            counted="comment",
            undefined="neither coder, or both of them always, used this code",
        )

    return tabulate("code", [number(code) for code in CODEBOOK], bootstrap)


def _coded(sheet: pd.DataFrame, coder: str, comments: pd.Index) -> pd.DataFrame:
    """Comments to which a coder gave at least one code: 1 where a code applies, 0 where it does not."""
    lacking = [name for name in (IDENTIFIER, *CODEBOOK) if name not in sheet.columns]
    if lacking:
        raise UserError(
            f"The {coder} coder's sheet lacks the columns {', '.join(lacking)}. Keep the columns of the sheet "
            "that was coded: words.coding_sheet(study)."
        )
    names = sheet[IDENTIFIER].astype(str).str.strip()
    repeated = names[names.duplicated()]
    if len(repeated):
        raise UserError(
            f"The {coder} coder's sheet has the comment {repeated.iloc[0]} twice. Keep one of the rows."
        )
    strange = names[~names.isin(comments)]
    if len(strange):
        raise UserError(
            f"The {coder} coder's sheet has the comment {strange.iloc[0]}, which is not in this study. "
            "Give the study whose comments were coded."
        )
    answers = {}
    for code in CODEBOOK:
        cells = zip(sheet[code], names, strict=True)
        answers[code] = [_answer(cell, code, coder, name) for cell, name in cells]
    frame = pd.DataFrame(answers, index=pd.Index(names), dtype=float)
    return frame[frame.any(axis=1)]


def _answer(cell: object, code: str, coder: str, name: str) -> float:
    text = "" if pd.isna(cell) else str(cell).strip().lower()
    if text in {"1", "1.0", "x", "yes", "true"}:
        return 1.0
    if text in {"0", "0.0", "", "no", "false"}:
        return 0.0
    raise UserError(
        f"The {coder} coder's sheet has {cell!r:.40} under {code}, comment {name}. Write 1 where the code applies, and "
        "leave the cell blank where it does not."
    )
