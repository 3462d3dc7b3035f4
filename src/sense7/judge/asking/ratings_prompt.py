"""Our own prompts for ratings of turns and dimensions, put together from one text."""

import json

from sense7.arguments import check_arguments
from sense7.judge.asking.prompt import BUNDLED, Prompt
from sense7.judge.ratings import NOT_APPLICABLE, ratings_of
from sense7.taxonomy import DIMENSIONS

__all__ = ["prompt_for_ratings"]

_OF_UNIT = {
    "conversation": {
        "given": "one conversation",
        "rated": "the assistant's messages, taken together,",
    },
    "turn": {
        "given": "a conversation up to a message of the assistant's",
        "rated": "the last message, in the light of what was said before,",
    },
}
_APPLICABILITY = (
    " A dimension that has no occasion to show does not apply: a plain question may call for no emotional "
    f"understanding, and a first message has nothing to recall. Give such a dimension the value "
    f'"{NOT_APPLICABLE}", not a level. The overall rating always is a level.'
)
_MEANING = {"overall": "how empathic it is, all in all"} | {
    dimension.name: f"it {dimension.definition} ({dimension.title})" for dimension in DIMENSIONS
}


def prompt_for_ratings(unit: str, rating: str) -> Prompt:
    """Return the prompt that asks for ratings as JSON, called ``<rating>_<unit>``."""
    names = ratings_of(rating)
    may_not_apply = set(names) - {"overall"}
    parts = {
        **_OF_UNIT[unit],
        "ratings": "\n".join(f"- {name}: {_MEANING[name]}" for name in names),
        "names": ", ".join(json.dumps(name) for name in names),
        "applicability": _APPLICABILITY if may_not_apply else "",
        "or": f', or "{NOT_APPLICABLE}"' if may_not_apply else "",
    }
    text = (BUNDLED / "ratings.txt").read_text(encoding="utf-8")
    for name, words in parts.items():
        text = text.replace(f"{{{{{name}}}}}", words)
    return Prompt(f"{rating}_{unit}", text)


check_arguments(globals())
