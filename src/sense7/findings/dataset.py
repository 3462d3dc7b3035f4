"""What a data set holds: people, conversations, turns, their ground truth, lengths, times and disturbances."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from sense7.findings.core import Needs, Number, finding, frame_of, mean_number, tabulate, value_row
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.individualized import (
    FEWEST_PER_GROUP,
    MOST_GROUPS,
    NO_SHEET,
    are_numbers,
    characteristic_columns,
)
from sense7.findings.measures import answers_to
from sense7.segmentation import words_in
from sense7.statistics.bootstrap import ParticipantBootstrap, pieces
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.order import in_order_of_appearance, rounded
from sense7.study import ABSENT, DECLINED, NOT_RATED, RATED, UNREADABLE, Study
from sense7.taxonomy import RATING_NAMES, SCALE_OF
from sense7.terminal import count_of
from sense7.workbook.ids import as_name, as_number
from sense7.workbook.reading import Interval

__all__ = [
    "ALL",
    "Characteristics",
    "Quantity",
    "answers",
    "by_condition",
    "characteristics",
    "counts",
    "described_parts",
    "diagnostics_table",
    "disturbance_shares",
    "durations",
    "flow",
    "ground_truth_mean",
    "ground_truth_sd",
    "in_words",
    "lengths",
    "levels_by_condition",
    "medians",
    "shown_by_condition",
    "topics_by_condition",
    "turns_per_conversation",
]

NO_CONDITION = "(no condition)"
NO_TOPIC = "(no topic)"
ALL = "(all)"

MOST_TOPICS = 40
"""Topics that a figure can hold; the rarest of more are put together."""

LONG_NUMBER = 10_000
"""Whole numbers of at least this size that differ for all participants are treated as names of people."""

NO_RETRY = frozenset({"false", "no", "none", "n"})
"""Words in the column Retry that say that a message is none."""

_QUANTITIES = {
    "user_words": ("median_user_words", "words in a user's message", "words", "messages"),
    "assistant_words": (
        "median_assistant_words",
        "words in an assistant's message",
        "words",
        "messages",
    ),
    "turns": ("median_turns", "turns in a conversation", "number of turns", "conversations"),
    "duration": (
        "median_duration",
        "seconds that a conversation lasts",
        "seconds",
        "conversations",
    ),
    "importance": (
        "median_importance",
        "importance of the topic",
        "level, 1 to 5",
        "conversations",
    ),
    "desired_empathy": (
        "median_desired_empathy",
        "desired empathy",
        "level, 1 to 3",
        "conversations",
    ),
}
"""Quantity -> key of its median, name, unit, and what n counts."""

NO_TIMES = "no message has a time (TimeOffsetSeconds) in this data set"
NO_RETRIES = "no cell of the column Retry is filled in this data set"


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity measured of every message, turn or conversation."""

    key: str
    name: str
    unit: str
    units: str
    frame: pd.DataFrame = field(repr=False)
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Characteristics:
    """The columns of the participants' sheet."""

    numbers: pd.DataFrame
    groups: pd.DataFrame
    others: pd.DataFrame
    reason: str


def _truth(study: Study) -> pd.Series:
    return ground_truth(study.turns, study.conversations["conversation"])


@finding
def counts(study: Study) -> pd.DataFrame:
    """Return counts of the study, as a table of estimates without intervals.

    Returns
    -------
    DataFrame
        Rows participants, conversations_released, llm_conditions, tasks, dimensions (rated at
        least once), levels (that occur among the ratings of turns), turns, turns_put_to_rating,
        conversations_with_ground_truth, rescaled_columns, unreadable_answers; n is the number of rows, columns or
        answers that were searched.
    """
    conversations = study.conversations
    levels = study.turns[list(RATING_NAMES)].to_numpy()
    number_of_answers = int(study.columns.loc[study.columns["question"], "filled"].sum())
    in_tasks = len(conversations)
    # Count, of how many rows, columns or answers that were searched, what is counted, method.
    counted = {
        "participants": (
            conversations["participant"].nunique(),
            in_tasks,
            "participants",
            "distinct PIDs in Tasks",
        ),
        "conversations_released": (in_tasks, in_tasks, "conversations", "rows of Tasks"),
        "llm_conditions": (
            conversations["condition"].nunique(),
            in_tasks,
            "conditions",
            "distinct Models in Tasks",
        ),
        "tasks": (
            conversations["topic"].nunique(),
            in_tasks,
            "topics",
            "distinct topics in Tasks",
        ),
        "dimensions": (
            len(study.rated_dimensions),
            len(study.turns),
            "dimensions",
            "dimensions rated in at least one turn",
        ),
        "levels": (
            len(np.unique(levels[np.isfinite(levels)])),
            len(study.turns),
            "levels",
            "distinct levels among the ratings of turns",
        ),
        "turns": (
            len(study.turns),
            len(study.messages),
            "turns",
            "messages whose Role is assistant",
        ),
        "turns_put_to_rating": (
            len(study.turns_put_to_rating),
            len(study.turns),
            "turns",
            "turns with at least one rating answered, be it by unknown",
        ),
        "conversations_with_ground_truth": (
            int(_truth(study).notna().sum()),
            in_tasks,
            "conversations",
            "conversations with at least one rated turn",
        ),
        "rescaled_columns": (
            len(study.rescaled),
            len(study.columns),
            "columns",
            "columns of ratings on a declared scale that were rescaled to the official one",
        ),
        "unreadable_answers": (
            int(study.columns["unreadable"].sum()),
            number_of_answers,
            "answers",
            "answers that can't be read; they are in no denominator",
        ),
    }
    rows = {}
    for key, (count, n, units, method) in counted.items():
        estimate = count
        reason = ""
        if count == 0 and key in {"llm_conditions", "tasks"}:
            estimate = np.nan
            reason = f"{units} were not given in this data set"
        rows[key] = estimate_row(
            estimate, n=n, unit=f"number of {units}", method=method, reason=reason, key=key
        )
    return estimate_table(rows, "count")


def flow(study: Study) -> pd.DataFrame:
    """Return how many there are at each step of the study, and what was left out on the way, for a figure.

    Returns
    -------
    DataFrame
        One row per step: text (what is counted, and how many), note (what was left out; "" for nothing) and n.
        Participants, their conversations, turns of the assistant, turns shown for rating, ratings with a level, and
        conversations with a mean rating.

    Examples
    --------
    >>> from sense7 import load
    >>> flow(load("synthetic"))["n"].iloc[:2].tolist()
    [109, 672]
    """
    shown_for_rating = study.turns_put_to_rating
    never_shown = len(study.turns) - len(shown_for_rating)
    cells = shown_for_rating[[f"{name}_state" for name in study.asked]]
    number_of = {state: int((cells == state).to_numpy().sum()) for state in WITHOUT_LEVEL}
    with_level = int((cells == RATED).to_numpy().sum())
    has_truth = _truth(study).notna()
    without_truth = int((~has_truth).sum())

    turns_left_out = ""
    if never_shown:
        turns_left_out = f"{count_of(never_shown, 'turn')} never shown for rating"
    answers_left_out = []
    for state, words in WITHOUT_LEVEL.items():
        if number_of[state]:
            answers_left_out.append(f"{number_of[state]:,} {words}")
    conversations_left_out = ""
    if without_truth:
        conversations_left_out = (
            f"{count_of(without_truth, 'conversation')} without a rated dimension"
        )
    rows = {
        "participants": (study.conversations["participant"].nunique(), ""),
        "conversations": (len(study.conversations), ""),
        "turns of the assistant": (len(study.turns), ""),
        "turns shown for rating": (len(shown_for_rating), turns_left_out),
        f"ratings with a level ({len(study.asked)} asked per turn)": (
            with_level,
            ", ".join(answers_left_out),
        ),
        "conversations with a mean rating": (int(has_truth.sum()), conversations_left_out),
    }
    boxes = []
    for step, (number, left_out) in rows.items():
        note = f"left out: {left_out}" if left_out else ""
        boxes.append({"text": f"{number:,} {step}", "note": note, "n": number})
    return pd.DataFrame(boxes)


WITHOUT_LEVEL = {
    NOT_RATED: "unknown or not applicable",
    ABSENT: "left blank",
    UNREADABLE: "that can't be read",
    DECLINED: "declined",
}
"""States of an answer without a level, in words."""

NO_CHARACTERISTICS = {"an identifier", "a running number"}
"""Reasons for which a column of the participants' sheet is left out that make it no characteristic."""

CONTEXT = ("topic", "importance", "desired_empathy")
"""Columns of the context of a conversation."""


@finding
def described_parts(study: Study) -> dict:
    """Return whether the data hold what the paper's abstract describes, for the ledger.

    Three parts: ratings of turns by the users, characteristics of the users, and details of the context. A part is held
    if at least one of its columns holds an answer. Ids and running numbers are no characteristics.

    Returns
    -------
    dict
        key, estimate ("yes" or "no"), n (number of parts), unit, method, and reason: which parts are not held.

    Examples
    --------
    >>> from sense7 import load
    >>> described_parts(load("synthetic"))["estimate"]
    'yes'
    """
    filled = study.columns.loc[study.columns["filled"] > 0, "name"]
    people = pd.Index(study.conversations["participant"].unique())
    characteristics = characteristic_columns(study.participants, people)
    is_characteristic = ~characteristics["reason"].isin(NO_CHARACTERISTICS)
    has_answers = {
        "ratings of turns": filled.isin(RATING_NAMES).any(),
        "characteristics of the users": (characteristics["answers"] > 0)[is_characteristic].any(),
        "details of the context": filled.isin(CONTEXT).any(),
    }
    absent = [part for part, is_answered in has_answers.items() if not is_answered]
    answer = "yes"
    reason = ""
    if absent:
        answer = "no"
        reason = f"not in this data set: {', '.join(absent)}"
    return value_row(
        "described_parts_are_held",
        answer,
        n=len(has_answers),
        unit="answer",
        method="columns of the workbook with at least one answer",
        reason=reason,
    )


def scales(study: Study) -> pd.DataFrame:
    """Return the columns of ratings that were rescaled, or of which some answers can't be read.

    A rescaled answer is ``1 + (size - 1) * (x - lowest) / (highest - lowest)``, where size is the number of levels of
    the official scale; the mean on the scale of the workbook is the mean of the answers before that.

    Returns
    -------
    DataFrame
        One row per column: scale of the workbook (its ends), answers read, unreadable, mean as given, mean rescaled.
        Empty if every column is on the official scale and every answer was read.
    """
    frames = {"Tasks": study.conversations, "Messages": study.turns}
    rows = {}
    for column in study.columns.itertuples():
        rescaled = np.isfinite(column.lowest)
        if not rescaled and not column.unreadable:
            continue
        size = SCALE_OF[column.column].size
        levels = frames[column.sheet][column.name]
        scale = Interval(column.lowest, column.highest) if rescaled else Interval(1, size)
        mean_as_given = "no answer"
        mean_on_official = "no answer"
        if levels.count():
            mean_as_given = f"{scale.original(levels.mean(), size):.2f}"
            mean_on_official = f"{levels.mean():.2f}" if rescaled else "the same"
        rows[column.column] = {
            "scale": str(scale),
            "answers read": levels.count(),
            "unreadable": column.unreadable,
            "mean as given": mean_as_given,
            "mean on the official scale": mean_on_official,
        }
    return frame_of(rows, "column")


def turns_per_conversation(study: Study) -> pd.Series:
    """Return the number of assistant turns of each conversation; 0 where it has none."""
    turns = study.turns["conversation"].value_counts()
    return turns.reindex(study.conversations["conversation"], fill_value=0).rename("turns")


@finding
def ground_truth_mean(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Return the mean ground truth over conversations, as a row of estimates, with its interval.

    Conversations without ground truth are left out. Levels 1..5.
    """
    truth = _truth(study).to_numpy()
    has_truth = np.isfinite(truth)
    number = mean_number(
        bootstrap,
        truth[has_truth],
        study.conversations[has_truth],
        label="ground truth",
        unit="level, 1 to 5",
        method="mean ground truth over conversations",
        needs=Needs(answers=answers_to(study, "a rating of a dimension")),
        key="ground_truth_mean",
    )
    return number.row(bootstrap)


@finding
def ground_truth_sd(study: Study) -> dict:
    """Return the standard deviation (n - 1) of the ground truth over conversations, as a row of estimates.

    It takes two conversations that have one.
    """
    truth = _truth(study)
    reason = ""
    if truth.count() < 2:
        reason = "it takes two conversations with ground truth"
    return estimate_row(
        truth.std(),
        n=truth.count(),
        unit="level, 1 to 5",
        method="standard deviation over conversations (n - 1)",
        reason=reason,
        key="ground_truth_sd",
    )


def by_condition(study: Study) -> pd.DataFrame:
    """Return the participants, conversations and turns of each condition.

    Returns
    -------
    DataFrame
        One row per condition; ``(no condition)`` for conversations without one.
    """
    frame = _with_condition(study.conversations)
    frame["turns"] = turns_per_conversation(study).to_numpy()
    frame["truth"] = _truth(study).to_numpy()
    groups = frame.groupby("condition")
    return pd.DataFrame(
        {
            "participants": groups["participant"].nunique(),
            "conversations": groups.size(),
            "turns": groups["turns"].sum(),
            "turns per conversation": groups["turns"].mean(),
            "with a mean rating": groups["truth"].count(),
        }
    )


def _with_condition(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(condition=frame["condition"].astype(object).fillna(NO_CONDITION))


def _of_messages(study: Study) -> pd.DataFrame:
    """Messages in the order of their conversations, with participant and condition."""
    conversations = _with_condition(study.conversations)
    conversations = conversations[["conversation", "participant", "condition"]]
    messages = in_order_of_appearance(study.messages, "conversation", "position")
    return messages.merge(conversations, on="conversation", how="left")


def _quantity(name: str, frame: pd.DataFrame, value: pd.Series, reason: str) -> Quantity:
    values = frame[["participant", "condition"]].assign(value=rounded(value.astype(float)))
    values = values[values["value"].notna()].reset_index(drop=True)
    key, label, unit, units = _QUANTITIES[name]
    return Quantity(key, label, unit, units, values, reason if values.empty else "")


def lengths(study: Study) -> list[Quantity]:
    """Return the words of messages and the turns of conversations.

    Words are those of :func:`sense7.segmentation.words_in`, in any script. Messages without a text are left out; a
    conversation without a turn has zero turns.

    Returns
    -------
    list of Quantity
        Words in a user's message, words in an assistant's message, turns in a conversation.
    """
    messages = _of_messages(study)

    def number_of_words(text: object) -> float:
        is_written = isinstance(text, str) and text.strip()
        return len(words_in(text)) if is_written else np.nan

    words = messages["content"].map(number_of_words)
    quantities = []
    for role in ("user", "assistant"):
        of_role = messages["role"] == role
        reason = f"no message of the {role} has a text in this data set"
        quantities.append(_quantity(f"{role}_words", messages[of_role], words[of_role], reason))
    conversations = _with_condition(study.conversations)
    turns = conversations["conversation"].map(turns_per_conversation(study))
    quantities.append(_quantity("turns", conversations, turns, "there is no conversation"))
    return quantities


def durations(study: Study) -> Quantity:
    """Return how long conversations last, in seconds: the time of the last message minus that of the first.

    Conversations without these times are left out, and those in which a message has an earlier time than one before
    it: which of the times is wrong is not known.
    """
    messages = _of_messages(study)
    conversations = _with_condition(study.conversations)

    def last_minus_first(times: pd.Series) -> float:
        if len(times) < 2 or not times.dropna().is_monotonic_increasing:
            return np.nan
        return times.iloc[-1] - times.iloc[0]

    times = messages.groupby("conversation", sort=False)["seconds"]
    duration = conversations["conversation"].map(times.agg(last_minus_first))
    reason = NO_TIMES
    if messages["seconds"].notna().any():
        reason = "no conversation has usable times of its first and its last message"
    return _quantity("duration", conversations, duration, reason)


def answers(study: Study) -> list[Quantity]:
    """Return what users said before the conversation: importance of the topic (1..5), desired empathy (1..3)."""
    conversations = _with_condition(study.conversations)
    reason = "never asked, or never answered, in this data set"
    quantities = []
    for name in ("importance", "desired_empathy"):
        quantities.append(_quantity(name, conversations, conversations[name], reason))
    return quantities


def median_in_draws(
    values: np.ndarray, participants: pd.Series, bootstrap: ParticipantBootstrap
) -> np.ndarray:
    """Return the median in every bootstrap resample, exactly that of the rows copied out.

    Examples
    --------
    >>> bootstrap = ParticipantBootstrap(["a", "b"], draws=100, seed=1)
    >>> sorted(set(median_in_draws(np.array([1.0, 2.0, 9.0]), pd.Series(["a", "a", "b"]), bootstrap).tolist()))
    [1.5, 2.0, 9.0]
    """
    distinct, position = np.unique(values, return_inverse=True)
    codes = bootstrap.codes(participants)
    # Few participants have any one value: the table of both is nearly empty.
    ones = np.ones(len(codes))
    shape = (len(distinct), len(bootstrap.names))
    counts = sparse.csr_array((ones, (position, codes)), shape=shape)

    def medians(weights: np.ndarray) -> np.ndarray:
        up_to_value = np.cumsum((counts @ weights.T).T, axis=1)
        rows = up_to_value[:, -1:]

        def value_of_rank(rank: np.ndarray) -> np.ndarray:
            # The row of rank r, from 0, holds the first value that more than r rows do not exceed.
            smaller_values = (up_to_value <= rank).sum(axis=1)
            return distinct[np.minimum(smaller_values, len(distinct) - 1)]

        middle = (value_of_rank((rows - 1) // 2) + value_of_rank(rows // 2)) / 2
        return np.where(rows[:, 0] > 0, middle, np.nan)

    width = max(len(distinct), len(bootstrap.names))
    parts = [medians(bootstrap.weights(draws)) for draws in pieces(bootstrap.draws, width)]
    return np.concatenate(parts)


@finding
def medians(quantities: Sequence[Quantity], bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the median of each quantity over all conditions, with its interval.

    Parameters
    ----------
    quantities : sequence of Quantity
        From :func:`lengths`, times or :func:`answers`.

    Returns
    -------
    DataFrame
        A table of estimates, one row per quantity by its name; n counts messages, turns or conversations.
    """

    def number(quantity: Quantity) -> Number:
        values = quantity.frame["value"].to_numpy()
        participants = quantity.frame["participant"]

        def median():
            in_draws = median_in_draws(values, participants, bootstrap)
            return np.append(np.median(values), in_draws)

        return Number(
            label=quantity.name,
            statistic=median,
            unit=quantity.unit,
            method=f"median over {quantity.units}",
            rows=participants,
            key=quantity.key,
            reason=quantity.reason,
        )

    return tabulate("quantity", [number(quantity) for quantity in quantities], bootstrap)


def quartiles_by_condition(quantity: Quantity) -> pd.DataFrame:
    """Return the median and quartiles of a quantity in each condition and in all.

    Examples
    --------
    >>> values = pd.DataFrame({"participant": "P1", "condition": ["a", "a", "b"], "value": [1.0, 3.0, 9.0]})
    >>> quartiles_by_condition(Quantity("turns", "turns", "turns", "conversations", values))["median"].tolist()
    [2.0, 9.0, 3.0]
    """
    values = quantity.frame
    conditions = sorted(values["condition"].unique(), key=lambda name: (name == NO_CONDITION, name))
    if conditions == [NO_CONDITION]:
        conditions = []  # that would be all of them once more
    groups = {name: values.loc[values["condition"] == name, "value"] for name in conditions}
    if len(values):
        groups[ALL] = values["value"]
    rows = {}
    for name, group in groups.items():
        low, median, high = np.quantile(group, [0.25, 0.5, 0.75])
        rows[name] = (len(group), low, median, high)
    return frame_of(rows, "condition", ["n", "lower quartile", "median", "upper quartile"])


def shown_by_condition(quantities: Sequence[Quantity]) -> pd.DataFrame:
    """Return quartiles of several quantities for a page, one column for each: median (lower to upper quartile), n.

    Returns
    -------
    DataFrame
        One row per condition, then ``(all)``; texts. Quantities without a value are left out; empty if none has one.
    """
    columns = {}
    for quantity in quantities:
        if not quantity.reason:
            quartiles = quartiles_by_condition(quantity)
            n = quartiles["n"].map(_short)
            low = quartiles["lower quartile"].map(_short)
            median = quartiles["median"].map(_short)
            high = quartiles["upper quartile"].map(_short)
            middle_half = " (" + low + " to " + high + ")"
            middle_half = middle_half.where(quartiles["n"] > 1, "")  # one value has no quartiles
            columns[quantity.name] = median + middle_half + ", n = " + n
    table = pd.DataFrame(columns).rename_axis("condition").fillna("no value")
    last = [name for name in (NO_CONDITION, ALL) if name in table.index]
    return table.loc[[*sorted(table.index.drop(last)), *last]]


def _short(number: float) -> str:
    """One decimal, none where it is zero."""
    return f"{number:z,.1f}".removesuffix(".0")


def in_words(quantities: Sequence[Quantity]) -> str:
    """Return how many values each quantity has, or why it has none, for captions.

    Examples
    --------
    >>> values = pd.DataFrame({"participant": ["P1"], "condition": ["a"], "value": [1.0]})
    >>> in_words([Quantity("turns", "turns", "turns", "conversations", values)])
    'n = 1 conversation (turns)'
    """
    parts = []
    for quantity in quantities:
        if quantity.reason:
            parts.append(f"{quantity.name}: {quantity.reason}")
        else:
            n = count_of(len(quantity.frame), quantity.units.removesuffix("s"))
            parts.append(f"n = {n} ({quantity.name})")
    return "; ".join(parts)


def levels_by_condition(study: Study, name: str) -> pd.DataFrame:
    """Return how often each level of an answer was given before the conversations of each condition.

    Parameters
    ----------
    name : {"importance", "desired_empathy"}
        The question.

    Returns
    -------
    DataFrame
        One row per condition, then ``(all)``; one column per level, then ``not answered``; conversations. Empty if
        no one answered.
    """
    conversations = _with_condition(study.conversations)
    if not conversations[name].notna().any():
        return pd.DataFrame()
    unit = _QUANTITIES[name][2]  # such as "level, 1 to 5"
    levels = range(1, int(unit[-1]) + 1)
    nearest = pd.Series(labels(conversations[name]), index=conversations.index)
    answered = nearest.astype(object).where(nearest.notna(), "not answered")
    table = pd.crosstab(conversations["condition"], answered)
    table = table.reindex(columns=[*levels, "not answered"], fill_value=0)
    table.loc[ALL] = table.sum()
    return table.rename_axis(columns=None)


def topics_by_condition(study: Study) -> pd.DataFrame:
    """Return the number of conversations about each topic in each condition.

    Returns
    -------
    DataFrame
        One row per topic, one column per condition, both by name; beyond 40 topics the rarest are one row. Empty if no
        conversation has a topic.
    """
    conversations = _with_condition(study.conversations)
    if not conversations["topic"].notna().any():
        return pd.DataFrame()
    topics = conversations["topic"].astype(object).fillna(NO_TOPIC)
    by_name = topics[topics != NO_TOPIC].value_counts().sort_index()
    frequent = by_name.sort_values(ascending=False, kind="stable")
    if len(frequent) > MOST_TOPICS:
        rare = set(frequent.index[MOST_TOPICS:])
        topics = topics.where(~topics.isin(rare), f"({count_of(len(rare), 'other topic')})")
    table = pd.crosstab(topics, conversations["condition"])
    is_topic = table.index.isin(frequent.index)
    table = pd.concat([table[is_topic], table[~is_topic]])
    return table.rename_axis(index="topic", columns=None)


@finding
def disturbance_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the shares of conversations with a retry and with an error.

    The release does not describe the column Retry. A message counts as a retry if its cell holds anything but
    zero, false, no or none. Errors are messages whose role is exactly ``error``.

    Returns
    -------
    DataFrame
        A table of estimates: the share of conversations with each disturbance.
    """
    messages = study.messages
    conversations = study.conversations

    def is_retry(cell: object) -> bool:
        number = as_number(cell)
        if number is not None:
            return number != 0
        name = as_name(cell)
        return name is not None and name.casefold() not in NO_RETRY

    def number(disturbance: str, is_disturbed: pd.Series, **declared: str) -> Number:
        disturbed = messages.loc[is_disturbed, "conversation"]
        return mean_number(
            bootstrap,
            conversations["conversation"].isin(disturbed),
            conversations,
            unit="share of conversations",
            method=f"conversations with at least one {disturbance} by all",
            key=f"conversations_with_{disturbance}",
            **declared,
        )

    was_recorded = messages["retry"].map(as_name).notna().any()
    retries = number(
        "retry",
        messages["retry"].map(is_retry).astype(bool),
        label="conversations with a retry",
        reason="" if was_recorded else NO_RETRIES,
    )
    errors = number("error", messages["role"] == "error", label="conversations with an error")
    return tabulate("disturbance", [retries, errors], bootstrap)


def characteristics(study: Study) -> Characteristics:
    """Return what is known of the participants who have a conversation, from any column of their sheet.

    Numbers are summed up by quartiles; texts are counted by answer if there are few: at most twelve different
    ones, each given by three participants on average. Of other columns only the number of different answers is
    shown, since such texts may name people; the same holds for numbers that do: ids, running numbers, and whole
    numbers from 10,000 on that differ for all participants. Missing answers are left out; n counts those given.

    Returns
    -------
    Characteristics
        Three tables; all empty, with the reason, if there is no participants' sheet.
    """
    people = pd.Index(study.conversations["participant"].unique())
    columns = characteristic_columns(study.participants, people)
    if study.participants is None:
        reason = NO_SHEET
    elif len(columns):
        reason = ""
    else:
        reason = "the participants' sheet has no column but PID"
    numbers = {}
    groups = {}
    others = {}
    for name in columns.index:
        in_study = study.participants["participant"].isin(people)
        answers = study.participants.loc[in_study, name].dropna()
        is_number = are_numbers(answers)
        different = answers.nunique()
        most_groups = min(MOST_GROUPS, len(answers) / FEWEST_PER_GROUP)
        names_people = columns.loc[name, "reason"] in NO_CHARACTERISTICS
        if is_number and 1 < len(answers) == different:
            are_whole = (answers == np.round(answers)).all()
            names_people |= are_whole and answers.abs().min() >= LONG_NUMBER
        if is_number and len(answers) and not names_people:
            quantiles = np.quantile(answers.astype(float), [0, 0.25, 0.5, 0.75, 1])
            numbers[name] = (len(answers), *quantiles)
        elif not is_number and 0 < different <= most_groups:
            for answer, count in answers.astype(str).value_counts().sort_index().items():
                groups[f"{name}: {answer}"] = (count, 100 * count / len(answers))
        else:
            others[name] = (len(answers), different)
    of_numbers = ["n", "lowest", "lower quartile", "median", "upper quartile", "highest"]
    return Characteristics(
        numbers=frame_of(numbers, "characteristic", of_numbers),
        groups=frame_of(groups, "characteristic", ["participants", "share of answers (%)"]),
        others=frame_of(others, "characteristic", ["n", "different answers"]),
        reason=reason,
    )


def diagnostics_table(study: Study) -> pd.DataFrame:
    """What the reader found in the workbook: where, how many, value, what was done, how to fix it."""
    rows = []
    for diagnostic in study.diagnostics:
        where = diagnostic.place or "the file"
        rows.append((where, diagnostic.count, diagnostic.value, diagnostic.problem, diagnostic.fix))
    table = pd.DataFrame(rows, columns=["where", "count", "value", "diagnostic", "fix"])
    return table if table["value"].any() else table.drop(columns="value")
