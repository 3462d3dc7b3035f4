"""Conversations of other programs, brought in to be rated or judged; ``schema.toml`` names every key that is read."""

from sense7.exchange.content import Chat, Message
from sense7.exchange.importing import read_chats, summary, write_chats

__all__ = ["Chat", "Message", "read_chats", "summary", "write_chats"]
