"""What a data set holds: people, conversations, turns, their ground truth, lengths, times and disturbances."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.order import in_order_of_appearance, rounded
from sense7.findings.core import finding, require_own
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.individualized import (
    FEWEST_PER_GROUP,
    MOST_GROUPS,
    NO_SHEET,
    characteristic_columns,
)
from sense7.segmentation import words_in
from sense7.study import Study
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of
from sense7.workbook.ids import as_name, as_number
from sense7.workbook.options import Interval, scale_columns

__all__ = [
    "ALL",
    "Characteristics",
    "Quantity",
    "answers",
    "by_condition",
    "characteristics",
    "counts",
    "diagnostics_table",
    "disturbance_shares",
    "durations",
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
    "turns": ("median_turns", "turns in a conversation", "turns", "conversations"),
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

_COUNTS = {
    "participants": ("participants", "Tasks", "distinct PIDs in Tasks"),
    "conversations_released": ("conversations", "Tasks", "rows of Tasks"),
    "llm_conditions": ("conditions", "Tasks", "distinct Models in Tasks"),
    "tasks": ("topics", "Tasks", "distinct topics in Tasks"),
    "dimensions": ("dimensions", "turns", "dimensions rated in at least one turn"),
    "levels": ("levels", "turns", "distinct levels among the ratings of turns"),
    "turns": ("turns", "Messages", "messages whose Role is assistant"),
    "turns_put_to_rating": (
        "turns",
        "turns",
        "turns with at least one rating answered, be it by unknown",
    ),
    "conversations_with_ground_truth": (
        "conversations",
        "Tasks",
        "conversations with at least one rated turn",
    ),
    "rescaled_columns": (
        "columns",
        "columns",
        "columns of ratings on a declared scale that were rescaled to the official one",
    ),
    "unreadable_answers": (
        "answers",
        "answers",
        "answers that can't be read; they are in no denominator",
    ),
}
"""Key, and row of :func:`counts` -> unit, what n counts, method."""

_DISTURBED = {
    "retry": ("conversations_with_retry", "conversations with a retry"),
    "error": ("conversations_with_error", "conversations with an error"),
}
"""Disturbance -> key and row of the share of conversations that have one."""

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


def _truth(study: Study, truth: pd.Series | None) -> pd.Series:
    return (
        ground_truth(study.turns, study.conversations["conversation"]) if truth is None else truth
    )


@finding
def counts(study: Study, truth: pd.Series | None = None) -> pd.DataFrame:
    """Return counts of the study, as a table of estimates without intervals.

    Parameters
    ----------
    truth : Series, optional
        Ground truth of the conversations in their order, if it is available.

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
    numbers = {
        "participants": conversations["participant"].nunique(),
        "conversations_released": len(conversations),
        "llm_conditions": conversations["condition"].nunique(),
        "tasks": conversations["topic"].nunique(),
        "dimensions": len(study.rated_dimensions),
        "levels": len(np.unique(levels[np.isfinite(levels)])),
        "turns": len(study.turns),
        "turns_put_to_rating": len(study.turns_put_to_rating),
        "conversations_with_ground_truth": int(_truth(study, truth).notna().sum()),
        "rescaled_columns": len(study.rescaled),
        "unreadable_answers": int(study.columns["unreadable"].sum()),
    }
    sizes = {
        "Tasks": len(conversations),
        "Messages": len(study.messages),
        "turns": len(study.turns),
        "columns": len(study.columns),
        "answers": int(study.columns.loc[study.columns["question"], "filled"].sum()),
    }
    rows = {}
    for key, (unit, counted, method) in _COUNTS.items():
        absent = numbers[key] == 0 and key in {"llm_conditions", "tasks"}
        reason = f"{unit} were not given in this data set" if absent else ""
        estimate = np.nan if absent else numbers[key]
        rows[key] = estimate_row(
            estimate, n=sizes[counted], unit=unit, method=method, reason=reason, key=key
        )
    return estimate_table(rows, "count")


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
    sizes = scale_columns()
    rows = {}
    for column in study.columns.itertuples():
        rescaled = np.isfinite(column.lowest)
        if not rescaled and not column.unreadable:
            continue
        size, levels = sizes[column.column], frames[column.sheet][column.name]
        own_scale = Interval(column.lowest, column.highest) if rescaled else Interval(1, size)
        mean_as_given = mean_on_official = "no answer"
        if levels.count():
            mean_as_given = f"{own_scale.original(levels.mean(), size):.2f}"
            mean_on_official = f"{levels.mean():.2f}" if rescaled else "the same"
        rows[column.column] = {
            "scale": str(own_scale),
            "answers read": levels.count(),
            "unreadable": column.unreadable,
            "mean as given": mean_as_given,
            "mean on the official scale": mean_on_official,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("column")


def turns_per_conversation(study: Study) -> pd.Series:
    """Return the number of assistant turns of each conversation; 0 where it has none."""
    turns = study.turns["conversation"].value_counts()
    return turns.reindex(study.conversations["conversation"], fill_value=0).rename("turns")


@finding
def ground_truth_mean(
    study: Study, bootstrap: ParticipantBootstrap, truth: pd.Series | None = None
) -> dict:
    """Return the mean ground truth over conversations, as a row of estimates, with its interval.

    Conversations without ground truth are left out. Levels 1..5. ``truth`` as for :func:`counts`.
    """
    require_own(study, bootstrap)
    truth = _truth(study, truth).to_numpy()
    known = np.isfinite(truth)
    values = np.column_stack([truth[known], np.ones(known.sum())])
    return bootstrap.row(
        bootstrap.estimate(ratio, values, study.conversations.loc[known, "participant"]),
        n=int(known.sum()),
        unit="level, 1 to 5",
        method="mean ground truth over conversations",
        undefined="no conversation has a rated turn",
        key="ground_truth_mean",
    )


@finding
def ground_truth_sd(study: Study, truth: pd.Series | None = None) -> dict:
    """Return the standard deviation (n - 1) of the ground truth over conversations, as a row of estimates.

    ``truth`` as for :func:`counts`; it takes two conversations that have one.
    """
    truth = _truth(study, truth)
    return estimate_row(
        truth.std(),
        n=truth.count(),
        unit="level, 1 to 5",
        method="standard deviation over conversations (n - 1)",
        reason="" if truth.count() > 1 else "it takes two conversations with ground truth",
        key="ground_truth_sd",
    )


def by_condition(study: Study, truth: pd.Series | None = None) -> pd.DataFrame:
    """Return the participants, conversations and turns of each condition. ``truth`` as for :func:`counts`.

    Returns
    -------
    DataFrame
        One row per condition; ``(no condition)`` for conversations without one.
    """
    frame = _with_condition(study.conversations).assign(
        turns=turns_per_conversation(study).to_numpy(), truth=_truth(study, truth).to_numpy()
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


def _with_condition(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(condition=frame["condition"].astype(object).fillna(NO_CONDITION))


def _of_messages(study: Study) -> pd.DataFrame:
    """Messages in the order of their conversations, with participant and condition."""
    conversations = _with_condition(study.conversations)[
        ["conversation", "participant", "condition"]
    ]
    messages = in_order_of_appearance(study.messages, "conversation", "position")
    return messages.merge(conversations, on="conversation", how="left")


def _quantity(name: str, frame: pd.DataFrame, value: pd.Series, reason: str) -> Quantity:
    values = frame[["participant", "condition"]].assign(value=rounded(value.astype(float)))
    values = values[values["value"].notna()].reset_index(drop=True)
    return Quantity(*_QUANTITIES[name], values, reason if values.empty else "")


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
    words = messages["content"].map(
        lambda text: len(words_in(text)) if isinstance(text, str) and text.strip() else np.nan
    )
    of_role = {
        role: _quantity(
            f"{role}_words",
            messages[messages["role"] == role],
            words[messages["role"] == role],
            f"no message of the {role} has a text in this data set",
        )
        for role in ("user", "assistant")
    }
    conversations = _with_condition(study.conversations)
    turns = pd.Series(turns_per_conversation(study).to_numpy(), index=conversations.index)
    return [*of_role.values(), _quantity("turns", conversations, turns, "there is no conversation")]


def _backwards(messages: pd.DataFrame) -> pd.Index:
    """Conversations in which a message has an earlier time than one before it."""
    timed = messages[messages["seconds"].notna()]
    falls = timed.groupby("conversation", sort=False)["seconds"].diff() < 0
    return pd.Index(timed.loc[falls, "conversation"].unique())


def _durations(study: Study, messages: pd.DataFrame) -> pd.Series:
    """Seconds from the first to the last message, by conversation; NaN if either time is missing or times fall."""
    groups = messages.groupby("conversation", sort=False)["seconds"]
    # Not first() and last(): those skip missing times.
    seconds = groups.agg(lambda times: times.iloc[-1] - times.iloc[0]).where(groups.size() > 1)
    seconds = seconds.drop(_backwards(messages))
    return seconds.reindex(study.conversations["conversation"])


def durations(study: Study) -> Quantity:
    """Return how long conversations last, in seconds: the time of the last message minus that of the first.

    Conversations without these times are left out, and those in which a message has an earlier time than one before
    it: which of the times is wrong is not known.
    """
    messages = _of_messages(study)
    conversations = _with_condition(study.conversations)
    duration = pd.Series(_durations(study, messages).to_numpy(), index=conversations.index)
    timed = messages["seconds"].notna().any()
    reason = (
        "no conversation has usable times of its first and its last message" if timed else NO_TIMES
    )
    return _quantity("duration", conversations, duration, reason)


def answers(study: Study) -> list[Quantity]:
    """Return what users said before the conversation: importance of the topic (1..5), desired empathy (1..3)."""
    conversations = _with_condition(study.conversations)
    return [
        _quantity(
            name,
            conversations,
            conversations[name],
            "never asked, or never answered, in this data set",
        )
        for name in ("importance", "desired_empathy")
    ]


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
    often = sparse.csr_array(
        (np.ones(len(codes)), (position, codes)), shape=(len(distinct), len(bootstrap.names))
    )

    def medians(weights: np.ndarray) -> np.ndarray:
        below = np.cumsum((often @ weights.T).T, axis=1)
        rows = below[:, -1:]
        # The row of rank r, from 0, holds the first value that more than r rows do not exceed.
        middle = [
            np.minimum((below <= rank).sum(axis=1), len(distinct) - 1)
            for rank in ((rows - 1) // 2, rows // 2)
        ]
        return np.where(rows[:, 0] > 0, (distinct[middle[0]] + distinct[middle[1]]) / 2, np.nan)

    return bootstrap.in_every_draw(medians, len(distinct))


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
    return estimate_table(
        {quantity.name: _median_row(quantity, bootstrap) for quantity in quantities}, "quantity"
    )


def _median_row(quantity: Quantity, bootstrap: ParticipantBootstrap) -> dict:
    values, participants = quantity.frame["value"].to_numpy(), quantity.frame["participant"]
    estimate = Estimate(np.nan)
    if not quantity.reason:
        medians = median_in_draws(values, participants, bootstrap)
        estimate = Estimate(np.median(values), *bootstrap.interval(medians, participants))
    return bootstrap.row(
        estimate,
        n=len(values),
        unit=quantity.unit,
        method=f"median over {quantity.units}",
        undefined=quantity.reason,
        key=quantity.key,
    )


def quartiles_by_condition(quantity: Quantity) -> pd.DataFrame:
    """Return the median and quartiles of a quantity in each condition and in all.

    Examples
    --------
    >>> values = pd.DataFrame({"participant": "P1", "condition": ["a", "a", "b"], "value": [1.0, 3.0, 9.0]})
    >>> quartiles_by_condition(Quantity("turns", "turns", "turns", "conversations", values))["median"].tolist()
    [2.0, 9.0, 3.0]
    """
    values = quantity.frame
    groups = {name: part["value"] for name, part in values.groupby("condition")}
    groups = {
        name: groups[name] for name in sorted(groups, key=lambda name: (name == NO_CONDITION, name))
    }
    if list(groups) == [NO_CONDITION]:
        groups = {}
    if len(values):
        groups[ALL] = values["value"]
    rows = {
        name: (len(part), *np.quantile(part, [0.25, 0.5, 0.75])) for name, part in groups.items()
    }
    columns = ["n", "lower quartile", "median", "upper quartile"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("condition")


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
            table = quartiles_by_condition(quantity)
            n, low, median, high = (table[name].map(_short) for name in table)
            columns[quantity.name] = median + " (" + low + " to " + high + "), n = " + n
    shown = pd.DataFrame(columns).rename_axis("condition").fillna("no value")
    last = [name for name in (NO_CONDITION, ALL) if name in shown.index]
    return shown.loc[[*sorted(shown.index.drop(last)), *last]]


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
    return "; ".join(
        f"{quantity.name}: {quantity.reason}"
        if quantity.reason
        else f"n = {count_of(len(quantity.frame), quantity.units.removesuffix('s'))} ({quantity.name})"
        for quantity in quantities
    )


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
    levels = range(1, int(_QUANTITIES[name][2][-1]) + 1)
    nearest = pd.Series(labels(conversations[name]), index=conversations.index)
    answered = nearest.astype(object).where(nearest.notna(), "not answered")
    table = pd.crosstab(conversations["condition"], answered).reindex(
        columns=[*levels, "not answered"], fill_value=0
    )
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
    often = (
        topics[topics != NO_TOPIC]
        .value_counts()
        .sort_index()
        .sort_values(ascending=False, kind="stable")
    )
    if len(often) > MOST_TOPICS:
        rare = set(often.index[MOST_TOPICS:])
        others = f"({count_of(len(rare), 'other topic')})"
        topics = topics.where(~topics.isin(rare), others)
    table = pd.crosstab(topics, conversations["condition"])
    named = table.index.isin(often.index)
    return pd.concat([table[named], table[~named]]).rename_axis(index="topic", columns=None)


def _is_retry(cell) -> bool:
    if (number := as_number(cell)) is not None:
        return number != 0
    name = as_name(cell)
    return name is not None and name.casefold() not in NO_RETRY


def _disturbed(study: Study) -> tuple[pd.DataFrame, bool]:
    """Messages with ``retry`` and ``error``, and whether retries were recorded at all."""
    messages = _of_messages(study)
    retry = messages["retry"].map(_is_retry).astype(bool)
    recorded = messages["retry"].map(lambda cell: as_name(cell) is not None).any()
    return messages.assign(retry=retry, error=messages["role"] == "error"), bool(recorded)


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
    require_own(study, bootstrap)
    messages, recorded = _disturbed(study)
    rows = {}
    for kind, (key, row) in _DISTURBED.items():
        reason = "" if recorded or kind != "retry" else NO_RETRIES
        rows[row] = _share_with(kind, messages, study.conversations, bootstrap, reason) | {
            "key": key
        }
    return estimate_table(rows, "disturbance")


def _share_with(
    kind: str,
    messages: pd.DataFrame,
    conversations: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    reason: str,
) -> dict:
    """Share of conversations with at least one message of a kind, unless there is a reason why it is not known."""
    has = conversations["conversation"].isin(messages.loc[messages[kind], "conversation"])
    values = np.column_stack([has, np.ones(len(has))])
    share = (
        Estimate(np.nan)
        if reason
        else bootstrap.estimate(ratio, values, conversations["participant"])
    )
    method = f"conversations with at least one {kind} by all"
    return bootstrap.row(
        share, n=len(has), unit="share of conversations", method=method, undefined=reason
    )


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
    kinds = characteristic_columns(study.participants, people)
    numbers, groups, others = {}, {}, {}
    own = study.participants
    for name in kinds.index:
        column = own.loc[own["participant"].isin(people), name].dropna()
        number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        distinct = column.nunique()
        if number and len(column) and not _names_people(column, kinds.loc[name, "reason"]):
            low, *quartiles, high = np.quantile(column.astype(float), [0, 0.25, 0.5, 0.75, 1])
            numbers[name] = (len(column), low, *quartiles, high)
        elif not number and 0 < distinct <= min(MOST_GROUPS, len(column) / FEWEST_PER_GROUP):
            for answer, count in column.astype(str).value_counts().sort_index().items():
                groups[f"{name}: {answer}"] = (count, 100 * count / len(column))
        else:
            others[name] = (len(column), distinct)
    columns = ["n", "lowest", "lower quartile", "median", "upper quartile", "highest"]
    reason = (
        NO_SHEET
        if own is None
        else ""
        if len(kinds)
        else "the participants' sheet has no column but PID"
    )
    return Characteristics(
        _rows(numbers, columns),
        _rows(groups, ["participants", "share of answers (%)"]),
        _rows(others, ["n", "different answers"]),
        reason,
    )


def _names_people(numbers: pd.Series, reason: str) -> bool:
    """Whether numbers identify people: by what the relations to ratings leave out, or by their length."""
    whole = (numbers == np.round(numbers)).all() and numbers.abs().min() >= LONG_NUMBER
    return reason in {"an identifier", "a running number"} or (
        whole and len(numbers) > 1 and numbers.is_unique
    )


def _rows(rows: dict, columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis(
        "characteristic"
    )


def diagnostics_table(study: Study) -> pd.DataFrame:
    """What the reader found in the workbook: where, how many, value, what was done, how to fix it."""
    rows = [
        (one.place or "the file", one.count, one.value, one.problem, one.fix)
        for one in study.diagnostics
    ]
    table = pd.DataFrame(rows, columns=["where", "count", "value", "diagnostic", "fix"])
    return table if table["value"].any() else table.drop(columns="value")
