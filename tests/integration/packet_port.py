"""A packet socket on one interface: frames are sent there, and those that come in are read.

Also in guests, where imports take seconds: of the standard library alone.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Self

# linux/if_ether.h and linux/if_packet.h; struct tpacket_auxdata: status, lengths, offsets, the tag
# and its protocol.
_ETH_P_ALL, _PACKET_OUTGOING = 0x0003, 4
_SOL_PACKET, _PACKET_AUXDATA, _VLAN_VALID = 263, 8, 0x10
_AUXDATA = struct.Struct("=IIIHHHH")
# asm-generic/socket.h; room for thousands of frames that nobody has read yet.
_SO_RCVBUFFORCE, _QUEUED_BYTES = 33, 16 << 20
_LONGEST_FRAME = 65_536
_PATIENCE_S = 60.0


class PacketPort:
    """It hears this interface alone, and each wait for a frame ends after `patience_s`."""

    def __init__(self, interface: str, patience_s: float = _PATIENCE_S) -> None:
        # Of protocol 0 it hears nothing. With a protocol it would hear every interface, such as
        # lo, until it is bound.
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _QUEUED_BYTES)
        self._socket.settimeout(patience_s)
        self._socket.bind((interface, _ETH_P_ALL))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, frame: bytes, count: int = 1) -> None:
        """Send it as often."""
        for _ in range(count):
            self._socket.send(frame)

    def receive(self, wanted: Callable[[bytes], bool] = lambda _: True) -> bytes:
        """The next frame that came in for one receiver, with its VLAN tag, and that is `wanted`.

        Kernels announce their own multicast groups by themselves. Raises TimeoutError.
        """
        while True:
            content, ancillary, _, address = self._socket.recvmsg(_LONGEST_FRAME, 64)
            if address[2] != _PACKET_OUTGOING and not content[0] & 1:
                frame = _with_tag(content, [data for _, _, data in ancillary])
                if wanted(frame):
                    return frame


def _with_tag(content: bytes, auxdata: list[bytes]) -> bytes:
    """The frame with its VLAN tag, which the kernel takes off and tells apart from it."""
    for each in auxdata:
        status, *_, tag, protocol = _AUXDATA.unpack_from(each)
        if status & _VLAN_VALID:
            return content[:12] + struct.pack("!HH", protocol, tag) + content[12:]
    return content
