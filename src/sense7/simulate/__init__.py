"""Simulated studies in the official format, with known truth.

A simulated number says what the simulation was told or what follows from that. It is
never a finding about people or about a model. The modules are imported when they are first used: pages need the
parameters alone.

>>> from sense7.simulate import Parameters, draw
>>> import numpy as np
>>> draw(Parameters(participants=10, conversations=40), np.random.default_rng(1)).post.shape
(40, 7)
"""

import importlib

DEFAULT_SEED = 20250919
"""Seed of the workbook in data/."""

_NAMES = {
    "model": "NOT_PUT UNKNOWN Numbers draw",
    "parameters": "JudgeParameters Parameters",
    "judge": "JudgeScores",
    "workbook": "DEFAULT_JUDGE Simulation describe_parameters simulate",
    "truth": "truth_text",
}
_MODULE_OF = {}
for _module, _names in _NAMES.items():
    _MODULE_OF.update(dict.fromkeys(_names.split(), _module))
__all__ = ["DEFAULT_SEED", *_MODULE_OF]  # noqa: PLE0604 -- all of them are strings


def __getattr__(name: str):
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"sense7.simulate.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
