"""Do the intervals keep what they promise? Simulated studies of known truth, by the library's own functions.

    make coverage
    make coverage PART=further STUDIES=200

Many studies of the size of the release are simulated, in which the participants meet all
conditions (within) or one each (between). Counted is how often the 95% interval holds the
truth: the library's, which resamples or leaves out participants, and beside it the one that takes turns
or conversations as independent; and of alpha, two others that could have been taken. In as many studies
without any effect it is counted how often a difference of conditions comes out significant. Every study has a
seed of its own; what is done is kept in _build/coverage and taken up again after an interruption.

There are two parts, each with studies of its own: the first, and further statistics. One part can be run alone, with
another number of studies; the stored result of the other stays as it is.
"""

import argparse
import hashlib
import json
import platform
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from evidence.truth import population_values, turn_table
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from tqdm import tqdm

from sense7.findings.agreement import agreement_with_overall, explained_shares, overall_and_ratings
from sense7.findings.conditions import condition_differences, mixed_contrasts
from sense7.findings.disrupted import lasting_drop
from sense7.findings.ground_truth import ground_truth
from sense7.findings.individualized import participant_icc, variance_shares
from sense7.findings.measures import OUTCOMES, conversation_ratings, post_task_ratings, turn_ratings
from sense7.findings.poor_turn import poor_turn_conversations, poor_turn_effects
from sense7.findings.robustness import multiverse
from sense7.record import write_json
from sense7.simulate import NOT_PUT, UNKNOWN, Numbers, Parameters, draw
from sense7.statistics.alpha import alpha_row
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.statistics.effect_size import cohens_d
from sense7.study import ABSENT, NOT_RATED, RATED, Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "make coverage"
SEED = 20250920
STUDIES = 600
DRAWS = 1000
BATCH = 20
CONFIDENCE = 0.95
DESIGNS = ("within", "between")
FIRST, SECOND = "model-a-empathy-prompt", "model-c"
"""The conditions compared: those simulated best and worst, fixed before any data."""

PAIR = f"{FIRST} minus {SECOND}"
KAPPA = "Affective"
SHOWN = 3
"""Studies of each kind whose estimates are stored, so that a test can see that the code still gives them."""


@dataclass(frozen=True)
class Settings:
    """What a run depends on."""

    studies: int = STUDIES
    draws: int = DRAWS
    seed: int = SEED


PERCENTILE = "percentile interval over resampled participants"
MOVED = "percentile interval over resampled participants, moved to the estimate"
LEFT_OUT = "t interval, standard error by leaving out each participant in turn"
ASYMPTOTIC = "asymptotic interval, turns as independent"
LEFT_OUT_ON_SCALE = (
    "t interval on the scale log(1 - alpha), standard error by leaving out each participant in turn"
)


class Statistic(NamedTuple):
    """A statistic of the proof: its name on the page, its key, its intervals and the name of its truth.

    ``naive`` takes units as independent ("" if there is none), and ``own`` is the library's.
    """

    name: str
    key: str
    naive: str = ""
    own: str = PERCENTILE
    truth: str = ""


STATISTICS = tuple(
    Statistic(*row)
    for row in (
        (
            "alpha per turn",
            "alpha_turn",
            "Feldt's interval, turns as independent",
            LEFT_OUT_ON_SCALE,
        ),
        (
            "alpha after the task",
            "alpha_post",
            "Feldt's interval, conversations as independent",
            LEFT_OUT_ON_SCALE,
        ),
        ("condition difference", "condition_difference", "t interval, turns as independent"),
        ("poor turn, Cohen's d", "poor_turn_d", "normal interval, conversations as independent"),
        (
            "kappa of Affective, linear",
            "kappa_affective",
            ASYMPTOTIC,
            PERCENTILE,
            "kappa_linear_Affective",
        ),
        (
            "kappa of Affective, quadratic",
            "kappa_quadratic_affective",
            "",
            PERCENTILE,
            "kappa_quadratic_Affective",
        ),
        ("ICC(1) of participants", "icc_anova", "F interval, numbers of conversations as equal"),
    )
)

FURTHER = (
    Statistic("share of participants, mixed model (REML)", "icc_reml"),
    Statistic("poor turn, Cohen's d within participants", "poor_turn_d_within"),
    Statistic("poor turn, Cohen's d by the mixed model", "poor_turn_d_mixed"),
    *(
        Statistic(
            f"share of {name} in what explains the overall rating (LMG)",
            f"relative_importance_share_{name}",
        )
        for name in ("Affective", "Relational")
    ),
    Statistic("share of the context in the variance", "context_share", own=MOVED),
    Statistic("lasting drop after a poor turn", "lasting_drop"),
)
"""Statistics of the second part, whose studies are others than those of ``STATISTICS``."""


def study_of(numbers: Numbers) -> Study:
    """The frames of a simulated study that the statistics need, without words or sheets."""
    p = numbers.parameters
    names = np.arange(len(numbers.participant)).astype(str).astype(object)
    conditions = np.array(p.conditions, dtype=object)
    conversations = pd.DataFrame(
        {
            "conversation": names,
            "participant": study_names(numbers),
            "condition": conditions[numbers.condition],
            "topic": np.array(p.topics, dtype=object)[numbers.topic],
            "importance": numbers.importance.astype(float),
            "desired_empathy": numbers.desired.astype(float),
            **{
                name: numbers.experience[:, place].astype(float)
                for place, name in enumerate(OUTCOMES["experience"])
            },
            **{
                f"post_{name}": numbers.post[:, place].astype(float)
                for place, name in enumerate(DIMENSION_NAMES)
            },
        }
    )
    of = numbers.conversation
    turns = pd.DataFrame(
        {
            "conversation": names[of],
            "participant": conversations["participant"].to_numpy()[of],
            "condition": conversations["condition"].to_numpy()[of],
            "turn": numbers.turn + 1,
        }
    )
    ordered = numbers.ratings[:, [7, 0, 1, 2, 3, 4, 5, 6]]
    states = np.array([ABSENT, NOT_RATED, *[RATED] * 5], dtype=object)  # from NOT_PUT on
    for place, name in enumerate(RATING_NAMES):
        turns[name] = np.where(ordered[:, place] > UNKNOWN, ordered[:, place], np.nan)
        turns[f"{name}_state"] = states[ordered[:, place] - NOT_PUT]
    empty = pd.DataFrame()
    return Study("simulated", conversations, empty, turns, participants=None, columns=empty)


def kappa_error(table: np.ndarray, weights: str) -> tuple[float, float]:
    """Weighted kappa and its asymptotic standard error, pairs as independent.

    R: vcd::Kappa, tests/reference/reference.R; equal to 1e-7.
    """
    found = cohens_kappa(table, wt=weights)
    return float(found.kappa), float(found.std_kappa)


def normal_interval(estimate: float, error: float) -> list[float]:
    """Estimate with the interval of a normal distribution."""
    reach = stats.norm.ppf((1 + CONFIDENCE) / 2) * error
    return [estimate, estimate - reach, estimate + reach]


def naive_poor_turn(study: Study) -> list[float]:
    """Cohen's d with Hedges and Olkin's standard error, conversations as independent."""
    conversations = poor_turn_conversations(study)
    poor = conversations["poor"] > 0
    groups = [conversations.loc[~poor, "outcome"], conversations.loc[poor, "outcome"]]
    sums = np.array([[len(group), group.sum(), (group**2).sum()] for group in groups])
    d, sizes = float(cohens_d(sums)), sums[:, 0]
    return normal_interval(d, np.sqrt(sizes.sum() / sizes.prod() + d**2 / (2 * sizes.sum())))


def naive_kappa(study: Study, weights: str) -> list[float]:
    """Weighted kappa with its asymptotic interval, turns as independent."""
    both = study.turns[[KAPPA, "overall"]].dropna().to_numpy().astype(int) - 1
    table = np.bincount(5 * both[:, 0] + both[:, 1], minlength=25).reshape(5, 5).astype(float)
    return normal_interval(*kappa_error(table, weights))


def naive_icc(study: Study, estimate: float) -> list[float]:
    """ICC(1) with the F interval of a balanced one-way analysis of variance, after Shrout and Fleiss (1979)."""
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    rated = np.isfinite(truth)
    sizes = study.conversations.loc[rated, "participant"].value_counts().to_numpy()
    people, total = len(sizes), sizes.sum()
    size = (total - (sizes**2).sum() / total) / (people - 1)
    f = (1 + (size - 1) * estimate) / (1 - estimate)
    tail = (1 - CONFIDENCE) / 2
    degrees = people - 1, total - people
    ratios = f / stats.f.ppf([1 - tail, tail], *degrees)
    return [estimate, *map(float, (ratios - 1) / (ratios + size - 1))]


def turns_by_condition(numbers: Numbers) -> list[np.ndarray]:
    """Means of the turns with a rating, by condition."""
    means = turn_table(numbers)["mean"].to_numpy()
    condition = numbers.condition[numbers.conversation]
    return [
        means[(condition == place) & ~np.isnan(means)]
        for place in range(len(numbers.parameters.conditions))
    ]


def turn_test(numbers: Numbers) -> tuple[list[float], float]:
    """Difference of the two conditions by a t test over turns: estimate with interval, and p."""
    groups = turns_by_condition(numbers)
    first, second = (groups[numbers.parameters.conditions.index(name)] for name in (FIRST, SECOND))
    test = stats.ttest_ind(first, second)
    interval = test.confidence_interval(CONFIDENCE)
    return [float(first.mean() - second.mean()), float(interval.low), float(interval.high)], float(
        test.pvalue
    )


def difference_by_leaving_out(study: Study, bootstrap: ParticipantBootstrap) -> list[float]:
    """Difference of the two conditions' means over conversations, with a t interval by leaving out participants."""
    rated = conversation_ratings(study).dropna(subset="ground_truth")
    groups = np.column_stack([rated["condition"] == name for name in (FIRST, SECOND)]).astype(float)
    kept = groups.any(axis=1)
    values = np.stack([groups, groups * rated[["ground_truth"]].to_numpy()], axis=-1)[kept]

    def difference(sums: np.ndarray) -> np.ndarray:
        means = sums[..., 1] / sums[..., 0]
        return means[..., 0] - means[..., 1]

    return list(
        bootstrap.estimate(difference, values, rated.loc[kept, "participant"], OWN_SCALE)[:3]
    )


def limits(row) -> list[float]:
    """Estimate and interval of a row of estimates."""
    return [float(row[name]) for name in ("estimate", "low", "high")]


def leaves_out_zero(found: list[float]) -> bool:
    """Whether an interval calls a difference significant."""
    _, low, high = found
    return not low <= 0 <= high


def with_effects(numbers: Numbers, bootstrap: ParticipantBootstrap) -> dict[str, list[float]]:
    """Estimate, low and high of every statistic: the library's interval, and the naive one."""
    study = study_of(numbers)
    found = {"condition_difference": limits(condition_differences(study, bootstrap).loc[PAIR])}
    found["condition_difference_naive"] = turn_test(numbers)[0]
    for key, ratings in (
        ("alpha_turn", turn_ratings(study)),
        ("alpha_post", post_task_ratings(study)),
    ):
        found[key] = limits(alpha_row(ratings, bootstrap))
        found[f"{key}_naive"] = limits(alpha_row(ratings, bootstrap, interval="feldt"))
    found["alpha_turn_percentile"] = limits(
        alpha_row(turn_ratings(study), bootstrap, interval="percentile")
    )
    found["poor_turn_d"] = limits(
        multiverse(study, bootstrap, "poor_turn_d", first_only=True).loc[1]
    )
    found["poor_turn_d_naive"] = naive_poor_turn(study)
    # The other dimensions left blank: they would cost the most time, and tell nothing.
    blank = {name: np.nan for name in DIMENSION_NAMES if name != KAPPA}
    only = replace(study, turns=study.turns[["participant", "overall", KAPPA]].assign(**blank))
    for weights, key in (("linear", "kappa_affective"), ("quadratic", "kappa_quadratic_affective")):
        found[key] = limits(agreement_with_overall(only, bootstrap, weights).loc[KAPPA])
    found["kappa_affective_naive"] = naive_kappa(study, "linear")
    found["icc_anova"] = limits(
        participant_icc(study, bootstrap, draws=1).loc["analysis of variance"]
    )
    found["icc_anova_naive"] = naive_icc(study, found["icc_anova"][0])
    return found


def further(numbers: Numbers, bootstrap: ParticipantBootstrap) -> dict[str, list[float]]:
    """Estimate, low and high of every statistic of ``FURTHER``, by the library's interval."""
    study = study_of(numbers)
    effects = poor_turn_effects(study, bootstrap)
    importance = explained_shares(*overall_and_ratings(study), bootstrap)
    return {
        "icc_reml": limits(participant_icc(study, bootstrap).loc["mixed model"]),
        "poor_turn_d_within": limits(effects.loc["at least one poor turn, within participants"]),
        "poor_turn_d_mixed": limits(effects.loc["at least one poor turn, mixed model"]),
        "relative_importance_share_Affective": limits(importance.loc["Affective"]),
        "relative_importance_share_Relational": limits(importance.loc["Relational"]),
        "context_share": limits(variance_shares(study, bootstrap).loc["context"]),
        "lasting_drop": limits(lasting_drop(study, bootstrap).loc["difference"]),
    }


def without_effects(numbers: Numbers, bootstrap: ParticipantBootstrap) -> dict[str, list[float]]:
    """The difference of two conditions that do not differ, by several intervals, and p values of tests over turns."""
    study = study_of(numbers)
    model = limits(mixed_contrasts(study, bootstrap).differences.loc[PAIR])
    _, p_value = turn_test(numbers)
    return {
        "condition_difference": limits(condition_differences(study, bootstrap).loc[PAIR]),
        "left_out": difference_by_leaving_out(study, bootstrap),
        # The outcome alone: digits of a fit that goes on until it hardly moves are not the same everywhere.
        "mixed_model": [float(leaves_out_zero(model))],
        "t_test": [p_value],
        "kruskal_wallis": [float(stats.kruskal(*turns_by_condition(numbers)).pvalue)],
    }


WORLDS = {
    f"{design}, {kind}": (parameters, work)
    for design in DESIGNS
    for kind, parameters, work in (
        ("with effects", Parameters(design=design), with_effects),
        ("without effects", Parameters(design=design).without_effects(), without_effects),
    )
} | {f"{design}, further statistics": (Parameters(design=design), further) for design in DESIGNS}
"""World -> what its studies are drawn from and what is computed of them; the place of a world is part of its seeds."""

PARTS = {
    "first": [world for world in WORLDS if not world.endswith("further statistics")],
    "further": [world for world in WORLDS if world.endswith("further statistics")],
}
"""Part of the proof -> its worlds."""


def one_study(world: str, number: int, settings: Settings) -> dict[str, list[float]]:
    """Simulate one study of a world by its own seed, and compute its statistics."""
    parameters, work = WORLDS[world]
    place = list(WORLDS).index(world)
    numbers = draw(parameters, np.random.default_rng([settings.seed, place, number]))
    people = pd.Series(study_names(numbers))
    return work(
        numbers, ParticipantBootstrap(people, settings.draws, seed=number, confidence=CONFIDENCE)
    )


def study_names(numbers: Numbers) -> np.ndarray:
    """Participants of the conversations, named as :func:`study_of` names them."""
    width = len(str(len(numbers.participant_effect)))
    return np.array([f"P{row:0{width}d}" for row in numbers.participant], dtype=object)


def truths(design: str) -> dict[str, float]:
    """What the intervals of ``STATISTICS`` are to cover, by brute force; the t test over turns has its own truth."""
    parameters = Parameters(design=design)
    true_values = population_values(parameters)["value"]
    known = {
        one.key: float(true_values[one.truth or one.key])
        for one in STATISTICS
        if one.key != "condition_difference"
    }
    known["condition_difference"] = float(
        true_values[f"condition_model_difference_{FIRST}_{SECOND}"]
    )
    large = (
        draw(parameters, np.random.default_rng([SEED, 9, batch]), scale=20) for batch in range(20)
    )
    over_turns = float(np.mean([turn_test(numbers)[0][0] for numbers in large]))
    return known | {
        f"{key}_naive": value
        for key, value in (known | {"condition_difference": over_turns}).items()
    }


BY_PLAIN_CODE = "plain array code on large studies, without the library"
BY_ITSELF = "the same estimator on large studies, so that an error of the estimator would not show"


def further_truths(design: str) -> dict[str, tuple[float, str]]:
    """What the intervals of ``FURTHER`` are to cover, and by what means it was computed.

    Without a true value, it is the mean of the library's own estimates over 20 studies, each of 20 times the size.
    """
    parameters = Parameters(design=design)
    true_values = population_values(parameters)["value"].dropna().to_dict()
    large = []
    for batch in range(20):
        numbers = draw(parameters, np.random.default_rng([SEED, 10, batch]), scale=20)
        large.append(
            further(numbers, ParticipantBootstrap(pd.Series(study_names(numbers)), draws=1))
        )
    return {
        one.key: (true_values[one.truth or one.key], BY_PLAIN_CODE)
        if (one.truth or one.key) in true_values
        else (float(np.mean([found[one.key][0] for found in large])), BY_ITSELF)
        for one in FURTHER
    }


def code() -> str:
    """Digest of the code that the studies depend on: with what other code kept a run does not go on."""
    package = ROOT / "src" / "sense7"
    files = [
        path
        for part in ("statistics", "findings", "simulate")
        for path in sorted((package / part).rglob("*.py"))
    ]
    files += [Path(__file__), ROOT / "evidence" / "truth.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def versions() -> dict[str, str]:
    """Versions on which the last digits depend."""
    return {
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def run(settings: Settings, keep: Path, part: str | None = None) -> dict[str, list[dict]]:
    """World -> its studies in order, all or those of a part; every batch is added to a file, and taken up from there.

    What the file holds of other settings, versions or code is computed again.
    """
    head = json.dumps(
        {"draws": settings.draws, "seed": settings.seed, "versions": versions(), "code": code()}
    )
    lines = keep.read_text("utf-8").splitlines() if keep.is_file() else []
    if not lines or lines[0] != head:
        keep.parent.mkdir(parents=True, exist_ok=True)
        keep.write_text(head + "\n", "utf-8")
    done: dict[str, dict[int, dict]] = {world: {} for world in WORLDS}
    for batch in map(json.loads, lines[1:] if lines and lines[0] == head else ()):
        done[batch["world"]].update(
            {int(number): found for number, found in batch["studies"].items()}
        )
    wanted = [world for world in WORLDS if part is None or world in PARTS[part]]
    for world in wanted:
        missing = [number for number in range(settings.studies) if number not in done[world]]
        for start in tqdm(range(0, len(missing), BATCH), desc=world, disable=None):
            batch = {
                number: one_study(world, number, settings)
                for number in missing[start : start + BATCH]
            }
            done[world].update(batch)
            with keep.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"world": world, "studies": batch}) + "\n")
    return {world: [done[world][number] for number in range(settings.studies)] for world in wanted}


def covered(found: list[list[float]], truth: float) -> dict:
    """How often intervals hold the truth, and how wide and how far off they are."""
    estimates, low, high = np.array(found).T
    defined = np.isfinite(low) & np.isfinite(high)
    missed_low, missed_high = (high < truth)[defined], (low > truth)[defined]
    return {
        "studies": int(defined.sum()),
        "count": int(defined.sum() - missed_low.sum() - missed_high.sum()),
        "too_low": int(missed_low.sum()),
        "too_high": int(missed_high.sum()),
        "truth": significant(truth),
        "mean": significant(estimates[defined].mean()),
        "mean_width": significant((high - low)[defined].mean()),
        "standard_deviation": significant(estimates[defined].std(ddof=1)),
    }


def significant(number: float) -> float:
    """Six significant digits."""
    return float(f"{number:.6g}")


def results(studies: dict[str, list[dict]], part: str) -> list[dict]:
    """The rows of the stored result that are of one part: kept coverage, and how often conditions differ by chance."""
    rows = []
    for design in DESIGNS:
        short = "" if design == "within" else "_between"
        if part == "first":
            known = {key: (value, BY_PLAIN_CODE) for key, value in truths(design).items()}
            intervals = [("participants", one, "", one.name, one.own) for one in STATISTICS]
            # Turns as independent of both designs only where it matters which it is.
            shown = [
                one
                for one in STATISTICS
                if one.naive and (not short or one.key == "condition_difference")
            ]
            intervals += [("naive", one, "_naive", one.name, one.naive) for one in shown]
            if not short:
                percentile = f"{STATISTICS[0].name}, percentile"
                intervals.append(("other", STATISTICS[0], "_percentile", percentile, PERCENTILE))
        else:
            known, intervals = (
                further_truths(design),
                [("participants", one, "", one.name, one.own) for one in FURTHER],
            )
        of = studies[f"{design}, {'with effects' if part == 'first' else 'further statistics'}"]
        for kind, one, ending, name, interval in intervals:
            value, means = known[one.key + ("_naive" if kind == "naive" else "")]
            row = {
                "key": f"coverage_{one.key}{ending}{short}",
                "name": name,
                "design": design,
                "kind": kind,
            }
            row |= {
                "method": f"studies whose {CONFIDENCE:.0%} interval holds the truth ({interval})",
                "truth_by": means,
            }
            rows.append(
                {"part": part, **row, **covered([study[one.key + ending] for study in of], value)}
            )
        if part == "first":
            rows += [
                {"part": part, **row}
                for row in false_positives(studies[f"{design}, without effects"], design, short)
            ]
    return rows


def false_positives(studies: list[dict], design: str, short: str) -> list[dict]:
    """How often conditions that do not differ come out different."""
    limit = 1 - CONFIDENCE
    tests = (
        (PERCENTILE, "participants", lambda study: leaves_out_zero(study["condition_difference"])),
        (LEFT_OUT, "left_out", lambda study: leaves_out_zero(study["left_out"])),
        (
            "mixed model, Satterthwaite's degrees of freedom",
            "mixed_model",
            lambda study: bool(study["mixed_model"][0]),
        ),
        (
            "t test of two conditions, turns as independent",
            "t_test",
            lambda study: study["t_test"][0] < limit,
        ),
        (
            "Kruskal-Wallis test of all conditions, turns as independent",
            "kruskal_wallis",
            lambda study: study["kruskal_wallis"][0] < limit,
        ),
    )
    method = f"studies without effects that come out significant at level {limit:.0%}"
    row = {"design": design, "kind": "false positives", "method": method, "studies": len(studies)}
    return [
        {
            "key": f"false_positives_{key}{short}",
            "name": name,
            **row,
            "count": sum(map(significant_in, studies)),
        }
        for name, key, significant_in in tests
    ]


def stored_again(old: dict, settings: Settings, studies: dict[str, list[dict]], part: str) -> dict:
    """The stored result with one part replaced, and the other as it was."""
    rows = [row for row in old.get("results", ()) if row["part"] != part] + results(studies, part)
    parts = old.get("parts", {}) | {part: asdict(settings) | versions()}
    first = {
        world: found
        for world, found in old.get("first_studies", {}).items()
        if world not in PARTS[part]
    }
    first |= {world: found[:SHOWN] for world, found in studies.items()}
    return {
        "about": "Coverage of intervals over simulated studies; nothing here is a finding about people.",
        "command": COMMAND,
        "parts": {name: parts[name] for name in PARTS if name in parts},
        "results": sorted(rows, key=lambda row: list(PARTS).index(row["part"])),
        "first_studies": {world: first[world] for world in WORLDS if world in first},
    }


def main() -> None:
    """Run it, and store the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--part", choices=PARTS, action="append", help="only this one; may be repeated"
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help=f"of each kind ({STUDIES})")
    chosen, out = parser.parse_args(), ROOT / "data" / "coverage.json"
    settings = Settings(chosen.studies)
    for part in chosen.part or PARTS:
        studies = run(settings, ROOT / "_build" / "coverage" / "studies.jsonl", part)
        write_json(out, stored_again(json.loads(out.read_text("utf-8")), settings, studies, part))
    for row in json.loads(out.read_text("utf-8"))["results"]:
        print(f"{row['key']:56} {row['count'] / max(1, row['studies']):6.1%} of {row['studies']}")


if __name__ == "__main__":
    main()
