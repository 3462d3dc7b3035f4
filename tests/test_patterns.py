"""No pattern takes much longer than the text is long: users' texts are searched by all of them."""

import ast
import importlib
import pkgutil
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import sense7
from sense7.characters import with_plain_signs
from sense7.judge.masking import masked

REPEATED = (8, 12, 16, 22, 30, 42, 60)
"""How often the first texts repeat their unit: time that grows with each repetition by a factor is seen, and ends."""

LENGTHS = (500, 2_000, 8_000, 32_000)
"""Characters of the texts after them: each is four times as long as the one before."""

NOTICED = 0.02
"""Seconds of this process below which no text counts as slow: the clock and the machine are not steadier."""

SLOWEST = 8
"""How many times longer a text of four times the length may take: 4 is in proportion, 16 is its square."""

CHARACTERS = " \n\t17aZé-.,:;<>([{'\"`*_=!/"
"""Characters of every class that a pattern can name."""

AT_ONE_POSITION = {}
"""Patterns that are matched at a position, not searched for: why no part of a text is passed over again and again."""

COMPOSED = {
    "sense7.exchange.readers.read_transcript": {"names": "user|assistant|human"},
    "sense7.file_names.file_name": {"patterns": ["[.]", "[^A-Za-z0-9._-]|-"]},
    "sense7.judge.asking.refusals._refused_in": {"sought": "max_tokens"},
    "sense7.judge.asking.refusals._remedy": {"value": 4000},
    "sense7.simulate.true_values.table._families": {"row": {"key": "mean_*"}},
    "sense7.simulate.truth.parameters_behind": {"pattern": "effect_*_*"},
}
"""Functions that put a pattern together: names as they have them there, by which one is made here."""

TRIED_AS_A_WHOLE = {"sense7.judge.masking._Forms"}
"""The class whose patterns are too long for that: see the last test."""

FUNCTIONS = {"sense7.judge.masking"}
"""Modules whose patterns that are put together are tried through their function: see the last test."""

FUNCTIONS = {
    "compile": 1,
    "match": 2,
    "fullmatch": 2,
    "search": 2,
    "findall": 2,
    "finditer": 2,
    "split": 3,
    "sub": 4,
}
"""Functions of ``re``, and at which position each takes its flags."""

AT_THE_START = {"match", "fullmatch"}


@dataclass
class Case:
    """A pattern, where it stands and by which methods it is used."""

    name: str
    pattern: re.Pattern
    methods: set[str] = field(default_factory=set)


def patterns_in(value):
    """Patterns that a value is or holds."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, re.Pattern):
            yield item
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item


def methods_of(name, tree):
    """Methods by which a module uses its pattern of that name: "search" wherever that is not plain to see."""
    methods = set()
    references = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            references += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called_on = node.func.value
            if isinstance(called_on, ast.Name) and called_on.id == name:
                references -= 1
                has_position = len(node.args) > 1 or bool(node.keywords)
                is_match = node.func.attr in AT_THE_START
                methods.add("at a position" if is_match and has_position else node.func.attr)
    if references:
        methods.add("search")
    return methods


def value_of(expression, namespace):
    """Value of an expression; None where it takes names that are not there."""
    try:
        return eval(compile(ast.Expression(expression), "<pattern>", "eval"), dict(namespace))  # noqa: S307
    except NameError:
        return None


def calls_of(statement):
    """Calls of functions of ``re`` that stand in a statement."""
    for node in ast.walk(statement):
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_method and node.func.attr in FUNCTIONS and ast.unparse(node.func.value) == "re":
            yield node


def flags_of(call, namespace):
    position = FUNCTIONS[call.func.attr]
    if len(call.args) > position:
        return value_of(call.args[position], namespace)
    for keyword in call.keywords:
        if keyword.arg == "flags":
            return value_of(keyword.value, namespace)
    return 0


def collect():
    """Every pattern of the library, and the functions that put one together."""
    cases = {}
    composing = set()

    def add(name, pattern, methods):
        key = (pattern.pattern, pattern.flags)
        cases.setdefault(key, Case(name, pattern)).methods.update(methods)

    for info in pkgutil.walk_packages(sense7.__path__, "sense7."):
        module = importlib.import_module(info.name)
        namespace = dict(vars(module))
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        for name, value in namespace.items():
            is_private = isinstance(value, re.Pattern) and name.startswith("_")
            methods = methods_of(name, tree) if is_private else {"search"}
            for pattern in patterns_in(value):
                add(f"{info.name}.{name}", pattern, methods)
        for statement in tree.body:
            if not hasattr(statement, "name"):
                continue  # what stands outside of functions and classes is held by a name of the module
            holder = f"{info.name}.{statement.name}"
            for call in calls_of(statement):
                text = value_of(call.args[0], namespace)
                if text is None:
                    composing.add(holder)
                    text = value_of(call.args[0], namespace | COMPOSED.get(holder, {}))
                if text is not None:
                    method = "search" if call.func.attr == "compile" else call.func.attr
                    add(
                        f"{holder}:{call.lineno}",
                        re.compile(text, flags_of(call, namespace)),
                        {method},
                    )
    return list(cases.values()), composing


CASES, COMPOSING = collect()


def text_of(pattern):
    return (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )


def units_of(pattern):
    """What texts that are hard on a pattern repeat: characters of each class, its own signs in pairs, its words."""
    shown = re.sub(r"\\.", " ", text_of(pattern))
    words = list(dict.fromkeys(re.findall(r"[A-Za-z]{2,12}", shown)))[:6]
    signs = list(
        dict.fromkeys(
            [" ", "1", "a", *re.sub(r"[\w\s?+*^$|]", "", text_of(pattern).replace("\\", ""))]
        )
    )[:7]
    units = [*CHARACTERS, *signs, *words]
    for first in signs:
        for second in signs:
            units.append(first + second)
    for word in words:
        units.append(f"{word} ")
    return list(dict.fromkeys(units))


def starts_of(pattern):
    """How hard texts begin: at once, or by what leads a pattern into its midst."""
    words = re.findall(r"[<\"]?[A-Za-z]{2,12}[=:]?\"?", re.sub(r"\\.", " ", text_of(pattern)))
    return list(dict.fromkeys(["", "1", *words[:1]]))


def texts_of(start, unit, end):
    """Texts of growing length."""
    repetitions = [*REPEATED, *(length // len(unit) for length in LENGTHS)]
    return [start + unit * number + end for number in repetitions]


def seconds_of(case, text):
    """Time of this process that the uses of a pattern take on a text."""
    subject = text.encode() if isinstance(case.pattern.pattern, bytes) else text
    methods = set(case.methods)
    if case.name in AT_ONE_POSITION:
        methods = {"match" if method == "at a position" else method for method in methods}
    began = time.process_time()
    if methods - AT_THE_START:
        case.pattern.sub(subject[:0], subject)
    else:
        for method in methods:
            getattr(case.pattern, method)(subject)
    return time.process_time() - began


def slow_length(texts, seconds):
    """Length of the first text that takes much longer than its length; None if there is none."""
    times = []
    for number, text in enumerate(texts):
        is_long = number >= len(texts) - 2
        if is_long and (times[-1] < NOTICED / 20 or times[-1] < 4.5 * times[-2]):
            return None  # long texts are tried only after a sign that they may take long
        taken = seconds(text)
        if taken > NOTICED and number > 0:
            taken = min(taken, seconds(text), seconds(text))
            before = min(seconds(texts[number - 1]) for _ in range(5))
            if taken > NOTICED and taken > SLOWEST * before:
                return len(text)
        times.append(taken)
    return None


def slow_text(case):
    """Start, unit, end and length of a text that takes a pattern much longer than its length; None if there is none."""

    def seconds(text):
        return seconds_of(case, text)

    for unit in units_of(case.pattern):
        for start in starts_of(case.pattern):
            for end in ("", "\x00!"):
                length = slow_length(texts_of(start, unit, end), seconds)
                if length is not None:
                    return start, unit, end, length
    return None


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case.name}: {text_of(case.pattern):.30}") for case in CASES]
)
def test_a_pattern_takes_time_in_proportion_to_the_length_of_the_text(case):
    assert slow_text(case) is None


@pytest.mark.parametrize(
    "pattern", [r"(a|aa)+$", r"(?:a+)+b", r"\s+$", r"<a[^>]*>\s*\s*x", r"(\w+)\s*=\s*(\w+)!"]
)
def test_a_pattern_that_backtracks_is_noticed(pattern):
    assert slow_text(Case("", re.compile(pattern), {"search"})) is not None


def test_patterns_are_found_in_modules_in_their_tables_and_in_functions():
    assert len(CASES) > 250
    assert sum(":" in case.name for case in CASES) > 50
    assert len({case.name.partition(":")[0].rpartition(".")[0] for case in CASES}) > 40


def test_exceptions_are_those_that_there_are():
    at_a_position = {case.name for case in CASES if "at a position" in case.methods}
    assert AT_ONE_POSITION.keys() <= at_a_position
    assert COMPOSED.keys() | TRIED_AS_A_WHOLE == COMPOSING


@pytest.mark.parametrize(
    "unit", ["sk-abc", "sk-", "\\", "%25", "<b>", "<", "&#", "73", "c2st", "s k", "\u200b", "="]
)
def test_a_key_is_masked_in_time_in_proportion_to_the_length_of_the_text(unit):
    key = "sk-abcdefghijklmnopqrstuvwxyz012345"

    def seconds(text):
        began = time.process_time()
        masked(text + key, key)
        return time.process_time() - began

    assert slow_length(texts_of("", unit, "!"), seconds) is None


@pytest.mark.parametrize("unit", ["amp;", "#38;", "&lt;", "\u00b4", "\u200b", "\uff06#65286;"])
def test_plain_signs_take_time_in_proportion_to_the_length_of_the_text(unit):
    def seconds(text):
        began = time.process_time()
        with_plain_signs(text)
        return time.process_time() - began

    assert slow_length(texts_of("&", unit, "!"), seconds) is None


def test_plain_signs_are_their_own_plain_form_however_deep_entities_stand_in_each_other():
    for depth in (1, 19, 20, 21, 400):
        plain = with_plain_signs("a &" + "amp;" * depth + "lt; b")
        assert with_plain_signs(plain) == plain
        assert depth > 19 or plain == "a < b"
