"""How a result is shown by a kernel: as HTML on a page of the book; elsewhere as pictures, tables and text.

A notebook is read in places that interpret no script, style or drawing within HTML, such as a preview on a web site.
There a result is a list of outputs, one below the other. The kernels of a build give a page's HTML, and that list
beside it, so that one execution serves both the page and the notebook that a reader opens.
"""

import os
from collections.abc import Mapping

from sense7.record import EXECUTED_BY

OUTPUTS = "application/vnd.sense7.outputs+json"
"""MIME type under which a build's kernel gives, beside a page's HTML, the outputs of any other kernel."""


DRAWING = "drawing"
"""Key in a picture's metadata: the digest of the SVG that it shows, by which an equal picture is left as it is."""


def output(data: Mapping[str, str], metadata: Mapping | None = None) -> dict:
    """One output: contents by MIME type, and what is said of them."""
    return {"data": dict(data), "metadata": dict(metadata or {})}


def outputs_of(result: object) -> list[dict]:
    """What a notebook shows of a result: its own list of outputs, or else its HTML and its text."""
    if hasattr(result, "notebook_outputs"):
        return result.notebook_outputs()
    return [output({"text/html": result._repr_html_(), "text/plain": repr(result)})]


def show(result: object) -> None:
    """Show a result in the running kernel: what the method ``_ipython_display_`` of its class does."""
    from IPython.display import publish_display_data

    outputs = outputs_of(result)
    if EXECUTED_BY in os.environ:
        page = {"text/html": result._repr_html_(), "text/plain": repr(result), OUTPUTS: outputs}
        publish_display_data(page)
        return
    for part in outputs:
        publish_display_data(part["data"], part["metadata"])
