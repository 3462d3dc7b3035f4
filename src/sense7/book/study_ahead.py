"""Imported by the fork server: the study is read once, before kernels are forked."""

import contextlib
import json
import os

from sense7.errors import UserError
from sense7.loading import read_ahead

if "SENSE7_STUDY_AHEAD" in os.environ:
    with contextlib.suppress(UserError, OSError):  # the notebook will say so
        read_ahead(*json.loads(os.environ.pop("SENSE7_STUDY_AHEAD")))
