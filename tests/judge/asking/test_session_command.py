"""`sense7 judge run` as a command: what it says, exit codes, and that its page shows what was answered."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import table_of
from helpers.studies import bootstrap_of
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge.scores import performance
from sense7.judge.scores.judges import read_runs

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


def test_a_dry_run_says_what_it_would_take_and_sends_nothing(server, command, tmp_path):
    said = invoked(*command(4), "--runs", 10, "--dry-run", "--price-in", 2.5, "--price-out", 10)
    naming.check(said.stdout, "40 (4 conversations, runs: 10)", "1.25")
    assert (server.asked, (tmp_path / "out").exists()) == ([], False)


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


def answer(asked):
    """Score by the length of the prompt; every ninth reply holds no score, every seventh one off the scale."""
    text = f"<S0>Counted.</S0><S2>{1 + len(asked.prompt) // 97 % 5}</S2>"
    text = "<S2>10</S2>" if len(asked.prompt) % 7 == 0 else text
    return endpoint.Answer(text="I would rather not say." if len(asked.prompt) % 9 == 0 else text)


def test_what_a_judge_answered_is_what_its_page_shows(server, tmp_path, study):
    out = tmp_path / "asked"
    server.script = answer
    asked = ["run", "--model", "judge", "--base-url", server.address, "--data", "synthetic"]
    asked += ["--out", out, "--yes"]
    invoked(*asked, "--limit", 40)
    invoked(*asked, "--runs", 2, "--limit", 60)
    assert len(server.asked) == 120, "what the first session was answered is not asked again"
    report = invoked("evaluate", out, "--draws", 200, "--json").stdout
    evaluated = json.loads(report)["over_files"]["mean"]
    judges = read_runs(study, out)
    shown = performance.shown_judge(judges, "judge-empathy", bootstrap_of(study, 200))
    tables = [performance.judge_table(shown, name) for name in performance.TABLES]
    rows = [row for table in tables for row in table.to_dict("records")]
    values = {row["key"]: row for row in [*rows, *performance.facts(judges, shown)]}
    assert values["judge_shown"]["estimate"] == "judge-empathy"
    for metric in ("accuracy", "spearman", "macro_f1", "within_one", "mean_absolute_error"):
        found, expected = values[f"judge_{metric}"], evaluated[metric]
        assert found["estimate"] == pytest.approx(expected["estimate"], abs=1e-12)
        assert found["n"] == expected["n"]
    # The page's share is of all conversations of the study, also of those that were never asked about.
    share = evaluated["coverage"]["estimate"] * 60 / 672
    assert values["judge_coverage"]["estimate"] == pytest.approx(share)
    assert values["judge_count_parse_failure"]["estimate"] > 0
    doubtful = sum(table_of(path)["doubtful"].sum() for path in out.glob("*.xlsx"))
    assert values["judge_count_doubtful"]["estimate"] == doubtful > 0
    assert values["judge_authors_accuracy"]["n"] > values["judge_accuracy"]["n"]
    assert values["judge_used_authors_prompt"]["estimate"] == "no"
