r"""Where a judge errs to one side: its mean error by what a conversation is like.

The error of a conversation is the score minus the ground truth, mean over the runs that have a score. Each row of the
table is one group of one factor: the mean error there, and the difference from the mean error of all other
conversations, with its interval over participants. P values (:func:`sense7.estimators.bootstrap.resampled_p`) are
corrected by Holm's rule over the whole table.

Groups are not made by chance: what a condition differs in, such as length, shows in its row as well.
"""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio_difference, resampled_p
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, holm, p_in_words, safe_names
from sense7.findings.ground_truth import ground_truth
from sense7.judge.predictions import counted_scores
from sense7.judge.scoring.available_judges import ABSENT
from sense7.judge.scoring.simulated import method_prefix
from sense7.study import Study

__all__ = ["bias_in_words", "bias_table", "factors", "family_of"]

_FAMILIES = {
    "OpenAI": r"gpt|chatgpt|openai|davinci",
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

_OPENAI_SHORT = re.compile(r"(?<![a-z0-9])o[134](?![a-z0-9])")
_OWN = "bias_own_family"
_UNIT = "level, difference"
_ABOUT = "mean error (score minus ground truth, mean over runs) minus that of all other conversations"


def family_of(name: str) -> str:
    """Return the maker of the language model that a name names; "" if it is not known or the name holds several."""
    text = name.casefold()
    found = [maker for maker, words in _FAMILIES.items() if re.search(rf"(?<![a-z])(?:{words})(?![a-z])", text)]
    if not found and _OPENAI_SHORT.search(text):
        return "OpenAI"
    return found[0] if len(found) == 1 else ""


def factors(study: Study, judge_model: str = "") -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the group of each conversation by each factor, and why a factor has none."""
    conditions = study.conversations.set_index("conversation")["condition"]
    family, why_no_family = _families(conditions, judge_model)
    groups = pd.DataFrame({"condition": conditions, "model family": family}, dtype=object)
    reasons = {}
    for factor in groups:
        values = groups[factor].dropna().unique()
        if len(values) < 2:
            what = f"{values[0]} everywhere" if len(values) else "not known"
            reasons[factor] = f"nothing to compare: {what}"
    if why_no_family:
        reasons["model family"] = why_no_family
    return groups, reasons


def _families(conditions: pd.Series, judge_model: str) -> tuple[pd.Series, str]:
    """Own or other family of each conversation's condition, and why that is not known."""
    own = family_of(judge_model)
    makers = {name: family_of(str(name)) for name in conditions.dropna().unique()}
    nothing = pd.Series(None, index=conditions.index, dtype=object)
    if not own:
        return nothing, f"not known: the judge's name ({judge_model or 'none'}) names no known model family"
    if not any(makers.values()):
        return nothing, "not known: no condition names a known model family"
    if own not in makers.values():
        return nothing, f"nothing to compare: no condition is of the judge's family ({own})"
    return conditions.map({name: "own" if maker == own else "other" for name, maker in makers.items() if maker}), ""


def bias_table(
    study: Study, runs: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap, *, policy: str = "strict"
) -> pd.DataFrame:
    """Return a judge's mean error by group, and how it differs from that of all other conversations.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    runs : mapping
        Run -> predictions with conversation, score and model; none if there is no judge.
    bootstrap : ParticipantBootstrap
        Resamples of the study's participants.
    policy : {"strict", "authors"}
        See :func:`sense7.judge.predictions.counted_scores`.

    Returns
    -------
    DataFrame
        Table of estimates of the differences, indexed by factor and group, with the columns mean_error, p, p_holm
        (over the table) and key. A factor that distinguishes nothing has one row, whose group is "" and which says why.
        A group of fewer than five participants, or whose complement is, has no interval.
    """
    error, model = _errors(study, runs, policy)
    groups, reasons = factors(study, model)
    rows = {}
    for factor in groups:
        reason = "" if len(error) else ABSENT
        column = groups[factor].reindex(error.index)
        present = list(column.dropna().value_counts().index)
        reason = reason or reasons.get(factor, "" if len(present) > 1 else "nothing to compare with a score")
        if reason:
            rows[factor, ""] = _nothing(reason, _OWN if factor == "model family" else "")
            continue
        if factor == "model family":
            present = ["own"]  # own and other are one comparison
        plain = safe_names(present)
        for group in present:
            key = _OWN if factor == "model family" else f"bias_condition_{plain[group]}"
            rows[factor, str(group)] = _row(error, column, group, study, bootstrap, key)
    table = estimate_table({f"{factor}: {group}": row for (factor, group), row in rows.items()}, "group")
    table.index = pd.MultiIndex.from_tuples(rows, names=["factor", "group"])
    p = np.array([row["p"] for row in rows.values()])
    table["method"] = method_prefix(runs) + table["method"]
    return table.assign(mean_error=[row["mean_error"] for row in rows.values()], p=p, p_holm=holm(p))


def _errors(study: Study, runs: Mapping[str, pd.DataFrame], policy: str) -> tuple[pd.Series, str]:
    """Mean error of each conversation over runs, and the name of the judge's model."""
    truth = ground_truth(study.turns, study.conversations["conversation"])
    parts, models = [], []
    for frame in runs.values():
        score = pd.Series(counted_scores(frame, policy), frame["conversation"].to_numpy(dtype=object))
        parts.append((score - truth.reindex(score.index)).dropna())
        models += list(frame["model"].dropna().unique()) if "model" in frame else []
    error = pd.concat(parts) if parts else pd.Series(dtype=float)
    named = list(dict.fromkeys(models))
    return error.groupby(level=0, sort=False).mean(), named[0] if len(named) == 1 else ""


def _row(
    error: pd.Series, column: pd.Series, group: str, study: Study, bootstrap: ParticipantBootstrap, key: str
) -> dict:
    known = column.notna()
    inside = (column[known] == group).to_numpy()
    value = error[known].to_numpy(dtype=float)
    people = study.conversations.set_index("conversation")["participant"].reindex(error.index[known])
    sides = np.stack([inside, ~inside], axis=1).astype(float)
    values = np.stack([sides * value[:, None], sides], axis=-1)
    estimate = float(ratio_difference(values.sum(axis=0)))
    few = bootstrap.too_few(people[inside]) or bootstrap.too_few(people[~inside])
    drawn = None if few else bootstrap.distribution(ratio_difference, values, people)
    found = Estimate(estimate, reason=few) if few else Estimate(estimate, *bootstrap.interval(drawn, people))
    p = np.nan if found.reason else resampled_p(drawn)
    row = bootstrap.row(found, n=int(inside.sum()), unit=_UNIT, method=_ABOUT, key=key)
    return row | {"mean_error": float(value[inside].mean()), "p": p}


def _nothing(reason: str, key: str) -> dict:
    row = estimate_row(n=0, unit=_UNIT, method=_ABOUT, reason=reason, key=key)
    return row | {"mean_error": np.nan, "p": np.nan}


def bias_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return a bias table as texts.

    Parameters
    ----------
    table : DataFrame
        What :func:`bias_table` returned.
    """
    rows = {}
    for (factor, group), row in table.iterrows():
        if row["reason"] and not group:
            rows[factor] = {"n": "", "mean error": "", "minus all others": row["reason"], "p, Holm": ""}
            continue
        interval = f" [{row['low']:z.2f}, {row['high']:z.2f}]" if np.isfinite(row["low"]) else f" ({row['reason']})"
        rows[f"{factor}: {group}"] = {
            "n": f"{row['n']:,}",
            "mean error": f"{row['mean_error']:z.2f}",
            "minus all others": f"{row['estimate']:z.2f}{interval}",
            "p, Holm": p_in_words(row["p_holm"]),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("group of conversations")


check_arguments(globals())
