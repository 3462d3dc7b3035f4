"""The page on which people rate: one HTML file that carries study, conversations, script and style.

Its policy lets the browser run this script and use this style, known by their hashes, and load and send nothing at all.
Texts reach the page as JSON and become text nodes only, so that none of them is ever read as HTML.
"""

import base64
import functools
import hashlib
import html
import importlib.resources
import json
from collections.abc import Sequence
from pathlib import Path

from sense7.collect.study import StudyFile, is_code
from sense7.collect.texts import LINE_BREAKS, UNSTORABLE
from sense7.errors import UserError
from sense7.files import digest_of, parse_yaml, require_free, write_whole
from sense7.taxonomy import (
    DESIRED_EMPATHY,
    EXPERIENCE,
    IMPORTANCE,
    LEVELS,
    POST_EMPATHY,
    TURN_RATING,
)
from sense7.workbook.reading import usual_words

SCALES = {
    "importance": IMPORTANCE,
    "desired_empathy": DESIRED_EMPATHY,
    "experience": EXPERIENCE,
    "empathy": POST_EMPATHY,
    "turn": TURN_RATING,
}
"""Scales of the page, by their names there."""

_SCRIPTS = (
    "elements",
    "progress",
    "handing_over",
    "steps",
    "questions",
    "turns",
    "instrument",
)
"""Parts of the script; the last one begins."""

_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'none'; img-src 'none'; "
    "font-src 'none'; frame-src 'none'; object-src 'none'; form-action 'none'; base-uri 'none'"
)
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


@functools.cache
def wording(language: str) -> dict:
    """Give what the page says in a language: key -> text, and ``scales``: the word of each level, lowest first.

    Examples
    --------
    >>> wording("fr")["not_applicable"], wording("en")["scales"]["turn"][4]
    ("Ne s'applique pas", 'very good')
    """
    path = importlib.resources.files("sense7.collect") / "wording" / f"{language}.yml"
    official = {name: usual_words(scale.name) for name, scale in SCALES.items()}
    return {"scales": official, **parse_yaml(path.read_text(encoding="utf-8"))}


def page_html(study: StudyFile, conversations: Sequence[dict]) -> str:
    """Make the page of a study, with the conversations to be rated; equal for equal arguments.

    Examples
    --------
    >>> chat = {"id": "a", "messages": [{"role": "assistant", "content": "Hello"}]}
    >>> page = page_html(StudyFile("Ten chats", language="zh"), [chat])
    >>> 'lang="zh-Hans"' in page, "connect-src 'none'" in page
    (True, True)
    """
    for conversation in conversations:
        person, name = conversation.get("participant"), conversation["id"]
        if study.conversations == "own" and not is_code(person):
            raise UserError(
                f"conversation {name}: participant {person!r:.40} is no code that a person can enter (letters and "
                "digits, also . _ - inside). Change it, or write conversations: everyone."
            )
        if not study.rated_turns(conversation["messages"]):
            raise UserError(
                f"conversation {name}: has none of the turns {list(study.turns)} that the study file asks for. Leave "
                "the conversation out, or change turns."
            )

    # Read with line ends that give the same hash on every system.
    static = importlib.resources.files("sense7.collect") / "static"
    script = "\n".join((static / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    style = (static / "instrument.css").read_text("utf-8")
    hashes = {}
    for name, text in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest())
        hashes[name] = f"sha256-{digest.decode()}"
    texts = json.dumps(list(conversations), separators=(",", ":"), allow_nan=False)
    carried = {
        "study": study.to_mapping(),
        "id": study.id,
        "page": digest_of(texts.encode())[:16],
        "settings": study.settings(),
        "levels": LEVELS,
        "words": wording(study.language),
        "characters": {"line_breaks": LINE_BREAKS, "unstorable": UNSTORABLE},
        "conversations": list(conversations),
    }
    return _PAGE.format(
        language="zh-Hans" if study.language == "zh" else study.language,
        policy=_POLICY.format(**hashes),
        title=html.escape(study.title),
        style=style,
        # ASCII, and without the sign that could end the element or begin a comment.
        carried=json.dumps(carried, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )


def write_page(
    study: StudyFile, conversations: Sequence[dict], path: str | Path, *, replace: bool = False
) -> Path:
    """Write the page of a study; see :func:`page_html`."""
    path = Path(path)
    if path.suffix.casefold() != ".html":
        raise UserError(f"{path}: the page is an .html file. Give a name that ends in .html.")
    require_free(path, replace=replace)
    write_whole(path, page_html(study, conversations), replace=replace)
    return path
