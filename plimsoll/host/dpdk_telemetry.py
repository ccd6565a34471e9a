"""A client of DPDK's telemetry, version 2: one JSON answer for each command."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from plimsoll.errors import MachineError, PlimsollError

# DPDK announces 16384 as its longest answer.
_LONGEST_ANSWER_BYTES = 65536


class TelemetryError(PlimsollError):
    """A DPDK process does not answer, or not in the form its protocol promises."""

    exit_code = MachineError.exit_code


class TelemetrySocket:
    """Whole messages to and from a DPDK process; its user knows which answers are owed."""

    def __init__(self, path: Path, timeout_s: float) -> None:
        """Connect; with a timeout of 0 nothing ever waits. Raises TelemetryError."""
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise self.error(f"cannot connect: {error.strerror or error}") from error

    def send(self, command: str) -> None:
        """Ask. Raises TelemetryError when the process is gone."""
        try:
            self._socket.send(command.encode())
        except OSError as error:
            raise self.error(f"cannot ask for {command}: {error}") from error

    def receive(self, what: str) -> dict[str, object]:
        """The next message, which should be `what`. Raises TelemetryError."""
        try:
            answer, _, flags, _ = self._socket.recvmsg(_LONGEST_ANSWER_BYTES)
        except OSError as error:
            raise self.error(f"no answer to {what}: {error}") from error
        if not answer:
            raise self.error(f"the process hung up instead of answering {what}")
        if flags & socket.MSG_TRUNC:
            raise self.error(f"the answer to {what} exceeds {_LONGEST_ANSWER_BYTES} bytes")
        try:
            document = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise self.error(f"the answer to {what} is not JSON: {error}") from error
        if not isinstance(document, dict):
            raise self.error(f"the answer to {what} is not an object")
        return document

    def fileno(self) -> int:
        """For waiting until there is something to receive."""
        return self._socket.fileno()

    def close(self) -> None:
        """Hang up; safe to repeat."""
        self._socket.close()

    def error(self, message: str) -> TelemetryError:
        """What is wrong with this conversation."""
        return TelemetryError(
            message,
            where=f"DPDK telemetry {self._path}",
            remedy="check that the process still runs and is a DPDK of 20.11 or later",
        )


def counter(stats: Mapping[str, object], name: str) -> int:
    """One count of an answer to /ethdev/stats. Raises TelemetryError where it is not a count."""
    value = stats.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TelemetryError(
            f"the port counter {name!r} is {value!r}, not a count",
            where="DPDK telemetry",
            remedy="check the version of the process's DPDK",
        )
    return value


class Telemetry:
    """One connection to the telemetry socket of a DPDK process."""

    def __init__(self, path: Path, timeout_s: float = 5.0) -> None:
        """Connect. Raises TelemetryError when nothing listens or the greeting is invalid."""
        self._socket = TelemetrySocket(path, timeout_s)
        try:
            greeting = self._socket.receive("the greeting")
            self.version = str(greeting.get("version", "unknown"))
        except BaseException:
            self._socket.close()
            raise

    def query(self, command: str) -> dict[str, object]:
        """The answer to a command such as "/ethdev/stats,0".

        Raises TelemetryError when the process does not know the command or its
        parameter, is gone, or answers with anything but an object.
        """
        self._socket.send(command)
        answer = self._socket.receive(command).get(command.partition(",")[0])
        if answer is None:
            raise self._socket.error(f"the process does not know {command}")
        if not isinstance(answer, dict):
            raise self._socket.error(f"the answer to {command} is not an object")
        return answer

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Self:
        """The connection, closed when the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Hang up."""
        self.close()
