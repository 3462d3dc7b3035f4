"""A checkout so small that a book is built from it in seconds."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from helpers.studies import write_study
from sense7.workbook.reading import STANDARD
from sense7.workbook.xlsx import Sheet

ROOT = Path(__file__).resolve().parents[2]

HEAD = """\
---
jupytext:
  notebook_metadata_filter: sense7
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
sense7:
  stored: {stored}
---

# {title}

{prose}

```{{code-cell}} ipython3
:tags: [parameters]

{parameters}
```
"""
CELL = """
```{{code-cell}} ipython3
{code}
```
"""
COMMAND = "from sense7.cli import main; main()"
PARAMETERS = 'data = "synthetic"\nseed = 1\nresults = "results"'

CLAIMS = [
    {
        "id": "counted",
        "title": "Things <b>counted</b> {value}`seed_of_a` $x^2$ **bold**",
        "source": "abstract <script>alert(1)</script>",
        "needs": "[a link](https://example.org) and *stars*",
        "contradiction": "<img src=x onerror=alert(1)> says otherwise",
        "compare": {"within": 0, "reason": "a count is exact"},
        **{"kind": "figure", "value": 7, "unit": "things", "grade": "A"},
        **{"notebook": "01-a", "key": "seed_of_a"},
    },
    {
        **{"id": "words", "title": "Something in words", "kind": "finding", "unit": "in words"},
        **{"grade": "D", "source": "notes", "needs": "more", "value": None, "notebook": None},
        **{"key": None, "not_released": "no notebook computes it"},
    },
]


def environment_of(root=None, **more):
    """The environment of a command: of the variables that steer sense7 only those that are given."""
    names = (name for name in os.environ if not name.startswith(("SENSE7_", "GITHUB_")))
    kept = {name: os.environ[name] for name in names}
    kept |= {"SENSE7_ROOT": str(root)} if root else {}
    return kept | {name: str(value) for name, value in more.items()}


def recording(name, key, value="seed", before=""):
    """Code of a cell that records one value."""
    return (
        f"{before}from sense7.record import Recorder\n\nrecord = Recorder({name!r}, results)\n"
        f'record.value({key!r}, {value}, n=1, unit="things", method="counted", computed_by="a cell")'
    )


HOSTILE = '<script>alert(1)</script> "q" -- $x^2$ **b** {value}`a`'
SHARED_NAME, SHARED_FILE = "its (b)", "it's <b> & “x”.xlsx"
SHARED_CODE = """\
import pathlib

import numpy as np
import pandas as pd
import sense7 as s7
from sense7 import figures, tables

study = s7.load(data)
record = s7.Recorder("01-a", results)
how = {"computed_by": "a cell"}
drawn = pd.Series(np.random.default_rng(seed).normal(size=4), index=list("abcd"))
record.value("seed_of_a", seed, n=1, unit="things", method="<b>counted</b>", **how)
record.value("drawn", drawn.mean(), low=drawn.min(), high=drawn.max(), n=4, unit="levels", method="mean; range", **how)
record.value("first.topic", study.conversations["topic"].iloc[0], n=2, unit="topic", method="read", **how)
record.value("none", n=None, unit="u", method="m", reason="<i>why</i>", **how)
judged = sorted(path.name for path in pathlib.Path(predictions).glob("*"))
record.value("judges", ", ".join(judged), n=1, unit="files", method="read", **how)
tables.plain(study.conversations[["participant", "condition", "topic"]], "Shown")"""
SHARED_FIGURE = (
    'figures.heat_map(drawn.to_frame("level"), name="drawn", title="T", label="drawn", '
    'caption="n = 4 turns; no interval.")'
)
SHARED_FRONT = (
    "{value}`seed_of_a` is {value}`seed_of_a.estimate` of {value}`seed_of_a.n`. "
    "Topic: {value}`first.topic`. {value}`none`. Parts: {value}`none.estimate`.\n\n"
    "{edition}`prompted_condition`, {edition}`file`, {edition}`parameters`, {edition}`name`."
)
SHARED_PARAMETERS = 'data = "synthetic"\nseed = 1\npredictions = ""\nresults = ""'
SHARED_BUILD = ("build", f"data/{SHARED_FILE}", "--name", SHARED_NAME, "-p", "seed=7")
SHARED_JUDGE = "TaskId,PID,IS_EMPATHY,ground-truth\n1,P1,4,2\n2,P2,3,2\n"


MESSAGES = ["TaskId", "MessageId", "Role", "Content", "EmpathyOverall", "Affective", "Cognitive"]
RATED = ["good", "poor", "unknown"]


class Checkout:
    """Writes the parts of a checkout, and builds it."""

    def __init__(self, root, run_here=None):
        self.root, self.run_here = root, run_here
        if root.exists():  # made before
            return
        for folder in ("book/static", "notebooks", "data"):
            (root / folder).mkdir(parents=True)
        shutil.copyfile(ROOT / "_config.yml", root / "_config.yml")
        shutil.copytree(ROOT / "book" / "templates", root / "book" / "templates")
        for name in ("companion.css", "favicon.svg"):  # _config.yml names the second
            shutil.copyfile(ROOT / "book" / "static" / name, root / "book" / "static" / name)
        shutil.copyfile(ROOT / "book" / "references.bib", root / "book" / "references.bib")
        (root / "requirements.lock").write_text("a==1\n", encoding="utf-8")
        (root / "data" / "truth.json").write_text('{"workbook_sha256": ""}', encoding="utf-8")
        self.claims(CLAIMS)
        self.workbook(root / "mine.xlsx")

    @property
    def editions(self):
        return self.root / "_build" / "editions"

    def claims(self, claims):
        (self.root / "data" / "claims.yml").write_text(yaml.safe_dump(claims), encoding="utf-8")

    def notebook(self, name, *codes, stored=(), prose="Text.", parameters=PARAMETERS):
        stored = json.dumps(list(stored))
        text = HEAD.format(stored=stored, title=name, prose=prose, parameters=parameters)
        text += "".join(CELL.format(code=code) for code in codes)
        path = self.root / "notebooks" / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        return path

    def page(self, name, text):
        path = self.root / "book" / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        return path

    def toc(self, *files):
        toc = {
            "format": "jb-book",
            "root": "book/index",
            "chapters": [{"file": file} for file in files],
        }
        (self.root / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")

    def book(self, front="Seed: {value}`seed_of_a`.", code=None):
        """The smallest book: front page, ledger, one notebook."""
        self.page("index", f"# Front\n\n{front}\n")
        self.page("ledger", "# Ledger\n\n{published}`counted`\n\n```{ledger}\n```\n")
        self.notebook("01-a", code or recording("01-a", "seed_of_a"))
        self.toc("book/ledger", "notebooks/01-a")
        return self

    def shared_book(self):
        """A book with all that tests look at, of a workbook whose names are markup; gives the words that build it."""
        self.book(SHARED_FRONT)
        self.notebook("01-a", SHARED_CODE, SHARED_FIGURE, parameters=SHARED_PARAMETERS)
        self.notebook("02-b", recording("02-b", "of_b", "1"))
        self.page("figure", "# Figure\n\n```{picture} notebooks/01-a drawn\n```\n")
        self.page(
            "plain",
            "# Plain\n\nA {term}`Turn`.\n\n```{glossary}\nTurn\n  A message and its answer.\n```\n",
        )
        self.toc("book/ledger", "book/figure", "book/plain", "notebooks/01-a", "notebooks/02-b")
        for name in ("editions.js", "editions.css", "switch.css"):
            shutil.copyfile(ROOT / "book" / "static" / name, self.root / "book" / "static" / name)
        names = (f"empathy {HOSTILE}", f"=topic {HOSTILE}", f"@pid {HOSTILE}")
        self.workbook(self.root / "data" / SHARED_FILE, *names)
        folder = self.root / f"predictions_{SHARED_NAME}"
        folder.mkdir()
        for name, text in (
            ("judge-iter1.csv", SHARED_JUDGE),
            ("journal.jsonl", ""),
            ("~$judge-iter1.xlsx", ""),
        ):
            (folder / name).write_text(text, encoding="utf-8")
        return SHARED_BUILD

    @staticmethod
    def workbook(path, condition="model a", topic="work", pid="P1"):
        tasks = [[pid, condition, 1.0, topic], ["P2", "model b (no prompt)", 2.0, topic]]
        messages = [
            [task, float(number), role, "some text", *rated]
            for task in (1.0, 2.0)
            for number, role, rated in ((1, "user", []), (2, "assistant", RATED))
        ]
        sheets = [
            Sheet("Tasks", ["PID", "Model", "TaskId", "PreTaskChoice"], tasks),
            Sheet("Messages", MESSAGES, messages),
        ]
        write_study(sheets, path, f"{STANDARD}prompted: {json.dumps(condition)}\n")
        return path

    def sense7(self, *arguments):
        """Run the command in a process of its own."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def call(self, *arguments):
        """Run the command in this process; see the fixture ``run_here``."""
        return self.run_here(*arguments, cwd=self.root, environment=environment_of(self.root))

    def start(self, *arguments):
        """Start the command in a group of its own, as a terminal would."""
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *map(str, arguments)],
            cwd=self.root,
            env=environment_of(self.root),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def bytes(self, name):
        """Every file of an edition but its manifest, whose digest of inputs covers where they lie: path -> bytes."""
        folder = self.editions / name
        paths = [
            path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"
        ]
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
