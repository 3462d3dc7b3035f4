"""The ledger of an edition: the claims beside its recorded values and the truth of its data, as a file."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from sense7.book.editions import edition_folder
from sense7.book.manifest import require_whole
from sense7.book.plan import BuildError, Job, released_only
from sense7.claims import POWER_FILE, Row, load_claims, make_ledger
from sense7.errors import UserError
from sense7.implied import FILE as IMPLIED
from sense7.implied import implied_truths, load_implied
from sense7.loading import synthetic_marks
from sense7.record import read_values, write_json
from sense7.sources import Provenance
from sense7.sources.released import verified_digest
from sense7.study import Study
from sense7.terminal import did_you_mean

__all__ = ["read_ledger", "read_truth", "write_ledger"]


def read_ledger(place: Path, name: str) -> tuple[list[dict], str]:
    """Ledger of a finished edition, as plain values, and what its data are.

    Raises
    ------
    UserError
        If there is no such edition, or its files are not those of its manifest.
    """
    folder = edition_folder(place, name)
    if (folder / "edition.json").exists():
        require_whole(folder)
    try:
        rows = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
        facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
    except OSError:
        present = sorted(path.parent.name for path in (place / "_build/editions").glob("*/ledger.json"))
        hint = did_you_mean(name, present, f"Build it: sense7 build {name}")
        raise UserError(f"there is no edition {name!r} yet (present: {', '.join(present) or 'none'}). {hint}") from None
    except ValueError as error:
        raise UserError(f"{folder}: its ledger can't be read ({error}). Build it again: sense7 build {name}") from None
    return rows, facts["label"]


def read_truth(path: Path, study: Study) -> dict | None:
    """Truth of a synthetic workbook, if it is there and belongs to it."""
    if study.provenance.kind != "synthetic":
        return None
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
        marks = synthetic_marks(study) or {}
        belongs = str(truth["seed"]) == str(marks.get("seed")) and truth["parameters"] == json.loads(
            marks.get("parameters", "null")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return truth if belongs else None


def write_ledger(
    root: Path,
    edition: Path,
    provenance: Provenance,
    truth: dict | None,
    jobs: Mapping[str, Job],
) -> list[Row]:
    """Compare the claims of the checkout with an edition's recorded values; write the ledger."""
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {
        name: [table for table in tables if verified_digest(table)] for name, tables in released_only(jobs).items()
    }
    simulated = _simulated_means(root, truth, jobs)
    implied = implied_truths(truth, simulated)
    counted = root / "data" / POWER_FILE
    rates = json.loads(counted.read_text(encoding="utf-8"))["claims"] if counted.exists() else {}
    rows = make_ledger(load_claims(root / "data/claims.yml"), values, provenance, truth, rests_on, implied, rates)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if implied:
        truths = {key: asdict(truth) for key, truth in implied.items()}
        shares = (simulated or {}).get("beyond_shares", [])
        write_json(edition / "data" / IMPLIED, {"truths": truths, "beyond_shares": shares})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""


def _simulated_means(root: Path, truth: dict | None, jobs: Mapping[str, Job]) -> dict | None:
    """Stored means over simulated studies, where they hold: same parameters, and notebooks that analyze by default."""
    stored = load_implied(root / "data" / IMPLIED)
    changed = any(
        name not in _CHANCE and value != job.notebook.defaults.get(name)
        for job in jobs.values()
        for name, value in job.parameters.items()
    )
    return None if truth is None or changed or (stored or truth)["parameters"] != truth["parameters"] else stored
