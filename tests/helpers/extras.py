"""What an extra of the package brings, looked for without importing it: that takes seconds."""

from importlib.util import find_spec

import pytest


def need_the_judge():
    """Skip a test, or a file of tests, without the extra that asks a judge."""
    if find_spec("inspect_ai") is None:
        pytest.skip("the extra judge is not installed", allow_module_level=True)
