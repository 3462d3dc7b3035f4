"""The page on which people rate: one HTML file that carries study, conversations, script and style.

Its policy lets the browser run this script and use this style, known by their hashes, and load and send nothing at all.
Texts reach the page as JSON and become text nodes only, so that none of them is ever read as HTML.
"""

import base64
import hashlib
import html
import importlib.resources
import json
from collections.abc import Sequence
from pathlib import Path

from sense7.collect.study_file import StudyFile
from sense7.collect.study_keys import is_code
from sense7.collect.wording import wording
from sense7.errors import UserError
from sense7.files import not_written, write_whole
from sense7.taxonomy import LEVELS

__all__ = ["page_html", "write_page"]

_SCRIPTS = ("elements", "conversations", "progress", "steps", "questions", "turns", "instrument")
"""Parts of the script, in the order in which they use each other."""

_LANGUAGE_TAGS = {"zh": "zh-Hans"}
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="instrument"></div>
<noscript>This page needs JavaScript. It sends nothing anywhere.</noscript>
<script type="application/json" id="carried">{carried}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def page_html(study: StudyFile, conversations: Sequence[dict] = ()) -> str:
    """Make the page of a study.

    Parameters
    ----------
    study : StudyFile
        What is asked.
    conversations : sequence of dict
        To be rated, as :func:`~sense7.collect.conversations.read_conversations` gives them.

    Returns
    -------
    str
        The whole HTML file; equal for equal arguments.

    Raises
    ------
    UserError
        If there would be nothing to rate.

    Examples
    --------
    >>> page = page_html(StudyFile("Ten chats", language="zh", add_conversations=True))
    >>> 'lang="zh-Hans"' in page, "connect-src 'none'" in page
    (True, True)
    """
    _require_ratable(study, conversations)
    script = "\n".join(_part(f"{name}.js") for name in _SCRIPTS)
    style = _part("instrument.css")
    texts = json.dumps(list(conversations), separators=(",", ":"), allow_nan=False)
    carried = {
        "study": study.to_mapping(),
        "id": study.id,
        "page": hashlib.sha256(texts.encode()).hexdigest()[:16],
        "settings": study.settings(),
        "levels": LEVELS,
        "words": wording(study.language),
        "conversations": list(conversations),
    }
    return _PAGE.format(
        language=_LANGUAGE_TAGS.get(study.language, study.language),
        policy=_policy(script, style),
        title=html.escape(study.title),
        style=style,
        # ASCII, and without the sign that could end the element or begin a comment.
        carried=json.dumps(carried, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )


def write_page(study: StudyFile, conversations: Sequence[dict], path: str | Path, *, replace: bool = False) -> Path:
    """Write the page of a study; see :func:`page_html`.

    Raises
    ------
    UserError
        If there is a file already, its name doesn't end in .html, it can't be written, or there is nothing to rate.
    """
    path = Path(path)
    if path.suffix.casefold() != ".html":
        raise UserError(f"{path}: the page is an .html file. Give a name that ends in .html.")
    if path.is_dir():
        raise UserError(f"{path}: this is a folder. Give the name of a file.")
    if path.exists() and not replace:
        raise UserError(f"{path}: is there already. Give another name, or --force to write over it.")
    text = page_html(study, conversations)
    try:
        write_whole(path, text)
    except OSError as error:
        raise UserError(not_written(path, error)) from None
    return path


def _require_ratable(study: StudyFile, conversations: Sequence[dict]) -> None:
    if not conversations and not study.add_conversations:
        raise UserError(
            "nothing to rate: give --conversations FILE, or write add_conversations: true in the study file."
        )
    if study.conversations == "own":
        for conversation in conversations:
            if not is_code(person := conversation.get("participant")):
                raise UserError(
                    f"conversation {conversation['id']}: participant {person!r:.40} is no code that a person can enter "
                    "(letters and digits, also . _ - inside). Change it, or write conversations: everyone."
                )
    for conversation in conversations:
        if not study.rated_turns([message["role"] for message in conversation["messages"]]):
            raise UserError(
                f"conversation {conversation['id']}: has none of the turns {list(study.turns)} that the study file "
                "asks for. Leave the conversation out, or change turns."
            )


def _policy(script: str, style: str) -> str:
    def known(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    rules = {"default-src": "'none'", "script-src": known(script), "style-src": known(style)}
    closed = ("connect-src", "img-src", "font-src", "frame-src", "object-src", "form-action", "base-uri")
    return "; ".join(f"{name} {value}" for name, value in (rules | dict.fromkeys(closed, "'none'")).items())


def _part(name: str) -> str:
    """A part of the page as it is in the package, with line ends that give the same hash on every system."""
    text = (importlib.resources.files("sense7.collect") / "static" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
