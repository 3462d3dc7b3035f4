"""What a session will take: calls, tokens, and money where prices are given."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sense7.errors import UserError
from sense7.judge.asking.requests import TOKEN_LIMITS, Questions
from sense7.terminal import count_of

CHARACTERS_A_TOKEN = 4
"""Rule of thumb for English. Exact counts need the model's vocabulary, which would have to be downloaded."""

MOST_COST = 10.0
"""Cost above which a session needs --yes, in the currency of the prices."""

MOST_CALLS = 1000
"""Calls to a distant endpoint above which a session needs --yes, if prices are not known."""


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
            raise UserError(
                "A cost needs both prices of a million tokens, from 0: --price-in and --price-out."
            )
        return cls(read, written)

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
    prices: Price | None
    reply_limit: int

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """From the input alone to replies that are all as long as allowed; None if prices are not known."""
        if self.prices is None:
            return None
        highest = self.prices.cost(self.input_tokens, self.calls * self.reply_limit)
        return self.prices.cost(self.input_tokens, 0), highest

    def lines(self) -> list[str]:
        """Say it in words."""
        session = f"{count_of(self.conversations, 'conversation')}, runs: {self.runs:,}"
        if self.kept:
            session += f", {self.kept:,} answered already"
        cost = "unknown: give --price-in and --price-out (of a million tokens)"
        if self.cost_range is not None:
            lowest, highest = self.cost_range
            cost = f"{lowest:,.2f} for the input, {highest:,.2f} at most"
        output_tokens = self.calls * self.reply_limit
        return [
            f"calls          {self.calls:,} ({session})",
            f"input tokens   {self.input_tokens:,} estimated ({CHARACTERS_A_TOKEN} characters a token)",
            f"output tokens  at most {output_tokens:,} ({self.reply_limit:,} a reply)",
            f"cost           {cost}",
        ]

    def needs_consent(self, *, near: bool) -> str:
        """Say why a session needs --yes; "" if it doesn't."""
        if self.calls and self.cost_range is not None:
            highest = self.cost_range[1]
            if highest > MOST_COST:
                return f"this may cost up to {highest:,.2f}, more than {MOST_COST:,.2f}"
        elif self.calls > MOST_CALLS and not near:
            return f"these are {self.calls:,} calls of unknown cost"
        return ""


def estimate(
    questions: Questions, runs: int, pending: Sequence[tuple[str, int]], prices: Price | None
) -> CostEstimate:
    """Estimate what is still to be asked: the calls that are pending."""
    tokens = {}
    for name, unit in questions.units.items():
        tokens[name] = math.ceil(unit.characters / CHARACTERS_A_TOKEN)
    parameters = questions.parameters
    return CostEstimate(
        conversations=len(tokens),
        runs=runs,
        calls=len(pending),
        kept=runs * len(tokens) - len(pending),
        input_tokens=sum(tokens[name] for name, _ in pending),
        prices=prices,
        reply_limit=max(parameters[name] for name in TOKEN_LIMITS if name in parameters),
    )
