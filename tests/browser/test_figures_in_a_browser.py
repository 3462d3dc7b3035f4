"""Figures of a page are taken away as pictures of themselves; without scripts nothing dead stands below them."""

import base64
import re
import struct

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("theme", ["dark", pytest.param("light", marks=pytest.mark.long)])
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
