"""Correlation within groups."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.least_squares import within

__all__ = ["within_correlation"]


def within_correlation(
    values: np.ndarray,
    groups: pd.Series,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
    method: str,
) -> dict:
    r"""Correlation of two columns within groups, as a row of estimates; a third column, if there is one, held equal.

    .. math:: r_{xy} = \frac{\sum \tilde x \tilde y}{\sqrt{\sum \tilde x^2 \sum \tilde y^2}}, \quad
              r_{xy \cdot z} = \frac{r_{xy} - r_{xz} r_{yz}}{\sqrt{(1 - r_{xz}^2)(1 - r_{yz}^2)}}

    with each value minus the mean of its group. So what differs between groups, such as the level at which a person
    rates, has no part in it.

    Parameters
    ----------
    values : array, shape (rows, 2) or (rows, 3)
        x, y, and z if it is to be held equal; no NaN.
    groups : Series
        Group of each row; groups of one row say nothing and are left out.
    participants : Series
        Participant of each row; a group belongs to one of them.
    bootstrap : ParticipantBootstrap
        Resamples of participants for the interval.
    method : str
        What is correlated.

    Returns
    -------
    dict
        estimate (-1..1), low, high, n (rows), unit, method, reason.

    Notes
    -----
    Checked against numpy.corrcoef of the residuals of least squares on indicators of the groups.
    """
    codes = pd.factorize(pd.Series(groups).to_numpy())[0]
    kept = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=bool)
    common = {"n": int(kept.sum()), "unit": "correlation", "method": method}
    if not kept.any():
        return bootstrap.row((np.nan,) * 3 + ("",), **common, undefined="nothing has two ratings to compare")
    values, participants = np.asarray(values, dtype=float)[kept], pd.Series(participants)[kept]
    values = within(values, pd.Series(codes[kept]))
    found = bootstrap.estimate(_partial, values[:, :, None] * values[:, None, :], participants)
    return bootstrap.row(found, **common, undefined="one of the two does not vary")


def _partial(cross: np.ndarray) -> np.ndarray:
    """Correlation of the first two columns from cross products, the third held equal if there is one."""
    squares = np.diagonal(cross, axis1=-2, axis2=-1)
    vary = (squares > 1e-9).all(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = cross / np.sqrt(squares[..., :, None] * squares[..., None, :])
        found = r[..., 0, 1]
        if cross.shape[-1] == 3:
            left = (1 - r[..., 0, 2] ** 2) * (1 - r[..., 1, 2] ** 2)
            vary = vary & (left > 1e-9)
            found = (found - r[..., 0, 2] * r[..., 1, 2]) / np.sqrt(left)
    return np.where(vary, found, np.nan)


check_arguments(globals())
