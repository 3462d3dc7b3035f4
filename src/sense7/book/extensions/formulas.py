"""Formulas as MathML, which browsers show by themselves: the book needs no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

__all__ = ["setup"]

_LOGGER = logging.getLogger(__name__)

_SIZES = re.compile(r"\\(?:[Bb]igg?)(?![A-Za-z])|(?<=\\)(?=dots(?![A-Za-z]))")
"""Commands of TeX that docutils does not know: sizes of brackets, which are left out, and dots, which become ldots."""


class _MathML(SphinxTransform):
    """Before the domains look for any formula: else the page would ask for a library from the network."""

    default_priority = 800

    def apply(self, **kwargs) -> None:
        if self.app.builder.format != "html":
            return  # LaTeX has formulas of its own
        for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
            block = isinstance(node, nodes.math_block)
            code = _SIZES.sub(lambda match: "" if match[0] else "l", node.astext())
            try:
                formula = latex2mathml.tex2mathml(code, as_block=block)
            except (MathError, SyntaxError) as error:
                _LOGGER.warning("formula %r: %s", code, error, location=node)
                continue
            if block:  # on a phone it scrolls in its place, by the keyboard too
                formula = f'<div class="sense7-formula" role="group" aria-label="Formula" tabindex="0">{formula}</div>'
            node.replace_self(nodes.raw("", formula, format="html"))


def setup(app):
    """Register the transform with Sphinx."""
    app.add_transform(_MathML)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
