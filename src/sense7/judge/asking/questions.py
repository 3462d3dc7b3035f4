"""What a judge is asked of each conversation: the request, to the letter of the authors' convention."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.asking.parameters import request_parameters
from sense7.judge.asking.prompt import EXAMPLES, REQUEST, SYSTEM_MESSAGE, Prompt
from sense7.judge.asking.units import asked_units
from sense7.judge.ratings import ratings_of, schema
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["Questions", "Shots", "digest", "questions_for"]

SHOTS = ("zero", "adaptive", "personal")


@dataclass(frozen=True)
class Shots:
    """Which rated examples a prompt holds; see :func:`sense7.judge.asking.few_shot.chosen_examples`."""

    kind: str = "zero"
    number: int = 5
    order: str = "similar-last"
    seed: int = 0

    def to_dict(self) -> dict:
        """Give what makes a difference, as JSON values."""
        if self.kind == "zero":
            return {"kind": "zero"}
        known = {"kind": self.kind, "number": self.number, "order": self.order}
        return known | ({"seed": self.seed} if self.order == "shuffled" else {})


@dataclass(frozen=True, eq=False)
class Questions:
    """The requests of one run: every conversation once."""

    model: str
    prompt: Prompt
    shots: Shots
    frame: pd.DataFrame = field(repr=False)
    sha256: str
    parameters: Mapping
    ratings: tuple[str, ...] = ()

    def body(self, conversation: str) -> dict:
        """Return the JSON body of a conversation's request."""
        return request_body(self.model, self._texts[conversation], self.parameters)

    def request_sha256(self, conversation: str) -> str:
        """Hash of the body."""
        return self._digests[conversation]

    def characters(self, conversation: str) -> int:
        """Length of what a request says, the system message included."""
        return len(self._texts[conversation]) + len(SYSTEM_MESSAGE)

    @property
    def conversations(self) -> list[str]:
        """Names of the conversations, in the order of sheet Tasks."""
        return self.frame["conversation"].tolist()

    def __post_init__(self):
        names = self.conversations
        object.__setattr__(self, "_texts", dict(zip(names, self.frame["prompt"], strict=True)))
        object.__setattr__(self, "_digests", dict(zip(names, self.frame["request_sha256"], strict=True)))


def request_body(model: str, prompt: str, parameters: Mapping = REQUEST) -> dict:
    """Return a request as the authors send it: nothing is added to it, and nothing left out by default."""
    messages = [{"role": "system", "content": SYSTEM_MESSAGE}, {"role": "user", "content": prompt}]
    return {"model": model, "messages": messages, **parameters}


def digest(body: dict) -> str:
    """SHA-256 of a body as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def questions_for(
    study: Study,
    prompt: Prompt,
    model: str,
    *,
    shots: Shots | None = None,
    limit: int | None = None,
    omit: Collection[str] = (),
    param: Mapping | None = None,
    needed: Mapping | None = None,
    unit: str = "conversation",
    rating: str = "overall",
) -> Questions:
    """Put every conversation, and the examples chosen for it, into the prompt."""
    standard = (unit, rating) == ("conversation", "overall")
    names = ratings_of(rating)
    if not standard:
        needed = {"response_format": schema(names), **(needed or {})}
    parameters = request_parameters(model, omit=omit, param=param, needed=needed)
    shots = shots or Shots()
    if not model.strip():
        raise UserError("The model has no name. Give the name by which the endpoint knows it.")
    if shots.kind not in SHOTS:
        raise UserError(f"There are no shots {shots.kind!r}. Choose one of {', '.join(SHOTS)}.")
    if shots.kind != "zero" and not standard:
        raise UserError("--shots: examples have a score of a whole conversation. Leave out --unit and --rating.")
    frame = asked_units(study, unit, names)
    examples = pd.Series("", frame["conversation"])
    if shots.kind != "zero":
        if not prompt.takes_examples:
            raise UserError(f"The prompt {prompt.name} has no {EXAMPLES}. Write it where examples are to stand.")
        from sense7.judge.asking.few_shot import examples_for  # with it comes scikit-learn

        examples = examples_for(
            study,
            shots=shots.kind,
            number=shots.number,
            order=shots.order,
            seed=shots.seed,
        )
    if unit == "turn" or rating in DIMENSION_NAMES:
        frame["ground_truth"] = pd.to_numeric(frame[f"person_{names[0]}"], errors="coerce")
    frame["prompt"] = [
        prompt.fill(chat, examples[name]) for name, chat in zip(frame["conversation"], frame["chat"], strict=True)
    ]
    frame["request_sha256"] = [digest(request_body(model, text, parameters)) for text in frame["prompt"]]
    named = list(zip(frame["conversation"], frame["request_sha256"], strict=True))
    total = hashlib.sha256(json.dumps(named).encode()).hexdigest()
    if limit:
        frame = frame[pd.factorize(frame["source"])[0] < limit].reset_index(drop=True)
    return Questions(model, prompt, shots, frame, total, parameters, () if standard else names)


check_arguments(globals())
