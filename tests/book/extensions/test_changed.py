"""Which pages are read again: by what they are made from, regardless of what the times of files and clocks say."""

import os

import pytest
from sphinx.testing.util import SphinxTestApp

EXTENSION = "sense7.book.extensions.changed"


@pytest.fixture
def build(tmp_path):
    (tmp_path / "conf.py").touch()
    (tmp_path / "shown.txt").write_text("seven")
    (tmp_path / "index.rst").write_text("Front\n=====\n\n.. toctree::\n\n   one\n   two\n")
    (tmp_path / "one.rst").write_text("One\n===\n\nthe first\n")
    (tmp_path / "two.rst").write_text("Two\n===\n\n.. include:: shown.txt\n")

    def build():
        read = []
        settings = {"extensions": [EXTENSION]}
        app = SphinxTestApp(
            "html", srcdir=tmp_path, builddir=tmp_path / "out", confoverrides=settings
        )
        try:
            app.connect("source-read", lambda app, page, source: read.append(page))
            app.build()
        finally:
            app.cleanup()
        return sorted(read)

    return build


@pytest.mark.parametrize("time", [1, 946684800, 4102444800])
def test_an_edit_reaches_its_page_and_no_other_whatever_time_the_file_has(build, tmp_path, time):
    assert build() == ["index", "one", "two"]
    for path in tmp_path.glob("*.*"):
        os.utime(path, (1, 1))
    assert build() == []
    edited = tmp_path / "one.rst"
    edited.write_text("One\n===\n\nthe 1st\n")
    os.utime(edited, (time, time))
    assert build() == ["one"]
    assert "the 1st" in (tmp_path / "out" / "html" / "one.html").read_text("utf-8")


def test_an_edit_of_what_a_page_shows_reaches_it(build, tmp_path):
    build()
    for path in tmp_path.glob("*.*"):
        os.utime(path, (1, 1))
    (tmp_path / "shown.txt").write_text("eight")
    os.utime(tmp_path / "shown.txt", (1, 1))
    assert build() == ["two"]
    assert "eight" in (tmp_path / "out" / "html" / "two.html").read_text("utf-8")
