"""What a judge is asked about: whole conversations, or each turn of the assistant's with what was said before it.

Beside each stands what the person said of it: a level, *not applicable*, or nothing.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.findings.ground_truth import ground_truth
from sense7.judge.chat import chat_json, chats
from sense7.judge.ratings import NOT_APPLICABLE, require_unit
from sense7.study import NOT_RATED, RATED, Study

__all__ = ["asked_units"]


def asked_units(study: Study, unit: str = "conversation", names: Sequence[str] = ("overall",)) -> pd.DataFrame:
    """Return every unit, what was said up to its end, and the person's ratings of it."""
    require_unit(unit)
    frame = _conversations(study) if unit == "conversation" else _turns(study)
    for name in names:
        frame[f"person_{name}"] = _person(study.turns, frame, name)
    return frame.drop(columns="place")


def _conversations(study: Study) -> pd.DataFrame:
    frame = study.conversations[["conversation", "participant"]].reset_index(drop=True)
    frame["source"], frame["turn"] = frame["conversation"], np.nan
    frame["chat"] = chats(study).to_numpy()
    frame["ground_truth"] = ground_truth(study.turns, frame["conversation"]).to_numpy()
    return frame.assign(place=range(len(frame)))


def _turns(study: Study) -> pd.DataFrame:
    turns = study.turns
    if turns.empty:
        raise UserError("--unit turn: the data have no turn of an assistant. Give --unit conversation.")
    order = {name: place for place, name in enumerate(study.conversations["conversation"])}
    places = np.lexsort((turns["turn"], turns["conversation"].map(order)))
    messages = dict(list(study.messages[["conversation", "position", "role", "content"]].groupby("conversation")))
    rows = []
    for place in places:
        turn = turns.iloc[place]
        said = messages[turn["conversation"]]
        rows.append(
            {
                "conversation": f"{turn['conversation']}.turn{int(turn['turn'])}",
                "participant": turn["participant"],
                "source": turn["conversation"],
                "turn": float(turn["turn"]),
                "chat": chat_json(said[said["position"] <= turn["position"]]),
                "ground_truth": np.nan,
                "place": place,
            }
        )
    return pd.DataFrame(rows)


def _person(turns: pd.DataFrame, frame: pd.DataFrame, name: str) -> pd.Series:
    """What the person said of each unit."""
    state, level = turns[f"{name}_state"].to_numpy(), turns[name].to_numpy(dtype=float)
    if frame["turn"].notna().any():
        places = frame["place"].to_numpy()
        levels, declined = np.where(state == RATED, level, np.nan)[places], (state == NOT_RATED)[places]
    else:
        known = pd.DataFrame({"level": np.where(state == RATED, level, np.nan), "declined": state == NOT_RATED})
        of_each = known.groupby(turns["conversation"].to_numpy()).agg({"level": "mean", "declined": "any"})
        of_each = of_each.reindex(frame["conversation"])
        levels, declined = of_each["level"].to_numpy(), of_each["declined"].eq(True).to_numpy()
    return pd.Series(
        [
            float(one) if np.isfinite(one) else NOT_APPLICABLE if none else None
            for one, none in zip(levels, declined, strict=True)
        ],
        frame.index,
        dtype=object,
    )


check_arguments(globals())
