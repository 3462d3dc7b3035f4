"""The ledger of an edition: the claims beside its recorded values and the truth of its data, as a file."""

import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import sense7
from sense7 import paper
from sense7.book.editions import find_edition, read_facts, read_json, require_whole
from sense7.book.jobs import Jobs
from sense7.claims import POWER_FILE, Claim, Row, make_ledger
from sense7.errors import BuildError
from sense7.expected import FILE as EXPECTED
from sense7.expected import expected_values, load_expected
from sense7.record import called, read_values, write_json


def read_ledger(place: Path, edition: str) -> tuple[list[dict], dict]:
    """Ledger of a finished edition, as plain values, and the facts of the edition."""
    folder = find_edition(place, edition)
    require_whole(folder)
    return read_json(folder / "ledger.json"), read_facts(folder)


def write_ledger(
    root: Path,
    edition: Path,
    claims: Sequence[Claim],
    provenance: paper.Provenance,
    truth: dict | None,
    jobs: Jobs,
) -> list[Row]:
    """Compare claims with an edition's recorded values; write the ledger."""
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {
        name: [table for table in job.notebook.released_alone if paper.verified_digest(table)]
        for name, job in jobs.items()
        if job.notebook.released_alone
    }
    stored_means = load_expected(root / "data" / EXPECTED)
    changed = any(
        name not in _CHANCE and value != job.notebook.defaults.get(name)
        for job in jobs.values()
        for name, value in job.parameters.items()
    )
    # Means over simulated studies hold for the same parameters, and notebooks that analyze by default.
    fits = (
        truth is not None
        and not changed
        and (stored_means or truth)["parameters"] == truth["parameters"]
    )
    expected = expected_values(truth, stored_means if fits else None)
    counted = root / "data" / POWER_FILE
    # They were counted on studies of SENSE-7's size: the official one, and those simulated alike.
    is_like_counted = fits or provenance.kind == "official"
    rates = {}
    if is_like_counted and counted.exists():
        rates = json.loads(counted.read_text(encoding="utf-8"))["claims"]
    rows = make_ledger(claims, values, provenance, truth, rests_on, expected, rates)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if expected:
        entries = {key: asdict(value) for key, value in expected.items()}
        write_json(edition / "data" / EXPECTED, {"values": entries})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""


def definition(value: Mapping) -> str:
    """The call that gave a recorded value, with file and line of its function, or with the notebook of a cell."""
    module, _, name = value["computed_by"]["function"].rpartition(".")
    if not module:
        return f"{called(value)}, {value['notebook']}"
    code = inspect.unwrap(getattr(importlib.import_module(module), name)).__code__
    file = Path(code.co_filename).relative_to(Path(sense7.__file__).parents[2])
    return f"{called(value)}, {file}:{code.co_firstlineno}"
