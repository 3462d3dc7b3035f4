"""Every page says how it was made: workbook, parameters, versions, commit."""

import re

from sense7.book.plan import SHOWN_VERSIONS
from sense7.sources.released import RELEASED


def foot(edition, file):
    """What the foot of a page says, in its parts."""
    (found,) = edition.page(file).select("p.sense7-made")
    text = " ".join(found.get_text().split())
    return dict(
        re.findall(
            r"(Workbook|Released ratings|Parameters|Versions|Code): (.*?)(?=\. (?:Parameters|Versions|Code): |\.$)",
            text,
        )
    )


def test_every_page_says_how_it_was_made(edition):
    made = edition.facts["made"]
    assert {"index.html", "search.html", "genindex.html", "book/index.html", "book/explorer.html"} <= set(edition.files)
    for file in edition.files:
        said = foot(edition, file)
        name = file.removeprefix("notebooks/").removesuffix(".html")
        if tables := made["released"].get(name):
            # Not of the workbook: of released ratings, and of nothing else.
            named = (f"{RELEASED[table].file}, SHA-256 {RELEASED[table].sha256}" for table in tables)
            assert said["Released ratings"] == ", ".join(named), file
            assert "Workbook" not in said
        else:
            assert said["Workbook"] == f"{edition.facts['file']}, SHA-256 {edition.facts['sha256']}", file
        for name in ("sense7", "Python", *SHOWN_VERSIONS):
            assert re.search(rf"\b{name} \d+\.\d", said["Versions"]), f"{file}: {name}"
        if made["commit"]:
            assert said["Code"].startswith(f"commit {made['commit']}"), file
            assert ("not committed" in said["Code"]) is made["changed"], file
        else:
            assert said["Code"].startswith("commit not known"), file
        assert made["library"][:12] in said["Code"], file


def test_every_page_gives_the_parameters_that_made_it(edition):
    for file in edition.files:
        said = foot(edition, file)["Parameters"]
        name = file.removeprefix("notebooks/").removesuffix(".html")
        if name in edition.executed:
            given = edition.executed[name]["metadata"]["papermill"]["parameters"]
            for key, value in given.items():
                assert (f"{key} = {value!r}" in said) is (key != "results"), f"{file}: {key}"
        else:
            assert said == edition.facts["parameters"], file
