"""Jupyter Book's process for tests, forked from one that has imported it, which is half of what a small book takes.

``python forked_pages.py serve DESCRIPTOR`` is that process, on a listening socket; ``python forked_pages.py ask ADDRESS
DESCRIPTOR`` stands in the place of ``sense7.book.jupyter_book``, hands its files to the other, and ends as its copy
ended. Tests of that module itself, and builds that are started as a command, do without.
"""

import json
import os
import select
import socket
import sys

LARGEST = 1 << 17


def ask(address: str, work: str) -> int:
    """Have a copy made that does the work; give its exit code."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(address)
        socket.send_fds(line, [json.dumps(dict(os.environ)).encode()], [0, 1, 2, int(work)])
        return int(line.recv(16) or b"1")


def serve(descriptor: str) -> None:
    """Import what makes pages, then fork a copy for everyone who asks, until standard input is closed."""
    import gc
    import importlib

    from sense7.book.jupyter_book import _PRELOADED

    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=int(descriptor)) as listening:
        while listening in select.select([listening, 0], [], [])[0]:
            line, _ = listening.accept()
            with line:
                if os.fork() == 0:
                    listening.close()
                    answer(line)
            reap()


def reap() -> None:
    """Take note of copies that have ended, so that their time counts as this process's."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def answer(line: socket.socket) -> None:
    """Be the copy's parent, who knows how it ends; and in another fork the copy itself."""
    from sense7.book import jupyter_book

    message, files, _, _ = socket.recv_fds(line, LARGEST, 4)
    pid = os.fork()
    if pid:
        for file in files:
            os.close(file)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        try:
            line.send(str(code).encode())
        finally:
            os._exit(0)
    line.close()
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(json.loads(message))
    jupyter_book.main(files[3])
    sys.exit()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    sys.exit({"ask": ask, "serve": serve}[what](*arguments))
