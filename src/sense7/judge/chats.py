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
    for role_cell, content_cell in messages:
        role = _as_text(role_cell)
        content = _as_text(content_cell) or "pending"
        if role != "error":
            rows.append({"role": role.lower(), "content": " ".join(content.split())})
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _as_text(cell) -> str:
    return "" if pd.isna(cell) else str(cell)


def chats(study: Study) -> pd.Series:
    """Return every conversation as :func:`chat_json` gives it, in the order of sheet Tasks."""
    messages = _messages_of(study)
    texts = list(map(chat_json, messages.values()))
    index = pd.Index(messages, name="conversation")
    return pd.Series(texts, index, dtype=object, name="chat")


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
    messages: dict[str, list] = {name: [] for name in study.conversations["conversation"]}
    columns = [study.messages[name] for name in ("conversation", "role", "content")]
    for conversation, role, content in zip(*columns, strict=True):
        messages[conversation].append((role, content))
    return messages
