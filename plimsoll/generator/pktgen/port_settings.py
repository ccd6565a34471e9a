"""Our streams as Pktgen's settings of a port: its range of frames, its rate, its latency frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from plimsoll.generator.port_streams import (
    check_one_a_port,
    check_plain,
    check_steps,
    check_udp_over_ipv4,
    refusal,
)
from plimsoll.search.text.wire import FCS_BYTES, PREAMBLE_AND_GAP_BYTES
from plimsoll.traffic.plan import FieldWriter, StreamPlan

_NAME = "Pktgen"
# Pktgen's buffers have room for these (RTE_MBUF_DEFAULT_BUF_SIZE); both with FCS.
_MIN_FRAME, _LARGEST_FRAME = 64, 1518
# Of its latency frames with the sampler on, with FCS: LATENCY_PKT_SIZE, sizeof(tstamp_t).
LATENCY_FRAME = 64 + 16 + FCS_BYTES
# The buffers of a port that frames are written into.
_MAX_FLOWS = 16384
# range_set_dst_port takes no longer steps.
_LONGEST_PORT_STEP = 64
# In us, MAX_LATENCY_RATE.
_LONGEST_GAP_US = 1_000_000
_TOS, _TTL = 15, 22
# By offset in the frame: the name of a field of the range, and its bytes.
_FIELDS = {
    26: ("src_ip", 4),
    30: ("dst_ip", 4),
    34: ("src_port", 2),
    36: ("dst_port", 2),
}

# A function of Pktgen's Lua library, by its name there, and its arguments.
LibraryCall = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PortStreams:
    """What one port sends: its load, and its probes, if any."""

    load: StreamPlan
    probe: StreamPlan | None = None

    @property
    def flows(self) -> int:
        """Those of the load: of fields that change with every frame, the longest's values."""
        return max((field.count for field in self.load.fields), default=1)


def streams_by_port(streams: tuple[StreamPlan, ...]) -> dict[int, PortStreams]:
    """By the number of the sending port. Raises InputError for what Pktgen does not send."""
    for role in ("load", "latency"):
        check_one_a_port(tuple(each for each in streams if each.role == role), _NAME)
    loads = {each.tx_port: each for each in streams if each.role == "load"}
    probes = {each.tx_port: each for each in streams if each.role == "latency"}
    for each in streams:
        check_plain(each, _NAME)
        check_udp_over_ipv4(each, _NAME)
    for port, probe in probes.items():
        _check_probe(probe, loads.get(port))
    for load in loads.values():
        _check_load(load)
    return {port: PortStreams(load, probes.get(port)) for port, load in loads.items()}


def rate_percent(pps: float, link_mbps: int, frame_size: int) -> float:
    """What Pktgen takes as a rate, such that it comes to `pps`, rounded down, by its arithmetic.

    `frame_size` is with FCS. Of the link's rate in frames Pktgen drops the decimals first
    (pktgen_packet_rate).
    """
    wire_bits = 8 * (frame_size + PREAMBLE_AND_GAP_BYTES)
    return 100.0 * (int(pps) + 0.5) / (link_mbps * 1_000_000 // wire_bits)


def port_settings(port: int, streams: PortStreams, burst: int) -> Iterator[LibraryCall]:
    """The calls that prepare a port, but for its rate."""
    load = streams.load
    (frame,) = load.frames
    size = load.largest_frame_size
    yield "pattern", port, "zero"
    # Of the single frame's size a rate is made; its addresses are those of latency frames.
    yield from _single_frame(port, load if streams.probe is None else streams.probe)
    yield "set", port, "size", size
    yield from _fixed(port, "pkt_size", size)
    for name, address in (("dst_mac", frame[:6]), ("src_mac", frame[6:12])):
        yield f"range.{name}", port, "start", address.hex(":")
        yield f"range.{name}", port, "inc", "00:00:00:00:00:00"
    yield from _fixed(port, "tos", frame[_TOS])
    yield from _fixed(port, "ttl", frame[_TTL])
    yield "range.ip_proto", port, "udp"
    varied = {field.offset: field for field in load.fields}
    for offset, (name, width) in _FIELDS.items():
        value = int.from_bytes(frame[offset : offset + width], "big")
        yield from _range(port, name, width, value, varied.get(offset))
    yield "set_range", port, "on"
    yield "set", port, "txburst", burst


def probe_settings(
    port: int, probe: StreamPlan | None, samples: int, file: str
) -> Iterator[LibraryCall]:
    """The calls by which the port sends probes, if any, and times those that it receives.

    `samples` a second go to `file`. Each port has its latency frames on to time another's.
    """
    yield "latency", port, "on"
    yield "latency", port, "rate", _gap_us(probe)
    yield "latsampler_params", port, "simple", MAX_SAMPLES, samples, file


# MAX_LATENCY_ENTRIES.
MAX_SAMPLES = 50_000


def _gap_us(probe: StreamPlan | None) -> int:
    pps = 0.0 if probe is None else probe.rate_pps or 0.0
    return min(_LONGEST_GAP_US, max(1, round(1e6 / pps))) if pps else _LONGEST_GAP_US


def _single_frame(port: int, stream: StreamPlan) -> Iterator[LibraryCall]:
    (frame,) = stream.frames
    yield "set_mac", port, "dst", frame[:6].hex(":")
    yield "set_mac", port, "src", frame[6:12].hex(":")
    yield "set_ipaddr", port, "dst", str(IPv4Address(frame[30:34]))
    yield "set_ipaddr", port, "src", f"{IPv4Address(frame[26:30])}/32"
    yield "set_proto", port, "udp"
    yield "set", port, "sport", int.from_bytes(frame[34:36], "big")
    yield "set", port, "dport", int.from_bytes(frame[36:38], "big")


def _range(
    port: int, name: str, width: int, value: int, field: FieldWriter | None
) -> Iterator[LibraryCall]:
    """A field's first value, its least and greatest, and its step."""
    count, step = (1, 0) if field is None else (field.count, field.step)
    values = (("start", value), ("min", value), ("max", value + (count - 1) * step), ("inc", step))
    for what, number in values:
        yield f"range.{name}", port, what, str(IPv4Address(number)) if width == 4 else number


def _fixed(port: int, name: str, value: int) -> Iterator[LibraryCall]:
    for what in ("start", "min", "max"):
        yield f"range.{name}", port, what, value
    yield f"range.{name}", port, "inc", 0


def _check_load(load: StreamPlan) -> None:
    size = load.largest_frame_size
    if not _MIN_FRAME <= size <= _LARGEST_FRAME:
        raise refusal(
            load, f"has frames of {size} bytes; {_MIN_FRAME} to {_LARGEST_FRAME} go", _NAME
        )
    check_steps(load, _NAME)
    for field in load.fields:
        name, width = _FIELDS.get(field.offset, ("", 0))
        if width != field.width:
            raise refusal(load, "varies something else than IPv4 addresses and UDP ports", _NAME)
        if width == 2 and field.step > _LONGEST_PORT_STEP:
            raise refusal(load, f"varies {name} by steps of {field.step}; up to 64 go", _NAME)
        if field.count > _MAX_FLOWS:
            raise refusal(load, f"has {field.count} flows; up to {_MAX_FLOWS} go", _NAME)


def _check_probe(probe: StreamPlan, load: StreamPlan | None) -> None:
    if load is None or load.rx_port != probe.rx_port:
        raise refusal(probe, "has no load along with it, which latency frames follow", _NAME)
    if probe.largest_frame_size != LATENCY_FRAME:
        raise refusal(
            probe,
            f"has frames of {probe.largest_frame_size} bytes; latency frames have {LATENCY_FRAME}",
            _NAME,
        )
    if probe.fields:
        raise refusal(probe, "has flows, and latency frames are of one", _NAME)
    if probe.rate_pps is None:
        raise refusal(probe, "has no rate; latency frames leave at most one a burst", _NAME)
