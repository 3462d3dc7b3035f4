"""What a session will take, and when it needs consent."""

import pytest

from helpers import naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, plan_for
from sense7.judge.asking.cost import Price
from sense7.judge.chats import chats

need_the_judge()


# What it will take


def test_the_estimate_counts_what_is_left(server, study_of, tmp_path):
    study = study_of(4)
    first = plan_for(study, server, tmp_path, runs=2, prices=Price(2.0, 8.0)).estimate
    tokens = 2 * sum(
        -(-len(f"Rate this: {chat}You are a helpful AI assistant") // 4) for chat in chats(study)
    )
    assert (first.calls, first.input_tokens) == (8, tokens)
    assert first.cost_range == pytest.approx((tokens * 2e-6, tokens * 2e-6 + 8 * 3000 * 8e-6))
    ask(study, server, tmp_path, limit=2, runs=2)
    rest = plan_for(study, server, tmp_path, runs=2).estimate
    assert (rest.calls, rest.kept, rest.input_tokens, rest.cost_range) == (4, 4, tokens // 2, None)
    naming.check("\n".join(rest.lines()), 4, f"{tokens // 2:,}")


def test_when_a_session_asks_first(server, study_of, tmp_path):
    known = plan_for(
        study_of(4), server, tmp_path, prices=Price(0.0, 1e3)
    ).estimate  # at most 12.00
    unknown = plan_for(study_of(4), server, tmp_path, runs=300).estimate
    naming.check(known.needs_consent(near=True), "12.00", "10.00")
    naming.check(unknown.needs_consent(near=False), "1,200")
    assert unknown.needs_consent(near=True) == ""
    for prices in ((1.0, None), (None, 1.0), (-1.0, 1.0), (float("nan"), 1.0), (float("inf"), 1.0)):
        with naming.refused("--price-in", "--price-out"):
            Price.of(*prices)
