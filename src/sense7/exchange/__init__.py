"""Conversations of other programs, brought in to be rated or judged; see :mod:`sense7.exchange.readers`."""

from sense7.exchange.content import Chat, Message, Omitted
from sense7.exchange.importing import ImportSummary, read_chats, write_chats
from sense7.exchange.readers import FORMATS

__all__ = ["FORMATS", "Chat", "ImportSummary", "Message", "Omitted", "read_chats", "write_chats"]
