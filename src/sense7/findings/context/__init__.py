"""Context: how ratings depend on topic, importance and desired empathy, and expected against experienced empathy."""

from sense7.findings.context.gap import expected_experienced_gap, gap_by_topic, gap_differs_by_topic
from sense7.findings.context.means import own_topic_means, topic_by_condition
from sense7.findings.context.shares import context_shares
from sense7.findings.context.slopes import context_slopes

__all__ = [
    "context_shares",
    "context_slopes",
    "expected_experienced_gap",
    "gap_by_topic",
    "gap_differs_by_topic",
    "own_topic_means",
    "topic_by_condition",
]
