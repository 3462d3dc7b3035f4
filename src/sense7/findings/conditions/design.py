"""Whether participants met one condition or several."""

from typing import NamedTuple

from sense7.arguments import check_arguments
from sense7.findings.conditions.pairs import NO_CONDITION, ONE_CONDITION
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["Design", "condition_design"]

MOSTLY = 0.9
"""Share of participants from which on a design is called by what they have in common."""


class Design(NamedTuple):
    """How conditions are spread over participants: ``kind``, the same in ``words``, ``n`` participants."""

    kind: str
    words: str
    n: int


def condition_design(study: Study) -> Design:
    """Whether conditions vary within or between participants, read off the conversations.

    Participants with at least two conversations tell it: if at least 90% of them met several
    conditions, it is *within participants*; if at most 10% did, *between participants*; otherwise
    *mixed*. If nobody has two conversations, it is between participants.

    Returns
    -------
    Design
        Its kind may also be *one condition* and *no condition*.
    """
    known = study.conversations[study.conversations["condition"].notna()]
    met = known.groupby("participant")["condition"].agg(["size", "nunique"])
    if len(study.conditions) < 2:
        kind = ("no condition", "one condition")[len(study.conditions)]
        return Design(kind, (NO_CONDITION, ONE_CONDITION)[len(study.conditions)], len(met))
    several = met[met["size"] > 1]
    if several.empty:
        return Design("between participants", "no participant has two conversations", len(met))
    share = (several["nunique"] > 1).mean()
    kind = "within participants" if share >= MOSTLY else "between participants" if share <= 1 - MOSTLY else "mixed"
    words = (
        f"{(several['nunique'] > 1).sum():,} of {count_of(len(several), 'participant')} with several conversations met "
        f"several conditions, and {(several['nunique'] == len(study.conditions)).sum():,} met all "
        f"{len(study.conditions)}"
    )
    return Design(kind, words, len(met))


check_arguments(globals())
