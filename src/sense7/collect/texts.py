"""Characters that a workbook can't hold, or shows as no text: the page leaves them out of what people write.

It has the same two patterns, which Python and JavaScript read alike.
"""

import re

LINE_BREAKS = r"\r\n|[\r\x0b\x0c]"
"""Line breaks of other programs, such as the vertical tab of a slide; in a text they become usual ones."""

UNSTORABLE = r"[\x00-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
"""Control characters, halves of surrogate pairs, and the two that are no characters."""


def storable(text: str) -> str:
    r"""A text as a workbook can hold it.

    Examples
    --------
    >>> storable("two lines\x0bfrom a slide\x00\ufffe \U0001f600")
    'two lines\nfrom a slide 😀'
    """
    return re.sub(UNSTORABLE, "", re.sub(LINE_BREAKS, "\n", text))
