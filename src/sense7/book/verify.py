"""An edition recomputed from its own data, and compared with what it shows.

Everything is computed again in a temporary folder: from the edition's copy of the workbook, with its parameters and
its judge's predictions, without the cache of finished notebooks. Nothing is written into the edition. Compared are the
recorded values, the ledger, and the data of every figure, as the executed notebooks and as the pages give them.

On one machine all of it is equal to the last digit: kernels compute with one thread, and every random step has a
seed. Other processors and libraries of linear algebra round otherwise; :data:`TOLERANCE` says how much that may be.
"""

import base64
import contextlib
import csv
import html
import io
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sense7 import sources
from sense7.book import execute
from sense7.book.build import copy_files
from sense7.book.editions import edition_folder
from sense7.book.extensions.figure import PAGE as SPECIFICATIONS
from sense7.book.extensions.figure import find_picture
from sense7.book.ledger import read_truth, write_ledger
from sense7.book.plan import data_beside, how_made, plan_jobs, versions
from sense7.checkout import Project
from sense7.claims import load_claims
from sense7.errors import UserError
from sense7.files import one_line, reason
from sense7.judge.files import prediction_files
from sense7.loading import load
from sense7.record import format_value
from sense7.study import Study
from sense7.workbook import ReadingOptions

__all__ = [
    "TOLERANCE",
    "Comparison",
    "Difference",
    "compare",
    "figure_data",
    "find_edition",
    "verify_edition",
]

TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to the larger, and be called equal within the tolerance.

Sums taken in another order differ near the sixteenth digit, and models that are fitted step by step carry that up to
where their steps end. What is left is far below the digits that pages show. Numbers nearer to zero than this may
differ by a thousandth of it.
"""

EQUAL, NEAR, DIFFERENT = "equal", "within the tolerance", "different"
_ABSENT = "absent"
_PICTURE = re.compile(r"^```\{(?:picture\} +(\S+)|specifications\}) +(\S+)", re.MULTILINE)
"""Where prose shows a figure of another page, and of which; see :mod:`sense7.book.extensions.figure`."""

_LINK = re.compile(r'<a download="([^"]*)\.csv" href="data:text/csv;base64,([A-Za-z0-9+/=]*)">')


@dataclass(frozen=True)
class Difference:
    """One thing that an edition shows otherwise than it was recomputed."""

    kind: str
    where: str
    what: str
    shown: str
    recomputed: str


@dataclass(frozen=True)
class Comparison:
    """What came of recomputing an edition."""

    folder: Path
    label: str
    counts: Mapping[str, Counter]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def verify_edition(
    project: Project,
    edition: str,
    *,
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Comparison:
    """Recompute an edition and compare."""
    folder, root = find_edition(project.place, edition), project.sources
    facts = _facts(folder)
    made = facts["made"]
    judged = prediction_files(folder / "predictions") if (folder / "predictions").is_dir() else []
    parameters = made["parameters"] | {"data": f"../data/{facts['file']}", "results": "../results"}
    if judged:
        parameters["predictions"] = "../predictions"
    workbook = _workbook(folder, facts)
    options = ReadingOptions.beside(sources.resolve(workbook)[0])
    jobs = plan_jobs(root, parameters, options.digest(facts["sha256"]), judged)
    _require_same_beside(folder, made["beside"], data_beside(root, [job.notebook for job in jobs.values()], judged))
    study = load(workbook, prompted_condition=parameters.get("prompted_condition"))
    provenance = study.provenance
    _require_own_data(folder, facts, provenance)
    truth = _truth(folder, study)
    notes = _notes(made, how_made(root, jobs, judged, made["parameters"]))
    try:
        with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
            again = Path(scratch) / "edition"
            path, origin = sources.resolve(workbook)
            sources.copy_for_edition(path, replace(origin, kind=provenance.kind, file=facts["file"]), again / "data")
            copy_files(judged, again / "predictions")
            workers = workers or min(os.cpu_count() or 1, len(jobs))
            execute.run(jobs, again, Path(scratch) / "cache", workers=workers, say=say, progress=progress)
            write_ledger(root, again, load_claims(root / "data" / "claims.yml"), provenance, truth, jobs)
            counts, differences = _compare_editions(folder, again)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {reason(error)}. Is the disk full?") from error
    return Comparison(folder, provenance.label, counts, tuple(differences), tuple(notes))


# --- the edition -----------------------------------------------------------------------


def find_edition(place: Path, edition: str) -> Path:
    """Folder of an edition by its name or its path; the folder of its pages will do."""
    named = edition_folder(place, edition)
    places = [Path(edition).expanduser(), Path(edition).expanduser().absolute().parent, named]
    if os.sep not in edition:  # a name comes before a folder that happens to be here
        places.insert(0, named)
    folder = next((candidate for candidate in places if (candidate / "edition.json").is_file()), None)
    if folder is not None:
        return folder.absolute()
    if places[-1].is_dir() or Path(edition).expanduser().is_dir():
        raise UserError(
            f"{edition}: no edition.json there. Pages alone can't be verified: give the whole folder of an edition, "
            "with data/, results/, notebooks/, html/ and ledger.json."
        )
    present = sorted(path.parent.name for path in (place / "_build/editions").glob("*/edition.json"))
    raise UserError(
        f"{edition}: neither an edition (present: {', '.join(present) or 'none'}) nor the folder of one. "
        "Build it: sense7 build ..., or give the path of its folder."
    )


def _read(path: Path):
    """Content of one of an edition's JSON files."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: is missing. The edition is not whole: copy or build it again.") from None
    except OSError as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Check its permissions.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: no JSON ({one_line(error)}). Copy or build the edition again.") from None


def _workbook(folder: Path, facts: Mapping) -> Path | str:
    """The edition's copy of its workbook; for a published edition without it, the data set's name if that is here."""
    path = folder / "data" / facts["file"]
    if path.exists():
        return path
    for name in ("synthetic", *sources.SOURCES):
        with contextlib.suppress(UserError):
            if sources.resolve(name)[1].sha256 == facts["sha256"]:
                return name
    raise UserError(
        f"{path}: is missing, and no data set here is the one that the edition was made of. Copy the edition whole, "
        "or fetch the data first: sense7 fetch official"
    )


def _rows(path: Path) -> list[dict]:
    """Content of a file that holds a list of objects."""
    rows = _read(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path}: not what a build writes. Copy or build the edition again.")
    return rows


def _facts(folder: Path) -> dict:
    """What an edition says of itself, as far as it is needed; refused if it can't be."""
    path = folder / "edition.json"
    facts = _read(path)
    made = facts.get("made") if isinstance(facts, dict) else None
    if not isinstance(made, dict):
        raise UserError(f"{path}: does not say how the edition was made, as older ones do not. Build it again.")
    held = {"parameters": dict, "beside": dict, "versions": dict, "library": str}
    wrong = [key for key, kind in held.items() if not isinstance(made.get(key), kind)]
    wrong += [key for key in ("file", "sha256", "kind") if not isinstance(facts.get(key), str)]
    if not wrong and (facts["file"] in {"", ".", ".."} or set(facts["file"]) & set("/\\\0")):
        wrong = ["file"]
    if reserved := sorted({"data", "predictions", "results"} & made["parameters"].keys() if not wrong else ()):
        wrong = [f"made: parameters: {key}" for key in reserved]
    if wrong:
        raise UserError(f"{path}: {', '.join(wrong)} can't be what it says. Copy or build the edition again.")
    return facts


def _require_own_data(folder: Path, facts: Mapping, provenance) -> None:
    """Refuse data that are not those that the edition says it was made of."""
    path = folder / "data" / facts["file"]
    if provenance.sha256 != facts["sha256"]:
        raise UserError(
            f"{path}: not the workbook that the edition was made of (edition.json: sha256 "
            f"{facts['sha256'][:12]}..., found {provenance.sha256[:12]}...). Restore it, or build the edition again."
        )
    if provenance.kind != facts["kind"]:
        raise UserError(
            f"{path}: its record makes it {provenance.kind!r} data, edition.json "
            f"{facts['kind']!r}. Copy the edition whole, with the record beside the workbook, or build it again."
        )


def _require_same_beside(folder: Path, then: Mapping, now: Mapping) -> None:
    """Refuse where what some pages show besides the edition's own data is not here as it was."""
    if then.get("predictions") != now.get("predictions"):
        raise UserError(
            f"{folder / 'predictions'}: not the files that the edition was made of. Restore them, or build it again."
        )
    for name in sorted(now.keys() - {"predictions"}):
        before, here = then.get(name, ""), now[name]
        if before == here:
            continue
        if name.startswith("data/"):
            raise UserError(
                f"{name}: not the stored result that the edition shows. Restore it, or build the edition again."
            )
        if not here:
            raise UserError(f"{name}: this edition shows it, and it is not fetched here. Run: sense7 fetch {name}")
        if not before:
            raise UserError(
                f"{name}: fetched here, but not where the edition was made. Hide it for this run: "
                "SENSE7_CACHE=EMPTY_FOLDER sense7 verify ..."
            )
        raise UserError(f"{name}: what is fetched here is not what the edition shows. Run: sense7 fetch {name} --again")


def _truth(folder: Path, study: Study) -> dict | None:
    """Truth of a synthetic workbook; that of the one which comes with the project is taken from the project."""
    if study.provenance.kind != "synthetic":
        return None
    path = folder / "data" / "truth.json"
    with contextlib.suppress(UserError):  # where the project's own is missing, nothing is the project's own
        shipped, provenance = sources.resolve("synthetic")
        if provenance.sha256 == study.provenance.sha256:
            path = shipped.with_name(f"{shipped.stem}_truth.json")
    return read_truth(path, study)


def _notes(then: Mapping, now: Mapping) -> Iterator[str]:
    """In what code and machine differ, from which differences may come."""
    if then["library"] != now["library"]:
        commits = [str(made.get("commit") or "not known")[:12] for made in (then, now)]
        yield f"the library is not the one that made the edition (commit then {commits[0]}, here {commits[1]})"
    for name, version in versions().items():
        if then["versions"].get(name) != version:
            yield f"{name}: {then['versions'].get(name, 'not known')} then, {version} here"


# --- comparison ------------------------------------------------------------------------


def compare(shown, recomputed) -> str:
    """Compare two plain values: numbers within the tolerance, all else exactly.

    Examples
    --------
    >>> compare(0.5, 0.5), compare(0.5, 0.5 + 1e-9), compare(0.5, 0.5001), compare("a", "b"), compare(1, True)
    ('equal', 'within the tolerance', 'different', 'different', 'different')
    """
    if type(shown) is type(recomputed) and shown == recomputed:
        return EQUAL
    numbers = [value for value in (shown, recomputed) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2 and math.isclose(*numbers, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000):
        return NEAR
    return DIFFERENT


def figure_data(text: str) -> dict[str, str]:
    r"""Data of the figures of a page, as a reader downloads them: name, numbered where it stands twice -> CSV.

    Examples
    --------
    >>> figure_data('<a download="a.csv" href="data:text/csv;base64,eCx5Cg==">')
    {'a (1)': 'x,y\n'}
    """
    data: dict[str, str] = {}
    seen: Counter = Counter()
    for name, content in _LINK.findall(text):
        seen[name] += 1
        data[f"{html.unescape(name)} ({seen[name]})"] = base64.b64decode(content).decode("utf-8", "replace")
    return data


def _compare_editions(folder: Path, again: Path) -> tuple[dict[str, Counter], list[Difference]]:
    kinds = {
        "recorded values": (_values(folder), _values(again)),
        "ledger": (_ledger(folder), _ledger(again)),
        "ledger, as the page shows it": (_ledger_page(folder), _ledger_texts(again)),
        "figure data, as the pages show them": (_page_figures(folder, again), _notebook_figures(again, True)),
    }
    if (folder / "notebooks").is_dir():  # a published edition has its pages only
        kinds["figure data, as executed"] = (_notebook_figures(folder), _notebook_figures(again))
    counts: dict[str, Counter] = {}
    differences = []
    for kind, (shown, recomputed) in kinds.items():
        counts[kind] = Counter()
        for where, what in dict.fromkeys([*shown, *recomputed]):
            pair = [parts.get((where, what), _ABSENT) for parts in (shown, recomputed)]
            state = compare(*pair)
            counts[kind][state] += 1
            if state == DIFFERENT:
                differences.append(Difference(kind, where, what, *map(str, pair)))
    return counts, differences


Parts = dict[tuple[str, str], object]
"""Where and what -> a plain value."""


def _flat(content, name: str = "") -> Iterator[tuple[str, object]]:
    """Plain values of a structure, each with its path."""
    if isinstance(content, dict | list) and content:
        pairs = content.items() if isinstance(content, dict) else enumerate(content, 1)
        for key, value in pairs:
            yield from _flat(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(content) if isinstance(content, dict | list) else content


def _values(folder: Path) -> Parts:
    parts: Parts = {}
    for path in sorted((folder / "results").glob("*.json")):
        for number, value in enumerate(_rows(path), 1):
            parts |= {(path.stem, what): leaf for what, leaf in _flat(value, str(value.get("key", number)))}
    return parts


def _ledger(folder: Path) -> Parts:
    rows = enumerate(_rows(folder / "ledger.json"), 1)
    return {(str(row.get("id", number)), what): leaf for number, row in rows for what, leaf in _flat(row)}


def _ledger_texts(folder: Path) -> Parts:
    """What the page of the ledger has to say of each claim: computed value and the two marks."""
    parts: Parts = {}
    for row in _read(folder / "ledger.json"):
        name = row["id"].replace("_", "-")
        parts[(name, "this edition")] = format_value(row["computed"]) if row["computed"] else "-"
        parts[(name, "rule")] = row["rule"]["mark"]
        if row["check"]:
            parts[(name, "check")] = row["check"]["mark"] + (" tuned" if row["tuned"] else "")
    return parts


def _ledger_page(folder: Path) -> Parts:
    parts: Parts = {}
    rows = re.findall(r"<tr\b.*?</tr>", _page(folder / "html" / "book" / "ledger.html"), re.DOTALL)
    for row in rows:
        name = re.search(r'id="claim-([^"]+)"', row)
        cells = re.findall(r"<td\b[^>]*>(.*?)</td>", row, re.DOTALL)
        if name and len(cells) in (4, 5):
            first = [re.search(r"<p\b[^>]*>(.*?)</p>", cell, re.DOTALL) for cell in cells[2:]]
            texts = [" ".join(html.unescape(re.sub(r"<[^>]*>", "", match[1])).split()) for match in first if match]
            said = zip(("this edition", "rule", "check"), texts, strict=False)
            parts |= {(name[1], what): text for what, text in said if (what, text) != ("check", "-")}
    return parts


def _page(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _notebook_figures(folder: Path, borrowed: bool = False) -> Parts:
    """Data of the figures of all notebooks; with those of other notebooks that their pages show, or without."""
    texts = {}
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        try:
            texts[path.stem] = "\n".join(_shown(cell, folder if borrowed else None) for cell in _read(path)["cells"])
        except (AttributeError, KeyError, TypeError):
            raise UserError(f"{path}: not what a build writes. Copy or build the edition again.") from None
    return _cells_of(texts)


def _shown(cell: Mapping, edition: Path | None) -> str:
    """HTML of a cell's outputs; of prose, the figures of other notebooks that it shows, if an edition is given."""
    if cell["cell_type"] == "code":
        return "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", ()))
    pictures = _PICTURE.findall("".join(cell["source"])) if edition else ()
    paths = [(edition / f"{page or SPECIFICATIONS}.ipynb", name) for page, name in pictures]
    return "".join(find_picture(_read(path), name) or "" for path, name in paths if path.is_file())


def _page_figures(folder: Path, again: Path) -> Parts:
    names = [path.stem for path in sorted((again / "notebooks").glob("*.ipynb"))]
    return _cells_of({name: _page(folder / "html" / "notebooks" / f"{name}.html") for name in names})


def _cells_of(texts: Mapping[str, str]) -> Parts:
    """Cells of the data of all figures: notebook; figure, row and column -> number or text."""
    parts: Parts = {}
    for name, text in texts.items():
        for figure, table in figure_data(text).items():
            for number, row in enumerate(csv.reader(io.StringIO(table)), 1):
                cells = {f"{figure}, line {number}, column {position}": cell for position, cell in enumerate(row, 1)}
                parts |= {(name, what): _number(cell) for what, cell in cells.items()}
    return parts


def _number(text: str) -> float | str:
    """A cell as a number where it is one; a text of a number that is written otherwise stays apart."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
