"""Binder's set-up, rehearsed on this machine: a notebook opens, and runs to its end.

In a new folder, as on Binder: the files under version control; a fresh environment that has JupyterLab, as
every image of Binder has; what environment.yml lists for pip; postBuild. Then JupyterLab is started on the
loopback address, a browser opens the address that a page's Binder button leads to, runs all cells and saves. What was
saved is read back through the server: every cell has to have run, and none may have failed.

    make rehearse                     # or: python evidence/binder.py 06-poor-turn --keep /tmp/binder

What is not rehearsed: conda, Binder's operating system, and its limits on memory.
"""

import argparse
import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import requests
import yaml
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STARTS_WITHIN = 90
"""Seconds in which the server has to answer."""

RESTS = 5
"""Looks, a second apart, at which the kernel is idle, until its run counts as over."""


class RehearsalError(Exception):
    """What would not work on Binder."""


def main() -> None:
    """Rehearse, and exit with 1 if anything fails."""
    parser = argparse.ArgumentParser(description="Rehearse Binder's set-up on this machine.")
    parser.add_argument("notebook", nargs="?", default="03-reliability", help="name of a notebook")
    parser.add_argument("--keep", type=Path, help="empty folder to work in, which is kept")
    parser.add_argument("--minutes", type=float, default=10, help="how long the notebook may run")
    chosen = parser.parse_args()
    notebook = f"notebooks/{chosen.notebook}.ipynb"
    with tempfile.TemporaryDirectory(prefix="binder-") as temporary:
        checkout = (chosen.keep or Path(temporary)).resolve() / "checkout"
        try:
            variables = make_environment(checkout, checkout.with_name("environment"))
            with server(checkout, variables) as (address, token):
                step(f"JupyterLab answers; opening {notebook} in a browser")
                judge(notebook, run_in_browser(address, token, notebook, chosen.minutes * 60))
        except (RehearsalError, BrowserError, requests.RequestException) as error:
            sys.exit(f"rehearsal failed: {error}")


def step(text: str) -> None:
    """Say what is being done."""
    print(f"- {text}", flush=True)


def command(arguments: list[str], folder: Path, variables: dict) -> str:
    """Run a program to its end; what it said is the error if it fails."""
    done = subprocess.run(  # noqa: S603 - commands of our own
        arguments, cwd=folder, env=variables, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise RehearsalError(f"{' '.join(arguments)} ended with {done.returncode}:\n{said}")
    return done.stdout


def make_environment(checkout: Path, place: Path) -> dict:
    """Copy the checkout, make what its environment.yml describes; give the variables under which programs are found."""
    # What is under version control, or would be at the next commit: Binder has no more.
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, command(listing, ROOT, dict(os.environ)).split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    described = yaml.safe_load((checkout / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    version = next(entry.partition("=")[2] for entry in described if str(entry).startswith("python="))
    python = shutil.which(f"python{version}") or sys.executable
    found = command([python, "--version"], checkout, dict(os.environ)).strip()
    step(f"a fresh environment: {found} (environment.yml: {version}; another version is not rehearsed)")
    command([python, "-m", "venv", str(place)], checkout, dict(os.environ))
    left_out = {"PYTHONPATH", "PYTHONHOME", "SENSE7_ROOT"}
    variables = {key: value for key, value in os.environ.items() if key not in left_out}
    variables |= {
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(place),
        # Nobody's own settings of Jupyter: they would be no part of Binder.
        **{f"JUPYTER_{name}_DIR": str(place / "jupyter" / name) for name in ("CONFIG", "DATA", "RUNTIME")},
        "IPYTHONDIR": str(place / "ipython"),
    }
    install = [str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip = next(entry["pip"] for entry in described if isinstance(entry, dict))
    for line in ["jupyterlab>=4,<5", *pip]:  # JupyterLab is there before anything of ours
        step(f"pip install {line}")
        command([*install, *line.split()], checkout, variables)
    step("postBuild; the package and the data are there")
    command([str(checkout / "postBuild")], checkout, variables)
    command(["sense7", "check", "synthetic"], checkout, variables)
    return variables


@contextlib.contextmanager
def server(checkout: Path, variables: dict) -> Iterator[tuple[str, str]]:
    """Start JupyterLab on the loopback address; end it, and its kernels, when the block is left."""
    token = secrets.token_urlsafe(24)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["jupyter", "lab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    arguments += ["--allow-root"] if os.geteuid() == 0 else []
    log = checkout.parent / "server.log"
    # By a variable: on the command line everyone on this machine could read it.
    with log.open("w") as stream:
        process = subprocess.Popen(  # noqa: S603 - commands of our own
            arguments, cwd=checkout, env=variables | {"JUPYTER_TOKEN": token}, stdout=stream, stderr=stream
        )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + STARTS_WITHIN
        while not answers(address, token):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RehearsalError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.5)
        yield address, token
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def answers(address: str, token: str) -> bool:
    """Whether the server is up."""
    try:
        return ask(address, token, "api/status").ok
    except requests.ConnectionError:
        return False


def ask(address: str, token: str, path: str) -> requests.Response:
    """Ask the server itself, past any proxy."""
    with requests.Session() as session:
        session.trust_env = False
        return session.get(f"{address}/{path}", headers={"Authorization": f"token {token}"}, timeout=30)


def run_in_browser(address: str, token: str, notebook: str, seconds: float) -> list[dict]:
    """Open the notebook as Binder's button does and run all of its cells; give them as they were saved."""
    path = os.environ.get("SENSE7_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise RehearsalError(f"no browser: none of {', '.join(BROWSERS)} is installed, and SENSE7_CHROMIUM names none")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/lab/tree/{notebook}?token={token}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90_000)
        # The page's own word, in its status bar: what is run before the kernel is connected is lost without a word.
        page.get_by_text("| Idle").first.wait_for(timeout=90_000)
        page.get_by_role("menuitem", name="Run", exact=True).first.click()
        # Exactly: another entry restarts the kernel first, and asks.
        page.locator(".lm-Menu").get_by_text("Run All Cells", exact=True).click()
        # Saved when the kernel has come to rest: in the midst of a run a dialog may stand in the way.
        deadline, idle_for, cells = time.monotonic() + seconds, 0, saved_cells(address, token, notebook)
        while not finished(cells) and time.monotonic() < deadline:
            page.wait_for_timeout(1_000)
            kernels = ask(address, token, "api/kernels").json()
            idle_for = idle_for + 1 if all(kernel["execution_state"] == "idle" for kernel in kernels) else 0
            if idle_for >= RESTS:
                page.keyboard.press("Control+s")
                page.wait_for_timeout(1_000)
                cells, idle_for = saved_cells(address, token, notebook), 0
        browser.close()
    return cells


def finished(cells: list[dict]) -> bool:
    """Whether every code cell has run, or one failed, after which none does."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    failed = any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
    return failed or all(cell.get("execution_count") for cell in code)


def saved_cells(address: str, token: str, notebook: str) -> list[dict]:
    """Cells of the notebook as it was saved, read through the server."""
    for _ in range(10):
        response = ask(address, token, f"api/contents/{notebook}")
        if response.ok:
            break
        time.sleep(1)  # it is just being saved
    content = response.json()
    if content.get("type") != "notebook":
        raise RehearsalError(f"{notebook} opens as {content.get('type')}, not as a notebook: {content.get('message')}")
    return content["content"]["cells"]


def judge(notebook: str, cells: list[dict]) -> None:
    """Say whether every cell ran, and none failed."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    failed = [f"{one['ename']}: {one['evalue']}" for one in outputs if one["output_type"] == "error"]
    silent = [cell["source"].splitlines()[:1] for cell in code if not cell.get("execution_count")]
    if failed or silent or not code:
        raise RehearsalError(f"{notebook}: {len(code)} code cells; failed: {failed}; not run: {silent}")
    shown = sum(bool(cell["outputs"]) for cell in code)
    print(f"{notebook}: all {len(code)} code cells ran without an error, {shown} of them show something")


if __name__ == "__main__":
    main()
