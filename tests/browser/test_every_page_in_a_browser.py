"""Every page, opened from disk in a browser: light and dark, wide and on a phone; every letter of its figures is seen.

Every page is compared with the rules of axe: of its rows and entries of one make, the first. Of texts of one coloring,
the first on any page is measured, in both themes. The first page of each of some kinds is looked at with all that
stands around its text, and shown on a phone. All of all pages, with ``--long``.
"""

import re
from collections import defaultdict

import pytest
from axe_playwright_python.base import AXE_SCRIPT

FRONT = "book/index.html"
KINDS = (FRONT, "book/ledger.html", "book/explorer.html", "book/api", "notebooks/0[1-9]")
"""One page of each kind of content: claims, a table of all, a program, a reference, and a finding."""

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SMALLEST = 9.5
"""Pixels of a letter."""

THEME_SAYS = {
    "Got invalid theme mode: . Resetting to auto."
}  # no choice of light or dark is stored yet
# Without preloading: axe would ask for the style sheets again, which is refused from disk. In dark only colors differ.
AXE = {"resultTypes": ["violations"], "preload": False}
AXE_OPTIONS = {"light": AXE, "dark": AXE | {"runOnly": ["color-contrast", "link-in-text-block"]}}
TEXT = "article, main:not(:has(article))"
"""The search has no article."""

MARKUP_OF_SPHINX = (
    ("book/api", "definition-list"),  # autodoc writes what belongs to a name as lists without pairs
    (
        "book/cite",
        "aria-required-children",
    ),  # docutils gives its list of citations a role without its items
)

CONTENT = """() => {
    const all = selector => [...document.querySelectorAll(selector)];
    const folds = all("article details"), open = folds.map(node => node.open);
    // What is folded is part of the page: from here on it is open, and all that a switch can show is shown.
    folds.forEach(node => { node.open = true; });
    all("fieldset.sense7-switch > *").forEach(node => { node.style.display = "block"; });
    return {folds: open};
}"""
# Side bars slide in and out: it is their place in the end that counts.
WIDER_THAN_THE_SCREEN = """() => {
    document.getAnimations().forEach(animation => animation.finish());
    const root = document.scrollingElement;
    return root.scrollWidth > window.innerWidth ? `${root.scrollWidth} on ${window.innerWidth} px` : null;
}"""

FIGURES = "article figure.sense7-figure:not(.sense7-specifications)"
MEASURE = """figures => [...document.querySelectorAll(figures)].map(figure => {
    const shown = [...figure.querySelectorAll(":scope > svg")].filter(svg => svg.checkVisibility());
    const [svg] = shown, box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map(text => [text, text.getBoundingClientRect()]);
    const outside = ([, b]) => b.left < box.left - 1 || b.right > box.right + 1
        || b.top < box.top - 1 || b.bottom > box.bottom + 1;
    // Boxes of slanted texts are larger than what is drawn.
    const straight = texts.filter(([text]) => !/rotate\\(-(?!90)/.test(text.getAttribute("transform") ?? ""));
    const covers = ([, a], [, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
    return {
        name: figure.querySelector("a[download]").download,
        shown: shown.length,
        scrolls: figure.scrollWidth > figure.clientWidth + 1,
        smallest: Math.min(...texts.map(([text]) => parseFloat(getComputedStyle(text).fontSize) * scale)),
        outside: texts.filter(outside).map(([text]) => text.textContent),
        covered: straight.flatMap((a, n) => straight.slice(n + 1).filter(b => covers(a, b))
            .map(([b]) => `${a[0].textContent} | ${b.textContent}`)),
    };
})"""

WITHOUT_WHAT_TAKES_MINUTES = """() => {
    // To a screen reader a drawing is one picture; axe would look at its thousands of strokes.
    document.querySelectorAll("figure svg").forEach(node => node.replaceChildren());
    // The reference has thousands of entries of one make: one in ten is looked at.
    for (const entries of ["article dl.py dl.py", "article dl.py"]) {
        document.querySelectorAll(entries).forEach((node, number) => { if (number % 10) node.remove(); });
    }
}"""
WITHOUT_MORE_OF_A_MAKE = """alike => {
    // What axe goes by: elements, classes, styles, and whether there is a text or a name, not which.
    const make = node => node.outerHTML
        .replace(/>[^<]*[^<\\s][^<]*</g, ">text<")
        .replace(/ (id|href|title|name|aria-label|data-[\\w-]+)="[^"]+"/g, " $1");
    for (const list of document.querySelectorAll("tbody, pre, ul, ol, article p, article section")) {
        const seen = {};
        for (const node of [...list.children]) {
            seen[make(node)] = (seen[make(node)] ?? 0) + 1;
            if (seen[make(node)] > alike) node.remove();
        }
    }
}"""
ALIKE = 2
"""How many of one make stay: even and odd ones may look different."""

MARK_NEW_COLORINGS = """([part, measured]) => {
    // Contrast is that of a text to what lies under it: it is measured where both are seen for the first time.
    const looks = new Map(), grounds = new Map(), seen = new Set(measured);
    for (const node of document.querySelectorAll("body, body *")) {
        const style = getComputedStyle(node), parent = node.parentElement, isLink = node.localName === "a";
        const writes = [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
        looks.set(node, [style.color, style.fontSize, style.fontWeight, style.textDecorationLine, style.textShadow,
            style.borderBottomWidth, writes].join());
        const ground = [style.backgroundColor, style.backgroundImage, style.opacity, style.position, style.filter];
        const lets_through = ground.join() === "rgba(0, 0, 0, 0),none,1,static,none";
        grounds.set(node, (grounds.get(parent) ?? "") + (lets_through ? "" : ` > ${ground}`));
        const coloring = [looks.get(node), isLink && looks.get(parent), grounds.get(node)].join(" | ");
        const isFirst = (writes || node.matches("input, select, textarea")) && node.checkVisibility()
            && node.closest(part) !== null && !seen.has(coloring);
        node.toggleAttribute("data-new-coloring", isFirst);
        if (isFirst) seen.add(coloring);
    }
    axe.configure({rules: [
        {id: "color-contrast", selector: "[data-new-coloring]"},
        {id: "link-in-text-block", selector: "a[href][data-new-coloring]"},
    ]});
    return [...seen];
}"""

RUN_AXE = """async ([part, options]) => {
    for (const rule of axe._audit.rules) rule.enabled &&= ["serious", "critical"].includes(rule.impact);
    return (await axe.run({include: [[part]]}, options)).violations;
}"""
"""With the rules alone whose faults shut out a reader; what they are is in no public part of axe."""


WHAT_SCROLLS_HAS_THE_KEYBOARD = """width => window.innerWidth === width && [...document.querySelectorAll(
    "pre, .cell_output > .output, .pst-scrollable-table-container")].every(node => node.tabIndex === 0
        || (node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight))"""
"""The theme gives it 300 ms after the page has another width or other elements."""


def look_at(reader, file, closely, everything, measured):
    """What is seen of a page, on both screens; what axe finds, by theme, and adds to the ``measured`` colorings."""
    page = reader.open(file)
    seen = page.evaluate(CONTENT) | {"faults": {}, "too wide": {}, "figures": {}}
    has_figures = page.evaluate("figures => document.querySelector(figures) !== null", FIGURES)
    for size in (WIDE, PHONE) if closely or has_figures else (WIDE,):
        page.set_viewport_size(size)
        seen["too wide"][size["width"]] = page.evaluate(WIDER_THAN_THE_SCREEN)
        seen["figures"][size["width"]] = page.evaluate(MEASURE, FIGURES)
    page.evaluate(WITHOUT_WHAT_TAKES_MINUTES)
    page.set_viewport_size(WIDE)
    if not everything:
        page.evaluate(WITHOUT_MORE_OF_A_MAKE, ALIKE)
    page.wait_for_function(WHAT_SCROLLS_HAS_THE_KEYBOARD, arg=WIDE["width"])
    page.evaluate(AXE_SCRIPT)
    part = "html" if closely else TEXT
    for theme in sorted(AXE_OPTIONS, key=lambda theme: theme != reader.theme):
        reader.use_theme(theme)
        known = measured[theme]
        if not everything:
            measured[theme] = page.evaluate(MARK_NEW_COLORINGS, [part, known])
        if everything or theme == "light" or len(measured[theme]) > len(known):
            seen["faults"][theme] = page.evaluate(RUN_AXE, [part, AXE_OPTIONS[theme]])
    return seen | {"complaints": [text for text in reader.complaints if text not in THEME_SAYS]}


@pytest.fixture(scope="module", params=[0, 1], ids=["first half", "second half"])
def visits(new_reader, html, request):
    """Path of every second page -> what one reader saw of it: two processes look at half of them each.

    The page at the top only leads on, and is left out.
    """
    reader = new_reader()
    files = sorted(
        path.relative_to(html).as_posix()
        for path in html.rglob("*.html")
        if "_static" not in path.parts
    )
    files.remove("index.html")
    assert {FRONT, "book/ledger.html", "notebooks/00-taxonomy.html", "search.html"} < set(files)
    assert len(files) > 25
    everything = request.config.getoption("--long")
    closely = (
        files
        if everything
        else {next(file for file in files if re.match(kind, file)) for kind in KINDS}
    )
    found, measured = {}, {theme: [] for theme in AXE_OPTIONS}
    for file in files[request.param :: 2]:
        reader.complaints.clear()
        found[file] = look_at(reader, file, file in closely, everything, measured)
    reader.context.close()
    assert reader.outside == [], "another host was asked"
    return found


def figures(visits):
    """Every figure on every screen: its name -> where its letters are, and how large."""
    found = defaultdict(dict)
    for file, visit in visits.items():
        for width, drawn in visit["figures"].items():
            for figure in drawn:
                found[f"{file}: {figure['name']}"][width] = figure
    return found


def test_the_browser_complains_of_nothing(visits):
    assert {
        file: visit["complaints"] for file, visit in visits.items() if visit["complaints"]
    } == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_shuts_out_a_reader(visits, theme):
    """No fault that axe calls serious or critical: contrast, names, roles, order, keyboard."""
    found = {
        f"{file}: {fault['id']} at {' '.join(map(str, node['target']))}": fault["help"]
        for file, visit in visits.items()
        for fault in visit["faults"].get(theme, ())
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
        if not any(file.startswith(page) and fault["id"] == rule for page, rule in MARKUP_OF_SPHINX)
    }
    looked_at = [file for file, visit in visits.items() if theme in visit["faults"]]
    assert len(looked_at) == len(visits) or (theme == "dark" and len(looked_at) > 5)
    assert found == {}


def test_no_page_is_wider_than_the_screen(visits):
    """Wide tables, figures and code scroll in their own place, not the page with them; open code included."""
    assert sum(PHONE["width"] in visit["too wide"] for visit in visits.values()) > 6
    assert {
        file: visit["too wide"] for file, visit in visits.items() if any(visit["too wide"].values())
    } == {}


@pytest.mark.parametrize(
    ("is_wrong", "why"),
    [
        (lambda figure: figure["shown"] != 1, "one drawing is shown"),
        (lambda figure: figure["scrolls"], "it fits its place"),
        (lambda figure: figure["outside"], "no letter is cut off"),
        (lambda figure: figure["covered"], "no letter is covered"),
        (lambda figure: figure["smallest"] < SMALLEST, "letters are large enough"),
    ],
)
def test_every_letter_of_a_figure_is_seen(visits, is_wrong, why):
    found = figures(visits)
    assert len(found) > 12
    assert {name: one for name, one in found.items() if any(map(is_wrong, one.values()))} == {}, why


def test_code_of_every_finding_is_folded(visits):
    folds = {
        file: visit["folds"] for file, visit in visits.items() if re.match(r"notebooks/\d", file)
    }
    assert [file for file, open_ones in folds.items() if not open_ones or any(open_ones)] == []
