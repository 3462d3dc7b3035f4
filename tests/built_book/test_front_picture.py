"""The front page shows one picture, and it is the edition's own."""


def test_the_picture_on_the_front_page_is_that_of_the_edition(edition):
    (picture,) = edition.page("book/index").select(".sense7-picture")
    shown = picture.select_one("figure.sense7-figure") or picture.select_one("em")
    notebook = edition.page("notebooks/02-ratings").get_text()
    words = shown.figcaption.get_text() if shown.name == "figure" else shown.get_text()
    assert words.strip()
    assert words in notebook
    assert shown.name == "em" or len(shown.svg["aria-label"]) > 20
