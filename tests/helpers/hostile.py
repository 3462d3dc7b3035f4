"""Hostile text, and a workbook that holds nothing else.

Each payload would do one thing if it were taken for anything but text: run a script, load a picture, end a block of
data, become a formula, steer a terminal. Wherever a payload stands, it carries a word of its own, so that a test can
tell which field was shown, and as what.
"""

from pathlib import Path

from sense7.taxonomy import CORE_COLUMNS, DIMENSIONS
from sense7.workbook.xlsx import Sheet

ROOT = Path(__file__).resolve().parents[2]

OUTSIDE = "hostile.invalid"
"""A host that does not exist: a request for it was caused by the text."""

RAN = "window.__pwned"
"""What every payload that runs sets."""

RUN = f"{RAN}='WORD'"

PAYLOADS = (
    # Markup that runs or loads.
    f"WORD <script>{RUN}</script>",
    f'WORD <img src=x onerror="{RUN}"><svg/onload={RUN}>',
    f'WORD "><img src="https://{OUTSIDE}/WORD.png">',
    f"WORD' autofocus onfocus={RUN} x='",
    f'WORD" style="background:url(https://{OUTSIDE}/WORD)" onmouseover="{RUN}',
    f'WORD <iframe srcdoc="<script>parent.__pwned=1</script>" src="https://{OUTSIDE}/WORD"></iframe>',
    f'WORD <object data="https://{OUTSIDE}/WORD"></object><base href="https://{OUTSIDE}/WORD/">',
    f'WORD <meta http-equiv="refresh" content="0;url=https://{OUTSIDE}/WORD">',
    f"WORD <style>@import url(https://{OUTSIDE}/WORD.css); body {{display: none}}</style>",
    f'WORD <form action="https://{OUTSIDE}/WORD"><a href="javascript:{RUN}">here</a></form>',
    f"WORD <math><mtext></form><form><mglyph><style></math><img src onerror={RUN}>",
    # The end of the element around it.
    f"WORD </script></title></style></textarea></td></table><script>{RUN}</script>",
    f"WORD --><script>{RUN}</script><!-- ]]><script>{RUN}</script><![CDATA[",
    f"WORD </svg></figure></p><script>{RUN}</script>",
    f"WORD \u2028{RUN}//\u2029 `${{{RUN}}}` ';{RUN};//\";{RUN}//\\",
    f"WORD &lt;script&gt; &#60;img src=x onerror={RUN}&#62; \\u003cscript\\u003e",
    # Markdown, MyST and templates.
    f"WORD ![picture](https://{OUTSIDE}/WORD.png) [link](javascript:{RUN}) <https://{OUTSIDE}/WORD>",
    "WORD {eval}`1+1` {include}`/etc/passwd` {value}`no_such_value` {download}`/etc/passwd`",
    f"WORD\n```{{raw}} html\n<script>{RUN}</script>\n```\n:::{{include}} /etc/passwd\n:::\n",
    "WORD\n```{code-cell} python\nraise SystemExit\n```\n\n---\n\n# A heading\n\n[^1] {#id} %%",
    "WORD {{ 7*7 }} {% include '/etc/passwd' %} ${7*7} <%= 7*7 %> %s %(x)s {0} {0.__class__} $(id)",
    # LaTeX, for MathJax and for matplotlib's mathtext.
    r"WORD $x^2$ $$\int$$ \(y\) \[z\] $\frac{",
    rf"WORD $\href{{javascript:{RUN}}}{{x}}$ \input{{/etc/passwd}} \includegraphics{{https://{OUTSIDE}/WORD}}",
    # Formulas of spreadsheet programs.
    "=cmd|' /C calc'!A0 WORD",
    f'=HYPERLINK("https://{OUTSIDE}/WORD","WORD")',
    *(f"{sign}1+cmd|' /C calc'!A0 WORD" for sign in ("+", "-", "@", "\t=", "\r=", "\n=", "\uff1d")),
    # Terminals, and text that shows other than it is.
    f"WORD \x1b[2J\x1b[31m\x1b]0;title\x07\x1b]8;;https://{OUTSIDE}/WORD\x07link\x1b]8;;\x07",
    f"WORD \x9b31m\x08\x7f\x00 [link=https://{OUTSIDE}/WORD]x[/link] [bold red]y[/bold red] [/]",
    "WORD \u202egnp.exe\u2066 \u200b\ufeff end",
    # Names that mean something to programs.
    "__proto__ WORD",
    "../../../WORD",
)
"""Texts, in each of which WORD stands for the word of its place."""

ROLES = ("user", "assistant")


def word(field: str, number: int) -> str:
    """The word of a payload in a field: letters and digits, so that nothing changes it."""
    return f"zq{field}{number:02d}q"


def text(field: str, number: int) -> str:
    """A payload as it stands in a field."""
    number %= len(PAYLOADS)
    return PAYLOADS[number].replace("WORD", word(field, number))


def texts(field: str) -> list[str]:
    """Every payload as it stands in a field."""
    return [text(field, number) for number in range(len(PAYLOADS))]


CONDITIONS = tuple(
    number
    for number, payload in enumerate(PAYLOADS)
    if payload.startswith(("WORD <script>", "WORD </svg>", r"WORD $x^2$", "=cmd", "WORD \x1b"))
)
"""Payloads that are conditions: a study has few, so those that are drawn, tabled and printed."""


def sheets(turns: int = 3) -> list[Sheet]:
    """A workbook with every payload as the name of a conversation, as topic, message, comment and further column.

    Two conversations a participant; ratings go up and down, so that there is something to compute.
    """
    tasks, messages = [], []
    for number in range(len(PAYLOADS)):
        chat = text("task", number)
        condition = text("cond", CONDITIONS[number // 2 % len(CONDITIONS)])
        scales = [1.0 + (number * step) % 5 for step in range(1, 12)]
        context = [text("topic", number), 1.0 + number % 5, 1.0 + number % 3]
        person = text("pid", number // 2)
        tasks.append([person, condition, chat, *context, *scales, text("further", number)])
        for turn in range(2 * turns):
            is_answer = turn % 2
            said = [ROLES[is_answer], text("said", number + turn)]
            levels = [
                1.0 + (number * (place + 2) + turn * (place + 1)) % 5 if is_answer else None
                for place in range(1 + len(DIMENSIONS))
            ]
            retried = text("retry", number) if turn == 3 else None
            comment = text("comment", number) if is_answer else None
            messages.append([chat, turn + 1.0, 20.0 * turn, *said, retried, *levels, comment])
    heads = {
        name: [column.official for column in columns] for name, columns in CORE_COLUMNS.items()
    }
    people = [
        [text("pid", number), 20.0 + number, *(text(f"trait{n}", number % 4) for n in range(2))]
        for number in range((len(PAYLOADS) + 1) // 2)
    ]
    return [
        Sheet("Tasks", [*heads["Tasks"], text("head", 0)], tasks),
        Sheet("Messages", heads["Messages"], messages),
        Sheet("Participants", ["PID", "Age", text("head", 1), text("head", 21)], people),
        *(Sheet(name, texts("column")[:3], [texts("cell")[:3]]) for name in SHEET_NAMES),
    ]


SHEET_NAMES = ("<img src=x onerror=zqsheet01q>", "$x^2$ {{7}} zqsheet02q", "=1+1 zqsheet03q")
"""As hostile as 31 characters allow, without those that no sheet's name can hold."""

FILE = f"\"><img src=x onerror={RAN}='zqfile00q'> {{{{7}}}} $x$ `id`.xlsx"
