"""Our streams as settings of the loops in `driver.lua` and `stamped_probes.lua`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.generator.port_streams import check_one_a_port, check_plain, check_steps, refusal
from plimsoll.traffic.plan import StreamPlan

# The words of one request.
Request = tuple[str | int | float, ...]

_NAME = "MoonGen"
_MAX_FIELDS = 8
_LARGEST_FRAME = 1518
_ETHERTYPE, _IPV4, _IPV6 = slice(12, 14), b"\x08\x00", b"\x86\xdd"
_PTP = b"\x88\xf7"
_L3, _PROTOCOL, _UDP, _UDP_CHECKSUM = 14, 23, 17, slice(40, 42)
_HEADER_CHECKSUM = _L3 + 10
_SHORT_HEADER = 0x45
_WIDTHS = (1, 2, 4)


def loads_of(streams: tuple[StreamPlan, ...]) -> tuple[StreamPlan, ...]:
    """Those that the loops of ports send."""
    return tuple(each for each in streams if each.role == "load")


def probes_of(streams: tuple[StreamPlan, ...]) -> tuple[StreamPlan, ...]:
    """Those that the timestamper sends."""
    return tuple(each for each in streams if each.role == "latency")


def check_streams(streams: tuple[StreamPlan, ...]) -> None:
    """Raise InputError for what is not sent or counted."""
    loads, probes = loads_of(streams), probes_of(streams)
    check_one_a_port(loads, _NAME)
    check_one_a_port(probes, _NAME)
    for each in streams:
        check_plain(each, _NAME)
        if each.largest_frame_size > _LARGEST_FRAME:
            raise refusal(each, f"has frames of {each.largest_frame_size} bytes, above 1518", _NAME)
    for each in loads:
        check_steps(each, _NAME)
        _check_load(each, with_probes=bool(probes))
    for each in probes:
        _check_probe(each)


def port_settings(stream: StreamPlan, burst: int) -> Iterator[Request]:
    """The requests that prepare a load's port.

    A UDP checksum over IPv4 that fields would have changed is none (0, RFC 768); that of the IPv4
    header is made anew by the loop.
    """
    (template,) = stream.frames
    frame = bytearray(template)
    ipv4 = _fixes_ipv4(stream)
    if ipv4 and frame[_PROTOCOL] == _UDP:
        frame[_UDP_CHECKSUM] = b"\0\0"
    assert stream.rate_pps is not None  # noqa: S101 - by its pacing
    gap_ns = 1e9 * burst / stream.rate_pps
    port = stream.tx_port
    yield "frame", port, frame.hex(), _L3 if ipv4 else 0, burst, f"{gap_ns:.6f}"
    for field in stream.fields:
        base = int.from_bytes(frame[field.offset : field.offset + field.width], "big")
        yield "field", port, field.offset, field.width, base, field.count, field.step


def probe_settings(number: int, stream: StreamPlan, latencies: Path) -> Request:
    """The request that prepares the trial's probes of that number, from 0 on.

    Without a rate one leaves as soon as the last is back.
    """
    (frame,) = stream.frames
    gap_ns = 1e9 / stream.rate_pps if stream.rate_pps else 0.0
    wait_ms = max(1, round(stream.pacing.timeout_us / 1000))
    ports = (stream.tx_port, stream.rx_port)
    return ("probe", number, *ports, frame.hex(), f"{gap_ns:.6f}", wait_ms, str(latencies))


def _fixes_ipv4(stream: StreamPlan) -> bool:
    return any(_HEADER_CHECKSUM in field.fixes for field in stream.fields)


def _check_load(stream: StreamPlan, *, with_probes: bool) -> None:
    (frame,) = stream.frames
    if with_probes and frame[_ETHERTYPE] not in (_IPV4, _IPV6):
        raise refusal(stream, "is not IP, by which cards keep load and probes apart", _NAME)
    if len(stream.fields) > _MAX_FIELDS:
        raise refusal(stream, f"varies {len(stream.fields)} fields; {_MAX_FIELDS} go", _NAME)
    plain = frame[_ETHERTYPE] == _IPV4 and frame[_L3] == _SHORT_HEADER and frame[_PROTOCOL] == _UDP
    for field in stream.fields:
        base = int.from_bytes(frame[field.offset : field.offset + field.width], "big")
        last = base + (field.count - 1) * field.step
        if field.width not in _WIDTHS or last >= 1 << 8 * field.width:
            raise refusal(stream, f"varies bytes {field.offset} and on beyond 4 bytes", _NAME)
        if field.fixes and not plain:
            why = "varies what checksums cover in other packets than UDP on IPv4"
            raise refusal(stream, why, _NAME)


def _check_probe(stream: StreamPlan) -> None:
    (frame,) = stream.frames
    if stream.fields or frame[_ETHERTYPE] != _PTP:
        raise InputError(
            f"stream {stream.name} does not send PTP on Ethernet in one flow, of which alone "
            "MoonGen reads the cards' stamps here",
            where="profile.streams",
            remedy="give the stream protocol: PTP, or use another generator",
        )
    if stream.pacing.kind != "one-in-flight":
        raise InputError(
            f"stream {stream.name} may have several probes under way, and MoonGen has one",
            where="profile.streams",
            remedy="give the stream pacing: one-in-flight, or use another generator",
        )
