"""Every page, opened from disk in a browser: light and dark, wide and on a phone.

The first page of each of six kinds is compared with the rules of axe, and shown on a phone; of its rows, entries and
pieces of code of one make, and of words drawn alike on these pages, the first. All of all pages, with ``--long``.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT

FRONT = "book/index.html"
KINDS = (FRONT, "book/ledger.html", "book/explorer.html", "book/collect.html", "book/api", "notebooks/0[1-9]")
"""One page of each kind of content: claims, a table of all, two programs, a reference, and a finding."""

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# What the theme itself does; a reader loses nothing by it.
THEME_SAYS = {
    "Got invalid theme mode: . Resetting to auto.": "on the first visit no choice of light or dark is stored yet",
}
THEME_FAULTS: dict[tuple[str, str], str] = {}
"""Rule of axe and end of a selector -> why the fault is left."""

# Without preloading: axe would ask for the style sheets again, which is refused from disk. In dark only colors differ.
AXE = {"resultTypes": ["violations"], "preload": False}
AXE_OPTIONS = {"light": AXE, "dark": AXE | {"runOnly": ["color-contrast", "link-in-text-block"]}}
SIDE_BAR = ".bd-sidebar-primary"
"""The list of pages, which stands on every one of them: it is looked at on the front page."""

CONTENT = """() => {
    const all = selector => [...document.querySelectorAll(selector)];
    const folds = all("article details"), open = folds.map(node => node.open);
    // Folded code is part of the page: from here on it is open.
    folds.forEach(node => { node.open = true; });
    return {
        folds: open,
        links: all("a[href]").map(node => new URL(node.getAttribute("href"), document.baseURI).href),
        anchors: all("[id], [name]").flatMap(node => [node.id, node.getAttribute("name")]).filter(name => name),
        pictures: all("article :is(img, [role=img])")
            .map(node => node.getAttribute("alt") ?? node.getAttribute("aria-label")),
    };
}"""
# Side bars slide in and out: it is their place in the end that counts.
WIDER_THAN_THE_SCREEN = """() => {
    document.getAnimations().forEach(animation => animation.finish());
    const root = document.scrollingElement;
    return root.scrollWidth > window.innerWidth ? `${root.scrollWidth} on ${window.innerWidth} px` : null;
}"""


WITHOUT_WHAT_TAKES_MINUTES = """() => {
    // To a screen reader a drawing is one picture; axe would look at its thousands of strokes.
    document.querySelectorAll("figure svg").forEach(node => node.replaceChildren());
    // The reference has thousands of entries of one make: one in ten is looked at.
    for (const entries of ["article dl.py dl.py", "article dl.py"]) {
        document.querySelectorAll(entries).forEach((node, number) => { if (number % 10) node.remove(); });
    }
}"""

ALIKE = 4
"""How many of one make stay: even and odd ones may look different."""

WITHOUT_MORE_OF_A_MAKE = """alike => {
    // What axe goes by: elements, classes, styles, and whether there is a text or a name, not which.
    const make = node => node.outerHTML
        .replace(/>[^<]*[^<\\s][^<]*</g, ">text<")
        .replace(/ (id|href|title|name|aria-label|data-[\\w-]+)="[^"]+"/g, " $1");
    for (const list of document.querySelectorAll("tbody, pre, ul, ol")) {
        const seen = {};
        for (const node of [...list.children]) {
            seen[make(node)] = (seen[make(node)] ?? 0) + 1;
            if (seen[make(node)] > alike) node.remove();
        }
    }
}"""

MARK_WORDS = """([alike, seen, leftOut]) => {
    // Contrast depends on these: color and size of the letters, what lies beneath and above them, and around a link.
    const beneath = new Map([[null, ""]]);
    const ground = node => {
        if (!beneath.has(node)) {
            const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(node);
            const own = [backgroundColor, backgroundImage, opacity, position].filter(each => !PLAIN.includes(each));
            beneath.set(node, [...own, ground(node.parentElement)].join());
        }
        return beneath.get(node);
    };
    for (const node of document.body.querySelectorAll("*")) {
        node.removeAttribute("data-compared");
        const worded = [...node.childNodes].some(each => each.nodeType === Node.TEXT_NODE && each.data.trim());
        if (!worded || !node.checkVisibility() || (leftOut && node.closest(leftOut))) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
        const link = node.closest("a") ?? node;
        const { textDecorationLine, borderBottomStyle } = getComputedStyle(link);
        const around = [textDecorationLine, borderBottomStyle, getComputedStyle(link.parentElement).color];
        const drawn = [node.localName, color, fontSize, fontWeight, textShadow, ...around, ground(node)];
        seen[drawn] = (seen[drawn] ?? 0) + 1;
        if (seen[drawn] <= alike) node.setAttribute("data-compared", "");
    }
    return seen;
}""".replace("PLAIN", '["rgba(0, 0, 0, 0)", "none", "1", "static"]')

MARKED_WORDS = """() => axe.configure({rules: [
    {id: "color-contrast", selector: "[data-compared]"},
    {id: "link-in-text-block", selector: "a[href][data-compared]"},
]})"""
"""Contrast, for which axe takes most of its time, is compared for the marked words alone."""

RUN_AXE = """async ([leftOut, options]) => {
    const context = leftOut ? { exclude: [[leftOut]] } : document;
    for (const rule of axe._audit.rules) rule.enabled &&= ["serious", "critical"].includes(rule.impact);
    return (await axe.run(context, options)).violations;
}"""
"""With the rules alone whose faults shut out a reader; what they are is in no public part of axe."""


@dataclass
class Visit:
    """What was seen of one page."""

    complaints: list[str]
    faults: dict[str, list[dict]]
    too_wide: dict[int, str | None]
    links: list[str]
    anchors: list[str]
    folds: list[bool]
    pictures: list[str | None]


def look_at(reader, file, seen, closely):
    page = reader.open(file)
    content = page.evaluate(CONTENT)
    too_wide, faults = {WIDE["width"]: page.evaluate(WIDER_THAN_THE_SCREEN)}, {}
    if closely:
        page.set_viewport_size(PHONE)
        too_wide[PHONE["width"]] = page.evaluate(WIDER_THAN_THE_SCREEN)
        page.evaluate(WITHOUT_WHAT_TAKES_MINUTES)
        if seen is not None:
            page.evaluate(WITHOUT_MORE_OF_A_MAKE, ALIKE)
        page.set_viewport_size(WIDE)
        for theme in sorted(AXE_OPTIONS, key=lambda theme: theme != reader.theme):
            reader.use_theme(theme)
            faults[theme] = faults_of(page, theme, seen, left_out=None if file == FRONT else SIDE_BAR)
    return Visit(list(reader.complaints), faults, too_wide, **content)


def first_of_each_kind(files):
    return {next(file for file in files if re.match(kind, file)) for kind in KINDS}


def faults_of(page, theme, seen, left_out=None):
    """What axe finds; of words drawn alike only in the first, where ``seen`` counts them in each theme."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    if seen is not None:
        seen[theme] = page.evaluate(MARK_WORDS, [ALIKE, seen[theme], left_out])
        page.evaluate(MARKED_WORDS)
    return page.evaluate(RUN_AXE, [left_out, AXE_OPTIONS[theme]])


@pytest.fixture(scope="module")
def tour(new_reader, html, request):
    """One reader goes through the whole book; the page at its top only leads on, and is looked at by itself."""
    reader = new_reader()
    files = sorted(path.relative_to(html).as_posix() for path in html.rglob("*.html") if "_static" not in path.parts)
    files.remove("index.html")
    everything = request.config.getoption("--long")
    seen = None if everything else {theme: {} for theme in AXE_OPTIONS}
    closely = files if everything else first_of_each_kind(files)
    visits = {}
    for file in sorted(files, key=lambda file: file != FRONT):
        reader.complaints.clear()
        visits[file] = look_at(reader, file, seen, file in closely)
    reader.context.close()
    return visits, reader.outside


@pytest.fixture(scope="module")
def visits(tour):
    """Path of a page -> what was seen of it."""
    return tour[0]


def test_the_whole_book_is_looked_at(visits):
    assert {"book/index.html", "book/ledger.html", "notebooks/00-taxonomy.html", "search.html"} < set(visits)
    assert len(visits) > 25


def test_nothing_is_asked_of_another_host(tour):
    assert tour[1] == []


def test_the_browser_has_nothing_to_complain_of(visits):
    assert {
        file: unexpected
        for file, visit in visits.items()
        if (unexpected := [text for text in visit.complaints if text not in THEME_SAYS])
    } == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_shuts_out_a_reader(visits, theme):
    """No fault that axe calls serious or critical: contrast, names, roles, order, keyboard."""
    found = {
        f"{file}: {fault['id']} at {where}": fault["help"]
        for file, visit in visits.items()
        for fault in visit.faults.get(theme, ())
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
        if not is_of_the_theme(fault["id"], where := " ".join(map(str, node["target"])))
        and not any(file.startswith(page) and fault["id"] == rule for page, rule in MARKUP_OF_SPHINX)
    }
    assert sum(theme in visit.faults for visit in visits.values()) >= len(KINDS)
    assert found == {}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("style", ["color: #aaa", "opacity: .4", "background: #666"])
def test_one_faint_word_among_many_is_found(page, style, whole):
    """On the first page that has one, though words drawn like the others were compared on pages before it."""
    seen = None if whole else {"dark": {}}
    found = []
    for faint in ("", style):
        words = [f"<p><b>word {number}</b></p>" for number in range(20)]
        words[13] = f"<p><b id=faint style='{faint}'>word</b></p>"
        page.set_content(f"<html lang=en><title>Words</title><main><h1>Words</h1>{''.join(words)}</main>")
        faults = faults_of(page, "dark", seen)
        found.append([node["target"] for fault in faults if fault["id"] == "color-contrast" for node in fault["nodes"]])
    assert found == [[], [["#faint"]]]


@pytest.mark.parametrize("whole", [True, False])
def test_one_link_that_looks_like_the_text_around_it_is_found(page, whole):
    seen = None if whole else {"dark": {}}
    found = []
    for style in ("", "color: #333; text-decoration: none"):
        text = "Read on <a href=#a>here</a>, " * 9 + f"and <a href=#b id=hidden style='{style}'>there</a>."
        page.set_content(f"<html lang=en><title>Links</title><main><h1>Links</h1><p>{text}</p></main>")
        faults = faults_of(page, "dark", seen)
        found.append([node["target"] for fault in faults for node in fault["nodes"]])
    assert found == [[], [["#hidden"]]]


MARKUP_OF_SPHINX = (
    ("book/api", "definition-list"),  # autodoc writes what belongs to a name as lists without pairs
    ("book/cite", "aria-required-children"),  # docutils gives its list of citations a role without its items
)


def is_of_the_theme(rule, selector):
    return any(rule == known and selector.endswith(end) for known, end in THEME_FAULTS)


@pytest.mark.parametrize("width", [PHONE["width"], WIDE["width"]])
def test_no_page_is_wider_than_the_screen(visits, width):
    """Wide tables, figures and code scroll in their own place, not the page with them; open code included."""
    measured = {file: visit.too_wide[width] for file, visit in visits.items() if width in visit.too_wide}
    assert len(measured) >= len(KINDS)
    assert {file: wide for file, wide in measured.items() if wide} == {}


def test_every_picture_is_described(visits):
    assert sum(len(visit.pictures) for visit in visits.values()) > 40
    assert [file for file, visit in visits.items() if not all(text and text.strip() for text in visit.pictures)] == []


def test_code_of_every_finding_is_folded(visits):
    findings = {file: visit.folds for file, visit in visits.items() if re.match(r"notebooks/\d", file)}
    assert [file for file, folds in findings.items() if not folds or any(folds)] == []


def test_every_link_leads_to_a_place_that_is_there(visits, html):
    """As the browser sees the page, thus with what scripts add."""
    broken = []
    for file, visit in visits.items():
        for link in visit.links:
            address, anchor = urldefrag(link)
            if not address.startswith("file:"):
                assert re.match(r"(?i)https://|data:text/csv;base64,", address), f"{file}: {address}"
                continue
            place = Path(unquote(urlsplit(address).path))
            known = visits.get(place.relative_to(html).as_posix()) if place.is_relative_to(html) else None
            # An address such as #condition=..&page=2 is a state of the explorer, no place on its page.
            if not place.is_file() or (anchor and known and "=" not in anchor and unquote(anchor) not in known.anchors):
                broken.append((file, link))
    assert broken == []
