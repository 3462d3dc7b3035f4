"""Where a judge is asked: the address of an OpenAI-compatible endpoint, and the key for it.

The key is read from the environment and held in memory. It stands in no file, log, page or message:
:meth:`Endpoint.without_key` takes it out of everything the endpoint returns, before anything is kept.
"""

import base64
import functools
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from sense7.errors import UserError

__all__ = ["Endpoint", "without_keys"]

DEFAULT_ADDRESS = "https://api.openai.com/v1"

OWN_KEY = "SENSE7_JUDGE_KEY"
AZURE_KEYS = ("AZUREAI_OPENAI_API_KEY", "AZUREAI_API_KEY", "AZURE_OPENAI_API_KEY")
OPENAI_KEY = "OPENAI_API_KEY"
KEYS = frozenset({OWN_KEY, *AZURE_KEYS, OPENAI_KEY})
"""Variables of the environment that a key may stand in."""

_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_FIT_FOR_HEADERS = re.compile(r"[!-~]+")
_SHORTEST_SECRET = 8
"""Shorter keys (EMPTY, ollama) are placeholders that local servers are given, and words that replies may hold."""


def without_keys(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give an environment for what asks no judge, such as the notebooks of a book: no key is in it."""
    return {name: value for name, value in (os.environ if environ is None else environ).items() if name not in KEYS}


@dataclass(frozen=True)
class Endpoint:
    """An address and, if there is one, the key for it. Its ``repr`` does not show the key."""

    address: str
    query: dict = field(default_factory=dict)
    key: str = field(default="", repr=False)
    key_name: str = ""
    account: dict = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, address: str | None = None, environ: Mapping[str, str] | None = None, *, to_ask: bool = True
    ) -> "Endpoint":
        """Check an address, and find the key for it in the environment."""
        address, query = _checked(DEFAULT_ADDRESS if address is None else address)
        environ = os.environ if environ is None else environ
        name, key = _find_key(address, environ)
        if to_ask and not key and not _is_near(address):
            azure = f"{AZURE_KEYS[0]} or " if _is_azure(address) else ""
            over = " (over http only the first is sent)" if urlsplit(address).scheme == "http" else ""
            raise UserError(
                f"{address}: there is no key for this endpoint. Put it into the environment as {OWN_KEY}, "
                f"{azure}{OPENAI_KEY}{over}; if it needs none, set {OWN_KEY}=none."
            )
        account = {
            header: environ[named] for header, named in _ACCOUNT.items() if name == OPENAI_KEY and environ.get(named)
        }
        return cls(address, query, key, name, account)

    @property
    def identity(self) -> str:
        """What has to stay the same when a session is resumed: the address; of this machine, without its port."""
        parts = urlsplit(self.address)
        if not self.is_loopback:
            return self.address
        return urlunsplit((parts.scheme, "localhost", parts.path, "", ""))

    @property
    def is_near(self) -> bool:
        """Whether the endpoint is on this machine or in its own network, where a call costs no money."""
        return _is_near(self.address)

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        return _is_loopback(urlsplit(self.address).hostname or "")

    @property
    def headers(self) -> dict[str, str]:
        """Headers that carry the key: Azure wants it in one of its own."""
        if not self.key:
            return {}
        if _is_azure(self.address):
            return {"api-key": self.key}
        return {"Authorization": f"Bearer {self.key}", **self.account}

    def without_key(self, text: str) -> str:
        """Replace the key in a text, plain or encoded, by ``[key]``."""
        return _pattern_of(self.key).sub("[key]", text) if len(self.key) >= _SHORTEST_SECRET else text


@functools.lru_cache(maxsize=8)
def _pattern_of(key: str) -> re.Pattern:
    """Pattern of a key: plain, in escapes of JSON and URLs, character by character; and the whole of it in Base64."""
    escaped = "".join(
        rf"(?:\\{{0,8}}{re.escape(char)}|\\{{1,8}}u00{code}|%(?:25){{0,4}}{code})"
        for char in key
        for code in [f"(?i:{ord(char):02x})"]
    )
    coded = []
    for offset, dependent in enumerate((0, 2, 3)):  # characters that depend on the bytes before the key as well
        whole = (offset + len(key)) * 8 // 6
        text = base64.b64encode(bytes(offset) + key.encode()).decode()[dependent:whole]
        coded.append("".join({"+": "[+-]", "/": r"\\{0,8}[/_]"}.get(char, char) for char in text))
    return re.compile(f"{escaped}|(?:{'|'.join(coded)})[A-Za-z0-9+/_-]?={{0,2}}")


def _checked(address: str) -> tuple[str, dict]:
    """The address without query and last slash, and its query. Messages do not repeat what may hold a secret."""
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UserError("--base-url is no address. Give one such as http://localhost:11434/v1.") from None
    if parts.scheme not in ("http", "https") or not host or any(map(str.isspace, address.strip())):
        raise UserError("--base-url has to begin with http:// or https:// and a host: http://localhost:11434/v1.")
    if parts.username is not None or parts.password is not None:
        raise UserError(f"--base-url holds credentials, which would be written down. Set {OWN_KEY} instead.")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if query.keys() - {"api-version"} or parts.fragment:
        raise UserError(
            f"--base-url may have no query but api-version: it would be written down. Put a key into {OWN_KEY} instead."
        )
    path = parts.path.rstrip("/")
    if path.endswith("/chat/completions"):
        raise UserError("--base-url goes up to and without /chat/completions. Leave that out.")
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), query


def _find_key(address: str, environ: Mapping[str, str]) -> tuple[str, str]:
    names = [OWN_KEY]
    if urlsplit(address).scheme == "https" or _is_loopback(urlsplit(address).hostname or ""):
        names += [*(AZURE_KEYS if _is_azure(address) else ()), OPENAI_KEY]
    for name in names:
        key = environ.get(name, "").strip()
        if key and not _FIT_FOR_HEADERS.fullmatch(key):
            raise UserError(f"{name} can't be a key: it holds blanks or characters beyond ASCII. Set it again.")
        if key:
            return name, key
    return "", ""


def _is_azure(address: str) -> bool:
    return (urlsplit(address).hostname or "").endswith((".azure.com", ".azure-api.net"))


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_near(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    if _is_loopback(host) or host.endswith(".local") or not {".", ":"} & set(host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
