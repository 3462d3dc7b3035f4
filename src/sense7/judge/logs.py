"""Logs of a session in the format of inspect_ai, one a run, so that ``inspect view`` opens them.

They are written from the journal when a session ends: whatever became of the sessions before it, they are whole.
"""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.files import not_written, replacing
from sense7.judge.answers import NOT_ASKED, Answer
from sense7.judge.prompt import SYSTEM_MESSAGE

if TYPE_CHECKING:
    from sense7.judge.run import Plan

__all__ = ["LOGS", "bundle_logs", "log_path", "require_extra", "undisturbed", "write_log"]

LOGS = "logs"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_SAFE_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,79}", re.ASCII)
_STOP_REASONS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}


def log_path(plan: "Plan", run: int) -> Path:
    """Where a run's log will be: in the folder ``logs``, named like the prediction file."""
    return plan.folder / LOGS / f"{plan.path(run).stem}.eval"


def write_log(plan: "Plan", run: int, answers: Mapping[str, Answer], *, lacking: str = NOT_ASKED) -> Path:
    """Write one run as a log of inspect_ai's, whole or not at all.

    Parameters
    ----------
    plan : Plan
        What was asked. Samples are its conversations; if a name can't name a part of a log, all go by their number.
    run : int
        The samples' epoch.
    answers : mapping
        Conversation -> Answer.
    lacking : str
        Why a conversation has no answer.

    Raises
    ------
    UserError
        If it can't be written.
    """
    with undisturbed():
        from inspect_ai.log import (
            EvalConfig,
            EvalDataset,
            EvalLog,
            EvalResults,
            EvalSpec,
            EvalStats,
            write_eval_log,
        )
        from inspect_ai.model import GenerateConfig, ModelUsage

        frame = plan.questions.frame
        named = all(map(_SAFE_ID.fullmatch, frame["conversation"]))
        samples = []
        for number, row in enumerate(frame.itertuples(), 1):
            answer = answers.get(row.conversation) or Answer(row.conversation, run, row.request_sha256, error=lacking)
            samples.append(_sample(row.conversation if named else str(number), row.prompt, answer))
        times = sorted(filter(None, (answer.time for answer in answers.values())))
        usage = sum((sample.output.usage for sample in samples if sample.output.usage), ModelUsage())
        model = plan.questions.model
        log = EvalLog(
            status="success",
            eval=EvalSpec(
                created=times[0] if times else plan.about["begun"],
                task="empathy",
                dataset=EvalDataset(
                    name=plan.about["data"], samples=len(samples), sample_ids=[sample.id for sample in samples]
                ),
                model=model,
                model_base_url=plan.endpoint.address,
                model_generate_config=GenerateConfig(**plan.questions.parameters),
                config=EvalConfig(epochs=1),
                packages={"inspect_ai": version("inspect_ai")},
                metadata={"run": run, **plan.manifest, **plan.about},
            ),
            results=EvalResults(
                total_samples=len(samples), completed_samples=sum(sample.error is None for sample in samples)
            ),
            stats=EvalStats(
                started_at=times[0] if times else "",
                completed_at=times[-1] if times else "",
                model_usage={model: usage},
            ),
            samples=samples,
        )
        path = log_path(plan, run)
        try:
            with replacing(path) as temporary:
                write_eval_log(log, str(temporary), format="eval")
        except OSError as error:
            raise UserError(not_written(path, error)) from None
    return path


def _sample(name: str, prompt: str, answer: Answer):
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    asked = [ChatMessageSystem(content=SYSTEM_MESSAGE), ChatMessageUser(content=_encodable(prompt))]
    failed = answer.error is not None
    output = ModelOutput(error=_encodable(answer.error)) if failed else _model_output(answer)
    reply = answer.reply
    score = Score(value="none" if reply.score is None else reply.score, explanation=_encodable(reply.reason) or None)
    return EvalSample(
        id=name,
        epoch=answer.run,
        input=asked,
        target="",
        messages=asked if failed else [*asked, output.message],
        output=output,
        scores={"empathy": score},
        metadata={"conversation": answer.conversation, "status": reply.status, "attempts": answer.attempts},
        error=EvalError(message=output.error, traceback="", traceback_ansi="") if failed else None,
        total_time=answer.seconds,
        started_at=answer.time,
    )


def _model_output(answer: Answer):
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage

    message = ChatMessageAssistant(
        content=_encodable(answer.output or answer.refusal or ""), source="generate", model=answer.returned_model
    )
    usage = None
    if answer.input_tokens is not None and answer.output_tokens is not None:
        total = answer.input_tokens + answer.output_tokens
        usage = ModelUsage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens, total_tokens=total)
    return ModelOutput(
        model=answer.returned_model or "",
        choices=[ChatCompletionChoice(message=message, stop_reason=_STOP_REASONS.get(answer.finish_reason, "unknown"))],
        usage=usage,
        time=answer.seconds,
        metadata={"system_fingerprint": answer.system_fingerprint, "finish_reason": answer.finish_reason},
        response_id=answer.response_id,
    )


def bundle_logs(folder: str | Path, target: str | Path) -> Path:
    """Make a static site of a session's logs: inspect_ai's viewer, which needs no server program.

    Parameters
    ----------
    folder : path
        Of the session.
    target : path
        Folder of the site; what is there is replaced.

    Returns
    -------
    Path
        Its front page. To look at it, serve the folder: ``python -m http.server --directory TARGET``.

    Raises
    ------
    UserError
        If there are no logs, or the extra ``judge`` is not installed.
    """
    require_extra()
    logs, target = Path(folder) / LOGS, Path(target)
    found = sorted(logs.glob("*.eval"))
    if not found:
        raise UserError(f"{logs}: there are no logs. Run a judge first: sense7 judge run.")
    with undisturbed() as scratch:
        from inspect_ai.log import bundle_log_dir
        from inspect_ai.util._display import init_display_type

        init_display_type("none")
        # The viewer takes names for addresses: it would read a slash into "openai%2Fgpt-4o".
        plain = Path(scratch) / LOGS
        plain.mkdir()
        for number, log in enumerate(found, 1):
            shutil.copyfile(log, plain / f"{number:03d}-{_UNSAFE.sub('_', log.stem)}.eval")
        bundle_log_dir(str(plain), str(target), overwrite=True)
    return target / "index.html"


def require_extra() -> None:
    """Refuse to go on without the extra ``judge``.

    Raises
    ------
    UserError
        If inspect_ai or openai is not installed.
    """
    from importlib.util import find_spec

    if missing := [name for name in ("inspect_ai", "openai") if find_spec(name) is None]:
        raise UserError(
            f"Running a judge needs {' and '.join(missing)}, which is not installed. In a checkout: make judge. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )


@contextlib.contextmanager
def undisturbed() -> Iterator[str]:
    """Keep inspect_ai to what it is here for; give a folder for its scratch files.

    Its settings in the environment could send telemetry, replace keys, or print local variables; a file .env
    would add to them. It also replaces the hook for uncaught errors.
    """
    before, hook = dict(os.environ), sys.excepthook
    with tempfile.TemporaryDirectory(prefix="sense7-judge-", ignore_cleanup_errors=True) as scratch:
        try:
            for name in [name for name in os.environ if name.startswith("INSPECT_")]:
                del os.environ[name]
            os.environ["PYTHON_DOTENV_DISABLED"] = "1"
            yield scratch
        finally:
            sys.excepthook = hook
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update(before)


def _encodable(text: str) -> str:
    """A text that UTF-8 can hold: half a pair of surrogates can't be written to a log."""
    return text.encode("utf-8", "replace").decode("utf-8")


check_arguments(globals())
