"""Write codemeta.json from pyproject.toml, _config.yml and CITATION.cff: what is said there is said once.

Called by ``make derived``. https://codemeta.github.io/terms/ (version 3.0)
"""

import json
import sys
import tomllib
from pathlib import Path

import yaml

import sense7

ROOT = Path(__file__).resolve().parents[1]


def codemeta(root: Path = ROOT) -> dict:
    """What codemeta.json holds."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    address = yaml.safe_load((root / "_config.yml").read_text("utf-8"))["repository"]["url"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    paper = citation["preferred-citation"]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": citation["title"],
        "identifier": project["name"],
        "description": project["description"],
        "version": sense7.__version__,
        "dateModified": str(citation["date-released"]),
        "author": [{"type": "Organization", "name": author["name"]} for author in project["authors"]],
        "license": f"https://spdx.org/licenses/{project['license']}",
        "codeRepository": address,
        "issueTracker": f"{address}/issues",
        "readme": f"{address}/blob/main/{project['readme']}",
        "keywords": project["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"],
        "referencePublication": {
            "type": "ScholarlyArticle",
            "name": paper["title"],
            "author": [
                {"type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
                for author in paper["authors"]
            ],
            "datePublished": f"{paper['year']}-{paper['month']:02}",
            "url": paper["url"],
        },
    }


def main() -> None:
    """Write the file."""
    text = json.dumps(codemeta(), indent=1, ensure_ascii=False) + "\n"
    (ROOT / "codemeta.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
