"""Predictions of judges and baselines, and how far they agree with the ratings of people."""
