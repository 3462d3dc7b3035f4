"""What every page says of its data: one line, and the rest of it one click away."""

import html
from collections.abc import Mapping

from sense7.terminal import count_of

__all__ = ["banner"]

_RELEASED = "<strong>On this page: real ratings that other studies released.</strong>"
_WHAT_RELEASED_RATINGS_ARE = "They are neither SENSE-7 nor this edition's data, and the same in every edition."


def banner(facts: Mapping, dataset_page: str = "notebooks/01-dataset.html", *, released: bool = False) -> str:
    """What a page says of its data, as HTML; all that comes from outside is escaped.

    Parameters
    ----------
    facts : mapping
        Of the edition, as edition.json holds them.
    dataset_page : str
        Address of the page that lists the reader's warnings, from the page that shows the banner.
    released : bool
        Whether the page rests on released ratings of other studies and not on the edition's workbook. Then it has
        their line alone: the edition's would call real ratings simulated, in the synthetic edition.
    """
    if released:
        return _folded(_RELEASED, _WHAT_RELEASED_RATINGS_ARE)
    line, details = _about_data(facts)
    count = sum(kind["warnings"] for kind in facts.get("warnings", {}).values())
    if count:
        details += (
            f' <a href="{dataset_page}#what-the-reader-noticed">{count_of(count, "warning")} about this workbook</a>.'
        )
    return _folded(line, details)


def _folded(line: str, details: str) -> str:
    return f'<details class="sense7-banner"><summary>{line}</summary> {details}</details>'


def _about_data(facts: Mapping) -> tuple[str, str]:
    """The line that is always in sight, and the details."""
    file, checksum = html.escape(facts["file"]), f"sha256 {html.escape(facts['sha256'][:12])}…"
    if facts["kind"] == "synthetic":
        return "<strong>Synthetic data.</strong> Its numbers are not findings.", (
            "Unless a page names another source, every result in this edition comes from simulated conversations with "
            f"planted effects; values marked tuned were set near published ones. (Workbook {file}, {checksum})"
        )
    if facts["kind"] == "official" and facts["verified"]:
        day = html.escape(facts["fetched"][:10])
        return "<strong>Official SENSE-7 workbook</strong>", (
            f"It was fetched from the authors' repository on {day}. ({checksum})"
        )
    if facts["kind"] == "official":
        return (
            "<strong>Unverified copy</strong> of the official SENSE-7 workbook: nothing here counts as a reproduction.",
            (f"It was not fetched from the authors' repository. ({checksum})"),
        )
    if facts["kind"] == "third-party":
        label, credit = html.escape(facts["label"]), html.escape(facts["credit"])
        return f"<strong>{label}.</strong> Its numbers say nothing about SENSE-7.", f"{credit} ({checksum})"
    return f"<strong>Workbook {file}</strong>: not the SENSE-7 release. Its numbers say nothing about SENSE-7.", (
        f"It was given by its path. ({checksum})"
    )
