"""Names of groups in keys."""

import re
from collections.abc import Iterable

import pandas as pd

from sense7.arguments import check_arguments

__all__ = ["numbered_keys", "safe_names"]


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Names that can stand in a key: letters, digits, dot, hyphen and underscore only, each another.

    Examples
    --------
    >>> safe_names(["gpt-4", "a <b>", "a [b]"])
    {'gpt-4': 'gpt-4', 'a <b>': 'a-b', 'a [b]': 'a-b-2'}
    """
    taken: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", str(name)).strip("-") or "unnamed"
        candidate, number = plain, 2
        while candidate in taken.values():
            candidate, number = f"{plain}-{number}", number + 1
        taken[name] = candidate
    return taken


def numbered_keys(table: pd.DataFrame, pattern: str) -> dict:
    """Keys for rows whose names come from a workbook: levels by the level, texts by their number from 1.

    Examples
    --------
    >>> numbered_keys(pd.DataFrame(index=["<b>", "work"]), "topic_mean_{}")
    {'<b>': 'topic_mean_1', 'work': 'topic_mean_2'}
    """
    numbers = enumerate(table.index, 1)
    return {name: pattern.format(name if isinstance(name, int) else number) for number, name in numbers}


check_arguments(globals())
