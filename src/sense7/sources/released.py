"""Ratings that other studies released, numbers only, which come with the project in ``data/real``.

Five tables from two releases. No text, no name and no demographic answer is in them; ids were assigned again after the
people were shuffled. Every file is pinned by its SHA-256, and a table is only ever read from a file that has it: what
was edited by hand, or cut short by a download, is refused. None of these ratings is of SENSE-7.

Kumar, A., Poungpeth, N., Yang, D., Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are Reliable
for Judging Empathic Communication. arXiv 2506.10150.

Yin, Y., Jia, N., Wakslak, C. J. (2024). AI can help people feel heard, but an AI label diminishes this impact. PNAS,
121(14).

Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain Empathetic
Chatbots. SIGDIAL.
"""

import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.files import reading
from sense7.sources.lend_an_ear import EXPERTS
from sense7.sources.registry import SOURCES

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CORPORA",
    "CROWD",
    "EXPERTS",
    "FEELINGS",
    "FOLDER",
    "JUDGES",
    "PERSON",
    "RELEASED",
    "ReleasedTable",
    "describe_released",
    "felt_heard",
    "ieval_conversations",
    "ieval_workers",
    "judged_conversations",
    "published_agreement",
    "verified_digest",
]

FOLDER = "real"
"""Where the tables lie below ``data/``."""

CROWD = "crowd"
JUDGES = {"gpt": "GPT-4o", "claude": "Claude 3.7 Sonnet", "gemini": "Gemini 2.5 Pro"}
"""The language models that judged the conversations: column -> model."""

PERSON = "self"
"""Column with the rating by the person who was answered."""

CORPORA = {
    "empatheticdialogues": "EmpatheticDialogues",
    "epitome": "EPITOME",
    "lend_an_ear": "Lend an Ear",
    "perceived_empathy": "Perceived Empathy",
}
"""The four corpora of Kumar and others: key -> name for readers."""

FEELINGS = ("understood", "validated", "affirmed", "seen", "accepted", "caredfor")
"""What a person rated in "Felt heard", and what observers rated in the corpus Perceived Empathy."""

_FEW = 9
"""Texts of a column that are listed one by one."""

_KUMAR = SOURCES["lend-an-ear"]
_IEVAL = SOURCES["ieval"]
_KUMAR_PAGE = "https://github.com/aakriti1kumar/replication-data-and-code-when-LLMs-reliable-empathic-communication"
_IEVAL_PAGE = "https://github.com/Sea94/ieval"


@dataclass(frozen=True)
class ReleasedTable:
    """One table of released numbers.

    Attributes
    ----------
    name : str
        Of the table; the file is called NAME.csv.
    title : str
        What a reader sees.
    work : str
        The paper whose release it is, as claims about it name it.
    rows : int
        Its number of rows.
    row : str
        What one row is of.
    sha256 : str
        What the file must be.
    page : str
        The repository that holds the release.
    commit : str
        The commit that the numbers were taken from.
    licence : str
        SPDX identifier.
    credit : str
        Whom to credit, in words.
    """

    name: str
    title: str
    work: str
    rows: int
    row: str
    sha256: str
    page: str
    commit: str
    licence: str
    credit: str

    @property
    def file(self) -> str:
        """Path below ``data/``."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def acknowledgement(self) -> str:
        """Whom to credit, the licence, and where the numbers come from, in one line."""
        return f"{self.credit} Licence of the data: {self.licence}. Source: {self.page} at {self.commit[:7]}."


def _of_kumar(name: str, title: str, rows: int, row: str, sha256: str, credit: str = "") -> ReleasedTable:
    commit = "713458108e28897fccf136a6337296b5199cb617"
    work = "Kumar and others (arXiv 2506.10150)"
    return ReleasedTable(name, title, work, rows, row, sha256, _KUMAR_PAGE, commit, "MIT", credit + _KUMAR.credit)


def _of_ieval(name: str, title: str, rows: int, row: str, sha256: str) -> ReleasedTable:
    commit = "bc98053e8ba6acf69ae154209192e44326dd47c0"
    work = "Svikhnushina and others (iEval, 2022)"
    return ReleasedTable(name, title, work, rows, row, sha256, _IEVAL_PAGE, commit, "CC-BY-4.0", _IEVAL.credit)


RELEASED: dict[str, ReleasedTable] = {
    table.name: table
    for table in (
        _of_kumar(
            "judged_conversations",
            "200 conversations, judged by experts, crowd and language models",
            1_050,
            "conversation and question",
            "87df1799d5e57c8ccaeb9113f743842540bcb9af159d43b6ab29f535a2cb59c8",
        ),
        _of_kumar(
            "published_agreement",
            "Agreement between raters, as published",
            126,
            "question and pair of raters",
            "0e067c0a531b408c1f5c5215a30479c87893c0a814bc97ff6b83f3968dc24424",
        ),
        _of_kumar(
            "felt_heard",
            "Felt heard: people who were answered by an AI or by a person",
            455,
            "person",
            "fdb21dddc66042390dbd7a58d086ef6f9634ec870128f225c54f146e21ce2bc9",
            "Yin, Jia, Wakslak: AI can help people feel heard, but an AI label diminishes this impact. PNAS, 2024. "
            "Released with ",
        ),
        _of_ieval(
            "ieval",
            "iEval: conversations with four chatbots, rated by those who had them",
            1_920,
            "conversation",
            "775c867fbdbf9e53d6d7e054864e7dda3c900a701a7c1c7978acb67ef21775c1",
        ),
        _of_ieval(
            "ieval_workers",
            "iEval: the people, with the Toronto Empathy Questionnaire",
            240,
            "person",
            "fde8866f3d202812fd72cd6dcc036803fa203e9ee5e226dded58385e09acbf39",
        ),
    )
}
"""The tables, by their names."""


def verified_digest(name: str) -> str:
    """Give the SHA-256 of a table's file, which is the one that is pinned.

    Parameters
    ----------
    name : str
        One of ``RELEASED``.

    Returns
    -------
    str
        In hex.

    Raises
    ------
    UserError
        If there is no such table, or its file is missing or is not the one that is pinned.

    Examples
    --------
    >>> verified_digest("ieval")[:8]
    '775c867f'
    """
    _verified(name)
    return RELEASED[name].sha256


def _verified(name: str) -> bytes:
    """Read the bytes of a table's file, and refuse all others than those that are pinned."""
    if name not in RELEASED:
        raise UserError(f"{name}: not a table of released ratings. Known: {', '.join(RELEASED)}.")
    table = RELEASED[name]
    path = data_file(table.file)
    with reading(path) as stream:
        content = stream.read()
    if (digest := hashlib.sha256(content).hexdigest()) != table.sha256:
        raise UserError(
            f"{path}: not the table that was released (sha256 {table.sha256[:12]}... expected, {digest[:12]}... "
            f"found). Restore the file: git checkout -- data/{table.file}"
        )
    return content


def _table(name: str) -> "pd.DataFrame":
    """Parse the very bytes that were verified."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(_verified(name)), keep_default_na=False, na_values=[""])


def judged_conversations() -> "pd.DataFrame":
    """Ratings of 200 conversations in four corpora by experts, crowd, language models and, in part, the person.

    Returns
    -------
    DataFrame
        One row per conversation and question (1,050): corpus (key of ``CORPORA``), conversation, question; lowest and
        highest (ends of the question's scale, whole numbers); expert1, expert2, expert3, crowd (mean of the crowd),
        gpt, claude, gemini (ratings on that scale, none missing); self (what the person who was answered felt: six of
        the nine questions of Perceived Empathy, NaN elsewhere).

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> table = judged_conversations()
    >>> table.groupby("corpus")["conversation"].nunique().to_dict()
    {'empatheticdialogues': 50, 'epitome': 50, 'lend_an_ear': 50, 'perceived_empathy': 50}
    """
    return _table("judged_conversations")


def published_agreement() -> "pd.DataFrame":
    """Agreement between raters of these conversations as their authors published it.

    Returns
    -------
    DataFrame
        One row per question and pair of raters (126): corpus, question; first and second (expert1, expert2, expert3,
        experts, crowd, llm); spearman (Spearman correlation) and kappa (quadratic weighted kappa), two decimals.

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Notes
    -----
    The authors' conventions: ``experts`` is the median of the three experts; ``llm`` is Gemini 2.5 Pro alone; the
    weights of kappa count steps between the values that occur in either series, not steps of the scale.

    Examples
    --------
    >>> published_agreement().set_index(["question", "first", "second"]).loc[("empathy", "experts", "llm")].to_dict()
    {'corpus': 'empatheticdialogues', 'spearman': 0.64, 'kappa': 0.34}
    """
    return _table("published_agreement")


def felt_heard() -> "pd.DataFrame":
    """How people felt after an answer by an AI or a person that was labeled as by an AI or a person.

    Returns
    -------
    DataFrame
        One row per person (455): participant; response (who answered: ``ai`` or ``human``); label (who was said to have
        answered); ``FEELINGS`` (self-ratings, 1 .. 7).

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> felt_heard().groupby(["response", "label"]).size().to_dict()
    {('ai', 'ai'): 124, ('ai', 'human'): 110, ('human', 'ai'): 110, ('human', 'human'): 111}
    """
    return _table("felt_heard")


def ieval_conversations() -> "pd.DataFrame":
    """Conversations of people with four chatbots, each rated by the person who had it.

    Returns
    -------
    DataFrame
        One row per conversation (1,920 = 240 people, four chatbots, two valences): worker, bot, valence (``positive``
        or ``negative``), emotion (the scenario); polite, insulting, attentive, inattentive, understood, appropriate,
        likable, repetitive, sensible (agreement with a statement, 1 .. 5); inverse_rank (1 .. 3, 3 is best); exchanges.

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> table = ieval_conversations()
    >>> round(float(table["understood"].corr(table["appropriate"])), 3)
    0.878
    """
    return _table("ieval")


def ieval_workers() -> "pd.DataFrame":
    """The people of iEval, with their answers to the Toronto Empathy Questionnaire.

    Returns
    -------
    DataFrame
        One row per person (240): worker, elapsed_seconds; teq (total of the questionnaire, 0 .. 64) and teq_1 ..
        teq_16 (its answers, 0 .. 4; those worded negatively as they were given, so that they do not add up to teq).

    Raises
    ------
    UserError
        If the file is missing or is not the one that is pinned.

    Examples
    --------
    >>> ieval_workers()["teq"].between(0, 64).all()
    np.True_
    """
    return _table("ieval_workers")


def describe_released() -> list[dict]:
    """Describe every table: source, licence, credit, and each column with its values.

    Returns
    -------
    list of dict
        Plain values, ready for JSON: name, title, file, sha256, page, commit, licence, credit, rows, row (what one row
        is), and columns: name -> ``missing`` (rows without a value) with ``lowest`` and ``highest`` for numbers, or
        ``values`` (the distinct texts; their number where there are many).

    Raises
    ------
    UserError
        If a file is missing or is not the one that is pinned.

    Examples
    --------
    >>> describe_released()[2]["columns"]["label"]
    {'missing': 0, 'values': ['ai', 'human']}
    """
    described = []
    for name, table in RELEASED.items():
        frame = _table(name)
        facts = {key: value for key, value in vars(table).items() if key != "work"} | {"file": f"data/{table.file}"}
        described.append(facts | {"columns": {str(column): _column(frame[column]) for column in frame}})
    return described


def _column(cells: "pd.Series") -> dict:
    missing = {"missing": int(cells.isna().sum())}
    if cells.dtype.kind in "iufb":
        return missing | {"lowest": float(cells.min()), "highest": float(cells.max())}
    texts = sorted(cells.dropna().unique())
    return missing | {"values": texts if len(texts) <= _FEW else len(texts)}
