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
from sense7.findings.repeated_ratings import COUNTED, repeated_ratings, why_repeated
from sense7.study import RATED, UNREADABLE, Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, RATING_NAMES
from sense7.workbook import ReadingOptions, read_workbook
from sense7.workbook.writing import partition_folders

__all__ = ["PartSums", "estimates_of_parts", "statistics_of_parts", "sums_of_part"]

_ALPHAS = {"alpha_turn": "turn", "alpha_turn_without_relational": "turn", "alpha_post": "post"}
_UNDEFINED = "nothing in this data set says so"
_TOO_FEW_ITEMS = "fewer than two of these dimensions were rated in this data set; alpha needs two"
_DRAWS_AT_ONCE = 500
"""Resamples of a task: the same for any number of processes, so that results are the same."""


@dataclass(frozen=True)
class PartSums:
    """Sums of a part's participants for each statistic."""

    participants: list[str]
    sums: dict[str, np.ndarray] = field(repr=False)
    pairs: dict[str, pd.DataFrame] = field(repr=False)


def sums_of_part(study: Study, scores: pd.Series | None = None) -> PartSums:
    """Return the sums of a part's turns and conversations by participant."""
    names = pd.Index(study.conversations["participant"].unique())

    def summed(values: np.ndarray, participants) -> np.ndarray:
        codes = names.get_indexer(participants)
        return sums_by_participant(np.asarray(values, dtype=float), codes, len(names))

    def summed_moments(ratings: pd.DataFrame) -> np.ndarray:
        moments, people = moments_by_participant(ratings.to_numpy(dtype=float), ratings.index)
        return summed(moments, people)

    turns = study.turns_put_to_rating
    people = turns["participant"]
    levels = turns[list(RATING_NAMES)].to_numpy()
    states = turns[[f"{name}_state" for name in RATING_NAMES]].astype(object).to_numpy()
    is_rated = states == RATED
    sums = {
        "put": summed(states != UNREADABLE, people),
        "rated": summed(is_rated, people),
        "level": summed(np.where(is_rated, levels, 0), people),
    }

    for unit, ratings in (("turn", turn_ratings(study)), ("post", post_task_ratings(study))):
        rated_items = ratings.loc[:, ratings.notna().any()]
        is_complete = rated_items.notna().all(axis=1)
        sums[f"{unit} pairwise"] = summed_moments(ratings)
        sums[f"{unit} listwise"] = summed_moments(ratings[is_complete])
        sums[f"{unit} units"] = summed(np.ones(len(ratings)), ratings.index)

    overall = turns["overall"].to_numpy()
    for column, name in enumerate(DIMENSION_NAMES, 1):
        has_both = np.isfinite(levels[:, column]) & np.isfinite(overall)
        level_of_dimension = labels(levels[has_both, column]).astype(int)
        level_of_overall = labels(overall[has_both]).astype(int)
        tables = np.zeros((has_both.sum(), len(LEVELS), len(LEVELS)))
        tables[np.arange(len(tables)), level_of_dimension - 1, level_of_overall - 1] = 1
        sums[f"table {name}"] = summed(tables, people[has_both])

    repeated = repeated_ratings(study)
    sums["repeated"] = summed(repeated[list(COUNTED)], repeated["participant"])

    poor = poor_turn_conversations(study)
    moments = group_moments(poor["outcome"], poor["poor"] > 0)
    sums["poor"] = summed(moments, poor["participant"])

    rated = conversation_ratings(study)
    rated = rated[rated["ground_truth"].notna()]
    for condition, of_condition in rated[rated["condition"].notna()].groupby("condition"):
        y = of_condition["ground_truth"].to_numpy(dtype=float)
        moments = np.column_stack([np.ones(len(y)), y, y**2])
        sums[f"condition {condition}"] = summed(moments, of_condition["participant"])
    if scores is not None:
        scored = rated.assign(score=scores.reindex(rated.index)).dropna(subset="score")
        is_hit = labels(scored["ground_truth"]) == labels(scored["score"])
        hits = np.column_stack([is_hit, np.ones(len(scored))])
        sums["hit"] = summed(hits, scored["participant"])
    return PartSums(list(names), sums, _pairs(study.conversations))


def _pairs(conversations: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """How often each participant has each pair of mean empathy and experience, by the key of the correlation."""
    frame = pd.DataFrame({"participant": conversations["participant"]})
    frame["first"] = conversations[OUTCOMES["empathy"]].mean(axis=1)
    pairs = {}
    for words, key in EXPERIENCE.items():
        question = words.replace(" ", "_")
        columns = [question] if question in conversations else OUTCOMES["experience"]
        second = conversations[columns].mean(axis=1)
        complete = frame.assign(second=second).dropna()
        counts = complete.groupby(["participant", "first", "second"], sort=False).size()
        pairs[key] = counts.rename("count").reset_index()
    return pairs


class _OfSums(NamedTuple):
    """A statistic of sums by participant, which are 0 for those without data."""

    function: Callable[[np.ndarray], np.ndarray]
    sums: np.ndarray
    counts: np.ndarray
    unit: str
    method: str
    contrast: str = ""  # of groups that stand in the second axis of the sums, their counts first
    refused: str = ""  # why it is not computed from these data


def estimates_of_parts(
    parts: Sequence[PartSums], *, apply: Callable = map, **options
) -> pd.DataFrame:
    """Return estimates and intervals of a data set from the sums of its parts."""
    people = pd.concat([pd.Series(part.participants, dtype=object) for part in parts])
    people = people.reset_index(drop=True)
    in_several = people[people.duplicated(keep=False)]
    if len(in_several):
        raise UserError(
            f"participant {in_several.iloc[0]!r} is in several parts. Put all that a participant did into one part."
        )
    bootstrap = ParticipantBootstrap(people, **options)
    shapes = {}  # of the sums of one participant
    for part in parts:
        shapes.update({key: values.shape[1:] for key, values in part.sums.items()})
    sums = {}
    for key, shape in shapes.items():
        of_parts = []
        for part in parts:  # one may lack a condition
            zeros = np.zeros((len(part.participants), *shape))
            of_parts.append(part.sums.get(key, zeros))
        sums[key] = np.concatenate(of_parts)
    repeated = why_repeated(dict(zip(COUNTED, sums["repeated"].sum(axis=0), strict=True)))
    statistics = _statistics(sums, repeated)
    pairs = {}
    counts_of_pairs = {}
    tables = {}
    for key in EXPERIENCE.values():
        rows = pd.concat([part.pairs[key] for part in parts], ignore_index=True)
        if len(rows):
            pairs[key] = [rows["first"].to_numpy(), rows["second"].to_numpy(), rows["participant"]]
            counts_of_pairs[key] = rows["count"].to_numpy()
            tables[key] = distinct_pairs(*pairs[key], bootstrap, counts_of_pairs[key])
    draws = _resampled(bootstrap, statistics, tables, apply)

    rows = _alphas(parts, sums, people, bootstrap, repeated)
    for key, statistic in statistics.items():
        described = {
            "n": int(statistic.counts.sum()),
            "unit": statistic.unit,
            "method": statistic.method,
        }
        if statistic.refused:
            rows[key] = estimate_row(**described, reason=statistic.refused)
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(statistic.function(statistic.sums.sum(axis=0)))
        of_resamples = np.append(estimate, draws[key])
        result = bootstrap.percentile(of_resamples, people[statistic.counts > 0])
        if statistic.contrast and not result.reason:
            person, group = np.nonzero(statistic.sums[:, :, 0])
            rows_of_people = people.iloc[person]
            too_few = bootstrap.too_few_in_a_group(rows_of_people, group, statistic.contrast)
            if too_few:
                result = Estimate(estimate, reason=too_few)
        rows[key] = bootstrap.row(result, **described, undefined=_UNDEFINED)
    method = "Spearman correlation of mean post-task empathy with the experience"
    for key in EXPERIENCE.values():
        if key in pairs:
            counts = counts_of_pairs[key]
            rows[key] = spearman_row(*pairs[key], bootstrap, method, counts, draws[key])
        else:
            reason = "no conversation has both"
            rows[key] = estimate_row(n=0, unit="correlation", method=method, reason=reason)
    return estimate_table(rows, "key")


def _statistics(sums: dict[str, np.ndarray], repeated: str) -> dict[str, _OfSums]:
    """Every statistic of sums, by its key."""
    statistics = {}
    put = sums["put"]
    rated = sums["rated"]
    level = sums["level"]
    for column, name in enumerate(RATING_NAMES):
        statistics[f"applicability_{name}"] = _OfSums(
            function=ratio,
            sums=np.column_stack([rated[:, column], put[:, column]]),
            counts=put[:, column],
            unit="share of turns",
            method="rated turns by turns shown for rating",
        )
        statistics[f"mean_{name}"] = _OfSums(
            function=ratio,
            sums=np.column_stack([level[:, column], rated[:, column]]),
            counts=rated[:, column],
            unit="level, 1 to 5",
            method="mean over rated turns",
        )
    for name in DIMENSION_NAMES:
        table = sums[f"table {name}"]
        for weights in WEIGHTS:
            statistics[f"kappa_{weights}_{name}"] = _OfSums(
                function=partial(weighted_kappa, weights=weights),
                sums=table,
                counts=table.sum(axis=(1, 2)),
                unit="weighted kappa",
                method=f"Cohen's kappa, {weights} weights, five levels",
            )
    statistics["poor_turn_d"] = _OfSums(
        function=cohens_d,
        sums=sums["poor"],
        counts=sums["poor"][:, :, 0].sum(axis=1),
        unit="Cohen's d",
        method="at least one poor turn, between conversations; n counts conversations",
        contrast="Cohen's d",
        refused=repeated,
    )
    conditions = [
        key.removeprefix("condition ") for key in sorted(sums) if key.startswith("condition ")
    ]
    safe = safe_names(conditions)
    for index, first in enumerate(conditions):
        of_first = sums[f"condition {first}"]
        statistics[f"condition_mean_{safe[first]}"] = _OfSums(
            function=ratio,
            sums=of_first[:, [1, 0]],
            counts=of_first[:, 0],
            unit="level (from 1 to 5)",
            method="mean over conversations of the ground truth of the conversation",
        )
        for second in conditions[index + 1 :]:
            moments = np.stack([of_first, sums[f"condition {second}"]], axis=1)
            difference = _OfSums(
                function=mean_difference,
                sums=moments,
                counts=moments[:, :, 0].sum(axis=1),
                unit="points (levels from 1 to 5)",
                method="difference of means over conversations",
                contrast="difference of means",
            )
            key = f"{safe[first]}_{safe[second]}"
            statistics[f"condition_difference_{key}"] = difference
            statistics[f"condition_d_{key}"] = difference._replace(
                function=cohens_d,
                unit="Cohen's d",
                method=f"{difference.method}, in standard deviations",
                contrast="Cohen's d",
            )
    if "hit" in sums:
        statistics["accuracy"] = _OfSums(
            function=ratio,
            sums=sums["hit"],
            counts=sums["hit"][:, 1],
            unit="share of conversations",
            method="conversations whose label is the ground truth's",
        )
    return statistics


def _resampled(
    bootstrap: ParticipantBootstrap,
    statistics: dict[str, _OfSums],
    pairs: dict[str, tuple],
    apply: Callable,
) -> dict[str, np.ndarray]:
    """Every statistic in every draw."""
    functions = []
    flat_sums = []
    for statistic in statistics.values():
        functions.append((statistic.function, statistic.sums.shape[1:]))
        flat_sums.append(statistic.sums.reshape(len(statistic.sums), -1))
    task = partial(
        _some_draws,
        sums=np.concatenate(flat_sums, axis=1),
        functions=functions,
        pairs=list(pairs.values()),
    )
    parts = list(apply(task, bootstrap.split(_DRAWS_AT_ONCE)))
    draws = {}
    for index, key in enumerate([*statistics, *pairs]):
        draws[key] = np.concatenate([part[index] for part in parts])
    return draws


def _some_draws(
    bootstrap: ParticipantBootstrap,
    sums: np.ndarray,
    functions: Sequence[tuple[Callable, tuple]],
    pairs: Sequence[tuple],
) -> list[np.ndarray]:
    """The statistics in the draws of one bootstrap, from all their sums at once; then the correlations.

    Each function comes with the shape of its sums, which stand side by side in the columns of ``sums``.
    """
    drawn_sums = bootstrap.in_every_draw(lambda weights: weights @ sums)
    draws = []
    column = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        for function, shape in functions:
            width = np.prod(shape, dtype=int)
            of_function = drawn_sums[:, column : column + width]
            draws.append(function(of_function.reshape(len(of_function), *shape)))
            column += width
    for distinct, table in pairs:
        draws.append(spearman_draws(distinct, table, bootstrap))
    return draws


def _rated_items(moments: np.ndarray) -> np.ndarray:
    """Whether each item was rated at all, from the pair moments of participants."""
    return moments[:, 0].sum(axis=0).diagonal() > 0


def _alphas(
    parts: Sequence[PartSums],
    sums: dict,
    people: pd.Series,
    bootstrap: ParticipantBootstrap,
    repeated: str,
) -> dict:
    """Cronbach's alpha of turns and, unless they repeat the turns' ratings, of conversations; pairwise and listwise."""
    rows = {}
    for key, unit in _ALPHAS.items():
        items = _rated_items(sums[f"{unit} pairwise"])
        # A unit of a part that lacks a dimension others rate does not rate them all.
        listwise = []
        for part in parts:
            rates_all = np.array_equal(_rated_items(part.sums[f"{unit} pairwise"]), items)
            listwise.append(part.sums[f"{unit} listwise"] * rates_all)
        sums_of = {key: sums[f"{unit} pairwise"], f"{key}_listwise": np.concatenate(listwise)}
        if key.endswith("relational"):
            items = items & (np.array(DIMENSION_NAMES) != "Relational")
            del sums_of[f"{key}_listwise"]
        for alpha, all_moments in sums_of.items():
            moments = all_moments[:, :, items][:, :, :, items]
            missing, counts = "pairwise", sums[f"{unit} units"]
            if alpha != key:
                missing, counts = "listwise", moments[:, 0].max(axis=(1, 2), initial=0)
            units = int(counts.sum())
            reason = ""
            if items.sum() < 2:
                reason = _TOO_FEW_ITEMS
            elif unit == "post":
                reason = repeated
            if reason:
                method = f"Cronbach's alpha, {missing}"
                rows[alpha] = estimate_row(n=units, unit="alpha", method=method, reason=reason)
                continue
            has_units = counts > 0
            rows[alpha] = alpha_row_of_moments(
                moments[has_units],
                people[has_units],
                units,
                bootstrap,
                missing=missing,
                interval="participants",
            )
    return rows


def sums_of_folder(folder: Path, scores: pd.Series | None = None) -> PartSums:
    """Read the part in a folder, and give its sums; its texts are forgotten."""
    study = read_workbook(folder, part=True, options=ReadingOptions(allow_unreadable=True))
    return sums_of_part(study, scores)


def statistics_of_parts(
    folder: str | Path, scores: pd.Series | None = None, *, apply: Callable = map, **options
) -> pd.DataFrame:
    """Estimates and intervals of a data set that lies in parts; each task reads and sums one, or computes resamples.

    ``scores`` are a judge's, by conversation; ``apply`` is ``map``, or another
    :func:`~sense7.book.scheduler.mapping` with the same result; options are those of
    :class:`~sense7.estimators.bootstrap.ParticipantBootstrap`.
    """
    folders = [part.absolute() for part in partition_folders(folder)]
    parts = list(apply(partial(sums_of_folder, scores=scores), folders))
    return estimates_of_parts(parts, apply=apply, **options)
