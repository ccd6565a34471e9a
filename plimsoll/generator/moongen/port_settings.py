"""Our streams as settings of the loops in `driver.lua`."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.errors import InputError
from plimsoll.generator.port_streams import check_one_a_port, check_plain, check_steps
from plimsoll.traffic.plan import StreamPlan

_MOST_FIELDS = 8
_LARGEST_FRAME = 1518
_ETHERTYPE, _IPV4 = slice(12, 14), b"\x08\x00"
_L3, _PROTOCOL, _UDP, _UDP_CHECKSUM = 14, 23, 17, slice(40, 42)
_HEADER_CHECKSUM = _L3 + 10
_SHORT_HEADER = 0x45
_WIDTHS = (1, 2, 4)


def check_streams(streams: tuple[StreamPlan, ...]) -> None:
    """Raise InputError for what the loops do not send or count."""
    for each in streams:
        if each.role == "latency":
            raise InputError(
                f"stream {each.name} is to be timed, and MoonGen times by ports with stamps of "
                "their own, on none of which this has run",
                where="profile.streams",
                remedy="leave out latency streams, or use another generator",
            )
    check_one_a_port(streams, "MoonGen")
    for each in streams:
        check_plain(each, "MoonGen")
        check_steps(each, "MoonGen")
        _check_frame(each)


def port_settings(stream: StreamPlan, burst: int) -> Iterator[tuple[str | int | float, ...]]:
    """The requests that prepare a stream's port.

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


def _fixes_ipv4(stream: StreamPlan) -> bool:
    return any(_HEADER_CHECKSUM in field.fixes for field in stream.fields)


def _check_frame(stream: StreamPlan) -> None:
    (frame,) = stream.frames
    if stream.largest_frame_size > _LARGEST_FRAME:
        raise _refused(stream, f"has frames of {stream.largest_frame_size} bytes, above 1518")
    if len(stream.fields) > _MOST_FIELDS:
        raise _refused(stream, f"varies {len(stream.fields)} fields; {_MOST_FIELDS} go")
    plain = frame[_ETHERTYPE] == _IPV4 and frame[_L3] == _SHORT_HEADER and frame[_PROTOCOL] == _UDP
    for field in stream.fields:
        base = int.from_bytes(frame[field.offset : field.offset + field.width], "big")
        last = base + (field.count - 1) * field.step
        if field.width not in _WIDTHS or last >= 1 << 8 * field.width:
            raise _refused(stream, f"varies bytes {field.offset} and on beyond 4 bytes")
        if field.fixes and not plain:
            raise _refused(stream, "varies what checksums cover in other packets than UDP on IPv4")


def _refused(stream: StreamPlan, why: str) -> InputError:
    return InputError(
        f"stream {stream.name} {why} (MoonGen)",
        where="profile.streams",
        remedy="change it, or use another generator",
    )
