"""Count how often intervals of contrasts hold the truth where a condition has few people.

    make few-people

Studies without any effect are simulated, in which so many people are in the smaller condition: beside many others,
beside as many others (each meets one condition), or all meeting both. So every true difference is zero and every true
odds ratio one. Counted is how often the library's own interval holds it, and how often the test of dimension by
condition does not reject. What is done is kept in _build/few_people and taken up again after an interruption; the
result is data/few_people.json.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from evidence.coverage.run import CONFIDENCE, ROOT, study_of, versions
from tqdm import tqdm

from sense7.findings import conditions
from sense7.record import write_json
from sense7.simulate import Parameters, draw
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.study import Study

COMMAND = "make few-people"
SEED = 20261127
STUDIES = 400
DRAWS = 400
MANY = 60
PROMPTED = "model-a-empathy-prompt"
OTHER = "model-a"
PEOPLE = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40)
"""Numbers of people in the smaller condition that are tried."""

DESIGN_OF = {"beside many": "between", "beside as many": "between", "all meet both": "within"}
"""Situation of the smaller condition -> design of the study."""


class AnyGroup(ParticipantBootstrap):
    """Resamples that give intervals however few participants a group has: this is what is counted here."""

    @staticmethod
    def too_few_in_a_group(participants: pd.Series, groups: pd.Series, contrast: str) -> str:
        """No reason."""
        return ""


def participants_of(design: str, people: int) -> int:
    """Number of participants of the studies that are simulated for so many people in the smaller condition."""
    if design == "between":
        return 2 * MANY
    return 30 if people <= 30 else 60


def study_with_few(design: str, participants: int, number: int) -> Study:
    """Simulate a study without effects, of which people are left out afterwards."""
    parameters = Parameters(
        design=design,
        participants=participants,
        conversations=6 * participants,
        conditions=(OTHER, PROMPTED),
        condition_effects=(0.0, 0.0),
        condition_slopes=(0.0, 0.0),
        condition_desired_slopes=(0.0, 0.0),
        unrated_conversations=0,
    ).without_effects()
    place = ("between", "within").index(design)
    numbers = draw(parameters, np.random.default_rng([SEED, place, number]))
    no_messages = pd.DataFrame({"conversation": []})
    return replace(study_of(numbers), messages=no_messages, prompted_condition=PROMPTED)


def only_some(study: Study, situation: str, people: int) -> Study:
    """The study with so many people in the prompted condition."""
    conversations = study.conversations
    if DESIGN_OF[situation] == "within":
        chosen = conversations["participant"].unique()[:people]
        return study.subset(participants=list(chosen))
    in_prompted = conversations.loc[conversations["condition"] == PROMPTED, "participant"].unique()
    in_other = conversations.loc[conversations["condition"] == OTHER, "participant"].unique()
    others = MANY if situation == "beside many" else people
    return study.subset(participants=[*in_prompted[:people], *in_other[:others]])


def _holds(row: pd.Series, truth: float) -> bool | None:
    """Whether an interval holds the truth; None if there is no interval."""
    if not np.isfinite(row["low"]):
        return None
    return bool(row["low"] <= truth <= row["high"])


def _does_not_reject(study: Study, bootstrap: ParticipantBootstrap) -> bool | None:
    """Whether the test of dimension by condition does not reject; None if there is no test."""
    p = conditions.dimension_by_condition(study, bootstrap).test["estimate"].iloc[0]
    return bool(p >= 1 - CONFIDENCE) if np.isfinite(p) else None


STATISTICS: dict[str, Callable] = {
    "odds ratio": lambda study, bootstrap: _holds(
        conditions.odds_ratios(study, bootstrap).iloc[0], 1
    ),
    "difference of means": lambda study, bootstrap: _holds(
        conditions.condition_differences(study, bootstrap).iloc[0], 0
    ),
    "Cohen's d": lambda study, bootstrap: _holds(
        conditions.condition_differences(study, bootstrap, standardized=True).iloc[0], 0
    ),
    "fading": lambda study, bootstrap: _holds(
        conditions.prompt_fading(study, bootstrap).iloc[0], 0
    ),
    "dimension by condition": _does_not_reject,
    "loadings": lambda study, bootstrap: _holds(
        conditions.largest_loading_difference(study, bootstrap).iloc[0], 0
    ),
}


def one_study(
    design: str, number: int, people_tried: Sequence[int] = PEOPLE
) -> dict[str, dict[str, bool | None]]:
    """What every statistic says in one study, by situation and number of people."""
    studies = {}
    results = {}
    for situation, design_of_situation in DESIGN_OF.items():
        if design_of_situation != design:
            continue
        for people in people_tried:
            participants = participants_of(design, people)
            if participants not in studies:
                studies[participants] = study_with_few(design, participants, number)
            some = only_some(studies[participants], situation, people)
            names = some.conversations["participant"]
            bootstrap = AnyGroup(names, DRAWS, seed=number, confidence=CONFIDENCE)
            held = {name: rule(some, bootstrap) for name, rule in STATISTICS.items()}
            results[f"{situation}|{people}"] = held
    return results


def run(studies: int, kept: Path) -> dict[str, list[dict]]:
    """Design -> its studies in order; every study is added to a file, and taken up from there."""
    head = json.dumps({"draws": DRAWS, "seed": SEED, "people": PEOPLE, "versions": versions()})
    lines = kept.read_text("utf-8").splitlines() if kept.is_file() else []
    if not lines or lines[0] != head:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(head + "\n", "utf-8")
        lines = [head]
    done: dict[str, dict[int, dict]] = {"between": {}, "within": {}}
    for line in lines[1:]:
        design, number, results = json.loads(line)
        done[design][number] = results
    for number in tqdm(range(studies), disable=None, unit=" studies"):
        for design, of_design in done.items():
            if number in of_design:
                continue
            of_design[number] = one_study(design, number)
            with kept.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([design, number, of_design[number]]) + "\n")
    in_order = {}
    for design, of_design in done.items():
        in_order[design] = [of_design[number] for number in range(studies)]
    return in_order


def counted(studies: dict[str, list[dict]]) -> list[dict]:
    """Coverage of each statistic by situation and number of people; without studies that gave no interval."""
    rows = []
    for contrast in STATISTICS:
        for situation, design in DESIGN_OF.items():
            for people in PEOPLE:
                held = [study[f"{situation}|{people}"][contrast] for study in studies[design]]
                held = [outcome for outcome in held if outcome is not None]
                rows.append(
                    {
                        "contrast": contrast,
                        "situation": situation,
                        "people": people,
                        "studies": len(held),
                        "count": sum(held),
                    }
                )
    return rows


def main() -> None:
    """Run it, and store the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--studies", type=int, default=STUDIES, help=f"of each design ({STUDIES})")
    number = parser.parse_args().studies
    studies = run(number, ROOT / "_build" / "few_people" / "studies.jsonl")
    settings = {"studies": number, "draws": DRAWS, "seed": SEED, "many": MANY}
    stored = {
        "about": "Coverage where a condition has few people; nothing here is a finding about people.",
        "command": COMMAND,
        "settings": settings | versions(),
        "results": counted(studies),
        "first_study": {design: of_design[0] for design, of_design in studies.items()},
    }
    write_json(ROOT / "data" / "few_people.json", stored)


if __name__ == "__main__":
    main()
