"""The main statistics of a data set in parts: sums per participant, part by part.

A part gives sums over each of its participants' turns or conversations. Each participant is in one part, so the
sums of all parts are concatenated, and the bootstrap takes them as they are: estimates and intervals are those of the
data in one piece, and no part has to be compared with another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.alpha import alpha_row_of_moments, moments_by_participant
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio, sums_by_participant
from sense7.estimators.effect_size import cohens_d, group_moments, mean_difference
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, safe_names
from sense7.estimators.ranks import distinct_pairs, spearman_draws, spearman_row
from sense7.estimators.rater_agreement import WEIGHTS, weighted_kappa
from sense7.findings.ground_truth import labels
from sense7.findings.measures import OUTCOMES, conversation_ratings, post_task_ratings, turn_ratings
from sense7.findings.poor_turn import EXPERIENCE, poor_turn_conversations
from sense7.study import RATED, UNREADABLE, Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.workbook import ReadingOptions, read_workbook
from sense7.workbook.writing import partition_folders

__all__ = ["PartSums", "estimates_of_parts", "statistics_of_parts", "sums_of_part"]

_ALPHAS = {"alpha_turn": "turn", "alpha_turn_without_relational": "turn", "alpha_post": "post"}
_NONE = "nothing in this data set says so"
_DRAWS_AT_ONCE = 500
"""Resamples of a task: the same for any number of processes, so that results are the same."""


@dataclass(frozen=True)
class PartSums:
    """Sums of a part's participants for each statistic."""

    participants: list[str]
    sums: dict[str, np.ndarray] = field(repr=False)
    complete: dict[str, tuple[tuple[str, ...], np.ndarray]] = field(repr=False)
    pairs: dict[str, pd.DataFrame] = field(repr=False)


def sums_of_part(study: Study, scores: pd.Series | None = None) -> PartSums:
    """Return the sums of a part's turns and conversations by participant."""
    names = pd.Index(study.conversations["participant"].unique())

    def summed(values: np.ndarray, participants) -> np.ndarray:
        return sums_by_participant(
            np.asarray(values, dtype=float), names.get_indexer(participants), len(names)
        )

    put = study.turns_put_to_rating
    levels, overall = put[list(RATING_NAMES)].to_numpy(), put["overall"].to_numpy()
    rated = np.column_stack([put[f"{name}_state"] == RATED for name in RATING_NAMES]).reshape(
        levels.shape
    )
    readable = np.column_stack(
        [put[f"{name}_state"] != UNREADABLE for name in RATING_NAMES]
    ).reshape(levels.shape)
    sums = {
        "put": summed(readable, put["participant"]),
        "rated": summed(rated, put["participant"]),
        "level": summed(np.where(rated, levels, 0), put["participant"]),
    }
    complete = {}
    for kind, ratings in (("turn", turn_ratings(study)), ("post", post_task_ratings(study))):
        rated_columns = tuple(ratings.columns[ratings.notna().any()])
        whole = ratings[list(rated_columns)].dropna() if rated_columns else ratings.iloc[:0]
        sums[f"{kind} moments"] = summed(
            *moments_by_participant(ratings.to_numpy(dtype=float), ratings.index)
        )
        sums[f"{kind} units"] = summed(np.ones(len(ratings)), ratings.index)
        complete[kind] = (
            rated_columns,
            summed(*moments_by_participant(whole.to_numpy(dtype=float), whole.index)),
        )
    for column, name in enumerate(DIMENSION_NAMES, 1):
        both = np.isfinite(levels[:, column]) & np.isfinite(overall)
        tables = np.zeros((both.sum(), len(LEVELS), len(LEVELS)))
        own, whole = (labels(one[both]).astype(int) - 1 for one in (levels[:, column], overall))
        tables[np.arange(len(tables)), own, whole] = 1
        sums[f"table {name}"] = summed(tables, put["participant"][both])
    poor = poor_turn_conversations(study)
    sums["poor"] = summed(group_moments(poor["outcome"], poor["poor"] > 0), poor["participant"])
    truth = conversation_ratings(study)
    truth = truth[truth["ground_truth"].notna()]
    for condition, own in truth[truth["condition"].notna()].groupby("condition"):
        sums[f"condition {condition}"] = summed(_moments(own["ground_truth"]), own["participant"])
    if scores is not None:
        scored = truth.assign(score=scores.reindex(truth.index)).dropna(subset="score")
        hit = labels(scored["ground_truth"]) == labels(scored["score"])
        sums["hit"] = summed(np.column_stack([hit, np.ones(len(scored))]), scored["participant"])
    return PartSums(list(names), sums, complete, _pairs(study.conversations))


def _moments(values: pd.Series) -> np.ndarray:
    y = values.to_numpy(dtype=float)
    return np.column_stack([np.ones(len(y)), y, y**2])


def _pairs(conversations: pd.DataFrame) -> dict[str, pd.DataFrame]:
    frame = pd.DataFrame({"participant": conversations["participant"]})
    frame["first"] = conversations[OUTCOMES["empathy"]].mean(axis=1)
    pairs = {}
    for words, key in EXPERIENCE.items():
        names = (
            [words.replace(" ", "_")]
            if words.replace(" ", "_") in conversations
            else OUTCOMES["experience"]
        )
        known = frame.assign(second=conversations[names].mean(axis=1)).dropna()
        pairs[key] = (
            known.groupby(["participant", "first", "second"], sort=False)
            .size()
            .rename("count")
            .reset_index()
        )
    return pairs


class _OfSums(NamedTuple):
    """A statistic of sums by participant, which are 0 for those without data."""

    function: Callable[[np.ndarray], np.ndarray]
    sums: np.ndarray
    counts: np.ndarray
    unit: str
    method: str


def estimates_of_parts(
    parts: Sequence[PartSums], *, apply: Callable = map, **options
) -> pd.DataFrame:
    """Return estimates and intervals of a data set from the sums of its parts."""
    names = [name for part in parts for name in part.participants]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(
            f"participant {twice!r} is in several parts. Put all that a participant did into one part."
        )
    people = pd.Series(names, dtype=object)
    bootstrap = ParticipantBootstrap(people, **options)
    sums = {key: _stacked(parts, key) for part in parts for key in part.sums}
    statistics, pairs = _statistics(sums), _pairs_of_parts(parts)
    tables = {key: distinct_pairs(*one[:3], bootstrap, one[3]) for key, one in pairs.items()}
    draws = _resampled(bootstrap, statistics, tables, apply)
    rows = _alphas(parts, sums, people, bootstrap)
    for key, statistic in statistics.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(statistic.function(statistic.sums.sum(axis=0)))
        estimate = Estimate(estimate, *bootstrap.interval(draws[key], people[statistic.counts > 0]))
        common = {
            "n": int(statistic.counts.sum()),
            "unit": statistic.unit,
            "method": statistic.method,
        }
        rows[key] = bootstrap.row(estimate, **common, undefined=_NONE)
    method = "Spearman correlation of mean post-task empathy with the experience"
    for key in EXPERIENCE.values():
        if key in pairs:
            first, second, who, counts = pairs[key]
            rows[key] = spearman_row(first, second, who, bootstrap, method, counts, draws[key])
        else:
            rows[key] = estimate_row(
                n=0, unit="correlation", method=method, reason="no conversation has both"
            )
    return estimate_table(rows, "key")


def _statistics(sums: dict[str, np.ndarray]) -> dict[str, _OfSums]:
    """Every statistic of sums, by its key."""
    statistics = {}
    put, rated, level = sums["put"], sums["rated"], sums["level"]
    for column, name in enumerate(RATING_NAMES):
        pairs = ((rated[:, column], put[:, column]), (level[:, column], rated[:, column]))
        share, mean = (np.column_stack(two) for two in pairs)
        method = "rated turns by turns put to rating"
        statistics[f"applicability_{name}"] = _OfSums(
            ratio, share, put[:, column], "share of turns", method
        )
        statistics[f"mean_{name}"] = _OfSums(
            ratio, mean, rated[:, column], "level, 1 to 5", "mean over rated turns"
        )
    for name in DIMENSION_NAMES:
        table = sums[f"table {name}"]
        for kind in WEIGHTS:
            kappa, method = (
                partial(weighted_kappa, weights=kind),
                f"Cohen's kappa, {kind} weights, five levels",
            )
            statistics[f"kappa_{kind}_{name}"] = _OfSums(
                kappa, table, table.sum(axis=(1, 2)), "weighted kappa", method
            )
    poor = sums["poor"]
    method = "at least one poor turn, between conversations; n counts conversations"
    statistics["poor_turn_d"] = _OfSums(
        cohens_d, poor, poor[:, :, 0].sum(axis=1), "Cohen's d", method
    )
    conditions = sorted(
        key.removeprefix("condition ") for key in sums if key.startswith("condition ")
    )
    safe = safe_names(conditions)
    for number, first in enumerate(conditions, 1):
        own, unit = sums[f"condition {first}"], "level (from 1 to 5)"
        method = "mean over conversations of the ground truth of the conversation"
        statistics[f"condition_mean_{safe[first]}"] = _OfSums(
            ratio, own[:, [1, 0]], own[:, 0], unit, method
        )
        for second in conditions[number:]:
            two = np.stack([own, sums[f"condition {second}"]], axis=1)
            n, key = two[:, :, 0].sum(axis=1), f"{safe[first]}_{safe[second]}"
            method, unit = "difference of means over conversations", "points (levels from 1 to 5)"
            statistics[f"condition_difference_{key}"] = _OfSums(
                mean_difference, two, n, unit, method
            )
            method = f"{method}, in standard deviations"
            statistics[f"condition_d_{key}"] = _OfSums(cohens_d, two, n, "Cohen's d", method)
    if "hit" in sums:
        hit, method = sums["hit"], "conversations whose label is the ground truth's"
        statistics["accuracy"] = _OfSums(ratio, hit, hit[:, 1], "share of conversations", method)
    return statistics


def _pairs_of_parts(parts: Sequence[PartSums]) -> dict[str, tuple[np.ndarray, ...]]:
    """First, second, participants and counts of every correlation that has some pairs, by its key."""
    pairs_by_key = {}
    for key in EXPERIENCE.values():
        pairs = pd.concat([part.pairs[key] for part in parts], ignore_index=True)
        if len(pairs):
            pairs_by_key[key] = tuple(
                pairs[name].to_numpy() for name in ("first", "second", "participant", "count")
            )
    return pairs_by_key


def _resampled(
    bootstrap: ParticipantBootstrap,
    statistics: dict[str, _OfSums],
    pairs: dict[str, tuple],
    apply: Callable,
) -> dict[str, np.ndarray]:
    """Every statistic in every draw."""
    flat = np.concatenate(
        [one.sums.reshape(len(one.sums), -1) for one in statistics.values()], axis=1
    )
    shapes = [(one.function, one.sums.shape[1:]) for one in statistics.values()]
    task = partial(_some_draws, flat=flat, shapes=shapes, pairs=list(pairs.values()))
    some = list(apply(task, bootstrap.split(_DRAWS_AT_ONCE)))
    return dict(
        zip([*statistics, *pairs], map(np.concatenate, zip(*some, strict=True)), strict=True)
    )


def _some_draws(
    bootstrap: ParticipantBootstrap,
    flat: np.ndarray,
    shapes: Sequence[tuple[Callable, tuple]],
    pairs: Sequence[tuple],
) -> list[np.ndarray]:
    """The statistics in the draws of one bootstrap, from all their sums at once; then the correlations."""
    sums = bootstrap.in_every_draw(lambda weights: weights @ flat)
    ends = np.cumsum([np.prod(shape, dtype=int) for _, shape in shapes])
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [
            function(own.reshape(len(own), *shape))
            for own, (function, shape) in zip(
                np.split(sums, ends[:-1], axis=1), shapes, strict=True
            )
        ]
    return values + [spearman_draws(*one, bootstrap) for one in pairs]


def _stacked(parts: Sequence[PartSums], key: str) -> np.ndarray:
    """The concatenated sums of all parts: zeros for a part that lacks them, as it may lack a condition."""
    shape = next(part.sums[key].shape[1:] for part in parts if key in part.sums)
    return np.concatenate(
        [part.sums.get(key, np.zeros((len(part.participants), *shape))) for part in parts]
    )


def _alphas(
    parts: Sequence[PartSums], sums: dict, people: pd.Series, bootstrap: ParticipantBootstrap
) -> dict:
    rows = {}

    def add(key: str, moments: np.ndarray, counts: np.ndarray, missing: str) -> None:
        if moments.shape[-1] < 2:
            method = f"Cronbach's alpha, {missing}"
            reason = (
                "fewer than two of these dimensions were rated in this data set; alpha needs two"
            )
            rows[key] = estimate_row(
                n=int(counts.sum()), unit="alpha", method=method, reason=reason
            )
            return
        present = counts > 0
        of = {"missing": missing, "interval": "participants"}
        rows[key] = alpha_row_of_moments(
            moments[present], people[present], int(counts.sum()), bootstrap, **of
        )

    for key, kind in _ALPHAS.items():
        rated = {name for part in parts for name in part.complete[kind][0]}
        left_out = {"Relational"} if key.endswith("relational") else set()
        used = [column for column, name in enumerate(DIMENSION_NAMES) if name in rated - left_out]
        add(
            key,
            sums[f"{kind} moments"][:, :, used][:, :, :, used],
            sums[f"{kind} units"],
            "pairwise",
        )
        if left_out:
            continue
        # A unit of a part that lacks a dimension others rate does not rate them all.
        shape = (4, len(used), len(used))
        whole = [
            part.complete[kind][1]
            if len(part.complete[kind][0]) == len(rated)
            else np.zeros((len(part.participants), *shape))
            for part in parts
        ]
        moments = np.concatenate(whole)
        counts = moments[:, 0, 0, 0] if used else np.zeros(len(moments))
        add(f"{key}_listwise", moments, counts, "listwise")
    return rows


def sums_of_folder(folder: Path, scores: pd.Series | None = None) -> PartSums:
    """Read the part in a folder, and give its sums; its texts are forgotten."""
    return sums_of_part(
        read_workbook(folder, part=True, options=ReadingOptions(allow_unreadable=True)), scores
    )


def statistics_of_parts(
    folder: str | Path, scores: pd.Series | None = None, *, apply: Callable = map, **options
) -> pd.DataFrame:
    """Estimates and intervals of a data set that lies in parts; each task reads and sums one, or computes resamples.

    ``scores`` are a judge's, by conversation; ``apply`` is ``map``, or another
    :func:`~sense7.book.scheduler.mapping` with the same result; options are those of
    :class:`~sense7.estimators.bootstrap.ParticipantBootstrap`.
    """
    places = [part.absolute() for part in partition_folders(folder)]
    parts = list(apply(partial(sums_of_folder, scores=scores), places))
    return estimates_of_parts(parts, apply=apply, **options)
