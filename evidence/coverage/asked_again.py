"""How often a judge's figures come within a claim's distance of themselves, on the same conversations.

The official conversations are fixed: asking a model about them again draws no other people. So the power of
a rule such as "within 0.03 of the published correlation" is counted on simulated conversations judged twice: by
the same judge, whose runs alone differ, and by another judge of equal quality, which errs elsewhere. No text is
written: words of the assistant are stood in for by a constant number per turn.
"""

from collections.abc import Sequence

import numpy as np
from evidence.truth import judge_statistics, words_by_turns

from sense7.claims import Claim
from sense7.simulate import DEFAULT_JUDGE, Parameters, draw
from sense7.simulate.judge import ask_again, draw_judge

SAME, ANOTHER = "the same judge", "another judge of equal quality"
"""Who judges the second time: a rule's power is that of the same judge."""


def differences(seed: int, number: int, keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Each metric of a second judgment minus that of the first, on the conversations of one simulated study."""
    of_study, of_first, of_again, of_another = np.random.SeedSequence([seed, number]).spawn(4)
    study = draw(Parameters(), np.random.default_rng(of_study))
    words = words_by_turns(study)
    first = draw_judge(study, words, DEFAULT_JUDGE, np.random.default_rng(of_first))
    again = ask_again(first, np.random.default_rng(of_again))
    another = draw_judge(study, words, DEFAULT_JUDGE, np.random.default_rng(of_another))
    metrics = judge_statistics(study, first)
    of_seconds = {}
    for name, second in ((SAME, again), (ANOTHER, another)):
        of_second = judge_statistics(study, second)
        of_seconds[name] = {key: of_second[key] - metrics[key] for key in keys}
    return of_seconds


def rates_of_judges(claims: Sequence[Claim], seed: int, studies: int) -> dict[str, dict]:
    """How often each claim about a judge's figure is met on the same conversations: claim -> parts of its rates."""
    of_judge = [claim for claim in claims if is_of_a_judge(claim)]
    keys = [claim.key for claim in of_judge]
    counts = {}
    for claim in of_judge:
        counts[claim.id] = {name: {"passed": 0, "studies": studies} for name in (SAME, ANOTHER)}
    for number in range(studies):
        for name, by_key in differences(seed, number, keys).items():
            for claim in of_judge:
                is_near = abs(by_key[claim.key]) <= claim.compare["within"]
                counts[claim.id][name]["passed"] += int(is_near)
    rates = {}
    for claim in of_judge:
        of_claim = counts[claim.id]
        like = f"in which {ANOTHER} is asked about the same conversations"
        rates[claim.id] = {"effect": of_claim[SAME], "also": [{"like": like} | of_claim[ANOTHER]]}
    return rates


def is_of_a_judge(claim: Claim) -> bool:
    """Whether a claim compares a judge's figure with the published one, of the same conversations."""
    return claim.notebook == "12-judge" and "within" in (claim.compare or {})
