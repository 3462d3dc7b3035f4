"""Logs of a session in the format of inspect_ai, one a run, so that ``inspect view`` opens them.

The format is a ZIP archive of JSON (https://inspect.aisi.org.uk/eval-logs.html, version 2): ``header.json`` on the run,
``samples/`` with a file for each conversation, ``summaries.json`` for the list of these.
"""

import json
import math
import re
import zipfile
from collections import Counter
from pathlib import Path

import pandas as pd

from sense7.errors import UserError
from sense7.files import not_written, replacing
from sense7.judge.asking.answers import Answer
from sense7.judge.asking.requests import SYSTEM_MESSAGE
from sense7.judge.reply import CUT, FAILED, FILTERED, ending

__all__ = ["LOGS", "write_log"]

LOGS = "logs"
SCORER = "empathy"
_SAFE_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,79}", re.ASCII)
_STOP_REASONS = {CUT: "max_tokens", FILTERED: "content_filter", FAILED: "unknown"}


def log_path(plan, run: int) -> Path:
    """Where a run's log will be: in the folder ``logs``, named like the prediction file."""
    return plan.folder / LOGS / f"{plan.path(run).stem}.eval"


def write_log(plan, run: int, answers: list[Answer], predictions: pd.DataFrame) -> Path:
    """Write one run as a log of inspect_ai's, whole or not at all."""
    frame, path = plan.questions.frame, log_path(plan, run)
    named = all(map(_SAFE_ID.fullmatch, frame["conversation"]))
    summaries, used = [], Counter()

    def put(name: str, content) -> None:  # half a pair of surrogates is replaced
        log.writestr(name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))

    try:
        with (
            replacing(path, own=True) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as log,
        ):
            for number, (row, answer) in enumerate(
                zip(frame.itertuples(), answers, strict=True), 1
            ):
                sample = _sample(
                    row.conversation if named else str(number), row.prompt, answer, row.ground_truth
                )
                used.update(sample["output"].get("usage", {}))
                put(f"samples/{sample['id']}_epoch_{run}.json", sample)
                kept = ("id", "epoch", "target", "scores", "metadata", "started_at", "total_time")
                said = [
                    {**message, "content": message["content"][:1000]} for message in sample["input"]
                ]
                about = {
                    "error": answer.error,
                    "completed": True,
                    "message_count": len(sample["messages"]),
                }
                summaries.append({name: sample[name] for name in kept} | {"input": said} | about)
            put("summaries.json", summaries)

            from sense7.judge.scores.metrics import (
                METRICS,
                run_metrics,
            )  # not before the last answer is kept

            ids, model = [one["id"] for one in summaries], plan.questions.model
            times = sorted(filter(None, (answer.time for answer in answers))) or [""]
            values = run_metrics(predictions)["estimate"].dropna()
            values = {
                name: float(values[name]) for name in (*METRICS, "coverage") if name in values
            }
            scored = int(predictions["score"].notna().sum())
            header = {
                "version": 2,
                "status": "success",
                "eval": {
                    "created": times[0] or plan.about["begun"],
                    "task": "empathy",
                    "dataset": {"name": plan.about["data"], "samples": len(ids), "sample_ids": ids},
                    "model": model,
                    "model_base_url": plan.endpoint.address,
                    "model_generate_config": dict(plan.questions.parameters),
                    "config": {"epochs": 1},
                    "metadata": {"run": run, **plan.asked, **plan.about},
                },
                "results": {
                    "total_samples": len(ids),
                    "completed_samples": sum(answer.error is None for answer in answers),
                    "scores": [
                        {
                            **{"name": SCORER, "scorer": SCORER},
                            **{
                                "scored_samples": scored,
                                "unscored_samples": len(predictions) - scored,
                            },
                            "metrics": {
                                name: {"name": name, "value": value}
                                for name, value in values.items()
                            },
                        }
                    ],
                },
                "stats": {
                    "started_at": times[0],
                    "completed_at": times[-1],
                    "model_usage": {model: dict(used)},
                },
            }
            put("header.json", header)
    except OSError as error:
        raise UserError(not_written(path, error)) from None
    return path


def _sample(name: str, prompt: str, answer: Answer, truth: float) -> dict:
    asked = [{"role": "system", "content": SYSTEM_MESSAGE}, {"role": "user", "content": prompt}]
    reply = answer.reply
    score = {
        "value": "none" if reply.score is None else reply.score,
        "explanation": reply.reason or None,
    }
    sample = {
        "id": name,
        "epoch": answer.run,
        "input": asked,
        "target": "" if math.isnan(truth) else f"{truth:g}",
        "scores": {SCORER: score}
        | {rating: {"value": level} for rating, level in reply.levels.items()},
        "metadata": {
            "conversation": answer.conversation,
            "status": reply.status,
            "attempts": answer.attempts,
        },
        "started_at": answer.time,
        "total_time": answer.seconds,
    }
    if answer.error is not None:
        failed = {"message": answer.error, "traceback": "", "traceback_ansi": ""}
        return sample | {"messages": asked, "output": {"error": answer.error}, "error": failed}
    text = answer.output or answer.refusal or ""
    said = {
        "role": "assistant",
        "content": text,
        "source": "generate",
        "model": answer.returned_model,
    }
    stopped = _STOP_REASONS.get(
        ending(answer.finish_reason), "stop" if answer.finish_reason == "stop" else "unknown"
    )
    output = {
        "model": answer.returned_model or "",
        "choices": [{"message": said, "stop_reason": stopped}],
        "completion": text,
        "time": answer.seconds,
        "metadata": {
            "system_fingerprint": answer.system_fingerprint,
            "finish_reason": answer.finish_reason,
        },
        "response_id": answer.response_id,
    }
    if answer.input_tokens is not None and answer.output_tokens is not None:
        total = answer.input_tokens + answer.output_tokens
        tokens = {
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "total_tokens": total,
        }
        output["usage"] = tokens
    return sample | {"messages": [*asked, said], "output": output}
