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

from sense7 import paper
from sense7.book import execute
from sense7.book.build import copy_files
from sense7.book.editions import (
    damage,
    find_edition,
    read_facts,
    read_json,
    read_manifest,
    require_no_links,
)
from sense7.book.jobs import SET_BY_BUILD, HowMade, parameters_of, plan
from sense7.book.ledger import write_ledger
from sense7.checkout import Project
from sense7.claims import load_claims
from sense7.errors import UserError
from sense7.files import one_line, reason
from sense7.record import MANIFEST
from sense7.terminal import silent

TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to the larger, and be called equal within the tolerance.

Sums taken in another order differ near the sixteenth digit, and models that are fitted step by step carry that up to
where their steps end. What is left is far below the digits that pages show. Numbers nearer to zero than this may
differ by a thousandth of it.
"""

EQUAL, NEAR, DIFFERENT = "equal", "within the tolerance", "different"


class Difference(NamedTuple):
    """One thing that an edition shows otherwise than it was recomputed."""

    kind: str
    where: str
    what: str
    shown: str
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
    folder, root = find_edition(project.place, edition), project.sources
    require_no_links(folder)
    facts = read_facts(folder)
    try:
        then = HowMade.from_dict(facts["made"])
        file, sha256, kind = facts["file"], facts["sha256"], facts["kind"]
        if Path(file).name != file or SET_BY_BUILD & then.parameters.keys():
            raise ValueError("its workbook lies elsewhere")
        judged = paper.predictions_in(folder / "predictions")
        parameters = parameters_of(then.parameters, file, bool(judged))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{folder / 'edition.json'}: not what a build writes ({one_line(error)}). Copy or build the edition again."
        ) from None
    path = folder / "data" / file
    if not path.exists():
        raise UserError(f"{path}: is missing. Copy the edition whole, or build it again.")
    path, origin = paper.resolve(path)
    jobs = plan(root, parameters, paper.ReadingOptions.beside(path).digest(sha256), judged)
    now = HowMade.of(root, jobs, then.parameters)
    for name in sorted(then.beside.keys() | now.beside.keys()):
        if then.beside.get(name, "") != now.beside.get(name, ""):
            raise UserError(
                f"{name}: this edition shows it, and it is not here as it was then. Restore it (a data set: sense7 "
                f"fetch {name} --again; hide one: SENSE7_CACHE=EMPTY_FOLDER sense7 verify ...), or build the edition "
                "again."
            )
    study = paper.open_study(path, parameters)
    provenance = study.provenance
    if (provenance.sha256, provenance.kind) != (sha256, kind):
        raise UserError(
            f"{path}: not the workbook that the edition was made of (edition.json: {kind}, sha256 {sha256[:12]}..., "
            f"found {provenance.kind}, {provenance.sha256[:12]}...). Restore it, with the record beside it, or build "
            "the edition again."
        )
    truth = paper.read_truth(folder / "data" / "truth.json", study)
    try:
        with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
            again = Path(scratch) / "edition"
            paper.copy_for_edition(
                path, replace(origin, kind=provenance.kind, file=file), again / "data"
            )
            copy_files(judged, again / "predictions")
            execute.run(jobs, again, Path(scratch) / "cache", workers=workers, say=say)
            write_ledger(
                root, again, load_claims(root / "data" / "claims.yml"), provenance, truth, jobs
            )
            kinds = {
                "recorded values": (_values(folder), _values(again)),
                "ledger": (
                    _flat(read_json(folder / "ledger.json")),
                    _flat(read_json(again / "ledger.json")),
                ),
            }
    except OSError as error:
        raise UserError(
            f"{error.filename or folder}: {reason(error)}. Is the disk full?"
        ) from error
    damaged = damage(folder) if (folder / MANIFEST).exists() else []  # a published edition has none
    whole = len(read_manifest(folder).get("files", ())) - len(damaged)
    counts = {kind: Counter() for kind in kinds} | {
        "files": Counter({EQUAL: max(whole, 0), DIFFERENT: len(damaged)})
    }
    differences = [Difference("files", path, "", "", "") for path in damaged]
    for kind, (shown, recomputed) in kinds.items():
        for name in dict.fromkeys([*shown, *recomputed]):
            pair = [parts.get(name, "absent") for parts in (shown, recomputed)]
            counts[kind][state := compare(*pair)] += 1
            if state == DIFFERENT:
                where, _, what = name.partition(" ")
                differences.append(Difference(kind, where, what, *map(str, pair)))
    # In what code and machine differ, from which differences may come.
    notes = [
        f"{name}: {then.versions.get(name, 'not known')} then, {version} here"
        for name, version in now.versions.items()
        if then.versions.get(name) != version
    ]
    if then.library != now.library:
        commit = then.commit or "not known"
        notes.append(f"the library is not the one that made the edition (commit then {commit})")
    return Comparison(folder, provenance.label, counts, differences, notes)


def compare(shown, recomputed) -> str:
    """Compare two plain values: numbers within the tolerance, all else exactly.

    Examples
    --------
    >>> compare(0.5, 0.5), compare(0.5, 0.5 + 1e-9), compare(0.5, 0.5001), compare("a", "b"), compare(1, True)
    ('equal', 'within the tolerance', 'different', 'different', 'different')
    """
    if type(shown) is type(recomputed) and shown == recomputed:
        return EQUAL
    are_numbers = all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in (shown, recomputed)
    )
    near = are_numbers and math.isclose(
        shown, recomputed, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000
    )
    return NEAR if near else DIFFERENT


def _values(folder: Path) -> dict[str, object]:
    return {
        f"{path.stem} {name}": leaf
        for path in sorted((folder / "results").glob("*.json"))
        for name, leaf in _flat(read_json(path)).items()
    }


def _flat(content, name: str = "") -> dict[str, object]:
    """Plain values of a structure by their paths; rows of a list go by their key or id."""
    if not (isinstance(content, dict | list) and content):
        return {name: json.dumps(content) if isinstance(content, dict | list) else content}
    found = {}
    for key, value in content.items() if isinstance(content, dict) else enumerate(content, 1):
        known = value.get("key", value.get("id", key)) if isinstance(value, dict) else key
        found |= _flat(value, f"{name}.{known}" if name else str(known))
    return found
