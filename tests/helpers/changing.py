"""Places in nested content, and the content with another value at one of them."""


def places(content, way=()):
    """The way to every value, the content itself included."""
    yield way
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*way, key))


def changed(content, place, value):
    """The content with another value at a place; ``...`` removes it."""
    if not place:
        return value
    first, *rest = place
    content = content.copy()
    if value is ... and not rest:
        del content[first]
    else:
        content[first] = changed(content[first], rest, value) if rest else value
    return content
