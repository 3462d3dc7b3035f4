"""What a session will take: calls, tokens, and money where prices are given; and whether prompts fit a model."""

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sense7.errors import UserError
from sense7.judge.requests import TOKEN_LIMITS, Questions
from sense7.terminal import count_of

if TYPE_CHECKING:
    from sense7.judge.journal import Journal

__all__ = ["CostEstimate", "Price", "cut_by_endpoint", "estimate", "few_tokens", "too_long_to_send"]

CHARACTERS_A_TOKEN = 4
"""Rule of thumb for English. Exact counts need the model's vocabulary, which would have to be downloaded."""

DEFAULT_LIMIT = 10.0
"""Cost above which a session asks first, in the currency of the prices."""

MOST_CALLS = 1000
"""Calls to a distant endpoint above which a session asks first, if prices are not known."""

MOST_CHARACTERS_A_TOKEN = 6
"""No English text has more characters a token in the vocabulary of any common model."""

FAR_BELOW = 2
"""Factor by which a count of tokens that is far below our estimate is less than it."""

_REMEDY = (
    "Give the server a longer context (Ollama: OLLAMA_CONTEXT_LENGTH; vLLM: --max-model-len; LM Studio: context length "
    "when the model is loaded), and the same command asks again"
)


@dataclass(frozen=True)
class Price:
    """Price of a million tokens that a judge reads and writes, in any currency."""

    read: float
    written: float

    @classmethod
    def of(cls, read: float | None, written: float | None) -> "Price | None":
        """Take both prices or none."""
        if read is None and written is None:
            return None
        if not all(price is not None and 0 <= price < math.inf for price in (read, written)):
            raise UserError("A cost needs both prices of a million tokens, from 0: --price-in and --price-out.")
        return cls(read, written)

    @classmethod
    def named(cls, text: str) -> tuple[str, "Price"]:
        """Read JUDGE=IN,OUT."""
        (name, _, prices), found = text.rpartition("="), None
        with contextlib.suppress(ValueError, TypeError, UserError):
            found = cls.of(*map(float, prices.split(",")))
        if not name or found is None:
            raise UserError(
                f"--price {text}: no judge with two prices. Write JUDGE=IN,OUT, prices of a million tokens with a "
                "point for decimals, such as gpt-4o-empathy=2.5,10."
            )
        return name, found

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Cost of tokens."""
        return (self.read * input_tokens + self.written * output_tokens) / 1e6


@dataclass(frozen=True)
class CostEstimate:
    """What is still to be asked."""

    conversations: int
    runs: int
    calls: int
    kept: int
    input_tokens: int
    output_mean: float | None
    prices: Price | None
    reply_limit: int

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """From the input alone to replies that are all as long as allowed; None if prices are not known."""
        if self.prices is None:
            return None
        outputs = (0, self.calls * self.reply_limit)
        return tuple(self.prices.cost(self.input_tokens, output) for output in outputs)

    def lines(self) -> list[str]:
        """Say it in words."""
        kept = f", {self.kept:,} answered already" if self.kept else ""
        of = f"{count_of(self.conversations, 'conversation')}, runs: {self.runs:,}{kept}"
        mean = ""
        if self.output_mean is not None:
            mean = f"; at the mean of the replies so far, {self.output_mean * self.calls:,.0f}"
        cost = "unknown: give --price-in and --price-out (of a million tokens)"
        if self.cost_range is not None:
            cost = "{:,.2f} for the input, {:,.2f} at most".format(*self.cost_range)
        return [
            f"calls          {self.calls:,} ({of})",
            f"input tokens   {self.input_tokens:,} estimated ({CHARACTERS_A_TOKEN} characters a token)",
            f"output tokens  at most {self.calls * self.reply_limit:,} ({self.reply_limit:,} a reply){mean}",
            f"cost           {cost}",
        ]

    def needs_consent(self, limit: float | None, *, near: bool) -> str:
        """Say why a session should ask before it begins; "" if it needn't."""
        if self.calls == 0:
            return ""
        if self.cost_range is not None:
            limit = DEFAULT_LIMIT if limit is None else limit
            high = self.cost_range[1]
            return f"this may cost up to {high:,.2f}, more than the limit of {limit:,.2f}" if high > limit else ""
        if limit is not None:
            return f"the cost is unknown, and can't be compared with the limit of {limit:,.2f}"
        return f"these are {self.calls:,} calls of unknown cost" if self.calls > MOST_CALLS and not near else ""


def estimate(
    questions: Questions, runs: int, journal: "Journal | None" = None, prices: Price | None = None
) -> CostEstimate:
    """Estimate what is still to be asked."""
    tokens = [estimated_tokens(characters) for characters in questions.frame["characters"]]
    kept, known, mean = journal.counts(CHARACTERS_A_TOKEN) if journal else (0, 0, None)
    calls, left = runs * len(tokens) - kept, runs * sum(tokens) - known
    limit = max(questions.parameters[name] for name in TOKEN_LIMITS if name in questions.parameters)
    return CostEstimate(len(tokens), runs, calls, kept, left, mean, prices, limit)


def estimated_tokens(characters: int) -> int:
    """Estimate the tokens of a text."""
    return -(-int(characters) // CHARACTERS_A_TOKEN)


def too_long_to_send(characters: int, context: int | None) -> str:
    """Say why a prompt is not sent: it is longer than the context, by any count; "" if it is sent."""
    if context is None or characters <= MOST_CHARACTERS_A_TOKEN * context:
        return ""
    tokens = estimated_tokens(characters)
    return f"not sent: the prompt has about {tokens:,} tokens, and the context of the model {context:,}. {_REMEDY}"


def cut_by_endpoint(characters: int, counted: int | None, context: int | None) -> str:
    """Say that the endpoint cut a prompt, as servers on one's own machine often do; "" if there is no sign of that."""
    if not counted or context is None:
        return ""
    tokens = estimated_tokens(characters)
    if counted < context and not (is_far_below(counted, characters) and tokens > context):
        return ""
    return f"the endpoint cut the prompt: it counted {counted:,} tokens of about {tokens:,}. {_REMEDY}"


def is_far_below(counted: int, characters: int) -> bool:
    """Whether a count of tokens is far below our estimate."""
    return counted * FAR_BELOW * CHARACTERS_A_TOKEN < characters


def few_tokens(counted: int, low: list[tuple[int, int]]) -> list[str]:
    """One warning of counts of tokens that are far below our estimates, of the requests with these many characters."""
    if not low:
        return []
    (characters, tokens), replies = low[0], count_of(counted, "reply", "replies")
    first = f"the first: {tokens:,} of about {estimated_tokens(characters):,}"
    return [
        f"in {len(low):,} of {replies} the endpoint counted far fewer tokens than the prompt has ({first}). "
        "It may leave out what it had in a cache; or its context is too short, and it read a part of the prompt only. "
        "Scores are kept. To be sure, give the length of its context: --context TOKENS"
    ]
