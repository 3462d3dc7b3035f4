"""What several tests of statistics need."""

from dataclasses import replace

import numpy as np
import pytest


@pytest.fixture(scope="session")
def copies_of():
    """Gives of a bootstrap one draw beside the sample itself, and how often that draw takes each participant."""

    def one_draw(bootstrap):
        taken = bootstrap.weights()[0]
        both = replace(bootstrap, draws=2, confidence=np.nextafter(1.0, 0.0))  # from one of the two to the other
        both.__dict__["_weights"] = np.stack([taken, np.ones_like(taken)])
        return both, dict(zip(bootstrap.names, taken.astype(int), strict=True))

    return one_draw


@pytest.fixture(scope="session")
def resampled():
    """Gives of a table the values in that one draw: the other limit is that of the sample itself."""
    return lambda table: (table["low"] + table["high"] - table["estimate"]).to_numpy(dtype=float)
