"""One request to an OpenAI-compatible endpoint: what it returned, or why it returned nothing.

By aiohttp, which is imported when a client is opened: of the common clients it takes the least processor time for a
call (a seventh of httpx's), and the only one whose cost for a call does not grow with the number of connections.
"""

import asyncio
import contextlib
import email.utils
import json
import re
import ssl
import time
import urllib.request
import zlib
from urllib.parse import urlsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.asking.answers import FILTERED, filter_refusal, read_completion
from sense7.judge.asking.endpoint import Endpoint
from sense7.judge.asking.parameters import is_too_long, refused_parameter

__all__ = ["Client", "Unanswered"]

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_LONGEST_REASON = 300

_PATIENCE = 5.0
"""Seconds after which a list of models is given up."""

_CONTEXT_NAMES = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")
_NEEDS_HTTPS = "the endpoint speaks TLS only. Begin --base-url with https: in place of http:"
_NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER|HTTP_REQUEST|wrong version number", re.IGNORECASE)
_TO_HTTPS = re.compile("HTTP request.{0,40}HTTPS", re.IGNORECASE)


class Unanswered(Exception):
    """A request that brought no answer.

    Attributes
    ----------
    again : bool
        Whether another attempt may bring one.
    wait : float or None
        Seconds that the endpoint asks to wait before it.
    silent : bool
        Whether nothing at all came.
    overrun : bool
        Whether the endpoint had too many requests, and does not say how long to wait.
    refused : str
        Parameter that the endpoint refused; "" if none.
    too_long : bool
        Whether the prompt is longer than the context of the model.
    final : bool
        Whether every other request would fail alike.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool,
        wait: float | None = None,
        silent: bool = False,
        overrun: bool = False,
        refused: str = "",
        too_long: bool = False,
        final: bool = False,
    ):
        super().__init__(reason)
        self.again, self.wait, self.silent = again, wait, silent
        self.overrun, self.refused, self.too_long, self.final = overrun, refused, too_long, final


class Client:
    """Connections to an endpoint, as many as there are requests at once; open inside ``async with``.

    Redirects are not followed: conversations go to the host that was named and to no other. Proxies are those of the
    environment, for this machine none.
    """

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint
        self._url = f"{endpoint.address}/chat/completions"
        self._proxy = _proxy(endpoint)

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
        """Send a request once.

        Parameters
        ----------
        body : dict
            Its JSON.
        seconds : float
            That it may take.

        Returns
        -------
        dict
            What :func:`sense7.judge.asking.answers.read_completion` takes from the reply, free of the key.

        Raises
        ------
        Unanswered
            With the reason in one line, free of the key.
        TimeoutError
            If it takes longer.
        """
        import aiohttp

        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._exchange(json.dumps(body).encode())
        except aiohttp.ClientError as error:
            raise await self._no_connection(error) from None
        if not 200 <= status < 300:
            problem = _problem(content)
            refusal = filter_refusal(status, problem)
            if refusal is None:
                raise self._failure(status, headers, problem, body)
            returned = {"refusal": refusal, "finish_reason": FILTERED}
        else:
            try:
                returned = read_completion(json.loads(content))
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
                raise Unanswered("what was returned is no JSON", again=True) from None
            except ValueError as error:
                raise Unanswered(self.short(str(error)), again=True) from None
        clean = self._endpoint.without_key
        return {name: clean(said) if isinstance(said, str) else said for name, said in returned.items()}

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."

    async def context_length(self, model: str) -> int | None:
        """Ask the endpoint how many tokens the context of a model has; None if it does not say.

        Servers such as vLLM, LM Studio and OpenRouter say so in their list of models.
        """
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

    async def _no_connection(self, error) -> Unanswered:
        """Why there was no connection, or what broke it off."""
        import aiohttp

        said, why = one_line(error), _why_never(error)
        if (
            isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientResponseError))
            and await self._speaks_tls()
        ):
            why = _NEEDS_HTTPS
        if why:
            return Unanswered(self.short(f"{why} ({said})"), again=False, final=True)
        return Unanswered(self.short(f"no connection, or one that broke off: {said}"), again=True)

    async def _speaks_tls(self) -> bool:
        """Whether the endpoint of an address with http: greets as TLS does; nothing is sent but the greeting."""
        parts = urlsplit(self._url)
        if parts.scheme != "http" or self._proxy:
            return False
        any_certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        any_certificate.check_hostname, any_certificate.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(_PATIENCE):
                _, writer = await asyncio.open_connection(parts.hostname, parts.port or 80, ssl=any_certificate)
        except (OSError, TimeoutError):
            return False
        writer.transport.abort()
        return True

    async def _exchange(self, data: bytes):
        """Status, headers and content of the response; of a content beyond the limit no more is read."""
        request = self._session.post(
            self._url, data=data, params=self._endpoint.query, proxy=self._proxy, allow_redirects=False
        )
        async with request as response:
            packing = response.headers.get("Content-Encoding", "identity").strip().lower()
            if packing not in ("identity", "gzip"):
                raise Unanswered(f"the reply is packed as {packing}, which was not asked for", again=False)
            content, unpacking = bytearray(), zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            async for part in response.content.iter_any():
                room = LARGEST_REPLY + 1 - len(content)
                try:
                    content += part if packing == "identity" else unpacking.decompress(part, room)
                except zlib.error:
                    raise Unanswered("the reply can't be unpacked (gzip)", again=True) from None
                if len(content) > LARGEST_REPLY:
                    response.close()
                    raise Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB", again=False)
            return response.status, response.headers, bytes(content)

    def _failure(self, status: int, headers, problem, body: dict) -> Unanswered:
        if 300 <= status < 400:
            return Unanswered(self.short(_redirected(status, headers)), again=False, final=True)
        wait = _asked_to_wait(headers)
        message = problem.get("message") if isinstance(problem, dict) else problem
        said = self.short(f"HTTP {status}: {message if isinstance(message, str) and message else 'without a message'}")
        code = problem.get("code") if isinstance(problem, dict) else None
        spent = code in ("insufficient_quota", "billing_hard_limit_reached")
        again = (status in (408, 409, 425, 429) or status >= 500) and not spent
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(f"{said} (asks to wait for {wait:,.0f} seconds)", again=False)
        if status in (400, 422):
            if self._url.startswith("http:") and _TO_HTTPS.search(str(problem)):
                return Unanswered(self.short(f"{_NEEDS_HTTPS} ({said})"), again=False, final=True)
            parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
            refused = refused_parameter(problem, parameters)
            return Unanswered(said, again=False, refused=refused, final=bool(refused), too_long=is_too_long(problem))
        return Unanswered(said, again=again, wait=wait, overrun=status == 429 and wait is None)


def require_extra(name: str, purpose: str) -> None:
    """Refuse to go on without a package of the extra ``judge``.

    Raises
    ------
    UserError
        If it is not installed.
    """
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise UserError(
            f"{purpose} needs {name}, which is not installed. In a checkout: make judge. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )


def _proxy(endpoint: Endpoint) -> str | None:
    parts = urlsplit(endpoint.address)
    if endpoint.is_loopback or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


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


def _problem(content: bytes):
    """What the body of a failure says of it: the object ``error`` where there is one, else all of it."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace").strip()
    if isinstance(body, list) and body:
        body = body[0]
    return body.get("error", body) if isinstance(body, dict) else body


def _asked_to_wait(headers) -> float | None:
    """Seconds that the endpoint asks to wait: a number, or a date in the form of HTTP."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    said = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    return None
