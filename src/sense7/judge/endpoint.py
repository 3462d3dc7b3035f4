"""Where a judge is asked: the address of an OpenAI-compatible endpoint, and the key for it."""

import asyncio
import base64
import contextlib
import email.utils
import functools
import ipaddress
import json
import os
import re
import ssl
import time
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import FILTERED, NoCompletion, filter_refusal, read_completion, words_of
from sense7.judge.requests import REQUEST, TOKEN_LIMITS, by_model

__all__ = [
    "Client",
    "Endpoint",
    "Unanswered",
    "without_keys",
]

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


_LENGTH = re.compile(
    r"context.?(length|window|size|limit)|(prompt|input|request|messages?) (is|are) too (long|large)|"
    r"too many .{0,20}tokens|"
    r"(longer|larger|greater) than the (model'?s )?(maximum|max|context)|max(imum)? (model|input|prompt) (length|len)|"
    r"input length|max_model_len|reduce (the|your) (length|prompt|messages|input)|"
    r"exceeds? .{0,30}(maximum|context|input)",
    re.IGNORECASE,
)
_UNKNOWN_NAME = re.compile(
    r"unsupported[ _]parameter|not supported with this model|support(s|ed)? (the )?param|"
    r"un(recogni[sz]ed|known|expected)|"
    r"not permitted|cannot find|extra (input|field)|no such|not allowed",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:less than or equal to|at most|<=|\u2264|up to|no more than|maximum(?: value)?(?: allowed)?(?: of| is|:)?|"
    r"between [\d.]+ and|supports? only|range [\[(][\d.]+, ?)\s*'?(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?:unsupported|invalid) value|must be|should be|too (?:large|high|big|low|small)|at (?:most|least)|"
    r"less than|greater|"
    r"maximum|minimum|range|exceed|does not support '?[\d.]|only the default|between",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Refusal:
    """What an endpoint refused a request for."""

    name: str = ""
    remedy: str = ""
    too_long: bool = False
    one_prompt: bool = False


def refusal_of(problem, parameters: Mapping, model: str = "") -> Refusal:
    """Return what an endpoint refused, by the body of its answer: a name, a value, or a prompt that is too long."""
    said = problem if isinstance(problem, str) else json.dumps(_words(problem), ensure_ascii=False)
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    room = _room(said)
    if room is not None and limit:
        fewer = room // 2 if room < parameters[limit] else parameters[limit] // 2
        how = f"Lower it, so that the prompt and the answer fit: --param {limit}={fewer}"
        return Refusal(limit, how, one_prompt=True) if fewer >= _FEWEST else Refusal(too_long=True)
    code = str(problem.get("code")) if isinstance(problem, dict) else ""
    named = problem.get("param") if isinstance(problem, dict) else None
    head = re.split(r"[.\[]", named)[0] if isinstance(named, str) else ""
    is_name, is_value = bool(_UNKNOWN_NAME.search(said)), bool(_VALUE.search(said))
    if head not in parameters:
        folded = said.casefold().replace("_", "")
        places = {name: re.search(rf"\b{name.replace('_', '')}\b", folded) for name in parameters}
        found = {name: match.start() for name, match in places.items() if match}
        about_length = _LENGTH.search(said) or "context_length" in code
        if about_length and not (found and (is_name or (is_value and _BOUND.search(said) and not head))):
            return Refusal(too_long=True)
        if about_length and "context" in f"{said} {code}".casefold():
            return Refusal(too_long=True)
        head = min(found, key=found.get) if found else ""
    if not head:
        return Refusal()
    value = parameters[head]
    bounds = (rf"\b{re.escape(str(value))} > ([\d.]*\d)", r"[\[(] ?[\d.]+ ?, ?([\d.]*\d) ?[\])]", _BOUND)
    bound = next(filter(None, (re.search(pattern, said) for pattern in bounds)), None)
    most = float(bound[1]) if bound else None
    if (is_value or bound) and not is_name and type(value) in (int, float):
        if most is not None and value > most and (head not in TOKEN_LIMITS or most >= 1):
            return Refusal(head, f"Give --param {head}={most:g}" if most % 1 else f"Give --param {head}={int(most)}")
        if head in TOKEN_LIMITS:
            return Refusal(head, f"Lower it: --param {head}={max(1, value // 2)}")
    if head in TOKEN_LIMITS:
        other = next(name for name in TOKEN_LIMITS if name != head)
        return Refusal(head, f"Give --param {other}={value}")
    ours = head in REQUEST or head in by_model(model)["set"] or head == "response_format"
    return Refusal(head, f"Give --omit {head}" if ours else f"Leave out --param {head}")


_FEWEST = 50
"""Tokens in which a judge may just answer."""


def _room(said: str) -> int | None:
    """Tokens that a prompt leaves for the answer, where an endpoint says that both together do not fit."""
    if sums := re.search(r"([\d,]+) \+ ([\d,]+) > ([\d,]+)", said):
        prompt, most = _whole(sums[1]), _whole(sums[3])
    elif given := re.search(r"<= ?(\d+)\. Given: (\d+) inputs? tokens", said):
        prompt, most = _whole(given[2]), _whole(given[1])
    elif differs := re.search(r"[\d,]+ > ([\d,]+) - ([\d,]+)", said):
        prompt, most = _whole(differs[2]), _whole(differs[1])
    else:
        length = re.search(r"(?:context|model).{0,20}(?:length|window|size|limit)\D{0,30}([\d,]+)", said, re.IGNORECASE)
        used = re.search(
            r"([\d,]+)(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|text|prompt|input)|"
            r"(?:input|prompt|text) tokens)|"
            r"(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? ([\d,]+)",
            said,
            re.IGNORECASE,
        )
        if not length or not used:
            return None
        prompt, most = _whole(used[1] or used[2]), _whole(length[1])
    return max(0, most - prompt)


def _whole(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _words(problem) -> object:
    """What an endpoint says of a failure, without what it repeats of the request."""
    if isinstance(problem, dict):
        return {
            key: _words(value) for key, value in problem.items() if key in ("message", "msg", "loc", "detail", "error")
        }
    return [_words(one) for one in problem] if isinstance(problem, list) else problem


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
