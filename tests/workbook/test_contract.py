"""What every reader of a Study may rely on, and what the available data sets are known to hold."""

from dataclasses import replace

import pandas as pd
import pandera.pandas as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.studies import READING
from sense7.cli.description import describe
from sense7.study import ABSENT, RATED, STATES
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, MESSAGE_COLUMNS, RATING_NAMES, TASK_COLUMNS
from sense7.workbook.diagnostics import WorkbookError
from sense7.workbook.reading import parse_reading
from sense7.workbook.sheets import parse_workbook


def is_text(column):
    return column.dropna().map(lambda cell: isinstance(cell, str)).all()


def is_id(cell):
    return isinstance(cell, str) and cell != ""


def texts(*names):
    check = pa.Check(is_text, name="text or None")
    return {name: pa.Column(object, check, nullable=True) for name in names}


def ids(*names, **options):
    return {
        name: pa.Column(object, pa.Check(is_id, element_wise=True), **options) for name in names
    }


def levels(*names, size=5):
    return {name: pa.Column(float, pa.Check.in_range(1, size), nullable=True) for name in names}


def table(*parts, **options):
    columns = {name: column for part in parts for name, column in part.items()}
    return pa.DataFrameSchema(columns, strict=True, ordered=True, **options)


ROW = {"row": pa.Column(int, pa.Check.ge(2), unique=True)}
POSITION = {"position": pa.Column(int, pa.Check.ge(1))}
SECONDS = {"seconds": pa.Column(float, pa.Check.ge(0), nullable=True)}
CONVERSATIONS = table(
    ids("conversation", unique=True),
    ids("participant"),
    texts("condition", "topic"),
    levels("importance"),
    levels("desired_empathy", size=3),
    levels("successful", "engaged", "positive_interaction", "use_again"),
    levels(*(f"post_{name}" for name in DIMENSION_NAMES)),
    ROW,
)
MESSAGES = table(
    ids("conversation"),
    POSITION,
    {"message_id": pa.Column(float, nullable=True)},
    SECONDS,
    texts("role", "content"),
    {"retry": pa.Column(object, nullable=True)},
    texts("comment"),
    ROW,
    unique=["conversation", "position"],
)
TURNS = table(
    ids("conversation", "participant"),
    texts("condition"),
    {"turn": pa.Column(int, pa.Check.ge(1))},
    POSITION,
    SECONDS,
    ROW,
    levels(*RATING_NAMES),
    {f"{name}_state": pa.Column(pd.CategoricalDtype(STATES)) for name in RATING_NAMES},
    unique=["conversation", "turn"],
)
PARTICIPANTS = pa.DataFrameSchema({**ids("participant", unique=True), **ROW})
COLUMNS = pa.DataFrameSchema(
    {
        "sheet": pa.Column(str, pa.Check.isin(["Tasks", "Messages"])),
        "column": pa.Column(str),
        "name": pa.Column(str),
        "question": pa.Column(bool),
        "filled": pa.Column(int, pa.Check.ge(0)),
        "unreadable": pa.Column(int, pa.Check.ge(0)),
        "lowest": pa.Column(float, nullable=True),
        "highest": pa.Column(float, nullable=True),
    },
    unique=["sheet", "column"],
    strict=True,
)


def hold_to_the_contract(study):
    for schema, frame in (
        (CONVERSATIONS, study.conversations),
        (MESSAGES, study.messages),
        (TURNS, study.turns),
        (COLUMNS, study.columns),
    ):
        schema.validate(frame, lazy=True)
        assert frame.index.equals(pd.RangeIndex(len(frame)))
    if study.participants is not None:
        PARTICIPANTS.validate(study.participants, lazy=True)
    turns, messages, conversations = study.turns, study.messages, study.conversations
    assert set(messages["conversation"]) <= set(conversations["conversation"])
    # Turns are the assistant messages, in the file's order, with their conversation's participant and condition.
    assert turns["row"].tolist() == messages.loc[messages["role"] == "assistant", "row"].tolist()
    assert messages["row"].is_monotonic_increasing
    who = turns.merge(
        conversations,
        on="conversation",
        how="left",
        suffixes=("", "_of_task"),
        validate="many_to_one",
    )
    assert (who["participant"] == who["participant_of_task"]).all()
    assert who["condition"].fillna("").tolist() == who["condition_of_task"].fillna("").tolist()
    for _, positions in messages.groupby("conversation")["position"]:
        assert sorted(positions) == list(range(1, len(positions) + 1))
    for _, group in turns.groupby("conversation"):
        assert group.sort_values("position")["turn"].tolist() == list(range(1, len(group) + 1))
    for name in RATING_NAMES:
        assert (turns[name].notna() == (turns[f"{name}_state"] == RATED)).all()
        assert (name in study.asked) == (turns[f"{name}_state"] != ABSENT).any()
    asked = study.columns.loc[study.columns["name"].isin(study.asked), "column"]
    assert not set(asked) & set(study.never_asked["column"])
    assert len(study.columns) == len(TASK_COLUMNS) + len(MESSAGE_COLUMNS)
    for diagnostic in study.diagnostics:
        assert diagnostic.severity in {"warning", "notice"}
        assert diagnostic.sheet
        assert diagnostic.problem.endswith(".")
        assert diagnostic.fix.endswith(".")
        assert str(diagnostic).isprintable()


# Workbooks some of whose cells hold anything

anything = (
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.integers(-3, 8).map(float)
    | st.text(max_size=6)
    | st.sampled_from(
        [
            *(*LEVELS, "unknown", "4 - good", "C1", "c1", "P1", "{P2}", "1", "agree"),
            *("user", "assistant", "Assistant", "error"),
        ]
    )
    | st.dates()
    | st.times()
    | st.timedeltas()
)
PLACES = [
    *(("Tasks", column.official) for column in TASK_COLUMNS),
    *(("Messages", column.official) for column in MESSAGE_COLUMNS),
    *(("Participants", column) for column in ("PID", "Age")),
]
changes = st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 15), anything), max_size=24)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    changes=changes,
    without=st.sets(st.sampled_from(PLACES), max_size=3),
    participants=st.booleans(),
)
def test_the_contract_holds_for_any_cell(minimal_sheets, synthetic, changes, without, participants):
    columns = {
        sheet: {column: ... for place, column in without if place == sheet}
        for sheet in ("Tasks", "Messages")
    }
    sheets = minimal_sheets(
        tasks=columns["Tasks"],
        messages=columns["Messages"],
        participants={} if participants else None,
    )
    for (name, column), row, cell in changes:
        if name in sheets and column in sheets[name].header:
            rows = sheets[name].rows
            rows[row % len(rows)][sheets[name].header.index(column)] = cell
    try:
        parsed = parse_workbook("mine", sheets=sheets, reading=parse_reading(READING))
    except WorkbookError as error:
        kinds = {diagnostic.kind for diagnostic in error.diagnostics.of("error")}
        assert kinds <= {
            *("twice", "id-type", "undeclared", "number-against-word", "no-rating"),
            *("no-conversation", "missing-key-column"),
        }
    else:
        study = parsed.study()
        said = describe(replace(parsed, provenance=synthetic.provenance))
        for key in ("never_asked", "not_recorded"):
            columns = getattr(study, key)
            assert said[key] == (columns["sheet"] + "." + columns["column"]).tolist()
        hold_to_the_contract(study)
