"""Samples of a log of inspect_ai: what was said with the model under evaluation.

A log in JSON is one object with ``eval`` and ``samples``. One that ends in .eval is an archive with a file for each
sample, which :mod:`sense7.exchange.records` takes apart; its samples come here with the log's ``eval`` beside them.
"""

from collections.abc import Iterator, Mapping

from sense7.exchange.chats import Chat, Draft, expect
from sense7.exchange.content import add_message

__all__ = ["is_inspect_log", "read_inspect_log"]


def is_inspect_log(record: object) -> bool:
    """Whether a record has ``eval`` and ``samples``."""
    return isinstance(record, dict) and "eval" in record and "samples" in record


def read_inspect_log(record: Mapping) -> Iterator[Chat]:
    """Read the conversation of each sample.

    The id is the sample's with its epoch, so that the same sample asked twice is two conversations.

    Examples
    --------
    >>> sample = {"id": 1, "epoch": 2, "messages": [{"role": "user", "content": "Hi"}]}
    >>> [chat] = read_inspect_log({"eval": {"model": "m", "task": "t"}, "samples": [sample]})
    >>> chat.id, chat.condition
    ('t-1-epoch2', 'm')
    """
    about = expect(record["eval"], dict, "eval")
    for number, sample in enumerate(expect(record["samples"] or [], list, "samples"), 1):
        where = f"samples[{number}]"
        expect(sample, dict, where)
        texts = expect(sample.get("attachments") or {}, dict, f"{where}.attachments")
        attached = {f"attachment://{name}": text for name, text in texts.items() if isinstance(text, str)}
        draft = Draft()
        for position, message in enumerate(expect(sample.get("messages"), list, f"{where}.messages"), 1):
            add_message(draft, message, f"{where}.messages[{position}]", attached)
        name = "-".join(str(part) for part in (about.get("task"), sample.get("id"), _epoch(sample)) if part)
        model = about.get("model")
        yield draft.chat(name, condition=None if model is None else expect(model, str, "eval.model"))


def _epoch(sample: Mapping) -> str:
    return f"epoch{sample['epoch']}" if isinstance(sample.get("epoch"), int) else ""
