"""One-way TCP streams between pairs of pods of a cluster, for as long as a cell lasts.

Nothing here depends on a connection that lasts as long as a stream: a pod's first process runs it,
and what it reported is fetched in the end. So an API server that comes and goes in the churn costs
no stream.
"""

from __future__ import annotations

import io
import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from plimsoll.churn.api.removal import remove
from plimsoll.churn.latency.probes import ProbeLog, ProbeSample, parse_probe_log
from plimsoll.churn.pod_streams.pod_agent import CLOCK, END, end_command
from plimsoll.churn.pod_streams.stream_agent import EndReport
from plimsoll.churn.pod_streams.stream_pods import (
    PROBE,
    STREAM,
    STREAM_SIDES,
    AttachedNetwork,
    StreamPodPlan,
    StreamSide,
    pods_path,
)
from plimsoll.churn.streams.iperf3 import StreamTimes, Throughput, throughput_of
from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.kubernetes.api_client import ApiClient
from plimsoll.host.kubernetes.pod_state import PodState
from plimsoll.tune.render.files.rendered_file import Manifest

_EXCHANGES = 8
_ANSWER_S = 10.0


# A node's clock held against ours, over a command that runs there.
class Lines(Protocol):
    """The input and output of a command elsewhere."""

    def write(self, data: bytes) -> None:
        """To its input."""

    def read_line(self, timeout_s: float) -> bytes:
        """The next line of its output, without its end."""


@dataclass(frozen=True, slots=True)
class NodeClock:
    """By how much the node's CLOCK_REALTIME is ahead of ours, in ns; wrong by `error_ns` at most.

    The answer of each exchange is from between our question and its arrival, as in NTP (RFC 5905):
    the quickest exchange says most.
    """

    ahead_ns: int
    error_ns: int

    @classmethod
    def read(cls, lines: Lines) -> NodeClock:
        """Raises ValueError for an answer that is none, and what `lines` does."""
        return min((cls._exchange(lines) for _ in range(_EXCHANGES)), key=lambda it: it.error_ns)

    @classmethod
    def _exchange(cls, lines: Lines) -> NodeClock:
        begin_ns, begin = time.time_ns(), time.monotonic_ns()
        lines.write(CLOCK + b"\n")
        there_ns = int(lines.read_line(_ANSWER_S))
        half_ns = (time.monotonic_ns() - begin) // 2
        return cls(there_ns - begin_ns - half_ns, half_ns)

    def ours_ns(self, there_ns: int) -> int:
        """A time of the node's clock by ours."""
        return there_ns - self.ahead_ns


_WORKERS = 8
_TRIES = 3
_PAUSE_S = 2.0
_LONGEST_START_S = 300.0
_LONGEST_END_S = 60.0
_LONGEST_REMOVAL_S = 30.0
# Some eight hours of a thousand datagrams a second.
_MAX_BYTES = 1 << 30
_START_POLL_S = 1.0
# The API server is what is measured: it gets no more requests than that.
_CHECK_S = 5.0
_STATUS = "k8s.v1.cni.cncf.io/network-status"
_REMEDY = "look at kubectl describe pod and kubectl logs, and whether the network carries it"
_Found = TypeVar("_Found")
PodObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _End:
    """One end's report, and its node and that node's clock."""

    node: str
    clock: NodeClock
    report: EndReport


class PodStreams:
    """Streams that run. `pod_streaming` opens them."""

    def __init__(self, client: ApiClient, plan: StreamPodPlan, pairs: int) -> None:
        self._client = client
        self._plan = plan
        self._pairs = range(1, pairs + 1)
        self._path = pods_path(plan.pods.namespace)
        self._checked_s = 0.0
        self._nodes: dict[str, str] = {}

    def start(self) -> None:
        """Make the servers, and once these listen the clients, until all stream.

        Raises MachineError.
        """
        servers = [self._plan.server(pair) for pair in self._pairs]
        found = self._make_ready(servers)
        addresses = [self._address(found[each["metadata"]["name"]]) for each in servers]
        self._make_ready(
            [
                self._plan.client(pair, address)
                for pair, address in zip(self._pairs, addresses, strict=True)
            ]
        )

    def check(self) -> None:
        """Raise MachineError where a stream has ended. An API server that is away says nothing."""
        if time.monotonic() - self._checked_s < _CHECK_S:
            return
        self._checked_s = time.monotonic()
        answer = self._client.get(self._path, {"labelSelector": self._plan.selector})
        if not answer.ok:
            return
        found = _by_name(answer.document.get("items") or ())
        for name in (self._plan.name(side, pair) for pair in self._pairs for side in STREAM_SIDES):
            state = PodState.of(found.get(name))
            if state.over or state.terminated:
                container = next(iter(state.terminated), STREAM)
                raise self._failed(name, "has ended", state, container)

    def stop(self) -> tuple[tuple[Throughput, ...], tuple[ProbeLog, ...]]:
        """End all of them, and read what they did and probes saw. Raises MachineError."""
        end_ns = time.time_ns()
        sent = self._of_each(self._pairs, lambda pair: self._end("client", pair))
        received = self._of_each(self._pairs, lambda pair: self._end("server", pair))
        probed = [pair for pair in self._pairs if self._plan.probed(pair)]
        throughputs = (
            _throughput(pair, *ends)
            for pair, *ends in zip(self._pairs, sent, received, strict=True)
        )
        logs = self._of_each(probed, lambda pair: self._probe_log(pair, end_ns))
        return tuple(throughputs), tuple(logs)

    def _make_ready(self, manifests: Sequence[Manifest]) -> dict[str, PodObject]:
        """The pods by name, all of them ready."""
        for manifest in manifests:
            answer = self._client.create(self._path, manifest)
            if not answer.ok:
                raise self._client.refused(answer, f"the pod {manifest['metadata']['name']}")
        names = [str(each["metadata"]["name"]) for each in manifests]
        deadline = time.monotonic() + _LONGEST_START_S
        while True:
            items, _ = self._client.items(self._path, self._plan.selector)
            found = _by_name(items)
            waiting = [name for name in names if not _is_ready(found.get(name))]
            if not waiting:
                self._nodes |= {name: str(found[name]["spec"]["nodeName"]) for name in names}
                return found
            late = time.monotonic() > deadline
            for name in waiting:
                state = PodState.of(found.get(name))
                if late or state.hopeless:
                    raise self._failed(name, "does not become ready", state)
            time.sleep(_START_POLL_S)

    def _address(self, pod: PodObject) -> str:
        """Of a server on its network. Raises MachineError."""
        network = self._plan.network
        if not isinstance(network, AttachedNetwork):
            return str(pod["status"]["podIP"])
        name = network.attachment
        whole = name if "/" in name else f"{self._plan.pods.namespace}/{name}"
        for each in _networks_of(pod):
            if each.get("name") == whole and each.get("ips"):
                return str(each["ips"][0])
        pod_name = str(pod["metadata"]["name"])
        raise self._failed(pod_name, f"has no address of {name}; is Multus there?")

    def _of_each(self, pairs: Sequence[int], make: Callable[[int], _Found]) -> list[_Found]:
        with ThreadPoolExecutor(_WORKERS, thread_name_prefix="streams") as pool:
            return list(pool.map(make, pairs))

    def _end(self, side: StreamSide, pair: int) -> _End:
        name = self._plan.name(side, pair)
        clock, report = self._report(name, STREAM)
        try:
            return _End(self._nodes[name], clock, EndReport.of_json(report))
        except ValueError as error:
            raise self._failed(name, f"left no report: {error}") from None

    def _probe_log(self, pair: int, end_ns: int) -> ProbeLog:
        """Of what was sent until `end_ns`, when the streams began to end."""
        name = self._plan.name("client", pair)
        clock, report = self._report(name, PROBE)
        try:
            log = parse_probe_log(io.StringIO(_decompressed(report).decode()), pair)
        except ValueError as error:
            raise self._failed(name, f"left no whole log: {error}", container=PROBE) from None
        ours = (ProbeSample(clock.ours_ns(each.sent_ns), each.latency_ns) for each in log.samples)
        samples = tuple(each for each in ours if each.sent_ns < end_ns)
        return replace(log, samples=samples, round_trip=True)

    def _report(self, name: str, container: str) -> tuple[NodeClock, bytes]:
        """What a container's first process leaves when it is ended, and its node's clock.

        Where the way there breaks, as it may in a churn, it is fetched once more.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return self._fetched(name, container)
            except (PlimsollError, ValueError) as error:
                if tries == _TRIES:
                    what = f"left no report: {getattr(error, 'message', error)}"
                    raise self._failed(name, what, container=container) from error
            time.sleep(_PAUSE_S)

    def _fetched(self, name: str, container: str) -> tuple[NodeClock, bytes]:
        """Raises PlimsollError and ValueError."""
        stream = self._client.run_in(self._plan.pods.namespace, name, container, end_command())
        try:
            clock = NodeClock.read(stream)
            stream.write(END + b"\n")
            length = int(stream.read_line(_LONGEST_END_S))
            if not 0 <= length <= _MAX_BYTES:
                raise ValueError(f"it has {length} bytes")
            return clock, stream.read(length, _LONGEST_END_S)
        finally:
            stream.close()

    def _failed(
        self, name: str, what: str, state: PodState | None = None, container: str = STREAM
    ) -> MachineError:
        """With the last line that the container wrote, else why the pod is as it is."""
        lines = [] if state is None else [state.reason]
        with suppress(PlimsollError):
            lines += self._client.log_tail(self._plan.pods.namespace, name, container, 1)
        said = ": ".join([f"the pod {name} of a stream {what}", *lines[-1:]])
        return MachineError(said, where="streams", remedy=_REMEDY)


def _decompressed(report: bytes) -> bytes:
    """What gzip made the report of. Raises ValueError."""
    gzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        found = gzip.decompress(report, _MAX_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not gzip.eof:
        raise ValueError("it is cut off, or too large")
    return found


def _by_name(pods: Iterable[PodObject]) -> dict[str, PodObject]:
    return {str(each["metadata"]["name"]): each for each in pods}


def _is_ready(pod: PodObject | None) -> bool:
    conditions = (pod or {}).get("status", {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _networks_of(pod: PodObject) -> list[Mapping[str, Any]]:
    """What Multus has noted of the pod's interfaces."""
    written = pod["metadata"].get("annotations", {}).get(_STATUS, "[]")
    try:
        found = json.loads(written)
    except ValueError:
        return []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _throughput(pair: int, sender: _End, receiver: _End) -> Throughput:
    """By this machine's clock, as the client's node's is ahead of it."""
    clock, sent = sender.clock, sender.report
    times = StreamTimes(clock.ours_ns(sent.started_ns), clock.ours_ns(sent.ended_ns))
    found = throughput_of(pair, sent.stream, receiver.report.stream, times)
    return replace(found, nodes=(sender.node, receiver.node), clock_error_ns=clock.error_ns)


@contextmanager
def pod_streaming(client: ApiClient, plan: StreamPodPlan, pairs: int) -> Iterator[PodStreams]:
    """A stream for each pair; all pods of the run's streams are gone in the end.

    Raises MachineError.
    """
    try:
        streams = PodStreams(client, plan, pairs)
        streams.start()
        yield streams
    except BaseException:
        # What is left then is the ledger's, and why is not to be hidden.
        with suppress(PlimsollError):
            remove(client, plan.selector, pods_path(plan.pods.namespace), _LONGEST_REMOVAL_S)
        raise
    remove(client, plan.selector, pods_path(plan.pods.namespace))
