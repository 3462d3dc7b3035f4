"""What an edition is made from: names to files, and the refusal of names that lead elsewhere or are taken."""

import functools
import glob
import os
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import regex
import yaml

from sense7.book.code import PACKAGE, environment_of, is_source, versions
from sense7.book.editions import DATA_SETS, edition_folder, require_same_source, source_of
from sense7.book.run import SET_BY_BUILD, Job, digest_of_values, plan
from sense7.checkout import Project, commit_of, find_project
from sense7.errors import BuildError, UserError
from sense7.file_names import LONGEST
from sense7.files import digest_of_file
from sense7.sources import Provenance, resolve
from sense7.workbook.reading import reading_digest

_NAME = regex.compile(r"[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} .+()_-]*[\p{L}\p{M}\p{N}+()_-])?")
"""Name of an edition: letters with their marks, digits and some signs, beginning with a letter or digit."""

_SOURCES = ("book", "notebooks", "data", "_config.yml", "_toc.yml")


PROVIDERS = {"github.com": "github", "gitlab.com": "gitlab", "bitbucket.org": "bitbucket"}
"""Host of a repository -> the provider whose addresses the theme knows."""


@dataclass(frozen=True)
class Inputs:
    """The sources of an edition: checkout, workbook, the user's parameters and folder of predictions, and notebooks.

    ``only`` names the notebooks that are executed; without any, all are. Copies of notebooks that
    failed lie below ``failed_below``, where the project's own place is removed afterwards.
    """

    project: Project
    name: str
    data: str
    path: Path
    provenance: Provenance
    parameters: dict
    chosen: Path | None = None
    only: tuple[str, ...] = ()
    failed_below: Path | None = None

    @property
    def folder(self) -> Path:
        """Where the edition lies once it is finished."""
        return edition_folder(self.project.place, self.name)

    @property
    def cache(self) -> Path:
        """Folder of executed notebooks, which all editions share."""
        return self.project.place / "_build" / "cache"

    @property
    def failed(self) -> Path:
        """Folder of the copies of notebooks that failed."""
        return (self.failed_below or self.project.place) / "_build" / "failed"

    @property
    def pages(self) -> Path:
        """Folder of what is kept of the edition's pages from one build to the next."""
        return self.project.place / "_build" / "pages" / self.name

    @property
    def source(self) -> str:
        """Name of the data set, or absolute path of the workbook."""
        return source_of(self.data, self.path)

    @property
    def predictions_folder(self) -> Path:
        """Folder of a judge's predictions: the one that the user chose, or else predictions_NAME."""
        return self.chosen or self.project.place / f"predictions_{self.name}"

    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of all that the edition can depend on: whole files, and rather too many than too few."""
        root = self.project.sources
        paths = [PACKAGE, *(root / name for name in _SOURCES), self.predictions_folder]
        paths += self.path.parent.resolve().glob(f"{glob.escape(self.path.stem)}*")
        files = set()
        for path in paths:
            if not path.is_dir():
                files.add(path)
            for folder, _, names in os.walk(path, followlinks=True):
                files |= {Path(folder, name) for name in names}
        digests = {}
        for path in files:
            if is_source(path) and path.suffix != ".ipynb":  # derived
                digests[str(path)] = digest_of_file(path)
        asked_for = [self.name, self.source, self.provenance.to_dict(), self.parameters]
        # A folder that was chosen has to hold files.
        chosen = self.chosen and str(self.chosen.resolve())
        repository = configuration(root)["repository"]
        environment = [environment_of(root), sys.version, versions(), commit_of(root), repository]
        return digest_of_values([digests, asked_for, chosen, environment])

    @functools.cached_property
    def predictions(self) -> list[Path]:
        """Files of a judge: those that the user chose, else of predictions_NAME, else of the simulated judge."""
        from sense7.judge.files import prediction_files  # imports pandas
        from sense7.judge.scores.judges import simulated_files, simulated_folder

        folder = self.predictions_folder
        predictions = []
        if folder.is_dir():
            predictions = prediction_files(folder)
        if self.chosen and not predictions:
            raise UserError(
                f"{folder}: no folder with prediction files (.xlsx, .csv). Make some: sense7 judge run --out {folder}"
            )
        return predictions or simulated_files(simulated_folder(self.path))

    @functools.cached_property
    def jobs(self) -> dict[str, Job]:
        """The execution of each notebook, by its name."""
        parameters = {**self.parameters, "data": f"../data/{self.provenance.file}"}
        parameters["results"] = "../results"
        if self.predictions:
            parameters["predictions"] = "../predictions"
        workbook = reading_digest(self.path, self.provenance.sha256)
        # Figures say what the workbook is: a verified one may have the bytes of a mirror's.
        workbook = digest_of_values([workbook, self.provenance.label])
        return plan(self.project.sources, parameters, workbook, self.predictions, self.only)


def resolve_inputs(
    data: str,
    *,
    name: str | None = None,
    predictions: str | Path | None = None,
    parameters: Mapping | None = None,
) -> Inputs:
    """Find what an edition is made from; refuse data and name that are unfit, and a name that others took."""
    project = find_project()
    parameters = dict(parameters or {})
    reserved = sorted(SET_BY_BUILD & parameters.keys())
    if reserved:
        raise UserError(
            f"{', '.join(reserved)}: set by the build itself. Choose the data as DATA=... or as the argument, "
            "and a judge's predictions by --predictions FOLDER."
        )
    name = edition_name(name, data)
    path, provenance = resolve(data)
    folder = Path(predictions).expanduser() if predictions else None
    provenance = replace(provenance, name=name)
    inputs = Inputs(project, name, data, path, provenance, parameters, folder)
    require_same_source(inputs.folder, inputs.source, provenance.sha256)
    return inputs


def edition_name(chosen: str | None, data: str) -> str:
    """Name of an edition: the one that a user chose, or that of the data; refused if it can't be one."""
    name = chosen
    if chosen is None:  # a folder such as . or .. has its name in the folder above
        name = Path(os.path.abspath(Path(data).expanduser())).stem  # noqa: PTH100 -- links stay links
    name = unicodedata.normalize("NFC", name)  # macOS keeps a letter and its accent apart
    # As file systems and readers do, who do not distinguish Official from official.
    if name.casefold() in DATA_SETS and name != data:
        raise UserError(
            f"An edition can't be called {name!r}, which is the name of another data set. Give another name: "
            f"--name my-{name}"
        )
    if not _NAME.fullmatch(name) or len(name.encode()) > LONGEST:
        raise UserError(
            f"{name!r} can't be the name of an edition: letters, digits, spaces and . + - _ ( ), beginning with a "
            f"letter or digit, at most {LONGEST} bytes. Give another: --name NAME"
        )
    return name


# --- the configuration of Jupyter Book ------------------------------------------------------


def declared_configuration(root: Path) -> dict:
    """Jupyter Book's configuration as the checkout's file has it, wherever it is read."""
    try:
        config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
        _ = config["repository"]["branch"], config["sphinx"]["config"]["html_theme_options"]
    except (UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError) as error:
        raise BuildError(
            f"_config.yml: {type(error).__name__}: {' '.join(str(error).split())}. It has to hold repository: url and "
            "branch, and sphinx: config: html_theme_options."
        ) from None
    return config


def configuration(root: Path) -> dict:
    """Jupyter Book's configuration for pages: their links lead to the repository whose workflow builds them.

    What is committed, or installs code, is made from :func:`declared_configuration`.
    """
    config = declared_configuration(root)
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository:
        # Other forges set both.
        server = os.environ.get("GITHUB_SERVER_URL") or "https://github.com"
        config["repository"]["url"] = f"{server}/{repository}"
    options = config["sphinx"]["config"]["html_theme_options"]
    host = urlsplit(config["repository"]["url"]).hostname
    provider = options.get("repository_provider") or PROVIDERS.get(host)
    if provider:
        options["repository_provider"] = provider
        options["repository_url"] = config["repository"]["url"]
    else:
        # The theme has no address of a page there; _config.yml may declare the provider.
        for button in ("repository", "source", "issues", "edit_page"):
            options[f"use_{button}_button"] = False
        options["repository_url"] = ""
        options["launch_buttons"] = {}
    return config
