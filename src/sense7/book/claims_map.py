"""The map of all claims: what was published, what these data give, what real ratings elsewhere say."""

from collections.abc import Mapping, Sequence

import pandas as pd

from sense7 import figures
from sense7.findings import elsewhere
from sense7.record import format_number

IN_SOME = "seen in some"
"""What the map says of a claim that some of the data sets that could answer it show, and others do not."""

DARKNESS = {"met": 0.9, "not met": 0.5, "waiting for the official workbook": 0.2}
"""State of a claim -> how dark its tile is; other states have none."""


def claims_map(ledger: Sequence[Mapping], values: Mapping, facts: Mapping, marks: Mapping) -> str:
    """HTML of the map of all claims: what was published, what these data give, what real ratings elsewhere say.

    ``values`` are those that the edition recorded; ``marks`` has the mark of each state.
    """
    published = "published"
    this_data_set = "this data set"
    other_studies = "real ratings elsewhere"
    cells = []
    for row in ledger:
        claim = row["published"]
        if claim["release"]:
            continue
        title = claim["short"] or claim["title"]
        computed = row["computed"]
        number = ""
        if computed and computed["estimate"] is not None:
            number = format_number(computed["estimate"], computed["unit"])
        verdicts = elsewhere.verdicts_of_claim(row["id"], values)
        times_seen = verdicts.count(elsewhere.SEEN)
        outcome = elsewhere.NOT_ASKED
        share = ""
        if verdicts:
            share = f"{times_seen} of {len(verdicts)}"
            outcome = verdicts[0]
        if len(set(verdicts)) > 1:
            outcome = elsewhere.NOT_SEEN
        if 0 < times_seen < len(verdicts):
            outcome = IN_SOME
        cells.append((title, published, published, claim["shown"]))
        cells.append((title, this_data_set, row["rule"]["state"], number))
        cells.append((title, other_studies, outcome, share))
    looks = {published: ("", 0.3)}
    for state, mark in marks.items():
        looks[str(state)] = (mark, DARKNESS.get(str(state), 0))
    looks.update(figures.VERDICTS)
    looks[IN_SOME] = ("◐", 0.5)
    frame = pd.DataFrame(cells, columns=["row", "column", "verdict", "text"])
    is_other = frame["column"] == other_studies
    if (frame.loc[is_other, "text"] == "").all():  # no page of this edition recorded them
        frame = frame[~is_other]
    origin = figures.source_of_origin(
        facts["kind"], facts["label"], facts["file"], is_verified=bool(facts.get("verified"))
    )
    figure = figures.verdict_map(
        frame,
        name="claims",
        label="All claims: published, in this data set, and in real ratings of other studies",
        caption="One row for each claim. The mark is its state; elsewhere, in how many of the data sets that "
        "asked the finding is seen. n and intervals stand in the tables.",
        looks=looks,
        source={
            published: figures.PUBLISHED,
            this_data_set: origin,
            other_studies: figures.RELEASED,
        },
    )
    return figure.html()
