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
    r"""Return one conversation as a JSON array of objects with role and content.

    Roles are in lower case; rows whose role is exactly ``error`` are left out (``Error`` is kept, as in
    the authors' script). In a content every run of white space, line breaks and Unicode's spaces
    included, is one space, and there is none at its ends. JSON has no space after its separators, and keeps
    characters beyond ASCII as they are.

    Parameters
    ----------
    messages : DataFrame
        Messages of one conversation in file order, with ``role`` and ``content``.

    Returns
    -------
    str
        ``[]`` if there is no message. A blank content (None, NaN or "") is the word ``pending``; one of
        nothing but spaces is "". Only truly blank cells are blank: the texts None, NA and nan are messages.
        A blank role, on which the convention is silent, is "".

    Notes
    -----
    Source: the authors' script that makes the predictions (official release).

    Examples
    --------
    >>> rows = pd.DataFrame({"role": ["User", "error", "assistant"], "content": ["I am\n tired. ", "500", None]})
    >>> chat_json(rows)
    '[{"role":"user","content":"I am tired."},{"role":"assistant","content":"pending"}]'
    """
    said = [
        {"role": _text(role, blank="").lower(), "content": " ".join(_text(content, blank=BLANK).split())}
        for role, content in zip(messages["role"], messages["content"], strict=True)
        if role != ERROR_ROLE
    ]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def chats(study: Study) -> pd.Series:
    """Return every conversation as :func:`chat_json` gives it.

    Parameters
    ----------
    study : Study
        Its messages are taken in the order of the file, not of their MessageIds.

    Returns
    -------
    Series of str
        Called ``chat``; indexed by conversation in the order of sheet Tasks; ``[]`` where nothing was said.
    """
    return _of_each_chat(study, lambda chat: chat)


def same_chats(study: Study) -> np.ndarray:
    """Return a number for each conversation that is the same where :func:`chats` are.

    Parameters
    ----------
    study : Study
        As for :func:`chats`, of which only digests are held: all of them together are as large as the study.

    Returns
    -------
    array of int, shape (conversations,)
        From 0, in the order of first appearance in sheet Tasks.
    """
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
