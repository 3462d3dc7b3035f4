"""The help comes at once: it is kept as text, and is what the verbs would say."""

import subprocess
import sys
from pathlib import Path

import pytest

from sense7 import start

ROOT = Path(__file__).resolve().parents[1]


def run_start(*arguments, **environment):
    code = "import sys; sys.argv[0] = 'sense7'; from sense7.start import main; main()"
    imported = "import atexit, sys; atexit.register(lambda: print('typer' in sys.modules, file=sys.stderr)); "
    return subprocess.run(
        [sys.executable, "-c", imported + code, *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_kept_help_is_what_the_verbs_would_say():
    code = "import sys; sys.argv = ['sense7', '--help']; from sense7.cli import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    ).stdout
    kept = (ROOT / "src" / "sense7" / start.HELP).read_text("utf-8")
    assert kept == said, "the help changed. Run: make derived"


def test_the_help_comes_without_what_parses_a_command_line():
    done = run_start("--help")
    assert done.stdout == (ROOT / "src" / "sense7" / start.HELP).read_text("utf-8")
    assert done.stderr == "False\n"


@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--help"], {"COLUMNS": "60"}), (["--version"], {}), (["check", "--help"], {})]
)
def test_all_else_is_left_to_the_verbs(arguments, environment):
    done = run_start(*arguments, **environment)
    assert done.returncode == 0
    assert done.stderr == "True\n"
    assert max(map(len, done.stdout.splitlines())) <= int(environment.get("COLUMNS", 80))


def test_without_the_kept_help_the_verbs_say_it(monkeypatch, capsys):
    monkeypatch.setattr(start, "HELP", "absent.txt")
    monkeypatch.delenv("COLUMNS", raising=False)
    assert not start._show_help()
    assert capsys.readouterr().out == ""
