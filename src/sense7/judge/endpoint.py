"""Where a judge is asked: the address of an OpenAI-compatible endpoint, the key for it, and one request to it."""

import asyncio
import contextlib
import importlib.util
import ipaddress
import json
import os
import re
import ssl
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import NoCompletion, read_response, words_of
from sense7.judge.masking import masked, masked_in
from sense7.judge.proxies import proxy_for
from sense7.judge.requests import REQUEST, TOKEN_LIMITS
from sense7.judge.waits import LONGEST_WAIT, asked_to_wait, is_too_large
from sense7.processes import OPENAI_KEY, OWN_KEY

__all__ = ["Client", "Endpoint", "Unanswered"]

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

_LONGEST_REASON = 400
_LONGEST_BEGINNING = 120

_FEWEST = 50
"""Tokens in which a judge may just answer."""


# Address and key


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
        address = ("https://api.openai.com/v1" if address is None else address).strip()
        environ = os.environ if environ is None else environ
        try:
            parts = urlsplit(address)
            fit = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            fit = False
        if not fit or any(map(str.isspace, address)):
            raise UserError(
                "--base-url has to be an address with http:// or https://: http://localhost:11434/v1."
            )
        if (
            "@" not in parts.netloc
            and re.fullmatch(r"api-version=[\w.-]+", parts.query)
            and not parts.fragment
        ):
            azure = _azure_address(address)
            instead = azure or "the address that needs none"
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
        names = [OWN_KEY, OPENAI_KEY] if parts.scheme == "https" or bare.is_loopback else [OWN_KEY]
        name, key = next(
            ((name, key) for name in names if (key := environ.get(name, "").strip())), ("", "")
        )
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
        if to_ask and importlib.util.find_spec("aiohttp"):  # imported while the data are read
            threading.Thread(target=__import__, args=("aiohttp",), daemon=True).start()
        return replace(bare, key=key, key_name=name)

    @property
    def identity(self) -> str:
        """What has to stay the same when a session is resumed: the address; of this machine, without its port."""
        parts = urlsplit(self.address)
        return (
            urlunsplit((parts.scheme, "localhost", parts.path, "", ""))
            if self.is_loopback
            else self.address
        )

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


def _azure_address(address: str) -> str:
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
_BOUND = re.compile(
    r"(?:less than or equal to|at most|<=|\u2264|up to|no more than|maximum(?: value)?(?: allowed)?(?: of| is|:)?|"
    r"between [\d.]+ and|supports? only|range [\[(][\d.]+, ?)\s*'?(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[\[(] ?[\d.]+ ?, ?([\d.]*\d) ?[\])]")
_VALUE = re.compile(
    r"(?:unsupported|invalid) value|must be|should be|too (?:large|high|big|low|small)|at (?:most|least)|"
    r"less than|greater|"
    r"maximum|minimum|range|exceed|does not support '?[\d.]|only the default|between",
    re.IGNORECASE,
)
_TOKENS = r"(?<![\d,])\d[\d,]{0,15}+"  # from its first digit on: else each digit of a long number begins a search
_WINDOW = rf"(?is)\A(?=.*?(?:context|model).{{0,20}}(?:length|window|size|limit)\D{{0,30}}(?P<most>{_TOKENS}))"
_SUMS = [
    re.compile(pattern)
    for pattern in (
        rf"(?P<used>{_TOKENS}) \+ [\d,]{{1,16}}+ > (?P<most>{_TOKENS})",
        rf"<= ?(?P<most>{_TOKENS})\. Given: (?P<used>{_TOKENS}) inputs? tokens",
        rf"{_TOKENS} > (?P<most>{_TOKENS}) - (?P<used>{_TOKENS})",
        rf"{_WINDOW}.*?(?P<used>{_TOKENS})(?: tokens)? (?:(?:tokens )?(?:in|from|of) (?:the |your )?"
        r"(?:messages|text|prompt|input)|(?:input|prompt|text) tokens)",
        rf"{_WINDOW}.*?(?:prompt|input|messages)(?: contains?| has| is| of)(?: at least)? (?P<used>{_TOKENS})",
    )
]
"""How endpoints say that a prompt and its answer do not fit together."""

TOO_LONG = "the prompt"

_MOST_READ = 4000
"""Characters of a refusal that are searched for what was refused."""


def refusal_of(problem: NoCompletion, parameters: Mapping) -> tuple[str, str]:
    """Return which parameter an endpoint refused, by the body of its answer, and the remedy; else ``TOO_LONG`` or "".

    ``TOO_LONG`` with a remedy: a prompt that would fit with a shorter answer.
    """
    said, code, named = (
        problem.words[:_MOST_READ],
        problem.known.get("code"),
        problem.known.get("param"),
    )
    limit = next((name for name in TOKEN_LIMITS if name in parameters), "")
    if limit and (sums := next(filter(None, (pattern.search(said) for pattern in _SUMS)), None)):
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
            is_parameter = known and (is_name or (is_value and _BOUND.search(said) and not head))
            if not is_parameter or "context" in f"{said} {code}".casefold():
                return TOO_LONG, ""
        head = min(known, key=known.get) if known else ""
    if not head:
        return "", ""
    value, other = parameters[head], next((name for name in TOKEN_LIMITS if name != head), "")
    bounds = (re.compile(rf"\b{re.escape(str(value))} > ([\d.]*\d)"), _RANGE, _BOUND)
    bound = next(filter(None, (pattern.search(said) for pattern in bounds)), None)
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

    def without(self, endpoint: Endpoint) -> "Unanswered":
        """Give the same without the key of an endpoint."""
        return Unanswered(
            **{"reason": endpoint.without_key(str(self)), **masked_in(vars(self), endpoint.key)}
        )


def _redirected_to(headers: Mapping[str, str]) -> str:
    """Where a redirect leads: its host and path, without credentials and query."""
    try:
        where = urlsplit(headers.get("location", ""))
        port = f":{where.port}" if where.port else ""
    except ValueError:
        return ""
    path = where.path.removesuffix("/chat/completions")
    return f" to {where.scheme}://{where.hostname}{port}{path}" if where.hostname else ""


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

            trusted = (
                ssl.create_default_context()
            )  # and certifi's, as some systems have no certificates for Python
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
            why, said = (
                "",
                re.sub(r"//[^/@\s]+@", "//", one_line(error)),
            )  # a proxy's address may have a password
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                why = (
                    "the endpoint's certificate is not trusted. Check the host in --base-url; for a server of your "
                    "own, name the file of its certificate in SSL_CERT_FILE"
                )
            elif isinstance(error, aiohttp.ClientHttpProxyError) and error.status < 500:
                why, said = (
                    "the proxy that your environment names lets nothing through",
                    f"HTTP {error.status}",
                )
            said = f"{why} ({said})" if why else f"no connection, or one that broke off: {said}"
            raise Unanswered(self.short(said), again=not why, final=bool(why)) from None
        except TimeoutError:
            raise Unanswered(f"no answer within {self._timeout:g} seconds (--timeout)") from None
        try:
            said = masked_in(json.loads(content), self._endpoint.key)
        except (ValueError, RecursionError):
            said = self._endpoint.without_key(content.decode("utf-8", "replace"))
            if 200 <= status < 300:
                packing = headers.get("content-encoding", "").strip()
                if packing.casefold() not in _READ:
                    raise Unanswered(
                        f"the reply is packed as {packing}, which was not asked for", strange=True
                    ) from None
                kind = (
                    headers.get("content-type", "").partition(";")[0].strip() or "of no stated type"
                )
                shown = words_of(said[:20_000]) or said
                shown = "".join(char if char.isprintable() else "\ufffd" for char in shown)[
                    :_LONGEST_BEGINNING
                ]
                what = f"{kind}, which begins with {shown!r}" if content else f"empty ({kind})"
                reason = self.short(f"what was returned is no JSON, but {what}{self._hint}")
                raise Unanswered(reason, again=True, strange=True) from None
        try:
            returned = read_response(status, said)
        except NoCompletion as problem:
            raise self._failure(status, headers, problem, body) from None
        return returned

    def short(self, text: str) -> str:
        """Give a reason in one line that is not long and free of the key."""
        text = " ".join(self._endpoint.without_key(text).split())
        return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."

    @property
    def _hint(self) -> str:
        """Name the address as the likely cause, where it has no version in its path."""
        address = self._endpoint.address
        if azure := _azure_address(address):
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
            **{"data": data, "proxy": self._proxy, "allow_redirects": False},
        )
        async with request as response:
            try:
                content = await response.content.readexactly(LARGEST_REPLY + 1)
                response.close()
            except asyncio.IncompleteReadError as whole:
                content = whole.partial
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

    def _failure(self, status: int, headers, problem: NoCompletion, body: dict) -> Unanswered:
        """What a response without a completion comes to."""
        code, kind = (str(problem.known.get(name)) for name in ("code", "type"))
        if 200 <= status < 300:  # its status says nothing, but the error in it may have one
            status = (
                int(code) if code.isdecimal() else 503 if _PASSING.search(problem.words) else status
            )
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
            if name == TOO_LONG:
                return (
                    Unanswered(f"{reason}. {remedy}", strange=True)
                    if remedy
                    else Unanswered(reason, too_long=True)
                )
            if name:
                stop = f"the endpoint refuses the parameter {name} ({reason}). {remedy}"
                return Unanswered(reason, final=True, stop=stop)
            return Unanswered(reason, strange=problem.known.get("param") == "model")
        if status == 429 and is_too_large(problem.words):
            return Unanswered(self.short(str(problem)))
        wait = asked_to_wait(status, headers, problem.body, problem.words)
        is_good, spent, nowhere = status < 300, _SPENT.search(f"{code} {kind}"), status in _NOWHERE
        again = (is_good or status in _AGAIN or status >= 500) and not (
            spent or nowhere or status in _NOBODY
        )
        if again and wait is not None and wait > LONGEST_WAIT:
            return Unanswered(self.short(f"{problem} (asks to wait for {wait:,.0f} seconds)"))
        hint = self._hint if nowhere or is_good else ""
        if nowhere and _UNKNOWN_MODEL.search(f"{problem.words} {code}"):
            hint = ". Give the name by which the endpoint knows it (--model)"
        reason = self.short(f"{problem}{hint}")
        strange = bool(is_good or nowhere or spent or status in _NOBODY)
        return Unanswered(
            reason, again=again, wait=wait, overrun=status == 429 and wait is None, strange=strange
        )
