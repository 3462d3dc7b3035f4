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

import functools
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.files import digest_of, reading
from sense7.sources.converters import EXPERTS as EXPERTS  # noqa: PLC0414 -- readers of the tables name them, too
from sense7.sources.converters import IEVAL, ieval_task, rated_at_end
from sense7.sources.registry import REGISTRY, SOURCE_SHEET, SOURCES
from sense7.study import Study
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet

if TYPE_CHECKING:
    import pandas as pd


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

NO_TEXT = "(text not included)"
"""What stands in place of every message where released ratings are laid out as a workbook."""


@dataclass(frozen=True)
class ReleasedTable:
    """One table of released numbers, NAME.csv."""

    name: str
    source: str  # the data set whose release holds the numbers
    title: str
    work: str  # the paper whose release it is, as claims about it name it
    rows: int
    row: str  # what one row is of
    sha256: str
    also: str = ""  # who is credited before

    @property
    def file(self) -> str:
        """Path below ``data/``."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def acknowledgement(self) -> str:
        """Whom to credit, the licence, and where the numbers come from, in one line."""
        release = SOURCES[self.source]
        owner, repository, commit = release.address.rstrip("/").split("/")[-3:]
        page = f"https://github.com/{owner}/{repository}"
        return f"{self.also}{release.acknowledgement} Source: {page} at {commit[:7]}."


RELEASED = {name: ReleasedTable(name, **facts) for name, facts in REGISTRY["tables"].items()}
"""The tables, by their names."""


def verified_digest(name: str) -> str:
    """Give the SHA-256 of a table's file, which is the one that is pinned.

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
    digest = digest_of(content)
    if digest != table.sha256:
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

    Examples
    --------
    >>> ieval_workers()["teq"].between(0, 64).all()
    np.True_
    """
    return _table("ieval_workers")


def ieval_sheets() -> list[Sheet]:
    """Lay out iEval's conversations as the fetched data set is laid out, without texts.

    The participants have TEQ, the total of the Toronto Empathy Questionnaire.
    """
    conversations = []
    for row in ieval_conversations().to_dict("records"):
        ratings = {dimension: int(row[column]) for dimension, (_, column) in IEVAL.items()}
        facts = [row[key] for key in ("worker", "bot", "valence", "emotion", "likable")]
        messages = [("user", NO_TEXT), ("assistant", NO_TEXT)] * int(row["exchanges"])
        conversations.append((ieval_task(*facts, ratings), rated_at_end(messages, ratings)))
    people = [[row["worker"], float(row["teq"])] for row in ieval_workers().to_dict("records")]
    people_sheet = Sheet("Participants", ["PID", "TEQ"], people)
    return [*official_sheets(conversations), people_sheet, source_sheet("ieval", "ieval_workers")]


@functools.cache
def ieval_study() -> Study:
    """Read iEval's conversations as a study, for every statistic that takes one; always the same object."""
    from sense7.workbook.reading import STANDARD, parse_reading
    from sense7.workbook.sheets import parse_sheets

    return parse_sheets(
        {sheet.name: sheet for sheet in ieval_sheets()}, parse_reading(STANDARD), name="iEval"
    )


def source_sheet(*names: str) -> Sheet:
    """Make the sheet that says whose ratings a workbook without texts holds."""
    tables = [RELEASED[name] for name in names]
    rows = [
        [
            "note",
            f"{tables[0].title}, laid out as a SENSE-7 workbook without texts. It is not SENSE-7.",
        ],
        ["credit", tables[0].acknowledgement],
        *([f"sha256 of {table.file}", table.sha256] for table in tables),
    ]
    return Sheet(SOURCE_SHEET, ["key", "value"], rows)
