"""``sense7 new``: the shortest finding of the book under another name, to be changed into one's own."""

import re
from typing import Annotated

import typer

from sense7.errors import UserError
from sense7.files import write_whole
from sense7.terminal import plain

__all__ = ["new"]

EXAMPLE = "05-importance"


def new(name: Annotated[str, typer.Argument(metavar="NAME", help="Of the finding, such as length-of-turns.")]) -> None:
    """Copy module, test and notebook of the shortest finding; "Add a finding" in CONTRIBUTING.md goes on from there."""
    from sense7.checkout import find_checkout

    if not re.fullmatch(r"[a-z][a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,3}", name):
        raise UserError(f"{plain(name)}: can't be a finding's name. Give small letters, digits and hyphens.")
    root, old, module = find_checkout(), EXAMPLE[3:], name.replace("-", "_")
    number = 1 + max(int(path.name[:2]) for path in (root / "notebooks").glob("[0-9][0-9]-*.md"))
    copies = {
        f"src/sense7/findings/{old}.py": f"src/sense7/findings/{module}.py",
        f"tests/findings/test_{old}.py": f"tests/findings/test_{module}.py",
        f"notebooks/{EXAMPLE}.md": f"notebooks/{number:02d}-{name}.md",
    }
    taken = [*(root / "src/sense7").rglob(f"{module}.py"), *(root / "notebooks").glob(f"??-{name}.md")]
    if taken or not module.isidentifier() or (root / "src/sense7/findings" / module).exists():
        raise UserError(f"{plain(name)}: there is a module or page of this name. Give another name.")
    for source, copy in copies.items():
        text = (root / source).read_text(encoding="utf-8").replace(EXAMPLE, f"{number:02d}-{name}")
        text = re.sub(rf"\bs7\.{old}\b", module, text)
        text = text.replace("import sense7 as s7\n", f"import sense7 as s7\nfrom sense7.findings import {module}\n")
        write_whole(root / copy, re.sub(rf"\bimport {old}\b|\b{old}(?=\.)", lambda m: m[0].replace(old, module), text))
        print(root / copy)
    print(f"Its keys are those of {EXAMPLE}: rename them before you add the page to _toc.yml.")
