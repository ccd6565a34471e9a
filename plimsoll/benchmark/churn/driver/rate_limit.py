"""A token bucket, as client-go limits requests: `qps` a second, `burst` at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Hands out leave to send a request. May be used by several threads."""

    def __init__(
        self,
        qps: float,
        burst: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Full to begin with."""
        self._qps = qps
        self._burst = burst
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._tokens = float(burst)
        self._at_s = clock()

    def take(self) -> None:
        """Wait until a request may go."""
        with self._lock:
            now_s = self._clock()
            self._tokens = min(self._burst, self._tokens + (now_s - self._at_s) * self._qps)
            self._at_s = now_s
            # A debt makes those that come later wait for longer.
            self._tokens -= 1
            wait_s = max(0.0, -self._tokens / self._qps)
        if wait_s:
            self._sleep(wait_s)
