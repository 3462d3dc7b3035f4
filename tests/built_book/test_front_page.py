"""The front page: what was found, how sure it is, and what this edition can't say, before anything is clicked."""

from helpers.pages import text


def test_three_findings_stand_on_cards_that_lead_to_their_pages(edition):
    cards = edition.page("book/index").select(".sense7-finding-card")
    assert [card.find("a")["href"] for card in cards] == [
        f"../notebooks/{name}.html" for name in ("10-individualized", "11-context", "12-disrupted")
    ]
    for card in cards:
        assert card.select_one(".sense7-bar")
        assert len(card.select(".sense7-badge")) == 1
        assert len(card.select(".sense7-check")) == (edition.facts["kind"] == "synthetic")
        zero = [one.get_text() for one in card.select(".sense7-bar b")]
        assert zero == ["zero"] * len(card.select(".sense7-bar .point"))
        assert zero or edition.facts["kind"] != "synthetic"
        assert "Published:" in text(card)


def test_every_claim_about_sense7_is_a_row_of_the_picture_with_its_verdict(edition):
    rows = {row["id"]: row for row in edition.json("ledger.json") if not row["published"]["release"]}
    shown = edition.page("book/ledger").select(".sense7-ledger-picture section li")
    assert len(shown) == len(rows)
    by_name = {row["published"]["short"]: row for row in rows.values()}
    assert len(by_name) == len(rows), "two claims have one short name"
    for item in shown:
        row = by_name[item.a.get_text().removesuffix(" (simulated)")]
        assert item.select_one(".published small").get_text() == row["published"]["grade"]
        assert item["data-rule"] == {True: "passed", False: "not-passed", None: "undecided"}[row["rule"]["passed"]]
        target, _, anchor = item.a["href"].partition("#")
        page = "book/ledger.html" if target == "ledger.html" else target.removeprefix("../")
        assert anchor in edition.anchors(page)


def test_the_simulated_judge_is_called_so_in_the_picture(synthetic):
    names = [item.a.get_text() for item in synthetic.page("book/ledger").select(".sense7-ledger-picture section li")]
    assert {name for name in names if name.startswith("Judge:")} == {
        "Judge: Spearman's rho (simulated)",
        "Judge: accuracy (simulated)",
    }


def test_tuned_values_are_announced_above_the_picture(edition):
    count = sum(row["tuned"] for row in edition.json("ledger.json"))
    assert "(tuned)" not in text(edition.page("book/index").find("article"))
    said = text(edition.page("book/ledger").find("article"))
    assert (f"{count} of these values were set near the published ones" in said) is (count > 0)
