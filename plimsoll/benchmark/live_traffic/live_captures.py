"""The captures of live traffic: of which ports, whether they are on, and in which files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.interface import CaptureCounts, CapturePlan
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


# Of a frame, which is then whole: the engine receives none that is longer.
MAX_SNAP_BYTES = 9342
# That a generator's file may have.
_MAX_FRAMES = 100_000_000


@dataclass(frozen=True, slots=True)
class PortCapture:
    """What a capture of a port keeps: so many frames, and of each the first bytes, None for all."""

    most_frames: int
    snap_bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """Of each frame."""
        return MAX_SNAP_BYTES if self.snap_bytes is None else self.snap_bytes


@dataclass(frozen=True, slots=True)
class CapturedPort:
    """What was captured of a port since its capture began, in so many files.

    `left_out` are frames that came while it was on and are not in them, `error` is why a file
    could not be written. The files are there until the next capture of the port begins.
    """

    files: tuple[Path, ...]
    most_frames: int
    snap_bytes: int = MAX_SNAP_BYTES
    left_out: int = 0
    error: str | None = None

    def frames(self) -> Iterator[ReceivedFrame]:
        """In order. Raises MachineError where a file cannot be read."""
        found = (frame for path in self.files for frame in read_received(path))
        try:
            yield from islice(found, self.most_frames)
        except OSError as error:
            raise MachineError(f"a capture cannot be read: {error.strerror}") from None


@dataclass
class _Capture:
    """A port's: its files since it began, oldest first, and what is known of each.

    `current` is the generator's last, which is not one of these where its trial began while the
    capture was off.
    """

    kept: PortCapture
    folder: Path
    on: bool = False
    files: dict[Path, CaptureCounts | None] = field(default_factory=dict)
    current: Path | None = None

    def frames(self) -> int:
        return sum(counts.frames for counts in self.files.values() if counts)


class LiveCaptures:
    """Files of captures, in a folder that its owner removes. One thread at a time.

    Each trial begins with a file for each port that was prepared, and so does each capture that
    begins while one runs.
    """

    def __init__(self, folder: Path | None) -> None:
        """None where nothing can be captured."""
        self._folder = folder
        self._numbers = count()
        self._captures: dict[int, _Capture] = {}

    def prepare(self, ports: Mapping[int, PortCapture]) -> None:
        """From the next trial on these ports can be captured, and no others; files are removed.

        Raises InputError where there is no folder for them or they can keep nothing, MachineError
        where the folder cannot be made.
        """
        for kept in ports.values():
            _check(kept)
        folder = self._made_folder() if ports else Path()
        for capture in self._captures.values():
            _forget(capture)
        self._captures = {port: _Capture(kept, folder) for port, kept in ports.items()}

    def plans(self) -> tuple[CapturePlan, ...]:
        """Those of a trial that begins."""
        return tuple(self._plan(port, capture) for port, capture in self._captures.items())

    def begin(self, port: int, *, sending: bool) -> Path | None:
        """Capture a port from now on, without what was captured before.

        Where a trial runs (`sending`), it is to go on with the file that is returned. Raises
        InputError for a port that was not prepared.
        """
        capture = self._capture(port)
        _forget(capture)
        capture.on = True
        return self._next_file(capture, kept=True) if sending else None

    def end(self, port: int) -> None:
        """Capture no more of it. Raises InputError for a port that was not prepared."""
        self._capture(port).on = False

    def is_on(self, port: int) -> bool:
        """Whether the port is captured while frames are sent. Raises InputError as above."""
        return self._capture(port).on

    def note(self, counts: Iterable[CaptureCounts]) -> None:
        """What a trial says of the last file of ports."""
        for each in counts:
            capture = self._captures.get(each.port)
            if capture is not None and capture.current in capture.files:
                capture.files[capture.current] = each

    def captured(self, port: int) -> CapturedPort:
        """All of a port since its capture began. Raises InputError as above."""
        capture = self._capture(port)
        known = [counts for counts in capture.files.values() if counts]
        return CapturedPort(
            files=tuple(capture.files),
            most_frames=capture.kept.most_frames,
            snap_bytes=capture.kept.most_bytes,
            left_out=sum(counts.left_out for counts in known),
            error=next((counts.error for counts in known if counts.error), None),
        )

    def _made_folder(self) -> Path:
        if self._folder is None:
            raise InputError(
                "this generator writes no frames that it receives to files",
                where="generator",
                remedy="use kind: engine",
            )
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"captures cannot be kept here: {error.strerror}", where=str(self._folder)
            ) from None
        return self._folder

    def _capture(self, port: int) -> _Capture:
        if port not in self._captures:
            raise InputError(
                f"port {port} is not prepared for a capture",
                where="captures",
                remedy="name a port of the captures that were configured",
            )
        return self._captures[port]

    def _plan(self, port: int, capture: _Capture) -> CapturePlan:
        if capture.current is not None and capture.current not in capture.files:
            _unlink(capture.current)
        path = self._next_file(capture, kept=capture.on)
        left = max(1, capture.kept.most_frames - capture.frames())
        return CapturePlan(port, str(path), left, capture.kept.snap_bytes, capture.on)

    def _next_file(self, capture: _Capture, *, kept: bool) -> Path:
        capture.current = capture.folder / f"{next(self._numbers)}.pcap"
        if kept:
            capture.files[capture.current] = None
        return capture.current


def _check(kept: PortCapture) -> None:
    for name, value, most in (
        ("most_frames", kept.most_frames, _MAX_FRAMES),
        ("snap_bytes", kept.most_bytes, MAX_SNAP_BYTES),
    ):
        if not 1 <= value <= most:
            raise InputError(f"{value} cannot be kept", where=name, remedy=f"give 1 to {most}")


def _forget(capture: _Capture) -> None:
    for path in (*capture.files, capture.current):
        if path is not None:
            _unlink(path)
    capture.files.clear()
    capture.current = None


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
