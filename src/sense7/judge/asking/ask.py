"""An OpenAI-compatible endpoint, asked through the ``openai`` client: address and key, one request, what came back."""

import asyncio
import contextlib
import ipaddress
import json
import os
import re
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit, urlunsplit

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.ratings import read_ratings
from sense7.judge.reply import Reply, read_reply
from sense7.processes import OPENAI_KEY, OWN_KEY

CONNECTING = 2.0
"""Seconds in which a connection has to stand. TCP tries again after one second and after three."""

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

MASK = "[key]"
_SHORTEST_SECRET = 8
"""Shorter keys (none, ollama) are placeholders, and words that replies may hold."""

_LONGEST_REASON = 400
_NOT_SENT = ("ConnectError", "ConnectTimeout")
"""Errors of a connection that never stood; after any other one, the request may have been paid."""


# Where, and with which key


@dataclass(frozen=True)
class Endpoint:
    """An address, the key for it if there is one, and further headers. Its ``repr`` shows the address alone."""

    address: str
    key: str = field(default="", repr=False)
    key_name: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, address: str | None = None, headers: Sequence[str] = (), *, to_ask: bool = True
    ) -> "Endpoint":
        """Check an address, and find the key for it in the environment. No message repeats what may hold a secret."""
        address = "https://api.openai.com/v1" if address is None else address.strip()
        try:
            parts = urlsplit(address)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or any(map(str.isspace, address)):
            raise UserError(
                "--base-url has to be an address with http:// or https://: http://localhost:11434/v1."
            )
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise UserError(
                "--base-url may hold no credentials and no query: they would be written down. "
                f"Put a key into {OWN_KEY} instead; --header 'api-key: {{key}}' sends it in another header. "
                "If the provider asks for a query, put a gateway before it that speaks chat completions."
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        bare = cls(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
        key_names = [OWN_KEY]
        if parts.scheme == "https" or bare.is_loopback:
            key_names.append(OPENAI_KEY)
        keys = {name: os.environ.get(name, "").strip() for name in key_names}
        key_name = next(filter(keys.get, keys), "")
        key = keys.get(key_name, "")
        if key and not re.fullmatch("(?![\"'])[!-~]+(?<![\"'])", key):
            raise UserError(
                f"{key_name} can't be a key: it holds blanks, quotation marks at its ends, or characters "
                "beyond ASCII. Set it again."
            )
        if to_ask and not key and not bare.is_near:
            raise UserError(
                f"{bare.address}: there is no key for this endpoint. Put it into the environment as "
                f"{' or '.join(key_names)}; if it needs none, set {OWN_KEY}=none."
            )
        further = {}
        for header in headers:
            name, colon, value = header.partition(":")
            if not name.strip() or not colon or not header.isascii():
                raise UserError(
                    "--header: give a name, a colon and a value in ASCII; {key} is replaced by the key: "
                    "--header 'api-key: {key}'."
                )
            further[name.strip()] = value.strip().replace("{key}", key)
        return replace(bare, key=key, key_name=key_name, headers=further)

    @property
    def host(self) -> str:
        """Its host."""
        return urlsplit(self.address).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host == "localhost"

    @property
    def is_near(self) -> bool:
        """Whether the endpoint is on this machine or in its own network, where a call costs no money."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_private
        return self.host.endswith(".local") or "." not in self.host

    @property
    def proxy(self) -> str:
        """Host and port of the proxy that the environment names for it; "" if there is none."""
        proxies = urllib.request.getproxies()
        address = proxies.get(urlsplit(self.address).scheme) or proxies.get("all") or ""
        if self.is_loopback or urllib.request.proxy_bypass(self.host):
            return ""
        return urlsplit(address).netloc.rpartition("@")[2]

    def masked(self, text: str) -> str:
        """Replace the key in a text."""
        for secret in (self.key, *self.headers.values()):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, MASK)
        return text


# One request


@dataclass(eq=False)
class Unanswered(Exception):
    """A request without an answer: why, and whether it may be sent again, after ``wait`` seconds if that was said."""

    reason: str
    again: bool = False
    wait: float | None = None
    is_down: bool = False


class Client:
    """The client of an endpoint; ``openai`` is open inside ``async with``."""

    def __init__(self, endpoint: Endpoint, timeout: float):
        import openai

        self.endpoint = endpoint
        self.timeout = timeout
        try:
            connections = openai.DefaultAsyncHttpxClient(
                follow_redirects=False,  # conversations are sent to no other address
                trust_env=not endpoint.is_loopback,
            )
        except Exception:  # of several classes, some with the proxy's password
            raise UserError(
                f"HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names no proxy that can be used ({endpoint.proxy}). Give one "
                f"as http://HOST:PORT; or unset it, or name {endpoint.host} in NO_PROXY."
            ) from None
        self.openai = openai.AsyncOpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.address,
            default_headers=endpoint.headers,
            http_client=connections,
            max_retries=0,  # it would send again what may have been paid
            timeout=openai.Timeout(None, connect=CONNECTING),  # the rest is timed as a whole
        )

    async def ask(self, body: dict) -> str:
        """Send a request once; the response as it came, but for the key."""
        import openai

        try:
            async with asyncio.timeout(self.timeout):
                # As text: the client's own types would take as long as the rest of a request.
                text = await self.openai.post("/chat/completions", body=body, cast_to=str)
            return self.endpoint.masked(text)
        except openai.APIStatusError as error:
            if error.code == "content_filter":  # an answer, as others that refuse
                return self.endpoint.masked(error.response.text)
            problem = self._refusal(error)
        except openai.APIConnectionError as error:
            problem = self._broken_off(error)
        except TimeoutError:
            problem = Unanswered(f"no answer within {self.timeout:g} seconds (--timeout)")
        raise problem from None

    def _refusal(self, error) -> Unanswered:
        """What a response with an error comes to, in the endpoint's own words."""
        status = error.status_code
        words = error.response.text
        if isinstance(error.body, dict) and isinstance(error.body.get("message"), str):
            words = error.body["message"]
        if 300 <= status < 400:
            words = (
                "the endpoint redirects, and conversations go to no other address than --base-url"
            )
        elif status == 404:
            words += (
                f" (calls are sent to {self.endpoint.address}/chat/completions; for another path put a gateway "
                "before it)"
            )
        elif status == 407:
            words = (
                f"the proxy that your environment names ({self.endpoint.proxy}) refuses. {words}"
            )
        reason = self.short(f"HTTP {status}: {words}")
        if status in (400, 422):
            reason += " (a refused parameter is left out by --omit or --no-schema, or replaced by --param)"
        if status not in (429, 503):
            return Unanswered(reason)
        wait = None  # an endpoint that does not say how long is asked after a wait of ours
        with contextlib.suppress(ValueError):
            wait = max(0.0, float(error.response.headers.get("retry-after", "")))
        if wait is not None and wait > LONGEST_WAIT:
            return Unanswered(f"{reason} (asks to wait for {wait:,.0f} seconds)")
        return Unanswered(reason, again=True, wait=wait)

    def _broken_off(self, error: Exception) -> Unanswered:
        """What a connection comes to that never stood, broke off, or took too long."""
        cause = error.__cause__
        way = ""
        if self.endpoint.proxy:
            way = f" by the proxy that your environment names ({self.endpoint.proxy})"
        if type(cause).__name__ in _NOT_SENT:
            reason = f"no connection to {self.endpoint.address}{way}: {one_line(cause)}. Is the server running?"
            return Unanswered(self.short(reason), again=True, is_down=True)
        return Unanswered(self.short(f"the connection{way} broke off: {one_line(cause)}"))

    def short(self, text: str) -> str:
        """A text in one line that is not long and free of the key."""
        text = " ".join(self.endpoint.masked(text).split())
        if len(text) > _LONGEST_REASON:
            return f"{text[:_LONGEST_REASON]} .."
        return text


# What came back


@dataclass(frozen=True)
class Answer:
    """A response as it came, and of which attempt; or, without one, the error."""

    conversation: str
    run: int
    content: str = ""
    seconds: float | None = None
    attempts: int = 1
    error: str | None = None

    @cached_property
    def columns(self) -> dict:
        """What a prediction file has of the response."""
        if self.error is not None:
            return {"error": self.error}
        try:
            response = json.loads(self.content)
            choice = response["choices"][0]
            message = choice["message"]
            text, refusal = _text_of(message["content"]), message.get("refusal")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            if '"content_filter"' in self.content:
                return {"finish_reason": "content_filter"}
            beginning = " ".join(self.content.split())[:120]
            return {"error": f"what was returned is no chat completion: {beginning!r}"}
        usage = response.get("usage")
        if not isinstance(usage, dict):
            usage = {}
        columns = {
            "output": text,
            "refusal": refusal,
            "finish_reason": choice.get("finish_reason"),
            "returned_model": response.get("model"),
            "system_fingerprint": response.get("system_fingerprint"),
            "response_id": response.get("id"),
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": usage.get("completion_tokens"),
        }
        for name, value in columns.items():
            expected = int if name.endswith("_tokens") else str
            if type(value) is not expected:
                columns[name] = None
        return columns

    def reply(self, ratings: tuple[str, ...]) -> Reply:
        """The reply: its score, status, and levels of the ratings asked for."""
        columns = self.columns
        text = columns.get("output")
        reply = read_reply(
            text,
            finish_reason=columns.get("finish_reason"),
            refusal=columns.get("refusal"),
            error=columns.get("error"),
        )
        if ratings:
            reply = read_ratings(text, ratings, reply)
        return reply


def _text_of(content: object) -> str | None:
    """Text of a message, which may stand in parts; those that are thinking are no text."""
    if not isinstance(content, list):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def describe_reply(reply: Reply) -> str:
    """Say in one line what an unusable reply was: its status, the reason, and the beginning of its text."""
    text = " ".join(reply.text.split())[:200]
    description = f"{reply.status} ({reply.reason})"
    return f"{description}: {text!r}" if text else description
