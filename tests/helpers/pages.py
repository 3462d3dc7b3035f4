"""What stands on a page."""


def text(tag):
    """The text of an element, its white space as single spaces."""
    return " ".join(tag.get_text(" ").split())
