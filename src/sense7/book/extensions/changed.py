"""Which pages are read again, by digests of all that they are made from.

Sphinx goes by the times of files, and so misses an edit where a clock was ahead, that of a file server is behind, or a
program kept the time of an older file. The build gives all files one old time, so that Sphinx finds none of them newer.
"""

import hashlib
from pathlib import Path


def _digests(env) -> dict[str, str]:
    """Digest of each page's own file and of those that it shows: page -> digest."""
    of_files: dict[Path, str] = {}
    of_pages = {}
    for page in env.found_docs:
        shown = [Path(env.srcdir, name) for name in sorted(env.dependencies.get(page, ()))]
        total = hashlib.sha256()
        for path in [Path(env.doc2path(page)), *shown]:
            if path not in of_files:
                of_files[path] = (
                    hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
                )
            total.update(of_files[path].encode())
        of_pages[page] = total.hexdigest()
    return of_pages


def _outdated(app, env, added, changed, removed) -> list[str]:
    """Pages that were made from something else."""
    before, now = getattr(env, "sense7_digests", {}), _digests(env)
    return [page for page in before if page in now and now[page] != before[page]]


def _keep(app, env) -> list[str]:
    """Keep the digests with what Sphinx keeps, when all pages are read."""
    env.sense7_digests = _digests(env)
    return []


def setup(app):
    """Say which pages are read again, and keep what they were made from."""
    app.connect("env-get-outdated", _outdated)
    app.connect("env-updated", _keep)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
