"""Where a judge is asked: the address of an OpenAI-compatible endpoint, the key for it, and one request to it."""

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

__all__ = ["Client", "Endpoint", "Unanswered", "without_keys"]

DEFAULT_ADDRESS = "https://api.openai.com/v1"

OWN_KEY = "SENSE7_JUDGE_KEY"
AZURE_KEYS = ("AZUREAI_OPENAI_API_KEY", "AZUREAI_API_KEY", "AZURE_OPENAI_API_KEY")
OPENAI_KEY = "OPENAI_API_KEY"
KEYS = frozenset({OWN_KEY, *AZURE_KEYS, OPENAI_KEY})
"""Variables of the environment that a key may stand in."""

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_SHORTEST_SECRET = 8
"""Shorter keys (EMPTY, ollama) are placeholders that local servers are given, and words that replies may hold."""

_LONGEST_REASON = 400
_LONGEST_BEGINNING = 120
_PATIENCE = 5.0
"""Seconds after which a list of models is given up."""

_FEWEST = 50
"""Tokens in which a judge may just answer."""


def without_keys(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give an environment for what asks no judge, such as the notebooks of a book: no key is in it."""
    return {name: value for name, value in (os.environ if environ is None else environ).items() if name not in KEYS}


# Address and key


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
        """Check an address, and find the key for it in the environment. No message repeats what may hold a secret."""
        address = (DEFAULT_ADDRESS if address is None else address).strip()
        environ = os.environ if environ is None else environ
        try:
            parts = urlsplit(address)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise UserError("--base-url is no address. Give one such as http://localhost:11434/v1.") from None
        query, path = dict(parse_qsl(parts.query, keep_blank_values=True)), parts.path.rstrip("/")
        if parts.scheme not in ("http", "https") or not host or any(map(str.isspace, address)):
            raise UserError("--base-url has to begin with http:// or https:// and a host: http://localhost:11434/v1.")
        if parts.username is not None or parts.password is not None:
            raise UserError(f"--base-url holds credentials, which would be written down. Set {OWN_KEY} instead.")
        if query.keys() - {"api-version"} or parts.fragment:
            raise UserError(
                "--base-url may have no query but api-version: it would be written down. "
                f"Put a key into {OWN_KEY} instead."
            )
        if path.endswith("/chat/completions"):
            raise UserError("--base-url goes up to and without /chat/completions. Leave that out.")
        bare = cls(urlunsplit((parts.scheme, parts.netloc, path, "", "")), query)
        azure = AZURE_KEYS if bare.is_azure else ()
        names = [OWN_KEY, *azure, OPENAI_KEY] if parts.scheme == "https" or bare.is_loopback else [OWN_KEY]
        name, key = next(((name, key) for name in names if (key := environ.get(name, "").strip())), ("", ""))
        if key and not re.fullmatch("[!-~]+", key):
            raise UserError(f"{name} can't be a key: it holds blanks or characters beyond ASCII. Set it again.")
        if to_ask and not key and not bare.is_near:
            over = " (over http only the first is sent)" if parts.scheme == "http" else ""
            raise UserError(
                f"{bare.address}: there is no key for this endpoint. Put it into the environment as {OWN_KEY}, "
                f"{f'{azure[0]} or ' if azure else ''}{OPENAI_KEY}{over}; if it needs none, set {OWN_KEY}=none."
            )
        headers = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        account = {header: environ[one] for header, one in headers.items() if name == OPENAI_KEY and environ.get(one)}
        return cls(bare.address, query, key, name, account)

    @property
    def identity(self) -> str:
        """What has to stay the same when a session is resumed: the address; of this machine, without its port."""
        parts = urlsplit(self.address)
        return urlunsplit((parts.scheme, "localhost", parts.path, "", "")) if self.is_loopback else self.address

    @property
    def host(self) -> str:
        """Its host."""
        return urlsplit(self.address).hostname or ""

    @property
    def is_azure(self) -> bool:
        """Whether it is one of Azure's, which want the key in a header of their own."""
        return self.host.endswith((".azure.com", ".azure-api.net"))

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
        if not self.key:
            return {}
        return {"api-key": self.key} if self.is_azure else {"Authorization": f"Bearer {self.key}", **self.account}

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


def proxy_of(endpoint: Endpoint) -> str | None:
    """Return the proxy that the environment names for an endpoint; None if there is none."""
    if endpoint.is_loopback or urllib.request.proxy_bypass(endpoint.host):
        return None
    proxies = urllib.request.getproxies()
    kinds = (urlsplit(endpoint.address).scheme, "all")
    kind, proxy = next(((kind, said) for kind in kinds if (said := proxies.get(kind, "").strip())), ("", ""))
    if not kind:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    names = [name for name in os.environ if name.casefold() == f"{kind}_proxy" and os.environ[name]]
    named = " and ".join(sorted(names)) or f"the system's setting for {kind}"
    instead = f"Give one such as http://HOST:PORT; or unset it, or name {endpoint.host} in NO_PROXY"
    with contextlib.suppress(ValueError):
        parts = urlsplit(proxy)
        if parts.hostname and parts.scheme.startswith("socks"):
            raise UserError(f"{named}: names a SOCKS proxy ({parts.scheme}), which can't be used here. {instead}.")
        is_plain = parts.path in ("", "/") and not any(map(str.isspace, proxy))
        if parts.hostname and parts.port != 0 and parts.scheme in ("http", "https") and is_plain:
            return proxy
    raise UserError(f"{named}: is no address of a proxy. {instead}.")


def require_extra(name: str, purpose: str) -> None:
    """Refuse to go on without a package of the extra ``judge``."""
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise UserError(
            f"{purpose} needs {name}, which is not installed. In a checkout: make judge. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )


# What an endpoint refuses

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
_BOUND = (
    r"(?i)(?:less than or equal to|at most|<=|\u2264|up to|no more than|maximum(?: value)?(?: allowed)?(?: of| is|:)?|"
    r"between [\d.]+ and|supports? only|range [\[(][\d.]+, ?)\s*'?(\d+(?:\.\d+)?)"
)
_VALUE = re.compile(
    r"(?:unsupported|invalid) value|must be|should be|too (?:large|high|big|low|small)|at (?:most|least)|"
    r"less than|greater|"
    r"maximum|minimum|range|exceed|does not support '?[\d.]|only the default|between",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"(?:context|model).{0,20}(?:length|window|size|limit)\D{0,30}(?P<most>[\d,]+)", re.IGNORECASE)
_USED = re.compile(
    r"([\d,]+)(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|text|prompt|input)|"
    r"(?:input|prompt|text) tokens)|"
    r"(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? ([\d,]+)",
    re.IGNORECASE,
)
_SUMS = (
    r"(?P<used>[\d,]+) \+ ([\d,]+) > (?P<most>[\d,]+)",
    r"<= ?(?P<most>\d+)\. Given: (?P<used>\d+) inputs? tokens",
    r"[\d,]+ > (?P<most>[\d,]+) - (?P<used>[\d,]+)",
)
"""How endpoints say that a prompt and its answer do not fit together."""

TOO_LONG = "the prompt"


def refusal_of(problem, parameters: Mapping, model: str = "") -> tuple[str, str]:
    """Return which parameter an endpoint refused, by the body of its answer, and the remedy; else ``TOO_LONG`` or "".

    ``TOO_LONG`` with a remedy: a prompt that would fit with a shorter answer.
    """
    said = problem if isinstance(problem, str) else json.dumps(_words(problem), ensure_ascii=False)
    code, named = (problem.get("code"), problem.get("param")) if isinstance(problem, dict) else ("", None)
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    sums = next(filter(None, (re.search(pattern, said) for pattern in _SUMS)), None)
    window, used = (sums, sums["used"]) if sums else (_WINDOW.search(said), _USED.search(said))
    if window and used and limit:
        used = used if sums else used[1] or used[2]
        tokens, most = (int(text.replace(",", "") or 0) for text in (used, window["most"]))
        room = max(0, most - tokens)
        fewer = room // 2 if room < parameters[limit] else parameters[limit] // 2
        how = f"Lower it, so that the prompt and the answer fit: --param {limit}={fewer}"
        return TOO_LONG, how if fewer >= _FEWEST else ""
    head = re.split(r"[.\[]", named)[0] if isinstance(named, str) else ""
    is_name, is_value = bool(_UNKNOWN_NAME.search(said)), bool(_VALUE.search(said))
    if head not in parameters:
        folded = said.casefold().replace("_", "")
        places = {name: re.search(rf"\b{name.replace('_', '')}\b", folded) for name in parameters}
        known = {name: match.start() for name, match in places.items() if match}
        if _LENGTH.search(said) or "context_length" in str(code):
            is_parameter = known and (is_name or (is_value and re.search(_BOUND, said) and not head))
            if not is_parameter or "context" in f"{said} {code}".casefold():
                return TOO_LONG, ""
        head = min(known, key=known.get) if known else ""
    if not head:
        return "", ""
    value, other = parameters[head], next((name for name in TOKEN_LIMITS if name != head), "")
    bounds = (rf"\b{re.escape(str(value))} > ([\d.]*\d)", r"[\[(] ?[\d.]+ ?, ?([\d.]*\d) ?[\])]", _BOUND)
    bound = next(filter(None, (re.search(pattern, said) for pattern in bounds)), None)
    if (is_value or bound) and not is_name and type(value) in (int, float):
        most = float(bound[1]) if bound else value
        if most < value and (head not in TOKEN_LIMITS or most >= 1):
            return head, f"Give --param {head}={most:.15g}"
        if head in TOKEN_LIMITS:
            return head, f"Lower it: --param {head}={max(1, value // 2)}"
    if head in TOKEN_LIMITS:
        return head, f"Give --param {other}={value}"
    ours = head in REQUEST or head in by_model(model)["set"] or head == "response_format"
    return head, f"Give --omit {head}" if ours else f"Leave out --param {head}"


def _words(problem) -> object:
    """What an endpoint says of a failure, without what it repeats of the request."""
    if isinstance(problem, dict):
        said = problem.keys() & {"message", "msg", "loc", "detail", "error"}
        return {key: _words(value) for key, value in problem.items() if key in said}
    return [_words(one) for one in problem] if isinstance(problem, list) else problem


# One request

_GZIP = b"\x1f\x8b"
_PASSING = re.compile(
    r"busy|overload|again|rate.?limit|capacity|time.?out|timed out|temporar|unavailable|upstream|loading|warm",
    re.IGNORECASE,
)
_NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER|HTTP_REQUEST|wrong version number", re.IGNORECASE)
_CONTEXT_NAMES = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")


class Unanswered(Exception):
    """A request that brought no answer, and whether another attempt may: what is not said of it is not so."""

    again = silent = overrun = too_long = False
    final = strange = False
    """No call can be answered; no call can, unless one was."""
    wait: float | None = None
    stop = ""
    """Why no more are sent, if that is more than the reason."""

    def __init__(self, reason: str, **known):
        super().__init__(reason)
        vars(self).update(known)


class Client:
    """Connections to an endpoint, as many as there are requests at once; open inside ``async with``."""

    def __init__(self, endpoint: Endpoint, timeout: float):
        self._endpoint, self._timeout = endpoint, timeout
        self._proxy = proxy_of(endpoint)

    async def __aenter__(self) -> "Client":
        import aiohttp

        trusted: ssl.SSLContext | bool = True
        if self._endpoint.address.startswith("https:"):
            import certifi

            trusted = ssl.create_default_context()  # and certifi's, as some systems have no certificates for Python
            trusted.load_verify_locations(certifi.where())
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trusted),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            headers={"Content-Type": "application/json", "Accept-Encoding": "gzip", **self._endpoint.headers},
            auto_decompress=False,
        )
        return self

    async def __aexit__(self, *_) -> None:
        await self._session.close()

    async def ask(self, body: dict, seconds: float) -> dict:
        """Send a request once; what an answer keeps of the reply, without the key."""
        import aiohttp

        try:
            async with asyncio.timeout(seconds):
                status, headers, content = await self._exchange("POST", "/chat/completions", json.dumps(body).encode())
        except aiohttp.ClientError as error:
            why = ""
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                why = (
                    "the endpoint's certificate is not trusted. Check the host in --base-url; for a server of your "
                    "own, name the file of its certificate in SSL_CERT_FILE"
                )
            elif isinstance(error, aiohttp.ClientSSLError) and _NO_TLS.search(str(error)):
                why = "the endpoint does not speak TLS. Begin --base-url with http: in place of https:"
            said = f"{why} ({one_line(error)})" if why else f"no connection, or one that broke off: {one_line(error)}"
            raise Unanswered(self.short(said), again=not why, final=bool(why)) from None
        except TimeoutError:
            raise Unanswered(f"no answer within {self._timeout:g} seconds (--timeout)", silent=True) from None
        is_good = 200 <= status < 300
        try:
            said = json.loads(content)
        except (ValueError, RecursionError):
            said = content.decode("utf-8", "replace")
            if is_good:
                kind = headers.get("Content-Type", "").partition(";")[0].strip() or "of no stated type"
                shown = words_of(said[:20_000]) or said
                shown = "".join(char if char.isprintable() else "\ufffd" for char in shown)[:_LONGEST_BEGINNING]
                what = f"{kind}, which begins with {shown!r}" if content else f"empty ({kind})"
                reason = self.short(f"what was returned is no JSON, but {what}{self._hint}")
                raise Unanswered(reason, again=True, strange=True) from None
        if is_good:
            try:
                returned = read_completion(said)
            except NoCompletion as error:
                passing = error.code in (408, 409, 425, 429) or (error.code or 0) >= 500 or _PASSING.search(error.words)
                again = bool(passing) or not 400 <= (error.code or 0) < 500
                reason = self.short(f"{error}{'' if passing else self._hint}")
                raise Unanswered(reason, again=again, strange=not passing) from None
        else:
            said = said[0] if isinstance(said, list) and len(said) == 1 else said
            problem = (said.get("error") or said) if isinstance(said, dict) else said
            refusal = filter_refusal(status, problem)
            if refusal is None:
                raise self._failure(status, headers, words_of(said), problem, body)
            returned = {"refusal": refusal, "finish_reason": FILTERED}
        clean = self._endpoint.without_key
        return {name: clean(said) if isinstance(said, str) else said for name, said in returned.items()}

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."

    @property
    def _hint(self) -> str:
        """Name the address as the likely cause, where it has no version in its path."""
        if self._endpoint.query or re.search(r"/v\d", urlsplit(self._endpoint.address).path):
            return ""
        return f". The likely cause is the address, which has no /v1: give --base-url {self._endpoint.address}/v1"

    async def context_length(self, model: str) -> int | None:
        """Ask the endpoint how many tokens the context of a model has; None if it does not say."""
        import aiohttp

        try:
            async with asyncio.timeout(_PATIENCE):
                status, _, content = await self._exchange("GET", "/models")
            listed = json.loads(content) if status == 200 else {}
            entry = next(one for one in listed["data"] if one["id"] == model)
            sizes = (entry.get(name) for name in _CONTEXT_NAMES)
            return next((size for size in sizes if type(size) is int and size > 0), None)
        except (aiohttp.ClientError, Unanswered, OSError, ValueError, RecursionError):
            return None
        except (TypeError, LookupError, AttributeError, StopIteration):  # another list than OpenAI's, or none
            return None

    async def _exchange(self, method: str, path: str, data: bytes | None = None):
        """Status, headers and content of a response; of a content beyond the limit no more is read."""
        request = self._session.request(
            *(method, f"{self._endpoint.address}{path}"),
            **{"data": data, "params": self._endpoint.query, "proxy": self._proxy, "allow_redirects": False},
        )
        async with request as response:
            packing = response.headers.get("Content-Encoding", "identity").strip().lower()
            if packing not in ("identity", "gzip"):
                raise Unanswered(f"the reply is packed as {packing}, which was not asked for")
            content = bytearray()
            async for part in response.content.iter_any():
                content += part
                if len(content) > LARGEST_REPLY:
                    response.close()
                    break
        if content.startswith(_GZIP):  # its label may be missing, or wrong
            try:
                content = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(content, LARGEST_REPLY + 1)
            except zlib.error:
                raise Unanswered("the reply can't be unpacked (gzip)", again=True) from None
        if len(content) > LARGEST_REPLY:
            raise Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB")
        return response.status, response.headers, bytes(content)

    def _failure(self, status: int, headers, words: str, problem, body: dict) -> Unanswered:
        """What an HTTP status that is no success comes to."""
        if 300 <= status < 400:
            where = urlsplit(headers.get("Location", ""))
            port = f":{where.port}" if where.port else ""
            to = f" to {where.scheme}://{where.hostname}{port}{where.path.removesuffix('/chat/completions')}"
            reason = (
                f"HTTP {status}: the endpoint redirects{to if where.hostname else ''}, and conversations are sent to "
                "no other address than the one given. If that is meant, give it as --base-url"
            )
            return Unanswered(self.short(reason), final=True)
        said = f"HTTP {status}: {words or 'without a message'}"
        known = problem if isinstance(problem, dict) else {}
        if status in (400, 413, 422):
            parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
            name, remedy = refusal_of(
                problem if known.keys() & {"message", "detail", "param"} else words, parameters, body["model"]
            )
            reason = self.short(said)
            if name == TOO_LONG:
                return Unanswered(f"{reason}. {remedy}", strange=True) if remedy else Unanswered(reason, too_long=True)
            if name:
                stop = f"the endpoint refuses the parameter {name} ({reason}). {remedy}"
                return Unanswered(reason, final=True, stop=stop)
            return Unanswered(reason, strange=known.get("param") == "model")
        wait = _asked_to_wait(headers)
        spent = known.get("code") in ("insufficient_quota", "billing_hard_limit_reached")
        nowhere = status in (404, 405, 410, 501)
        again = (status in (408, 409, 425, 429) or status >= 500) and not spent and not nowhere
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(self.short(f"{said} (asks to wait for {wait:,.0f} seconds)"))
        reason = self.short(f"{said}{self._hint if nowhere else ''}")
        strange = nowhere or spent or status in (401, 402)
        return Unanswered(reason, again=again, wait=wait, overrun=status == 429 and wait is None, strange=strange)


def _asked_to_wait(headers) -> float | None:
    """Seconds that the endpoint asks to wait: a number, or a date in the form of HTTP."""
    said = headers.get("retry-after", "")
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError):
        until = email.utils.parsedate_to_datetime(said).timestamp()
        now = time.time()  # of this machine; the endpoint's own clock tells better how long it means
        with contextlib.suppress(TypeError, ValueError):
            now = email.utils.parsedate_to_datetime(headers.get("Date")).timestamp()
        return max(0.0, until - now)
    return None
