"""Extensions of Sphinx: roles and directives of the pages, the reference of the library, and the builder."""
