r"""Least squares on rows of which several come from one participant, and its intervals.

Three ways to an interval, each with its own assumption: rows as *independent* (the textbook's, and too
narrow here); *clustered* errors, which let the residuals of one participant be correlated in any
way; and *resampled* participants. Some pages compare them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.terminal import count_of

__all__ = [
    "KINDS",
    "ClusteredFit",
    "DescribedInterval",
    "clustered_intervals",
    "fit_clustered",
    "resampled",
    "side_by_side",
    "widths",
]

KINDS = ("as if independent", "clustered errors", "participants resampled")
"""Kinds of intervals that are compared."""

FEWEST_DEGREES = 4
"""Below so many degrees of freedom, Satterthwaite's approximation is unreliable."""

_ROUNDING = 1e-12
_NEAR = 1e-3
_ALONE = 1e-10
"""What is left of a direction that one participant determines alone, up to rounding."""


class DescribedInterval(NamedTuple):
    """An estimate with one kind of interval.

    Attributes
    ----------
    estimate, low, high : float
        NaN where there is none.
    method : str
        Kind of interval.
    reason : str
        Why there is no interval; "" if there is one.
    """

    estimate: float
    low: float
    high: float
    method: str
    reason: str

    def row(self, statistic: str, *, n: int, unit: str) -> dict:
        """Return a row of estimates; the method names the statistic, then the kind of interval."""
        method = f"{statistic}; {self.method}"
        return estimate_row(self.estimate, self.low, self.high, n=n, unit=unit, method=method, reason=self.reason)


@dataclass(frozen=True, eq=False)
class ClusteredFit:
    r"""A least-squares fit, with what its standard errors need.

    All of it follows from cross products: with :math:`M_g = X_g^\top X_g` and :math:`B = (\sum_g M_g)^{-1}`,
    the part of the hat matrix that belongs to participant g has the eigenvalues :math:`\lambda` of
    :math:`B^{1/2} M_g B^{1/2} = V \Lambda V^\top`, and

    .. math:: (I - H_{gg})^{-1/2} X_g = X_g K_g, \quad K_g = B^{1/2} V (I - \Lambda)^{-1/2} V^\top B^{-1/2}.

    Directions that one participant determines alone (:math:`\lambda = 1`) are left out, which is the
    Moore-Penrose inverse.

    Attributes
    ----------
    coefficients : array, shape (p,)
        Of the design's columns.
    bread : array, shape (p, p)
        B.
    products : array, shape (participants, p, p)
        M of each participant.
    scores : array, shape (participants, p)
        :math:`X_g^\top e_g`, with the residuals e.
    residual : float
        Sum of squared residuals.
    rows : int
        Number of rows.
    """

    coefficients: np.ndarray
    bread: np.ndarray
    products: np.ndarray
    scores: np.ndarray
    residual: float
    rows: int

    @property
    def participants(self) -> int:
        """Number of participants."""
        return len(self.products)

    @property
    def independent(self) -> np.ndarray:
        r"""Covariances of the coefficients if rows were independent, :math:`B\,\mathrm{RSS}/(n - p)`; NaN if n = p."""
        freedom = self.rows - len(self.coefficients)
        return self.bread * (self.residual / freedom if freedom > 0 else np.nan)

    @property
    def cr1(self) -> np.ndarray:
        r"""Clustered covariances with the plain correction for few participants (CR1S, also HC1 by cluster).

        .. math:: \frac{m}{m - 1} \frac{n - 1}{n - p} \, B \Big(\sum_g s_g s_g^\top\Big) B
        """
        m, n, p = self.participants, self.rows, len(self.coefficients)
        scale = m / (m - 1) * (n - 1) / (n - p) if m > 1 and n > p else np.nan
        return scale * self.bread @ (self.scores.T @ self.scores) @ self.bread

    @cached_property
    def _adjusted(self) -> np.ndarray:
        """K of each participant."""
        values, vectors = np.linalg.eigh(self.bread)
        root, inverse = ((vectors * values**power) @ vectors.T for power in (0.5, -0.5))
        shares, axes = np.linalg.eigh(root @ self.products @ root)
        left = 1 - shares
        factors = np.where(left > _ALONE, 1 / np.sqrt(np.maximum(left, _ALONE)), 0.0)
        return root @ (axes * factors[:, None, :]) @ axes.transpose(0, 2, 1) @ inverse

    @property
    def cr2(self) -> np.ndarray:
        r"""Clustered covariances whose bias is zero if rows are independent (CR2).

        .. math:: B \Big(\sum_g K_g^\top s_g s_g^\top K_g\Big) B
        """
        scores = np.einsum("gij,gi->gj", self._adjusted, self.scores)
        return self.bread @ (scores.T @ scores) @ self.bread

    def freedom(self, contrasts: np.ndarray) -> np.ndarray:
        r"""Degrees of freedom of CR2's variance of contrasts, by Satterthwaite's rule.

        That variance is a quadratic form of the residuals. If rows are independent, it has the eigenvalues of
        G, and

        .. math:: \nu = \frac{(\mathrm{tr}\, G)^2}{\mathrm{tr}(G^2)}, \quad
                  G_{gh} = \delta_{gh} a_g^\top a_g - a_g^\top X_g B X_h^\top a_h, \quad a_g = X_g K_g B c.

        Parameters
        ----------
        contrasts : array, shape (contrasts, p)
            Weights c of the coefficients.

        Returns
        -------
        array, shape (contrasts,)
            NaN where the variance is zero.
        """
        degrees = []
        for contrast in np.asarray(contrasts, dtype=float):
            taken = self._adjusted @ (self.bread @ contrast)
            outer = np.einsum("gij,gj->gi", self.products, taken)
            own = np.einsum("gi,gi->g", taken, outer)
            # Of G no more is formed than its diagonal: its other squares follow from a matrix of the coefficients.
            shared = np.einsum("gi,ij,gj->g", outer, self.bread, outer)
            inner = self.bread @ (outer.T @ outer)
            squares = ((own - shared) ** 2).sum() + (inner * inner.T).sum() - (shared**2).sum()
            degrees.append((own - shared).sum() ** 2 / squares if (own > _ALONE).any() else np.nan)
        return np.array(degrees)


def fit_clustered(y: np.ndarray, design: np.ndarray, participants: pd.Series) -> ClusteredFit:
    """Fit by least squares and keep what belongs to each participant.

    Parameters
    ----------
    y : array, shape (rows,)
        The outcome; no NaN.
    design : array, shape (rows, p)
        Columns independent.
    participants : Series
        Participant of each row.

    Returns
    -------
    ClusteredFit
        Coefficients, and covariances of three kinds.

    Raises
    ------
    ValueError
        If the columns of the design are not independent.

    References
    ----------
    Bell, R. M., & McCaffrey, D. F. (2002). Survey Methodology 28, 169-181. Pustejovsky, J. E., & Tipton, E. (2018).
    Journal of Business & Economic Statistics 36, 672-683.

    Notes
    -----
    R: lm, clubSandwich::vcovCR, clubSandwich::coef_test, sandwich::vcovCL(type='HC1'),
    tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> y = np.array([1.0, 2, 4, 5, 3, 6])
    >>> fit = fit_clustered(y, np.ones((6, 1)), pd.Series(list("aabbcc")))
    >>> [round(float(np.sqrt(kind[0, 0])), 3) for kind in (fit.independent, fit.cr1, fit.cr2)]
    [0.764, 1.0, 1.0]
    >>> fit.freedom(np.ones((1, 1))).round(3).tolist()
    [2.0]
    """
    y, design = np.asarray(y, dtype=float), np.asarray(design, dtype=float)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError("the columns of the design are not independent")
    codes, people = pd.factorize(pd.Series(participants).to_numpy())
    products = sums_by_participant(design[:, :, None] * design[:, None, :], codes, len(people))
    bread = np.linalg.inv(products.sum(axis=0))
    coefficients = bread @ design.T @ y
    left = y - design @ coefficients
    scores = sums_by_participant(design * left[:, None], codes, len(people))
    return ClusteredFit(coefficients, bread, products, scores, float(left @ left), len(y))


def clustered_intervals(fit: ClusteredFit, contrast: np.ndarray, confidence: float) -> dict[str, DescribedInterval]:
    """Return a contrast with its interval as if rows were independent, and with that of clustered errors."""
    estimate, p = float(contrast @ fit.coefficients), len(fit.coefficients)
    intervals = {}
    for name, covariance, freedom, words in (
        ("as if independent", fit.independent, fit.rows - p, "rows as if independent"),
        ("clustered errors", fit.cr2, float(fit.freedom(contrast[None])[0]), "errors clustered by participant (CR2)"),
    ):
        error = float(np.sqrt(contrast @ covariance @ contrast)) if fit.rows > p else np.nan
        reason = ""
        if not error > _ROUNDING * max(1.0, abs(estimate)):
            alike = "the ratings do not vary" if name == "as if independent" else "participants do not differ"
            reason = f"no interval: {alike}"
        elif name == "clustered errors" and not freedom >= FEWEST_DEGREES:
            reason = f"no interval: {count_of(fit.participants, 'participant')}: too few for clustered errors"
        half = np.nan if reason else error * stats.t.ppf((1 + confidence) / 2, freedom)
        degrees = f"{freedom:.0f}" if name == "as if independent" else f"{freedom:.1f}"
        method = f"{words}; {confidence:.0%} t interval" + ("" if reason else f", {degrees} degrees of freedom")
        intervals[name] = DescribedInterval(estimate, estimate - half, estimate + half, method, reason)
    return intervals


def resampled(
    statistic: Callable, values: np.ndarray, participants: pd.Series, bootstrap: ParticipantBootstrap
) -> DescribedInterval:
    """Return a statistic with its bootstrap interval."""
    estimate, low, high, reason = bootstrap.estimate(statistic, values, participants)
    return DescribedInterval(estimate, low, high, bootstrap.description, reason)


def side_by_side(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the estimate, and each kind of interval beside it, in words.

    Parameters
    ----------
    tables : dict of DataFrame
        Kind -> table of estimates; all with the same rows and estimates.

    Returns
    -------
    DataFrame
        One row per estimate: ``estimate``, one column per kind, ``n``, and ``note`` where something is missing.

    Examples
    --------
    >>> rows = {"a": estimate_row(1.0, 0.5, 1.5, n=3, unit="points", method="m")}
    >>> side_by_side({"narrow": estimate_table(rows, "row")}).loc["a", "narrow"]
    '0.500 to 1.500'
    """
    first = next(iter(tables.values()))
    shown = pd.DataFrame(index=first.index)
    shown["estimate"] = [f"{value:z.3f}" if np.isfinite(value) else "not available" for value in first["estimate"]]
    for kind, table in tables.items():
        limits = zip(table["low"], table["high"], strict=True)
        shown[kind] = [f"{low:z.3f} to {high:z.3f}" if np.isfinite(low) else "none" for low, high in limits]
    shown["n"] = first["n"]
    notes = [
        "; ".join(dict.fromkeys(filter(None, (table.loc[row, "reason"] for table in tables.values()))))
        for row in first.index
    ]
    return shown.assign(note=notes) if any(notes) else shown


def widths(tables: dict[str, pd.DataFrame], keys: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return how many times as wide as the interval *as if independent* the other kinds are, on average over the rows.

    Parameters
    ----------
    tables : dict of DataFrame
        Kind (``KINDS``) -> table of estimates, all with the same rows.
    keys : mapping, optional
        Kind -> key of its row.

    Returns
    -------
    DataFrame
        One row for each other kind: estimate (mean of the ratios of the widths; no interval), n (rows that
        have both intervals), unit, method, reason.
    """
    naive, *others = KINDS
    rows = {}
    for kind in others:
        wide, narrow = (tables[name]["high"] - tables[name]["low"] for name in (kind, naive))
        ratios = (wide / narrow).dropna()
        rows[kind] = estimate_row(
            ratios.mean() if len(ratios) else np.nan,
            n=len(ratios),
            unit="times as wide",
            method=f"mean over {len(ratios)} estimates of the width of the interval by that of the one {naive}",
            reason="" if len(ratios) else "there are no two intervals to compare",
        )
    return estimate_table(rows, "interval", keys)


check_arguments(globals())
