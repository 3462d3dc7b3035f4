"""The address of an OpenAI-compatible endpoint, the key for it, and the proxy on the way to it, or none (NO_PROXY)."""

import contextlib
import importlib.util
import ipaddress
import os
import re
import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.judge.masking import masked
from sense7.processes import OPENAI_KEY, OWN_KEY

__all__ = ["Endpoint", "proxy_of"]

_PORTS = {"http": 80, "https": 443}


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
        keys = {name: environ.get(name, "").strip() for name in key_names}
        name = next(filter(keys.get, keys), "")
        key = keys.get(name, "")
        # With quotation marks it is wrong, and not found where an endpoint repeats it without.
        if key and not re.fullmatch("(?![\"'])[!-~]+(?<![\"'])", key):
            raise UserError(
                f"{name} can't be a key: it holds blanks, quotation marks at its ends, or characters "
                "beyond ASCII. Set it again."
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
    """Return the proxy that the environment names for an endpoint; None if there is none, or it is excluded."""
    if endpoint.is_loopback:
        return None
    scheme = urlsplit(endpoint.address).scheme
    proxies = urllib.request.getproxies()
    excluded = proxies.get("no", "")
    if urllib.request.proxy_bypass(endpoint.host) or is_excluded(endpoint.address, excluded):
        return None
    setting = scheme
    if not proxies.get(scheme, "").strip():
        setting = "all"
    proxy = proxies.get(setting, "").strip()
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    problem = "is no address of a proxy"
    with contextlib.suppress(ValueError):
        parts = urlsplit(proxy)
        is_plain = parts.hostname and parts.port != 0 and parts.path in ("", "/")
        has_blanks = any(map(str.isspace, proxy))
        if is_plain and not has_blanks and parts.scheme in ("http", "https"):
            return proxy
        if parts.scheme.startswith("socks"):
            problem = f"names a SOCKS proxy ({parts.scheme}), which can't be used here"
    variables = sorted(
        name for name in os.environ if name.casefold() == f"{setting}_proxy" and os.environ[name]
    )
    source = " and ".join(variables) or f"the system's setting for {setting}"
    raise UserError(
        f"{source}: {problem}. Give one such as http://HOST:PORT; or unset it, or name {endpoint.host} in NO_PROXY."
    )


def is_excluded(address: str, no_proxy: str) -> bool:
    """Whether NO_PROXY names the host of an address, as curl and requests read it.

    An entry is a host with all that is below it (with or without a leading dot), an IP address, a range of these
    (10.0.0.0/8), any of them with a port, or a star for every host.

    Examples
    --------
    >>> is_excluded("http://10.20.30.40/v1", "localhost,10.20.0.0/16"), is_excluded("http://a.example/v1", "b.example")
    (True, False)
    >>> is_excluded("https://llm.host.example/v1", ".host.example:443"), is_excluded("http://[fd00::1]/v1", "fd00::/8")
    (True, True)
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or _PORTS.get(parts.scheme)
    for entry in re.split(r"[\s,;]+", no_proxy.casefold()):
        name, entry_port = _split(entry)
        domain = name.removeprefix("*").strip(".")
        is_below = domain and f".{host}".endswith(f".{domain}")
        if entry_port in (None, port) and (name == "*" or is_below or _is_in(host, name)):
            return True
    return False


def _split(entry: str) -> tuple[str, int | None]:
    """Host and port of an entry; an IPv6 address has a port only behind its brackets."""
    parts = re.fullmatch(
        r"\[(?P<address>[^\]]*)\](?P<range>/\d+)?(?::(?P<port>\d{1,5}))?", entry
    ) or re.fullmatch(r"(?P<address>[^:]*)(?P<range>):(?P<port>\d{1,5})", entry)
    if parts is None:
        return entry, None
    port = int(parts["port"]) if parts["port"] else None
    return parts["address"] + (parts["range"] or ""), port


def _is_in(host: str, name: str) -> bool:
    """Whether a host is an IP address in a range, or the same address in another form."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        addresses = {address, getattr(address, "ipv4_mapped", None)} - {None}
        network = ipaddress.ip_network(name, strict=False)
        return any(form in network for form in addresses)
    return False
