"""Pages share one style sheet, which has the rules that pages use."""

import pytest

from sense7.book.assets import share_assets

HEAD = """<html><head>
<link rel="stylesheet" href="{root}_static/styles/theme.css?v=1" />
<link rel="stylesheet" type="text/css" href="{root}_static/own.css" />
<script defer src="{root}_static/used.js"></script>
</head><body class="used"></body></html>"""
STYLES = {
    "styles/theme.css": '/*! A license. */ @import "../basic.css";\n.used{background:url("../a.png")} '
    ".unused{top:0} .of-script{top:1px}",
    "basic.css": "p { background: url(b.png) }",
    "own.css": "/* why */ @media print { .unused { top: 0 } p { top: 2px } }",
    "used.js": 'node.className = "of-script";',
}


@pytest.fixture
def html(tmp_path):
    for name, content in STYLES.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    (tmp_path / "book").mkdir()
    (tmp_path / "index.html").write_text(HEAD.format(root=""), "utf-8")
    (tmp_path / "book" / "page.html").write_text(HEAD.format(root="../"), "utf-8")
    share_assets(tmp_path)
    return tmp_path


def test_a_page_loads_one_style_sheet(html):
    page = (html / "book" / "page.html").read_text("utf-8")
    assert page.count("<link") == 1
    assert '<link rel="stylesheet" href="../_static/book.css?v=' in page
    assert 'href="_static/book.css?v=' in (html / "index.html").read_text("utf-8")


def test_styles_are_those_that_pages_and_scripts_use_with_their_license(html):
    style = (html / "_static" / "book.css").read_text("utf-8")
    assert "A license." in style
    assert 'url("a.png")' in style
    assert ".of-script" in style
    assert "p { top: 2px }" in style
    assert "unused" not in style
    assert "why" not in style
    assert style.count("{") == style.count("}")
