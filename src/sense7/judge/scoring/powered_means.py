"""Mean ratings of the conditions where users rate only some conversations: what a judge adds, and how safely."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.prediction_powered import FEWEST_CLUSTERS, Sums, mean_of_sums, sums_of
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["SHARES", "condition_means", "share_shown", "simulated_means", "with_conditions"]

SHARES = (0.1, 0.25, 0.5)
"""Shares of the participants who rate, in the simulation."""

SHOWN = 0.25
"""That of them which is shown condition by condition."""

STUDIES = 500
"""Studies that are simulated for each share."""

_UNIT = "level, 1 to 5"


def with_conditions(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """Predictions that have a score, with the condition of their conversation.

    Parameters
    ----------
    study : Study
        The data.
    frame : DataFrame
        conversation, participant, ground_truth, score.
    """
    condition = study.conversations.set_index("conversation")["condition"]
    known = frame[np.isfinite(frame["score"].astype(float))]
    return known.assign(condition=known["conversation"].map(condition).to_numpy()).dropna(subset=["condition"])


def condition_means(
    frame: pd.DataFrame, *, share: float = SHOWN, seed: int = 1, confidence: float = 0.95
) -> dict[str, pd.DataFrame]:
    """Mean rating of each condition had only some participants rated: by them alone, and with the judge.

    Parameters
    ----------
    frame : DataFrame
        As :func:`with_conditions` returns it.
    share : float
        Share of the participants who rate, at least five of them; the ratings of the others are hidden.
    seed : int
        Of the choice of participants.
    confidence : float
        Of the intervals.

    Returns
    -------
    dict
        "some users alone", "some users and the judge", "all users": tables of estimates by condition.
    """
    people = pd.unique(frame["participant"])
    number = _number(share, len(people))
    chosen = np.random.default_rng(seed).choice(len(people), number, replace=False)
    rating = frame["participant"].isin(people[chosen]).to_numpy()
    some = f"mean rating of {count_of(number, 'participant')} of {len(people):,}"
    ways = {
        "some users alone": (np.where(rating, frame["ground_truth"], np.nan), 0.0, some),
        "some users and the judge": (
            np.where(rating, frame["ground_truth"], np.nan),
            None,
            f"{some}; prediction-powered, the judge on all",
        ),
        "all users": (frame["ground_truth"].to_numpy(dtype=float), 0.0, "mean rating of all participants"),
    }
    return {name: _by_condition(frame, *way, confidence) for name, way in ways.items()}


def share_shown(frame: pd.DataFrame, share: float = SHOWN) -> dict:
    """How many participants rate in :func:`condition_means`, in words, as ``Recorder.value`` takes it.

    Examples
    --------
    >>> share_shown(pd.DataFrame({"participant": range(40)}))["estimate"]
    '10 of 40 participants'
    """
    people = frame["participant"].nunique()
    return {
        "key": "ppi_share_shown",
        "estimate": f"{_number(share, people):,} of {count_of(people, 'participant')}",
        "n": people,
        "unit": "participants",
        "method": f"{share:.0%} of the participants with scores, at least {FEWEST_CLUSTERS}",
    }


def _number(share: float, people: int) -> int:
    return min(people, max(FEWEST_CLUSTERS, round(share * people)))


def _by_condition(
    frame: pd.DataFrame, ratings: np.ndarray, weight: float | None, method: str, confidence: float
) -> pd.DataFrame:
    rows = {}
    for condition, places in frame.groupby("condition", sort=True).indices.items():
        own = frame.iloc[places]
        found = mean_of_sums(
            sums_of(ratings[places], own["score"].to_numpy(), own["participant"]), confidence=confidence, weight=weight
        )
        how = f"{method}; {confidence:.0%} t interval, participants as clusters"
        rows[str(condition)] = estimate_row(
            found.estimate, found.low, found.high, n=found.rated, unit=_UNIT, method=how, reason=found.reason
        )
    return estimate_table(rows, "condition")


def simulated_means(
    frame: pd.DataFrame,
    *,
    shares: Sequence[float] = SHARES,
    studies: int = STUDIES,
    seed: int = 1,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Coverage and widths of both intervals in simulated studies, whose truth is known.

    Each simulated study draws as many participants as there are, with replacement, each with all conversations; a share
    of them rates, and the judge scores all. The truth is the mean rating of each condition over all participants of
    the data. Coverage is the share of conditions whose interval holds it.

    Parameters
    ----------
    frame : DataFrame
        As :func:`with_conditions` returns it. Rows without ground truth are left out.
    shares : sequence of float
        Shares of the participants who rate.
    studies : int
        Studies for each share.
    seed : int
        Of the draws.
    confidence : float
        Of the intervals that are tried.

    Returns
    -------
    DataFrame
        Table of estimates, three rows for each share: coverage of users alone and with the judge (interval: of the
        share of studies), and the mean width with the judge by that of users alone (interval: middle of the studies).
    """
    rated = frame[np.isfinite(frame["ground_truth"].astype(float))]
    people = pd.unique(rated["participant"])
    tables = [_per_participant(rated, places, people) for places in rated.groupby("condition").indices.values()]
    generator, rows = np.random.default_rng(seed), {}
    for share in shares:
        number = _number(share, len(people))
        wanted = studies if len(people) >= FEWEST_CLUSTERS else 0
        found = [_one_study(tables, len(people), number, generator, confidence) for _ in range(wanted)]
        rows |= _rows_of(np.reshape(found, (-1, 3)), share, number, studies, confidence)
    return estimate_table(rows, "simulated studies")


def _per_participant(rated: pd.DataFrame, places: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, float]:
    """Number of rows, sums of ratings and of scores of every participant in a condition; the true mean."""
    own = rated.iloc[places]
    codes = pd.Index(people).get_indexer(own["participant"])
    columns = (np.ones(len(own)), own["ground_truth"], own["score"])
    sums = np.array([np.bincount(codes, weights=column, minlength=len(people)) for column in columns])
    return sums, sums[1].sum() / sums[0].sum()


def _one_study(
    tables: list, people: int, number: int, generator: np.random.Generator, confidence: float
) -> tuple[float, float, float]:
    """Share of conditions covered by users alone and with the judge, and mean ratio of widths."""
    drawn = generator.integers(people, size=people)
    held, ratios = [], []
    for sums, truth in tables:
        n, ratings, scores = sums[:, drawn]
        rates = np.arange(people) < number
        kinds = Sums(
            *(np.where(rates, column, 0) for column in (n, ratings, scores)),
            *(np.where(rates, 0, column) for column in (n, scores)),
        )
        alone, powered = (mean_of_sums(kinds, confidence=confidence, weight=weight) for weight in (0.0, None))
        if np.isfinite(alone.low) and alone.high > alone.low:
            held.append([mean.low <= truth <= mean.high for mean in (alone, powered)])
            ratios.append((powered.high - powered.low) / (alone.high - alone.low))
    return (*np.mean(held, axis=0), np.mean(ratios)) if held else (np.nan,) * 3


def _rows_of(found: np.ndarray, share: float, number: int, studies: int, confidence: float) -> dict[str, dict]:
    found = found[np.isfinite(found).all(axis=1)]
    who = f"{share:.0%} of the participants rate"
    method = f"{count_of(studies, 'simulated study', 'simulated studies')} of {count_of(number, 'rating participant')}"
    part = f"{100 * share:.0f}"
    said = {
        "coverage, users alone": (f"ppi_coverage_users_{part}", "share of intervals"),
        "coverage, users and the judge": (f"ppi_coverage_judge_{part}", "share of intervals"),
        "width with the judge by width without": (f"ppi_width_ratio_{part}", "ratio of widths"),
    }
    rows = {}
    for column, (name, (key, unit)) in enumerate(said.items()):
        about = {"unit": unit, "key": key}
        values = found[:, column]
        if not len(values):
            why = f"no condition has {FEWEST_CLUSTERS} participants with ratings and scores"
            rows[f"{who}: {name}"] = estimate_row(n=0, method=method, reason=why, **about)
            continue
        if unit == "ratio of widths":
            low, high = np.quantile(values, [0.025, 0.975])
            how = "mean over studies; the middle 95% of them"
        else:
            error = 1.96 * values.std() / np.sqrt(len(values))
            low, high = max(0, values.mean() - error), min(1, values.mean() + error)
            how = f"{confidence:.0%} intervals that hold the truth; normal interval over studies"
        rows[f"{who}: {name}"] = estimate_row(
            values.mean(), low, high, n=len(values), method=f"{method}; {how}", **about
        )
    return rows


check_arguments(globals())
