"""Named data sets: where they live, how they are fetched, and what is known of a file's origin.

What this package promises of origin is modest, and worth having. A file counts as verified if
its record says that it was fetched from the authors' own address and its bytes, hashed again each
time, are those of the record. The authors publish no checksum: the first fetch is trusted
because of TLS, and from then on any change is seen. A record is a small JSON file beside the
data; a record written by hand can claim anything. Software that runs on the forger's own
machine can't rule that out and doesn't try: it rules out mistakes (a copy from elsewhere, a file
edited by accident, a download cut short, an error page saved as a workbook). Anyone who doubts
an edition fetches the workbook themselves and compares the sha256 that is printed on its pages.

Data sets of third parties are pinned: their commit, and the hash of every published file. Those are
converted to a workbook here, never shipped, and never taken for SENSE-7.
"""

from sense7.sources.fetching import copy_for_edition, fetch, resolve
from sense7.sources.provenance import Provenance
from sense7.sources.registry import SOURCES

__all__ = [
    "SOURCES",
    "Provenance",
    "copy_for_edition",
    "fetch",
    "resolve",
]
