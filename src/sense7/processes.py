"""The processes that this one starts: their environment, and how they end.

A kernel that runs a notebook computes the same on every run, and no program but the one that asks a judge gets its key.
"""

import os
from collections.abc import Mapping

OWN_KEY, OPENAI_KEY = "SENSE7_JUDGE_KEY", "OPENAI_API_KEY"
KEYS = frozenset({OWN_KEY, OPENAI_KEY})
"""Variables of the environment that a judge's key may stand in."""

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")}
ONE_THREAD |= {"VECLIB_MAXIMUM_THREADS": "1"}
FIXED = {"PYTHONHASHSEED": "0", **ONE_THREAD}
"""The order of sets, and of sums on several threads, would change the last digits of what a notebook gives."""

KILLED = -9
"""What a process ends with that the system kills, as it does where memory runs out."""

NO_MEMORY = (
    "The system ends a process where memory runs out: close other programs, "
    "or let fewer notebooks run at a time, by --jobs 1."
)


def without_keys(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Give an environment without a judge's key, for all that asks no judge, such as the notebooks of a book."""
    return {name: value for name, value in environment.items() if name not in KEYS}
