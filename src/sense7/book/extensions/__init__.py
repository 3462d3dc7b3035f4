"""Extensions of Sphinx: roles and directives of the pages, the reference of the library, and the builder."""

METADATA = {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
"""What each of them tells Sphinx of itself."""
