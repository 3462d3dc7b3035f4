"""What a message has to name: files, sheets, columns, rows, numbers, and its remedy by command or key."""

import contextlib
import re
from collections.abc import Iterator

import pytest

from sense7.errors import UserError


def check(text: object, *places: object) -> None:
    """Require that there is a text and that it names each place; a number has to stand there whole."""
    assert str(text).strip()
    missing = [place for place in places if not _names(str(text), place)]
    assert not missing, f"{missing} not named in: {text}"


@contextlib.contextmanager
def refused(*places: object, error: type[Exception] = UserError) -> Iterator[pytest.ExceptionInfo]:
    """``with naming.refused("study.xlsx", "Score"): ...``: an error whose message names these places."""
    with pytest.raises(error) as raised:
        yield raised
    check(str(raised.value), *places)


def _names(text: str, place: object) -> bool:
    if isinstance(place, int):
        return re.search(rf"(?<![\d.,]){place}(?!\d|[.,]\d)", text) is not None
    return str(place) in text
