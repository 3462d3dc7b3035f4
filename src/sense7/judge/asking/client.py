"""One request to an OpenAI-compatible endpoint: what it returned, or why it returned nothing.

By aiohttp, which is imported when a client is opened: of the common clients it takes the least processor time for a
call (a seventh of httpx's), and the only one whose cost for a call does not grow with the number of connections.
"""

import asyncio
import contextlib
import email.utils
import json
import ssl
import time
import urllib.request
import zlib
from urllib.parse import urlsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.asking.answers import FILTERED, filter_refusal, read_completion
from sense7.judge.asking.endpoint import Endpoint

__all__ = ["Client", "Unanswered"]

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_LONGEST_REASON = 300


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
    """

    def __init__(self, reason: str, *, again: bool, wait: float | None = None, silent: bool = False):
        super().__init__(reason)
        self.again, self.wait, self.silent = again, wait, silent


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
            raise Unanswered(
                self.short(f"no connection, or one that broke off: {one_line(error)}"), again=True
            ) from None
        if not 200 <= status < 300:
            problem = _problem(content)
            refusal = filter_refusal(status, problem)
            if refusal is None:
                raise self._failure(status, headers, problem)
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

    def _failure(self, status: int, headers, problem) -> Unanswered:
        wait = _asked_to_wait(headers)
        message = problem.get("message") if isinstance(problem, dict) else problem
        said = self.short(f"HTTP {status}: {message if isinstance(message, str) and message else 'without a message'}")
        code = problem.get("code") if isinstance(problem, dict) else None
        spent = code in ("insufficient_quota", "billing_hard_limit_reached")
        again = (status in (408, 409, 425, 429) or status >= 500) and not spent
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(f"{said} (asks to wait for {wait:,.0f} seconds)", again=False)
        return Unanswered(said, again=again, wait=wait)


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


def _problem(content: bytes):
    """What the body of a failure says of it: the object ``error`` where there is one, else all of it."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace").strip()
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
