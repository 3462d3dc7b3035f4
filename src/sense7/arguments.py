"""One check of the arguments of public functions: one of a wrong kind raises a UserError that says what is wanted."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import TypeVar

from sense7.errors import UserError, wrong_kind

Check = Callable[[str, str, object], object]
"""Takes the names of a function and its parameter, and an argument; gives the argument as the function takes it."""

Function = TypeVar("Function", bound=Callable)
"""A function or class that a decorator gives back with its own signature, for type checkers."""


def bind_arguments(
    function: str, signature: inspect.Signature, arguments: tuple, options: Mapping
) -> inspect.BoundArguments:
    """Give the arguments by the names of a function's parameters; a UserError where they don't fit."""
    try:
        return signature.bind(*arguments, **options)
    except TypeError as error:
        parameters = [value for name, value in signature.parameters.items() if name != "self"]
        called = inspect.Signature(parameters)
        raise UserError(f"{function}: {error}. It is called as {function}{called}.") from None


def checked(**checks: Check) -> Callable[[Function], Function]:
    """Decorate a public function, or a class, whose arguments are checked before anything is computed."""

    def decorate(function: Function) -> Function:
        if isinstance(function, type):
            function.__init__ = _checking(function.__init__, function.__name__, checks)
            return function
        return _checking(function, function.__name__, checks)

    return decorate


def trusted_inside(checking: Function) -> Function:
    """Let modules call a checked function itself, as they trust each other; ``sense7`` gives it with its checks."""
    function = checking.__wrapped__
    function.with_checks = checking
    return function


def _checking(function: Callable, name: str, checks: Mapping[str, Check]) -> Callable:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checking(*arguments, **options):
        bound = bind_arguments(name, signature, arguments, options)
        for parameter, check in checks.items():
            if parameter in bound.arguments:
                bound.arguments[parameter] = check(name, parameter, bound.arguments[parameter])
        return function(*bound.args, **bound.kwargs)

    return checking


# --- checks ---


def is_of_kind(
    kinds: type | tuple[type, ...], expected: str, remedy: str = "", *, optional: bool = False
) -> Check:
    """Give a check that an argument is of some kinds; no truth value is a number."""

    def check(function: str, parameter: str, value: object) -> object:
        is_expected = isinstance(value, kinds) and (isinstance(value, bool) == (kinds is bool))
        if is_expected or (optional and value is None):
            return value
        raise wrong_kind(function, expected, parameter, value, remedy)

    return check


is_text = functools.partial(is_of_kind, str, "a text")
is_path = functools.partial(is_of_kind, (str, Path), "a text or a path")
is_truth_value = functools.partial(is_of_kind, bool, "True or False")
is_whole_number = functools.partial(is_of_kind, Integral, "a whole number")
is_mapping = functools.partial(is_of_kind, Mapping, "a mapping")


def is_share(function: str, parameter: str, value: object) -> object:
    """Check that an argument is a number between 0 and 1."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < value < 1:
        return value
    raise wrong_kind(function, "a number between 0 and 1, such as 0.95,", parameter, value)


def is_one_of(choices: Iterable[str]) -> Check:
    """Give a check that an argument is one of some texts."""
    names = tuple(choices)

    def check(function: str, parameter: str, value: object) -> object:
        if isinstance(value, str) and value in names:
            return value
        raise wrong_kind(function, " or ".join(map(repr, names)), parameter, value)

    return check


def are_texts(function: str, parameter: str, values: tuple) -> tuple:
    """Check that further arguments are texts."""
    for value in values:
        is_text()(function, parameter, value)
    return values


def is_names(function: str, parameter: str, value: object) -> object:
    """Check that an argument is a sequence of names, such as a column, each of them once."""
    import numpy as np
    import pandas as pd

    if (
        isinstance(value, list | tuple | pd.Series | pd.Index | np.ndarray)
        and getattr(value, "ndim", 1) == 1
    ):
        if all(isinstance(name, str | Real) for name in value):
            if len(set(value)) == len(value):
                return value
            raise UserError(f"{function} wants each name once as {parameter}; some are repeated.")
        raise UserError(
            f"{function} wants texts or numbers as {parameter}; others are among them, or some are missing."
        )
    raise wrong_kind(function, "a column or a list of names", parameter, value)


def is_frame(*columns: str, numeric: Iterable[str] = (), optional: bool = False) -> Check:
    """Give a check that an argument is a DataFrame with some columns, those in ``numeric`` of numbers."""
    numeric = tuple(numeric)
    are_numbers = is_numbers("numbers in the columns of ratings")

    def check(function: str, parameter: str, value: object) -> object:
        import pandas as pd

        if optional and value is None:
            return value
        if not isinstance(value, pd.DataFrame):
            raise wrong_kind(function, "a DataFrame", parameter, value)
        lacking = [column for column in (*columns, *numeric) if column not in value.columns]
        if lacking:
            raise UserError(
                f"{function} wants a DataFrame as {parameter}; it lacks the columns {', '.join(lacking)}."
            )
        if numeric:
            are_numbers(function, parameter, value[list(numeric)])
        return value

    return check


def _is_number_or_missing(item: object) -> bool:
    import pandas as pd

    is_number = isinstance(item, Real) and not isinstance(item, bool)
    return is_number or item is None or item is pd.NA


def is_numbers(
    expected: str,
    *,
    dimensions: int | None = None,
    last: tuple[int, ...] = (),
    fewest: int = 0,
    missing: bool = True,
) -> Check:
    """Give a check that an argument holds numbers, which are given as an array.

    ``dimensions``: how many it has; ``last``: sizes of its last ones; ``fewest``: least size of each; ``missing``:
    whether NaN may be among them. Infinite numbers are refused.
    """

    def check(function: str, parameter: str, value: object) -> object:
        import numpy as np

        array = None
        # Rows of different lengths, or an object that is no number.
        with contextlib.suppress(TypeError, ValueError):
            items = np.asarray(value)
            if items.dtype.kind in "iuf" or all(map(_is_number_or_missing, items.flat)):
                array = items.astype(float)
        if array is None or array.ndim == 0:
            raise wrong_kind(function, expected, parameter, value)
        is_of_shape = array.ndim >= len(last) and array.shape[array.ndim - len(last) :] == last
        has_dimensions = dimensions is None or array.ndim == dimensions
        if not (is_of_shape and has_dimensions and all(size >= fewest for size in array.shape)):
            raise UserError(
                f"{function} wants {expected} as {parameter}; got an array of shape {array.shape}."
            )
        if np.isinf(array).any() or not (missing or np.isfinite(array).all()):
            unfit = "infinite numbers" if missing else "missing or infinite numbers"
            raise UserError(
                f"{function} wants {expected} as {parameter}; got {unfit}. Leave them out."
            )
        return array

    return check
