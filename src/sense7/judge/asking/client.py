"""Requests to an OpenAI-compatible endpoint: what comes back, or why nothing came and whether to ask again."""

import asyncio
import contextlib
import json
import re
import ssl
import zlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from sense7.files import one_line
from sense7.judge.asking.answers import NoCompletion, read_response, words_of
from sense7.judge.asking.refusals import TOO_LONG, refusal_of
from sense7.judge.asking.waits import LONGEST_WAIT, asked_to_wait, is_too_large
from sense7.judge.endpoint import Endpoint, azure_address, proxy_of
from sense7.judge.masking import masked_in

__all__ = ["Client", "Unanswered"]

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_LONGEST_REASON = 400
_LONGEST_BEGINNING = 120

_GZIP = b"\x1f\x8b"
_MOST_PACKINGS = 3
_READ = {"", "identity", "gzip", "x-gzip", "gzip, gzip", "identity, gzip", "utf-8"}
"""Content-Encodings of what is read; a text in UTF-8 is no packing."""

_UNKNOWN_MODEL = re.compile(
    r"\b(?:model|deployment)\b.{0,200}?\b(?:not.?found|(?:does not|doesn't|not) exist|unknown|not available|no access)|"
    r"(?:unknown|no such|invalid|not.?found).{0,20}?\b(?:model|deployment)|model_not_found|DeploymentNotFound",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = re.compile(
    r"busy|overload|again|rate.?limit|capacity|time.?out|timed out|temporar|unavailable|upstream|loading|warm",
    re.IGNORECASE,
)
_SPENT = re.compile(
    "insufficient.(quota|balance|credit|funds)|billing|exceeded_current_quota|arrear", re.IGNORECASE
)
_AGAIN = {408, 409, 420, 424, 425, 429, 498, 499}
"""Statuses after which another attempt may bring an answer, beside those from 500."""

_NO_ENDPOINT = {404, 405, 410, 501}
_NO_ACCESS = {401, 402, 407, 511}
"""Statuses of what is no such endpoint, and of one that answers nobody like this: no call can be answered."""


class Unanswered(Exception):
    """A request that brought no answer, and whether another attempt may: what is not said of it is not so."""

    again = overrun = too_long = False
    final = strange = False
    """No call can be answered; no call can, unless one was."""
    wait: float | None = None
    stop = ""
    """Why no more are sent, if that is more than the reason."""

    def __init__(self, reason: str, **properties):
        super().__init__(reason)
        vars(self).update(properties)

    def without(self, endpoint: Endpoint) -> "Unanswered":
        """Give the same without the key of an endpoint."""
        return Unanswered(endpoint.without_key(str(self)), **masked_in(vars(self), endpoint.key))


class Client:
    """Connections to an endpoint, as many as there are requests at once; open inside ``async with``."""

    def __init__(self, endpoint: Endpoint, timeout: float):
        self._endpoint = endpoint
        self._timeout = timeout
        self._proxy = proxy_of(endpoint)

    async def __aenter__(self) -> "Client":
        import aiohttp

        trusted: ssl.SSLContext | bool = True
        if self._endpoint.address.startswith("https:"):
            import certifi

            # And certifi's, as some systems have no certificates for Python.
            trusted = ssl.create_default_context()
            trusted.load_verify_locations(certifi.where())
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trusted),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            headers={
                "Content-Type": "application/json",
                "Accept-Encoding": "gzip",
                **self._endpoint.headers,
            },
            auto_decompress=False,
        )
        return self

    async def __aexit__(self, *_) -> None:
        await self._session.close()

    async def ask(self, body: dict, seconds: float) -> dict:
        """Send a request once; what an answer keeps of the reply, without the key."""
        try:
            returned = await self._answer(body, seconds)
        except Unanswered as failed:
            raise failed.without(self._endpoint) from None
        return masked_in(returned, self._endpoint.key)

    async def _answer(self, body: dict, seconds: float) -> dict:
        """What an answer keeps of the reply to a request."""
        import aiohttp

        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._exchange(json.dumps(body).encode())
        except aiohttp.ClientError as error:
            raise self._broken_off(error) from None
        except TimeoutError:
            raise Unanswered(f"no answer within {self._timeout:g} seconds (--timeout)") from None
        try:
            response = masked_in(json.loads(_decoded(content, headers)), self._endpoint.key)
        except (ValueError, RecursionError) as error:
            response = self._endpoint.without_key(content.decode("utf-8", "replace"))
            if 200 <= status < 300:
                lacks = "text in UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON"
                raise self._no_json(headers, response, lacks) from None
        try:
            return read_response(status, response)
        except NoCompletion as problem:
            raise self._failure(status, headers, problem, body) from None

    def _broken_off(self, error: Exception) -> Unanswered:
        """What an error of the connection comes to."""
        import aiohttp

        if isinstance(error, aiohttp.ClientHttpProxyError) and error.status < 500:
            reason = (
                f"the proxy that your environment names lets nothing through (HTTP {error.status})"
            )
            return Unanswered(self.short(reason), final=True)
        # A proxy's address may have a password.
        words = re.sub(r"//[^/@\s]+@", "//", one_line(error))
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            reason = (
                "the endpoint's certificate is not trusted. Check the host in --base-url; for a server of your "
                f"own, name the file of its certificate in SSL_CERT_FILE ({words})"
            )
            return Unanswered(self.short(reason), final=True)
        reason = f"no connection, or one that broke off: {words}"
        return Unanswered(self.short(reason), again=True)

    def _no_json(self, headers: Mapping[str, str], text: str, lacks: str) -> Unanswered:
        """What a good response that is no JSON, or no text, comes to."""
        packing = headers.get("content-encoding", "").strip()
        if packing.casefold() not in _READ:
            reason = f"the reply is packed as {packing}, which was not asked for"
            return Unanswered(reason, strange=True)
        media_type = headers.get("content-type", "").partition(";")[0].strip()
        media_type = media_type or "of no stated type"
        description = f"empty ({media_type})"
        if text:
            words = (words_of(text[:20_000]) or text)[:_LONGEST_BEGINNING]
            words = "".join(char if char.isprintable() else "\ufffd" for char in words)
            description = f"{media_type}, which begins with {words!r}"
        reason = self.short(f"what was returned is no {lacks}, but {description}{self._hint}")
        return Unanswered(reason, again=True, strange=True)

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        if len(text) > _LONGEST_REASON:
            return f"{text[:_LONGEST_REASON]} .."
        return text

    @property
    def _hint(self) -> str:
        """Name the address as the likely cause, where it has no version in its path."""
        address = self._endpoint.address
        azure = azure_address(address)
        if azure:
            return f". The likely cause is the address: give --base-url {azure}, and the deployment as --model"
        path = urlsplit(address).path
        if re.search(r"/v\d", path):
            return ""
        if path in ("", "/"):
            return (
                f". The likely cause is the address, which has no /v1: give --base-url {address}/v1"
            )
        return f". The likely cause may be the address: requests go to {address}/chat/completions"

    async def _exchange(self, data: bytes):
        """Status, headers and content of a response; of a content beyond the limit no more is read."""
        request = self._session.post(
            f"{self._endpoint.address}/chat/completions",
            data=data,
            proxy=self._proxy,
            allow_redirects=False,
        )
        async with request as response:
            try:
                content = await response.content.readexactly(LARGEST_REPLY + 1)
                response.close()
            except asyncio.IncompleteReadError as ended:
                content = ended.partial
        for _ in range(_MOST_PACKINGS):
            if not content.startswith(_GZIP):  # its label may be missing, or wrong
                break
            try:
                content = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(
                    content, LARGEST_REPLY + 1
                )
            except zlib.error:
                raise Unanswered(
                    "the reply can't be unpacked (gzip)", again=True, strange=True
                ) from None
        if len(content) > LARGEST_REPLY:
            raise Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB")
        headers = {
            name.casefold(): self._endpoint.without_key(text)
            for name, text in response.headers.items()
        }
        return response.status, headers, content

    def _failure(
        self, status: int, headers: Mapping[str, str], problem: NoCompletion, body: dict
    ) -> Unanswered:
        """What a response without a completion comes to."""
        error = problem.details
        code = str(error.get("code"))
        if 200 <= status < 300:  # its status says nothing, but the error in it may have one
            if code.isdecimal():
                status = int(code)
            elif _PASSING.search(problem.words):
                status = 503
        if 300 <= status < 400:
            reason = (
                f"HTTP {status}: the endpoint redirects{_redirected_to(headers)}, and conversations are sent to "
                "no other address than the one given. If that is meant, give it as --base-url"
            )
            return Unanswered(self.short(reason), final=True)
        if status in (400, 413, 422):
            parameters = {
                name: value for name, value in body.items() if name not in ("model", "messages")
            }
            name, remedy = refusal_of(problem, parameters)
            reason = self.short(str(problem))
            if name == TOO_LONG and remedy:
                return Unanswered(f"{reason}. {remedy}", strange=True)
            if name == TOO_LONG:
                return Unanswered(reason, too_long=True)
            if name:
                stop = f"the endpoint refuses the parameter {name} ({reason}). {remedy}"
                return Unanswered(reason, final=True, stop=stop)
            return Unanswered(reason, strange=error.get("param") == "model")
        if status == 429 and is_too_large(problem.words):
            return Unanswered(self.short(str(problem)))
        wait = asked_to_wait(status, headers, problem.body, problem.words)
        is_good = status < 300
        is_nowhere = status in _NO_ENDPOINT
        is_spent = _SPENT.search(f"{code} {error.get('type')}") is not None
        is_hopeless = is_nowhere or status in _NO_ACCESS or is_spent
        again = not is_hopeless and (is_good or status in _AGAIN or status >= 500)
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(self.short(f"{problem} (asks to wait for {wait:,.0f} seconds)"))
        hint = ""
        if is_nowhere and _UNKNOWN_MODEL.search(f"{problem.words} {code}"):
            hint = ". Give the name by which the endpoint knows it (--model)"
        elif is_nowhere or is_good:
            hint = self._hint
        said = str(problem).rstrip(".") if hint else str(problem)
        return Unanswered(
            self.short(f"{said}{hint}"),
            again=again,
            wait=wait,
            overrun=status == 429 and wait is None,
            strange=is_good or is_hopeless,
        )


def _decoded(content: bytes, headers: Mapping[str, str]) -> str | bytes:
    """A response as text, if it is not in UTF-8 and says what it is in; else as it is."""
    charset = re.search(r"charset=\"?([\w.:-]+)", headers.get("content-type", ""), re.IGNORECASE)
    if charset:
        try:
            content.decode()
        except UnicodeDecodeError:
            with contextlib.suppress(LookupError, ValueError):
                return content.decode(charset[1])
    return content


def _redirected_to(headers: Mapping[str, str]) -> str:
    """Where a redirect leads: its host and path, without credentials and query."""
    try:
        target = urlsplit(headers.get("location", ""))
        port = target.port
    except ValueError:
        return ""
    if not target.hostname:
        return ""
    address = f"{target.scheme}://{target.hostname}"
    if port:
        address += f":{port}"
    return f" to {address}{target.path.removesuffix('/chat/completions')}"
