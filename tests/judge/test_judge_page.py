"""A judge's answers reach their page: asked, read, and recorded there as the command evaluates them."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from sense7 import sources
from sense7.book import execute
from sense7.book.plan import plan
from sense7.cli.judge import judge as judge_commands
from sense7.judge.files import read_predictions

need_the_judge()

ROOT = Path(__file__).resolve().parents[2]


def answer(asked):
    """Score by the length of the prompt; every ninth reply holds no score, every seventh one off the scale."""
    text = f"<S0>Counted.</S0><S2>{1 + len(asked.prompt) // 97 % 5}</S2>"
    text = "<S2>10</S2>" if len(asked.prompt) % 7 == 0 else text
    return endpoint.Answer(text="I would rather not say." if len(asked.prompt) % 9 == 0 else text)


def sense7_judge(*arguments):
    done = CliRunner().invoke(judge_commands, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return done.stdout


def recorded(edition, predictions, data="synthetic"):
    """Execute the page's notebook; gives its recorded values."""
    path, provenance = sources.resolve(data)
    sources.copy_for_edition(path, provenance, edition / "data")
    given = {"data": f"../data/{provenance.file}", "results": "../results", "predictions": predictions, "draws": 200}
    jobs = {"19-judge": plan(ROOT, given, provenance.sha256)["19-judge"]}
    execute.run(jobs, edition, edition / "cache", workers=1)
    return {value["key"]: value for value in json.loads((edition / "results" / "19-judge.json").read_text("utf-8"))}


def test_what_a_judge_answered_stands_on_its_page(tmp_path):
    out = tmp_path / "asked"
    with endpoint.Endpoint(answer) as server:
        asked = ("--model", "judge", "--base-url", server.address, "--data", "synthetic", "--out", out, "--yes")
        sense7_judge("run", *asked, "--runs", 1, "--limit", 40)
        sense7_judge("run", *asked, "--runs", 2, "--limit", 60)
    assert len(server.asked) == 120, "what the first session was answered is not asked again"
    evaluated = json.loads(sense7_judge("evaluate", out, "--draws", 200, "--json"))["over_files"]["mean"]
    (out / "notes.csv").write_text("who,what\nme,rerun\n", "utf-8")
    values = recorded(tmp_path / "edition", str(out))
    assert values["judge_shown"]["estimate"] == "judge-empathy"
    for metric in ("accuracy", "spearman", "macro_f1", "within_one", "mean_absolute_error"):
        assert values[f"judge_{metric}"]["estimate"] == pytest.approx(evaluated[metric]["estimate"], abs=1e-12)
        assert values[f"judge_{metric}"]["n"] == evaluated[metric]["n"]
    # The page's share is of all conversations of the study, also of those that were never asked about.
    assert values["judge_coverage"]["estimate"] == pytest.approx(evaluated["coverage"]["estimate"] * 60 / 672)
    assert values["judge_count_parse_failure"]["estimate"] > 0
    doubtful = sum(read_predictions(path).frame["doubtful"].sum() for path in out.glob("*.xlsx"))
    assert values["judge_count_doubtful"]["estimate"] == doubtful > 0
    page = (tmp_path / "edition" / "notebooks" / "19-judge.ipynb").read_text("utf-8")
    assert "left out, since it holds no column IS_EMPATHY" in page
    assert values["judge_authors_accuracy"]["n"] > values["judge_accuracy"]["n"]
    assert values["judge_used_authors_prompt"]["estimate"] == "no"


def test_without_predictions_the_page_says_how_they_are_made(tmp_path):
    copy = tmp_path / "mine.xlsx"
    shutil.copyfile(ROOT / "data" / "synthetic.xlsx", copy)
    values = recorded(tmp_path / "edition", "", copy)
    assert values["judge_spearman"]["reason"] == "no predictions of a judge are available"
    page = (tmp_path / "edition" / "notebooks" / "19-judge.ipynb").read_text("utf-8")
    assert "sense7 judge run --model NAME" in page


@pytest.mark.long
def test_the_simulated_judge_is_called_so_in_every_output_of_its_page(tmp_path):
    values = recorded(tmp_path / "edition", str(ROOT / "data" / "synthetic_judge"))
    assert values["judge_shown"]["estimate"] == "simulated-judge"
    assert values["judge_used_authors_prompt"]["estimate"] == "no"
    assert values["levels_are_comparable"]["estimate"] == "no"
    flags = ("judge_shown", "judge_used_authors_prompt", "levels_are_comparable")
    numbers = [value for key, value in values.items() if key not in flags]
    assert len(numbers) > 60
    assert {value["key"] for value in numbers if not value["method"].startswith("simulated judge: ")} == set()
    assert values["judge_count_ok"]["estimate"] < values["judge_count_ok"]["n"]
    page = json.loads((tmp_path / "edition" / "notebooks" / "19-judge.ipynb").read_text("utf-8"))
    shown = [
        "".join(output["data"]["text/html"])
        for cell in page["cells"]
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    silent = [text for text in shown if "simulated" not in text]
    assert len(shown) >= 10
    assert len(silent) == 1, "only that nothing was left out of the files"
    assert "Nothing was left out" in silent[0]
    assert "no model was asked" in "".join(shown)
    assert "tuned to the published figures, so that nearness is no evidence" in "".join(shown)
