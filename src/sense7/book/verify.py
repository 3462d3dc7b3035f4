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
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sense7 import sources
from sense7.book import execute
from sense7.book.build import copy_files
from sense7.book.editions import edition_folder
from sense7.book.extensions.links import ROBUSTNESS, find_picture
from sense7.book.ledger import read_truth, write_ledger
from sense7.book.plan import how_made, parameters_of, plan
from sense7.checkout import Project
from sense7.claims import load_claims
from sense7.errors import UserError
from sense7.files import one_line, reason
from sense7.judge.files import prediction_files
from sense7.loading import load
from sense7.record import format_value
from sense7.terminal import silent
from sense7.workbook import ReadingOptions

TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to the larger, and be called equal within the tolerance.

Sums taken in another order differ near the sixteenth digit, and models that are fitted step by step carry that up to
where their steps end. What is left is far below the digits that pages show. Numbers nearer to zero than this may
differ by a thousandth of it.
"""

EQUAL, NEAR, DIFFERENT = "equal", "within the tolerance", "different"
_PICTURE = re.compile(r"^```\{(?:picture\} +(\S+)|specifications\}) +(\S+)", re.MULTILINE)
"""Where prose shows a figure of another page, and of which; see :mod:`sense7.book.extensions.links`."""

_LINK = re.compile(r'<a download="([^"]*)\.csv" href="data:text/csv;base64,([A-Za-z0-9+/=]*)">')
_FACTS = {"file": str, "sha256": str, "kind": str, "made": dict}
_MADE = {"parameters": dict, "beside": dict, "versions": dict, "library": str}
"""What is needed of ``edition.json``, which may be anybody's."""

_AGAIN = "Copy or build the edition again."


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


def verify_edition(project: Project, edition: str, *, workers: int | None = None, say: Callable = silent) -> Comparison:
    """Recompute an edition and compare."""
    folder, root = find_edition(project.place, edition), project.sources
    facts = _read(folder / "edition.json", dict)
    wrong = [name for name, kind in _FACTS.items() if not isinstance(facts.get(name), kind)]
    wrong = wrong or [f"made: {name}" for name, kind in _MADE.items() if not isinstance(facts["made"].get(name), kind)]
    if not wrong and not re.fullmatch(r"(?!\.{0,2}$)[^/\\\0]+", facts["file"]):  # it lies in the edition's folder
        wrong = ["file"]
    if not wrong and {"data", "predictions", "results"} & facts["made"]["parameters"].keys():
        wrong = ["made: parameters"]
    if wrong:
        raise UserError(f"{folder / 'edition.json'}: {wrong[0]} can't be what it says. {_AGAIN}")
    made, workbook = facts["made"], _workbook(folder, facts)
    path, origin = sources.resolve(workbook)
    judged = prediction_files(folder / "predictions") if (folder / "predictions").is_dir() else []
    parameters = parameters_of(made["parameters"], facts["file"], bool(judged))
    jobs = plan(root, parameters, ReadingOptions.beside(path).digest(facts["sha256"]), judged)
    now = how_made(root, jobs, made["parameters"])
    _require_same_beside(folder, made["beside"], now["beside"])
    study = load(workbook, prompted_condition=parameters.get("prompted_condition"))
    provenance = study.provenance
    if provenance.sha256 != facts["sha256"]:
        raise UserError(
            f"{path}: not the workbook that the edition was made of (edition.json: sha256 {facts['sha256'][:12]}..., "
            f"found {provenance.sha256[:12]}...). Restore it, or build the edition again."
        )
    if provenance.kind != facts["kind"]:
        raise UserError(
            f"{path}: its record makes it {provenance.kind!r} data, edition.json {facts['kind']!r}. Copy the edition "
            "whole, with the record beside the workbook, or build it again."
        )
    known = folder / "data" / "truth.json"
    with contextlib.suppress(UserError):  # that of the workbook which comes with the project is the project's own
        shipped, its_origin = sources.resolve("synthetic")
        if its_origin.sha256 == provenance.sha256:
            known = shipped.with_name(f"{shipped.stem}_truth.json")
    truth = read_truth(known, study)
    try:
        with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
            again = Path(scratch) / "edition"
            copied = replace(origin, kind=provenance.kind, file=facts["file"])
            sources.copy_for_edition(path, copied, again / "data")
            copy_files(judged, again / "predictions")
            workers = workers or min(os.cpu_count() or 1, len(jobs))
            execute.run(jobs, again, Path(scratch) / "cache", workers=workers, say=say)
            write_ledger(root, again, load_claims(root / "data" / "claims.yml"), provenance, truth, jobs)
            counts, differences = _compare_editions(folder, again)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {reason(error)}. Is the disk full?") from error
    # In what code and machine differ, from which differences may come.
    notes = []
    if made["library"] != now["library"]:
        commits = [str(one.get("commit") or "not known")[:12] for one in (made, now)]
        what = "the library is not the one that made the edition (commit then {}, here {})"
        notes.append(what.format(*commits))
    for name, version in now["versions"].items():
        if made["versions"].get(name) != version:
            notes.append(f"{name}: {made['versions'].get(name, 'not known')} then, {version} here")
    return Comparison(folder, provenance.label, counts, differences, notes)


# --- the edition -----------------------------------------------------------------------


def find_edition(place: Path, edition: str) -> Path:
    """Folder of an edition by its name or its path; the folder of its pages will do."""
    named, given = edition_folder(place, edition), Path(edition).expanduser()
    places = [given, given.absolute().parent, named]
    if os.sep not in edition:  # a name comes before a folder that happens to be here
        places.insert(0, named)
    folder = next((candidate for candidate in places if (candidate / "edition.json").is_file()), None)
    if folder is not None:
        return folder.absolute()
    if named.is_dir() or given.is_dir():
        raise UserError(
            f"{edition}: no edition.json there. Pages alone can't be verified: give the whole folder of an edition, "
            "with data/, results/, notebooks/, html/ and ledger.json."
        )
    present = sorted(path.parent.name for path in named.parent.glob("*/edition.json"))
    raise UserError(
        f"{edition}: neither an edition (present: {', '.join(present) or 'none'}) nor the folder of one. "
        "Build it: sense7 build ..., or give the path of its folder."
    )


def _read(path: Path, kind: type):
    """Content of one of an edition's JSON files: an object, or a list of objects."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: is missing. The edition is not whole: copy or build it again.") from None
    except OSError as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Check its permissions.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: no JSON ({one_line(error)}). {_AGAIN}") from None
    if not isinstance(content, kind) or not all(isinstance(row, dict) for row in content if kind is list):
        raise UserError(f"{path}: not what a build writes. {_AGAIN}")
    return content


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


def _require_same_beside(folder: Path, then: Mapping, now: Mapping) -> None:
    """Refuse where what some pages show besides the edition's own data is not here as it was."""
    for name in sorted(then.keys() | now.keys()):
        before, here = then.get(name, ""), now.get(name, "")
        if before == here:
            continue
        if name == "predictions":
            what = f"{folder / name}: not the files that the edition was made of. Restore them, or build it again."
        elif name.startswith("data/"):
            what = f"{name}: not the stored result that the edition shows. Restore it, or build the edition again."
        elif not here:
            what = f"{name}: this edition shows it, and it is not fetched here. Run: sense7 fetch {name}"
        elif not before:
            what = f"{name}: fetched here, but not where the edition was made. Hide it for this run: "
            what += "SENSE7_CACHE=EMPTY_FOLDER sense7 verify ..."
        else:
            what = f"{name}: what is fetched here is not what the edition shows. Run: sense7 fetch {name} --again"
        raise UserError(what)


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
    are_numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (shown, recomputed))
    near = are_numbers and math.isclose(shown, recomputed, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    return NEAR if near else DIFFERENT


Parts = dict[tuple[str, str], object]
"""Where and what -> a plain value."""


def _compare_editions(folder: Path, again: Path) -> tuple[dict[str, Counter], list[Difference]]:
    names = [path.stem for path in sorted((again / "notebooks").glob("*.ipynb"))]
    pages = {name: _text(folder / "html" / "notebooks" / f"{name}.html") for name in names}
    kinds = {
        "recorded values": (_values(folder), _values(again)),
        "ledger": (_ledger(folder), _ledger(again)),
        "ledger, as the page shows it": (_ledger_page(folder), _ledger_texts(again)),
        "figure data, as the pages show them": (_figures(pages), _notebook_figures(again, True)),
    }
    if (folder / "notebooks").is_dir():  # a published edition has its pages only
        kinds["figure data, as executed"] = (_notebook_figures(folder), _notebook_figures(again))
    counts: dict[str, Counter] = {kind: Counter() for kind in kinds}
    differences = []
    for kind, (shown, recomputed) in kinds.items():
        for where, what in dict.fromkeys([*shown, *recomputed]):
            pair = [parts.get((where, what), "absent") for parts in (shown, recomputed)]
            counts[kind][state := compare(*pair)] += 1
            if state == DIFFERENT:
                differences.append(Difference(kind, where, what, *map(str, pair)))
    return counts, differences


def _flat(content, name: str) -> Iterator[tuple[str, object]]:
    """Plain values of a structure, each with its path."""
    if isinstance(content, dict | list) and content:
        for key, value in content.items() if isinstance(content, dict) else enumerate(content, 1):
            yield from _flat(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(content) if isinstance(content, dict | list) else content


def _values(folder: Path) -> Parts:
    return {
        (path.stem, what): leaf
        for path in sorted((folder / "results").glob("*.json"))
        for number, value in enumerate(_read(path, list), 1)
        for what, leaf in _flat(value, str(value.get("key", number)))
    }


def _ledger(folder: Path) -> Parts:
    rows = enumerate(_read(folder / "ledger.json", list), 1)
    return {(str(row.get("id", number)), what): leaf for number, row in rows for what, leaf in _flat(row, "")}


def _ledger_texts(folder: Path) -> Parts:
    """What the page of the ledger has to say of each claim: computed value and the two marks."""
    parts: Parts = {}
    for row in _read(folder / "ledger.json", list):
        name, tuned = row["id"].replace("_", "-"), " tuned" if row["tuned"] else ""
        parts[(name, "this edition")] = format_value(row["computed"]) if row["computed"] else "-"
        parts[(name, "rule")] = row["rule"]["mark"]
        parts |= {(name, "check"): row["check"]["mark"] + tuned} if row["check"] else {}
    return parts


def _ledger_page(folder: Path) -> Parts:
    """What the page says of each claim: the first line of each cell but the claim's own."""
    parts: Parts = {}
    for row in re.findall(r"<tr\b.*?</tr>", _text(folder / "html" / "book" / "ledger.html"), re.DOTALL):
        name = re.search(r'id="claim-([^"]+)"', row)
        cells = re.findall(r"<td\b[^>]*>\s*<p\b[^>]*>(.*?)</p>", row, re.DOTALL)[2:]
        said = [" ".join(html.unescape(re.sub(r"<[^>]*>", "", cell)).split()) for cell in cells]
        for what, text in zip(("this edition", "rule", "check"), said, strict=False):
            parts |= {(name[1], what): text} if name and (what, text) != ("check", "-") else {}
    return parts


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _notebook_figures(folder: Path, borrowed: bool = False) -> Parts:
    """Data of the figures of all notebooks; with those of other notebooks that their pages show, or without."""
    texts = {}
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        try:
            texts[path.stem] = "\n".join(
                _shown(cell, folder if borrowed else None) for cell in _read(path, dict)["cells"]
            )
        except (AttributeError, KeyError, TypeError):
            raise UserError(f"{path}: not what a build writes. {_AGAIN}") from None
    return _figures(texts)


def _shown(cell: Mapping, edition: Path | None) -> str:
    """HTML of a cell's outputs; of prose, the figures of other notebooks that it shows, if an edition is given."""
    if cell["cell_type"] == "code":
        return "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", ()))
    pictures = _PICTURE.findall("".join(cell["source"])) if edition else ()
    paths = [(edition / f"{page or ROBUSTNESS}.ipynb", name) for page, name in pictures]
    return "".join(find_picture(_read(path, dict), name) or "" for path, name in paths if path.is_file())


def _figures(texts: Mapping[str, str]) -> Parts:
    """Cells of the data of all figures: notebook; figure, row and column -> number or text."""
    return {
        (name, f"{figure}, line {number}, column {position}"): _number(cell)
        for name, text in texts.items()
        for figure, table in figure_data(text).items()
        for number, row in enumerate(csv.reader(io.StringIO(table)), 1)
        for position, cell in enumerate(row, 1)
    }


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


def _number(text: str) -> float | str:
    """A cell as a number where it is one; a text of a number that is written otherwise stays apart."""
    with contextlib.suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return text
