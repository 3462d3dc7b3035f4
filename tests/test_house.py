"""The picture of the packages in CONTRIBUTING is that of the code; ``python scripts/house.py`` draws it again."""

from scripts import house


def test_the_picture_is_that_of_the_code():
    assert house.parts()[1] == house.picture(), "the packages import otherwise: run `make derived`"
