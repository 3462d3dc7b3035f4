"""Reproducible companion to SENSE-7: a workbook of rated conversations in, a book of findings out.

``import sense7 as s7`` gives what every analysis needs: loading, resampling, recording. The modules behind
it are imported when they are first used. A finding's module is an attribute as well, for work at a prompt
(``s7.conditions``). All other modules are imported by their names, such as ``from sense7 import figures``.

Examples
--------
>>> import sense7 as s7
>>> len(s7.DIMENSION_NAMES)
7
"""

import importlib
import importlib.util

__version__ = "1.0.0"

NAMES = {
    "DIMENSION_NAMES": "taxonomy",
    "ParticipantBootstrap": "statistics.bootstrap",
    "Recorder": "record",
    "Study": "study",
    "UserError": "errors",
    "cohens_d": "statistics.effect_size",
    "count_of": "terminal",
    "cronbach_alpha": "statistics.alpha",
    "estimate_table": "statistics.estimates",
    "ground_truth": "findings.ground_truth",
    "holm": "statistics.estimates",
    "load": "loading",
    "omega_total": "statistics.factor",
    "weighted_kappa": "statistics.rater_agreement",
}
"""Every name that this package gives -> the module that it comes from."""

__all__ = [*NAMES]  # noqa: PLE0604 -- all of them are strings


def __getattr__(name: str):
    if name in NAMES:
        return getattr(importlib.import_module(f"sense7.{NAMES[name]}"), name)
    if name.startswith("__"):
        raise AttributeError(name)
    if importlib.util.find_spec(f"sense7.findings.{name}"):
        return importlib.import_module(f"sense7.findings.{name}")
    from sense7.terminal import did_you_mean

    hint = did_you_mean(name, __dir__(), "dir(sense7) lists those it has.")
    raise AttributeError(
        f"module 'sense7' has no attribute {name!r}. {hint} A module is imported by its name, such as "
        "from sense7 import figures.",
        name=name,
    )


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
