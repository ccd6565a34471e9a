"""Queueing disciplines and bridges: messages as the kernel writes them, made here by hand."""

import struct
from collections.abc import Iterator

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.netlink import LINKS, NEIGHBOURS, QDISCS, attributes, messages
from plimsoll.observe.network import watched_namespace, xdp
from plimsoll.observe.network.bridge import Bridge, read_entry
from plimsoll.observe.network.qdisc import Qdisc, read_qdisc
from plimsoll.observe.network.xdp import Xdp
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from tests.unit.observe.watched import Watched


def attribute(number: int, value: bytes) -> bytes:
    padding = bytes(-len(value) % 4)
    return struct.pack("=HH", 4 + len(value), number) + value + padding


def link(index: int, name: str) -> bytes:
    return struct.pack("=BBHiII", 0, 0, 1, index, 0, 0) + attribute(3, name.encode() + b"\0")


def discipline(kind: str, packets: int, drops: int = 0, backlog: int = 0) -> bytes:
    """Of interface 7, handle 8001:."""
    head = struct.pack("=BxxxiIII", 0, 7, 0x80010000, 0xFFFFFFFF, 2)
    basic = attribute(1, struct.pack("=QI", packets * 64, packets))
    queue = attribute(3, struct.pack("=5I", backlog, backlog * 64, drops, 5, 6))
    # With the bit that marks nested attributes.
    return head + attribute(1, kind.encode() + b"\0") + attribute(7 | 0x8000, basic + queue)


def entry(index: int, state: int, flags: int = 0, family: int = 7) -> bytes:
    return struct.pack("=BxxxiHBB", family, index, state, flags, 0)


class Kernel:
    """Answers in place of a socket."""

    def __init__(self) -> None:
        self.bodies: dict[int, list[bytes]] = {LINKS: [link(7, "eth7"), link(8, "eth8")]}

    def ask(self, request: int, head: bytes) -> Iterator[bytes]:
        return iter(self.bodies.get(request, []))


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    known = Kernel()
    monkeypatch.setattr(watched_namespace, "RouteSocket", lambda: known)
    return known


def test_a_discipline_is_read() -> None:
    assert read_qdisc(discipline("fq_codel", 1000, drops=20, backlog=3)) == (
        (7, 0x80010000, b"fq_codel"),
        (1000, 20, 5, 6, 3),
    )
    assert read_qdisc(discipline("noqueue", 0)) is None
    assert read_qdisc(struct.pack("=BxxxiIII", 0, 7, 0, 0, 2)) is None


def test_what_a_discipline_counts_becomes_a_rate(kernel: Kernel) -> None:
    kernel.bodies[QDISCS] = [discipline("fq_codel", 1000, drops=20), discipline("noqueue", 0)]
    watched = Watched(Qdisc, ObservedHost())
    kernel.bodies[QDISCS] = [discipline("fq_codel", 1700, drops=23, backlog=9)]
    rows = watched.read()
    names = {"dev": "eth7", "kind": "fq_codel", "handle": "8001:"}
    assert rows.counts("packets-sec", **names) == [700]
    assert rows.counts("drops-sec", **names) == [3]
    assert rows.counts("requeues-sec", **names) == [0]
    assert rows.values("backlog-packets", **names) == [9]
    assert not [row for row in rows.rows if row.names.get("kind") == "noqueue"]


def test_a_counter_of_a_discipline_may_wrap(kernel: Kernel) -> None:
    kernel.bodies[QDISCS] = [discipline("fq_codel", 2**32 - 10)]
    watched = Watched(Qdisc, ObservedHost())
    kernel.bodies[QDISCS] = [discipline("fq_codel", 90)]
    assert watched.read().counts("packets-sec", dev="eth7") == [100]


def test_a_discipline_that_goes_is_absent(kernel: Kernel) -> None:
    kernel.bodies[QDISCS] = [discipline("fq_codel", 1000)]
    watched = Watched(Qdisc, ObservedHost())
    watched.read()
    kernel.bodies[QDISCS] = []
    watched.read()
    assert watched.read().times("packets-sec", dev="eth7") == [(0, 1)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # NUD_REACHABLE, NUD_STALE, NUD_NOARP, NUD_PERMANENT.
        (entry(7, 0x02), (7, "learned")),
        (entry(7, 0x04), (7, "learned")),
        (entry(7, 0x40), (7, "static")),
        (entry(7, 0x80), (7, "permanent")),
        # NTF_SELF: a multicast group that the interface itself listens to.
        (entry(7, 0x80, flags=0x02), None),
        # AF_INET: a neighbour.
        (entry(7, 0x02, family=2), None),
    ],
)
def test_an_entry_of_a_database_is_read(body: bytes, expected: tuple[int, str] | None) -> None:
    assert read_entry(body) == expected


def test_entries_are_counted_by_port_and_kind(kernel: Kernel) -> None:
    own = [entry(7, 0x80), entry(8, 0x80)]
    kernel.bodies[NEIGHBOURS] = own
    watched = Watched(Bridge, ObservedHost())
    kernel.bodies[NEIGHBOURS] = [*own, entry(7, 0x02), entry(7, 0x02), entry(8, 0x02)]
    watched.read()
    kernel.bodies[NEIGHBOURS] = [*own, entry(8, 0x02)]
    rows = watched.read()
    assert rows.values("fdb-entries", dev="eth7", kind="learned") == [2, 0]
    assert rows.values("fdb-entries", dev="eth8", kind="learned") == [1]
    assert rows.values("fdb-entries", dev="eth8", kind="permanent") == [1]


@pytest.mark.parametrize(("observer", "what"), [(Qdisc, "discipline"), (Bridge, "bridge")])
def test_a_host_without_any_says_so(
    kernel: Kernel, observer: type[Qdisc] | type[Bridge], what: str
) -> None:
    readings = Readings(observer.source, MetricLog("trial-0001", 0, {}))
    with pytest.raises(NotObservable, match=what):
        observer(ObservedHost(), readings)


def test_a_host_without_libbpf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(index: int) -> None:
        raise MachineError("libbpf.so.1 is missing", remedy="install the package libbpf1")

    monkeypatch.setattr(xdp.XdpCounts, "of_interface", missing)
    readings = Readings("xdp", MetricLog("trial-0001", 0, {}))
    with pytest.raises(NotObservable, match=r"libbpf\.so\.1 is missing \(install .* libbpf1"):
        Xdp(ObservedHost(), readings)


def test_a_namespace_that_has_gone_is_an_os_error() -> None:
    observation = Observation(namespaces={"plimsoll-000000": "/proc/nonexistent/plimsoll-000000"})
    own, of_lab = watched_namespace.watched_namespaces(observation)
    assert (own.names, of_lab.names) == ({}, {"netns": "plimsoll-000000"})
    assert own.run(lambda: 5) == 5
    with pytest.raises(OSError, match="cannot enter the network namespace plimsoll-000000"):
        of_lab.run(lambda: 5)


def test_messages_of_other_requests_are_passed_over() -> None:
    def message(number: int, body: bytes) -> bytes:
        return struct.pack("=IHHII", 16 + len(body), 28, 0, number, 0) + body

    block = message(1, b"late") + message(2, b"asked")
    # The second is padded to a multiple of four bytes.
    assert list(messages(block + bytes(3), 2)) == [(28, b"asked")]


@pytest.mark.parametrize("block", [bytes(16), struct.pack("=IHHII", 15, 3, 0, 1, 0)])
def test_a_message_shorter_than_its_header_is_refused(block: bytes) -> None:
    with pytest.raises(ValueError, match="a netlink message of"):
        list(messages(block, 1))


def test_an_attribute_shorter_than_its_header_is_refused() -> None:
    with pytest.raises(ValueError, match="a netlink attribute of 2 bytes"):
        attributes(struct.pack("=HH", 2, 1), 0)
