"""The data sets that can be fetched by name, from ``registry.toml``: address, licence, credit, hashes."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sense7.sources.converters import CONVERTERS
from sense7.workbook.xlsx import Sheet

SOURCE_SHEET = "src_Source"
"""Sheet (columns ``key`` and ``value``) by which a converted workbook says whose data it holds."""


@dataclass(frozen=True)
class Source:
    """A data set that others publish: one workbook that is kept as it came, or parts of which a workbook is made."""

    name: str
    title: str
    address: str  # of the file, or of the folder of the parts, ending in a slash
    licence: str
    credit: str
    kind: str
    changes: str = ""
    conversion: int | None = None
    parts: Mapping[str, str] = field(default_factory=dict)  # path below the address -> SHA-256
    convert: Callable[[Mapping[str, Path]], list[Sheet]] | None = None  # name of a file -> its path

    @property
    def file(self) -> str:
        """Name of the workbook here."""
        return f"{self.name}.xlsx"

    @property
    def acknowledgement(self) -> str:
        """Whom to credit, and the licence, in one line."""
        return f"{self.credit} Licence of the data: {self.licence}."

    def sheets(self, parts: Mapping[str, Path]) -> list[Sheet]:
        """Make the sheets of the workbook from verified parts, and one that says whose data they are."""
        note = (
            f"{self.title}, laid out as a SENSE-7 workbook. It is not SENSE-7, nor by its authors."
        )
        rows = [["note", note]]
        for key in ("credit", "licence", "address", "changes"):
            rows.append([key, getattr(self, key)])
        for path, sha256 in self.parts.items():
            rows.append([f"sha256 of {path}", sha256])
        return [*self.convert(parts), Sheet(SOURCE_SHEET, ["key", "value"], rows)]


REGISTRY: dict[str, dict] = tomllib.loads(
    Path(__file__).with_name("registry.toml").read_text("utf-8")
)

SOURCES: dict[str, Source] = {
    name: Source(name, convert=CONVERTERS.get(name), **facts)
    for name, facts in REGISTRY["sources"].items()
}
"""The data sets that ``sense7 fetch`` knows."""
