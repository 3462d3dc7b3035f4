"""Conversations of other programs, brought in to be rated or judged; see :mod:`sense7.exchange.readers`."""

from sense7.exchange.content import Chat, Message, Omitted
from sense7.exchange.importing import ImportSummary, read_chats, write_chats

__all__ = ["Chat", "ImportSummary", "Message", "Omitted", "read_chats", "write_chats"]
