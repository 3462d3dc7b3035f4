"""When the next request may be sent: so many at once, so many a minute, and fewer where the endpoint is overrun."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from sense7.terminal import count_of

__all__ = ["Pace"]


class Pace:
    """The turns of a session's requests."""

    def __init__(self, at_once: int, per_minute: int | None, say: Callable[[str], None]):
        self.limit = self._most = at_once
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._say = say
        self._free = asyncio.Semaphore(at_once)
        self._owed = self._good = 0
        self._next = self._cut = float("-inf")

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Wait for a turn, and keep it as long as the request takes; give when it began."""
        await self._free.acquire()
        try:
            await self._spaced()
            yield asyncio.get_running_loop().time()
        finally:
            self._release()

    async def _spaced(self) -> None:
        if self._gap:
            now = asyncio.get_running_loop().time()
            begin = max(now, self._next)
            self._next = begin + self._gap
            await asyncio.sleep(begin - now)

    def _release(self) -> None:
        if self._owed:
            self._owed -= 1
        else:
            self._free.release()

    def overrun(self, begun: float) -> None:
        """Halve the limit, for a request that began then and was refused as one too many."""
        if begun < self._cut or self.limit == 1:
            return
        self._cut, self._good = asyncio.get_running_loop().time(), 0
        fewer = self.limit // 2
        self._owed += self.limit - fewer
        self.limit = fewer
        requests = count_of(fewer, "request")
        self._say(f"HTTP 429 without a time to wait: {requests} at once from now on; more as answers come")

    def answered(self) -> None:
        """Count an answer, and raise the limit where as many came as it allows."""
        if self.limit == self._most:
            return
        self._good += 1
        if self._good >= self.limit:
            self.limit, self._good = self.limit + 1, 0
            self._release()
            if self.limit == self._most:
                self._say(f"{count_of(self.limit, 'request')} at once again")
