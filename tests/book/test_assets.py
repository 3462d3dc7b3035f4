"""Pages share one style sheet, which has the rules that pages use."""

import pytest

from sense7.book.assets import share_assets

HEAD = """<html><head>
<link rel="stylesheet" href="{root}_static/styles/theme.css?v=1" />
<link rel="stylesheet" type="text/css" href="{root}_static/own.css" />
<script src="{root}_static/first.js?v=2"></script>
<script defer src="{root}_static/second.js"></script>
<script defer src="{root}_static/large.js"></script>
<script defer src="{root}_static/last.js"></script>
<script defer data-edition="x" src="{root}_static/editions.js"></script>{more}
</head><body class="used"></body></html>"""


@pytest.fixture
def html(tmp_path):
    static = tmp_path / "_static"
    (static / "styles").mkdir(parents=True)
    (static / "styles" / "theme.css").write_text(
        '/*! A license. */ @import "../basic.css";\n'
        '.used{background:url("../a.png")} .unused{top:0} .of-script{top:1px}',
        "utf-8",
    )
    (static / "basic.css").write_text("p { background: url(b.png) }", "utf-8")
    (static / "own.css").write_text("/* why */ @media print { .unused { top: 0 } p { top: 2px } }")
    (static / "first.js").write_text("const first = 1;", "utf-8")
    (static / "second.js").write_text('node.className = "of-script";', "utf-8")
    (static / "large.js").write_text(f"const large = '{'x' * 60_000}';", "utf-8")
    (static / "last.js").write_text("const last = 3;", "utf-8")
    (static / "editions.js").write_text("const { edition } = document.currentScript.dataset;")
    (tmp_path / "book").mkdir()
    (tmp_path / "index.html").write_text(HEAD.format(root="", more=""), "utf-8")
    more = '\n<script src="../_static/alone.js"></script>'
    (tmp_path / "book" / "page.html").write_text(HEAD.format(root="../", more=more), "utf-8")
    share_assets(tmp_path)
    return tmp_path


def test_a_page_loads_one_style_sheet(html):
    page = (html / "book" / "page.html").read_text("utf-8")
    assert page.count("<link") == 1
    assert '<link rel="stylesheet" href="../_static/book.css?v=' in page
    assert page.count("<script") == 6
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
