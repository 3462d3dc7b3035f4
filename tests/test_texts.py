"""scripts/check_texts.py finds what it is there for, and finds none of it in this repository."""

import shutil

import pytest
from scripts import check_texts

TYPED = [
    *("Alpha was 0.961 per turn.", "It was .96.", "In 38.1 % of turns it was rated.", "In 5% of turns."),
    *("Five percent of turns.", "In twenty-five per cent of the turns.", "There were 9 participants."),
    *("We saw 1,920 conversations.", "Ratings (N=5) were used.", "A difference (p < .05) was found.", "About ~3 were."),
    *("3 of the dimensions applied.", "Twelve participants said so.", "Hundreds of turns.", "Half of the turns."),
    *("Two thirds of all turns.", "It was rated twice as often.", "Nearly half changed their minds."),
    *("Three out of ten said so.", "The majority of turns was good.", "Most of the participants agreed."),
    *("It is three times as likely.", "# Alpha is 0.9", "- **Alpha**: 0.9", "*12* turns", "See [the 12 turns](x.md)."),
    *("Alpha was `0.961`.", "In `38.1%` of turns.", "Alpha was {math}`0.961`.", '[alpha](page.md "it was 0.961")'),
    *("| a | b |\n|---|---|\n| Affective | 4.02 |", "```{note}\nAlpha was 0.961.\n```", "```{note} It was 0.961\n```"),
    *(":::{admonition} Alpha was 0.961\nSo.\n:::", ":::{admonition} Note\nAlpha is 0.9.\n:::", "- a\n\n  Alpha: 0.9"),
]
NO_STATISTIC = [
    *("SENSE-7 is a taxonomy of seven observable dimensions.", "See arXiv 2509.16437.", "Python 3.11 or later."),
    *(
        "On the scale from very poor (1) to very good (5).",
        "levels 1 very poor to 5 very good",
    ),
    *("{value}`alpha_turn` and {published}`alpha_post` of {edition}`label`", "`draws = 2000` and ``n = `12` ``"),
    *("```bash\nmake book DATA=x12.xlsx -p draws=2000\n```", "```{code-cell} ipython3\nseed = 12\n```"),
    *("---\ntitle: 12 of 0.5\n---\n\nText.", "![Figure](figure-12.png) and [text](page.md#n-12)", "<!-- 0.95 -->"),
    *("<https://example.org/12.5>", "(target-12)=\n# Title", "1. First\n2. Second", "more than one turn"),
    *("::::{grid-item-card} A card\n:link: ../notebooks/12-disrupted\n::::", 'a word, or both ("4 - Good")'),
    *("It is rounded from `4.5` to `4`.", "The label of the majority.", "Less than half a minute."),
]


def statistics(markdown):
    return [found for _, text, _ in check_texts.passages(markdown) for found in check_texts.typed_statistics(text)]


def test_typed_statistics_are_found_and_nothing_else():
    assert [text for text in TYPED if not statistics(text)] == []
    assert [text for text in NO_STATISTIC if statistics(text)] == []


def test_the_line_of_a_paragraph_is_given():
    text = "---\na: 1\n---\n\nFine.\n\n```\n0.5\n```\n\nAlpha is 0.961,\nof 12 turns."
    assert [(line, check_texts.typed_statistics(words)) for line, words, _ in check_texts.passages(text)][-1] == (
        11,
        ["0.961", "12"],
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("book/cite.md", "# ", "# Nought\n\nAlpha was 0.5.\n\n# ", "Nought"),
        ("book/format.md", "# ", "# A\n\nAlpha was 0.5.\n\n# ", "0.5 is typed"),
        ("book/format.md", "# ", f"# A\n\nSo {'and so ' * 25}on.\n\n# ", "more than 40 words"),
        ("book/format.md", "# ", "# A\n\n`0.961`\n\n# ", "0.961 is a published figure"),
        ("CITATION.cff", "\nversion: ", "\nversion: 9", "CITATION.cff: says version 9"),
        ("notebooks/05-importance.md", 'Recorder("05', 'Recorder("06', "it has to call s7.Recorder once"),
        ("notebooks/05-importance.md", "= s7.load(", '= s7.load(*["was 0.5 wide"], ', "caption 'was 0.5 wide'"),
        ("notebooks/16-coverage.md", "  stored: [data/coverage.json]\n", "", "name as stored: data/coverage.json"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path, monkeypatch, file, old, new, said):
    pages = {path.relative_to(check_texts.ROOT) for path in check_texts.PAGES}
    names = {"CITATION.cff", "codemeta.json", "CHANGELOG.md", "_config.yml", "pyproject.toml", "data/claims.yml"}
    for name in [*names, file, "book/cite.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(check_texts.ROOT / name, tmp_path / name)
    path = tmp_path / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    monkeypatch.setattr(check_texts, "PAGES", [path] if path.relative_to(tmp_path) in pages else [])
    monkeypatch.setattr(check_texts, "NOTEBOOKS", [path] if file.startswith("notebooks") else [])
    monkeypatch.setattr(check_texts, "ALLOWED", {})
    assert [problem for problem in check_texts.problems(tmp_path) if said in problem]


def test_nothing_is_wrong_in_this_repository():
    assert check_texts.problems() == []
