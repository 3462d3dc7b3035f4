r"""Where a judge errs to one side: its mean error by what a conversation is like.

The error of a conversation is the score minus the ground truth, mean over the runs that have a score. Each row of the
table is one group of one factor: the mean error there minus the mean error of all other conversations, with its
interval over participants. P values (:func:`sense7.statistics.bootstrap.resampled_p`) are
corrected by Holm's rule over the whole table. Groups are not made by chance: what a condition differs in, such as
length, shows in its row as well.
"""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.findings.core import finding, resampled
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import Metric, simulated_prefix
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio_difference, resampled_p
from sense7.statistics.estimates import estimate_row, estimate_table, holm, safe_names
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
    makers = [maker for maker, names in _FAMILIES.items() if names.search(text)]
    if len(makers) == 1:
        return makers[0]
    return ""


def factors(study: Study, judge_model: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the group of each conversation by condition and by model family, and why a factor has none."""
    conditions = study.conversations.set_index("conversation")["condition"]
    judge_family = family_of(judge_model)
    sides = {}
    for name in conditions.dropna().unique():
        family = family_of(str(name))
        if family:
            sides[name] = "own" if family == judge_family else "other"
    reasons = {}
    if "own" not in sides.values():
        sides = {}
        judge = judge_model or "no name"
        reasons["model family"] = f"no condition is of the family of the judge ({judge})"
    groups = {"condition": conditions, "model family": conditions.map(sides)}
    return pd.DataFrame(groups, dtype=object), reasons


@finding
def bias_table(
    study: Study,
    runs: Mapping[str, Run],
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """Return how a judge's mean error in each group differs from that in all other conversations.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    runs : mapping
        The judge's runs by their names; none if there is no judge.
    bootstrap : ParticipantBootstrap
        Resamples of the study's participants.

    Returns
    -------
    DataFrame
        Table of estimates of the differences, indexed by ``factor: group``, with the columns p, p_holm (over the table)
        and key. A factor that distinguishes nothing has one row, which is called by the factor and says why.
        A group of few participants, or whose complement has few, has no interval (``FEWEST_IN_A_GROUP``).
    """
    truth = ground_truth(study.turns, study.conversations["conversation"])
    errors, models = [pd.Series(dtype=float)], set()
    for run in runs.values():
        score = pd.Series(run.score, run.conversation)
        errors.append((score - truth.reindex(score.index)).dropna())
        models.update(run.model[pd.notna(run.model)])
    error = pd.concat(errors).groupby(level=0, sort=False).mean()
    judge_model = ""
    if len(models) == 1:
        judge_model = models.pop()
    groups, reasons = factors(study, judge_model)
    participant = study.conversations.set_index("conversation")["participant"]
    rows = {}
    for factor in groups:
        column = groups[factor].reindex(error.index).dropna()
        key_of_family = ""
        if factor == "model family":
            key_of_family = "bias_own_family"
            keys = {"own": key_of_family}  # own and other are one comparison
        else:
            names = safe_names(column.value_counts().index)
            keys = {group: f"bias_condition_{name}" for group, name in names.items()}
        reason = reasons.get(factor, "")
        if error.empty:
            reason = ABSENT
        elif not reason and column.nunique() < 2:
            reason = "nothing to compare"
        if reason:
            row = estimate_row(n=0, unit=_ABOUT.unit, method=_ABOUT.method, reason=reason)
            rows[factor] = {**row, "key": key_of_family, "p": np.nan}
            continue
        value = error[column.index].to_numpy(dtype=float)
        people = participant.reindex(column.index)
        for group, key in keys.items():
            inside = (column == group).to_numpy()
            sides = np.stack([inside, ~inside], axis=1).astype(float)
            sums = np.stack([sides * value[:, None], sides], axis=-1)
            too_few = bootstrap.too_few_in_a_group(people, inside, "difference of means")
            of_group = bootstrap
            if too_few:
                of_group = ParticipantBootstrap((), no_interval=too_few)
            statistic = resampled(of_group, ratio_difference, sums, people)
            row = _ABOUT.number(group, statistic, people[inside], key=key).row(of_group)
            p = np.nan if row["reason"] else resampled_p(statistic[1:])
            rows[f"{factor}: {group}"] = {**row, "p": p}
    table = estimate_table(rows, "conversations")
    p = np.array([row["p"] for row in rows.values()], dtype=float)
    return table.assign(method=simulated_prefix(runs) + table["method"], p=p, p_holm=holm(p))
