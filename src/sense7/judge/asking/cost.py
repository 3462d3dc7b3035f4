"""What a session will take: calls, tokens, and money where prices are given."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.asking.answers import Answer
from sense7.judge.asking.parameters import token_limit
from sense7.judge.asking.prompt import SYSTEM_MESSAGE
from sense7.judge.asking.questions import Questions
from sense7.terminal import count_of

__all__ = ["CostEstimate", "Prices", "estimate"]

CHARACTERS_A_TOKEN = 4
"""Rule of thumb for English. Exact counts need the model's vocabulary, which would have to be downloaded."""

DEFAULT_LIMIT = 10.0
"""Cost above which a session asks first, in the currency of the prices."""

MOST_CALLS = 1000
"""Calls to a distant endpoint above which a session asks first, if prices are not known."""


@dataclass(frozen=True)
class Prices:
    """Price of a million tokens, in any currency."""

    input: float
    output: float

    @classmethod
    def of(cls, price_in: float | None, price_out: float | None) -> "Prices | None":
        """Take both prices or none."""
        if price_in is None and price_out is None:
            return None
        if price_in is None or price_out is None:
            raise UserError("A cost needs both prices of a million tokens: --price-in and --price-out.")
        if not (0 <= price_in < float("inf") and 0 <= price_out < float("inf")):
            raise UserError(f"A price is a number from 0, not {price_in} and {price_out}.")
        return cls(price_in, price_out)

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Cost of tokens."""
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


@dataclass(frozen=True)
class CostEstimate:
    """What is still to be asked."""

    conversations: int
    runs: int
    calls: int
    kept: int
    input_tokens: int
    output_most: int
    output_mean: float | None
    prices: Prices | None
    reply_limit: int

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """From the input alone to replies that are all as long as allowed; None if prices are not known."""
        if self.prices is None:
            return None
        return self.prices.cost(self.input_tokens, 0), self.prices.cost(self.input_tokens, self.output_most)

    def lines(self) -> list[str]:
        """Say it in words."""
        kept = f", {self.kept:,} answered already" if self.kept else ""
        said = [
            f"calls          {self.calls:,} "
            f"({count_of(self.conversations, 'conversation')}, runs: {self.runs:,}{kept})",
            f"input tokens   {self.input_tokens:,} estimated ({CHARACTERS_A_TOKEN} characters a token)",
            f"output tokens  at most {self.output_most:,} ({self.reply_limit:,} a reply)",
        ]
        if self.output_mean is not None:
            said[-1] += f"; at the mean of the replies so far, {self.output_mean * self.calls:,.0f}"
        if self.cost_range is None:
            said.append("cost           unknown: give --price-in and --price-out (of a million tokens)")
        else:
            low, high = self.cost_range
            said.append(f"cost           {low:,.2f} for the input, {high:,.2f} at most")
        return said

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
    questions: Questions, runs: int, answers: Mapping[tuple[str, int], Answer], prices: Prices | None = None
) -> CostEstimate:
    """Estimate what is still to be asked."""
    there = {key for key, answer in answers.items() if answer.error is None}
    names = questions.conversations
    characters = dict(zip(names, questions.frame["prompt"].str.len() + len(SYSTEM_MESSAGE), strict=True))
    pending = [name for name in names for run in range(1, runs + 1) if (name, run) not in there]
    tokens = sum(estimated_tokens(characters[name]) for name in pending)
    limit = token_limit(questions.parameters)
    most, mean = len(pending) * limit, _mean(answers.values())
    return CostEstimate(len(names), runs, len(pending), len(there), tokens, most, mean, prices, limit)


def estimated_tokens(characters: int) -> int:
    """Estimate the tokens of a text."""
    return -(-int(characters) // CHARACTERS_A_TOKEN)


def _mean(answers: Iterable[Answer]) -> float | None:
    counted = [answer.output_tokens for answer in answers if answer.output_tokens is not None]
    return sum(counted) / len(counted) if counted else None


check_arguments(globals())
