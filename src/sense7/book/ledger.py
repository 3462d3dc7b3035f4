"""The ledger of an edition: the claims beside its recorded values and what is expected of them, as a file."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sense7.book.editions import find_edition, read_facts
from sense7.book.run import Jobs
from sense7.claims import POWER_FILE, Claim, Row, make_ledger
from sense7.errors import BuildError
from sense7.expected import FILE as EXPECTED
from sense7.expected import TRUTH, expected_values
from sense7.files import read_json
from sense7.record import read_values, write_json
from sense7.sources import Provenance


def read_ledger(working_folder: Path, edition: str) -> tuple[list[dict], dict]:
    """Ledger of a finished edition, as plain values, and the facts of the edition; see ``find_edition``."""
    folder = find_edition(working_folder, edition)
    facts = read_facts(folder)
    return read_json(folder / "ledger.json"), facts


def write_ledger(
    root: Path,
    edition: Path,
    claims: Sequence[Claim],
    provenance: Provenance,
    simulated_judge: dict | None,
    jobs: Jobs,
) -> list[Row]:
    """Compare claims with an edition's recorded values; write the ledger.

    ``simulated_judge`` has the parameters of the judge that is shown, None unless it is a simulated one.
    """
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {name: job.notebook.released_alone for name, job in jobs.items()}
    stored = root / "data"
    truth = read_json(stored / TRUTH)
    # What is expected holds for the project's own simulated study, and notebooks that analyze by default.
    is_alike = truth["workbook_sha256"] == provenance.sha256
    for job in jobs.values():
        for name in job.parameters.keys() - _CHANCE:
            if job.parameters[name] != job.notebook.defaults.get(name):
                is_alike = False
    expected, rates = {}, {}
    if is_alike:
        expected = expected_values(truth, read_json(stored / EXPECTED), simulated_judge)
        rates = read_json(stored / POWER_FILE)["claims"]
        if simulated_judge != truth["judge"]:
            # Counts of a simulated judge say nothing of another one.
            of_judge = {claim.id for claim in claims if "judge" in (claim.no_effect or {})}
            rates = {name: counts for name, counts in rates.items() if name not in of_judge}
    rows = make_ledger(claims, values, provenance, rests_on, expected, rates)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if expected:
        entries = {key: asdict(value) for key, value in expected.items()}
        write_json(edition / "data" / EXPECTED, {"values": entries})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""
