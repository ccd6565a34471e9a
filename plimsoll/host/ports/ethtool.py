"""What a driver says of its interface, by the ethtool ioctl (linux/ethtool.h); needs no root.

To change something needs CAP_NET_ADMIN.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from dataclasses import dataclass

_SIOCETHTOOL = 0x8946
_GET_DRIVER_INFO = 0x03
_GET_TIME_STAMPING_INFO = 0x41
_SET_RECEIVE_OFFLOAD = 0x2C
_SET_TRANSMIT_CHECKSUMS = 0x17
_GET_FLAGS, _SET_FLAGS = 0x25, 0x26
_FLAG_TX_VLAN = 1 << 7
_GET_CHANNELS, _SET_CHANNELS = 0x3C, 0x3D
# struct ethtool_channels: cmd, the most of receiving, sending, other and combined, then how many.
_CHANNELS = struct.Struct("=9I")
# struct ethtool_drvinfo: cmd, then driver[32], and more up to 196 bytes.
_DRIVER_INFO_BYTES = 196
# struct ethtool_ts_info: cmd, so_timestamping, phc_index, tx_types, 3 reserved, rx_filters, 3.
_STAMPING_INFO = struct.Struct("=IIiI12xI12x")
# SOF_TIMESTAMPING_TX_HARDWARE, _RX_HARDWARE and _RAW_HARDWARE of linux/net_tstamp.h.
_TX_HARDWARE, _RX_HARDWARE, _RAW_HARDWARE = 1 << 0, 1 << 2, 1 << 6
# HWTSTAMP_TX_ON; HWTSTAMP_FILTER_ALL, which stamps every frame and not just PTP's.
_TX_ON, _FILTER_ALL = 1 << 1, 1 << 1


@dataclass(frozen=True, slots=True)
class HardwareStamps:
    """Which frames the card can stamp by its own clock, `phc`, the number of /dev/ptpN."""

    rx_all: bool
    rx_some: bool
    tx: bool
    phc: int | None


@dataclass(frozen=True, slots=True)
class Channels:
    """How many queues an interface has: for receiving, for sending, and for both at once."""

    rx: int
    tx: int
    combined: int


def driver_of(name: str) -> str | None:
    """The driver of an interface, also of a virtual one: "veth", "bridge". None if unknown."""
    answer = _ask(name, struct.pack("=I", _GET_DRIVER_INFO).ljust(_DRIVER_INFO_BYTES, b"\0"))
    if answer is None:
        return None
    return answer[4:36].partition(b"\0")[0].decode(errors="replace") or None


def hardware_stamps_of(name: str) -> HardwareStamps | None:
    """What an interface's card can stamp; None where the driver does not say."""
    request = _STAMPING_INFO.pack(_GET_TIME_STAMPING_INFO, 0, 0, 0, 0)
    answer = _ask(name, request)
    return None if answer is None else read_stamping_info(answer)


def turn_on_receive_offload(name: str) -> bool:
    """Turn on generic receive offload (GRO); False where kernel or driver refuses."""
    return _ask(name, struct.pack("=II", _SET_RECEIVE_OFFLOAD, 1)) is not None


def turn_off_transmit_checksums(name: str) -> bool:
    """Have checksums in frames before they leave, and segments too; False where it is refused.

    Who takes frames of a virtual interface without the kernel finds them unfinished otherwise.
    """
    return _ask(name, struct.pack("=II", _SET_TRANSMIT_CHECKSUMS, 0)) is not None


def turn_off_vlan_insertion(name: str) -> bool:
    """Have VLAN tags written into frames, not next to them; False where that is refused."""
    answer = _ask(name, struct.pack("=II", _GET_FLAGS, 0))
    if answer is None:
        return False
    flags = struct.unpack("=II", answer)[1] & ~_FLAG_TX_VLAN
    return _ask(name, struct.pack("=II", _SET_FLAGS, flags)) is not None


def channels_of(name: str) -> Channels | None:
    """An interface's queues; None where the driver does not say."""
    answer = _ask(name, _CHANNELS.pack(_GET_CHANNELS, *[0] * 8))
    if answer is None:
        return None
    *_, rx, tx, _, combined = _CHANNELS.unpack(answer)
    return Channels(rx, tx, combined)


def set_channels(name: str, channels: Channels) -> bool:
    """Give an interface so many queues; False where the driver refuses."""
    answer = _ask(name, _CHANNELS.pack(_GET_CHANNELS, *[0] * 8))
    if answer is None:
        return False
    _, *most, _, _, other, _ = _CHANNELS.unpack(answer)
    given = (*most, channels.rx, channels.tx, other, channels.combined)
    return _ask(name, _CHANNELS.pack(_SET_CHANNELS, *given)) is not None


def read_stamping_info(answer: bytes) -> HardwareStamps:
    """A struct ethtool_ts_info as the kernel fills it in."""
    _, ways, phc, tx_types, rx_filters = _STAMPING_INFO.unpack(answer)
    raw = bool(ways & _RAW_HARDWARE)
    rx = raw and bool(ways & _RX_HARDWARE)
    return HardwareStamps(
        rx_all=rx and bool(rx_filters & _FILTER_ALL),
        rx_some=rx and bool(rx_filters & ~1),
        tx=raw and bool(ways & _TX_HARDWARE) and bool(tx_types & _TX_ON),
        phc=phc if phc >= 0 else None,
    )


def _ask(name: str, request: bytes) -> bytes | None:
    """The ioctl's answer, or None where the kernel or the driver refuses."""
    buffer = ctypes.create_string_buffer(request, len(request))
    # struct ifreq: the name in 16 bytes, then a pointer, and padding up to 40.
    ifreq = struct.pack("16sP16x", name.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, _SIOCETHTOOL, ifreq)
        except OSError:
            return None
    return buffer.raw
