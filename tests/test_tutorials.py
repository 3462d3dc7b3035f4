"""The tutorials work: what they mark as tested is run as it stands, and all else that they say to type exists."""

import contextlib
import io
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement
from typer.testing import CliRunner

from collect import conftest as collecting
from helpers import endpoint
from helpers.endpoint import need_the_judge
from helpers.studies import write_study
from sense7 import cli
from sense7.loading import load

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    name: ROOT / "book" / f"{name}.md"
    for name in ("own-workbook", "collect", "own-judge", "library")
}
BLOCK = re.compile(
    r"^(?P<tested><!-- tested -->\n)?```(?P<language>bash|python|text)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
SENSE7 = ".venv/bin/sense7"
ADDRESS = "http://localhost:11434/v1"


def blocks(page):
    """Language, text, whether it is tested, and the lines that the page shows as its output."""
    found = [
        (match["language"], match["text"], bool(match["tested"])) for match in BLOCK.finditer(page)
    ]
    following = [*found[1:], ("", "", False)]
    for (language, text, tested), (after, shown, _) in zip(found, following, strict=True):
        if language != "text":
            yield language, text, tested, shown.splitlines() if after == "text" and tested else []


def commands(text):
    """Lines of a shell block, each as its words, without comments."""
    return [words for line in text.splitlines() if (words := shlex.split(line, comments=True))]


class Reader:
    """Somebody who goes through a page in an empty folder and does what it says."""

    def __init__(self, address=ADDRESS):
        self.address = address
        """Of the endpoint, in place of the one that the pages name."""
        self.names = {}

    def do(self, language, text):
        text = text.replace(ADDRESS, self.address)
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(text, "tutorial", "exec"), self.names)  # noqa: S102 -- the page's own code
            return output.getvalue()
        return "".join(map(self.type, commands(text)))

    @staticmethod
    def type(words):
        assert words[0] == SENSE7, f"only {SENSE7} can be tested: {words}"
        done = CliRunner().invoke(cli.app, words[1:])
        assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}\n{done.exception!r}"
        return done.stdout


def go_through(page, reader):
    """Do all that is marked as tested, in order; what the page shows as output has to come."""
    done = 0
    for language, text, tested, shown in blocks(page.read_text("utf-8")):
        if tested:
            output = [line.rstrip() for line in reader.do(language, text).splitlines()]
            lines = [line.rstrip().replace(ADDRESS, reader.address) for line in shown]
            assert [line for line in lines if line not in output] == [], "\n".join(output)
            done += 1
            rate_and_download(Path("rate.html"), Path("ratings"))
    return done


def rate_and_download(page, folder):
    """What three people do between the page and the workbook; tests/browser has them do it in a browser."""
    if not page.exists() or folder.exists():
        return
    carried = json.loads(re.search(r'id="carried">(.*?)</script>', page.read_text("utf-8"))[1])
    folder.mkdir()
    for code, rating in (("P01", "good"), ("P02", "poor"), ("P03", "very good")):
        answers = {"Age": 40, "Experience": "Often"}
        content = collecting.download(
            code, carried["study"], carried["conversations"], rating, answers=answers
        )
        (folder / f"ratings-{code}.json").write_text(json.dumps(content), "utf-8")


def write_shown_files(page, *names):
    """Files that a page shows whole, in the folder of the reader."""
    for name in names:
        shown = re.search(
            rf"^:caption: {re.escape(name)}\n\n(.*?)^```$",
            page.read_text("utf-8"),
            re.DOTALL | re.M,
        )
        Path(name).write_text(shown[1], "utf-8")


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """A folder in which nobody's key is available."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("SENSE7_ROOT", str(ROOT))
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


# What the pages do


def test_the_way_to_a_workbook_of_ones_own(empty_folder):
    write_shown_files(PAGES["own-workbook"], "survey.csv.map.yml")
    assert go_through(PAGES["own-workbook"], Reader()) == 13
    assert (empty_folder / "mine.xlsx").exists()
    study = load("mine-survey.xlsx")
    assert study.turns["overall"].round(3).tolist() == [4.333, 3, 3]
    assert len((empty_folder / "survey.csv.map.yml").read_text("utf-8").splitlines()) == 8


def test_the_way_to_ratings_of_ones_own(empty_folder):
    write_shown_files(PAGES["collect"], "chats.jsonl", "study.yml")
    assert go_through(PAGES["collect"], Reader()) == 3
    assert load("mine.xlsx").turns["overall"].value_counts().to_dict() == {2: 4, 4: 4, 5: 4}


def test_the_way_to_a_judge_of_ones_own(empty_folder, minimal_sheets):
    need_the_judge()
    write_study(minimal_sheets(), empty_folder / "mine.xlsx")
    write_shown_files(PAGES["own-judge"], "brief.txt")
    with endpoint.Endpoint() as server:
        assert go_through(PAGES["own-judge"], Reader(server.address)) == 6
    assert len(server.asked) == 8, "four conversations, two runs; dry runs ask nothing"
    found = {path.name for path in (empty_folder / "predictions_mine").iterdir()}
    names = re.findall(
        r"^\| `([^`]+)`(?:, `\.\.\.([^`]+)`)?", PAGES["own-judge"].read_text("utf-8"), re.MULTILINE
    )
    told = {name.rstrip("/") for name, _ in names} | {
        name.replace("-iter1.xlsx", further) for name, further in names if further
    }
    assert found == told, "what is kept is what the page says"


def test_the_way_to_the_library(empty_folder):
    reader = Reader()
    assert go_through(PAGES["library"], reader) == 8
    study, text = reader.names["study"], PAGES["library"].read_text("utf-8")
    rows = re.findall(r"^\| `study\.(\w+)` \|.*\| (.*) \|$", text, re.MULTILINE)
    for name, columns in rows:
        assert set(re.findall(r"`(\w+)`", columns)) <= set(getattr(study, name).columns), name
    for attribute in re.findall(r"`study\.(\w+)`", text):
        assert hasattr(study, attribute)


# What they tell to type and do not test


def every_command():
    pages = [*PAGES.values(), ROOT / "README.md", ROOT / "book" / "reproduce.md"]
    return [
        pytest.param(words, id=f"{page.stem}: {shlex.join(words)}")
        for page in pages
        for match in BLOCK.finditer(page.read_text("utf-8"))
        if match["language"] == "bash"
        for words in commands(match["text"])
    ]


OF_OTHERS = {"read", "export", ".venv/bin/dask", ".venv/bin/papermill", ".venv/bin/python"}
"""The shell's own, and programs whose options are not ours to hold."""

INSTALLERS = {"pip", "pipx", "uvx"}
"""Their words: a verb or option, the package with its extras, and for uvx the command to run."""


@pytest.mark.parametrize("words", every_command())
def test_every_command_exists_with_its_options(words):
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        targets = [word for word in words[1:] if "=" not in word]
        assert all(
            re.search(rf"^{re.escape(target)}:.*## ", makefile, re.MULTILINE) for target in targets
        )
        given = [word.partition("=")[0] for word in words[1:] if "=" in word]
        assert all(re.search(rf"^{name} :=", makefile, re.MULTILINE) for name in given)
    elif words[0] in INSTALLERS:
        package = Requirement(words[2])
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        assert package.name == project["name"]
        assert package.extras <= set(project["optional-dependencies"])
        if words[3:]:
            test_every_command_exists_with_its_options(words[3:])
    elif words[0] in {SENSE7, "sense7"}:
        command, rest = typer.main.get_command(cli.app), words[1:]
        while hasattr(command, "commands"):
            assert rest[0] in command.commands, shlex.join(words)
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context(words[1], list(rest))  # an unknown option or a bad value is an error
    else:
        assert words[0] in OF_OTHERS, "a command that no test knows"
