"""Conversations in which there is something to be found, for baselines and examples."""

import re
from functools import cache

import numpy as np
import pandas as pd

from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

WORDS = re.findall(
    r"\w+",
    "tea ale warm cold day night rain sun good sad tired glad help advice curious earlier plan work feel hear",
)


def study_of(people, truths, said=None, answers=None, turns=None):
    """Conversations with one exchange each: who, ground truth (NaN: none), and what both said.

    Turns of the assistant beyond the first are blank: a blank message has no words, and is a turn.
    """
    names = [f"C{number + 1}" for number in range(len(people))]
    said = said or [f"text {number}" for number in range(len(people))]
    answers = answers or ["I see."] * len(people)
    turns = turns or [1] * len(people)
    messages = [
        (name, role, text)
        for name, user, answer, count in zip(names, said, answers, turns, strict=True)
        for role, text in [
            ("user", user),
            ("assistant", answer),
            *[("assistant", "")] * (count - 1),
        ]
    ]
    ratings = dict.fromkeys(DIMENSION_NAMES, np.nan) | {
        "Affective": np.asarray(truths, dtype=float)
    }
    return Study(
        name="made up",
        conversations=pd.DataFrame(
            {"conversation": names, "participant": [f"P{person}" for person in people]}
        ),
        messages=pd.DataFrame(messages, columns=["conversation", "role", "content"], dtype=object),
        turns=pd.DataFrame({"conversation": names} | ratings),
        participants=None,
        columns=pd.DataFrame(),
    )


@cache
def lists(seed=0, people=8, conversations=40):
    """Participants, ground truths and texts in which there is something to be found, but not everything."""
    generator = np.random.default_rng(seed)
    who = generator.integers(people, size=conversations)
    who[:people] = range(people)
    said = [" ".join(generator.choice(WORDS, size=generator.integers(2, 12))) for _ in who]
    answers = [" ".join(generator.choice(WORDS, size=generator.integers(2, 30))) for _ in who]
    lean = generator.normal(0, 0.6, people)[who]
    truths = 3 + lean + 0.08 * np.array([len(text.split()) for text in answers]) - 1
    truths += np.array(["sad" in text for text in said]) * 0.8 + generator.normal(
        0, 0.3, conversations
    )
    return who.tolist(), np.clip(np.round(truths * 2) / 2, 1, 5).tolist(), said, answers
