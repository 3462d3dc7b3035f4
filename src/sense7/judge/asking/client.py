"""One request to an OpenAI-compatible endpoint: what it returned, or why it returned nothing.

By aiohttp, which is imported when a client is opened: of the common clients it takes the least processor time for a
call (a seventh of httpx's), and the only one whose cost for a call does not grow with the number of connections.
"""

import asyncio
import contextlib
import email.utils
import json
import os
import re
import ssl
import time
import urllib.request
import zlib
from urllib.parse import urlsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.asking.answers import FILTERED, NoCompletion, filter_refusal, read_completion, words_of
from sense7.judge.asking.endpoint import Endpoint
from sense7.judge.asking.parameters import Refusal, refusal_of

__all__ = ["Client", "Unanswered"]

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_LONGEST_REASON = 400

_GZIP = b"\x1f\x8b"

_PASSING = re.compile(
    r"busy|overload|again|rate.?limit|capacity|time.?out|timed out|temporar|unavailable|upstream|loading|warm",
    re.IGNORECASE,
)

_PATIENCE = 5.0
"""Seconds after which a list of models is given up."""

_CONTEXT_NAMES = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")
_NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER|HTTP_REQUEST|wrong version number", re.IGNORECASE)


class Unanswered(Exception):
    """A request that brought no answer."""

    def __init__(
        self,
        reason: str,
        *,
        again: bool,
        wait: float | None = None,
        silent: bool = False,
        overrun: bool = False,
        refusal: Refusal | None = None,
        final: bool = False,
        strange: bool = False,
    ):
        super().__init__(reason)
        self.again, self.wait, self.silent = again, wait, silent
        self.overrun, self.refusal, self.final, self.strange = overrun, refusal or Refusal(), final, strange


class Client:
    """Connections to an endpoint, as many as there are requests at once; open inside ``async with``."""

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint
        self._url = f"{endpoint.address}/chat/completions"
        self._proxy = proxy_of(endpoint)

    async def __aenter__(self) -> "Client":
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_certificates(self._url)),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            headers={"Content-Type": "application/json", "Accept-Encoding": "gzip", **self._endpoint.headers},
            auto_decompress=False,
        )
        return self

    async def __aexit__(self, *_) -> None:
        await self._session.close()

    async def ask(self, body: dict, seconds: float) -> dict:
        """Send a request once."""
        import aiohttp

        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._exchange(json.dumps(body).encode())
        except aiohttp.ClientError as error:
            said, why = one_line(error), _why_never(error)
            reason = f"{why} ({said})" if why else f"no connection, or one that broke off: {said}"
            raise Unanswered(self.short(reason), again=not why, final=bool(why)) from None
        try:
            said = json.loads(content)
        except (ValueError, RecursionError):
            said = None
            if 200 <= status < 300:
                reason = f"what was returned is no JSON, but {_kind_of(headers, content)}{self._hint()}"
                raise Unanswered(self.short(reason), again=True, strange=True) from None
        if not 200 <= status < 300:
            said = content.decode("utf-8", "replace") if said is None else said
            said = said[0] if isinstance(said, list) and len(said) == 1 else said
            problem = (said.get("error") or said) if isinstance(said, dict) else said
            refusal = filter_refusal(status, problem)
            if refusal is None:
                raise self._failure(status, headers, said, problem, body)
            returned = {"refusal": refusal, "finish_reason": FILTERED}
        else:
            try:
                returned = read_completion(said)
            except NoCompletion as error:
                passing = error.code in (408, 409, 425, 429) or (error.code or 0) >= 500 or _PASSING.search(error.words)
                reason = self.short(f"{error}{'' if passing else self._hint()}")
                again = bool(passing) or not 400 <= (error.code or 0) < 500
                raise Unanswered(reason, again=again, strange=not passing) from None
        clean = self._endpoint.without_key
        return {name: clean(said) if isinstance(said, str) else said for name, said in returned.items()}

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."

    def _hint(self) -> str:
        """Name the address as the likely cause, where it has no version in its path."""
        if self._endpoint.query or re.search(r"/v\d", urlsplit(self._endpoint.address).path):
            return ""
        return f". The likely cause is the address, which has no /v1: give --base-url {self._endpoint.address}/v1"

    async def context_length(self, model: str) -> int | None:
        """Ask the endpoint how many tokens the context of a model has; None if it does not say."""
        import aiohttp

        address = f"{self._endpoint.address}/models"
        try:
            async with (
                asyncio.timeout(_PATIENCE),
                self._session.get(
                    address, params=self._endpoint.query, proxy=self._proxy, allow_redirects=False
                ) as response,
            ):
                if response.status != 200 or "Content-Encoding" in response.headers:
                    return None
                content = await response.content.read(LARGEST_REPLY)
                while not response.content.at_eof() and len(content) < LARGEST_REPLY:
                    content += await response.content.read(LARGEST_REPLY)
            return _context_of(json.loads(content), model)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, RecursionError):
            return None

    async def _exchange(self, data: bytes):
        """Status, headers and content of the response; of a content beyond the limit no more is read."""
        request = self._session.post(
            self._url, data=data, params=self._endpoint.query, proxy=self._proxy, allow_redirects=False
        )
        async with request as response:
            packing = response.headers.get("Content-Encoding", "identity").strip().lower()
            if packing not in ("identity", "gzip"):
                raise Unanswered(f"the reply is packed as {packing}, which was not asked for", again=False)
            content, unpacking, start = bytearray(), None, b""
            async for part in response.content.iter_any():
                room = LARGEST_REPLY + 1 - len(content)
                if unpacking is None:  # whether it is packed is seen at its beginning, as its label may be wrong
                    start += part
                    if len(start) < len(_GZIP) and _GZIP.startswith(start):
                        continue
                    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if start.startswith(_GZIP) else False
                try:
                    content += unpacking.decompress(start or part, room) if unpacking else start or part
                except zlib.error:
                    raise Unanswered("the reply can't be unpacked (gzip)", again=True) from None
                start = b""
                if len(content) > LARGEST_REPLY:
                    response.close()
                    raise Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB", again=False)
            return response.status, response.headers, bytes(content) + start

    def _failure(self, status: int, headers, answer, problem, body: dict) -> Unanswered:
        if 300 <= status < 400:
            return Unanswered(self.short(_redirected(status, headers)), again=False, final=True)
        wait = _asked_to_wait(headers)
        words = words_of(answer)
        said = f"HTTP {status}: {words or 'without a message'}"
        code = problem.get("code") if isinstance(problem, dict) else None
        spent = code in ("insufficient_quota", "billing_hard_limit_reached")
        again = (status in (408, 409, 425, 429) or status >= 500) and not spent
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(self.short(f"{said} (asks to wait for {wait:,.0f} seconds)"), again=False)
        if status in (400, 413, 422):
            parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
            known = isinstance(problem, dict) and (problem.keys() & {"message", "detail", "param"})
            refusal = refusal_of(problem if known else words, parameters, body["model"])
            final = bool(refusal.name) and not refusal.one_prompt
            reason = f"{self.short(said)}. {refusal.remedy}" if refusal.one_prompt else self.short(said)
            model = isinstance(problem, dict) and problem.get("param") == "model"
            return Unanswered(reason, again=False, refusal=refusal, final=final, strange=refusal.one_prompt or model)
        nowhere = status in (404, 405, 410, 501)
        reason = self.short(f"{said}{self._hint() if nowhere else ''}")
        again = again and not nowhere
        strange = nowhere or spent or status in (401, 402)
        return Unanswered(reason, again=again, wait=wait, overrun=status == 429 and wait is None, strange=strange)


def require_extra(name: str, purpose: str) -> None:
    """Refuse to go on without a package of the extra ``judge``."""
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise UserError(
            f"{purpose} needs {name}, which is not installed. In a checkout: make judge. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )


def proxy_of(endpoint: Endpoint) -> str | None:
    """Return the proxy that the environment names for an endpoint; None if there is none."""
    parts = urlsplit(endpoint.address)
    if endpoint.is_loopback or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxies = urllib.request.getproxies()
    kind = next((kind for kind in (parts.scheme, "all") if proxies.get(kind, "").strip()), "")
    if not kind:
        return None
    proxy = proxies[kind].strip()
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    names = [name for name in os.environ if name.casefold() == f"{kind}_proxy" and os.environ[name]]
    named = " and ".join(sorted(names)) or f"the system's setting for {kind}"
    instead = f"Give one such as http://HOST:PORT; or unset it, or name {parts.hostname} in NO_PROXY"
    try:
        found = urlsplit(proxy)
        host, port = found.hostname, found.port
    except ValueError:
        host = port = None
    if host and found.scheme.casefold().startswith("socks"):
        raise UserError(f"{named}: names a SOCKS proxy ({found.scheme}), which can't be used here. {instead}.")
    usable = host and found.scheme.casefold() in ("http", "https") and found.path in ("", "/") and port != 0
    if not usable or any(map(str.isspace, proxy)):
        raise UserError(f"{named}: is no address of a proxy. {instead}.")
    return proxy


def _kind_of(headers, content: bytes) -> str:
    """What a body is that is no JSON: its type, and its first characters."""
    kind = headers.get("Content-Type", "").partition(";")[0].strip() or "of no stated type"
    if not content:
        return f"empty ({kind})"
    text = content[:20_000].decode("utf-8", "replace")
    shown = words_of(text) or text
    shown = "".join(char if char.isprintable() else "\ufffd" for char in shown)
    return f"{kind}, which begins with {shown[:_FIRST]!r}"


_FIRST = 120


def _certificates(url: str) -> ssl.SSLContext | bool:
    """What vouches for a host: the system's certificates, and certifi's, since some systems have none for Python."""
    if not url.startswith("https:"):
        return True
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _why_never(error) -> str:
    """Say why no request can reach an endpoint, where the failure of one shows it; "" if another may."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return (
            "the endpoint's certificate is not trusted. Check the host in --base-url; for a server of your own, name "
            "the file of its certificate in SSL_CERT_FILE"
        )
    if isinstance(error, aiohttp.ClientSSLError) and _NO_TLS.search(str(error)):
        return "the endpoint does not speak TLS. Begin --base-url with http: in place of https:"
    return ""


def _redirected(status: int, headers) -> str:
    where = urlsplit(headers.get("Location", ""))
    path = where.path.removesuffix("/chat/completions")
    to = (
        f" to {where.scheme}://{where.hostname}{f':{where.port}' if where.port else ''}{path}" if where.hostname else ""
    )
    return (
        f"HTTP {status}: the endpoint redirects{to}, and conversations are sent to no other address than the one "
        "given. If that is meant, give it as --base-url"
    )


def _context_of(listed, model: str) -> int | None:
    """Tokens of a model's context in a list of models."""
    models = listed.get("data") if isinstance(listed, dict) else None
    for entry in models if isinstance(models, list) else ():
        if isinstance(entry, dict) and entry.get("id") == model:
            found = [entry.get(name) for name in _CONTEXT_NAMES]
            return next((value for value in found if type(value) is int and value > 0), None)
    return None


def _asked_to_wait(headers) -> float | None:
    """Seconds that the endpoint asks to wait: a number, or a date in the form of HTTP."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    said = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError):
        until = email.utils.parsedate_to_datetime(said).timestamp()
        now = time.time()  # of this machine; the endpoint's own clock tells better how long it means
        with contextlib.suppress(TypeError, ValueError):
            now = email.utils.parsedate_to_datetime(headers.get("Date")).timestamp()
        return max(0.0, until - now)
    return None
