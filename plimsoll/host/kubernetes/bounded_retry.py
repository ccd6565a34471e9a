"""Tries again as a server asks for it (Retry-After), but not for longer than a bound."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from urllib3 import Retry

from plimsoll.host.kubernetes.client_settings import TRIES

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

# An API server that is short of time asks for a second (its default), some of them for a few.
LONGEST_WAIT_S = 20.0


class WaitBudget:
    """What is left of the time that may be waited, in seconds; shared by all requests."""

    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def take(self, requested_s: float) -> float:
        """As much of it as there is."""
        taken = min(requested_s, self.left_s)
        self.left_s -= taken
        return taken


class BoundedRetry(Retry):
    """For one client: once its budget is at an end, a refusal is the answer at once.

    A redirection is an answer like any other.
    """

    def __init__(self, *args: Any, budget: WaitBudget | None = None, **settings: Any) -> None:
        usual = {"redirect": 0, "raise_on_redirect": False}
        if not args:
            usual["total"] = TRIES
        super().__init__(*args, **(usual | settings))
        self._budget = budget or WaitBudget(LONGEST_WAIT_S)

    def new(self, **changed: Any) -> BoundedRetry:
        """The same for the next try, with the same budget."""
        return super().new(budget=self._budget, **changed)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether a request is repeated."""
        waits = has_retry_after and self._budget.left_s > 0
        return super().is_retry(method, status_code, waits)

    def sleep_for_retry(self, response: BaseHTTPResponse) -> bool:
        """Wait as long as the answer says, or what is left; whether it says so at all."""
        requested_s = self.get_retry_after(response)
        if not requested_s:
            return False
        time.sleep(self._budget.take(requested_s))
        return True
