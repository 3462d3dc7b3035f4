"""A site names people and conversations of one's own workbook P1 and C1; their ids stay in the edition's data."""

import json

import pytest

from helpers import naming
from helpers.checkout import recording
from sense7.findings.ground_truth import ground_truth
from sense7.loading import load
from sense7.published_ids import number_ids, table_path, with_published_ids
from sense7.workbook.xlsx import Sheet, write_sheets

PEOPLE = ["zoe@zq.org", "Bo-zq", "bo-zq", None]
"""Two differ by case only, which the reader warns about; one conversation has no PID."""

CHATS = ["zoe@zq.org 1", "zq-2", "zq-3", "zq-4"]
STRAYS = ["zq-idle", "zq-lost"]
"""A participant without a conversation, and a message's conversation that sheet Tasks lacks."""

SHOWN = """\
import sense7 as s7
from sense7 import tables
from sense7.findings.dataset import diagnostics_table
from sense7.judge.scores.judges import read_runs

study = s7.load(data)
judged = read_runs(study, predictions)["judge"]["judge-iter1"].table
for table in (study.conversations, study.turns, study.participants, diagnostics_table(study), judged):
    display(tables.plain(table.astype(str), "Names"))
"""


def write_workbook(path):
    messages = []
    for chat in [*CHATS, STRAYS[1]]:
        messages += [[chat, 1.0, "user", "hello", None, None], [chat, 2.0, "assistant", "hi"]]
        messages[-1] += ["good", "poor"]
    heads = ["TaskId", "MessageId", "Role", "Content", "EmpathyOverall", "Affective"]
    tasks = [[*ids, "model a", "work"] for ids in zip(PEOPLE, CHATS, strict=True)]
    people = [[person, "yes"] for person in [*PEOPLE[:3], STRAYS[0]]]
    sheets = [
        Sheet("Tasks", ["PID", "TaskId", "Model", "PreTaskChoice"], tasks),
        Sheet("Messages", heads, messages),
        Sheet("Participants", ["PID", "Student"], people),
    ]
    write_sheets(sheets, path)
    return path


@pytest.fixture
def workbook(tmp_path):
    return write_workbook(tmp_path / "mine.xlsx")


def test_no_file_of_a_site_names_an_original_id(checkout):
    workbook = write_workbook(checkout.root / "mine.xlsx")
    parameters = 'data = "synthetic"\npredictions = ""\nresults = "results"'
    codes = [recording("01-a", "seed_of_a", "1"), SHOWN]
    checkout.book(front="Front.")
    checkout.notebook("01-a", *codes, parameters=parameters)
    checkout.page("explorer", "# Read\n\nThe conversations.\n")
    checkout.toc("book/ledger", "book/explorer", "notebooks/01-a")
    folder = checkout.root / "predictions_mine"
    folder.mkdir()
    rows = [f"{chat},{person or ''},4,2" for chat, person in zip(CHATS, PEOPLE, strict=True)]
    lines = ["TaskId,PID,IS_EMPATHY,ground-truth", *rows]
    (folder / "judge-iter1.csv").write_text("\n".join(lines), "utf-8")

    done = checkout.call("build", str(workbook), "--quiet")
    assert done.returncode == 0, done.stderr
    site = checkout.root / "site"
    done = checkout.call("site", str(site), "mine")
    assert done.returncode == 0, done.stderr
    naming.check(done.stderr, "mine", "8 messages", "1 topic")

    originals = [*filter(None, PEOPLE), *CHATS, *STRAYS]
    files = [path for path in site.rglob("*") if path.is_file()]
    naming_them = {
        str(path.relative_to(site)): name
        for path in files
        for name in originals
        if name.encode() in path.read_bytes()
    }
    assert naming_them == {}
    page = (site / "editions/mine/html/notebooks/01-a.html").read_text("utf-8")
    naming.check(page, "P1", "P4", "P5", "C1", "C4")
    explorer = next(site.rglob("conversations.js")).read_text("utf-8")
    assert '"name":["C1","C2","C3","C4"]' in explorer

    copy = checkout.editions / "mine" / "data" / "mine.xlsx"
    table = json.loads(table_path(copy).read_text("utf-8"))
    assert table["conversation"] == {f"C{n}": name for n, name in enumerate(CHATS, 1)}
    assert load(copy).conversations["participant"].tolist() == ["P1", "P2", "P3", "P4"]
    assert load(workbook).conversations["conversation"].tolist() == CHATS
    done = checkout.call("verify", "mine")
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_ids_change(workbook):
    study = load(workbook)
    published = with_published_ids(study, number_ids(study))
    assert published.conversations["participant"].tolist() == ["P1", "P2", "P3", "P4"]
    assert published.participants["participant"].tolist() == ["P1", "P2", "P3", "P5"]
    for name in ("conversations", "messages", "turns", "participants"):
        before, after = getattr(study, name), getattr(published, name)
        kept = before.columns.difference(["participant", "conversation"])
        assert before[kept].equals(after[kept])
        assert before.dtypes.equals(after.dtypes)
    places = [(item.kind, item.sheet, item.column, item.rows) for item in study.diagnostics]
    assert places == [
        (item.kind, item.sheet, item.column, item.rows) for item in published.diagnostics
    ]
    truth = ground_truth(study.turns, study.conversations["conversation"])
    assert (
        ground_truth(published.turns, published.conversations["conversation"]).tolist()
        == truth.tolist()
    )


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"participant": [], "conversation": {}}'])
def test_a_table_that_no_build_wrote_is_refused(content, workbook):
    table_path(workbook).write_text(content, "utf-8")
    with naming.refused(table_path(workbook), "build"):
        load(workbook)
