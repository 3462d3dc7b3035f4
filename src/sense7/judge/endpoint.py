"""Where a judge is asked: the address of an OpenAI-compatible endpoint, the key for it, and one request to it."""

import asyncio
import base64
import contextlib
import email.utils
import functools
import importlib.util
import ipaddress
import json
import os
import re
import ssl
import threading
import time
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import NoCompletion, read_response, words_of
from sense7.judge.requests import REQUEST, TOKEN_LIMITS

__all__ = ["Client", "Endpoint", "Unanswered", "without_keys"]

OWN_KEY, OPENAI_KEY = "SENSE7_JUDGE_KEY", "OPENAI_API_KEY"
KEYS = frozenset({OWN_KEY, OPENAI_KEY})
"""Variables of the environment that a key may stand in."""

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_SHORTEST_SECRET = 8
"""Shorter keys (EMPTY, ollama) are placeholders that local servers are given, and words that replies may hold."""

_LONGEST_REASON = 400
_LONGEST_BEGINNING = 120

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
    key: str = field(default="", repr=False)
    key_name: str = ""

    @classmethod
    def of(
        cls, address: str | None = None, environ: Mapping[str, str] | None = None, *, to_ask: bool = True
    ) -> "Endpoint":
        """Check an address, and find the key for it in the environment. No message repeats what may hold a secret."""
        address = ("https://api.openai.com/v1" if address is None else address).strip()
        environ = os.environ if environ is None else environ
        try:
            parts = urlsplit(address)
            fit = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            fit = False
        if not fit or any(map(str.isspace, address)):
            raise UserError("--base-url has to be an address with http:// or https://: http://localhost:11434/v1.")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise UserError(
                "--base-url may hold no credentials and no query: they would be written down. "
                f"Put a key into {OWN_KEY} instead."
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        bare = cls(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
        names = [OWN_KEY, OPENAI_KEY] if parts.scheme == "https" or bare.is_loopback else [OWN_KEY]
        name, key = next(((name, key) for name in names if (key := environ.get(name, "").strip())), ("", ""))
        if key and not re.fullmatch("[!-~]+", key):
            raise UserError(f"{name} can't be a key: it holds blanks or characters beyond ASCII. Set it again.")
        if to_ask and not key and not bare.is_near:
            over = " (over http only the first is sent)" if parts.scheme == "http" else ""
            raise UserError(
                f"{bare.address}: there is no key for this endpoint. Put it into the environment as {OWN_KEY}, "
                f"{OPENAI_KEY}{over}; if it needs none, set {OWN_KEY}=none."
            )
        if to_ask and importlib.util.find_spec("aiohttp"):  # imported while the data are read
            threading.Thread(target=__import__, args=("aiohttp",), daemon=True).start()
        return replace(bare, key=key, key_name=name)

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
    kind = next((kind for kind in (urlsplit(endpoint.address).scheme, "all") if proxies.get(kind, "").strip()), "")
    if not kind:
        return None
    proxy = proxies[kind].strip()
    proxy, what = proxy if "://" in proxy else f"http://{proxy}", "is no address of a proxy"
    with contextlib.suppress(ValueError):
        parts = urlsplit(proxy)
        is_plain = parts.hostname and parts.port != 0 and parts.path in ("", "/") and not any(map(str.isspace, proxy))
        if is_plain and parts.scheme in ("http", "https"):
            return proxy
        if parts.scheme.startswith("socks"):
            what = f"names a SOCKS proxy ({parts.scheme}), which can't be used here"
    names = sorted(name for name in os.environ if name.casefold() == f"{kind}_proxy" and os.environ[name])
    named = " and ".join(names) or f"the system's setting for {kind}"
    raise UserError(
        f"{named}: {what}. Give one such as http://HOST:PORT; or unset it, or name {endpoint.host} in NO_PROXY."
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
_WINDOW = r"(?is)\A(?=.*?(?:context|model).{0,20}(?:length|window|size|limit)\D{0,30}(?P<most>\d[\d,]*))"
_SUMS = (
    r"(?P<used>\d[\d,]*) \+ [\d,]+ > (?P<most>\d[\d,]*)",
    r"<= ?(?P<most>\d+)\. Given: (?P<used>\d+) inputs? tokens",
    r"[\d,]+ > (?P<most>\d[\d,]*) - (?P<used>\d[\d,]*)",
    rf"{_WINDOW}.*?(?P<used>\d[\d,]*)(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?"
    r"(?:messages|text|prompt|input)|(?:input|prompt|text) tokens)",
    rf"{_WINDOW}.*?(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? (?P<used>\d[\d,]*)",
)
"""How endpoints say that a prompt and its answer do not fit together."""

TOO_LONG = "the prompt"


def refusal_of(problem: NoCompletion, parameters: Mapping) -> tuple[str, str]:
    """Return which parameter an endpoint refused, by the body of its answer, and the remedy; else ``TOO_LONG`` or "".

    ``TOO_LONG`` with a remedy: a prompt that would fit with a shorter answer.
    """
    said, code, named = problem.words, problem.known.get("code"), problem.known.get("param")
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    if limit and (sums := next(filter(None, (re.search(pattern, said) for pattern in _SUMS)), None)):
        tokens, most = (int(sums[name].replace(",", "")) for name in ("used", "most"))
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
    ours = head in REQUEST or head == "response_format"
    return head, f"Give --omit {head}" if ours else f"Leave out --param {head}"


# One request

_GZIP = b"\x1f\x8b"
_PASSING = re.compile(
    r"busy|overload|again|rate.?limit|capacity|time.?out|timed out|temporar|unavailable|upstream|loading|warm",
    re.IGNORECASE,
)
_SPENT = re.compile("insufficient.(quota|balance|credit|funds)|billing|exceeded_current_quota|arrear", re.IGNORECASE)
_AGAIN = {408, 409, 420, 424, 425, 429, 498, 499}
"""Statuses after which another attempt may bring an answer, beside those from 500."""

_NOWHERE, _NOBODY = {404, 405, 410, 501}, {401, 402, 407, 511}
"""Statuses of what is no such endpoint, and of one that answers nobody like this: no call can be answered."""


class Unanswered(Exception):
    """A request that brought no answer, and whether another attempt may: what is not said of it is not so."""

    again = overrun = too_long = False
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
                status, headers, content = await self._exchange(json.dumps(body).encode())
        except aiohttp.ClientError as error:
            why, said = "", re.sub(r"//[^/@\s]+@", "//", one_line(error))  # a proxy's address may have a password
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                why = (
                    "the endpoint's certificate is not trusted. Check the host in --base-url; for a server of your "
                    "own, name the file of its certificate in SSL_CERT_FILE"
                )
            elif isinstance(error, aiohttp.ClientHttpProxyError) and error.status < 500:
                why, said = "the proxy that your environment names lets nothing through", f"HTTP {error.status}"
            said = f"{why} ({said})" if why else f"no connection, or one that broke off: {said}"
            raise Unanswered(self.short(said), again=not why, final=bool(why)) from None
        except TimeoutError:
            raise Unanswered(f"no answer within {self._timeout:g} seconds (--timeout)") from None
        try:
            said = json.loads(content)
        except (ValueError, RecursionError):
            said = content.decode("utf-8", "replace")
            if 200 <= status < 300:
                kind = headers.get("Content-Type", "").partition(";")[0].strip() or "of no stated type"
                shown = words_of(said[:20_000]) or said
                shown = "".join(char if char.isprintable() else "\ufffd" for char in shown)[:_LONGEST_BEGINNING]
                what = f"{kind}, which begins with {shown!r}" if content else f"empty ({kind})"
                reason = self.short(f"what was returned is no JSON, but {what}{self._hint}")
                raise Unanswered(reason, again=True, strange=True) from None
        try:
            returned = read_response(status, said)
        except NoCompletion as problem:
            raise self._failure(status, headers, problem, body) from None
        clean = self._endpoint.without_key
        return {name: clean(said) if isinstance(said, str) else said for name, said in returned.items()}

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."

    @property
    def _hint(self) -> str:
        """Name the address as the likely cause, where it has no version in its path."""
        if re.search(r"/v\d", urlsplit(self._endpoint.address).path):
            return ""
        return f". The likely cause is the address, which has no /v1: give --base-url {self._endpoint.address}/v1"

    async def _exchange(self, data: bytes):
        """Status, headers and content of a response; of a content beyond the limit no more is read."""
        request = self._session.post(
            f"{self._endpoint.address}/chat/completions",
            **{"data": data, "proxy": self._proxy, "allow_redirects": False},
        )
        async with request as response:
            packing = response.headers.get("Content-Encoding", "identity").strip().lower()
            if packing not in ("identity", "gzip"):
                raise Unanswered(f"the reply is packed as {packing}, which was not asked for", strange=True)
            try:
                content = await response.content.readexactly(LARGEST_REPLY + 1)
                response.close()
            except asyncio.IncompleteReadError as whole:
                content = whole.partial
        if content.startswith(_GZIP):  # its label may be missing, or wrong
            try:
                content = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(content, LARGEST_REPLY + 1)
            except zlib.error:
                raise Unanswered("the reply can't be unpacked (gzip)", again=True, strange=True) from None
        if len(content) > LARGEST_REPLY:
            raise Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB")
        return response.status, response.headers, content

    def _failure(self, status: int, headers, problem: NoCompletion, body: dict) -> Unanswered:
        """What a response without a completion comes to."""
        code, kind = (str(problem.known.get(name)) for name in ("code", "type"))
        if 200 <= status < 300:  # its status says nothing, but the error in it may have one
            status = int(code) if code.isdecimal() else 503 if _PASSING.search(problem.words) else status
        if 300 <= status < 400:
            where = urlsplit(headers.get("Location", ""))
            port = f":{where.port}" if where.port else ""
            to = f" to {where.scheme}://{where.hostname}{port}{where.path.removesuffix('/chat/completions')}"
            reason = (
                f"HTTP {status}: the endpoint redirects{to if where.hostname else ''}, and conversations are sent to "
                "no other address than the one given. If that is meant, give it as --base-url"
            )
            return Unanswered(self.short(reason), final=True)
        if status in (400, 413, 422):
            parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
            name, remedy = refusal_of(problem, parameters)
            reason = self.short(str(problem))
            if name == TOO_LONG:
                return Unanswered(f"{reason}. {remedy}", strange=True) if remedy else Unanswered(reason, too_long=True)
            if name:
                stop = f"the endpoint refuses the parameter {name} ({reason}). {remedy}"
                return Unanswered(reason, final=True, stop=stop)
            return Unanswered(reason, strange=problem.known.get("param") == "model")
        wait = _asked_to_wait(headers)
        is_good, spent, nowhere = status < 300, _SPENT.search(f"{code} {kind}"), status in _NOWHERE
        again = (is_good or status in _AGAIN or status >= 500) and not (spent or nowhere or status in _NOBODY)
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(self.short(f"{problem} (asks to wait for {wait:,.0f} seconds)"))
        reason = self.short(f"{problem}{self._hint if nowhere or is_good else ''}")
        strange = bool(is_good or nowhere or spent or status in _NOBODY)
        return Unanswered(reason, again=again, wait=wait, overrun=status == 429 and wait is None, strange=strange)


def _asked_to_wait(headers) -> float | None:
    """Seconds that the endpoint asks to wait: a number, or a date in the form of HTTP."""
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
