"""Robustness: every headline under all its specifications, and the smallest difference that could be detected."""

from sense7.findings.robustness.detectable_difference import headline_estimates, smallest_detectable
from sense7.findings.robustness.headlines import HEADLINES, IN_STUDIES, multiverse, summary

__all__ = ["HEADLINES", "IN_STUDIES", "headline_estimates", "multiverse", "smallest_detectable", "summary"]
