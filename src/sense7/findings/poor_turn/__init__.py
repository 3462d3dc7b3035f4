"""What a poor turn goes with: definitions of its effect, and how much is left when more is held equal."""

from sense7.findings.poor_turn.definitions import (
    HELD_KEYS,
    KEYS,
    POINTS_KEYS,
    SPREAD_KEYS,
    poor_turn_effects,
    poor_turn_grid,
    poor_turn_measures,
    published_in_grid,
)
from sense7.findings.poor_turn.intervals import POOR_TURN_KEYS, poor_turn_intervals
from sense7.findings.poor_turn.ladder import LADDER_KEYS, LENGTH_KEYS, poor_turn_by_length, poor_turn_ladder

__all__ = [
    "HELD_KEYS",
    "KEYS",
    "LADDER_KEYS",
    "LENGTH_KEYS",
    "POINTS_KEYS",
    "POOR_TURN_KEYS",
    "SPREAD_KEYS",
    "poor_turn_by_length",
    "poor_turn_effects",
    "poor_turn_grid",
    "poor_turn_intervals",
    "poor_turn_ladder",
    "poor_turn_measures",
    "published_in_grid",
]
