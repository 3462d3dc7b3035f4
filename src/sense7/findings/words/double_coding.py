"""Comments coded by two people: a sheet to code, the codebook, and the agreement of the two.

Themes of comments are judged by readers. So that a reader's coding can be checked, two people code the same comments,
each in a sheet of their own, without knowing how the turn was rated; their agreement is computed code by code.
"""

import hashlib

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.words.terms import NO_COMMENTS, commented_turns
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["codebook", "coder_agreement", "coding_sheet"]

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
_YES, _NO = {"1", "1.0", "x", "yes", "true"}, {"0", "0.0", "", "no", "false"}
_DIGITS = 10


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

    The sheet lacks the rating of the turn, the author of the comment and the condition: a coder should not know them.

    Parameters
    ----------
    seed : int
        Of the order; two coders may get sheets in different orders, as comments have names of their own.

    Returns
    -------
    DataFrame
        ``comment id`` (of the comment's text, so that it stays the same in every order), ``comment``, then the codes of
        ``CODEBOOK``, all empty. A coder writes 1 where a code applies; several may.
    """
    comments = _named_comments(study)
    order = np.random.default_rng(seed).permutation(len(comments))
    shuffled = comments.iloc[order].reset_index(drop=True)
    return shuffled[[IDENTIFIER, "comment"]].assign(**dict.fromkeys(CODEBOOK, ""))


def _named_comments(study: Study) -> pd.DataFrame:
    """Comments in file order: comment id, comment (white space folded), participant."""
    frame = commented_turns(study)
    frame = frame[frame["comment"].notna()]
    texts = pd.Series([" ".join(text.split()) for text in frame["comment"]], index=frame.index, dtype=object)
    digest = texts.map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]).astype(object)
    number = digest.groupby(digest).cumcount() + 1
    names = [f"c{one}-{count}" for one, count in zip(digest, number, strict=True)]
    return pd.DataFrame({IDENTIFIER: names, "comment": texts, "participant": frame["participant"]}, dtype=object)


def cohens_kappa(tables: np.ndarray) -> np.ndarray:
    r"""Return Cohen's kappa of two coders from tables of counts, for many tables at once.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \quad p_o = \sum_i p_{ii}, \quad p_e = \sum_i p_{i\cdot} p_{\cdot i}

    Parameters
    ----------
    tables : array, shape (..., k, k)
        Counts: rows the first coder's category, columns the second's.

    Returns
    -------
    array, shape (...)
        At most 1; NaN where both use one and the same category only, or nothing was coded.

    References
    ----------
    Cohen, J. (1960). Educational and Psychological Measurement 20, 37-46.

    Notes
    -----
    Checked against sklearn.metrics.cohen_kappa_score.

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
        return np.where(1 - expected > 1e-12, (observed - expected) / (1 - expected), np.nan)


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
    coded = [_answers(sheet, coder, comments.index) for coder, sheet in (("first", first), ("second", second))]
    both = comments.index[comments.index.isin(coded[0].index) & comments.index.isin(coded[1].index)]
    one, other = (sheet.loc[both].to_numpy(dtype=float) for sheet in coded)
    participants = comments.loc[both, "participant"]
    rows = {}
    for column, code in enumerate(CODEBOOK):
        x, y = one[:, column], other[:, column]
        method = (
            f"Cohen's kappa; used {count_of(int(x.sum()), 'time')} by the first coder and {int(y.sum())} by the second"
        )
        common = {"n": len(both), "unit": "kappa", "method": method}
        if not len(both):
            reason = "no comment was coded by both" if len(comments) else NO_COMMENTS
            rows[code] = estimate_row(**common, reason=reason)
            continue
        tables = np.stack([x, 1 - x], axis=1)[:, :, None] * np.stack([y, 1 - y], axis=1)[:, None, :]
        kappa = bootstrap.estimate(cohens_kappa, tables, participants)
        rows[code] = bootstrap.row(kappa, **common, undefined="neither coder, or both of them always, used this code")
    return estimate_table(rows, "code")


def _answers(sheet: pd.DataFrame, coder: str, known: pd.Index) -> pd.DataFrame:
    """Answers of a coder, 0 or 1, for the comments that have any; refused where they can't be read."""
    if lacking := [name for name in (IDENTIFIER, *CODEBOOK) if name not in sheet.columns]:
        raise UserError(
            f"The {coder} coder's sheet lacks the columns {', '.join(lacking)}. Keep the columns of the sheet "
            "that was coded: s7.words.coding_sheet(study)."
        )
    names = sheet[IDENTIFIER].astype(str).str.strip()
    if (doubled := names[names.duplicated()]).size:
        raise UserError(f"The {coder} coder's sheet has the comment {doubled.iloc[0]} twice. Keep one of the rows.")
    if (strange := names[~names.isin(known)]).size:
        raise UserError(
            f"The {coder} coder's sheet has the comment {strange.iloc[0]}, which is not in this study. "
            "Give the study whose comments were coded."
        )
    answers = pd.DataFrame(
        {
            code: [_answer(cell, code, coder, name) for cell, name in zip(sheet[code], names, strict=True)]
            for code in CODEBOOK
        },
        index=pd.Index(names),
        dtype=float,
    )
    return answers[answers.any(axis=1)]


def _answer(cell: object, code: str, coder: str, name: str) -> float:
    text = "" if pd.isna(cell) else str(cell).strip().lower()
    if text in _YES or text in _NO:
        return float(text in _YES)
    raise UserError(
        f"The {coder} coder's sheet has {cell!r:.40} under {code}, comment {name}. Write 1 where the code applies, and "
        "leave the cell blank where it does not."
    )


check_arguments(globals())
