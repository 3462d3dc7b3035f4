"""Which pages are read again, by digests of all that they are made from.

Sphinx goes by the times of files, and so misses an edit where a clock was ahead, that of a file server is behind, or a
program kept the time of an older file. The build gives all files one old time, so that Sphinx finds none of them newer.
"""

import hashlib
from pathlib import Path

from sense7.book.extensions import METADATA
from sense7.files import digest_of_file


def _digests(env) -> dict[str, str]:
    """Digest of each page's own file and of those that it shows: page -> digest."""
    of_files: dict[Path, str] = {}
    of_pages = {}
    for page in env.found_docs:
        dependencies = [Path(env.srcdir, name) for name in sorted(env.dependencies.get(page, ()))]
        total = hashlib.sha256()
        for path in [Path(env.doc2path(page)), *dependencies]:
            if path not in of_files:
                of_files[path] = ""
                if path.is_file():
                    of_files[path] = digest_of_file(path)
            total.update(of_files[path].encode())
        of_pages[page] = total.hexdigest()
    return of_pages


def outdated(app, env, added, changed, removed) -> list[str]:
    """Pages that were made from something else."""
    last, now = getattr(env, "sense7_digests", {}), _digests(env)
    return [page for page in last if page in now and now[page] != last[page]]


def keep_digests(app, env) -> list[str]:
    """Keep the digests with what Sphinx keeps, when all pages are read."""
    env.sense7_digests = _digests(env)
    return []


def setup(app):
    """Say which pages are read again, and keep what they were made from."""
    app.connect("env-get-outdated", outdated)
    app.connect("env-updated", keep_digests)
    return METADATA
