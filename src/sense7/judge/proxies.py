"""The proxy that the environment names for an endpoint, and the hosts that it excludes from it (NO_PROXY)."""

import contextlib
import ipaddress
import os
import re
import urllib.request
from urllib.parse import urlsplit

from sense7.errors import UserError

__all__ = ["is_excluded", "proxy_for"]

_PORTS = {"http": 80, "https": 443}


def proxy_for(address: str) -> str | None:
    """Return the proxy that the environment names for an address; None if there is none, or it is excluded."""
    scheme, host = urlsplit(address).scheme, urlsplit(address).hostname or ""
    proxies = urllib.request.getproxies()
    if urllib.request.proxy_bypass(host) or is_excluded(address, proxies.get("no", "")):
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
        f"{source}: {problem}. Give one such as http://HOST:PORT; or unset it, or name {host} in NO_PROXY."
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
        is_named = (
            name == "*" or _is_host(host, name.removeprefix("*").strip(".")) or _is_in(host, name)
        )
        if is_named and entry_port in (None, port):
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


def _is_host(host: str, name: str) -> bool:
    """Whether a host is one of a name, or below it."""
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _is_in(host: str, name: str) -> bool:
    """Whether a host is an IP address in a range, or the same address in another form."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        addresses = {address, getattr(address, "ipv4_mapped", None)} - {None}
        network = ipaddress.ip_network(name, strict=False)
        return any(form in network for form in addresses)
    return False
