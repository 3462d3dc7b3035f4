"""The choices of a finding, and what each would have given, on the finding's own page.

A Sphinx extension; ``{specifications} poor_turn_d`` shows the specification curve that the edition's notebook on
robustness draws of this headline, with the control that ``book/static/specifications.js`` adds to it. Where the edition
could not compute it, the sentence of that notebook stands here.
"""

from pathlib import Path

from docutils import nodes

from sense7.book.extensions.figure import PictureDirective

__all__ = ["LACKING", "PAGE", "setup"]

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
    app.add_directive("specifications", SpecificationsDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
