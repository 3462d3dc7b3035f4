"""What a data set holds: people, conversations, turns, and their ground truth."""

import numpy as np
import pandas as pd

from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import ground_truth
from sense7.study import Study
from sense7.taxonomy import RATING_NAMES

__all__ = ["by_condition", "counts", "ground_truth_mean", "turns_per_conversation"]

NO_CONDITION = "(no condition)"


def counts(study: Study) -> pd.DataFrame:
    """Counts of the study, as a table of estimates without intervals.

    Returns
    -------
    DataFrame
        Rows participants, conversations_released, llm_conditions, tasks, dimensions (rated at
        least once), levels (that occur among the ratings of turns), messages, turns,
        turns_put_to_rating, conversations_with_ground_truth, error_rows; n is the number of rows
        looked at.
    """
    conversations, messages = study.conversations, study.messages
    truth = ground_truth(study.turns, conversations["conversation"])
    levels = study.turns[list(RATING_NAMES)].to_numpy()
    numbers = {
        "participants": (conversations["participant"].nunique(), "Tasks", "participants", "distinct PIDs in Tasks"),
        "conversations_released": (len(conversations), "Tasks", "conversations", "rows of Tasks"),
        "llm_conditions": (conversations["condition"].nunique(), "Tasks", "conditions", "distinct Models in Tasks"),
        "tasks": (conversations["topic"].nunique(), "Tasks", "topics", "distinct topics in Tasks"),
        "dimensions": (len(study.rated_dimensions), "turns", "dimensions", "dimensions rated in at least one turn"),
        "levels": (
            len(np.unique(levels[np.isfinite(levels)])),
            "turns",
            "levels",
            "distinct levels among the ratings of turns",
        ),
        "messages": (len(messages), "Messages", "messages", "rows of Messages that belong to a conversation"),
        "turns": (len(study.turns), "Messages", "turns", "messages whose Role is assistant"),
        "turns_put_to_rating": (
            len(study.turns_put_to_rating),
            "turns",
            "turns",
            "turns with at least one rating answered, be it by unknown",
        ),
        "conversations_with_ground_truth": (
            int(truth.notna().sum()),
            "Tasks",
            "conversations",
            "conversations with at least one rated turn",
        ),
        "error_rows": (
            int((messages["role"] == "error").sum()),
            "Messages",
            "messages",
            "messages whose Role is error",
        ),
    }
    looked_at = {"Tasks": len(conversations), "Messages": len(messages), "turns": len(study.turns)}
    rows = {}
    for key, (number, where, unit, method) in numbers.items():
        absent = number == 0 and key in {"llm_conditions", "tasks"}
        reason = f"{unit} were not given in this data set" if absent else ""
        estimate = np.nan if absent else number
        rows[key] = estimate_row(estimate, n=looked_at[where], unit=unit, method=method, reason=reason)
    return estimate_table(rows, "count")


def turns_per_conversation(study: Study) -> pd.Series:
    """Assistant turns of each conversation; 0 where it has none."""
    turns = study.turns["conversation"].value_counts()
    return turns.reindex(study.conversations["conversation"], fill_value=0).rename("turns")


def ground_truth_mean(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Mean ground truth over conversations, as a row of estimates, with its interval.

    Conversations without ground truth are left out. Levels 1..5.
    """
    conversations = study.conversations
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    known = np.isfinite(truth)
    values = np.column_stack([truth[known], np.ones(known.sum())])
    estimate, low, high, reason = bootstrap.estimate(ratio, values, conversations.loc[known, "participant"])
    method = "mean ground truth over conversations" + (f"; {bootstrap.description}" if not reason else "")
    return estimate_row(estimate, low, high, n=known.sum(), unit="level, 1 to 5", method=method, reason=reason)


def by_condition(study: Study) -> pd.DataFrame:
    """Participants, conversations and turns of each condition.

    Returns
    -------
    DataFrame
        A row a condition; ``(no condition)`` for conversations without one.
    """
    frame = study.conversations.assign(
        condition=study.conversations["condition"].fillna(NO_CONDITION),
        turns=turns_per_conversation(study).to_numpy(),
        truth=ground_truth(study.turns, study.conversations["conversation"]).to_numpy(),
    )
    groups = frame.groupby("condition")
    return pd.DataFrame(
        {
            "participants": groups["participant"].nunique(),
            "conversations": groups.size(),
            "turns": groups["turns"].sum(),
            "turns per conversation": groups["turns"].mean(),
            "with ground truth": groups["truth"].count(),
        }
    )
