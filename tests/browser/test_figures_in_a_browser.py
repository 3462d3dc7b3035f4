"""Figures in a browser: every letter is seen, on a phone and on a wide screen; pictures are taken away."""

import base64
import re
import struct

import pytest
from playwright.sync_api import expect

PHONE, WIDE = {"width": 360, "height": 800}, {"width": 1280, "height": 900}
HEAVIEST = 1.5e6
SMALLEST = 9.5  # pixels

MEASURE = """figures => figures.map(figure => {
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


def notebooks(html):
    return [path.relative_to(html).as_posix() for path in sorted(html.glob("notebooks/*.html"))]


OPEN_ALL = """() => {
    document.querySelectorAll("article details").forEach(node => { node.open = true; });
    document.querySelectorAll("fieldset.sense7-switch > *").forEach(node => { node.style.display = "block"; });
}"""


@pytest.fixture(scope="module")
def measured_by_width(new_reader, html):
    """Every figure of the book, by width of the screen; a page is opened once, and measured wide and on a phone."""
    reader = new_reader()
    found = {PHONE["width"]: {}, WIDE["width"]: {}}
    for file in notebooks(html):
        page = reader.open(file)
        page.evaluate(OPEN_ALL)
        for size in (WIDE, PHONE) if page.viewport_size == WIDE else (PHONE, WIDE):
            page.set_viewport_size(size)
            figures = page.locator("article figure.sense7-figure:not(.sense7-specifications)").evaluate_all(MEASURE)
            found[size["width"]] |= {f"{file}: {figure.pop('name')}": figure for figure in figures}
    reader.context.close()
    return found


@pytest.fixture(params=[PHONE, WIDE], ids=["phone", "wide"])
def measured(request, measured_by_width):
    """Every figure of the book: where its letters are, and how large."""
    return measured_by_width[request.param["width"]]


def test_one_drawing_of_each_figure_is_shown_and_none_scrolls(measured):
    assert len(measured) > 30
    assert {name for name, figure in measured.items() if figure["shown"] != 1} == set()
    assert {name for name, figure in measured.items() if figure["scrolls"]} == set()


def test_no_letter_is_cut_off_or_covered(measured):
    assert {name: figure["outside"] for name, figure in measured.items() if figure["outside"]} == {}
    assert {name: figure["covered"] for name, figure in measured.items() if figure["covered"]} == {}


def test_letters_are_large_enough(measured):
    small = {name: figure["smallest"] for name, figure in measured.items() if figure["smallest"] < SMALLEST}
    assert small == {}


def test_a_page_with_its_figures_is_light(html):
    sizes = {file: (html / file).stat().st_size for file in notebooks(html)}
    assert {file: size for file, size in sizes.items() if size > HEAVIEST} == {}


def test_letters_of_a_figure_can_be_selected_and_found(reader):
    page = reader.open("notebooks/02-ratings.html")
    text = page.locator("figure.sense7-figure > svg:visible text", has_text=re.compile("^Prosocial$")).first
    text.dblclick()
    assert page.evaluate("getSelection().toString().trim()") == "Prosocial"
    assert page.evaluate("window.find('unknown or')")


# Taken away


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_comes_down_as_a_picture_of_itself(reader, tmp_path, theme):
    page = reader.open("notebooks/02-ratings.html")
    reader.use_theme(theme)
    caption = page.locator("figure.sense7-figure figcaption").first
    name = caption.locator("a[download]").get_attribute("download").removesuffix(".csv")
    for kind in ("SVG", "PNG"):
        button = caption.get_by_role("button", name=f"{kind} of the figure {name}")
        button.focus()
        with page.expect_download() as coming:
            page.keyboard.press("Enter")
        assert coming.value.suggested_filename == f"{name}.{kind.lower()}"
        coming.value.save_as(tmp_path / kind)
    drawn = (tmp_path / "SVG").read_text("utf-8")
    assert drawn.startswith("<svg ")
    assert "currentColor" not in drawn
    assert "Prosocial" in drawn
    width, height = (float(number) for number in re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', drawn).groups())
    content = (tmp_path / "PNG").read_bytes()
    assert content.startswith(b"\x89PNG")
    size = struct.unpack(">II", content[16:24])
    assert size == pytest.approx((2 * width / 0.75, 2 * height / 0.75), abs=3)  # at twice the size in pixels
    # Alone in a browser it is the same picture, of black letters; the PNG stands on white.
    page.goto((tmp_path / "SVG").rename(tmp_path / "alone.svg").as_uri())
    assert page.locator("text", has_text="Prosocial").evaluate("node => getComputedStyle(node).fill") == "rgb(0, 0, 0)"
    corner = """image => {
        const canvas = document.createElement("canvas"), paper = canvas.getContext("2d");
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        paper.drawImage(image, 0, 0);
        const bytes = paper.getImageData(0, 0, canvas.width, canvas.height).data;
        return [[...bytes.slice(0, 4)], new Set(new Uint32Array(bytes.buffer)).size];
    }"""
    page.goto("about:blank")
    page.set_content(f"<img src='data:image/png;base64,{base64.b64encode(content).decode()}'>")
    first, colors = page.locator("img").evaluate(corner)
    assert first == [255, 255, 255, 255]
    assert colors > 5


def test_without_a_script_nothing_dead_stands_below_a_figure(browser, html):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{html.as_uri()}/notebooks/02-ratings.html")
    caption = page.locator("figure.sense7-figure figcaption").first
    expect(caption.get_by_role("link", name="Data (CSV)")).to_be_visible()
    assert caption.get_by_role("button").count() == 0
    page.context.close()
