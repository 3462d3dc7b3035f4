"""Conversations of other programs, brought in to be rated or judged; ``schema.toml`` names every key that is read."""

from sense7.exchange.content import Chat, Message
from sense7.exchange.importing import ImportSummary, read_chats, write_chats

__all__ = ["Chat", "ImportSummary", "Message", "read_chats", "write_chats"]
