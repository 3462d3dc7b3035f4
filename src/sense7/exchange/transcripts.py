"""Plain text: one conversation, each message begun by who says it, as in ``User: Hello``."""

import re
from collections.abc import Iterator, Mapping

from sense7.exchange.chats import ASSISTANT, USER, Chat, Draft

__all__ = ["SPEAKERS", "Transcript", "is_transcript", "read_transcript"]

SPEAKERS = {
    **dict.fromkeys(("user", "human", "you", "me", "person", "participant"), USER),
    **dict.fromkeys(("assistant", "ai", "bot", "chatbot", "model", "chatgpt", "gpt", "claude", "gemini"), ASSISTANT),
    "system": "system message",
}
"""Names that begin a message, in any case -> who says it."""


class Transcript(str):
    """The text of a file that is no JSON; ``speakers`` has names besides ``SPEAKERS``."""

    speakers: Mapping[str, str] = {}


def is_transcript(record: object) -> bool:
    """Whether a record is a plain text."""
    return isinstance(record, Transcript)


def read_transcript(record: Transcript) -> Iterator[Chat]:
    r"""Read one conversation.

    A message begins at a line that starts with a speaker's name and a colon, plain or in Markdown's bold, and ends
    before the next. One space after the colon and the line breaks between messages belong to the layout, all else to
    the text.

    Raises
    ------
    ValueError
        If the first line names no speaker, or nobody of one side speaks.

    Examples
    --------
    >>> [chat] = read_transcript(Transcript("User: I lost it.\n\nAll of it.\n\n**Assistant:** Oh no.\n"))
    >>> [one.text for one in chat.messages]
    ['I lost it.\n\nAll of it.', 'Oh no.']
    """
    speakers = SPEAKERS | record.speakers
    names = "|".join(sorted(map(re.escape, speakers), key=len, reverse=True))
    begins = re.compile(rf"^(?:#+ |(?P<bold>\*\*))?(?P<name>{names})(?(bold)(?:\*\*:|:\*\*)|:)[ \t]?", re.I | re.M)
    found = list(begins.finditer(record))
    before = record[: found[0].start()] if found else record
    if before.strip():
        line = before[: len(before) - len(before.lstrip())].count("\n") + 1
        raise ValueError(
            f"line {line}: expected a message that begins with its speaker, as in User: or Assistant:, found "
            f"{before.strip().splitlines()[0][:40]!r}. Give another speaker's name by --speaker NAME=user"
        )
    draft = Draft()
    for match, following in zip(found, [*found[1:], None], strict=True):
        text = record[match.end() : following.start() if following else len(record)].rstrip("\r\n")
        side = speakers[match["name"].casefold()]
        if side in (USER, ASSISTANT):
            draft.say(side, text)
        else:
            draft.omit(side, text)
    if {one.role for one in draft.messages} != {USER, ASSISTANT}:
        raise ValueError(
            "expected messages of both sides, each begun by its speaker at the start of a line, as in User: and "
            "Assistant:. Give another speaker's name by --speaker NAME=user or NAME=assistant"
        )
    yield draft.chat("")
