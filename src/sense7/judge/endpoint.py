"""The address of an OpenAI-compatible endpoint, the key for it, and the proxy on the way to it."""

import contextlib
import importlib.util
import ipaddress
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.judge.masking import masked
from sense7.judge.proxies import proxy_for
from sense7.processes import OPENAI_KEY, OWN_KEY

__all__ = ["Endpoint", "proxy_of"]


@dataclass(frozen=True)
class Endpoint:
    """An address and, if there is one, the key for it. Its ``repr`` does not show the key."""

    address: str
    key: str = field(default="", repr=False)
    key_name: str = ""

    @classmethod
    def of(
        cls,
        address: str | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        to_ask: bool = True,
    ) -> "Endpoint":
        """Check an address, and find the key for it in the environment. No message repeats what may hold a secret."""
        address = "https://api.openai.com/v1" if address is None else address.strip()
        environ = os.environ if environ is None else environ
        try:
            parts = urlsplit(address)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or any(map(str.isspace, address)):
            raise UserError(
                "--base-url has to be an address with http:// or https://: http://localhost:11434/v1."
            )
        has_version_alone = re.fullmatch(r"api-version=[\w.-]+", parts.query) and not parts.fragment
        if has_version_alone and "@" not in parts.netloc:
            instead = azure_address(address) or "the address that needs none"
            raise UserError(
                f"--base-url: api-version is not sent. Give {instead}, with the name of the deployment as --model."
            )
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise UserError(
                "--base-url may hold no credentials and no query: they would be written down. "
                f"Put a key into {OWN_KEY} instead."
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        bare = cls(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
        key_names = [OWN_KEY]
        if parts.scheme == "https" or bare.is_loopback:
            key_names.append(OPENAI_KEY)
        name = key = ""
        for key_name in key_names:
            if not key and environ.get(key_name, "").strip():
                name = key_name
                key = environ[key_name].strip()
        if key and not re.fullmatch("[!-~]+", key):
            raise UserError(
                f"{name} can't be a key: it holds blanks or characters beyond ASCII. Set it again."
            )
        if to_ask and not key and not bare.is_near:
            over = " (over http only the first is sent)" if parts.scheme == "http" else ""
            raise UserError(
                f"{bare.address}: there is no key for this endpoint. Put it into the environment as {OWN_KEY}, "
                f"{OPENAI_KEY}{over}; if it needs none, set {OWN_KEY}=none."
            )
        if to_ask and importlib.util.find_spec("aiohttp"):
            # Imported while the data are read. No daemon: Python's end would take OpenSSL away under it.
            threading.Thread(target=__import__, args=("aiohttp",)).start()
        return replace(bare, key=key, key_name=name)

    @property
    def identity(self) -> str:
        """What has to stay the same when a session is resumed: the address; of this machine, without its port."""
        parts = urlsplit(self.address)
        local = urlunsplit((parts.scheme, "localhost", parts.path, "", ""))
        return local if self.is_loopback else self.address

    @property
    def host(self) -> str:
        """Its host."""
        return urlsplit(self.address).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host == "localhost" or self.host.endswith(".localhost")

    @property
    def is_near(self) -> bool:
        """Whether the endpoint is on this machine or in its own network, where a call costs no money."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_private
        return self.is_loopback or self.host.endswith(".local") or "." not in self.host

    @property
    def headers(self) -> dict[str, str]:
        """Headers that carry the key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def without_key(self, text: str) -> str:
        """Replace the key in a text, plain or encoded, by ``[key]``."""
        return masked(text, self.key)


def azure_address(address: str) -> str:
    """Give the address of Azure that speaks as OpenAI does, for any other address of that host; else ""."""
    parts = urlsplit(address)
    is_azure = (
        re.search(r"\.azure(?:-api)?\.(?:com|us|cn|net)$", parts.hostname or "")
        or "/deployments" in parts.path
    )
    if not is_azure or re.search(r"/openai/v\d", parts.path):
        return ""
    return urlunsplit((parts.scheme, parts.netloc, "/openai/v1", "", ""))


def proxy_of(endpoint: Endpoint) -> str | None:
    """Return the proxy that the environment names for an endpoint; None if there is none."""
    return None if endpoint.is_loopback else proxy_for(endpoint.address)
