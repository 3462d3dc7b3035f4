"""The command's first answer, beside the import of the library that most of its work needs."""

import sys

from measuring import ROOT, SENSE7, Counts, Row, in_turn, run


def command_line(counts: Counts) -> list[Row]:
    """The help, and the check of a workbook, each as a whole process."""
    workbook = ROOT / "data" / "synthetic.xlsx"
    assert "Usage: sense7" in run([*SENSE7, "--help"])
    assert "672" in run([*SENSE7, "check", workbook])
    rows = {
        "--help": Row("help", "sense7 --help", "", "at most a tenth of it", ratio_at_least=10),
        "check": Row(
            "check",
            "sense7 check of a workbook of 672 conversations",
            "",
            "at most 1.3 times its time",
            ratio_at_least=1 / 1.3,
        ),
    }
    for row in rows.values():
        row.peer = "python -c 'import pandas'"
    arguments = {"--help": ["--help"], "check": ["check", str(workbook)]}
    return [
        in_turn(
            row,
            lambda name=name: run([*SENSE7, *arguments[name]]),
            lambda: run([sys.executable, "-c", "import pandas"]),
            counts.pairs,
        )
        for name, row in rows.items()
    ]


ENTRIES = {"command-line": command_line}
