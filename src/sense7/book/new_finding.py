"""A new finding from a template: module, test and notebook, which work as they are and wait to be changed."""

import keyword
import re
from pathlib import Path

from sense7.errors import UserError
from sense7.files import not_written, write_whole
from sense7.terminal import plain

__all__ = ["write_finding"]

_TEMPLATES = Path(__file__).with_name("templates")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 40
_CHAPTER = re.compile(r"^( *)- file: notebooks/.*\n", re.MULTILINE)


def write_finding(root: Path, name: str, title: str = "") -> list[Path]:
    """Write module, test and notebook of a new finding, and add its page to the table of contents.

    Parameters
    ----------
    root : Path
        The checkout.
    name : str
        Of the finding: small letters, digits and hyphens, such as ``length-of-turns``.
    title : str
        Heading of its page; made from the name if not given.

    Returns
    -------
    list of Path
        What was written: module, test, notebook, table of contents.

    Raises
    ------
    UserError
        If the name can't be that of a finding, or there is one of this name; nothing was written then.
    """
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name) or len(name) > _LONGEST or keyword.iskeyword(module):
        raise UserError(
            f"{plain(name)}: can't be the name of a finding. Give small letters, digits and hyphens, beginning with a "
            f"letter, at most {_LONGEST} of them: sense7 new finding length-of-turns"
        )
    known = sorted(path.stem.partition("-") for path in (root / "notebooks").glob("[0-9]*.md"))
    number = f"{int(known[-1][0]) + 1 if known else 0:02d}"
    taken = [path for path in (root / "src/sense7/findings").glob(f"{module}*") if path.stem == module]
    taken += [root / "tests/findings" / f"test_{module}.py"] if _tests(root, module).exists() else []
    taken += [root / "notebooks" / f"{before}-{stem}.md" for before, _, stem in known if stem == name]
    if taken:
        raise UserError(f"{taken[0]}: there is a finding of this name. Give another name.")
    title = " ".join(title.split()) or name.replace("-", " ").capitalize()
    sentence = title if title[-1] in ".?!" else f"{title}."
    words = {"NAME": name, "MODULE": module, "NUMBER": number, "TITLE": title, "SENTENCE": sentence}
    contents = root / "_toc.yml"
    page = f"notebooks/{number}-{name}"
    texts = {
        root / "src/sense7/findings" / f"{module}.py": _filled("module", words),
        _tests(root, module): _filled("test", words),
        root / f"{page}.md": _filled("notebook", words),
        contents: _with_chapter(contents, page),
    }
    for path, text in texts.items():
        try:
            write_whole(path, text)
        except OSError as error:
            raise UserError(not_written(path, error)) from None
    return list(texts)


def _tests(root: Path, module: str) -> Path:
    return root / "tests/findings" / f"test_{module}.py"


def _filled(template: str, words: dict[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)


def _with_chapter(contents: Path, page: str) -> str:
    """The table of contents with a page after the last notebook that it lists."""
    text = contents.read_text(encoding="utf-8")
    listed = list(_CHAPTER.finditer(text))
    if not listed:
        raise UserError(f"{contents}: lists no notebook. Restore the file: git checkout -- _toc.yml")
    last = listed[-1]
    return f"{text[: last.end()]}{last[1]}- file: {page}\n{text[last.end() :]}"
