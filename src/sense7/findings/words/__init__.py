"""Words: distinctive terms, topics, mimicry and coding of comments."""

from sense7.findings.words.double_coding import codebook, coder_agreement, coding_sheet
from sense7.findings.words.mimicry import MIMICRY_KEYS, mimicry_proxies, warm_and_fitting
from sense7.findings.words.terms import (
    KEYS,
    LEADING_KEYS,
    comment_counts,
    comment_shares,
    distinctive_terms,
    leading_terms,
    quotations,
)
from sense7.findings.words.topics import SUMMARY_KEYS, topic_model

__all__ = [
    "KEYS",
    "LEADING_KEYS",
    "MIMICRY_KEYS",
    "SUMMARY_KEYS",
    "codebook",
    "coder_agreement",
    "coding_sheet",
    "comment_counts",
    "comment_shares",
    "distinctive_terms",
    "leading_terms",
    "mimicry_proxies",
    "quotations",
    "topic_model",
    "warm_and_fitting",
]
