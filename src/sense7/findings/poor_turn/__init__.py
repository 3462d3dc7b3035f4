"""What a poor turn goes with: definitions of its effect, and how much is left when more is held equal."""

from sense7.findings.poor_turn.definitions import (
    poor_turn_effects,
    poor_turn_grid,
    poor_turn_measures,
    published_in_grid,
)
from sense7.findings.poor_turn.ladder import poor_turn_ladder

__all__ = [
    "poor_turn_effects",
    "poor_turn_grid",
    "poor_turn_ladder",
    "poor_turn_measures",
    "published_in_grid",
]
