"""Probes that ports stamp as they leave and as they come (DPDK's timesync): which can be."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import InputError
from plimsoll.traffic.plan import StreamPlan

# IEEE 1588-2019, annexes C to E: on Ethernet by its type, on UDP event messages by their port.
_PTP_TYPE, _PTP_PORT = 0x88F7, 319
_IPV4, _IPV6, _UDP = 0x0800, 0x86DD, 17
_ETHERNET_BYTES, _IPV6_BYTES = 14, 40


def check_timesync(streams: Sequence[StreamPlan]) -> None:
    """Raise InputError for probes that ports cannot stamp.

    A port keeps one stamp each way until it is read, of frames that it takes for PTP's.
    """
    probes = [stream for stream in streams if stream.role == "latency"]
    if not probes:
        raise InputError(
            "timesync stamps probes, and the profile has none",
            where="generator.stamps",
            remedy="add a stream with role: latency, protocol: PTP and pacing: one-in-flight",
        )
    for stream in probes:
        _check_probe(stream)
    for ports, does in (
        ([stream.tx_port for stream in probes], "sends"),
        ([stream.rx_port for stream in probes], "receives"),
    ):
        for index, port in enumerate(ports):
            if port in ports[:index]:
                raise InputError(
                    f"port {port} {does} the probes of {probes[ports.index(port)].name} and of "
                    f"{probes[index].name}, and keeps one stamp",
                    where="generator.stamps",
                    remedy="leave one probe stream in each direction",
                )


def _check_probe(stream: StreamPlan) -> None:
    if stream.pacing.kind != "one-in-flight":
        raise InputError(
            f"stream {stream.name} may have several probes under way, and a port keeps one stamp",
            where="generator.stamps",
            remedy="give the stream pacing: one-in-flight, or use stamps: tsc",
        )
    if not all(is_ptp(frame) for frame in stream.frames):
        raise InputError(
            f"stream {stream.name} does not send PTP, of which alone ports keep stamps",
            where="generator.stamps",
            remedy="give the stream protocol: PTP, or use stamps: tsc",
        )


def is_ptp(frame: bytes) -> bool:
    """Whether a port may take a frame for an event message of PTP's: untagged, on Ethernet or UDP.

    DPDK's drivers for Intel's igb and ixgbe look for those on Ethernet alone.
    """
    kind = int.from_bytes(frame[12:_ETHERNET_BYTES])
    if kind == _IPV4 and frame[23:24] == bytes([_UDP]):
        return _has_ptp_port(frame, _ETHERNET_BYTES + 4 * (frame[_ETHERNET_BYTES] & 15))
    if kind == _IPV6 and frame[20:21] == bytes([_UDP]):
        return _has_ptp_port(frame, _ETHERNET_BYTES + _IPV6_BYTES)
    return kind == _PTP_TYPE


def _has_ptp_port(frame: bytes, transport: int) -> bool:
    return int.from_bytes(frame[transport + 2 : transport + 4]) == _PTP_PORT
