"""An edition recomputed from its own data, and compared with what it shows.

Everything is computed again in a temporary folder: from the edition's copy of the workbook, with its parameters and
its judge's predictions, without the cache of finished notebooks. Nothing is written into the edition. Compared are the
recorded values and the ledger; and every file of the edition, its pages too, with the digest that the build wrote down.

On one machine all of it is equal to the last digit: kernels compute with one thread, and every random step has a
seed. Other processors and libraries of linear algebra round otherwise; :data:`TOLERANCE` says how much that may be.
"""

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sense7.book import execute
from sense7.book.build import copy_files
from sense7.book.editions import (
    damage,
    find_edition,
    listed_files,
    read_facts,
    require_json,
    require_no_links,
)
from sense7.book.inputs import predictions_in
from sense7.book.jobs import SET_BY_BUILD, HowMade, parameters_of, plan
from sense7.book.ledger import write_ledger
from sense7.book.opening import open_data
from sense7.checkout import Project
from sense7.claims import load_claims
from sense7.errors import UserError
from sense7.files import one_line, reason
from sense7.published_ids import write_published_ids
from sense7.record import MANIFEST
from sense7.sources import copy_for_edition, resolve
from sense7.terminal import silent
from sense7.workbook.reading import reading_digest

TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to the larger, and be called equal within the tolerance.

Sums taken in another order differ near the sixteenth digit, and models that are fitted step by step carry that up to
where their steps end. What is left is far below the digits that pages show. Numbers nearer to zero than this may
differ by a thousandth of it.
"""

EQUAL = "equal"
NEAR = "within the tolerance"
DIFFERENT = "different"

VALUES = "recorded values"
LEDGER = "ledger"
FILES = "files"


class Difference(NamedTuple):
    """What an edition shows otherwise than it was recomputed: in which part, in which file or row, under which name."""

    part: str
    where: str
    name: str
    in_edition: str
    recomputed: str


class Comparison(NamedTuple):
    """What came of recomputing an edition."""

    folder: Path
    label: str
    counts: Mapping[str, Counter]
    differences: list[Difference]
    notes: list[str]


def verify_edition(
    project: Project, edition: str, *, workers: int | None = None, say: Callable = silent
) -> Comparison:
    """Recompute an edition and compare."""
    folder = find_edition(project.place, edition)
    root = project.sources
    require_no_links(folder)
    facts = read_facts(folder)
    try:
        then = HowMade.from_dict(facts["made"])
        file = facts["file"]
        sha256 = facts["sha256"]
        kind_of_data = facts["kind"]
        if Path(file).name != file or SET_BY_BUILD & then.parameters.keys():
            raise ValueError("its workbook lies elsewhere")
        judged = predictions_in(folder / "predictions")
        parameters = parameters_of(then.parameters, file, bool(judged))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{folder / 'edition.json'}: not what a build writes ({one_line(error)}). Copy or build the edition again."
        ) from None
    path = folder / "data" / file
    if not path.exists():
        raise UserError(f"{path}: is missing. Copy the edition whole, or build it again.")
    path, origin = resolve(path)
    jobs = plan(root, parameters, reading_digest(path, sha256), judged)
    now = HowMade.of(root, jobs, then.parameters)
    _require_same_inputs(then, now)
    from sense7.loading import load

    study = load(path)
    provenance = study.provenance
    if (provenance.sha256, provenance.kind) != (sha256, kind_of_data):
        raise UserError(
            f"{path}: not the workbook that the edition was made of (edition.json: {kind_of_data}, sha256 "
            f"{sha256[:12]}..., found {provenance.kind}, {provenance.sha256[:12]}...). Restore it, with the record "
            "beside it, or build the edition again."
        )
    opened = open_data(study, judged, parameters)
    claims = load_claims(root / "data" / "claims.yml")
    try:
        with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
            again = Path(scratch) / "edition"
            origin = replace(origin, kind=provenance.kind, file=file)
            copy = copy_for_edition(path, origin, again / "data")
            write_published_ids(copy, study)
            copy_files(judged, again / "predictions")
            cache = Path(scratch) / "cache"
            failed = project.place / "_build" / "failed"  # which outlives this folder
            execute.run(jobs, again, cache, workers=workers, say=say, failed=failed)
            write_ledger(root, again, claims, provenance, opened.simulated_judge, jobs)
            in_edition, recomputed = _contents(folder), _contents(again)
    except OSError as error:
        raise UserError(
            f"{error.filename or folder}: {reason(error)}. Is the disk full?"
        ) from error
    damaged = []
    if (folder / MANIFEST).exists():  # a published edition has none
        damaged = damage(folder)
    undamaged = max(len(listed_files(folder)) - len(damaged), 0)
    differences = [Difference(FILES, path, "", "", "") for path in damaged]
    counts = {}
    for part in (VALUES, LEDGER):
        counts[part] = Counter()
        for name in dict.fromkeys([*in_edition[part], *recomputed[part]]):
            shown_value = in_edition[part].get(name, "absent")
            value = recomputed[part].get(name, "absent")
            state = compare(shown_value, value)
            counts[part][state] += 1
            if state == DIFFERENT:
                where, _, field = name.partition(" ")
                differences.append(Difference(part, where, field, str(shown_value), str(value)))
    counts[FILES] = Counter({EQUAL: undamaged, DIFFERENT: len(damaged)})
    return Comparison(folder, provenance.label, counts, differences, _notes(then, now))


def _require_same_inputs(then: HowMade, now: HowMade) -> None:
    """Refuse what the notebooks rest on besides the workbook, where it is not here as it was then."""
    for name in sorted(then.beside.keys() | now.beside.keys()):
        if then.beside.get(name, "") != now.beside.get(name, ""):
            raise UserError(
                f"{name}: this edition shows it, and it is not here as it was then. Restore it, or build the edition "
                "again."
            )


def _notes(then: HowMade, now: HowMade) -> list[str]:
    """In what code and machine differ, from which differences may come."""
    notes = []
    for name, version in now.versions.items():
        if then.versions.get(name) != version:
            notes.append(f"{name}: {then.versions.get(name, 'not known')} then, {version} here")
    if then.library != now.library:
        commit = then.commit or "not known"
        notes.append(f"the library is not the one that made the edition (commit then {commit})")
    return notes


def compare(in_edition, recomputed) -> str:
    """Compare two plain values: numbers within the tolerance, all else exactly.

    Examples
    --------
    >>> compare(0.5, 0.5), compare(0.5, 0.5 + 1e-9), compare(0.5, 0.5001), compare("a", "b"), compare(1, True)
    ('equal', 'within the tolerance', 'different', 'different', 'different')
    """
    pair = (in_edition, recomputed)
    if type(in_edition) is type(recomputed) and in_edition == recomputed:
        return EQUAL
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in pair):
        return DIFFERENT
    if math.isclose(*pair, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000):
        return NEAR
    return DIFFERENT


def _contents(folder: Path) -> dict[str, dict[str, object]]:
    """Part of an edition -> its plain values, by file or row, and path within that."""
    values = {}
    for path in sorted((folder / "results").glob("*.json")):
        for name, value in _by_path(require_json(path)).items():
            values[f"{path.stem} {name}"] = value
    return {VALUES: values, LEDGER: _by_path(require_json(folder / "ledger.json"))}


def _by_path(content, path: str = "") -> dict[str, object]:
    """Plain values of a structure by their paths; rows of a list go by their key or id."""
    if not isinstance(content, dict | list):
        return {path: content}
    if not content:
        return {path: json.dumps(content)}
    entries = content.items() if isinstance(content, dict) else enumerate(content, 1)
    values = {}
    for position, value in entries:
        name = position
        if isinstance(value, dict):
            name = value.get("key", value.get("id", position))
        values.update(_by_path(value, f"{path}.{name}" if path else str(name)))
    return values
