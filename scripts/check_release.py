"""What has to be true before a release, as far as it is seen at once: one version everywhere, and nothing uncommitted.

    make release-check      # this, then derived files, every test, and the packages

It changes nothing. Exit code 2, with a line for each thing to fix.
"""

import re
import subprocess
import sys
from pathlib import Path

from sense7 import __version__

ROOT = Path(__file__).resolve().parents[1]
PLACE = "src/sense7/__init__.py"
"""Where the version is written; pyproject.toml reads it there."""


def problems(root: Path, version: str) -> list[str]:
    """What keeps a version from being released, each with how to fix it."""
    to_fix = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        to_fix.append(
            f"{PLACE}: {version!r} is no version to release. Write three numbers, such as 0.2.0."
        )
    for name, stated in stated_versions(root).items():
        if stated != version:
            to_fix.append(f"{name}: says version {stated}, {PLACE} says {version}. Correct it.")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE):
        to_fix.append(
            f"CHANGELOG.md: no heading '## [{version}] - YEAR-MONTH-DAY'. Move what is unreleased below it."
        )
    if git(root, "status", "--porcelain"):
        to_fix.append(
            "git: there are changes that are not committed. Commit them, or put them aside."
        )
    if git(root, "tag", "--list", f"v{version}"):
        to_fix.append(f"git: v{version} is released already. Choose the next version in {PLACE}.")
    return to_fix


def stated_versions(root: Path) -> dict[str, str | None]:
    """Files that repeat the version -> what they say; of those that are here."""
    patterns = {
        "CITATION.cff": r"^version: (.+)$",
        "book/cite.md": r"version = \{(.+?)\}",
    }
    versions = {}
    for name, pattern in patterns.items():
        if (root / name).exists():
            text = (root / name).read_text(encoding="utf-8")
            matches = re.findall(pattern, text, re.MULTILINE)
            versions[name] = matches[-1] if matches else None
    return versions


def git(root: Path, *arguments: str) -> str:
    """What git prints."""
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


if __name__ == "__main__":
    to_fix = problems(ROOT, __version__)
    print("\n".join(to_fix) or f"{__version__}: one version everywhere, nothing uncommitted")
    sys.exit(2 if to_fix else 0)
