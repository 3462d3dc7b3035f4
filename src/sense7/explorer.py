"""The conversations of an edition as script files, from which its explorer shows them.

A page opened from disk may load scripts, but no data; so the data come as scripts that set one name
each. ``conversations.js`` is small and holds what the list and its filters need, judges' scores
included. What was said stands in ``texts-N.js``, which the page loads when a conversation in it is
opened; ``texts.js`` holds them all, for a search. All is JSON in which nothing can end the script or hide in it;
``explorer_schema.json`` says what it holds.
"""

import json
import re

import numpy as np
import pandas as pd

from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import POOR, is_poor  # noqa: TID251 -- its script marks poor turns
from sense7.judge.scores.judges import Judges, chosen_judge, simulated_note
from sense7.study import NOT_RATED, UNREADABLE, Study
from sense7.taxonomy import DIMENSIONS, LEVEL_COLOURS, LEVELS, RATING_NAMES, TASK_COLUMNS
from sense7.workbook.ids import as_name

BYTES_PER_FILE = 50_000
"""Texts that share a file: to open a conversation costs no more, unless it is longer itself."""

_INKS = ("#ffffff", "#000000", "#000000", "#000000", "#ffffff")
"""Of white and black the one with the larger contrast to the colour of each level."""

_ANSWERS = tuple(column for column in TASK_COLUMNS if column.scale is not None)
_TITLES = {dimension.name: dimension.title for dimension in DIMENSIONS}
_TITLES |= {"importance": "Importance of the topic", "desired_empathy": "Empathy wished for"}

# < > & can't end a script or begin a comment; line separators end a line in old engines; direction marks and
# half characters would make a file that shows other than it is, or can't be written.
_UNSAFE = re.compile(
    "[<>&\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def script_json(content: object) -> str:
    r"""JSON that may stand in a script with any texts.

    Examples
    --------
    >>> script_json(["</script><!--", "a\u2028b", "\u00e9"])
    '["\\u003c/script\\u003e\\u003c!--","a\\u2028b","é"]'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def explorer_files(study: Study, judges: Judges | None = None, first: str = "") -> dict[str, str]:
    """The script files of a study's explorer.

    Examples
    --------
    >>> from sense7.loading import load
    >>> files = explorer_files(load("synthetic"))
    >>> list(files)[:3]
    ['conversations.js', 'texts-0.js', 'texts-1.js']
    >>> list(files)[-1]
    'texts.js'
    >>> files["conversations.js"][:39]
    'window.sense7Conversations={"simulated"'
    """
    signs = _signs_of_ratings(study.turns)
    files = {"conversations.js": ""}
    texts = []
    for number, (conversations, content) in enumerate(_texts(study, signs)):
        name = f"texts-{number}.js"
        files[name] = f"(window.sense7Texts=window.sense7Texts||{{}})[{number}]={content};\n"
        size = len(files[name].encode())
        texts.append({"file": name, "conversations": conversations, "bytes": size})
    never_asked = set(study.never_asked["name"])
    answers = [
        {
            "title": _title(column.name.removeprefix("post_")),
            "levels": column.scale.size,
            "asked": column.name not in never_asked,
        }
        for column in _ANSWERS
    ]
    facts = _conversations(study, signs)
    prompted = study.prompted_condition
    asked_ratings = study.asked
    index = {
        "simulated": study.provenance is not None and study.provenance.kind == "synthetic",
        "levels": LEVELS,
        "poorLevel": POOR,
        "prompted": prompted if prompted in facts["condition"] else None,
        "colours": [
            {"background": colour, "ink": ink}
            for colour, ink in zip(LEVEL_COLOURS, _INKS, strict=True)
        ],
        "ratings": [
            {"name": name, "title": _title(name), "asked": name in asked_ratings}
            for name in RATING_NAMES
        ],
        "answers": answers,
        "conversations": facts,
        "texts": texts,
        "judges": _judges(judges, first),
    }
    files["texts.js"] = "".join(files[text["file"]] for text in texts)
    files["conversations.js"] = f"window.sense7Conversations={script_json(index)};\n"
    return files


def _conversations(study: Study, signs: pd.Series) -> dict[str, list]:
    """What the list shows of conversations: name of a fact -> that of each conversation."""
    conversations, turns = study.conversations, study.turns
    truth = ground_truth(turns, conversations["conversation"])
    overall = turns["overall"].groupby(turns["conversation"])
    poor = is_poor(turns["overall"]).groupby(turns["conversation"]).sum()
    poor = poor.where(overall.count() > 0).reindex(truth.index)
    by_turn = signs.str[0].groupby(turns["conversation"]).agg("".join).reindex(truth.index)
    lowest = turns[list(RATING_NAMES)].groupby(turns["conversation"]).min().reindex(truth.index)
    facts = {"name": conversations["conversation"].tolist()}
    for name in ("participant", "condition", "topic"):
        facts[name] = _without_missing(conversations[name])
    answers = _levels(conversations[[column.name for column in _ANSWERS]])
    facts["answers"] = ["".join(row) for row in answers]
    facts["mean"] = _without_missing(truth.round(6))
    facts["level"] = [int(level) for level in np.nan_to_num(labels(truth))]
    facts["poorTurns"] = _without_missing(poor.astype("Int64"))
    facts["overall"] = by_turn.fillna("").tolist()
    facts["lowest"] = ["".join(row) for row in _levels(lowest)]
    return facts


def _without_missing(column: pd.Series) -> list:
    """Values of a column, None where there is none."""
    return column.astype(object).where(column.notna(), None).tolist()


def _judges(judges: Judges | None, first: str) -> list[dict]:
    """Judges, the one to show first in front; scores in the order of the conversations."""
    if not judges:
        return []
    first = chosen_judge(judges, first)
    listed = []
    for name in dict.fromkeys([first, *judges]):
        scores = []
        for run in judges[name].values():
            score = pd.Series(run.score).round(6).astype(object)
            status = pd.Series(run.status).str.replace("_", " ")
            scores.append(score.where(score.notna(), status))  # where it has none
        note = simulated_note([name] if name in judges.simulated else [])
        listed.append({"name": name, "note": note, "scores": list(zip(*scores, strict=True))})
    return listed


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def _levels(frame: pd.DataFrame) -> np.ndarray:
    """Answers as the nearest whole level, a character each, and a point where there is none."""
    return np.array(list(".12345"), dtype=object)[np.nan_to_num(labels(frame)).astype(int)]


def _signs_of_ratings(turns: pd.DataFrame) -> pd.Series:
    """A turn's eight ratings as characters: level, ``-`` not rated, ``?`` unreadable, ``.`` blank."""
    levels = _levels(turns[list(RATING_NAMES)])
    states = np.column_stack([turns[f"{name}_state"].astype(object) for name in RATING_NAMES])
    signs = np.select(
        [levels != ".", states == NOT_RATED, states == UNREADABLE], [levels, "-", "?"], "."
    )
    return pd.Series(["".join(row) for row in signs], index=turns.index, dtype=object)


def _messages(study: Study, signs: pd.Series) -> dict[str, list[dict]]:
    """Conversation -> its messages in order, each with what is there of it, and the ratings of its turn."""
    rated = study.turns[["conversation", "position", "turn"]].assign(ratings=signs)
    rows = study.messages.merge(rated, on=["conversation", "position"], how="left")
    rows = rows.sort_values(["conversation", "position"], kind="stable")
    rows = rows.assign(seconds=rows["seconds"].round(1), retry=rows["retry"].map(as_name))
    contents = rows[["role", "content", "seconds", "retry", "comment", "ratings"]]
    messages: dict[str, list[dict]] = {}
    for name, message in zip(rows["conversation"], contents.to_dict("records"), strict=True):
        present = {part: value for part, value in message.items() if pd.notna(value)}
        messages.setdefault(name, []).append(present)
    return messages


def _texts(study: Study, signs: pd.Series) -> list[tuple[int, str]]:
    """For each file how many conversations are in it, in their order, and their messages as JSON."""
    messages = _messages(study, signs)
    files: list[list[str]] = []
    size = BYTES_PER_FILE
    for name in study.conversations["conversation"]:
        text = script_json(messages.get(name, []))
        size += len(text.encode())
        if size > BYTES_PER_FILE:
            files.append([])
            size = len(text.encode())
        files[-1].append(text)
    return [(len(texts), f"[{','.join(texts)}]") for texts in files]
