"""What a judge is shown of a conversation: its messages as JSON, to the letter of the authors' convention."""

import hashlib
import json
from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.study import Study

__all__ = ["chats"]

ERROR_ROLE = "error"
BLANK = "pending"


def chat_json(messages: pd.DataFrame) -> str:
    """Return one conversation as a JSON array of objects with role and content."""
    said = [
        {"role": _text(role, blank="").lower(), "content": " ".join(_text(content, blank=BLANK).split())}
        for role, content in zip(messages["role"], messages["content"], strict=True)
        if role != ERROR_ROLE
    ]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def chats(study: Study) -> pd.Series:
    """Return every conversation as :func:`chat_json` gives it."""
    return _of_each_chat(study, lambda chat: chat)


def same_chats(study: Study) -> np.ndarray:
    """Return a number for each conversation that is the same where :func:`chats` are."""
    digests = _of_each_chat(study, lambda chat: hashlib.sha256(chat.encode("utf-8", "surrogatepass")).digest())
    return pd.factorize(digests)[0]


def _of_each_chat(study: Study, function: Callable[[str], str | bytes]) -> pd.Series:
    """What a function gives for each conversation's chat, in the order of sheet Tasks."""
    conversations = pd.Index(study.conversations["conversation"], name="conversation")
    groups = study.messages[["role", "content"]].groupby(study.messages["conversation"], sort=False)
    said = {conversation: function(chat_json(messages)) for conversation, messages in groups}
    nothing = function("[]")
    return pd.Series([said.get(name, nothing) for name in conversations], conversations, dtype=object, name="chat")


def _text(cell, *, blank: str) -> str:
    """A cell as text; ``blank`` if it holds nothing."""
    return blank if pd.isna(cell) or cell == "" else str(cell)


check_arguments(globals())
