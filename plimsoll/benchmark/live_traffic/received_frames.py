"""Frames out of the files that a generator captures to, also while it writes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.search.text.wire import FCS_BYTES

# Classic pcap with times in ns, in this machine's byte order, as docs/engine-protocol.md says.
_FILE = struct.Struct("=IHHiIII")
_FRAME = struct.Struct("=IIII")
_MAGIC, _MAJOR, _MINOR, _ETHERNET = 0xA1B23C4D, 2, 4, 1
# Of pcapng (draft-ietf-opsawg-pcapng): a section of unknown length, one interface whose option
# if_tsresol says that times are in ns and if_fcslen that frames have their FCS, and enhanced packet
# blocks.
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_SECTION_BODY = struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1)
_OPTIONS = struct.pack("=HHB3xHHB3xHH", 9, 1, 9, 13, 1, FCS_BYTES, 0, 0)


@dataclass(frozen=True, slots=True)
class ReceivedFrame:
    """The first bytes of a frame that came at `unix_ns` (ns since 1970) and had `length`."""

    unix_ns: int
    length: int
    data: bytes


def read_received(path: Path) -> Iterator[ReceivedFrame]:
    """The whole frames of a file; one that is being written ends it, and no file has none.

    Raises OSError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(_FILE.size)
            while len(header := file.read(_FRAME.size)) == _FRAME.size:
                second, fraction, kept, length = _FRAME.unpack(header)
                data = file.read(kept)
                if len(data) < kept:
                    return
                yield ReceivedFrame(second * 10**9 + fraction, length, data)
    except FileNotFoundError:
        return


def with_fcs(frames: Iterable[ReceivedFrame], snap_bytes: int) -> Iterator[ReceivedFrame]:
    """Frames as long as on the wire, cut to `snap_bytes`.

    No port hands an FCS over, so it is computed (IEEE 802.3, 3.2.9) of what came, and proves
    nothing. Of a frame that is cut already it is missing.
    """
    for frame in frames:
        whole = len(frame.data) == frame.length
        fcs = zlib.crc32(frame.data).to_bytes(FCS_BYTES, "little") if whole else b""
        yield ReceivedFrame(
            frame.unix_ns, frame.length + FCS_BYTES, (frame.data + fcs)[:snap_bytes]
        )


def as_pcap(frames: Iterable[ReceivedFrame], snap_bytes: int) -> bytes:
    """A file of the same format, of frames that were cut to `snap_bytes` at most."""
    content = bytearray(_FILE.pack(_MAGIC, _MAJOR, _MINOR, 0, 0, snap_bytes, _ETHERNET))
    for frame in frames:
        content += _FRAME.pack(*divmod(frame.unix_ns, 10**9), len(frame.data), frame.length)
        content += frame.data
    return bytes(content)


def as_pcapng(frames: Iterable[ReceivedFrame], snap_bytes: int) -> bytes:
    """The same as pcapng, of frames with their FCS."""
    interface = struct.pack("=HHI", _ETHERNET, 0, snap_bytes) + _OPTIONS
    content = bytearray(_block(_SECTION, _SECTION_BODY) + _block(_INTERFACE, interface))
    for frame in frames:
        high, low = divmod(frame.unix_ns, 1 << 32)
        header = struct.pack("=IIIII", 0, high, low, len(frame.data), frame.length)
        content += _block(_PACKET, header + frame.data)
    return bytes(content)


def _block(kind: int, body: bytes) -> bytes:
    """Padded to 32 bits, with its length before and behind."""
    padded = body + bytes(-len(body) % 4)
    length = struct.pack("=I", len(padded) + 12)
    return struct.pack("=I", kind) + length + padded + length
