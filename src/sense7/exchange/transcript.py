"""Conversations in plain text, each message of which begins with User: or Assistant: at the start of a line."""

import re

from sense7.errors import UserError
from sense7.exchange.content import ASSISTANT, USER, Chat, Utterance, assemble, whole_text

_SPEAKERS = {"User:": USER, "Assistant:": ASSISTANT}
_BEGINS = re.compile(
    r"^[ \t]*+[#>*_]*+[ \t]*+(?:user|assistant|human|ai|system)[*_]*+[ \t]?[:\uff1a][*_]*",
    re.I | re.M,
)
"""The beginning of a message, and what another program would write for one."""


def read_transcript(text: str, where: str) -> Chat:
    """Read a conversation; one space after the colon, and line breaks between messages, belong to the layout."""
    beginnings = list(_BEGINS.finditer(text))
    wrong = [match.start() for match in beginnings if match[0] not in _SPEAKERS]
    first = len(text) - len(text.lstrip())
    if not beginnings or beginnings[0].start() != first:
        wrong.insert(0, first)
    if wrong:
        line = text.count("\n", 0, wrong[0]) + 1
        raise UserError(
            f"{where}: line {line}: {text[wrong[0] :]!r:.40}: begin each message with User: or Assistant: at the start "
            "of a line, written like this, and nothing before the first."
        )
    utterances = []
    ends = [match.start() for match in beginnings[1:]] + [len(text)]
    for match, end in zip(beginnings, ends, strict=True):
        message = text[match.end() : end].removeprefix(" ").rstrip("\r\n")
        utterances.append(Utterance(_SPEAKERS[match[0]], whole_text(message, where), None, None))
    if {message.role for message in utterances} != {USER, ASSISTANT}:
        raise UserError(f"{where}: expected messages of both sides, begun by User: and Assistant:.")
    return assemble(utterances, (), {}, where)
