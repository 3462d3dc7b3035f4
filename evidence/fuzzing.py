"""Search for input that makes a reader crash, hang or swell: a run of atheris, guided by coverage.

    make fuzz                                        # or: python evidence/fuzzing.py
    python evidence/fuzzing.py tables claims --seconds 300

Each target of ``tests/fuzz/targets.py`` runs in a process of its own, from those in ``tests/fuzz/corpus/TARGET.zip``;
what it finds on the way stays in ``_build/fuzz/TARGET``, so that the next run goes on from there. An input that ends
a run is a finding: it is written to ``_build/fuzz/findings``, and the exit code is 1. Fix the reader, and add the
input to the archive under a name that says what it is: every ``make test`` replays the corpus, without atheris.

Atheris is no part of the lock, as it has wheels for Linux only. Install it beside it, and again after each change of
the lock: ``.venv/bin/python -m pip install 'atheris>=3,<4'``.
"""

import argparse
import importlib.util
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "fuzz"
WORK = ROOT / "_build" / "fuzz"
INSTRUMENTED = ["sense7", "yaml", "zipfile"]
"""Packages whose branches guide the search."""

HANGS = 30
"""Seconds by the clock after which a run is ended. A target allows less, by the processor's time: on a busy machine
the clock alone would find hangs that are none."""


def main() -> int:
    """Run the targets that were asked for, one after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="targets; all of them if none is given")
    parser.add_argument("--seconds", type=int, default=120, help="for each target (default: 120)")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed, and is no part of the lock. Install it beside it (Linux): "
            f"{sys.executable} -m pip install 'atheris>=3,<4'",
            file=sys.stderr,
        )
        return 2
    sys.path.insert(0, str(TESTS))
    if options.inside:
        return _fuzz(options.targets[0], options.inside)
    targets = options.targets or sorted(path.stem for path in (TESTS / "corpus").glob("*.zip"))
    failed = [name for name in targets if not _run(name, options.seconds)]
    if failed:
        print(f"Findings in {', '.join(failed)}: see {WORK / 'findings'}", file=sys.stderr)
    return 1 if failed else 0


def _run(name: str, seconds: int) -> bool:
    """Run one target; whether nothing was found."""
    import targets

    corpus = WORK / f"{name}.kept"
    new_inputs = WORK / name
    findings = WORK / "findings"
    for folder in (corpus, new_inputs, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for file_name, content in targets.kept(name).items():
        (corpus / file_name).write_bytes(content)
    dictionary = TESTS / "dictionaries" / f"{name}.dict"
    flags = [
        f"-max_total_time={seconds}",
        "-max_len=20000",
        "-rss_limit_mb=2048",
        f"-timeout={HANGS}",
        f"-artifact_prefix={findings}/{name}-",
        "-verbosity=1",
        "-print_final_stats=1",
    ]
    if dictionary.exists():
        flags.append(f"-dict={dictionary}")
    print(f"== {name}", flush=True)
    command = [sys.executable, __file__, name, "--inside", *flags, str(new_inputs), str(corpus)]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603 - this file itself


def _fuzz(name: str, arguments: list[str]) -> int:
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        import targets

    def timed(content: bytes) -> None:
        started = time.process_time()
        targets.TARGETS[name](content)
        seconds = time.process_time() - started
        if seconds > targets.SECONDS:
            raise TimeoutError(f"{len(content):,} bytes took {seconds:.0f} s")

    atheris.Setup([sys.argv[0], *arguments], timed)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
