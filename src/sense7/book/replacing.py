"""A finished edition takes its place in one step; what killed builds left is cleared away by the next."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from sense7.book.execute import SCRATCH
from sense7.files import exchange, lock_file

__all__ = ["replace_edition", "under_way"]

_ASIDE = ".last-"


@contextlib.contextmanager
def under_way(editions: Path, cache: Path, kept: int | None) -> Iterator[None]:
    """Mark a build as under way; if it is the only one, first clear away what killed ones left.

    Parameters
    ----------
    editions, cache : Path
        Folders in which builds work; made if need be.
    kept : int or None
        How many finished notebooks the cache keeps; all if None.
    """
    editions.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    # The system gives a lock back when its process ends, however it ends.
    with (editions / ".lock").open("a") as lock:
        with contextlib.suppress(BlockingIOError):
            lock_file(lock, wait=False)
            _clear(editions, cache, kept)
        lock_file(lock, shared=True)
        yield


def _clear(editions: Path, cache: Path, kept: int | None) -> None:
    """Remove unfinished folders, bring back a book caught between two renames, keep the cache small."""
    for left in [*editions.glob(f"{SCRATCH}*"), *cache.glob(f"{SCRATCH}*")]:
        shutil.rmtree(left, ignore_errors=True)
    for aside in editions.glob(f"{_ASIDE}*"):
        folder = editions / aside.name.removeprefix(_ASIDE)
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.replace(folder)
    finished = sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in finished[len(finished) if kept is None else kept :]:
        # Not in its place: killed halfway, it would leave half an entry there.
        shutil.rmtree(path.rename(cache / f"{SCRATCH}{path.name}"), ignore_errors=True)


def replace_edition(new: Path, folder: Path, claim: Callable[[], None] = lambda: None) -> None:
    """Put a finished folder in its place, if the claim holds; what stood there goes with the scratch folder."""
    with (folder.parent / ".swap").open("a") as lock:
        lock_file(lock)
        claim()  # another build may have taken the place meanwhile
        if not folder.exists():
            new.replace(folder)
        elif not exchange(new, folder):
            # Without an exchange in one step: two renames; the next build repairs what falls between them.
            aside = folder.with_name(_ASIDE + folder.name)
            folder.replace(aside)
            new.replace(folder)
            aside.replace(new)
