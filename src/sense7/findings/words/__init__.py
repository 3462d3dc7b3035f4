"""Words: distinctive terms, mimicry and coding of comments."""

from sense7.findings.words.double_coding import codebook, coder_agreement, coding_sheet
from sense7.findings.words.mimicry import mimicry_proxies
from sense7.findings.words.terms import comment_counts, comment_shares, distinctive_terms, leading_terms, quotations

__all__ = [
    "codebook",
    "coder_agreement",
    "coding_sheet",
    "comment_counts",
    "comment_shares",
    "distinctive_terms",
    "leading_terms",
    "mimicry_proxies",
    "quotations",
]
