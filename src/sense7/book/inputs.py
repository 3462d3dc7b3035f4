"""What an edition is made from, all of it known before the workbook is read: names, files, and the digest of them."""

import functools
import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from sense7 import sources
from sense7.book.editions import edition_folder, require_same_source, source_of
from sense7.book.execute import BuildError
from sense7.book.how_made import versions
from sense7.book.ledger import CLAIMS
from sense7.book.plan import Job, data_beside, digest_files, library_digest, plan_jobs, released_only
from sense7.checkout import Project, commit_of, find_project
from sense7.claims import POWER_FILE, Claim, load_claims
from sense7.errors import UserError
from sense7.implied import FILE as IMPLIED
from sense7.judge.files import prediction_files
from sense7.judge.judges import simulated_files, simulated_folder
from sense7.sources import Provenance
from sense7.workbook.options import ReadingOptions

__all__ = ["Inputs", "configuration", "how_made", "read_config", "resolve_inputs"]

RESERVED = ("synthetic", *sources.SOURCES)
LONGEST_NAME = 100


@dataclass(frozen=True)
class Inputs:
    """What an edition is made from.

    Attributes
    ----------
    project : Project
        The checkout, or what the installed package carries of it.
    name : str
        Of the edition.
    data : str
        The data set or workbook, as the user named it.
    path : Path
        The workbook.
    provenance : Provenance
        Of the workbook, under the edition's name.
    options : ReadingOptions
        How the workbook is to be read.
    parameters : dict
        Values for the notebooks' parameters, those that the build sets included.
    jobs : dict of Job
        What is to be executed, by name.
    claims : list of Claim
        What was published.
    predictions : list of Path
        Files of a judge's predictions.
    logs : list of Path
        Logs of the sessions that the predictions come from.
    config : dict
        Jupyter Book's configuration, with the address of the repository.
    made : dict
        As :func:`how_made` returns it.
    """

    project: Project
    name: str
    data: str
    path: Path
    provenance: Provenance
    options: ReadingOptions
    parameters: dict
    jobs: dict[str, Job]
    claims: list[Claim]
    predictions: list[Path]
    logs: list[Path]
    config: dict
    made: dict

    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of everything that the finished edition depends on."""
        return _digest(self)

    @property
    def folder(self) -> Path:
        """Where the edition lies once it is finished."""
        return edition_folder(self.project.place, self.name)

    @property
    def source(self) -> str:
        """Name of the data set, or absolute path of the workbook."""
        return source_of(self.data, self.path)

    @property
    def truth(self) -> Path:
        """Where the truth of a synthetic workbook lies, if it has one."""
        return self.path.with_name(f"{self.path.stem}_truth.json")

    @property
    def named_predictions(self) -> str:
        """Folder of the predictions, for a notebook that is run elsewhere; "" where the data set brings its own."""
        return _named_predictions(self.predictions, self.data, self.path)


def resolve_inputs(
    data: str,
    *,
    name: str | None = None,
    predictions: str | Path | None = None,
    parameters: Mapping | None = None,
    options: ReadingOptions | None = None,
) -> Inputs:
    """Find what an edition is made from; the parameters are those of :func:`sense7.book.build.build_edition`.

    Raises
    ------
    UserError
        If the data, the name, the parameters, the predictions or the claims are unfit, or the edition of this name was
        made from another source.
    BuildError
        If Jupyter Book's configuration is unfit.
    """
    project = find_project()
    root = project.sources
    accepted, name = _accepted(parameters), _edition_name(name, data)
    path, provenance = sources.resolve(data)
    require_same_source(edition_folder(project.place, name), source_of(data, path), provenance.sha256)
    judged = _predictions(project.place, name, predictions, path)
    # Notebooks read the edition's own copy: an edit of the workbook during the build does not show on the pages.
    accepted |= {"data": f"../data/{provenance.file}", "results": "../results"}
    accepted |= {"predictions": "../predictions"} if judged else {}
    options = options or ReadingOptions.beside(path)
    jobs = plan_jobs(root, accepted, options.digest(provenance.sha256), judged)
    return Inputs(
        project,
        name,
        data,
        path,
        replace(provenance, name=name),
        options,
        accepted,
        jobs,
        load_claims(root / CLAIMS),
        judged,
        _logs(judged),
        configuration(root),
        how_made(root, jobs, judged, parameters or {}),
    )


def _accepted(parameters: Mapping | None) -> dict:
    """Parameters of the notebooks that a user may give; the others are refused."""
    accepted = dict(parameters or {})
    if reserved := sorted({"data", "predictions", "results"} & accepted.keys()):
        raise UserError(
            f"{', '.join(reserved)}: set by the build itself. Choose the data as DATA=... or as the argument, "
            "and a judge's predictions by --predictions FOLDER."
        )
    return accepted


def _edition_name(name: str | None, data: str) -> str:
    is_chosen = name is not None
    if not is_chosen:
        # A folder such as . or .. has its name in the folder above.
        name = data if data in RESERVED else Path(data).stem if Path(data).name not in ("", "..") else ""
        name = name or Path(data).expanduser().resolve().name or data
    # Without case: some file systems do not distinguish Official from official.
    if name.casefold() in RESERVED and name != data:
        what = f"--name {name}" if is_chosen else data
        raise UserError(
            f"{what}: an edition can't be called {name!r}, which is the name of another data set. "
            f"Give another name: --name my-{name}"
        )
    if len(name) > LONGEST_NAME or not re.fullmatch(r"[^\W_]([\w .+()-]*[\w+()-])?", name):
        other = re.sub(r"[^\w.+-]+", "-", name)[: LONGEST_NAME // 2].strip("-._+")  # a shell takes it without quotes
        raise UserError(
            f"{name!r} can't be the name of an edition: letters, digits, spaces and . + - _ ( ), beginning with a "
            f"letter or digit, at most {LONGEST_NAME} of them. Give another: --name {other or 'NAME'}"
        )
    return name


def _predictions(place: Path, name: str, chosen: str | Path | None, workbook: Path) -> list[Path]:
    """Files of a judge's predictions for an edition; none if it has none.

    Those that a user gives come before those of the simulated judge beside the workbook.
    """
    folder = Path(chosen).expanduser() if chosen is not None else place / f"predictions_{name}"
    if chosen is not None and not folder.is_dir():
        raise UserError(f"{chosen}: no folder of predictions. Give the one that `sense7 judge run --out` names.")
    files = prediction_files(folder) if folder.is_dir() else []
    if chosen is not None and not files:
        raise UserError(
            f"{chosen}: holds no prediction file (.xlsx or .csv). Make some: sense7 judge run --out {chosen}"
        )
    return files or simulated_files(simulated_folder(workbook))


def _named_predictions(judged: Sequence[Path], data: str, workbook: Path) -> str:
    if not judged or (data == "synthetic" and judged[0].parent == simulated_folder(workbook)):
        return ""
    return judged[0].parent.absolute().name


def how_made(root: Path, jobs: Mapping[str, Job], judged: Sequence[Path], parameters: Mapping) -> dict:
    """All that is needed to make an edition again, and to say on its pages how it was made."""
    own = {
        name: {key: value for key, value in (job.notebook.defaults | job.parameters).items() if key != "results"}
        for name, job in jobs.items()
    }
    return {
        "parameters": dict(parameters),
        "notebooks": dict(sorted(own.items())),
        "needs": {name: list(job.notebook.needs) for name, job in sorted(jobs.items()) if job.notebook.needs},
        "released": released_only(jobs),
        "beside": data_beside(root, [job.notebook for job in jobs.values()], judged),
        "versions": versions(),
        **commit_of(root),
        "library": library_digest(skip=()),
    }


def _logs(judged: Sequence[Path]) -> list[Path]:
    """Logs of the sessions that the predictions come from, where what shows them is installed."""
    if not judged or importlib.util.find_spec("inspect_ai") is None:
        return []
    from sense7.judge.logs import LOGS

    return sorted((judged[0].parent / LOGS).glob("*.eval"))


def _digest(inputs: Inputs) -> str:
    root, jobs, logs, truth = inputs.project.sources, inputs.jobs, inputs.logs, inputs.truth
    pages = [path for path in (root / "book").rglob("*") if path.is_file()]
    pages += [root / "_config.yml", root / "_toc.yml", root / CLAIMS]
    simulated = [root / "data" / name for name in (IMPLIED, POWER_FILE)]
    parts = {
        "jobs": {name: job.digest for name, job in jobs.items()},
        "notebooks": {name: job.notebook.source for name, job in jobs.items()},
        "pages": digest_files(pages, root),
        "made": inputs.made,
        "provenance": inputs.provenance.to_dict(),
        "truth": hashlib.sha256(truth.read_bytes()).hexdigest() if truth.is_file() else None,
        "simulated": digest_files([path for path in simulated if path.is_file()], root),
        "repository": inputs.config["repository"],
        "logs": digest_files(logs, logs[0].parent) if logs else None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_config(root: Path) -> dict:
    """Read Jupyter Book's configuration as it stands in the checkout.

    Raises
    ------
    BuildError
        If it isn't YAML, or lacks what the build needs.
    """
    try:
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        _ = (
            config["repository"]["url"],
            config["repository"]["branch"],
            config["sphinx"]["config"]["html_theme_options"],
        )
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise BuildError(
            f"_config.yml: {type(error).__name__}: {' '.join(str(error).split())}. It has to hold repository: url and "
            "branch, and sphinx: config: html_theme_options."
        ) from None
    return config


def configuration(root: Path) -> dict:
    """The same, with the address of this checkout's own repository where it is known."""
    config = read_config(root)
    address = os.environ.get("SENSE7_REPOSITORY", "")
    if not address and os.environ.get("GITHUB_REPOSITORY"):
        address = f"https://github.com/{os.environ['GITHUB_REPOSITORY']}"
    config["repository"]["url"] = address or config["repository"]["url"]
    return config
