"""Which condition had the empathy prompt: as it is given, or guessed from the conditions' names."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from sense7.errors import UserError
from sense7.workbook.values import as_name

__all__ = ["find_prompted"]


def find_prompted(
    conversations: Mapping[str, Iterable], chosen: str | None, path: str | Path
) -> tuple[str | None, str]:
    """Give the empathy-prompted condition, None if it is not known, and how it is known or why not.

    Raises
    ------
    UserError
        If the one that is given is not in the file.
    """
    conditions = sorted({name for name in conversations["condition"] if isinstance(name, str)})
    if chosen:
        if (name := as_name(chosen)) not in conditions:
            raise UserError(
                f"{path}: there is no condition {chosen!r}. Conditions in the file: "
                f"{', '.join(map(repr, conditions)) or 'none'}. Give one of them as the prompted condition."
            )
        return name, "given"
    scores = {name: _prompt_score(name) for name in conditions}
    best = max(scores.values(), default=0)
    named = [name for name, score in scores.items() if score == best]
    if best == 0:
        return None, "no condition's name speaks of empathy or of a prompt"
    if len(named) > 1:
        return None, f"several conditions' names speak of it: {', '.join(named)}"
    return named[0], "guessed from its name"


def _prompt_score(condition: str) -> int:
    """2 if the name speaks of empathy, 1 if of a prompt, 0 otherwise; none negated ("no empathy")."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", condition)  # GptEmp is two words
    words = re.findall(r"[a-z]+", apart.casefold())
    if {"no", "non", "not", "without", "un"} & set(words):
        return 0
    if any(re.match(r"(non?|un)(empath|prompt)", word) for word in words):
        return 0
    if any(word in {"emp", "emph"} or "empath" in word for word in words):
        return 2
    return int(any("prompt" in word for word in words))
