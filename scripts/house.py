"""Draw the picture of the packages in CONTRIBUTING from what they import."""

from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- house -->\n", "<!-- /house -->"


def picture() -> str:
    """Draw an arrow from each package to the packages that it imports, unless it reaches them through others."""
    graph = grimp.build_graph("sense7", cache_dir=None)
    names = sorted(path.parent.name for path in (ROOT / "src" / "sense7").glob("*/__init__.py"))
    for name in names:
        graph.squash_module(f"sense7.{name}")
    imported = {
        name: {
            one.removeprefix("sense7.")
            for one in graph.find_modules_directly_imported_by(f"sense7.{name}")
        }
        & ({*names} - {name})
        for name in names
    }

    @cache
    def reached(name: str) -> frozenset[str]:
        return frozenset(imported[name].union(*map(reached, imported[name])))

    arrows = [
        f"  {name} --> {other}"
        for name in names
        for other in sorted(imported[name])
        if not any(other in reached(between) for between in imported[name])
    ]
    return "\n".join(["```mermaid", "graph TD", *arrows, "```", ""])


def parts() -> tuple[str, str, str]:
    """Return the page before, in and after the picture."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    drawn, _, after = rest.partition(END)
    return before, drawn, after


if __name__ == "__main__":
    before, _, after = parts()
    PAGE.write_text(f"{before}{BEGIN}{picture()}{END}{after}", "utf-8")
