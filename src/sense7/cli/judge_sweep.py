"""The verb ``sense7 judge sweep``: how much a judge depends on the words of its prompt."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.cli.judge import (
    Data,
    Limit,
    Model,
    Omit,
    Param,
    Policy,
    by_status,
    get_consent,
    require_none,
    showing_progress,
)
from sense7.judge.asking.prompt import DEFAULT_MODEL
from sense7.terminal import plain_lines

__all__ = ["sweep"]


def sweep(
    out: Annotated[Path, typer.Option(help="Folder of the sessions, one for each prompt; given again, it goes on.")],
    data: Data,
    model: Model = DEFAULT_MODEL,
    prompts: Annotated[
        str, typer.Option(help="bundled: our own and its paraphrases; or a folder of prompts (.txt).")
    ] = "bundled",
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint; OpenAI's if not given.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="How often each conversation is asked about, by each prompt.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests at once.")] = 10,
    per_minute: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Requests that may begin in a minute.")
    ] = None,
    policy: Policy = "strict",
    limit: Limit = None,
    param: Param = None,
    omit: Omit = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a call may take.")] = 120.0,
    price_in: Annotated[float | None, typer.Option(help="Price of a million input tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Price of a million output tokens.")] = None,
    limit_cost: Annotated[
        float | None, typer.Option(min=0, help="Cost above which to ask first; 10 if not given.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap over participants.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and send nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Ask about the same conversations by several prompts, and report how much each metric depends on the prompt.

    Each prompt has a session in a folder of its own below --out, as `sense7 judge run` would make it. Interrupted in
    any way, the same command goes on where it was.
    """
    from sense7.judge.asking.cost import Prices
    from sense7.judge.asking.endpoint import Endpoint
    from sense7.judge.asking.parameters import parse_parameters
    from sense7.judge.asking.prompt_sweep import plan_sweep, sensitivity_of, sweep_prompts, total_estimate, write_report
    from sense7.judge.evaluate import aligned_text
    from sense7.loading import load

    endpoint = Endpoint.of(base_url, to_ask=not dry_run)
    asked = sweep_prompts(prompts)
    plans = plan_sweep(
        load(data),
        asked,
        out,
        model=model,
        endpoint=endpoint,
        runs=runs,
        limit=limit,
        omit=omit or (),
        param=parse_parameters(param or ()),
        prices=Prices.of(price_in, price_out),
        policy=policy,
        concurrency=concurrency,
        per_minute=per_minute,
        timeout=timeout,
    )
    total = total_estimate(plans)
    names = ", ".join(prompt.name for prompt in asked)
    lines = [f"endpoint       {endpoint.address}", f"model          {model}", f"prompts        {len(asked)} ({names})"]
    print("\n".join([*lines, *total.lines()]), file=sys.stdout if dry_run else sys.stderr)
    if dry_run:
        return
    get_consent(total.needs_consent(limit_cost, near=endpoint.is_near), yes)
    done = _ask(plans)
    found = sensitivity_of(done, draws=draws, seed=seed)
    print(plain_lines("\n\n".join(map(aligned_text, (found.rows(), found.spread_rows())))))
    print(f"\nconversations with a score by every prompt: {found.conversations:,}")
    print(write_report(out, found))


def _ask(plans: list) -> list:
    """Carry out all sessions, and say how each ended; exit code 1 if one has calls without an answer."""
    from sense7.judge.asking.run import carry_out

    done, problems = [], []
    for number, plan in enumerate(plans):
        with showing_progress(plan.estimate.calls) as (progress, say):
            outcome = carry_out(plan, progress=progress, say=say)
        done.append((plan, outcome))
        name = plan.questions.prompt.name
        print(plain_lines(f"{name}: {by_status(outcome)}"), file=sys.stderr)
        if failed := outcome.statuses["api_error"] + outcome.statuses["prompt_cut"]:
            problems.append(f"{name}: {failed:,} without an answer; the same command asks for these again")
        problems += [f"{name}: {line}" for line in outcome.without_score]
        if outcome.stopped:
            left = len(plans) - number - 1
            require_none([f"{name}: {outcome.stopped}", f"prompts that were not asked: {left}"])
    require_none(problems)
    return done
