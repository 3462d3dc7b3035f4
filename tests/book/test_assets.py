"""Pages share one style sheet, which has the rules that pages use."""

from sense7.book import assets

STYLES = {
    "styles/pydata-sphinx-theme.css": "/*! A license. */\n.used{top:0} .unused{top:0} .of-script{top:1px}",
    "basic.css": "p { background: url(b.png) }",
    "own.css": "/* why */ @media print { .unused { top: 0 } p { top: 2px } }",
    "used.js": 'node.className = "of-script";',
}


def test_styles_are_those_that_pages_and_scripts_use_with_their_license(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "_icon_font", lambda *_: "")
    for name, content in STYLES.items():
        path = tmp_path / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    (tmp_path / "index.html").write_text('<body class="used"></body>', "utf-8")
    assets.write_styles(tmp_path, ["own.css"])
    style = (tmp_path / "_static" / "book.css").read_text("utf-8")
    places = [style.find(part) for part in ("A license.", "b.png", ".used", ".of-script", "2px")]
    assert places == sorted(places)
    assert places[0] >= 0
    assert "unused" not in style
    assert "why" not in style
    assert style.count("{") == style.count("}")
