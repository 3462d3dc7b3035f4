"""The seven dimensions in words, and real turns that were rated high and low on each."""

import numpy as np
import pandas as pd

from sense7.findings.core import finding, frame_of
from sense7.findings.ground_truth import labels
from sense7.findings.measures import replies
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study
from sense7.taxonomy import DIMENSIONS, LEVELS

__all__ = [
    "ENDS",
    "SAID",
    "dimensions_shown",
    "dimensions_with_examples",
    "plain_examples",
    "rated_examples",
    "short_conversation",
    "taxonomy",
]

OBSERVABLE = {
    "Affective": "a feeling is named or mirrored, and its reason is understood; low: it is passed over, or misread",
    "Cognitive": "the aim or view is restated rightly, or a fitting question follows; low: it answers something else",
    "Response": "advice comes where it is wanted, and listening where it is not; low: a list of tips nobody asked for",
    "Prosocial": "warmth, encouragement, an offer of help that is meant for this person; low: cold or routine",
    "Interest": "questions about the person's experience, details taken up; low: the subject is closed",
    "Contextual": "circumstances, history and preferences shape the answer; low: it would fit anybody",
    "Relational": "something said before is recalled and woven in; low: it is forgotten, or asked for again",
}
"""What a reader can look for in the text, by dimension: the companion's own reading."""

SAID = "My presentation went badly this morning, and my manager walked out without a word."
"""What the user says before each of the plain examples."""

PLAIN = {
    "Affective": (
        "That silence must have hurt, after all the work you put in.",
        "Glad to hear you gave a presentation! How can I help?",
    ),
    "Cognitive": (
        "So the worst part is not the talk itself, but not knowing what your manager thinks of it now. Is that right?",
        "It sounds as if you want to learn how to make better slides.",
    ),
    "Response": (
        "We can look at what to say to your manager, or you can just tell me about it first. Which would you prefer?",
        "1. Practice more. 2. Use fewer slides. 3. Speak more slowly. 4. Make eye contact.",
    ),
    "Prosocial": (
        "I'm sorry your day began like this. I'd like to help you get through the rest of it.",
        "Your message has been noted. Please state your request.",
    ),
    "Interest": (
        "What happened just before your manager left? And how did the others react?",
        "Okay. Is there anything else?",
    ),
    "Contextual": (
        "You started in this team only two months ago and prefer to settle things in person. A short talk after the "
        "weekly meeting might suit you better than an email.",
        "Presentations are an important part of working life. Everybody has a bad day now and then.",
    ),
    "Relational": (
        "Last week you worried that exactly this slide on costs would cause trouble. Was it that one?",
        "I don't think you've mentioned a presentation before. What is it about?",
    ),
}
"""Dimension -> an answer that shows it and one that misses it; both written for this companion."""

ENDS = {"high": (5,), "low": (1, 2)}
"""Levels of the examples at each end of a scale."""

CUT = 240
"""Characters after which a text is cut."""

CUT_MARK = " [cut]"


def taxonomy() -> pd.DataFrame:
    """Return the seven dimensions: definition, what can be observed, and group, in the companion's words.

    Returns
    -------
    DataFrame
        One row per dimension, by its title. The definitions are in our words; what to look for and the
        group are ours, and their columns say so.

    Examples
    --------
    >>> taxonomy().loc["Interest", "group (ours)"]
    'motivational'
    """
    rows = {
        dimension.title: {
            "the agent ..": dimension.definition,
            "to look for in a text (ours)": OBSERVABLE[dimension.name],
            "group (ours)": dimension.group,
        }
        for dimension in DIMENSIONS
    }
    return frame_of(rows, "dimension")


def plain_examples() -> pd.DataFrame:
    """Return one answer that shows each dimension and one that misses it, written for this companion.

    Returns
    -------
    DataFrame
        One row per dimension, by its title. All answer the same message (``SAID``).
    """
    rows = {}
    for dimension in DIMENSIONS:
        shows_it, misses_it = PLAIN[dimension.name]
        rows[dimension.title] = {"shows it": shows_it, "misses it": misses_it}
    return frame_of(rows, "dimension")


def rated_examples(study: Study) -> pd.DataFrame:
    """Return a turn rated high and one rated low on each dimension, chosen by rule.

    Among the turns rated 5 (high), or 1 or 2 (low), on the dimension that have a text and a user's
    message with a text before them, the one whose text's length is nearest to their median
    length; of equally near ones the first in file order. Each participant gives at most one example of the
    whole table, and no text stands in it twice: dimensions are served in their order, high before
    low, and what was taken is left out. Nothing is drawn by chance.

    Returns
    -------
    DataFrame
        One row per dimension and end: dimension (its name), title, end, level (NaN if there is none),
        conversation, turn, participant, user, assistant (texts, uncut), candidates (turns that
        fulfil the rule, before any was taken), reason ("" if there is an example).
    """
    turns = replies(study)
    participants_used: set[str] = set()
    texts_used: set[str] = set()
    rows = []
    for dimension in DIMENSIONS:
        for end, levels in ENDS.items():
            candidates = turns[np.isin(labels(turns[dimension.name]), levels)]
            is_used = candidates["participant"].isin(participants_used)
            is_used |= candidates["assistant"].isin(texts_used)
            free = candidates[~is_used]
            row = {
                "dimension": dimension.name,
                "title": dimension.title,
                "end": end,
                "candidates": len(candidates),
                "level": np.nan,
                "reason": "",
            }
            if free.empty:
                row["reason"] = _why_none(study, dimension.name, end, len(candidates))
            else:
                median_length = candidates["assistant"].str.len().median()
                distance = (free["assistant"].str.len() - median_length).abs()
                chosen = free.loc[distance.idxmin()]
                participants_used.add(chosen["participant"])
                texts_used.add(chosen["assistant"])
                row["level"] = chosen[dimension.name]
                row.update(chosen[_OF_TURN])
            rows.append(row)
    columns = ["dimension", "title", "end", "level", *_OF_TURN, "candidates", "reason"]
    return pd.DataFrame(rows).reindex(columns=columns)


_OF_TURN = ["conversation", "turn", "participant", "user", "assistant"]
"""What :func:`rated_examples` shows of the turn itself."""


MOST_TURNS = 6
"""Answers of a conversation that a picture can hold."""


def short_conversation(study: Study) -> pd.DataFrame:
    """Return one short conversation with its texts and ratings, chosen by rule, for a picture.

    Among the conversations of at most ``MOST_TURNS`` answers whose messages all have texts and whose answers all have a
    rating, those in which the rating that was asked first, as a rule the overall one, moves most from one answer to
    another; of these the one with the fewest answers, and of equally short ones the first in file order. Nothing is
    drawn by chance, and no text decides.

    Returns
    -------
    DataFrame
        One row per message, in order: text (who wrote it, and what) and note (the ratings of an answer; "" for none).
        No row if there is no such conversation.

    Examples
    --------
    >>> from sense7.loading import load
    >>> len(short_conversation(load("synthetic")))
    10
    """
    boxes = pd.DataFrame(columns=["text", "note"])
    ratings = study.asked
    if not ratings:
        return boxes
    messages = study.messages.merge(
        study.turns[["conversation", "position", *ratings]],
        on=["conversation", "position"],
        how="left",
        indicator="of_turns",
    )
    messages["answers"] = messages["of_turns"] == "both"
    has_text = messages["content"].astype(object).fillna("").str.strip() != ""
    has_rating = messages[ratings].notna().any(axis=1)
    messages["complete"] = has_text & (has_rating | ~messages["answers"])
    by_conversation = messages.groupby("conversation", sort=False)
    candidates = pd.DataFrame(
        {
            "answers": by_conversation["answers"].sum(),
            "complete": by_conversation["complete"].all(),
            "range": by_conversation[ratings[0]].max() - by_conversation[ratings[0]].min(),
        }
    )
    candidates = candidates[candidates["complete"] & candidates["answers"].between(1, MOST_TURNS)]
    candidates = candidates[candidates["range"] >= candidates["range"].max()]
    if candidates.empty:
        return boxes
    is_chosen = messages["conversation"] == candidates["answers"].idxmin()
    for message in messages[is_chosen].sort_values("position").to_dict("records"):
        who = "assistant" if message["answers"] else "user"
        levels = [f"{name} {message[name]:.0f}" for name in ratings if message[name] > 0]
        boxes.loc[len(boxes)] = [f"{who}: {message['content']}", ", ".join(levels)]
    return boxes


def _why_none(study: Study, name: str, end: str, candidates: int) -> str:
    """Why there is no example of one end of a dimension."""
    if name not in study.asked:
        return "this dimension was never asked in this data set"
    if not study.turns[name].notna().any():
        return "this dimension was asked and never rated in this data set"
    words = " or ".join(LEVELS[level - 1] for level in ENDS[end])
    if not candidates:
        return f"no turn with texts was rated {words}"
    return f"every participant, or every text, with a turn rated {words} is an example already"


def dimensions_shown(examples: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return both examples of one dimension for a page: rating and the two texts, long ones cut.

    Parameters
    ----------
    examples : DataFrame
        As :func:`rated_examples` returns them.
    name : str
        Name of the dimension.

    Returns
    -------
    DataFrame
        One row per end; columns rating, user before, assistant's turn, conversation in full (its name). Where there
        is no example the assistant's turn says why.
    """
    chosen = examples[examples["dimension"] == name]
    rows = {}
    for row in chosen.to_dict("records"):
        if row["reason"]:
            rows[row["end"]] = {
                "rating": "none",
                "user, before": "",
                "assistant's turn": row["reason"],
                "conversation in full": "",
            }
        else:
            level = int(labels(row["level"]))
            rows[row["end"]] = {
                "rating": LEVELS[level - 1],
                "user, before": _cut(row["user"]),
                "assistant's turn": _cut(row["assistant"]),
                "conversation in full": row["conversation"],
            }
    return frame_of(rows, "rated")


def _cut(text: str) -> str:
    """At most ``CUT`` characters of a text, ending at a word, with a mark where something is missing."""
    text = " ".join(text.split())
    if len(text) <= CUT:
        return text
    head = text[:CUT]
    has_late_space = " " in head[CUT // 2 :]
    if has_late_space:
        head = head.rsplit(" ", 1)[0]
    return head + CUT_MARK


@finding
def dimensions_with_examples(examples: pd.DataFrame) -> pd.DataFrame:
    """Return how many dimensions have an example at both ends.

    Parameters
    ----------
    examples : DataFrame
        As :func:`rated_examples` returns them.

    Returns
    -------
    DataFrame
        One row: estimate (a count, without interval), n (dimensions), unit, method, reason.
    """
    has_example = examples.assign(has_example=examples["reason"] == "").pivot_table(
        index="dimension", columns="end", values="has_example", aggfunc="any"
    )
    row = estimate_row(
        has_example.all(axis=1).sum(),
        n=len(has_example),
        unit="number of dimensions",
        method="dimensions with an example at both ends that fulfils the rule",
        key="dimensions_with_examples",
    )
    return estimate_table({"both": row}, "examples")
