"""Reproducible companion to SENSE-7: a workbook of rated conversations in, a book of findings out.

``import sense7 as s7`` gives what a notebook needs; the modules behind it are imported when
they are first used.

Examples
--------
>>> import sense7 as s7
>>> len(s7.DIMENSION_NAMES)
7
"""

import importlib
import os

__version__ = "0.1.0"

_WHERE = {
    "DIMENSIONS": "taxonomy",
    "DIMENSION_NAMES": "taxonomy",
    "LEVELS": "taxonomy",
    "ConversationBootstrap": "statistics.bootstrap",
    "ParticipantBootstrap": "statistics.bootstrap",
    "Recorder": "record",
    "StratifiedBootstrap": "statistics.bootstrap",
    "Study": "study",
    "UserError": "errors",
    "count_of": "terminal",
    "cronbach_alpha": "statistics.reliability",
    "estimate_table": "statistics.estimates",
    "ground_truth": "statistics.ground_truth",
    "load": "loading",
    "read_values": "record",
    "read_workbook": "workbook",
}
_STATISTICS, _FINDINGS, _JUDGE = (
    # Not by pathlib or pkgutil: their import takes longer than all of this.
    sorted(name.removesuffix(".py") for name in os.listdir(os.path.join(__path__[0], folder)) if name.endswith(".py"))  # noqa: PTH118, PTH208
    for folder in ("statistics", "findings", "judge")
)
_MODULES = {
    "benchmarks": "benchmarks",
    "figures": "figures",
    "ground_truths": "statistics.ground_truth",  # the name itself leads to the function
    "report": "workbook.report",
    "tables": "tables",
    "taxonomy": "taxonomy",
    "workbook": "workbook",
    **{name: f"statistics.{name}" for name in _STATISTICS if name not in {"__init__", *_WHERE}},
    **{name: f"findings.{name}" for name in _FINDINGS if name != "__init__"},
    **{name: f"judge.{name}" for name in _JUDGE if name != "__init__"},
}
__all__ = [*_WHERE, *_MODULES]  # noqa: PLE0604 -- all of them are strings


def __getattr__(name: str):
    if name in _WHERE:
        return getattr(importlib.import_module(f"sense7.{_WHERE[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"sense7.{_MODULES[name]}")
    raise AttributeError(f"module 'sense7' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
