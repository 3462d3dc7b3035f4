"""The network half of fetching: a file from the web, and whether it is what was asked for.

Every answer is looked at before it is followed or read: the way has to be safe and may not lead to
another host than the one that was asked, and no more is read than a workbook can have. What goes wrong is
said in one sentence, with how to fix it. What is known of the file afterwards is for :mod:`sense7.sources`.
"""

import contextlib
import ipaddress
import re
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.workbook.xlsx import read_sheets

__all__ = ["download", "public_address", "require_content", "require_workbook"]

TIMEOUT = (15, 60)
"""Seconds to wait for a connection, and for the next bytes."""

LARGEST = 256 * 2**20
"""Bytes a download may have. The workbook is a few megabytes; a server that never stops is cut off."""


def download(name: str, address: str, part: Path, *, copy: str) -> None:
    """Download by pooch, with every answer looked at before it is followed or read.

    Parameters
    ----------
    name : str
        Name of the data set, for messages.
    address : str
        Where the file lies.
    part : Path
        Where it is written to. An OSError is one of writing, never of the network.
    copy : str
        What may be given as ``--mirror`` where the place can't be reached, for messages.

    Raises
    ------
    UserError
        If the address or where it leads isn't allowed, the place can't be reached, or too much comes.
    """
    import pooch
    import requests  # this and urllib3 come with pooch, which raises their errors
    import urllib3

    _require_allowed(address)
    answers = []

    def look(answer, *_args, **_options):
        answers.append(answer)
        first_address = answers[0].url  # the address as requests writes it
        _require_allowed(answer.url, origin=first_address)
        if answer.is_redirect:
            _require_allowed(urljoin(answer.url, answer.headers["location"]), origin=first_address)
        length = answer.headers.get("content-length", "0")
        if int(length) > LARGEST:
            raise UserError(_too_large())

    bring = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=2**16,
        timeout=TIMEOUT,
        hooks={"response": look},
        headers={"Accept-Encoding": "identity"},  # so that the length is the file's
    )
    try:
        with part.open("wb") as stream:
            bring(address, _Capped(stream), None)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        # RequestException is an OSError too: caught here, before it could pass for a full disk.
        raise UserError(_network_message(name, address, error, copy)) from None
    finally:
        for answer in answers:
            answer.close()


class _Capped:
    """A file to write to that takes no more than LARGEST bytes."""

    def __init__(self, stream):
        self.stream = stream
        self.written = 0

    def write(self, chunk: bytes) -> int:
        self.written += len(chunk)
        if self.written > LARGEST:
            raise UserError(_too_large())
        return self.stream.write(chunk)

    def flush(self) -> None:
        self.stream.flush()


def _too_large() -> str:
    return f"What comes is larger than {LARGEST // 2**20} MB, so it isn't the data set. Nothing was kept."


def _require_allowed(address: str, *, origin: str | None = None) -> None:
    """Refuse an address that isn't https, hides its host, or leads away from where one asked."""
    server = None
    with contextlib.suppress(ValueError):
        server = _server_of(address)
    if server is None:
        raise UserError(
            f"{public_address(address)!r:.200}: not an address that can be fetched. "
            "Give https://HOST/PATH without a password, or a file."
        )
    scheme, host, _ = server
    is_local = host == "localhost"
    with contextlib.suppress(ValueError):
        is_local |= ipaddress.ip_address(host).is_loopback
    if scheme != "https" and not (scheme == "http" and is_local):
        raise UserError(
            f"{public_address(address)!r:.200}: refused, as {scheme} can be altered on its way. "
            "Give an https address, or a file."
        )
    if origin is None:
        return
    if server != _server_of(origin):
        raise UserError(
            f"{public_address(origin)}: refused to follow it to another host, {host}. If you trust that one, "
            "give its address as --mirror; the copy is then labelled unverified."
        )


def _server_of(address: str) -> tuple[str, str, int] | None:
    """Give scheme, host and port; None if different programs could read the address differently."""
    parts = urlsplit(address)
    odd = set(address) & set("\\<>\"'`{}|^") or any(ord(character) <= 32 for character in address)
    if odd or not parts.hostname or "@" in parts.netloc:
        return None
    usual_port = {"http": 80, "https": 443}.get(parts.scheme, 0)
    return parts.scheme, parts.hostname, parts.port or usual_port


def _network_message(name: str, address: str, error: Exception, copy: str) -> str:
    """Say in one sentence what went wrong and what to do."""
    from requests import exceptions
    from urllib3.exceptions import ReadTimeoutError

    host = urlsplit(address).hostname
    inner = error.args[0] if error.args else None
    cause = getattr(inner, "reason", inner)
    problem = f"no connection to {host} ({_brief(cause)})"
    fix = "Check that this machine has a network connection"
    if isinstance(error, exceptions.ProxyError):
        problem = "the proxy refuses or can't be reached"
        fix = "Check HTTPS_PROXY and NO_PROXY"
    elif isinstance(error, exceptions.SSLError):
        problem = f"no safe connection to {host} ({_brief(cause)})"
        fix = "Check this machine's clock and certificates; a filter on your network may be in between"
    elif isinstance(error, exceptions.HTTPError):
        problem = f"{host} answers with an error (HTTP {error.response.status_code})"
        fix = "The file may have moved, or be refused to you: look at the repository, or try again later"
    elif isinstance(error, exceptions.Timeout) or isinstance(inner, ReadTimeoutError):
        problem = f"{host} doesn't answer in time"
        fix = "Try again later"
    elif not isinstance(error, exceptions.ConnectionError):
        problem = f"what {host} sends can't be read ({_brief(error)})"
        fix = "Run the command again"
    return (
        f"{name}: {problem}. {fix}, or use a copy from elsewhere: sense7 fetch {name} --mirror {copy}. "
        f"Asked: {public_address(address)}"
    )


def public_address(address: str) -> str:
    """Give an address without password, query and fragment, any of which may be a secret."""
    start = re.split(r"[?#]", address, maxsplit=1)[0]
    return re.sub(r"(?<=//)[^/\\]*@", "", start)


def _brief(reason) -> str:
    """One short line, without the address of an object in memory."""
    text = str(reason)
    if isinstance(reason, Exception):
        text = one_line(reason)  # its name where it has no text
    return " ".join(text.split()).rpartition(">: ")[2][:160] or "no reason given"


_KEPT = "Nothing was kept; give the address of the file itself, not of a page about it."


def require_content(part: Path, expected: str) -> None:
    """Refuse what stands in for a file where there is none: nothing, a pointer to it, a web page.

    Parameters
    ----------
    part : Path
        What was downloaded.
    expected : str
        What it should be, for messages.

    Raises
    ------
    UserError
        If it is one of these.
    """
    with part.open("rb") as stream:
        start = stream.read(200)
    if not start:
        raise UserError(f"what came is empty. {_KEPT}")
    if start.startswith(b"version https://git-lfs"):
        raise UserError(f"what came is a Git LFS pointer, not {expected}. {_KEPT}")
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        raise UserError(f"what came is a web page, not {expected}. {_KEPT}")


def require_workbook(part: Path) -> None:
    """Refuse what is no workbook of the official format: an error page above all."""
    require_content(part, "the workbook")
    try:
        sheets = {name.strip().casefold() for name in read_sheets(part)}
    except UserError as error:
        # The temporary file's path would mean nothing to the reader, who can't open it any more.
        reason = str(error).removeprefix(f"{part}: ")
        raise UserError(f"what came isn't the workbook: {reason} Nothing was kept.") from None
    missing = [name for name in ("Tasks", "Messages") if name.casefold() not in sheets]
    if missing:
        raise UserError(
            f"what came is a workbook, but not SENSE-7: without the sheet {' and '.join(missing)}. {_KEPT}"
        )
