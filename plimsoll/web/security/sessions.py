"""Browsers that have proven who they are: by a code that opens once, or by the token."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable

from plimsoll.web.security.comparison import same

_BYTES = 32
# Time to open a browser, and not so much that a link in a terminal's history is worth finding.
CODE_LIFETIME_S = 15 * 60
# Since it was last used: a page of a soak that was left open for a week goes on.
_IDLE_S = 7 * 24 * 3600
_MOST_SESSIONS = 1000

_Clock = Callable[[], float]


class EntryCodes:
    """Codes in links, each good for one entry and a quarter of an hour."""

    def __init__(self, clock: _Clock = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        """A new one."""
        code = secrets.token_urlsafe(_BYTES)
        self._until[code] = self._clock() + CODE_LIFETIME_S
        return code

    def take(self, given: str) -> bool:
        """Whether it is one that is still good; from now on it is not."""
        now = self._clock()
        self._until = {code: until for code, until in self._until.items() if until > now}
        # All are looked at, so that the time that it takes tells nothing of any.
        found = [code for code in self._until if same(given, code)]
        return bool(found) and self._until.pop(found[0]) > now


class Sessions:
    """Those of this process, by ids that have nothing to do with the token and end with it."""

    def __init__(self, clock: _Clock = time.monotonic) -> None:
        self._clock = clock
        # When each was last used, by its id's digest, the longest unused first.
        self._used: dict[bytes, float] = {}

    def begin(self) -> str:
        """The id of a new one. With too many the one that was not used for longest ends."""
        identity = secrets.token_urlsafe(_BYTES)
        self._used[_digest(identity)] = self._clock()
        while len(self._used) > _MOST_SESSIONS:
            del self._used[next(iter(self._used))]
        return identity

    def has(self, given: str) -> bool:
        """Whether it is the id of one."""
        # Found by its digest: the time of a look-up says nothing of the id.
        digest, now = _digest(given), self._clock()
        used = self._used.pop(digest, None)
        if used is None or now - used > _IDLE_S:
            return False
        self._used[digest] = now
        return True


def _digest(identity: str) -> bytes:
    return hashlib.sha256(identity.encode(errors="surrogateescape")).digest()
