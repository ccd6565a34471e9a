"""The captures of live traffic: of which ports, whether they are on, and in which files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from plimsoll.benchmark.live_traffic.received_frames import ReceivedFrame, read_received
from plimsoll.errors import InputError, MachineError
from plimsoll.generator.interface import CaptureCounts, CapturePlan

# Of a frame, which is then whole: the engine receives none that is longer.
MOST_SNAP_BYTES = 9342
# That a generator's file may have.
_MOST_FRAMES = 100_000_000


@dataclass(frozen=True, slots=True)
class PortCapture:
    """What a capture of a port keeps: so many frames, and of each the first bytes, None for all."""

    most_frames: int
    snap_bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """Of each frame."""
        return MOST_SNAP_BYTES if self.snap_bytes is None else self.snap_bytes


@dataclass(frozen=True, slots=True)
class CapturedPort:
    """What was captured of a port since its capture began, in so many files.

    `left_out` are frames that came while it was on and are not in them, `error` is why a file
    could not be written. The files are there until the next capture of the port begins.
    """

    files: tuple[Path, ...]
    most_frames: int
    snap_bytes: int = MOST_SNAP_BYTES
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

    `current` is the generator's last, which is none of these where its trial began while the
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
        ("most_frames", kept.most_frames, _MOST_FRAMES),
        ("snap_bytes", kept.most_bytes, MOST_SNAP_BYTES),
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
