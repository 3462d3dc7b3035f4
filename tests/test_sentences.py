"""The file of sentences has none of a test that is gone; see :mod:`helpers.sentences`."""

import re

import pytest

from helpers.sentences import COLLECTED, FILE, TESTS


def test_every_sentence_is_one_of_a_test_that_is_there(request):
    """Of the files that are tried together with this one."""
    options = request.config
    if (
        options.option.keyword
        or options.option.markexpr
        or any("::" in path for path in options.args)
    ):
        pytest.skip("some tests of a file were chosen")
    collected = set()
    of_tests = [item for item in options.stash[COLLECTED] if item.path.is_relative_to(TESTS)]
    for item in of_tests:
        path = item.path.relative_to(TESTS).as_posix()
        test = item.nodeid.partition("::")[2].replace("::", ".")
        collected |= {(path, test), (path, test.partition("[")[0])}  # for one or for all parameters
    paths = {path for path, _ in collected}
    names = re.findall(r"^# name: ([^:]+)::(.+?)(?:\.\d+)?$", FILE.read_text("utf-8"), re.MULTILINE)
    stale = [name for name in names if name[0] in paths and name not in collected]
    assert stale == []
