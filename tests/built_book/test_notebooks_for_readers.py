"""The notebooks that are committed, and those that pages offer, as viewers show them that know nothing of the book."""

from pathlib import Path

from sense7.book.derived import Addresses, derive_all, same_but_pictures
from sense7.book.inputs import declared_configuration
from sense7.book.notebooks import installable_from

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST, LARGEST_TOGETHER = 250_000, 3_000_000


def test_the_committed_notebooks_are_those_of_their_texts_and_of_the_synthetic_workbook(synthetic):
    install_from = installable_from(declared_configuration(ROOT)["repository"])
    derived = derive_all(ROOT, synthetic.folder, Addresses.beside(), install_from)
    assert derived.keys() == {path.stem for path in COMMITTED}
    stale = [
        path.stem
        for path in COMMITTED
        if not same_but_pictures(path.read_text("utf-8"), derived[path.stem])
    ]
    assert stale == [], "Run: make derived"


def test_the_committed_notebooks_are_small_enough_for_a_repository_and_a_preview():
    sizes = {path.stem: path.stat().st_size for path in COMMITTED}
    assert [name for name, size in sizes.items() if size > LARGEST] == []
    assert sum(sizes.values()) <= LARGEST_TOGETHER
