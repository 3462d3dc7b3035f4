"""The verbs about data: check, simulate, fetch, and an empty workbook."""

import json
from pathlib import Path
from typing import Annotated

from sense7.cli.common import (
    Force,
    Json,
    Parameters,
    Workbook,
    argument,
    assignments,
    option,
)
from sense7.errors import UserError
from sense7.files import require_free


def check(
    data: Workbook,
    draft: Annotated[
        bool,
        option(
            "Write FILE.reading.yml, to be filled in; print what one that is there lacks.",
            "--draft",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what is in a workbook, and what is wrong with it."""
    if draft:
        from sense7.sources import resolve
        from sense7.workbook.draft import write_draft

        print(write_draft(resolve(data)[0]))
        return
    from sense7.cli.description import describe, print_description
    from sense7.loading import parse

    description = describe(parse(data))
    if as_json:
        print(json.dumps(description, indent=1))
    else:
        print_description(description)


def simulate(
    out: Annotated[Path | None, option("Workbook to write.")] = None,
    seed: Annotated[int, option("Seed of every random step.", min=0)] = 20250919,
    parameter: Parameters = (),
    parameters: Annotated[bool, option("List the parameters.", "--parameters")] = False,
    force: Force = False,
) -> None:
    """Write a synthetic workbook in the official format, and the predictions of a simulated judge."""
    from sense7 import simulate as simulation
    from sense7.judge.scores import judges
    from sense7.simulate.workbook import READING
    from sense7.workbook.reading import reading_path, write_reading
    from sense7.workbook.xlsx import write_sheets

    if parameters:
        for line in simulation.describe_parameters():
            print(line)
        return
    if out is None:
        raise UserError("say where the workbook is to be written: --out FILE.xlsx")
    require_free(out, replace=force)
    require_free(reading_path(out), replace=force)
    assigned = assignments(parameter)
    of_judge = {name: value for name, value in assigned.items() if name.startswith("judge_")}
    of_study = {name: assigned[name] for name in assigned.keys() - of_judge.keys()}
    study_parameters = simulation.Parameters.from_mapping(of_study)
    judge_parameters = simulation.JudgeParameters.from_mapping(of_judge)
    folder = judges.simulated_folder(out)
    judges.require_own_folder(folder, replace=force)
    simulated = simulation.simulate(study_parameters, seed=seed, judge=judge_parameters)
    write_sheets(simulated.sheets, out, replace=force)
    write_reading(out, READING)
    print(out, *judges.write_simulated(simulated, folder, replace=force), sep="\n")


def fetch(
    name: Annotated[str, argument("Name of the data set, e.g. official.")],
    mirror: Annotated[
        str | None, option("Another address, file or folder; a copy of official is unverified.")
    ] = None,
    again: Annotated[
        bool, option("Fetch even if it is here, and replace the copy that is here.")
    ] = False,
) -> None:
    """Bring a published data set here, and record where it came from."""
    from sense7 import sources

    path = sources.fetch(name, mirror=mirror, again=again)
    _, provenance = sources.resolve(name)
    print(f"{provenance.label}\nsha256 {provenance.sha256}\n{path}")


def template(
    out: Annotated[Path, argument("Workbook to write.", "OUT.xlsx")],
    force: Force = False,
) -> None:
    """Write an empty workbook of the format: every column explained, answers to choose from."""
    from sense7.workbook.writing import write_template

    print(write_template(out, replace=force))
