"""Sentences of messages stand in one file, tests/reference/sentences.ambr; tests say what a message is about.

After a sentence was changed: ``python -m pytest -n 0 --snapshot-update tests/that/test_file.py``.
"""

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.extensions.amber import AmberSnapshotExtension

from sense7.errors import UserError

TESTS = Path(__file__).resolve().parents[1]
FILE = TESTS / "reference" / "sentences.ambr"

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests of a session, those too that are left out because they are long."""


class OneFile(AmberSnapshotExtension):
    """All sentences in one file, each under the path of its test."""

    @classmethod
    def get_location(cls, **_) -> str:
        return str(FILE)

    @classmethod
    def dirname(cls, **_) -> str:
        return str(FILE.parent)

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0) -> str:
        path = Path(test_location.filepath).relative_to(TESTS).as_posix()
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return f"{path}::{name}"


class OneForAll(OneFile):
    """A sentence that stands once for all cases of a parametrized test."""

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0) -> str:
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return name.replace(test_location.testname, test_location.methodname)


class Sentences:
    """The sentences of one test, in their order."""

    def __init__(self, snapshot, folders):
        self._of_case = snapshot.use_extension(OneFile)
        self._of_test = snapshot.use_extension(OneForAll)
        self._folders = sorted(map(str, folders), key=len, reverse=True)

    def check(self, text: str, *places: object, varying: str = "", for_all: bool = False) -> None:
        """Require that a message names places (files, sheets, columns, rows, numbers) and says what stands in the file.

        What differs from run to run is FOLDER, PORT, DIGEST and MOMENT there, the reason of a failed system call is
        SYSTEM, and what matches ``varying``, a pattern of sizes or of words of another library, is VARYING. With
        ``for_all`` the sentence stands once for all cases of a parametrized test.
        """
        text = self._without_folders(text)
        missing = [place for place in places if not self._names(text, place)]
        assert not missing, f"{missing} not named in: {text}"
        text = re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT", text)
        text = re.sub(r"\b(?=\d*[a-f])[0-9a-f]{12,64}\b", "DIGEST", text)
        text = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "MOMENT", text)
        for number in errno.errorcode:
            text = text.replace(f"({os.strerror(number)})", "(SYSTEM)")
        if varying:
            text = re.sub(varying, "VARYING", text)
        assert text == (self._of_test if for_all else self._of_case)

    def _names(self, text: str, place: object) -> bool:
        """Whether a text names a place; a number has to stand there whole, and not in the name of a test's folder."""
        if isinstance(place, int):
            return re.search(rf"(?<![\d.,]){place}(?!\d|[.,]\d)", text) is not None
        return self._without_folders(place) in text

    def _without_folders(self, text: object) -> str:
        text = str(text)
        for folder in self._folders:
            text = text.replace(folder, "FOLDER")
        return text

    @contextlib.contextmanager
    def refused(
        self,
        *places: object,
        error: type[Exception] = UserError,
        varying: str = "",
        for_all: bool = False,
    ) -> Iterator[pytest.ExceptionInfo]:
        """``with sentences.refused("study.xlsx", "Score"): ...``: an error whose message names these places."""
        with pytest.raises(error) as raised:
            yield raised
        self.check(str(raised.value), *places, varying=varying, for_all=for_all)
