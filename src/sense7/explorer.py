"""The conversations of an edition as script files, from which its explorer shows them.

A page opened from disk may load scripts, but no data; so the data come as scripts that set one name each.
``conversations.js`` is small and holds what the list and its filters need, judges' scores included. What was said
stands in ``texts-N.js``, so many conversations a file; the page loads them in the background, or, in a large study,
when one of them is opened or searched. All is JSON in which nothing can end the script or hide in it.
"""

import itertools
import json
import re
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import POOR, is_poor
from sense7.judge.files import counted_scores
from sense7.judge.judges import Judges, chosen_judge, simulated_note
from sense7.study import NOT_RATED, UNREADABLE, Study
from sense7.taxonomy import DIMENSIONS, LEVEL_COLOURS, LEVELS, RATING_NAMES, TASK_COLUMNS
from sense7.workbook.ids import as_name

TEXTS_A_FILE = 500
"""Conversations whose texts share a file."""

AT_ONCE = 5000
"""Up to so many conversations all texts are loaded in the background, so that a search finds them at once."""

_INKS = ("#ffffff", "#000000", "#000000", "#000000", "#ffffff")
"""Of white and black the one with the larger contrast to the colour of each level."""

_ANSWERS = tuple(column.name for column in TASK_COLUMNS if column.scale is not None)
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
    >>> list(files)
    ['conversations.js', 'texts-0.js', 'texts-1.js']
    >>> files["conversations.js"][:39]
    'window.sense7Conversations={"levels":["'
    """
    ratings = _ratings(study.turns)
    messages = dict(_messages(study, ratings))
    ids = study.conversations["conversation"].tolist()
    texts = {}
    for number, start in enumerate(range(0, len(ids), TEXTS_A_FILE)):
        content = _texts([messages.get(name, []) for name in ids[start : start + TEXTS_A_FILE]])
        script = (
            f"(window.sense7Texts=window.sense7Texts||{{}})[{number}]={script_json(content)};\n"
        )
        texts[f"texts-{number}.js"] = script
    conversations, turns = study.conversations, study.turns
    truth = ground_truth(turns, conversations["conversation"])
    by_conversation = turns["overall"].groupby(turns["conversation"])
    facts = pd.DataFrame(
        {
            "truth": truth,
            "label": labels(truth),
            "rated": by_conversation.count(),
            "poor": is_poor(turns["overall"]).groupby(turns["conversation"]).sum(),
            "overall": ratings.str[0].groupby(turns["conversation"]).agg("".join),
        }
    ).reindex(truth.index)
    lowest = turns[list(RATING_NAMES)].groupby(turns["conversation"]).min().reindex(truth.index)
    names = {
        name: sorted(conversations[name].dropna().unique())
        for name in ("participant", "condition", "topic")
    }
    places = {
        name: {text: number for number, text in enumerate(texts)} for name, texts in names.items()
    }
    answers = _levels(conversations[list(_ANSWERS)])
    rows = [
        [
            task["conversation"],
            *(places[name].get(task[name], -1) for name in names),
            answer,
            round(fact["truth"], 6) if np.isfinite(fact["truth"]) else None,
            int(fact["label"]) if np.isfinite(fact["label"]) else 0,
            int(fact["poor"]) if fact["rated"] > 0 else None,
            fact["overall"] if isinstance(fact["overall"], str) else "",
            low,
        ]
        for task, answer, fact, low in zip(
            conversations.to_dict("records"),
            answers,
            facts.to_dict("records"),
            _levels(lowest),
            strict=True,
        )
    ]
    never = set(study.never_asked["name"])
    first = chosen_judge(judges or {}, first)
    index = {
        "levels": LEVELS,
        "poorLevel": POOR,
        "prompted": places["condition"].get(study.prompted_condition, -1),
        "colours": [[colour, ink] for colour, ink in zip(LEVEL_COLOURS, _INKS, strict=True)],
        "ratings": [[_title(name), name in study.asked, name] for name in RATING_NAMES],
        "answers": [
            [_title(column.name.removeprefix("post_")), column.scale.size, column.name not in never]
            for column in TASK_COLUMNS
            if column.scale is not None
        ],
        **{f"{name}s": texts for name, texts in names.items()},
        "conversations": rows,
        "files": list(texts),
        "textsAFile": TEXTS_A_FILE,
        "atOnce": len(ids) <= AT_ONCE,
        "bytes": sum(len(text.encode()) for text in texts.values()),
        "judges": [  # the one to show first comes first
            {
                "name": judge,
                "note": simulated_note([judge] if judge in judges.simulated else []),
                "runs": list(runs),
                # In the order of the conversations.
                "scores": list(zip(*(_scores(frame) for frame in runs.values()), strict=True)),
            }
            for judge, runs in sorted((judges or {}).items(), key=lambda item: item[0] != first)
        ],
    }
    return {"conversations.js": f"window.sense7Conversations={script_json(index)};\n"} | texts


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def _scores(frame: pd.DataFrame) -> list[float | str]:
    """The score of each conversation; its status where it has none."""
    scores = counted_scores(frame)
    return [
        (int(score) if score == int(score) else round(score, 6))
        if np.isfinite(score)
        else status.replace("_", " ")
        for score, status in zip(scores, frame["status"], strict=True)
    ]


def _levels(frame: pd.DataFrame) -> list[str]:
    """A row's answers as characters: levels, or a point where there is none."""
    return ["".join(row) for row in _whole(frame).where(frame.notna(), ".").to_numpy(dtype=object)]


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Answers as the nearest whole level, one character each; "0" where there is none."""
    nearest = np.nan_to_num(labels(frame)).astype(int)
    return pd.DataFrame(nearest, index=frame.index, columns=frame.columns).astype(str)


def _ratings(turns: pd.DataFrame) -> pd.Series:
    """A turn's eight ratings as characters: level, ``-`` not rated, ``?`` unreadable, ``.`` blank."""
    levels = _whole(turns[list(RATING_NAMES)]).to_numpy(dtype=object)
    states = np.column_stack([turns[f"{name}_state"].astype(object) for name in RATING_NAMES])
    signs = np.select(
        [levels != "0", states == NOT_RATED, states == UNREADABLE], [levels, "-", "?"], "."
    )
    return pd.Series(["".join(row) for row in signs], index=turns.index, dtype=object)


def _messages(study: Study, ratings: pd.Series) -> Iterable[tuple[str, list[dict]]]:
    """Conversation -> its messages in order, each with the ratings of its turn, if it is one."""
    rated = study.turns[["conversation", "position", "turn"]].assign(ratings=ratings)
    messages = study.messages.merge(rated, on=["conversation", "position"], how="left")
    messages = messages.sort_values(["conversation", "position"], kind="stable")
    for name, group in itertools.groupby(
        messages.to_dict("records"), lambda one: one["conversation"]
    ):
        yield name, list(group)


def _texts(conversations: Iterable[list[Mapping]]) -> dict:
    """Each different text once; messages name texts by their place, -1 for none."""
    places: dict[str, int] = {}

    def place(text) -> int:
        return places.setdefault(str(text), len(places)) if pd.notna(text) else -1

    rows = [
        [
            [
                place(message["role"]),
                place(message["content"]),
                round(message["seconds"], 1) if np.isfinite(message["seconds"]) else None,
                place(as_name(message["retry"])),
                place(message["comment"]),
                message["ratings"] if isinstance(message["ratings"], str) else 0,
            ]
            for message in conversation
        ]
        for conversation in conversations
    ]
    return {"texts": list(places), "conversations": rows}
