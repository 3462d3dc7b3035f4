r"""Where a judge errs to one side: its mean error by what a conversation is like.

The error of a conversation is the score minus the ground truth, mean over the runs that have a score. Each row of the
table is one group of one factor: the mean error there minus the mean error of all other conversations, with its
interval over participants. P values (:func:`sense7.estimators.bootstrap.resampled_p`) are
corrected by Holm's rule over the whole table. Groups are not made by chance: what a condition differs in, such as
length, shows in its row as well.
"""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.estimators.bootstrap import ParticipantBootstrap, ratio_difference, resampled_p
from sense7.estimators.estimates import estimate_row, estimate_table, holm, safe_names
from sense7.findings.core import finding, resampled
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import counted_scores
from sense7.judge.scores.judges import ABSENT, simulated_prefix
from sense7.judge.scores.metrics import Metric, Unresampled
from sense7.study import Study

__all__ = ["bias_table"]

_WORDS = {
    "OpenAI": r"gpt|chatgpt|openai|davinci|o[134](?![0-9])",
    "Anthropic": r"claude|anthropic",
    "Google": r"gemini|gemma|palm|bard",
    "Meta": r"llama",
    "Mistral": r"mistral|mixtral|ministral",
    "Alibaba": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "xAI": r"grok",
    "Cohere": r"cohere|command-r",
}
"""Maker of language models -> what their names hold, not within a longer word."""

_FAMILIES = {
    maker: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])") for maker, words in _WORDS.items()
}

_ABOUT = Metric(
    "",
    "level, difference",
    "mean error (score minus ground truth, mean over runs) minus that of all other conversations",
)


def family_of(name: str) -> str:
    """Return the maker of the language model that a name names; "" if it is not known or the name holds several."""
    text = name.casefold()
    found = [maker for maker, names in _FAMILIES.items() if names.search(text)]
    return found[0] if len(found) == 1 else ""


def factors(study: Study, judge_model: str = "") -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the group of each conversation by condition and by model family, and why a factor has none."""
    conditions = study.conversations.set_index("conversation")["condition"]
    own, reasons = family_of(judge_model), {}
    makers = {name: family_of(str(name)) for name in conditions.dropna().unique()}
    family = pd.Series(None, index=conditions.index, dtype=object)
    if own not in makers.values() or not own:
        reasons["model family"] = (
            f"no condition is of the family of the judge ({judge_model or 'no name'})"
        )
    else:
        family = conditions.map(
            {name: "own" if one == own else "other" for name, one in makers.items() if one}
        )
    groups = pd.DataFrame({"condition": conditions, "model family": family}, dtype=object)
    return groups, reasons


@finding
def bias_table(
    study: Study,
    runs: Mapping[str, pd.DataFrame],
    bootstrap: ParticipantBootstrap,
    *,
    policy: str = "strict",
) -> pd.DataFrame:
    """Return how a judge's mean error in each group differs from that in all other conversations.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    runs : mapping
        Run -> predictions with conversation, score and model; none if there is no judge.
    bootstrap : ParticipantBootstrap
        Resamples of the study's participants.
    policy : {"strict", "authors"}
        See :func:`sense7.judge.files.counted_scores`.

    Returns
    -------
    DataFrame
        Table of estimates of the differences, indexed by ``factor: group``, with the columns p, p_holm (over the table)
        and key. A factor that distinguishes nothing has one row, which is called by the factor and says why.
        A group of few participants, or whose complement has few, has no interval (``FEWEST_IN_A_GROUP``).
    """
    truth = ground_truth(study.turns, study.conversations["conversation"])
    parts, models = [], []
    for frame in runs.values():
        score = pd.Series(
            counted_scores(frame, policy), frame["conversation"].to_numpy(dtype=object)
        )
        parts.append((score - truth.reindex(score.index)).dropna())
        models += list(frame["model"].dropna().unique()) if "model" in frame else []
    error = (
        (pd.concat(parts) if parts else pd.Series(dtype=float)).groupby(level=0, sort=False).mean()
    )
    groups, reasons = factors(study, models[0] if len(set(models)) == 1 else "")
    participant, rows = study.conversations.set_index("conversation")["participant"], {}
    for factor in groups:
        column, own = groups[factor].reindex(error.index), factor == "model family"
        known = column.notna()
        present = list(column.dropna().value_counts().index)
        reason = "" if len(error) else ABSENT
        reason = reason or reasons.get(factor, "" if len(present) > 1 else "nothing to compare")
        if reason:
            key = "bias_own_family" if own else ""
            row = estimate_row(n=0, unit=_ABOUT.unit, method=_ABOUT.method, reason=reason, key=key)
            rows[factor] = row | {"p": np.nan}
            continue
        plain, value = safe_names(present), error[known].to_numpy(dtype=float)
        people = participant.reindex(error.index[known])
        for group in ["own"] if own else present:  # own and other are one comparison
            inside = (column[known] == group).to_numpy()
            sides = np.stack([inside, ~inside], axis=1).astype(float)
            values = np.stack([sides * value[:, None], sides], axis=-1)
            few = bootstrap.too_few_in_a_group(people, inside, "difference of means")
            some = Unresampled(few) if few else bootstrap
            drawn = resampled(some, ratio_difference, values, people)
            row = _ABOUT.number(group, drawn, people[inside]).row(some)
            row["key"] = "bias_own_family" if own else f"bias_condition_{plain[group]}"
            p = np.nan if row["reason"] else resampled_p(drawn[1:])
            rows[f"{factor}: {group}"] = row | {"p": p}
    p = np.array([row["p"] for row in rows.values()])
    table = estimate_table(rows, "conversations")
    return table.assign(method=simulated_prefix(runs) + table["method"], p=p, p_holm=holm(p))
