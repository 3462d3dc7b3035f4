"""The conversations of the book as a reader explores them, opened from disk; what people wrote is only text."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from helpers import naming
from sense7.explorer import explorer_files
from sense7.findings.ground_truth import ground_truth, labels
from sense7.findings.measures import is_poor
from sense7.judge.scores.judges import read_runs

EXPLORER_PAGE = "book/explorer.html"
HOSTILE = (
    "<img src=x onerror='window.ran = 1'></script><script>window.ran = 2</script>"
    "{{7*7}} \u202etxt \u2028 &amp; end"
)


@pytest.fixture(scope="module", autouse=True)
def explorer(html):
    if not (html / EXPLORER_PAGE).is_file():
        pytest.skip(f"{EXPLORER_PAGE} is not in the book's contents")


def runs_of(study):
    """Predictions of the one judge, by run."""
    (runs,) = read_runs(study).values()
    return runs


def opened(page):
    expect(page.locator("#sense7-explorer")).to_have_attribute("data-state", "ready")
    return page


def entries(page):
    return page.locator("#sense7-explorer ol.list > li")


def status(page):
    return page.locator("#sense7-explorer").get_by_role("status").first


def numbers(*counts):
    """A sentence with these numbers and no others."""
    return re.compile(r"^\D*" + r"\D+".join(f"{count:,}" for count in counts) + r"\D*$")


def test_filters_leave_what_fits_and_stand_in_the_address(reader, synthetic):
    page = opened(reader.open(EXPLORER_PAGE))
    total = len(synthetic.conversations)
    expect(status(page)).to_have_text(numbers(total))
    condition = str(synthetic.conversations["condition"].iloc[0])
    fitting = int((synthetic.conversations["condition"] == condition).sum())
    page.get_by_label("Condition", exact=True).select_option(value=f"={condition}")
    expect(status(page)).to_have_text(numbers(fitting, total))
    assert all(condition in text for text in entries(page).all_inner_texts())
    page.wait_for_url(f"**#condition={condition}")
    page.reload()
    expect(status(opened(page))).to_have_text(numbers(fitting, total))
    page.get_by_label("Search the texts").fill("no conversation holds these words")
    expect(status(page)).to_have_text(numbers(0, total))
    page.get_by_role("button", name="Show all").click()
    expect(status(page)).to_have_text(numbers(total))
    at_once = "field.value = '?!'; field.dispatchEvent(new Event('input')); button.click()"
    page.get_by_label("Search the texts").evaluate(
        f"field => {{ const button = document.querySelector('.field-reset button'); {at_once} }}"
    )
    expect(status(page)).to_have_text(numbers(total))


def test_a_filter_in_the_address_is_chosen_in_its_field(reader):
    page = opened(reader.open(f"{EXPLORER_PAGE}#prompted=yes"))
    field = page.get_by_label("Empathy prompt", exact=True)
    assert field.input_value() == "yes"


def test_filters_find_what_the_statistics_count(reader, synthetic):
    tasks = synthetic.conversations.set_index("conversation")
    turns = synthetic.turns
    judged = pd.DataFrame(
        {
            name: run.table.set_index("conversation")["score"]
            for name, run in runs_of(synthetic).items()
        }
    )
    apart = (
        judged.mean(axis=1) - ground_truth(turns, synthetic.conversations["conversation"])
    ).abs()
    poor = turns[is_poor(turns["overall"])].groupby("conversation")["turn"].min()
    length = turns.groupby("conversation").size().reindex(tasks.index)
    relational = turns.groupby("conversation")["Relational"].min().reindex(tasks.index)
    later = tasks.duplicated(["participant", "condition"])
    expected = {
        "prompted=yes&poor=yes": tasks.index.isin(poor.index)
        & (tasks["condition"] == synthetic.prompted_condition),
        "first=2": tasks.index.isin(poor[poor == 2].index),
        "low=Relational": relational <= 2,
        "low=Relational&level=1": relational <= 1,
        "turns_from=5&turns_to=6": length.between(5, 6),
        "importance=5&desired=1": (tasks["importance"] == 5) & (tasks["desired_empathy"] == 1),
        "repeat=condition": later,
        "participant=P004": tasks["participant"] == "P004",
        "apart=1.5": apart.reindex(tasks.index) >= 1.5,
        "topic=no+topic": tasks["topic"] == "no topic",
    }
    for query, wanted in expected.items():
        page = reader.open(f"{EXPLORER_PAGE}#{query}")  # a new fragment alone loads no page
        expect(status(page)).to_have_text(numbers(wanted.sum(), len(tasks)))
        names = page.locator("#sense7-explorer .list .name").all_inner_texts()
        assert set(names) <= set(tasks.index[wanted]), query
    assert sum(wanted.any() for wanted in expected.values()) > 8, "else nothing is compared"


def test_a_link_to_a_turn_opens_it_and_ordinary_places_stay_places(reader, synthetic):
    first, *_ = synthetic.conversations["conversation"]
    page = opened(reader.open(f"{EXPLORER_PAGE}#poor=yes&conversation={first}&turn=3"))
    message = page.locator('#sense7-explorer [data-turn="3"]')
    expect(message).to_be_focused()
    expect(message).to_be_in_viewport()
    page.locator("#sense7-explorer .heat thead").get_by_role(
        "link", name="turn 5", exact=True
    ).click()
    expect(page.locator('#sense7-explorer [data-turn="5"]')).to_be_focused()
    assert page.url.endswith(f"#conversation={first}&turn=5&poor=yes")
    heading = page.get_by_role("heading", name="What this does not show")
    page.evaluate("location.hash = 'what-this-does-not-show'")
    expect(heading).to_be_in_viewport()
    expect(page.get_by_role("heading", name=f"Conversation {first}")).to_be_visible()
    page.go_back()
    expect(page.locator('#sense7-explorer [data-turn="5"]')).to_be_focused()
    page.reload()
    expect(page.locator('#sense7-explorer [data-turn="5"]')).to_be_focused()


def test_two_conversations_are_chosen_from_the_list_and_stand_beside_each_other(reader, synthetic):
    first, second = synthetic.conversations["conversation"].iloc[[0, 3]]
    page = opened(reader.open(EXPLORER_PAGE))
    page.get_by_role("link", name=f"Compare {first}", exact=True).click()
    expect(page.get_by_text("choose a conversation of the list")).to_be_visible()
    entries(page).get_by_role("link", name=second, exact=True).click()
    heading = page.get_by_role("heading", name=f"Conversations {first} and {second}")
    expect(heading).to_be_focused()
    assert page.url.endswith(f"#conversation={first}&with={second}")
    page.reload()
    expect(heading).to_be_visible()
    left, right = page.locator("#sense7-explorer .side").all()
    assert left.bounding_box()["x"] + left.bounding_box()["width"] <= right.bounding_box()["x"]
    expect(left.locator("li.message").first).to_be_visible()
    differing = page.locator("#sense7-explorer .glance tr.differs th").all_text_contents()
    assert "Condition, differs" in differing
    assert "Participant, differs" not in differing, "both are of one participant"
    right.get_by_role("link", name="turn 2", exact=True).first.click()
    expect(page.locator("#explorer-side-1 [data-turn='2']")).to_be_focused()
    page.get_by_role("link", name="Back to the list").click()
    expect(status(page)).to_have_text(numbers(672))


def test_on_a_phone_one_of_the_two_is_seen_at_a_time(reader, synthetic):
    first, second = synthetic.conversations["conversation"].iloc[[0, 3]]
    reader.page.set_viewport_size({"width": 360, "height": 800})
    page = opened(reader.open(f"{EXPLORER_PAGE}#conversation={first}&with={second}"))
    left, right = page.locator("#sense7-explorer .side").all()
    expect(left).to_be_visible()
    expect(right).to_be_hidden()
    page.get_by_role("tab", name=first).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name=second)).to_be_focused()
    expect(left).to_be_hidden()
    expect(right).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth") == 360
    page.emulate_media(media="print")
    expect(left).to_be_visible()
    expect(right).to_be_visible()


def test_a_judge_stands_beside_the_user_and_is_called_simulated(reader, synthetic):
    name = synthetic.conversations["conversation"].iloc[0]
    scores = [
        run.table.set_index("conversation").loc[name, "score"]
        for run in runs_of(synthetic).values()
    ]
    truth = ground_truth(synthetic.turns, synthetic.conversations["conversation"])[name]
    page = opened(reader.open(f"{EXPLORER_PAGE}#conversation={name}"))
    expect(page.get_by_text("no model was asked").first).to_be_visible()
    judge = page.locator("#sense7-explorer .judge")
    expect(judge).to_contain_text(f"mean score {np.nanmean(scores):.2f}")
    expect(judge).to_contain_text(f"{np.nanmean(scores) - truth:.2f} above the user")
    judge.locator("summary").click()
    rows = judge.locator("tbody tr")
    expect(rows).to_have_count(1 + len(scores))
    expect(rows.first).to_contain_text(f"{truth:.2f}")
    texts = [" ".join(row.inner_text().split()) for row in rows.all()]
    naming.check(
        "\n".join(texts),
        "user 3.32 3 neutral",
        "run 1 4.00 4 good +0.68",
        "run 5 5.00 5 very good +1.68",
    )
    for row, text, score in zip(rows.all()[1:], texts[1:], scores, strict=True):
        if np.isnan(score):
            assert not re.search(r"\.\d", text)
            continue
        assert f"{score - truth:+.2f}" in text.replace("\N{MINUS SIGN}", "-")
        parted = labels([score])[0] != labels([truth])[0]
        assert (row.get_attribute("class") == "parted") == parted


def test_texts_of_the_data_are_only_text(reader, html, tmp_path, synthetic):
    first = synthetic.conversations.iloc[0]["conversation"]
    messages = synthetic.messages.assign(content=HOSTILE)
    for part in ("book", "_static"):
        shutil.copytree(html / part, tmp_path / part)
    (tmp_path / "explorer").mkdir()
    for name, text in explorer_files(replace(synthetic, messages=messages)).items():
        (tmp_path / "explorer" / name).write_text(text, "utf-8")
    reader.html = tmp_path
    page = opened(reader.open(f"{EXPLORER_PAGE}#conversation={first}"))
    shown = page.locator("#sense7-explorer li.message .own").filter(has_text="onerror")
    assert shown.first.text_content() == HOSTILE
    assert page.locator("#sense7-explorer").locator("img, script, iframe").count() == 0
    page.get_by_role("link", name="Back to the list").first.click()
    page.get_by_label("Search the texts").fill("onerror=")
    expect(entries(page).first).to_be_visible()
    entries(page).first.locator(".name a").click()
    expect(page.locator("#sense7-explorer mark").first).to_have_text("onerror=")
    assert page.evaluate("window.ran") is None
