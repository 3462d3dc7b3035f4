"""The Sphinx extension of the book: roles and directives of its pages, and what it changes on every page."""

from jinja2 import FileSystemBytecodeCache

from sense7.book.extensions import finding, page, tables, values
from sense7.book.words import ROLES


def prepare_builder(app):
    """Keep compiled templates, and forget the front page of the build before, which names the book's parts."""
    vars(app.env).pop("master_doctree", None)
    app.builder.templates.environment.bytecode_cache = FileSystemBytecodeCache(app.doctreedir)


def setup(app):
    """Register roles, directives, and the changes of pages, with Sphinx."""
    numbering = app.extensions.get("sphinx_multitoc_numbering")
    if numbering:  # pages are not numbered, so that they can be read in parallel
        numbering.parallel_read_safe = True
    app.add_config_value("sense7_edition", "", "env", types=[str])
    app.add_config_value("sense7_frame", "", "env", types=[str])
    # Jupyter Book sets it for sphinx-comments, which _config.yml leaves out.
    app.add_config_value("comments_config", {}, "")
    app.add_role("value", values.ValueRole())
    for name in ROLES:
        app.add_role(name, values.TextRole())
    app.add_node(
        values.Explained,
        html=(values.visit_explained, values.depart_explained),
    )
    directives = {
        "finding": finding.FindingDirective,
        "ledger": finding.LedgerDirective,
        "ledger-picture": finding.LedgerPictureDirective,
        "functions": page.FunctionsDirective,
        "picture": page.PictureDirective,
        "put-in": tables.PutInDirective,
        "reference-values": tables.ReferenceValues,
    }
    for name, directive in directives.items():
        app.add_directive(name, directive)
    app.connect("builder-inited", prepare_builder)
    app.add_transform(page.MathML)
    app.add_search_language(page.Questions)
    for change in (page.lead_with_real_data, page.change_one_rehearsal):
        app.connect("doctree-read", change, priority=400)  # before Sphinx lists sections
    app.connect("doctree-read", values.anchor_cells)
    app.connect("doctree-read", page.add_keywords)
    # The last makes a fold of what the end of the page stands in.
    changes = (page.gather_code, page.say_once, page.add_rerun, page.fold_sections)
    for priority, change in enumerate(changes, 600):
        app.connect("doctree-read", change, priority=priority)
    app.connect(
        "html-page-context", page.finish_page, priority=900
    )  # after others have added theirs
    app.connect("html-collect-pages", values.drop_absent_words)
    app.connect("build-finished", values.keep_entries_of_search)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
