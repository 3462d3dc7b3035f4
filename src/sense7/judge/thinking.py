"""Which parts of a reply a model thinks aloud: they are no answer, closed or cut off.

The marks are those of model families, as the reasoning parsers of vLLM, SGLang and llama.cpp know them: tags
(DeepSeek, Qwen and most others; Seed, LongCat, EXAONE and fine-tunes with names of their own), square brackets
(Mistral, Pangu), triangles (Kimi), special tokens (Cohere, OpenThoughts, Step, Solar, Apertus), channels (gpt-oss,
Gemma), and words (Granite, HyperCLOVA X).
"""

import re

__all__ = ["without_thinking"]

_NAME = (
    r"(?:think(?:s|ing)?|thoughts?|reason(?:s|ing)?|reflect(?:ions?|ing)?|analysis|analyzing|scratch[_-]?pad|"
    r"(?:inner|internal)[_-]?(?:monologue|thoughts?|reasoning)|deliberat(?:e|ion)|cot|chain[_-]of[_-]thoughts?)"
)
_MARK = re.compile(
    "|".join(
        (
            rf"<(?P<tag_ends>/?)(?P<tag>(?:[\w-]{{1,20}}[:_.-]|ant)?{_NAME})(?:[:_.-][\w-]{{1,30}})?(?:\s[^<>]{{0,200}})?>",
            r"(?P<details><details\b[^<>]{0,200}\breasoning\b[^<>]{0,200}>)|(?P<details_end></details>)",
            rf"\[(?P<square_ends>/?)(?P<square>{_NAME})\]|(?P<unused>\[unused16\])|(?P<unused_end>\[unused17\])",
            rf"◁(?P<triangle_ends>/?)(?P<triangle>{_NAME})▷",
            rf"<[|\uff5c](?P<token_ends>/|(?:end|stop|close)[_ ]?(?:of[_ ])?)?(?:(?:begin|start|open)[_ ]?(?:of[_ ])?)?"
            rf"(?P<token>{_NAME}|inner)(?:[:_ ](?:start|begin|prefix|(?P<token_end>end|stop|suffix)))?[|\uff5c]>",
            r"<\|channel\|>\s*(?P<channel>\w+)[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>",
            r"(?P<gemma><\|channel>)|(?P<gemma_end><channel\|>|<\|/channel\|?>)",
            r"(?P<special_end><\|(?:end|return|start|content)\|>)",
            r"(?P<fence>^```[ \t]*(?:think|thinking|thoughts?|reasoning)[ \t]*$)|(?P<fence_end>^```[ \t]*$)",
            r"(?P<granite>Here(?:'s| is) my thought process:)|(?P<granite_end>Here(?:'s| is) my response:)",
            r"(?P<clova>\A\s*/think\s*\n)|(?P<clova_end><\|im_end\|>\s*<\|im_start\|>assistant)",
            r"(?P<bare>\A\s*analysis(?=[A-Z\"'<]))|(?P<bare_end>assistant\s?final)",
        )
    ),
    re.IGNORECASE | re.ASCII | re.MULTILINE,
)
_BARE = re.compile(r"\s*analysis[A-Z\"'<]")
_ENDS_ONLY = {
    "details_end": "details",
    "fence_end": "fence",
    "granite_end": "granite",
    "clova_end": "clova",
    "bare_end": "bare",
    "special_end": "",
}
"""Marks that end thinking of their own kind, and mean something else where none is open."""

_ANSWER = {"s2", "response", "answer", "output", "final", "final_answer", "solution", "result"}
"""Tags that hold what was asked for."""

_PLAIN = {"b", "i", "em", "strong", "p", "br", "hr", "ul", "ol", "li", "u", "s", "code", "pre", "h1", "h2", "h3", "h4"}
_TAG = re.compile(r"<([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,200})?>", re.ASCII)
_OTHER_MARK = re.compile(r"\s*(?:\[([A-Za-z][\w: -]{0,40})\]|◁([^\s◁▷]{1,40})▷|<[|\uff5c]([^<>\n]{1,60})>)")


def without_thinking(text: str, *, cut: bool = False) -> str:
    """Return a reply without what the model thought before it answered."""
    kept: list[str] = []
    start, open_ones = 0, []  # names of thinking that is open
    for mark in _MARK.finditer(text):
        name, ends = _kind(mark)
        if name == "bare" and not ends and not _BARE.match(text):
            continue
        if name in _ENDS_ONLY:
            kinds = ("channel", "token") if name == "special_end" else (_ENDS_ONLY[name],)
            name, ends = next((kind for kind in kinds if kind in open_ones), ""), True
            if not name:
                continue
        if not open_ones:
            if ends:
                kept.clear()
            else:
                kept.append(text[start : mark.start()])
        start = mark.end()
        if not ends:
            open_ones += [] if name in open_ones else [name]
        elif name in open_ones:
            open_ones.remove(name)
        elif not cut:  # an end of another name: some models mix them
            open_ones.clear()
    answer = "".join([*kept, "" if open_ones else text[start:]])
    return _without_unknown_markup(answer) if cut else answer


def _kind(mark: re.Match) -> tuple[str, bool]:
    """Name of a mark, and whether it ends thinking; what matches each other has one name."""
    groups = mark.groupdict()
    for form in ("tag", "square", "triangle"):
        if groups[form] is not None:
            return f"{form} {groups[form].casefold()}", bool(groups[f"{form}_ends"])
    if groups["token"] is not None:
        return "token", bool(groups["token_ends"] or groups["token_end"])
    if groups["channel"] is not None:
        return "channel", groups["channel"].casefold() == "final"
    name = mark.lastgroup
    return (name, False) if name in _ENDS_ONLY or not name.endswith("_end") else (name.removesuffix("_end"), True)


def _without_unknown_markup(text: str) -> str:
    """Leave out what stands in markup of unknown meaning, or in reasoning that is not closed."""
    if other := _OTHER_MARK.match(text):
        name = next(filter(None, other.groups()))
        end = next((found for end in (f"[/{name}]", f"◁/{name}▷") if (found := text.find(end)) >= 0), -1)
        text = text[text.index(name, end) + len(name) + 1 :] if end >= 0 else ""
    kept, start = [], 0
    while tag := _TAG.search(text, start):
        name = tag[1].casefold()
        if name in _ANSWER or name in _PLAIN:
            kept.append(text[start : tag.end()])
            start = tag.end()
            continue
        end = re.compile(f"</{re.escape(tag[1])}>", re.IGNORECASE | re.ASCII).search(text, tag.end())
        kept.append(text[start : tag.start()])
        if end is None:
            return "".join(kept)
        start = end.end()
        if name == "s0":
            kept.append(text[tag.start() : start])
    return "".join([*kept, text[start:]])
