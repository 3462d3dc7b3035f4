"""The two marks of a claim, the same on every page: shapes that cannot be taken for each other."""

from collections.abc import Mapping

from docutils import nodes

__all__ = ["OUTCOME", "check_badge", "rule_badge", "rule_in_words"]

OUTCOME = {True: "passed", False: "not-passed", None: "undecided"}


def rule_badge(row: Mapping) -> nodes.inline:
    """The first mark: whether these data pass the claim's rule; a filled shape."""
    rule = row["rule"]
    return nodes.inline(text=rule["mark"], classes=["sense7-badge", f"sense7-rule-{OUTCOME[rule['passed']]}"])


def check_badge(row: Mapping) -> nodes.inline:
    """The second mark: whether the method finds what was put into simulated data; an outlined shape."""
    check = row["check"]
    return nodes.inline(text=check["mark"], classes=["sense7-check", f"sense7-check-{OUTCOME[check['passed']]}"])


def rule_in_words(rule: Mapping) -> str:
    """What a rule asks, why it cannot be decided, and how often simulated studies pass it."""
    said = [rule["asks"], rule["why"] and f"{rule['why'][:1].upper()}{rule['why'][1:]}."]
    if rule["power"] is not None:
        said.append(
            f"In simulated studies of SENSE-7's size it passes in {rule['power']:.0%} with the effect (power), in "
            f"{rule['null']:.1%} without."
        )
    return " ".join(filter(None, said))
