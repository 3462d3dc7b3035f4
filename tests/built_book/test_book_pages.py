"""The built book as a reader meets it: pages, links, banner, figures, tables, how it was made, without a network."""

import base64
import csv
import io
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, unquote, urldefrag, urlsplit

import pytest

from helpers.pages import text
from sense7.book.extensions.values import NOT_AVAILABLE
from sense7.book.plan import SHOWN_VERSIONS
from sense7.record import format_value
from sense7.sources.released import RELEASED

ROOT = Path(__file__).resolve().parents[2]
# What a browser loads by itself to show a page; links that a reader follows are apart.
LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "use": "xlink:href",
    "image": "xlink:href",
}
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


def references(page):
    """Every address on a page: tag, address."""
    for tag in page.find_all(["a", "area", *LOADED]):
        address = tag.get(LOADED.get(tag.name, "href"))
        if address is not None:
            yield tag, address


def words(page):
    """What a reader reads of an article, code apart."""
    return " ".join(
        text
        for text in page.find("article").find_all(string=True)
        if not any(parent.name in {"pre", "code", "script", "style"} for parent in text.parents)
    )


def test_every_page_of_the_contents_is_there(edition):
    assert len(edition.toc) >= 9
    missing = [name for name in edition.toc if not (edition.html / f"{name}.html").is_file()]
    assert missing == []
    front = edition.page("book/index")
    linked = {urldefrag(a["href"]).url for a in front.find_all("a", href=True)}
    assert {f"../{name}.html" for name in edition.notebooks} <= linked


def test_no_page_shows_an_error(edition):
    for file in edition.files:
        page = edition.page(file)
        assert page.select(".traceback, .output.stderr, .output.error, .system-message, .problematic") == [], file
        if not file.startswith("book/api"):  # the reference shows examples, of errors too
            assert "Traceback" not in page.get_text(), file
        assert "Executing code cell" not in page.get_text(), file


def test_no_hole_is_shown_as_a_hole_of_the_program(edition):
    for name in [*edition.notebooks, "book/ledger", "book/index"]:
        found = re.findall(r"\b(?:[Nn]a[Nn]|NAN|NaT|None|inf)\b|<NA>", words(edition.page(name)))
        assert found == [], name


def test_every_internal_link_leads_somewhere(edition):
    broken = []
    for file in edition.files:
        page = edition.page(file)
        for tag, address in references(page):
            if OUTSIDE.match(address):
                canonical = tag.get("rel") == ["canonical"]  # where the page is published: nothing is loaded from there
                assert tag.name == "a" or canonical or address.startswith("data:"), f"{file} loads {address}"
                assert re.match(r"(?i)https://|data:text/csv;base64,|data:image/", address), f"{file}: {address}"
                continue
            target, anchor = urldefrag(address)
            target = unquote(urlsplit(target).path)
            place = (edition.html / file).parent / target if target else edition.html / file
            if not place.is_file():
                broken.append((file, address))
            elif "=" in anchor and place.name == "explorer.html":
                continue  # what the explorer is asked for: test_explorer_page.py
            elif anchor and place.suffix == ".html":
                name = str(place.resolve().relative_to(edition.html.resolve()))
                if unquote(anchor) not in edition.anchors(name):
                    broken.append((file, address))
    assert broken == []


def test_nothing_is_loaded_from_another_host(edition):
    styles = {str(path.relative_to(edition.html)): path.read_text("utf-8") for path in edition.html.rglob("*.css")}
    for file in edition.files:
        page = edition.page(file)
        styles[file] = "\n".join(
            [tag.get_text() for tag in page.find_all("style")] + [tag["style"] for tag in page.find_all(style=True)]
        )
        for script in page.find_all("script"):
            # The address of thebe is only a constant: it would be loaded by a button that no page has.
            text = re.sub(r'const THEBE_JS_URL = "[^"]*";', "", script.get_text())
            # What is no program loads nothing.
            is_data = script.get("type") in {"text/x-thebe-config", "application/ld+json"}
            assert "://" not in text or is_data, f"{file}: {text[:200]}"
        assert page.select(".thebe-launch-button, .btn-launch-thebe, [onclick*=initThebe]") == []
    for name, style in styles.items():
        for address in CSS_ADDRESS.findall(style):
            if address.startswith(("data:", "#")):
                continue
            assert not OUTSIDE.match(address), f"{name} loads {address}"
            place = (edition.html / name).parent / unquote(urlsplit(address).path)
            assert place.is_file(), f"{name}: {address}"


def test_a_page_is_left_for_the_front_page_only(edition):
    (refresh,) = edition.page("index").find_all("meta", attrs={"http-equiv": "refresh"})
    assert refresh["content"] == "0; url=book/index.html"


def repository_path(address):
    """Path inside the repository that a launch or source link points at, if it is one."""
    parts = urlsplit(address)
    if parts.netloc == "mybinder.org":
        return parse_qs(parts.query)["urlpath"][0].removeprefix("lab/tree/")
    found = re.fullmatch(r"/[^/]+/[^/]+/(?:blob|edit|tree)/main/(.+)", parts.path)
    return unquote(found[1]) if found else None


def test_launch_and_source_links_point_at_files_of_the_repository(edition):
    for name in edition.toc:
        addresses = [tag["href"] for tag in edition.page(name).find_all("a", href=True)]
        outside = [address for address in addresses if "github.com" in address or "mybinder.org" in address]
        paths = [path for path in map(repository_path, outside) if path]
        assert [path for path in paths if not (ROOT / path).is_file()] == [], name
        stem = Path(name).name
        if name in edition.notebooks:
            # Binder opens the notebook on the repository's own data: on other editions that would mislead.
            launched = ["mybinder.org"] if edition.facts["kind"] == "synthetic" else []
            assert paths.count(f"notebooks/{stem}.ipynb") == 1 + len(launched), f"{name}: source and launch links"
            assert [urlsplit(address).netloc for address in outside if "urlpath" in address] == launched
        else:
            assert paths == [f"book/{stem}.md"], name
        download = [address for address in addresses if "_sources/" in address]
        assert download, f"{name} cannot be downloaded"


def test_the_banner_is_on_every_page(edition):
    expected = {
        "synthetic": [
            "Synthetic data.",
            "Its numbers are not findings",
            "values marked tuned were set near published ones",
        ],
        "own": ["Workbook ieval.xlsx", "not the SENSE-7 release", "Its numbers say nothing about SENSE-7."],
    }[edition.facts["kind"]]
    assert {"index.html", "search.html", "genindex.html"} < set(edition.files)
    released = {f"notebooks/{name}.html" for name in edition.facts["made"]["released"]}
    for file in set(edition.files) - released:
        text = " ".join(edition.page(file).get_text().split())
        for part in [*expected, edition.facts["sha256"][:12]]:
            assert part in text, file


def test_pages_of_released_ratings_have_a_banner_of_their_own(edition):
    """That of the edition would call real ratings simulated, in the synthetic edition."""
    pages = [f"notebooks/{name}.html" for name in edition.facts["made"]["released"]]
    assert len(pages) == 3
    for file in edition.files:
        said = "On this page: real ratings that other studies released." in edition.page(file).get_text()
        assert said is (file in pages), file


def test_every_finding_answers_first(edition):
    for name in edition.notebooks:
        heading = edition.page(name).find("article").find("h1")
        answer = heading.find_next_sibling()
        assert "sense7-answer" in answer.get("class", []), name
        box = answer.find_next_sibling()
        assert "sense7-finding" in box.get("class", []), name
        assert box.select_one(".sense7-finding-label").get_text() in {"Claim", "Question"}, name
        for row in box.select(".sense7-marks"):
            marks = len(row.select(".sense7-badge")), len(row.select(".sense7-check"))
            assert marks in {(1, 0), (1, 1)}, f"{name}: a claim has one mark of each kind"
        released = Path(name).name in edition.facts["made"]["released"]
        synthetic = edition.facts["kind"] == "synthetic" and not released
        assert ("no number here is a finding" in text(box)) is synthetic, name


def test_every_recorded_value_is_shown_on_the_page_that_records_it(edition):
    shown = {
        (Path(name).name, row.find("td").get_text(strip=True)): row
        for name in edition.notebooks
        for row in edition.page(name).select(".sense7-values tbody tr")
    }
    recorded = {(value["notebook"], key): value for key, value in edition.values.items()}
    assert shown.keys() == recorded.keys()
    assert len(recorded) > 500
    for key, value in recorded.items():
        assert format_value(value) in text(shown[key]), key


def test_the_code_of_a_section_is_one_fold_at_its_end(edition):
    for name in edition.notebooks:
        article = edition.page(name).find("article")
        folds = article.select("details.sense7-code")
        assert folds, name
        for section in article.find_all("section"):
            assert len([part for part in section.find_all("details", recursive=False) if part in folds]) <= 1, name
        outside = article.select(".cell:not(.tag_by-hand) .cell_input:not(details.sense7-code .cell_input)")
        assert not outside, f"{name}: code outside of a fold"
        assert "import sense7" not in text(article), f"{name}: a set-up cell is shown"


def test_every_figure_says_what_it_shows_and_gives_its_data(edition):
    for name in edition.notebooks:
        page = edition.page(name)
        figures = page.select("figure.sense7-figure")
        # Where nothing can be drawn, a sentence stands in the figure's place.
        source = (ROOT / f"{name}.md").read_text("utf-8")
        drawn = source.count("s7.figures.") + source.count("{specifications}")
        drawn -= source.count("s7.figures.Download(") + source.count("s7.figures.specification_table(")
        assert len(figures) >= drawn or page.select(".cell_output p > em, .sense7-picture em"), f"{name} lacks a figure"
        for figure in figures:
            wide, *narrow = figure.select("[role=img]")
            assert len(wide["aria-label"]) > 20
            assert len(narrow) <= 1
            assert all("sense7-narrow" in drawing["class"] for drawing in narrow)
            caption = figure.find("figcaption")
            stated = r"\bn = [\d,]+|\bn\b.* as in the tables? above|^[\d,]+ (turns|conversations|participants|studies)"
            assert re.search(stated, caption.get_text()), f"{name}: a caption states n: {caption.get_text()}"
            (link,) = caption.find_all("a", download=True)
            assert link["download"].endswith(".csv")
            table = list(csv.reader(io.StringIO(base64.b64decode(link["href"].partition(",")[2]).decode())))
            assert len(table) >= 2
            assert len({len(row) for row in table}) == 1
        assert page.select("div.cell_output svg:not(figure svg)") == [], "a drawing outside a figure"
        for image in page.find_all("img"):
            assert image.get("alt", "").strip(), f"{name}: {image}"


def test_every_table_has_a_caption_and_head_cells(edition):
    for name in [*edition.notebooks, "book/ledger"]:
        tables = edition.page(name).find("article").find_all("table")
        # Where there is nothing to tabulate, a sentence stands in the table's place.
        assert tables or edition.page(name).select(".cell_output p > em"), f"{name} has no table"
        for table in tables:
            assert table.caption.get_text(strip=True), name
            head = table.thead.find_all("th")
            assert len(head) > 1
            for row in table.tbody.find_all("tr"):
                assert len(row.find_all(["td", "th"])) == len(head), name
    for name in edition.notebooks:
        for table in edition.page(name).find("article").select(".cell_output table"):
            assert {cell.get("scope") for cell in table.find_all("th")} == {"col", "row"}


def with_marks(value, tuned):
    """A value as a sentence shows it: with a word if it is of the simulated judge, and one if it was tuned."""
    marks = ["simulated judge"] * value["method"].startswith("simulated judge: ") + ["tuned"] * tuned
    return format_value(value) + (f" ({', '.join(marks)})" if marks else "")


def test_recorded_values_are_shown_as_they_were_recorded(edition):
    """Values woven into prose; an empty one would be read over."""
    woven = 0
    has_truth = (edition.folder / "data" / "truth.json").exists()
    planted = edition.json("data/truth.json")["planted"] if has_truth else []
    for name in edition.toc:
        source = ROOT / f"{name}.md"
        keys = re.findall(r"\{value\}`([^`]+)`", source.read_text("utf-8"))
        shown = [tag.get_text() for tag in edition.page(name).select(".sense7-value")]
        tuned = {row["computed"]["key"] for row in edition.json("ledger.json") if row["tuned"] and row["computed"]}
        tuned |= {entry["key"] for entry in planted if entry["tuned"]}
        tuned = set() if name == "book/index" else tuned  # it says in a sentence how many are
        expected = [with_marks(edition.values[key], key in tuned) for key in keys if key in edition.values]
        # Why a value is not available is said once on a page.
        expected = Counter(
            NOT_AVAILABLE if said.startswith(NOT_AVAILABLE) and said in expected[:place] else said
            for place, said in enumerate(expected)
        )
        assert all(text.strip() for text in shown)
        parts = sum(key not in edition.values for key in keys)
        if len(shown) == len(keys):
            assert sum((expected - Counter(shown)).values()) == 0, name
            assert sum((Counter(shown) - expected).values()) == parts, name
        else:  # sections without any result are left out
            assert edition.page(name).select(".cell_output p > em"), name
            assert sum((Counter(shown) - expected).values()) <= parts, name
        woven += len(shown)
        for other in (".sense7-edition", ".sense7-published"):
            assert all(tag.get_text().strip() for tag in edition.page(name).select(other)), name
    assert woven > 10


@pytest.mark.long
def test_what_a_workbook_lacks_is_said_on_the_page(ieval):
    ratings = words(ieval.page("notebooks/02-ratings"))
    assert ratings.count("not available") >= 6
    # Two dimensions and the overall rating were never asked: each in the tables of shares and of means.
    for rating in ("Cognitive", "Relational"):
        for caption in ("Applicability", "Very poor", "Mean level"):
            rows = [
                row.get_text()
                for table in ieval.page("notebooks/02-ratings").select(".cell_output table")
                if table.caption.get_text().startswith(caption)
                for row in table.find_all("tr")
                if row.find("th").get_text().startswith(rating)
            ]
            assert rows, (rating, caption)
            assert all("not available" in row for row in rows), (rating, caption)
    labels = " ".join(svg["aria-label"] for svg in ieval.page("notebooks/02-ratings").select("svg[role=img]"))
    assert re.search(r"Relational[^:]*: not available", labels)
    never = [
        table for table in ieval.page("notebooks/01-dataset").find_all("table") if "Never asked" in table.caption.text
    ]
    asked = never[0].get_text()
    for column in ("Cognitive", "Relational", "EmpathyOverall", "PreTaskImportance", "PreTaskDesiredEmpathy"):
        assert column in asked
    assert "not available" in words(ieval.page("book/index"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "known", "digits"),
    [("ground_truth_mean", 3.133, 3), ("ground_truth_sd", 1.106, 3), ("alpha_turn", 0.917, 3)],
)
def test_the_known_answers_of_the_real_ratings_are_met(ieval, key, known, digits):
    assert round(ieval.values[key]["estimate"], digits) == known


# Every page says how it was made: workbook, parameters, versions, commit.


def foot(edition, file):
    """What the foot of a page says, in its parts."""
    (found,) = edition.page(file).select("p.sense7-made")
    text = " ".join(found.get_text().split())
    return dict(
        re.findall(
            r"(Workbook|Released ratings|Parameters|Versions|Code): (.*?)(?=\. (?:Parameters|Versions|Code): |\.$)",
            text,
        )
    )


def test_every_page_says_how_it_was_made(edition):
    made = edition.facts["made"]
    assert {"index.html", "search.html", "genindex.html", "book/index.html", "book/explorer.html"} <= set(edition.files)
    for file in edition.files:
        said = foot(edition, file)
        name = file.removeprefix("notebooks/").removesuffix(".html")
        if tables := made["released"].get(name):
            # Not of the workbook: of released ratings, and of nothing else.
            named = (f"{RELEASED[table].file}, SHA-256 {RELEASED[table].sha256}" for table in tables)
            assert said["Released ratings"] == ", ".join(named), file
            assert "Workbook" not in said
        else:
            assert said["Workbook"] == f"{edition.facts['file']}, SHA-256 {edition.facts['sha256']}", file
        for name in ("sense7", "Python", *SHOWN_VERSIONS):
            assert re.search(rf"\b{name} \d+\.\d", said["Versions"]), f"{file}: {name}"
        if made["commit"]:
            assert said["Code"].startswith(f"commit {made['commit']}"), file
            assert ("not committed" in said["Code"]) is made["changed"], file
        else:
            assert said["Code"].startswith("commit not known"), file
        assert made["library"][:12] in said["Code"], file


def test_every_page_gives_the_parameters_that_made_it(edition):
    for file in edition.files:
        said = foot(edition, file)["Parameters"]
        name = file.removeprefix("notebooks/").removesuffix(".html")
        if name in edition.executed:
            given = edition.executed[name]["metadata"]["papermill"]["parameters"]
            for key, value in given.items():
                assert (f"{key} = {value!r}" in said) is (key != "results"), f"{file}: {key}"
        else:
            assert said == edition.facts["parameters"], file
