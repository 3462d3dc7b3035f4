"""Where replies come from: whether the model that was asked gave them, and whether each was generated for its run."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from sense7.taxonomy import SIMULATED_JUDGE
from sense7.terminal import count_of

__all__ = ["RepliesSeen", "distinct_models", "in_words", "is_model", "other_models"]

_DATED = re.compile(
    r"[-@:](?:\d{3}|\d{4}|\d{6}|\d{8}|\d{4}-\d{2}-\d{2})(?:-preview)?|[-:]latest|-preview|\.gguf"
)


def is_model(requested: str, returned: str) -> bool:
    """Whether a returned name is that of the model asked for; it may have a folder, a date or "latest" besides.

    Examples
    --------
    >>> is_model("gpt-4o", "gpt-4o-2024-08-06"), is_model("openai/gpt-4o", "gpt-4o"), is_model("gpt-4o", "gpt-4o-mini")
    (True, True, False)
    >>> is_model("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"), is_model("gpt-4", "gpt-4.1")
    (False, False)
    """
    names = []
    for model in (requested, returned):
        name = model.strip().casefold().replace("\\", "/").rsplit("/", 1)[-1]
        # Without what says that it is the latest.
        names.append(name.removesuffix(":latest").removesuffix("-latest").removesuffix(".gguf"))
    shorter, longer = sorted(names, key=len)
    if not longer.startswith(shorter):
        return False
    further = longer[len(shorter) :]
    return not further or _DATED.fullmatch(further) is not None


def distinct_models(names: Iterable[str]) -> list[str]:
    """Names of models, each model once: by its longest name, which may have a date.

    Examples
    --------
    >>> distinct_models(["gpt-4o", "gpt-4o-2024-05-13", "gpt-4o-2024-08-06", "openai/gpt-4o"])
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06']
    """
    distinct: list[str] = []
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        if not any(is_model(longer, name) for longer in distinct):
            distinct.append(name)
    return sorted(distinct)


def other_models(frame: pd.DataFrame) -> list[str]:
    """Notes on replies of a run by another model than the one asked for, or by several versions."""
    replies = frame[frame["output"].notna() & (frame["model"] != SIMULATED_JUDGE)]
    names = replies[["model", "returned_model"]].dropna().astype(str)
    counts = Counter(names.itertuples(index=False, name=None))
    requested, answering = {}, []
    versions = Counter()
    for (model, returned), count in counts.items():
        if is_model(model, returned):
            versions[returned] += count
        else:
            requested[model] = None  # each once, in order
            answering.append(f"{returned} ({count_of(count, 'reply', 'replies')})")
    notes = []
    if answering:
        notes.append(
            f"asked was the model {' and '.join(requested)}; "
            f"the endpoint says that another answered: {', '.join(answering)}"
        )
    if len(distinct_models(versions)) > 1:
        parts = [
            f"{name} ({count_of(count, 'reply', 'replies')})" for name, count in versions.items()
        ]
        notes.append(f"several versions of the model answered: {', '.join(parts)}")
    return notes


@dataclass
class RepliesSeen:
    """Replies of earlier runs, by conversation, id and text: the same once more is no further one, but from a cache."""

    _replies: set[tuple[str, str, str]] = field(default_factory=set)

    def repeated(self, frame: pd.DataFrame) -> tuple[int, int]:
        """Add a run; give how many of its replies were there in an earlier run, and how many replies it has."""
        answered = frame[frame["output"].notna()]
        identified = answered[answered["response_id"].notna()]
        # Some servers give every reply one id, which says nothing.
        identified = identified[~identified["response_id"].duplicated(keep=False)]
        replies = set()
        if len(identified) > 1:
            rows = identified[["conversation", "response_id", "output"]].astype(str)
            replies.update(rows.itertuples(index=False, name=None))
        count = len(replies & self._replies)
        self._replies |= replies
        return count, len(answered)


def in_words(repeated: int, replies: int) -> str:
    """Say of a run how many of its replies are repeated ones."""
    return (
        f"{repeated:,} of {count_of(replies, 'reply', 'replies')} are the same as in an earlier run, with the same "
        "response id: they come from a cache"
    )
