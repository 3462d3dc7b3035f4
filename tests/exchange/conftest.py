"""Files of conversations, and the command that brings them in."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import naming
from sense7 import cli
from sense7.errors import UserError
from sense7.exchange import read_chats


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``sense7 import``; what a user can fix is its UserError."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        done = CliRunner().invoke(cli.app, ["import", *map(str, words)])
        if isinstance(done.exception, UserError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done

    return command


@pytest.fixture
def write(tmp_path):
    """Write a file: texts and bytes as they are, a list of records as JSON Lines, any other value as JSON."""

    def written(name, content, *, lines=False):
        path = Path(tmp_path / name)
        if lines:
            content = "".join(json.dumps(record) + "\n" for record in content)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.fixture
def read(write):
    """Read one file: the texts of each conversation, and what is left out by name."""

    def texts_and_left_out(name, content, **options):
        path = write(name, content, lines=name.endswith(".jsonl") and isinstance(content, list))
        chats, left_out = read_chats([path], **options)
        texts = [[(said.role, said.text) for said in chat.messages] for chat in chats]
        return texts, dict(left_out)

    return texts_and_left_out


@pytest.fixture
def refuse(read):
    """Require that a file is refused, with its place and the other names given."""

    def refused(name, content, *named):
        with naming.refused(f"{name}: ", *named):
            read(name, content)

    return refused
