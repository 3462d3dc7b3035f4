"""The same conversations under several prompts: a session for each, in a folder of its own."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.files import not_written, reason, write_whole
from sense7.judge.asking.cost import CostEstimate
from sense7.judge.asking.plan import Plan, plan_session
from sense7.judge.asking.prompt import BUNDLED, Prompt
from sense7.judge.asking.run import Outcome
from sense7.judge.evaluate import records
from sense7.judge.predictions import read_predictions
from sense7.judge.scoring.prompt_sensitivity import PromptSensitivity, prompt_sensitivity
from sense7.study import Study

__all__ = ["plan_sweep", "sensitivity_of", "sweep_prompts"]

OWN = "bundled"
REPORT = "prompt_sensitivity.json"
_FIT_FOR_FOLDERS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def sweep_prompts(source: str = OWN) -> list[Prompt]:
    """Return the prompts of a sweep: our own and its paraphrases, or the text files of a folder.

    Parameters
    ----------
    source : str
        ``bundled``, or the path of a folder.

    Raises
    ------
    UserError
        If there is no such folder, it holds fewer than two prompts, or one can't be read or named.

    Examples
    --------
    >>> [prompt.name for prompt in sweep_prompts()]
    ['empathy', 'brief', 'observer', 'person', 'skeptic', 'steps']
    """
    if source == OWN:
        return [Prompt.bundled(), *(Prompt.read(path) for path in sorted((BUNDLED / "paraphrases").glob("*.txt")))]
    try:
        paths = sorted(path for path in Path(source).iterdir() if path.suffix == ".txt" and path.name[0] not in ".~")
    except OSError as error:
        raise UserError(
            f"--prompts {source}: the folder can't be read ({reason(error)}). Give a folder of prompts, or {OWN}."
        ) from None
    if len(paths) < 2:
        raise UserError(
            f"--prompts {source}: holds {len(paths)} prompts (files .txt), and a sweep needs two. Add more, or give "
            f"--prompts {OWN}."
        )
    for path in paths:
        if not _FIT_FOR_FOLDERS.fullmatch(path.stem):
            raise UserError(
                f"{path}: its name names a folder, and can't. Rename it: letters, digits, dots, hyphens, underscores."
            )
    prompts = [Prompt.read(path) for path in paths]
    folded: dict[str, Path] = {}
    for prompt, path in zip(prompts, paths, strict=True):
        if prompt.text in folded:
            raise UserError(f"{path}: is the same prompt as {folded[prompt.text]}. Remove one of them.")
        folded[prompt.text] = path
    return prompts


def plan_sweep(study: Study, prompts: Sequence[Prompt], folder: str | Path, **options) -> list[Plan]:
    """Return a plan for each prompt, in a folder of the prompt's name.

    Parameters
    ----------
    study : Study
        The conversations.
    prompts : sequence of Prompt
        At least two, of different names.
    folder : path
        Of all sessions.
    **options
        Of :func:`sense7.judge.asking.plan.plan_session`.

    Raises
    ------
    UserError
        As :func:`sense7.judge.asking.plan.plan_session`, before anything is sent to anybody.
    """
    return [plan_session(study, prompt=prompt, folder=Path(folder) / prompt.name, **options) for prompt in prompts]


def total_estimate(plans: Sequence[Plan]) -> CostEstimate:
    """Return what all sessions still have to ask."""
    estimates = [plan.estimate for plan in plans]
    names = ("runs", "calls", "kept", "input_tokens", "output_most")
    known = [estimate.output_mean for estimate in estimates if estimate.output_mean is not None]
    sums = {name: sum(getattr(estimate, name) for estimate in estimates) for name in names}
    return replace(estimates[0], **sums, output_mean=sum(known) / len(known) if known else None)


def sensitivity_of(
    done: Sequence[tuple[Plan, Outcome]], *, draws: int = 10_000, seed: int = 0, confidence: float = 0.95
) -> PromptSensitivity:
    """Return the sensitivity to the prompt of the sessions that were carried out.

    Parameters
    ----------
    done : sequence of (Plan, Outcome)
        Each plan with what it came to.
    draws, seed, confidence : int, int, float
        Of the intervals over participants.

    Raises
    ------
    UserError
        If there are fewer than two.
    """
    frames = {
        plan.questions.prompt.name: [read_predictions(path).frame for path in outcome.paths] for plan, outcome in done
    }
    everyone = next(iter(frames.values()))[0]["participant"] if frames else ()
    bootstrap = ParticipantBootstrap(everyone, draws=draws, seed=seed, confidence=confidence)
    return prompt_sensitivity(frames, bootstrap, policy=done[0][0].policy)


def write_report(folder: str | Path, found: PromptSensitivity) -> Path:
    """Write a sensitivity as JSON beside the sessions.

    Raises
    ------
    UserError
        If it can't be written.
    """
    path = Path(folder) / REPORT
    values, observed = (table.astype(object).where(table.notna(), None) for table in (found.by_prompt, found.observed))
    content = {
        "conversations": found.conversations,
        "prompts": {str(name): row.to_dict() for name, row in values.iterrows()},
        "observed": {str(name): row.to_dict() for name, row in observed.iterrows()},
        **{kind: records(table) for kind, table in found.spreads.items()},
    }
    try:
        write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    except OSError as error:
        raise UserError(not_written(path, error)) from None
    return path


check_arguments(globals())
