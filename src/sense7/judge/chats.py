"""What a judge is shown of a conversation: its messages as JSON, to the letter of the authors' convention."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from sense7.study import Study

__all__ = ["chat_json", "chats", "same_chats"]


def chat_json(said: Iterable[Sequence]) -> str:
    """Return what was said, each message as role and content, as a JSON array of objects with these two."""
    rows = []
    for cells in said:
        role, text = (
            cell if isinstance(cell, str) else "" if pd.isna(cell) else str(cell) for cell in cells
        )
        if role != "error":
            rows.append({"role": role.lower(), "content": " ".join((text or "pending").split())})
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def chats(study: Study, of_each: Callable[[str], str | bytes] = str) -> pd.Series:
    """Return every conversation as :func:`chat_json` gives it, in the order of sheet Tasks."""
    said: dict[str, list] = {name: [] for name in study.conversations["conversation"]}
    for name, *message in zip(
        *(study.messages[one] for one in ("conversation", "role", "content")), strict=True
    ):
        said[name].append(message)
    shown = [of_each(chat_json(messages)) for messages in said.values()]
    return pd.Series(shown, pd.Index(said, name="conversation"), dtype=object, name="chat")


def same_chats(study: Study) -> np.ndarray:
    """Return a number for each conversation that is the same where :func:`chats` are."""
    # Digests: all chats together are as large as the study.
    return pd.factorize(
        chats(study, lambda chat: hashlib.sha256(chat.encode("utf-8", "surrogatepass")).digest())
    )[0]
