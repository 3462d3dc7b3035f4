"""Three models against three experts and the person: against loops over conversations, and by what the data hold."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from sense7.judge.three_judges import EPSILON, CorpusBootstrap, against_experts, against_the_person, passed, ratings
from sense7.sources.released import EXPERTS, JUDGES


@pytest.fixture(scope="module")
def judged():
    return ratings()


@pytest.fixture(scope="module")
def resampling(judged):
    return CorpusBootstrap(judged, draws=100, seed=1)


def by_hand(judged, judge, own=None):
    """Advantage and winning rate of every question, with loops."""
    advantages, p, names = [], [], []
    for name, group in judged.groupby(["corpus", "question"], sort=False):
        if own is not None and group[own].isna().any():
            continue
        names.append(name)
        for expert in EXPERTS:
            others = [own] if own else [one for one in EXPERTS if one != expert]
            f, h = [], []
            for _, row in group.iterrows():
                far, near = (-np.sqrt(np.mean([(row[who] - row[o]) ** 2 for o in others])) for who in (judge, expert))
                f.append(far >= near - 1e-9)
                h.append(near >= far - 1e-9)
            advantages.append(np.mean(f))
            apart = np.array(h, int) - np.array(f, int)
            p.append(stats.ttest_1samp(apart, EPSILON, alternative="less").pvalue if np.ptp(apart) else 0.0)
    rejected = multipletests(p, 0.05, method="fdr_by")[0].reshape(-1, 3)
    return names, np.reshape(advantages, (-1, 3)).mean(axis=1), rejected.mean(axis=1)


@pytest.mark.parametrize(("compare", "own"), [(against_experts, None), (against_the_person, "self")])
def test_both_numbers_are_those_of_the_definition(judged, resampling, compare, own):
    found = compare(judged, resampling)
    names, advantage, rate = by_hand(judged, "claude", own)
    assert found["advantage"].estimates.index.tolist() == names
    assert found["advantage"].estimates["claude"].to_numpy() == pytest.approx(advantage)
    assert found["rate"].estimates["claude"].to_numpy() == pytest.approx(rate)
    table = passed(found, "person" if own else "experts")
    assert table.loc["Claude 3.7 Sonnet", "estimate"] == (rate >= 0.5).sum()
    assert table["n"].tolist() == [len(names)] * 3


def test_a_model_that_copies_an_expert_wins_and_one_that_is_far_off_loses(judged, resampling):
    middle = judged[list(EXPERTS)].median(axis=1)
    found = against_experts(judged.assign(gpt=middle, claude=judged["highest"] + 9.0), resampling)
    assert found["advantage"].estimates["gpt"].min() > 0.7
    assert found["rate"].estimates["gpt"].mean() > 0.8
    assert found["rate"].estimates["claude"].max() == 0


def test_keys_are_of_their_own(judged, resampling):
    keys = [
        key
        for compare in (against_experts, against_the_person)
        for part in compare(judged, resampling).values()
        for table in part.by_corpus().values()
        for key in table["key"]
        if key
    ]
    assert len(keys) == len(set(keys)) == 2 * len(JUDGES) * 2
