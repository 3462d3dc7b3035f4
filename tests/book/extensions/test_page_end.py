"""The end of a page: the next page of each reading path, how to run it again, and every value that it recorded."""

import shlex

import yaml

PATHS = [{"name": "short", "title": "The short path", "pages": ["index", "notebooks/03", "notebooks/04"]}]
FILES = {
    "book/paths.yml": yaml.safe_dump(PATHS),
    "notebooks/04.md": "# Four <b>\n",
    "index.md": "# Front\n\n```{reading-paths}\n```\n\n```{toctree}\nnotebooks/03\nnotebooks/04\n```\n",
}
PAGE = "# Page\n\nText.\n"


def test_a_page_on_a_path_names_the_next_page(page):
    html, warnings = page(PAGE, ["page_end"], files=FILES)
    assert warnings == ""
    (line,) = html.select(".sense7-paths p")
    assert line.get_text() == "The short path, page 2 of 3: next Four <b>"
    assert line.a["href"] == "04.html?path=short"


def test_a_page_on_no_path_names_none(page):
    html, _ = page(PAGE, ["page_end"])
    assert html.select(".sense7-paths") == []


def test_every_recorded_value_stands_at_the_end(page, recorded):
    values = [recorded(), recorded("beta", None, None, None, reason="never asked"), recorded("other", notebook="04")]
    html, warnings = page(PAGE, ["page_end"], values=values)
    assert warnings == ""
    rows = [
        [cell.get_text(strip=True) for cell in row.find_all("td")] for row in html.select(".sense7-values tbody tr")
    ]
    assert rows[0] == ["alpha", "0.800 [0.700, 0.850]", "1,234", "method of <alpha>"]
    assert rows[1][0] == "beta"
    assert "never asked" in rows[1][1]
    assert len(rows) == 2, "another page's values stand there"


def test_the_command_that_runs_the_page_again(page, recorded):
    html, _ = page(PAGE, ["page_end"], values=[recorded()])
    assert html.select_one(".sense7-rerun").get_text().strip() == ".venv/bin/sense7 run 03 -p data=synthetic"


def test_the_command_quotes_the_name_of_a_file(page, recorded):
    html, warnings = page(PAGE, ["page_end"], values=[recorded()], kind="own", file="it's <b>; rm -rf.xlsx")
    assert warnings == ""
    said = html.select_one(".sense7-rerun").get_text().strip()
    assert shlex.split(said)[-1] == "data=it's <b>; rm -rf.xlsx"
