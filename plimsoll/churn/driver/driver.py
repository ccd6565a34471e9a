"""Makes the namespaces of a workload, churns them, and removes them, by the Kubernetes API.

Which namespaces are churned when, with kube-burner's semantics; pure. A cycle deletes a contiguous
window of the iterations' namespaces, waits until they are gone, pauses for the deletion delay,
makes them again, waits until their pods are ready, and pauses for the delay. Cycles follow each
other until the duration is over or there were enough of them.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from plimsoll.churn.api.removal import NAMESPACES
from plimsoll.churn.driver.pod_watch import PodWatch
from plimsoll.churn.driver.workload import (
    NewObject,
    Workload,
    namespace_document,
    namespace_objects,
)
from plimsoll.churn.streams.dips import TimeSpan
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import CONFLICT, NOT_FOUND, TOO_MANY, ApiAnswer, ApiClient
from plimsoll.host.processes.child import wait_until

# "delete": from the first request until all were gone. "create": made until all pods were ready.
PhaseKind = Literal["delete", "create"]


@dataclass(frozen=True, slots=True)
class ChurnPlan:
    """How one level is churned. `percent` 0 churns nothing: kube-burner's own 0 churns one.

    `cycles` and `duration_s` bound it, whichever comes first; 0 cycles are no bound.
    """

    iterations: int
    percent: float
    duration_s: float
    cycles: int
    delay_s: float
    deletion_delay_s: float

    @property
    def churned(self) -> int:
        """How many namespaces each cycle churns."""
        if self.percent == 0:
            return 0
        return max(int(self.percent * self.iterations / 100), 1)

    def goes_on(self, cycles_done: int, since_s: float) -> bool:
        """Whether another cycle begins, `since_s` after the first began.

        As with kube-burner a cycle that has begun is gone through with.
        """
        if self.churned == 0 or since_s >= self.duration_s:
            return False
        return self.cycles == 0 or cycles_done < self.cycles

    def window(self, chance: random.Random) -> range:
        """The iterations of a cycle: contiguous, begun anywhere that they all fit in."""
        begin = chance.randrange(self.iterations - self.churned + 1)
        return range(begin, begin + self.churned)


# What the driver did and when: the phases of each cycle.
@dataclass(frozen=True, slots=True)
class ChurnPhase:
    """A phase of a cycle, in ns since the epoch; `namespaces` are their numbers.

    `made_ns` is when the last object had been made, None of a deletion. `complete` is whether
    it came to its end in time.
    """

    cycle: int
    kind: PhaseKind
    namespaces: tuple[int, ...]
    begin_ns: int
    end_ns: int
    made_ns: int | None = None
    complete: bool = True

    def within(self, origin_ns: int) -> TimeSpan:
        """The same in s from `origin_ns` on."""
        return TimeSpan((self.begin_ns - origin_ns) / 1e9, (self.end_ns - origin_ns) / 1e9)


# A token bucket, as client-go limits requests: `qps` a second, `burst` at once.
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


_WORKERS = 16
_TRIES = 8
_FIRST_PAUSE_S = 0.25
_POLL_S = 0.5
# A server that has too many requests, starts, or whose storage elects another leader.
_PASSES = (TOO_MANY, 500, 502, 503, 504, 0)


class ChurnDriver:
    """Makes and deletes the namespaces of one workload. `driving` opens one.

    Every request takes leave of the token bucket first, those that are repeated too.
    """

    def __init__(
        self,
        client: ApiClient,
        workload: Workload,
        watch: PodWatch,
        *,
        limit: TokenBucket,
        timeout_s: float,
        pool: ThreadPoolExecutor,
    ) -> None:
        """`timeout_s` is how long a phase of a cycle may take."""
        self._client = client
        self._workload = workload
        self._watch = watch
        self._limit = limit
        self._timeout_s = timeout_s
        self._pool = pool
        self.retries = 0

    def create(self, iterations: Iterable[int], cycle: int = 0) -> ChurnPhase:
        """Make namespaces with all their objects, and wait until their pods are ready.

        Raises MachineError where the server refuses an object.
        """
        numbers = tuple(iterations)
        begin_ns = time.time_ns()
        for number in numbers:
            self._make(namespace_document(self._workload, number))
            self._in_order([self._pool.submit(self._make, each) for each in self._objects(number)])
        made_ns = time.time_ns()
        pods = {self._workload.namespace(n): self._workload.objects.pods for n in numbers}
        ready = self._watch.wait_until_ready(pods, begin_ns, self._timeout_s)
        return ChurnPhase(
            cycle, "create", numbers, begin_ns, time.time_ns(), made_ns, complete=ready
        )

    def delete(self, iterations: Iterable[int], cycle: int = 0) -> ChurnPhase:
        """Delete namespaces, and wait until all are gone. Raises MachineError."""
        numbers = tuple(iterations)
        begin_ns = time.time_ns()
        names = [self._workload.namespace(number) for number in numbers]
        self._in_order([self._pool.submit(self._remove, name) for name in names])
        gone = self._wait_until_gone(set(names))
        return ChurnPhase(cycle, "delete", numbers, begin_ns, time.time_ns(), complete=gone)

    def churn(
        self, plan: ChurnPlan, chance: random.Random, listen: Callable[[ChurnPhase], None]
    ) -> list[ChurnPhase]:
        """Churn until the plan is over; `listen` is called with each phase as it ends.

        A phase that does not come to its end in time ends the churn. Raises MachineError.
        """
        phases: list[ChurnPhase] = []
        began_s = time.monotonic()
        cycle = 0
        while plan.goes_on(cycle, time.monotonic() - began_s):
            cycle += 1
            for phase in self._cycle(plan, chance, cycle):
                phases.append(phase)
                listen(phase)
                if not phase.complete:
                    return phases
        return phases

    def remove_all(self) -> None:
        """Delete all namespaces of the workload that there are, and wait. Raises MachineError."""
        found = self._labelled()
        self._in_order([self._pool.submit(self._remove, name) for name in found])
        if found and not self._wait_until_gone(set(found)):
            raise MachineError(
                f"{len(found)} namespaces are not gone after {self._timeout_s:g} s",
                where=self._client.server,
                remedy=f"kubectl delete namespaces -l {self._workload.selector}",
            )

    def _cycle(self, plan: ChurnPlan, chance: random.Random, cycle: int) -> Iterator[ChurnPhase]:
        window = plan.window(chance)
        yield self.delete(window, cycle)
        time.sleep(plan.deletion_delay_s)
        yield self.create(window, cycle)
        time.sleep(plan.delay_s)

    def _objects(self, number: int) -> Iterator[NewObject]:
        return namespace_objects(self._workload, number)

    def _make(self, new: NewObject) -> None:
        name = new.document["metadata"]["name"]
        answer = self._patiently(lambda: self._client.create(new.path, new.document))
        # A repeated request may find what the first, whose answer was lost, has made.
        if not answer.ok and answer.status != CONFLICT:
            raise self._client.refused(answer, f"{new.document['kind']} {name}")

    def _remove(self, namespace: str) -> None:
        answer = self._patiently(lambda: self._client.delete(f"{NAMESPACES}/{namespace}"))
        if not answer.ok and answer.status not in (CONFLICT, NOT_FOUND):
            raise self._client.refused(answer, f"to delete the namespace {namespace}")

    def _patiently(self, request: Callable[[], ApiAnswer]) -> ApiAnswer:
        """Repeated while the server is at fault, as kube-burner does, each time later."""
        pause_s = _FIRST_PAUSE_S
        for _ in range(_TRIES - 1):
            self._limit.take()
            answer = request()
            if answer.status not in _PASSES:
                return answer
            self.retries += 1
            time.sleep(pause_s)
            pause_s *= 2
        self._limit.take()
        return request()

    def _wait_until_gone(self, names: set[str]) -> bool:
        return wait_until(lambda: not names & self._labelled(), self._timeout_s, every_s=_POLL_S)

    def _labelled(self) -> set[str]:
        items, _ = self._client.items(NAMESPACES, self._workload.selector)
        return {str(each["metadata"]["name"]) for each in items}

    def _in_order(self, futures: Sequence[Future[None]]) -> None:
        """Wait for all; where one failed, the others are not begun any more. Raises it."""
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            raise


@contextmanager
def driving(
    client: ApiClient,
    workload: Workload,
    watch: PodWatch,
    *,
    limit: TokenBucket,
    timeout_s: float,
    removing: bool,
) -> Iterator[ChurnDriver]:
    """A driver for the length of a `with`, at whose end it is `removing` all that it made.

    Where an exception ends it, that is left to the ledger.
    """
    with ThreadPoolExecutor(_WORKERS, thread_name_prefix="churn") as pool:
        driver = ChurnDriver(client, workload, watch, limit=limit, timeout_s=timeout_s, pool=pool)
        yield driver
        if removing:
            driver.remove_all()
