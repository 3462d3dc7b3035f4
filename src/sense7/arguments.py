"""Arguments of another kind than a function is annotated with are refused in one sentence that says what is wanted."""

import functools
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path

import numpy as np

from sense7.errors import UserError

__all__ = ["HINTS", "check_arguments", "described", "require_numbers", "wrong_kind"]

HINTS = {
    "bootstrap": "Give s7.ParticipantBootstrap(study.conversations['participant']).",
    "data": "Give 'synthetic', the name of a data set that was fetched, or the path of a workbook.",
    "path": "Give the path of a file.",
    "post_task": "Give s7.measures.post_task_ratings(study).",
    "ratings": "Give s7.measures.turn_ratings(study) or s7.measures.post_task_ratings(study).",
    "study": "Give what s7.load(...) returns.",
    "table": "Give a table of estimates, as statistics return it.",
}
"""Name of a parameter -> what a caller can give for it."""

_RATINGS = "ratings"
"""A parameter of this name is a frame of numbers only: one row per unit, one column per item."""

_KINDS: dict[type, tuple[Callable[[object], bool], str]] = {
    Path: (lambda value: isinstance(value, os.PathLike), "a path"),
    np.ndarray: (
        lambda value: isinstance(value, (np.ndarray, list, tuple, *_of_pandas("Series", "Index"))),
        "an array",
    ),
    str: (lambda value: isinstance(value, str), "a text"),
    types.NoneType: (lambda value: value is None, "None"),
}
"""Annotation -> whether a value is of that kind, and its name. Classes of this library are added as they occur."""


def check_arguments(module: dict) -> None:
    """Let every public function of a module check the kinds of its arguments; its last line calls this.

    An argument is checked against its annotation, before anything is computed: classes of this library, ``DataFrame``,
    ``str``, ``Path`` and unions of these. Parameters with other annotations, or none, are
    not checked. Two more rules go by the parameters' names: ``ratings`` holds columns of numbers only, and a
    ``bootstrap`` that comes with a ``study`` resamples that study's participants.

    Functions are replaced in the module rather than decorated, since mutmut passes over functions with a decorator.

    Parameters
    ----------
    module : dict
        ``globals()`` of the module; ``__all__`` says what is public.

    Examples
    --------
    >>> import pandas as pd
    >>> def rows(frame: pd.DataFrame) -> int:
    ...     return len(frame)
    >>> module = {"__all__": ["rows"], "rows": rows}
    >>> check_arguments(module)
    >>> module["rows"](pd.DataFrame({"text": ["a", "b", "c"]}))
    3
    >>> module["rows"]("abc")
    Traceback (most recent call last):
    sense7.errors.UserError: rows wants a DataFrame as frame; got a str ('abc').
    """
    for name in module["__all__"]:
        function = module[name]
        if inspect.isfunction(function) and not hasattr(function, "__wrapped__"):
            module[name] = _checked(function)


def described(value: object) -> str:
    """What a value is, in few words: its class, and the value itself where that is short.

    Examples
    --------
    >>> described({}), described(123), described(None)
    ('a dict', 'an int (123)', 'None')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    shown = repr(value) if isinstance(value, str | Real) else ""
    article = "an" if name[0].lower() in "aeiou" else "a"
    return f"{article} {name}" + (f" ({shown})" if 0 < len(shown) <= 60 else "")


def wrong_kind(function: str, wanted: str, name: str, value: object) -> UserError:
    """Error of a function that got something else as the parameter ``name`` than it wants, with what can be given."""
    return UserError(f"{function} wants {wanted} as {name}; got {described(value)}. {HINTS.get(name, '')}".rstrip())


def _checked(function: Callable) -> Callable:
    signature = inspect.signature(function)
    single = [
        entry for entry in signature.parameters.values() if entry.kind not in {entry.VAR_POSITIONAL, entry.VAR_KEYWORD}
    ]
    wanted = {entry.name: kinds for entry in single if (kinds := _kinds(entry.annotation))}
    if not wanted:
        return function
    consistent = {"study", "bootstrap"} <= wanted.keys()
    own_name, bind = function.__name__, signature.bind

    def check(args: tuple, kwargs: dict) -> None:
        try:
            arguments = bind(*args, **kwargs).arguments
        except TypeError:
            return  # the call itself says which argument is missing or unknown
        for name, kinds in wanted.items():
            if name in arguments:
                _require_kind(own_name, name, arguments[name], kinds)
        if _RATINGS in wanted and isinstance(arguments[_RATINGS], _of_pandas("DataFrame")):
            require_numbers(own_name, arguments[_RATINGS])
        if consistent and arguments.get("bootstrap") is not None:
            study = arguments["study"]
            arguments["bootstrap"].require(study.conversations["participant"], study.name)

    def call(*args, **kwargs):
        check(args, kwargs)
        return function(*args, **kwargs)

    # doctest takes for a module's own functions only those that have its globals.
    own = types.FunctionType(call.__code__, function.__globals__, own_name, None, call.__closure__)
    return functools.wraps(function)(own)


def _kinds(annotation: object) -> Mapping[type, tuple[Callable[[object], bool], str]]:
    """Kinds that an annotation allows; none if some of them can't be checked."""
    if annotation is np.ndarray:
        return {}  # numbers in any form: checked by numpy, where it computes
    union = typing.get_origin(annotation) in {typing.Union, types.UnionType}
    allowed = {}
    for kind in typing.get_args(annotation) if union else (annotation,):
        if kind in _KINDS:
            allowed[kind] = _KINDS[kind]
        elif kind in _of_pandas("DataFrame"):
            allowed[kind] = (functools.partial(_is_a, kind), "a DataFrame")
        elif inspect.isclass(kind) and kind.__module__.partition(".")[0] == "sense7":
            allowed[kind] = (functools.partial(_is_a, kind), f"a {kind.__name__}")
        else:
            return {}
    return allowed


def _of_pandas(*names: str) -> tuple[type, ...]:
    """Classes of pandas; none while nobody has imported it, since then nothing is of such a class."""
    pandas = sys.modules.get("pandas")
    return tuple(getattr(pandas, name) for name in names) if pandas else ()


def _is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def _require_kind(function: str, name: str, value: object, kinds: Mapping) -> None:
    if any(fits(value) for fits, _ in kinds.values()):
        return
    words = " or ".join(words for kind, (_, words) in kinds.items() if kind is not types.NoneType)
    raise wrong_kind(function, words, name, value)


def require_numbers(function: str, ratings: "pd.DataFrame") -> None:  # noqa: F821 -- imported by the caller
    """Refuse ratings with a column that holds anything but numbers, naming function and column."""
    for position, name in enumerate(ratings.columns):
        column = ratings.iloc[:, position]
        try:
            fits = column.dtype.kind in "iufb" or column.astype(float) is not None
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise UserError(
                f"{function} wants {_RATINGS} with a column of numbers for each item; "
                f"column {name!r} holds other values. {HINTS[_RATINGS]}"
            )
