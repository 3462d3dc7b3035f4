"""A simulated study: sheets of the official format, the numbers behind them, and what was planted."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from sense7.errors import UserError
from sense7.files import not_written, write_whole
from sense7.simulate import DEFAULT_SEED
from sense7.simulate.judge import JudgeScores, assistant_words, draw_judge
from sense7.simulate.judge_truth import judge_record, plant_judge
from sense7.simulate.model import Numbers, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.text import Words, write_words
from sense7.simulate.truth import truth_of
from sense7.simulate.workbook import Built, build_sheets
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook.xlsx import Sheet, write_sheets

__all__ = ["DEFAULT_JUDGE", "Simulation", "describe_parameters", "simulate", "truth_text"]

DEFAULT_JUDGE = JudgeParameters()
"""The simulated judge whose predictions lie in data/."""


@dataclass(frozen=True)
class Simulation:
    """A simulated workbook and its truth.

    Attributes
    ----------
    sheets : dict of Sheet
        Tasks, Messages and Participants in the official format, and Synthetic, which says what
        the workbook is.
    study : Numbers
        Latents and ratings in arrays.
    words : Words
        Messages and comments by assistant turn.
    seed : int
        Seed of the simulation.
    built : Built
        The sheets of the study, with the identifiers of participants, conversations and messages.
    judge : JudgeParameters or None
        What was planted in the simulated judge, if one was asked for.
    judged : JudgeScores or None
        Its scores; :func:`sense7.judge.judges.write_simulated` writes them.
    """

    sheets: dict[str, Sheet] = field(repr=False)
    study: Numbers = field(repr=False)
    words: Words = field(repr=False)
    seed: int
    built: Built = field(repr=False)
    judge: JudgeParameters | None = field(default=None, repr=False)
    judged: JudgeScores | None = field(default=None, repr=False)

    @cached_property
    def truth(self) -> dict:
        """What was planted and what it implies; JSON-able. See :func:`sense7.simulate.truth.truth_of`.

        Computed when it is first asked for: the implied values of new parameters take some seconds.
        """
        built = self.built
        truth = truth_of(self.study, self.seed, built.pids, built.task_ids, built.message_ids)
        if self.judge is not None:
            planted = plant_judge(self.study.parameters, self.judge)
            truth |= {"planted": truth["planted"] + planted, "judge": judge_record(self.judge)}
        return truth

    def write(self, workbook_path: str | Path, truth_path: str | Path | None = None) -> None:
        """Write the workbook, and the truth if a path is given; each appears whole or not at all.

        Parameters
        ----------
        workbook_path : path
            The .xlsx file.
        truth_path : path, optional
            The .json file.

        Raises
        ------
        UserError
            If a file can't be written.
        """
        write_sheets(self.sheets, workbook_path)
        if truth_path is None:
            return
        truth_path = Path(truth_path)
        try:
            write_whole(truth_path, truth_text(self.truth))
        except OSError as error:
            raise UserError(not_written(truth_path, error)) from None


def simulate(
    parameters: Parameters,
    seed: int = DEFAULT_SEED,
    judge: JudgeParameters | None = DEFAULT_JUDGE,
    *,
    texts: bool = True,
) -> Simulation:
    """Simulate a study: numbers, words, sheets and truth, and the scores of a judge.

    Numbers, words, sheets and judge draw from streams of their own, so that a change of one leaves
    the others as they are. The sheets are the same with and without a judge.

    Parameters
    ----------
    parameters : Parameters
        What to plant.
    seed : int
        At least 0. The same parameters and seed give the same simulation.
    judge : JudgeParameters or None
        What to plant in the simulated judge; None for no judge.
    texts : bool
        Whether messages and comments are written. Without them, every message is one word and nobody comments: enough
        for the statistics of ratings, in half the time. A judge needs them.

    Returns
    -------
    Simulation
        Its truth is computed when it is first asked for.

    Raises
    ------
    UserError
        If the seed is not a whole number of at least 0.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"The seed is {seed!r}; accepted: a whole number of at least 0.")
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    study = draw(parameters, streams[0])
    words = write_words(study, streams[1]) if texts or judge is not None else _no_words(study)
    built = build_sheets(study, words, streams[2])
    sheets = built.sheets | {SYNTHETIC_SHEET: _marks(parameters, seed)}
    judged = None
    if judge is not None:
        judged = draw_judge(study, assistant_words(study, words.assistant), judge, streams[3])
    return Simulation(sheets, study, words, seed, built, judge, judged)


def _no_words(study: Numbers) -> Words:
    turns = len(study.turn)
    return Words(["."] * turns, ["."] * turns, [None] * turns, np.full((turns, 7), -1, dtype=np.int8))


def _marks(parameters: Parameters, seed: int) -> Sheet:
    """The sheet by which the workbook says what it is, and to which truth it belongs."""
    rows = [
        ["note", "This workbook is synthetic. Nobody said or rated anything in it; its numbers are no findings."],
        ["seed", str(seed)],
        ["parameters", json.dumps(parameters.as_dict(), ensure_ascii=False)],
    ]
    return Sheet(SYNTHETIC_SHEET, ["key", "value"], rows)


def describe_parameters() -> list[str]:
    """One line for each parameter, those of the simulated judge last: name, default, and what is accepted."""
    known = [*Parameters.accepted(), *JudgeParameters.accepted()]
    return [f"{name} = {default}  ({accepted})" for name, default, accepted in known]


def truth_text(truth: dict) -> str:
    """The truth as JSON, one planted value and one unit a line: small, and readable as a difference.

    >>> units = {"turns": {"columns": ["a"], "rows": [[1], [2]]}}
    >>> print(truth_text({"format": 1, "planted": [{"key": "b"}], "units": units}), end="")
    {"format":1,
    "planted":[
    {"key":"b"}
    ],
    "units":{
    "turns":{"columns":["a"],"rows":[
    [1],
    [2]
    ]}
    }}
    """

    def plain(value) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def lines(values) -> str:
        return "[\n" + ",\n".join(plain(value) for value in values) + "\n]"

    parts = []
    for key, value in truth.items():
        if key == "planted":
            text = lines(value)
        elif key == "units":
            tables = (
                f'{plain(name)}:{{"columns":{plain(table["columns"])},"rows":{lines(table["rows"])}}}'
                for name, table in value.items()
            )
            text = "{\n" + ",\n".join(tables) + "\n}"
        else:
            text = plain(value)
        parts.append(f"{plain(key)}:{text}")
    return "{" + ",\n".join(parts) + "}\n"
