"""`sense7 judge run` as a command: what it says, exit codes."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError

need_the_judge()

Answered = endpoint.Answer


@pytest.fixture
def command(server, workbook, tmp_path):
    """The start of a command that asks about so many conversations, in the folder ``out`` if no other is given."""

    def build(conversations, out="out"):
        words = ["run", "--data", workbook(conversations), "--model", "judge", "--retries", 1]
        return [*words, "--base-url", server.address, "--out", tmp_path / out]

    return build


def invoked(*arguments, code=0):
    done = CliRunner().invoke(judge_commands, [str(argument) for argument in arguments])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def test_a_run_without_a_usable_reply_ends_with_1_and_says_so_in_its_last_line(server, command):
    server.script = lambda asked: Answered(text="\x1b]0;title\x07 [bold]no\nscore")
    err = invoked(*command(3), code=1).stderr
    assert "\x1b" not in err
    naming.check(err.splitlines()[-1], "run 1", 3, "parse_failure", "[bold]no score")


def test_a_costly_session_asks_first_and_its_files_are_evaluated(server, command, tmp_path):
    arguments = [*command(2), "--price-in", 1, "--price-out", 1e5]
    with naming.refused("600.00", "10.00", "--yes", "--runs", "--limit"):
        invoked(*arguments)
    assert server.asked == []
    said = invoked(*arguments, "--yes")
    assert Path(said.stdout.strip()).is_file()
    assert "2/2" in said.stderr
    assert "6.00" in said.stderr
    naming.check(said.stderr.splitlines()[-1], "ok 2", 0)
    assert "Spearman" in invoked("evaluate", tmp_path / "out", "--draws", 50).stdout
