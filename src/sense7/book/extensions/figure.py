"""A figure of an executed notebook on another page of the book.

A Sphinx extension; ``{picture} notebooks/02-ratings levels-by-rating`` shows the figure of that name from the edition's
own notebook, with its caption and data, so that no picture of other data can stand on a page. Where the edition
could not draw it, the sentence that the notebook has in its place stands here too.

The choices of a finding, and what each would have given, on the finding's own page.

A Sphinx extension; ``{specifications} poor_turn_d`` shows the specification curve that the edition's notebook on
robustness draws of this headline, with the control that ``book/static/specifications.js`` adds to it. Where the edition
could not compute it, the sentence of that notebook stands here.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

__all__ = ["LACKING", "PAGE", "find_picture", "setup"]

_LOGGER = logging.getLogger(__name__)
_FIGURE = re.compile(r'<figure class="sense7-figure[ "].*?</figure>', re.DOTALL)


def find_picture(node: dict, name: str) -> str | None:
    """HTML of a notebook's figure, or of the sentence in its place.

    Examples
    --------
    >>> figure = '<figure class="sense7-figure"><svg></svg><a download="levels.csv"></a></figure>'
    >>> cell = {"source": 'draw(name="levels")', "outputs": [{"data": {"text/html": f"<div>{figure}</div>"}}]}
    >>> find_picture({"cells": [{"source": "# Levels"}, cell]}, "levels") == figure
    True
    >>> find_picture({"cells": [cell]}, "shares") is None
    True
    """
    sentence = None
    for cell in node["cells"]:
        for output in cell.get("outputs", ()):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            for figure in _FIGURE.findall(shown):
                if f'download="{name}.csv"' in figure:
                    return figure
            if shown and f'"{name}"' in "".join(cell["source"]):
                sentence = sentence or shown
    return sentence


class PictureDirective(SphinxDirective):
    """A figure of a notebook: its page and its name."""

    required_arguments = 2

    def run(self):
        page, name = self.arguments
        path = Path(self.config.sense7_edition) / f"{page}.ipynb"
        self.env.note_dependency(str(path))  # with the notebook, the page that shows it is read again
        try:
            shown = find_picture(json.loads(path.read_text(encoding="utf-8")), name)
        except (OSError, ValueError):
            shown = None
        if shown is None:
            _LOGGER.warning("%s has no figure %r", page, name, location=self.get_location())
            return []
        # Made by figures and tables of this library, which escape all texts of a workbook.
        return [nodes.container("", nodes.raw("", shown, format="html"), classes=["sense7-picture"])]


PAGE = "notebooks/15-robustness"
LACKING = "What other choices would give is computed by the page on robustness, which this edition does not have."


class SpecificationsDirective(PictureDirective):
    """The specifications of a headline."""

    required_arguments = 1

    def run(self):
        if not Path(self.config.sense7_edition, f"{PAGE}.ipynb").exists():
            return [nodes.paragraph("", "", nodes.emphasis(text=LACKING))]
        self.arguments = [PAGE, *self.arguments]
        return super().run()


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("picture", PictureDirective)
    app.add_directive("specifications", SpecificationsDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
