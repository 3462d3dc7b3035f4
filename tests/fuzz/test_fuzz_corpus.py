"""Inputs that a search for crashes has kept, replayed: each is read or refused, soon and without much memory."""

import time

import pytest

from fuzz import targets


@pytest.mark.parametrize("name", targets.TARGETS)
def test_every_kept_input_is_read_or_refused(name):
    inputs = targets.kept(name)
    assert inputs
    for place, content in inputs.items():
        started = time.process_time()  # the processor's, so that a busy machine is no finding
        try:
            targets.TARGETS[name](content)
        except BaseException as error:
            error.add_note(f"while reading {place} of {name}.zip")
            raise
        assert time.process_time() - started < targets.SECONDS, place
