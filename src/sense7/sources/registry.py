"""The data sets that can be fetched by name: address, licence, credit, and what each has to be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sense7.sources import ieval, lend_an_ear
from sense7.workbook.xlsx import Sheet

__all__ = ["SOURCES", "SOURCE_SHEET", "Part", "Source"]

SOURCE_SHEET = "src_Source"
"""Sheet by which a converted workbook says whose data it holds, wherever it is copied to.

Columns ``key`` and ``value``.
"""


@dataclass(frozen=True)
class Part:
    """One of the published files that a workbook is made of.

    Attributes
    ----------
    path : str
        Path below the source's address.
    sha256 : str
        What the file must be.
    """

    path: str
    sha256: str

    @property
    def file(self) -> str:
        """Name of the file, without folders."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Source:
    """A data set that others publish and that can be fetched by name.

    It is either one workbook that is kept as it came, or consists of parts of which a workbook is made.

    Attributes
    ----------
    name : str
        What a user types.
    title : str
        What a reader sees.
    address : str
        Where the file lies, or the folder of the parts, ending in a slash. For a source that is
        pinned the address holds the commit.
    licence : str
        SPDX identifier of the data's licence.
    credit : str
        Whom to credit, in words.
    file : str
        Name of the workbook here.
    kind : str
        Kind of the provenance that a fetched workbook gets.
    sha256 : str, optional
        What the file must be. None where upstream publishes a moving file, as the authors do;
        then the first fetch is recorded and later changes are noticed.
    check : callable, optional
        Refuses a download that isn't what it should be, by :class:`sense7.errors.UserError`. Called with the
        downloaded file. None: a SENSE-7 workbook is expected.
    parts : tuple of Part
        Published files; none if the workbook itself is published.
    convert : callable, optional
        Makes the sheets of the workbook from the parts, given as name of the file -> path. The same parts
        give the same sheets. It is only ever called with files that were verified.
    conversion : int
        Number of the conversion, raised whenever ``convert`` begins to give other sheets: what an
        older one gave is then not taken for what this one gives.
    changes : str
        What the conversion made of the data, in words.
    """

    name: str
    title: str
    address: str
    licence: str
    credit: str
    file: str
    kind: str = "official"
    sha256: str | None = None
    check: Callable[[Path], None] | None = None
    parts: tuple[Part, ...] = ()
    convert: Callable[[Mapping[str, Path]], list[Sheet]] | None = None
    conversion: int = 1
    changes: str = ""

    @property
    def pins(self) -> dict[str, str]:
        """Name of each part's file -> what its sha256 must be."""
        return {part.file: part.sha256 for part in self.parts}

    @property
    def acknowledgement(self) -> str:
        """Whom to credit, and the licence, in one line."""
        return f"{self.credit} Licence of the data: {self.licence}."

    def sheets(self, parts: Mapping[str, Path]) -> list[Sheet]:
        """Make the sheets of the workbook from the parts, and one that says whose data they are."""
        rows = [
            ["note", f"{self.title}, laid out as a SENSE-7 workbook. It is not SENSE-7, nor by its authors."],
            ["credit", self.credit],
            ["licence", self.licence],
            ["address", self.address],
            ["changes", self.changes],
            *([f"sha256 of {part.path}", part.sha256] for part in self.parts),
        ]
        return [*self.convert(parts), Sheet(SOURCE_SHEET, ["key", "value"], rows)]


_RATINGS = {
    "expert1": "0da286141c6e72e44f17d703b958392ed826292ef05412ff6f31c266b42cb5df",
    "expert2": "b42757d7ef091ba6abbc40ba7f2930f02803b7ece0c6c2307b18bf98abbec0cd",
    "expert3": "720e1186ced98119d929871a27205626070009bdbf215d40ace1599e2210e477",
}
_NOT_ASKED = "What was not asked is blank."

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="official",
            title="SENSE-7, the official workbook",
            address="https://raw.githubusercontent.com/microsoft/sense-7/main/sense-7_dataset.xlsx",
            licence="CDLA-Permissive-2.0",
            credit=(
                "Suh, Le, Shayegani, Ramos, Amores, Ong, Czerwinski, Hernandez: SENSE-7: Taxonomy and "
                "Dataset for Measuring User Perceptions of Empathy in Sustained Human-AI Conversations. "
                "arXiv 2509.16437, 2025."
            ),
            file="official.xlsx",
        ),
        Source(
            name="ieval",
            title="iEval (Svikhnushina and others, 2022)",
            address="https://raw.githubusercontent.com/Sea94/ieval/bc98053e8ba6acf69ae154209192e44326dd47c0/",
            licence="CC-BY-4.0",
            credit=(
                "Svikhnushina, Filippova, Pu: iEval: Interactive Evaluation Framework for Open-Domain Empathetic "
                "Chatbots. SIGDIAL, 2022."
            ),
            file="ieval.xlsx",
            kind="third-party",
            parts=(Part("ieval_data.json", "bdc977804ffc526398d3fdc220d64ca580cdb1941f09a60ba09e1f72739a083a"),),
            convert=ieval.convert,
            changes=(
                "Ratings of whole chats stand on the last turn of the chatbot and after the conversation: understood "
                "my emotions as Affective, responded to my emotions appropriately as Response, polite as Prosocial, "
                "paying attention as Interest, made sense as Contextual, likable as PositiveInteraction. These are "
                f"stand-ins: the questions differ. {_NOT_ASKED} The code _x000D_ was removed from messages."
            ),
        ),
        Source(
            name="lend-an-ear",
            title="Lend an Ear (Kumar and others, 2025)",
            address=(
                "https://raw.githubusercontent.com/aakriti1kumar/"
                "replication-data-and-code-when-LLMs-reliable-empathic-communication/"
                "713458108e28897fccf136a6337296b5199cb617/"
            ),
            licence="MIT",
            credit=(
                "Kumar, Poungpeth, Yang, Farrell, Lambert, Groh: When Large Language Models are Reliable for Judging "
                "Empathic Communication. arXiv 2506.10150, 2025. Copyright 2025 Aakriti Kumar."
            ),
            file="lend-an-ear.xlsx",
            kind="third-party",
            parts=(
                Part(
                    "original_data/sample_lend_an_ear_conversations.csv",
                    "022f644dead78e65c2672360aac9ab83d976a60c2a2695be7193a4d1042d6bf4",
                ),
                *(Part(f"annotations/lend_an_ear/{rater}_ratings.csv", sha256) for rater, sha256 in _RATINGS.items()),
            ),
            convert=lend_an_ear.convert,
            changes=(
                "One task for each conversation and expert, whose ratings of the whole conversation stand on the last "
                "turn of the supporter: validating emotions as Affective, demonstrating understanding as Cognitive, "
                "encouraging elaboration as Interest. These are stand-ins: the questions differ. Both "
                f"speakers are people; the supporter stands as the assistant. {_NOT_ASKED} Empty messages and the "
                "crowd's ratings are left out."
            ),
        ),
    )
}
"""The data sets that ``sense7 fetch`` knows."""
