"""What a judge is asked of each conversation: the request, to the letter of the authors' convention."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import digest_of, read_json
from sense7.findings.ground_truth import ground_truth
from sense7.judge.chats import chat_json, chats
from sense7.judge.files import prediction_path
from sense7.judge.ratings import NOT_APPLICABLE, ratings_of
from sense7.study import NOT_RATED, RATED, Study
from sense7.taxonomy import DIMENSIONS
from sense7.workbook.reading import text_of

SYSTEM_MESSAGE = "You are a helpful AI assistant"
"""Without a full stop, as the authors send it."""

REQUEST = {
    "temperature": 0.0,
    "top_p": 1.0,
    "max_tokens": 3000,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""The parameters of a request, as the authors send them: 0.0 and not 0, the penalties written out, no seed."""

CHAT, EXAMPLES = "{chat}", "~~EXAMPLES~~"
"""Placeholders of a prompt, as the authors write them."""

_PLACEHOLDER = re.compile(f"{re.escape(CHAT)}|{re.escape(EXAMPLES)}")

TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the limit of a reply's tokens: a request has one of them."""

_HERE = Path(__file__).parent
_FIXED = ("model", "messages", "stream", "n")
"""Names that are no free parameters."""


# The prompt


@dataclass(frozen=True)
class Prompt:
    """The text of the user message, with places for the conversation and for rated examples."""

    name: str
    text: str

    @classmethod
    def bundled(cls, unit: str = "conversation", rating: str = "overall") -> "Prompt":
        """Return the companion's own prompt. It is not the authors', whose text is not known here."""
        if (unit, rating) == ("conversation", "overall"):
            return cls.read(_HERE / "prompts" / "empathy.txt")
        names = ratings_of(rating)
        folder = _HERE / "prompts"
        wording = read_json(folder / "ratings.json")
        meanings = {"overall": "how empathic it is, all in all"}
        for dimension in DIMENSIONS:
            meanings[dimension.name] = f"it {dimension.definition} ({dimension.title})"
        asked_for = "overall" if names == ("overall",) else "dimensions"
        parts = {
            **wording[unit],
            **wording[asked_for],
            "ratings": "\n".join(f"- {name}: {meanings[name]}" for name in names),
            "names": ", ".join(json.dumps(name) for name in names),
        }
        text = (folder / "ratings.txt").read_text(encoding="utf-8")
        for name, part in parts.items():
            text = text.replace(f"{{{{{name}}}}}", part)
        return cls(f"{rating}_{unit}", text)

    @classmethod
    def read(cls, path: str | Path) -> "Prompt":
        """Read a prompt from a text file in UTF-8; it is named after the file."""
        path = Path(path)
        text = text_of(path).replace("\r\n", "\n").replace("\r", "\n")
        if CHAT not in text:
            raise UserError(
                f"{path}: the prompt has no {CHAT}. Write {CHAT} where the conversation is to stand."
            )
        return cls(path.stem, text)

    @property
    def sha256(self) -> str:
        """Hash of the text in UTF-8, placeholders and all."""
        return digest_of(self.text.encode())

    def fill(self, chat: str, examples: str = "") -> str:
        """Put a conversation and examples into their places."""
        values = {CHAT: chat, EXAMPLES: examples}

        def value_of(placeholder: re.Match) -> str:
            return values[placeholder[0]]

        return _PLACEHOLDER.sub(value_of, self.text)


# The parameters


def parse_parameters(texts: Sequence[str]) -> dict:
    """Read parameters that were given as ``NAME=JSON``."""
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not name or not equals or name in _FIXED:
            raise UserError(
                f"--param {text}: give a parameter's name, an equals sign and JSON: --param seed=1. The model, "
                "the prompt and the number of runs have options of their own."
            )
        try:
            parameters[name] = json.loads(value)
            json.dumps(parameters[name], allow_nan=False)  # NaN is Python's, not JSON's
        except ValueError:
            raise UserError(
                f"--param {text}: what stands after the equals sign is no JSON. A number is written as it is, a text "
                f"in quotation marks: --param '{name}={json.dumps(value.strip())}'."
            ) from None
        if name in TOKEN_LIMITS and (type(parameters[name]) is not int or parameters[name] < 1):
            raise UserError(f"--param {text}: is no number of tokens. Give a whole number from 1.")
    return parameters


def request_parameters(omit: Collection[str], param: Mapping, needed: Mapping) -> dict:
    """Return the parameters of every request: the authors', and what the user gives in their place."""
    available = REQUEST.keys() - set(TOKEN_LIMITS)
    for name in omit:
        if name not in available or name in param:
            raise UserError(
                f"--omit {name}: is no parameter that can be left out, or is given by --param, too. Choose of "
                f"{', '.join(sorted(available))}. Another limit of tokens takes the place of max_tokens: "
                f"--param max_completion_tokens={REQUEST['max_tokens']}."
            )
    parameters = {**REQUEST, **needed, **param}
    omitted = set(omit)
    if "max_completion_tokens" in param:
        omitted.add("max_tokens")
    return {name: value for name, value in parameters.items() if name not in omitted}


# The requests


@dataclass(frozen=True, eq=False)
class Questions:
    """The requests of one run: every conversation once."""

    model: str
    prompt: Prompt
    shots: int
    frame: pd.DataFrame = field(repr=False)
    sha256: str
    parameters: Mapping
    ratings: tuple[str, ...] = ()

    @cached_property
    def units(self) -> dict:
        """Name of each conversation that is asked about, in the order of sheet Tasks -> its row of the frame."""
        return {row.conversation: row for row in self.frame.itertuples(index=False)}

    def path(self, folder: Path, run: int) -> Path:
        """Where a run's prediction file is or will be."""
        return prediction_path(folder, self.model, self.prompt.name, run)

    def body(self, conversation: str) -> dict:
        """Return the body of a conversation's request, as the authors send it: nothing is added by default."""
        messages = [
            {"role": "system", "content": SYSTEM_MESSAGE},
            {"role": "user", "content": self.units[conversation].prompt},
        ]
        return {"model": self.model, "messages": messages, **self.parameters}


def asked_units(study: Study, unit: str, names: Sequence[str]) -> pd.DataFrame:
    """Return every conversation or turn, what was said up to its end, and the person's ratings of it."""
    turns = study.turns
    conversations = study.conversations["conversation"]
    if unit == "turn":
        if turns.empty:
            raise UserError(
                "--unit turn: the data have no turn of an assistant. Give --unit conversation."
            )
        order = pd.Index(conversations).get_indexer(turns["conversation"])
        turns = turns.iloc[np.lexsort((turns["turn"], order))].reset_index(drop=True)
        messages = dict(list(study.messages.groupby("conversation")))
        names_of_turns, texts = [], []
        for turn in turns.itertuples():
            names_of_turns.append(f"{turn.conversation}.turn{int(turn.turn)}")
            of_conversation = messages[turn.conversation]
            is_until_turn = of_conversation["position"] <= turn.position
            until = of_conversation.loc[is_until_turn, ["role", "content"]]
            texts.append(chat_json(until.to_numpy()))
        frame = turns[["participant", "turn"]].assign(
            source=turns["conversation"],
            ground_truth=np.nan,
            conversation=names_of_turns,
            chat=texts,
        )
    else:
        frame = study.conversations[["conversation", "participant"]].reset_index(drop=True)
        frame = frame.assign(
            source=frame["conversation"], turn=np.nan, chat=chats(study).to_numpy()
        )
        frame["ground_truth"] = ground_truth(turns, frame["conversation"]).to_numpy()
    for name in names:
        state = turns[f"{name}_state"]
        ratings = pd.DataFrame(
            {"level": turns[name].where(state == RATED), "declined": state == NOT_RATED}
        )
        if unit == "conversation":
            of_conversations = ratings.groupby(turns["conversation"].to_numpy())
            ratings = of_conversations.agg({"level": "mean", "declined": "any"})
            ratings = ratings.reindex(frame["conversation"])
        # What the person said of each unit: a level, not applicable, or nothing.
        levels = ratings["level"]
        person = levels.astype(object).where(levels.notna(), None)
        person[levels.isna() & ratings["declined"].eq(True)] = NOT_APPLICABLE
        frame[f"person_{name}"] = pd.Series(person.to_numpy(), frame.index, dtype=object)
    return frame
