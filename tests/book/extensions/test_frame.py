"""What stands around the content of a page."""

KEYWORDS = "notebooks/03: [how sure, confidence interval]\n"


def test_words_that_only_the_search_needs_leave_nothing_in_the_head_of_a_page(page):
    files = {"book/keywords.yml": KEYWORDS}
    html, warnings = page("# Page\n\nText.\n", ["frame"], files=files)
    assert warnings == ""
    names = [element.get("name") for element in html.head.find_all("meta")]
    assert "keywords" not in names
    texts = html.head.find_all(string=True, recursive=False)
    assert "".join(texts).strip() == ""
