"""What every recorded value should be, and whether claims can fail: the notebooks on many simulated studies.

    make simulated-studies

The notebooks that read a workbook are run, in one process and without drawing, on many studies of the size of the
release. The mean of a recorded value over studies with the default parameters is what its statistic should give
there (data/expected.json). For each claim that names parameters without its effect, its notebook is
run on as many studies without the effect: how often its rule is passed there, how often on studies with it, and how
often on other simulated studies that the claim names (data/claims_power.json). Every study has a seed of its own. What
is done is kept in _build/simulated_studies, and continued after an interruption; to run a notebook again, remove the
files there that have its name.
"""

import argparse
import contextlib
import copy
import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from evidence.coverage.asked_again import rates_of_judges
from tqdm import tqdm

import sense7
from sense7.book.notebooks import TextNotebook, find_notebooks
from sense7.claims import Claim, apply_rule, load_claims
from sense7.judge.scores.judges import write_simulated
from sense7.record import read_values, write_json
from sense7.simulate import DEFAULT_JUDGE, JudgeParameters, Parameters, simulate

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "make simulated-studies"
SEED = 20260923
"""Study number k has the seed SEED + k: none is that of data/synthetic.xlsx."""

STUDIES = 200
"""Studies of each world in which claims are judged."""

WHOLE = 40
"""Studies in which all notebooks are run to their end."""

DRAWS = 400
AS_PUT_IN, WITH_EFFECT = "as put in", "as put in, for claims"
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@dataclass(frozen=True)
class World:
    """Parameters of simulated studies, and the notebooks that are run on them.

    ``changes`` and ``judge_changes`` are the parameters that differ from the default; of each notebook ``keys`` names
    the values that are wanted: it ends once it recorded them. Without names all are; with them, the study has no texts
    either, unless a notebook shows a judge.
    """

    name: str
    changes: Mapping = field(default_factory=dict)
    judge_changes: Mapping = field(default_factory=dict)
    notebooks: tuple[str, ...] = ()
    studies: int = STUDIES
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)


@cache
def known_notebooks() -> dict[str, TextNotebook]:
    """The project's notebooks by their names; read once in each process."""
    return {notebook.name: notebook for notebook in find_notebooks(ROOT)}


def reads_a_workbook(notebook: TextNotebook) -> bool:
    """Whether a notebook computes values from the workbook of an edition, not from stored or released results alone."""
    same_in_every_study = {"data/claims.yml", "data/reference.json"}
    return "data" in notebook.defaults and set(notebook.stored) <= same_in_every_study


def worlds_of(claims: Sequence[Claim], known: Mapping[str, TextNotebook]) -> list[World]:
    """Default parameters for all notebooks, the same for claims, and the other worlds that claims name."""

    def world_for(claims: Sequence[Claim], name: str, changes: Mapping) -> World:
        keys: dict[str, frozenset[str]] = {}
        for claim in claims:
            wanted = {key for key in (claim.key, claim.compare.get("flag")) if key}
            keys[claim.notebook] = keys.get(claim.notebook, frozenset()) | wanted
        changes = dict(changes)
        return World(
            name,
            judge_changes=changes.pop("judge", {}),
            changes=changes,
            notebooks=tuple(sorted(keys)),
            keys=keys,
        )

    every = tuple(name for name, notebook in known.items() if reads_a_workbook(notebook))
    judged: dict[str, list[Claim]] = {}
    for claim in claims:
        for name in other_worlds(claim):
            judged.setdefault(name, []).append(claim)
    worlds = [
        World(AS_PUT_IN, notebooks=every, studies=WHOLE),
        world_for([claim for claim in claims if claim.no_effect], WITH_EFFECT, {}),
    ]
    return worlds + [world_for(own, name, json.loads(name)) for name, own in sorted(judged.items())]


def world_name(parameters: Mapping) -> str:
    """Changed parameters, as JSON."""
    return json.dumps(parameters, sort_keys=True)


def other_worlds(claim: Claim) -> list[str]:
    """Names of the worlds in which a claim's rule is counted: that without its effect, then others."""
    if not claim.no_effect:
        return []
    others = [world["parameters"] for world in claim.also_simulated or ()]
    return [world_name(parameters) for parameters in (claim.no_effect, *others)]


def in_words(parameters: Mapping) -> str:
    """Changed parameters for readers."""
    texts = []
    for name, value in (parameters | parameters.get("judge", {})).items():
        if name != "judge":
            several = list(value.values()) if isinstance(value, dict) else value
            every = isinstance(several, list) and len(set(several)) == 1
            texts.append(f"{name.replace('_', ' ')} {f'all {several[0]}' if every else value}")
    return ", ".join(texts)


def run_notebooks(
    notebooks: Sequence[TextNotebook],
    world: World,
    number: int,
    draws: int = DRAWS,
    *,
    judged: bool = True,
) -> dict[str, list[dict]]:
    """Simulate study ``number`` of a world, and run notebooks on it in this process: notebook -> what it recorded.

    Nothing is drawn. ``judged``: whether notebooks that show a judge have the simulated one.
    """
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = Path(temporary) / "results"
        asks_judge = judged and any("predictions" in notebook.defaults for notebook in notebooks)
        judge = JudgeParameters.from_mapping(world.judge_changes) if asks_judge else None
        texts = asks_judge or not world.keys
        simulation = simulate(
            Parameters.from_mapping(world.changes), SEED + number, judge, texts=texts
        )
        study = simulation.parsed("synthetic")
        given = {"data": "synthetic", "results": str(results), "draws": draws}
        if asks_judge:
            write_simulated(simulation, Path(temporary) / "judge")
            given["predictions"] = str(Path(temporary) / "judge")
        sense7.load = lambda *_, **__: copy.deepcopy(study)
        try:
            for notebook in notebooks:
                names, keys = {"__name__": "__main__"}, world.keys.get(notebook.name, frozenset())
                for code, metadata in json.loads(notebook.code):
                    if "by-hand" in metadata.get("tags", ()):
                        continue  # the same number again
                    exec(compile(code, notebook.name, "exec"), names)  # noqa: S102 -- the project's own notebooks
                    if "parameters" in metadata.get("tags", ()):
                        names |= {name: value for name, value in given.items() if name in names}
                    path = results / f"{notebook.name}.json"
                    if (
                        keys
                        and path.exists()
                        and keys <= {value["key"] for value in json.loads(path.read_text("utf-8"))}
                    ):
                        break
        finally:
            del sense7.load
        recorded = {notebook.name: [] for notebook in notebooks}
        for value in read_values(results).values():
            recorded[value["notebook"]].append(value)
        return recorded


def one_study(world: World, number: int, draws: int) -> dict[str, list[dict]]:
    """Run a world's notebooks on one study, in a process of its own."""
    known = known_notebooks()
    with contextlib.redirect_stdout(sys.stderr):
        return run_notebooks([known[name] for name in world.notebooks], world, number, draws)


class Kept:
    """What is done, one file per world and notebook; a line per study.

    Parameters
    ----------
    folder : Path
        Of the files.
    draws : int
        Bootstrap resamples; files of another number are not read.
    """

    def __init__(self, folder: Path, draws: int):
        self.folder, self.draws = folder, draws
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, world: World, notebook: str) -> Path:
        name = hashlib.sha256(f"{world.name} {self.draws}".encode()).hexdigest()[:12]
        return self.folder / f"{name}-{notebook}.jsonl"

    def read(self, world: World, notebook: str) -> dict[int, list[dict]]:
        """Number of a study -> what the notebook recorded."""
        path, done = self._path(world, notebook), {}
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            with contextlib.suppress(ValueError):  # half a line of a run that was interrupted
                number, values = json.loads(line)
                done[number] = values
        return done

    def add(self, world: World, number: int, recorded: Mapping[str, list[dict]]) -> None:
        """Keep what notebooks recorded of one study."""
        for notebook, values in recorded.items():
            slim = [
                {name: value[name] for name in ("key", "estimate", "low", "high", "unit")}
                for value in values
            ]
            with self._path(world, notebook).open("a", encoding="utf-8") as stream:
                # The line break first: after half a line of an interrupted run, this one is whole.
                stream.write("\n" + json.dumps([number, slim]))


def run(worlds: Sequence[World], kept: Kept) -> None:
    """Run what is missing, on all processors."""
    tasks = []
    for world in worlds:
        done = {name: kept.read(world, name) for name in world.notebooks}
        for number in range(world.studies):
            if missing := tuple(name for name in world.notebooks if number not in done[name]):
                tasks.append((replace(world, notebooks=missing), number))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(one_study, *task, kept.draws): task for task in tasks}
        try:
            for future in tqdm(
                as_completed(waiting), total=len(tasks), disable=None, unit=" studies"
            ):
                kept.add(*waiting[future], future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def significant(number: float) -> float:
    """Six significant digits."""
    return float(f"{number:.6g}")


def expected_values(world: World, kept: Kept) -> dict:
    """Mean, standard deviation and Monte Carlo error over studies of every value that is a number.

    A value that was recorded in fewer than nine of ten studies is left out: its name depends on the study.
    """
    values: dict[str, dict] = {}
    for notebook in world.notebooks:
        done = kept.read(world, notebook)
        columns: dict[str, list[float]] = {}
        for number in range(world.studies):
            for value in done[number]:
                if isinstance(value["estimate"], int | float):
                    columns.setdefault(value["key"], []).append(value["estimate"])
        for key, column in columns.items():
            if len(column) >= max(2, 0.9 * world.studies):
                sd = float(np.std(column, ddof=1))
                values[key] = {
                    "notebook": notebook,
                    "mean": significant(float(np.mean(column))),
                    "sd": significant(sd) if sd > 1e-12 else 0.0,
                    "error": significant(sd / np.sqrt(len(column))) if sd > 1e-12 else 0.0,
                    "studies": len(column),
                }
    return values


def judge_keys(world: World, known: Mapping[str, TextNotebook], kept: Kept) -> set[str]:
    """Values that depend on the simulated judge: they are others, or absent, where the first study has none."""
    asking = [name for name in world.notebooks if "predictions" in known[name].defaults]
    notebooks = [known[name] for name in asking]
    alone = run_notebooks(notebooks, world, 0, kept.draws, judged=False)
    without = {value["key"]: value["estimate"] for values in alone.values() for value in values}
    with_judge = {
        value["key"]: value["estimate"] for name in asking for value in kept.read(world, name)[0]
    }
    return {key for key, estimate in with_judge.items() if without.get(key) != estimate}


def passed(claims: Sequence[Claim], world: World, kept: Kept) -> dict[str, dict]:
    """How often each claim's rule is passed: claim -> passed, and studies in which it could be judged.

    The rule is the one that the official workbook is judged by. What has to hold before a claim is compared at all,
    such as the authors' own prompt, is not asked here.
    """
    counts = {claim.id: {"passed": 0, "studies": 0} for claim in claims}
    done = {name: kept.read(world, name) for name in world.notebooks}
    for number in range(world.studies):
        values = {
            value["key"]: value | {"notebook": name, "reason": None}
            for name in world.notebooks
            for value in done[name][number]
        }
        for claim in claims:
            if claim.key in values and values[claim.key]["estimate"] is not None:
                verdict, _ = apply_rule(claim, values)
                counts[claim.id]["studies"] += verdict is not None
                counts[claim.id]["passed"] += verdict is True
    return counts


def rates_of(
    claims: Sequence[Claim], with_effect: World, others: Sequence[World], kept: Kept
) -> dict[str, dict]:
    """How often each claim's rule is passed with the effect, without it, and in the other worlds that it names."""
    worlds = {world.name: world for world in others}
    rates = {}
    for claim in claims:
        if claim.no_effect:
            without, *also = [
                passed([claim], worlds[name], kept)[claim.id] for name in other_worlds(claim)
            ]
            rates[claim.id] = {
                "null": without,
                "effect": passed([claim], with_effect, kept)[claim.id],
                "null_parameters": in_words(claim.no_effect),
            }
            if also:
                rates[claim.id]["also"] = [
                    {"like": world["like"]} | counts
                    for world, counts in zip(claim.also_simulated, also, strict=True)
                ]
    return rates


def shown(world: World, kept: Kept) -> dict[str, float]:
    """Values of the first study, so that a test can see that the code still gives them."""
    return {
        value["key"]: value["estimate"]
        for notebook in world.notebooks
        for value in kept.read(world, notebook)[0]
        if isinstance(value["estimate"], int | float)
    }


def main() -> None:
    """Run all studies and write the two files of results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--out", type=Path, default=ROOT / "data")
    arguments = parser.parse_args()
    os.environ |= dict.fromkeys(ONE_THREAD, "1")
    claims = load_claims(ROOT / "data" / "claims.yml")
    known = known_notebooks()
    worlds = worlds_of(claims, known)
    kept = Kept(ROOT / "_build" / "simulated_studies", arguments.draws)
    # Claims first: they are what an interrupted run is most likely wanted for.
    run(worlds[::-1], kept)
    whole, with_effect, *others = worlds
    head = {"command": COMMAND, "draws": arguments.draws, "seed": SEED}
    values = expected_values(whole, kept)
    of_judge = judge_keys(whole, known, kept)
    found = {
        "studies": whole.studies,
        "parameters": Parameters().as_dict(),
        "judge": DEFAULT_JUDGE.as_dict(),
        "values": {key: value | {"judge": key in of_judge} for key, value in values.items()},
        "first_study": shown(whole, kept),
    }
    write_json(arguments.out / "expected.json", head | found)
    rates = rates_of(claims, with_effect, others, kept)
    for name, on_same_conversations in rates_of_judges(claims, SEED, STUDIES).items():
        rates[name] |= on_same_conversations
    write_json(arguments.out / "claims_power.json", head | {"studies": STUDIES, "claims": rates})


if __name__ == "__main__":
    main()
