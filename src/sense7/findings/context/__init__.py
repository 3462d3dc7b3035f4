"""Context: how ratings depend on topic, importance and desired empathy, and expected against experienced empathy."""

from sense7.findings.context.gap import (
    agreement_of_ways,
    expected_experienced_gap,
    gap_by_topic,
    gap_by_topic_and_way,
    gap_differs_by_topic,
    overall_gap,
    topics_that_differ,
)
from sense7.findings.context.means import group_means, topic_by_condition
from sense7.findings.context.shares import context_shares
from sense7.findings.context.slopes import context_slopes, slopes_by_condition, slopes_with_prompt
from sense7.findings.context.tests import context_tests

__all__ = [
    "agreement_of_ways",
    "context_shares",
    "context_slopes",
    "context_tests",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_by_topic_and_way",
    "gap_differs_by_topic",
    "group_means",
    "overall_gap",
    "slopes_by_condition",
    "slopes_with_prompt",
    "topic_by_condition",
    "topics_that_differ",
]
