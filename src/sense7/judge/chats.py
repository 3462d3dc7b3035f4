"""What a judge is shown of a conversation: its messages as JSON, to the letter of the authors' convention."""

import hashlib
import json
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sense7.study import Study

__all__ = ["chat_json", "chats", "same_chats"]


def chat_json(messages: Iterable[Sequence]) -> str:
    """Return what was said, each message as role and content, as a JSON array of objects with these two."""
    rows = []
    for cells in messages:
        role, content = ("" if pd.isna(cell) else str(cell) for cell in cells)
        if role != "error":
            content = " ".join((content or "pending").split())
            rows.append({"role": role.lower(), "content": content})
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def chats(study: Study) -> pd.Series:
    """Return every conversation as :func:`chat_json` gives it, in the order of sheet Tasks."""
    texts = {name: chat_json(messages) for name, messages in _messages_of(study).items()}
    return pd.Series(texts, dtype=object, name="chat").rename_axis("conversation")


def same_chats(study: Study) -> np.ndarray:
    """Return a number for each conversation that is the same where :func:`chats` are."""
    # Digests: all chats together are as large as the study.
    digests = []
    for messages in _messages_of(study).values():
        chat = chat_json(messages).encode("utf-8", "surrogatepass")
        digests.append(hashlib.sha256(chat).digest())
    return pd.factorize(pd.Series(digests, dtype=object))[0]


def _messages_of(study: Study) -> dict[str, list]:
    """Role and content of each message, by conversation."""
    messages = {name: [] for name in study.conversations["conversation"]}
    columns = study.messages[["conversation", "role", "content"]]
    for conversation, *cells in columns.itertuples(index=False):
        messages[conversation].append(cells)
    return messages
