"""Context: what empathy has to do with the topic, the request and what was expected."""

from sense7.findings.context.gap import (
    GAP_KEYS,
    GAP_TEST_KEYS,
    WAYS,
    agreement_of_ways,
    expected_experienced_gap,
    gap_by_topic,
    gap_differs_by_topic,
    topics_that_differ,
)
from sense7.findings.context.means import group_means
from sense7.findings.context.shares import SHARE_KEYS, context_shares
from sense7.findings.context.slopes import (
    PROMPT_KEYS,
    SLOPE_KEYS,
    context_slopes,
    slopes_by_condition,
    slopes_with_prompt,
)
from sense7.findings.context.tests import TEST_KEYS, context_tests

__all__ = [
    "GAP_KEYS",
    "GAP_TEST_KEYS",
    "PROMPT_KEYS",
    "SHARE_KEYS",
    "SLOPE_KEYS",
    "TEST_KEYS",
    "WAYS",
    "agreement_of_ways",
    "context_shares",
    "context_slopes",
    "context_tests",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_differs_by_topic",
    "group_means",
    "slopes_by_condition",
    "slopes_with_prompt",
    "topics_that_differ",
]
