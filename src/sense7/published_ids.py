"""Ids on the pages of one's own workbook: people are P1, P2 ... and conversations C1, C2 ... in their order.

An id may be a name or an address. The table that leads back to the original ids lies beside the edition's copy of the
workbook, in ``data``, which no site holds.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sense7.errors import UserError
from sense7.files import read_json, write_whole
from sense7.study import Study
from sense7.terminal import count_of

LETTERS = {"participant": "P", "conversation": "C"}
"""Column of a study's frames -> letter of its published ids."""


def table_path(workbook: Path) -> Path:
    """Give the place of the table of published ids: beside the workbook.

    Examples
    --------
    >>> table_path(Path("data/mine.xlsx")).name
    'mine.xlsx.published-ids.json'
    """
    return workbook.with_name(f"{workbook.name}.published-ids.json")


def number_ids(study: Study) -> dict[str, dict[str, str]]:
    """Number people and conversations in the order of sheet Tasks: column -> original id -> published id."""
    published = {}
    for column, letter in LETTERS.items():
        originals = list(study.conversations[column].dropna())
        if column == "participant" and study.participants is not None:
            originals += list(study.participants[column].dropna())
        distinct = dict.fromkeys(originals)
        published[column] = {name: f"{letter}{n}" for n, name in enumerate(distinct, 1)}
    return published


def with_published_ids(study: Study, published: Mapping[str, Mapping[str, str]]) -> Study:
    """Return the study under its published ids, without its raw sheets and without an original id in a diagnostic."""
    frames = {}
    for name in ("conversations", "messages", "turns", "participants"):
        frame = getattr(study, name)
        if frame is None:
            continue
        for column in published.keys() & set(frame.columns):
            renamed = frame[column].map(published[column]).astype(frame[column].dtype)
            frame = frame.assign(**{column: renamed})
        frames[name] = frame
    diagnostics = []
    for diagnostic in study.diagnostics:
        values = diagnostic.values
        if diagnostic.holds_ids:  # sheet, column and rows lead to the cell
            values = []
        diagnostics.append(replace(diagnostic, values=values))
    return replace(study, **frames, sheets={}, diagnostics=diagnostics, published_ids=published)


def write_published_ids(workbook: Path, study: Study) -> None:
    """Write the table of a study's published ids beside a workbook: column -> published id -> original id."""
    if study.published_ids:
        table = {}
        for column, ids in study.published_ids.items():
            table[column] = {published: original for original, published in ids.items()}
        write_whole(table_path(workbook), json.dumps(table, indent=1) + "\n", replace=True)


def read_published_ids(workbook: Path) -> dict[str, dict[str, str]]:
    """Read the table beside a workbook: column -> original id -> published id; {} where there is none."""
    path = table_path(workbook)
    if not path.exists():
        return {}
    try:
        table = read_json(path)
        return {
            column: {original: published for published, original in table[column].items()}
            for column in LETTERS
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UserError(
            f"{path}: not the table of ids that a build writes. Restore it, or build the edition again."
        ) from None


def texts_of(study: Study) -> str:
    """What pages hold of a study word for word, in numbers."""
    characteristics = 0
    if study.participants is not None:
        characteristics = len(study.participants.columns.difference(["participant", "row"]))
    counts = (
        count_of(study.messages["content"].notna().sum(), "message"),
        count_of(study.messages["comment"].notna().sum(), "comment"),
        count_of(study.conversations["topic"].nunique(), "topic"),
        count_of(characteristics, "characteristic"),
    )
    people = count_of(study.conversations["participant"].nunique(), "participant")
    return f"{', '.join(counts[:-1])} and {counts[-1]} of {people}"
