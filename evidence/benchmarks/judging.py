"""A judge's session beside the shortest script that does the same: threads, the openai client, nothing recorded.

    python evidence/benchmarks/judging.py serve SECONDS      an endpoint on this machine, until its standard input ends
    python evidence/benchmarks/judging.py ask ADDRESS CALLS  the peer

Both sides are programs, so that their start counts as well.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from measuring import ROOT, SENSE7, Counts, Row, in_turn, run

CONCURRENCY = 50
LATENCIES = {"judge": (1.0, 1.15), "judge_near": (0.05, 2.0)}
"""Key of the row -> seconds until an answer, and the goal: at most so many times the peer's time."""

MOST_MEMORY = 150
"""Megabytes of a session, at its peak."""

METERED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
"""Runs a command; prints the processor's seconds and the peak memory in megabytes (Linux) of it alone."""


# --- programs --------------------------------------------------------------------------


def serve(latency: float) -> None:
    """Play an endpoint in this process; say where, and how often it was asked once the input ends."""
    spec = importlib.util.spec_from_file_location("endpoint", ROOT / "tests" / "helpers" / "endpoint.py")
    endpoint = sys.modules["endpoint"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(endpoint)
    with endpoint.Endpoint(latency=latency) as server:
        print(server.address, flush=True)
        for _ in sys.stdin:
            print(len(server.asked), flush=True)


def ask(address: str, calls: int) -> None:
    """Ask about each conversation once, with the same request; print how many scores came."""
    from openai import OpenAI

    from sense7.judge.requests import Prompt, chats
    from sense7.loading import load

    prompts = [Prompt.bundled().text.replace("{chat}", chat) for chat in list(chats(load("synthetic")))[:calls]]
    client = OpenAI(base_url=address, api_key="none")

    def score(prompt: str) -> str:
        messages = [
            {"role": "system", "content": "You are a helpful AI assistant"},
            {"role": "user", "content": prompt},
        ]
        answer = client.chat.completions.create(
            model="judge", messages=messages, temperature=0, top_p=1, max_tokens=3000
        )
        return answer.choices[0].message.content.partition("<S2>")[2].partition("</S2>")[0]

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        print(json.dumps(list(pool.map(score, prompts))))


# --- measured --------------------------------------------------------------------------


class Server:
    """The endpoint, in a process of its own."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self.address = process.stdout.readline().strip()

    def asked(self) -> int:
        """How many requests came so far."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def serving(latency: float) -> Iterator[Server]:
    """An endpoint with this latency, for the length of a block."""
    command = [sys.executable, __file__, "serve", str(latency)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - commands of our own
    try:
        yield Server(process)
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def judge(counts: Counts) -> list[Row]:
    """A session of 672 calls, at two latencies; its memory; and that the same command again asks nothing."""
    calls = counts.of(672, 4)
    rows = []
    for key, (latency, most) in LATENCIES.items():
        work = f"judge: {calls:,} calls, {CONCURRENCY} at once, all recorded; endpoint with {latency:g} s latency"
        peer = f"{CONCURRENCY} threads with the openai client, nothing recorded"
        row = Row(key, work, peer, f"at most {most:g} times its time", ratio_at_least=1 / most)
        with serving(0.01 if counts.tiny else latency) as server, tempfile.TemporaryDirectory() as folder:
            memory = _measured(row, server, Path(folder), calls, counts)
        rows.append(row)
    limit = f"at most {MOST_MEMORY} MB"
    rows.append(Row("judge_memory", f"{work}: peak memory", "", limit, [memory], at_most=MOST_MEMORY, unit="MB"))
    return rows


def _measured(row: Row, server: Server, folder: Path, calls: int, counts: Counts) -> float:
    """Fill the row; peak memory of a session in megabytes."""
    sessions: list[Path] = []
    peer = [sys.executable, __file__, "ask", server.address, calls]

    def session(out: Path) -> list[str]:
        given = ["--data", "synthetic", "--model", "judge", "--base-url", server.address, "--yes", "--limit", calls]
        return [*SENSE7, "judge", "run", *given, "--concurrency", CONCURRENCY, "--out", out]

    def new_session() -> list[str]:
        sessions.append(folder / f"session {len(sessions)}")
        return session(sessions[-1])

    def theirs() -> None:
        assert json.loads(run(peer)) == ["4"] * calls

    in_turn(row, lambda: run(new_session()), theirs, counts.pairs)
    (seconds, memory), (peer_seconds, peer_memory) = _metered(new_session()), _metered(peer)
    asked = server.asked()
    assert asked == 2 * (counts.pairs + 2) * calls, f"{asked} requests"
    for out in sessions:
        run(session(out))
    assert server.asked() == asked, "a session that is complete asks nothing"
    row.note = (
        f"Both asked once for each conversation; the same command again sent nothing. The processor's time was "
        f"{seconds:.1f} s beside {peer_seconds:.1f} s, peak memory {memory:.0f} MB beside {peer_memory:.0f} MB."
    )
    return memory


def _metered(command: Sequence[str | Path]) -> tuple[float, float]:
    seconds, memory = run([sys.executable, "-c", METERED, *command]).split()
    return float(seconds), float(memory)


ENTRIES = {"judge": judge}


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(float(sys.argv[2]))
    else:
        ask(sys.argv[2], int(sys.argv[3]))
