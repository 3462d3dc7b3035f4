"""Whether a prompt fits into the context of a model, and whether an endpoint read all of it.

Servers on one's own machine often cut a prompt that is longer than their context, and answer as if nothing had
happened. The number of tokens that they count can show it, where the length of the context is known.
"""

from sense7.judge.asking.cost import estimated_tokens
from sense7.terminal import count_of

__all__ = ["cut_by_endpoint", "is_low", "too_long_to_send", "warning"]

MOST_CHARACTERS_A_TOKEN = 6
"""No English text has more characters a token in the vocabulary of any common model."""

FAR_BELOW = 2
"""A count of tokens is far below our estimate if it is less than the estimate by this factor."""

_REMEDY = (
    "Give the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH; vLLM: --max-model-len; LM Studio: context length "
    "when the model is loaded), and the same command asks again"
)


def too_long_to_send(characters: int, context: int | None) -> str:
    """Say why a prompt is not sent: it is longer than the context, by any count; "" if it is sent."""
    if context is None or characters <= MOST_CHARACTERS_A_TOKEN * context:
        return ""
    tokens = estimated_tokens(characters)
    return f"not sent: the prompt has about {tokens:,} tokens, and the context of the model {context:,}. {_REMEDY}"


def cut_by_endpoint(characters: int, counted: int | None, context: int | None) -> str:
    """Say that the endpoint cut a prompt; "" if there is no sign of that."""
    if not counted or context is None:
        return ""
    tokens = estimated_tokens(characters)
    if counted < context and not (is_low(characters, counted) and tokens > context):
        return ""
    return f"the endpoint cut the prompt: it counted {counted:,} tokens of about {tokens:,}. {_REMEDY}"


def is_low(characters: int, counted: int | None) -> bool:
    """Whether an endpoint counted far fewer tokens than a prompt has by our estimate."""
    return bool(counted) and counted * FAR_BELOW < estimated_tokens(characters)


def warning(low: int, replies: int, characters: int, counted: int) -> str:
    """Say, once in a session, that counts of tokens are far below the estimate, with the first of them."""
    return (
        f"in {low:,} of {count_of(replies, 'reply', 'replies')} the endpoint counted far fewer tokens than the prompt "
        f"has (the first: {counted:,} of about {estimated_tokens(characters):,}). It may leave out what it had in a "
        "cache; or its context is too short, and it read a part of the prompt only. Scores are kept. To be sure, give "
        "the length of its context: --context TOKENS"
    )
