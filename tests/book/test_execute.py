"""Execution: in order, side by side, only what changed, and a clear word where it fails."""

import json
import os
import re
import shutil
import signal
import threading
import time

import pytest

from sense7.book import execute
from sense7.book.execute import BuildError
from sense7.book.notebooks import find_notebooks, to_ipynb
from sense7.book.plan import environment_of, library_digest, plan, plan_jobs
from sense7.errors import UserError

GIVEN = {"data": "../data/mine.xlsx", "results": "../results"}


class Runner:
    """Plans and runs the notebooks of a checkout; says what was executed and what came from the cache."""

    def __init__(self, checkout):
        self.checkout, self.count = checkout, 0

    def plan(self, workbook="0" * 64, beside=None, **given):
        return plan(
            find_notebooks(self.checkout.root),
            GIVEN | given,
            workbook,
            environment_of(self.checkout.root),
            beside,
        )

    def run(self, workers=2, **options):
        self.count += 1
        self.edition = self.checkout.root / f"edition {self.count}"
        self.reports = []
        jobs = self.plan(**options)
        cache = self.checkout.root / "cache"
        execute.run(jobs, self.edition, cache, workers=workers, report=lambda *said: self.reports.append(said))
        return [name for name, fresh in self.reports if fresh]

    def results(self, name):
        return json.loads((self.edition / "results" / f"{name}.json").read_text("utf-8"))


@pytest.fixture
def runner(checkout):
    return Runner(checkout)


# Digests: what makes a notebook run again (nothing runs here)


def changed(before, after):
    return [name for name in before if before[name].digest != after[name].digest]


@pytest.fixture
def chain(runner):
    """03-c needs 02-b, which needs 01-a; 04-d stands alone and has a parameter more."""
    runner.checkout.notebook("01-a", "1")
    runner.checkout.notebook("02-b", "1", needs=["01-a"])
    runner.checkout.notebook("03-c", "1", needs=["02-b"])
    runner.checkout.notebook("04-d", "1", parameters="draws = 100\nseed = 1")
    return runner


def test_a_plan_is_in_the_order_of_needs(chain):
    chain.checkout.notebook("01-a", "1", needs=["04-d"])
    assert list(chain.plan()) == ["04-d", "01-a", "02-b", "03-c"]


def test_an_edit_changes_the_notebook_and_all_that_need_it(chain):
    before = chain.plan()
    chain.checkout.notebook("02-b", "2", needs=["01-a"])
    assert changed(before, chain.plan()) == ["02-b", "03-c"]


def test_a_parameter_changes_the_notebooks_that_know_it(chain):
    before = chain.plan()
    assert changed(before, chain.plan(draws=200)) == ["04-d"]
    assert sorted(changed(before, chain.plan(seed=2))) == ["01-a", "02-b", "03-c", "04-d"]


def test_predictions_and_fetched_data_change_the_notebooks_that_look_at_them(chain):
    chain.checkout.notebook("05-e", "1", parameters='predictions = ""')
    chain.checkout.notebook("06-f", "1", sources=["elsewhere"])
    before = chain.plan(beside={"predictions": "1", "elsewhere": "1"})
    assert changed(before, chain.plan(beside={"predictions": "2", "elsewhere": "1"})) == ["05-e"]
    assert changed(before, chain.plan(beside={"predictions": "1", "elsewhere": "2"})) == ["06-f"]


def test_a_stored_result_changes_the_notebooks_that_show_it(chain):
    root = chain.checkout.root
    chain.checkout.notebook("05-e", "1", stored=["data/coverage.json"])
    plans = [plan_jobs(root, {}, "", [])]
    for content in ("1", "2"):
        (root / "data" / "coverage.json").write_text(content, "utf-8")
        plans.append(plan_jobs(root, {}, "", []))
        assert changed(*plans[-2:]) == ["05-e"]
    (root / "data" / "implied.json").write_text("1", "utf-8")
    assert changed(plans[-1], plan_jobs(root, {}, "", [])) == []


@pytest.mark.parametrize("what", ["workbook", "installed", "library"])
def test_workbook_installed_versions_and_library_change_every_notebook(chain, monkeypatch, tmp_path, what):
    before = chain.plan()
    if what == "installed":  # a package that the lock names
        (tmp_path / "site" / "a-2.dist-info").mkdir(parents=True)
        monkeypatch.syspath_prepend(tmp_path / "site")
    if what == "library":
        monkeypatch.setattr("sense7.book.plan.library_digest", lambda: "another")
    assert changed(before, chain.plan(workbook="1" * 64 if what == "workbook" else "0" * 64)) == list(before)


def test_nothing_changed_means_equal_digests_wherever_the_checkout_lies(chain, new_checkout):
    other = new_checkout()
    for path in (chain.checkout.root / "notebooks").glob("*.md"):
        (other.root / "notebooks" / path.name).write_bytes(path.read_bytes())
    assert changed(chain.plan(), Runner(other).plan()) == []


def test_the_library_digest_leaves_out_what_no_notebook_imports():
    assert library_digest() != library_digest(skip=())


def test_a_circle_of_needs_is_named(chain):
    chain.checkout.notebook("01-a", "1", needs=["03-c"])
    with pytest.raises(UserError, match=r"circle: 0\d-\w -> 0\d-\w -> 0\d-\w -> 0\d-\w"):
        chain.plan()


def test_a_notebook_that_needs_itself_is_a_circle(chain):
    chain.checkout.notebook("01-a", "1", needs=["01-a"])
    with pytest.raises(UserError, match="circle: 01-a -> 01-a"):
        chain.plan()


def test_every_unfit_parameter_is_said_in_one_message(chain):
    with pytest.raises(UserError) as caught:
        chain.plan(draw=5, sed=1, draws=5, seed=True)
    message = str(caught.value)
    for part in ("unknown: draw, sed (accepted: data, draws, results, seed)", "draws = 5", "seed = True"):
        assert message.count(part) == 1, message


# Runs


def test_in_order_side_by_side_and_only_once(runner, recording_code):
    """One walk through the life of a cache, since every kernel takes its seconds to start."""
    # Each waits for a file that the other one writes: neither ends unless both run at the same time.
    meet = (
        f"import pathlib, time\nfolder = pathlib.Path({str(runner.checkout.root)!r})\n(folder / '{{0}}').touch()\n"
        "while not (folder / '{1}').exists():\n    time.sleep(0.05)\n"
    )
    checkout = runner.checkout
    checkout.notebook("01-a", recording_code("01-a", "a", before=meet.format("one", "two")))
    checkout.notebook("02-b", recording_code("02-b", "b", before=meet.format("two", "one")))
    reading = "import json, pathlib\nread = json.loads((pathlib.Path(results) / '01-a.json').read_text())[0]\n"
    checkout.notebook("03-c", recording_code("03-c", "c", 'read["estimate"]', reading), needs=["01-a", "02-b"])
    folder = os.getcwd()  # noqa: PTH109
    assert sorted(runner.run(seed=5)) == ["01-a", "02-b", "03-c"]
    assert runner.reports[-1] == ("03-c", True)
    assert runner.results("03-c")[0]["estimate"] == 5
    assert os.getcwd() == folder, "the folder of this process was changed"  # noqa: PTH109
    assert runner.results("01-a")[0]["cell"] == 3  # parameters, injected parameters, this one

    assert runner.run(seed=5) == []
    assert [fresh for _, fresh in runner.reports] == [False] * 3
    assert runner.results("03-c")[0]["estimate"] == 5

    checkout.notebook("03-c", recording_code("03-c", "d"), needs=["01-a"])
    assert runner.run(seed=5) == ["03-c"]
    assert sorted(path.name[:4] for path in (checkout.root / "cache").iterdir()) == ["01-a", "02-b", "03-c", "03-c"]


def test_first_come_those_that_others_wait_for_then_the_longest_and_the_unmeasured(runner, recording_code):
    class Noting(execute.Kernels):
        order = ()

        def execute(self, job, edition, cached):
            self.order += (job.notebook.name,)
            cached.mkdir()
            (cached / "notebook.ipynb").write_text("{}", encoding="utf-8")
            (cached / "values.json").write_text("[]", encoding="utf-8")

    for name, needs in {"01-short": [], "02-long": [], "03-new": [], "04-needed": [], "05-last": ["04-needed"]}.items():
        runner.checkout.notebook(name, recording_code(name, "a"), needs=needs)
    seconds = {"01-short": 1.0, "02-long": 2.0, "04-needed": 0.5, "05-last": 9.0}
    kernels, root = Noting(), runner.checkout.root
    for age, (name, took) in enumerate([("01-short", 99.0), *seconds.items()]):  # the newest counts
        kept = root / "cache" / f"{name}-{age:024}" / execute.SECONDS
        kept.parent.mkdir(parents=True)
        kept.write_text(str(took), encoding="utf-8")
        os.utime(kept, (age, age))
    execute.run(runner.plan(), root / "edition", root / "cache", workers=1, kernels=kernels)
    assert kernels.order == ("04-needed", "03-new", "02-long", "01-short", "05-last")


def test_an_executed_notebook_tells_nothing_of_time_and_place(runner, recording_code):
    show = "\nimport os\nsorted(os.environ.get(name, '') for name in ('PYTHONHASHSEED',))"
    runner.checkout.notebook("01-a", recording_code("01-a", "a") + show)
    runner.run()
    text = (runner.edition / "notebooks" / "01-a.ipynb").read_text("utf-8")
    node = json.loads(text)
    assert node["metadata"]["papermill"] == {"parameters": GIVEN}
    assert [cell["metadata"].get("tags") for cell in node["cells"]] == [
        None,
        ["parameters"],
        ["injected-parameters"],
        None,
    ]
    assert [cell.get("execution_count") for cell in node["cells"]] == [None, 1, 2, 3]
    assert node["cells"][3]["outputs"][0]["data"]["text/plain"] == ["['0']"]
    assert str(runner.checkout.root) not in text
    assert not re.search(r"20\d\d-\d\d-\d\d", text)


def test_a_failure_names_notebook_cell_and_exception_and_keeps_the_others(runner, recording_code):
    checkout = runner.checkout
    checkout.notebook("01-a", recording_code("01-a", "a"))
    checkout.notebook("02-b", "seed = seed + 1", "half = seed / 0\nprint(half)")
    checkout.notebook("03-c", recording_code("03-c", "c"), needs=["02-b"])
    with pytest.raises(BuildError) as caught:
        runner.run()
    message = str(caught.value)
    for part in ("02-b.md", "cell 4", "'half = seed / 0'", "ZeroDivisionError: division by zero"):
        assert part in message
    assert runner.reports == [("01-a", True)]
    cache = checkout.root / "cache"
    assert [path.name[:4] for path in cache.iterdir()] == ["01-a"], "something unfinished was left"

    checkout.notebook("02-b", recording_code("02-b", "b"))
    assert runner.run() == ["02-b", "03-c"]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("seed", "records no value under its own name"),
        ("from sense7.record import Recorder\n\nrecord = Recorder('01-a', results)", "records no value"),
        ("import os\n\nos._exit(3)", "could not be executed"),
    ],
    ids=["no recorder", "nothing recorded", "kernel dies"],
)
def test_other_ways_to_fail_name_the_notebook(runner, code, what):
    runner.checkout.notebook("01-a", code)
    with pytest.raises(BuildError, match=rf"01-a\.md: .*{what}"):
        runner.run()
    assert list((runner.checkout.root / "cache").iterdir()) == []


def test_an_interrupt_kills_what_runs_at_once(runner, ends):
    place = runner.checkout.root / "pid"
    write = f"pathlib.Path({str(place)!r}).write_text(str(os.getpid()))"
    runner.checkout.notebook("01-a", "import os, pathlib, time", write)
    path = runner.checkout.root / "notebooks" / "01-a.md"
    path.write_text(path.read_text("utf-8") + "\n```{code-cell} ipython3\ntime.sleep(900)\n```\n", "utf-8")

    def interrupt():
        deadline = time.monotonic() + 300
        while not (place.exists() and place.read_text("utf-8")) and time.monotonic() < deadline:
            time.sleep(0.05)
        started.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    started = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    thread.join()
    assert time.monotonic() - started[0] < 300
    assert ends(int(place.read_text("utf-8")))
    assert list((runner.checkout.root / "cache").iterdir()) == []


def test_a_kernel_that_does_not_come_up_is_started_again(runner, recording_code, monkeypatch):
    """As where the kernel of another process took the same port meanwhile."""
    runner.checkout.notebook("01-a", recording_code("01-a", "a"))
    tries = []
    whole = execute._papermill

    def flaky(*arguments):
        tries.append(arguments)
        if len(tries) == 1:
            raise RuntimeError("Kernel didn't respond in 60 seconds")
        whole(*arguments)

    monkeypatch.setattr(execute, "_papermill", flaky)
    assert runner.run() == ["01-a"]
    assert len(tries) == 2


def test_a_kernel_that_never_comes_up_is_an_error_in_the_end(runner, monkeypatch):
    runner.checkout.notebook("01-a", "1")

    def dead(*arguments):
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr(execute, "_papermill", dead)
    with pytest.raises(BuildError, match="could not be executed"):
        runner.run()


# Prose: what was executed gets that which the notebook has now


def test_other_prose_executes_nothing_and_gives_what_executing_would(runner, recording_code):
    """Cells of prose that change, come and go, before and after the parameters, which were injected."""
    name, code = "01-a", recording_code("01-a", "seed_of_a")
    path = runner.checkout.notebook(name, code, "1 + 1", prose="Text with *stars*,\nover two lines.")
    assert runner.run(seed=5) == [name]
    text = path.read_text("utf-8").replace("over two lines.", "over\ntwo lines: ä.")
    tagged = '+++ {"tags": ["remove-cell"]}\n\nA cell of its own.\n'
    path.write_text(f"{text}\n{tagged}\n## A heading at the end\n", encoding="utf-8")
    assert runner.run(seed=5) == []
    kept = (runner.edition / "notebooks" / f"{name}.ipynb").read_bytes()
    shutil.rmtree(runner.checkout.root / "cache")
    assert runner.run(seed=5) == [name]
    assert kept == (runner.edition / "notebooks" / f"{name}.ipynb").read_bytes()
    assert "two lines: ä." in kept.decode()
    assert "A cell of its own." in kept.decode()


def test_without_an_injected_cell_prose_goes_where_it_belongs(runner, recording_code):
    path = runner.checkout.notebook("01-a", recording_code("01-a", "seed_of_a"))
    job = runner.plan()["01-a"]
    executed = to_ipynb(job.notebook)
    node = json.loads(executed) | {"metadata": {"papermill": {}}}
    path.write_text(path.read_text("utf-8").replace("Text.", "Other text."), encoding="utf-8")
    shown = json.loads(execute.with_prose(json.dumps(node), runner.plan()["01-a"].notebook))
    assert [cell["cell_type"] for cell in shown["cells"]] == [cell["cell_type"] for cell in node["cells"]]
    assert "Other text." in "".join("".join(cell["source"]) for cell in shown["cells"])


def test_a_tag_of_code_is_no_prose(chain):
    before = chain.plan()
    path = chain.checkout.root / "notebooks" / "04-d.md"
    text = path.read_text("utf-8")
    path.write_text(text + "\n```{code-cell} ipython3\n:tags: [hide-input]\n\n1\n```\n", encoding="utf-8")
    between = chain.plan()
    assert changed(before, between) == ["04-d"]
    path.write_text(path.read_text("utf-8").replace("hide-input", "hide-output"), encoding="utf-8")
    assert changed(between, chain.plan()) == ["04-d"]
