"""Asks a judge: every conversation in every run, once, also after failures and interruptions.

:mod:`sense7.judge.asking.session` sends the requests, :mod:`sense7.judge.asking.journal` keeps the answers.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.judge.asking.answers import NOT_ASKED, Answer, run_frame, without_score
from sense7.judge.asking.client import require_extra
from sense7.judge.asking.context_length import is_low, warning
from sense7.judge.asking.journal import JOURNAL, Journal, check_manifest, require_same_requests, write_manifest
from sense7.judge.asking.logs import log_path, write_log
from sense7.judge.asking.plan import Plan
from sense7.judge.asking.session import Session, Tally
from sense7.judge.predictions import write_predictions
from sense7.judge.ratings import ratings_sheet
from sense7.terminal import count_of
from sense7.workbook.xlsx import Sheet

__all__ = ["Outcome", "carry_out"]


@dataclass(frozen=True)
class Outcome:
    """What a session came to."""

    paths: list[Path]
    statuses: Counter
    tally: Tally
    remarks: list[str]
    stopped: str = ""
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)
    final: bool = False
    cut: list[str] = field(default_factory=list)


def carry_out(
    plan: Plan,
    *,
    progress: Callable[[Tally], None] = lambda tally: None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Send what is not answered yet, and write one prediction file for each run."""
    require_extra("aiohttp", "Asking a judge")
    with Journal.open(plan.folder / JOURNAL) as journal:
        if journal.unlocked:
            say(f"warning: {journal.unlocked}")
        check_manifest(plan.folder, plan.manifest, journal.answers)  # again, now that no other session is at work here
        require_same_requests(plan.folder, journal.answers, plan.questions, plan.runs)
        write_manifest(plan.folder, plan.manifest, plan.about, plan.questions, plan.runs)
        session = Session(plan, journal, progress, say)
        if session.pending:
            session.run()
        asked = {run for _, run in session.pending}
        stopped = session.stopped
        if stopped:
            stopped = f"stopped after {session.sent:,} of {count_of(len(session.pending), 'call')}: {stopped}"
        lacking = f"{NOT_ASKED}: {stopped}" if stopped else NOT_ASKED
        paths, remarks, statuses, doubtful, without = [], [], Counter(), 0, []
        cut = [answer.error or "" for answer in journal.answers.values() if answer.prompt_cut]
        remarks += _low_counts(plan, journal)
        by_run: dict[int, dict[str, Answer]] = {run: {} for run in range(1, plan.runs + 1)}
        for (name, run), answer in journal.answers.items():
            by_run[run][name] = answer
        for run, answers in by_run.items():
            frame = run_frame(plan.questions, run, answers, lacking=lacking)
            further = _ratings(plan, answers) if plan.questions.ratings else []
            remarks += write_predictions(plan.path(run), frame, policy=plan.policy, further=further)
            paths.append(plan.path(run))
            statuses.update(frame["status"])
            doubtful += int(frame["doubtful"].sum())
            without += filter(None, [without_score(run, answers)])
            if run in asked or not log_path(plan, run).exists():
                write_log(plan, run, answers, frame, lacking=lacking)
    return Outcome(paths, statuses, session.tally, remarks, stopped, doubtful, without, session.final, cut)


def _low_counts(plan: Plan, journal: Journal) -> list[str]:
    """One warning of counts of tokens that are far below our estimates, if there are any."""
    characters = {name: plan.questions.characters(name) for name in plan.questions.conversations}
    replies = [answer for answer in journal.answers.values() if answer.error is None and answer.input_tokens]
    low = [answer for answer in replies if is_low(characters[answer.conversation], answer.input_tokens)]
    return [warning(len(low), len(replies), characters[low[0].conversation], low[0].input_tokens)] if low else []


def _ratings(plan: Plan, answers: dict[str, Answer]) -> list[Sheet]:
    """Sheet of the judge's ratings beside the person's."""
    units, names = plan.questions.frame, plan.questions.ratings
    levels = [answers[name].levels if name in answers else {} for name in units["conversation"]]
    return [ratings_sheet(units, names, levels)]


check_arguments(globals())
