"""What DPDK processes tell of themselves by telemetry: ports, mempools, lcores."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from plimsoll.host.dpdk_telemetry import TelemetryError, TelemetrySocket
from plimsoll.observe.dpdk.figures import DISCOVERY, TYPES, TelemetryFigure, figures_of
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings

# One that does not answer in time is polled ever more rarely, at last at every 64th reading.
_LONGEST_REST = 64
_GREETING = "the greeting"


class DpdkProcess:
    """Polled at each reading; what it has answered by the deadline is recorded."""

    def __init__(self, app: str, path: Path) -> None:
        self._app = app
        self._path = path
        self._talk: TelemetryTalk | None = None
        # None until it has listed what it has, which is requested at a reading of its own.
        self._figures: list[TelemetryFigure] | None = None
        self._pending: tuple[str, ...] = ()
        self._misses = 0
        self._rest = 0
        # Why it cannot be polled at the moment.
        self.trouble: str | None = None

    def ask(self, readings: Readings) -> None:
        """Send the commands of a reading, unless answers to earlier ones are still owed."""
        self._pending = ()
        if self._rest:
            self._rest -= 1
            return
        try:
            if self._talk is None:
                self._talk = TelemetryTalk(self._path)
            elif self._talk.still_owes():
                self._miss()
                return
            self._talk.ask(commands := self._commands())
            self._pending = commands
        except TelemetryError as error:
            self._lose(error, readings)

    def take_answers(self, deadline_s: float, readings: Readings) -> None:
        """Tell what it answers until `deadline_s` of the monotonic clock."""
        if self._talk is None or not self._pending:
            return
        try:
            answers = dict(self._talk.answers(deadline_s))
        except TelemetryError as error:
            self._lose(error, readings)
            return
        complete = answers.keys() >= set(self._pending)
        if self._figures is not None:
            self._tell(self._figures, answers, readings)
        elif complete:
            self._figures = figures_of(self._app, answers)
        if complete:
            self._misses = 0
            self.trouble = None
        else:
            self._miss()

    def __del__(self) -> None:
        # An observer lives as long as a trial, and DPDK lets no more than ten clients in.
        if self._talk is not None:
            self._talk.close()

    def _commands(self) -> tuple[str, ...]:
        if self._figures is None:
            return DISCOVERY
        return tuple(figure.command for figure in self._figures)

    def _tell(
        self, figures: list[TelemetryFigure], answers: dict[str, object], readings: Readings
    ) -> None:
        for figure in figures:
            answer = answers.get(figure.command)
            if isinstance(answer, dict):
                figure.tell(answer, readings)
            else:
                figure.absent(readings)
        self._figures = [figure for figure in figures if figure.supported]

    def _miss(self) -> None:
        self._rest = min(2**self._misses, _LONGEST_REST) - 1
        self._misses += 1

    def _lose(self, error: TelemetryError, readings: Readings) -> None:
        """Hang up, and begin anew at the next reading: another may have taken its place."""
        self.trouble = str(error)
        for figure in self._figures or ():
            figure.absent(readings)
        if self._talk is not None:
            self._talk.close()
        self._talk = self._figures = None
        self._misses = 0


# Asking a DPDK process without ever having to wait for it.
class TelemetryTalk:
    """Commands are sent together, and answers taken as they come, in the same order.

    One that does not come in time stays owed, and the connection open: DPDK forgets a client
    that leaves before it was greeted, and lets no more than ten in (lib/telemetry/telemetry.c).
    Sent together, all commands cost the process one wake-up.
    """

    def __init__(self, path: Path) -> None:
        """Connect. Raises TelemetryError when nothing listens."""
        self._socket = TelemetrySocket(path, timeout_s=0)
        self._poll = select.poll()
        self._poll.register(self._socket.fileno(), select.POLLIN)
        self._owed = deque([_GREETING])

    def still_owes(self) -> bool:
        """Whether answers are still to come.

        Those that have come late are thrown away: they say how things stood at no time that
        anybody knows. Raises TelemetryError as `answers` does.
        """
        for _ in self.answers(0):
            pass
        return bool(self._owed)

    def ask(self, commands: Sequence[str]) -> None:
        """Send commands. Raises TelemetryError when the process is gone or reads none."""
        for command in commands:
            self._socket.send(command)
            self._owed.append(command)

    def answers(self, deadline_s: float) -> Iterator[tuple[str, object]]:
        """The answers that are there by `deadline_s` of the monotonic clock, by command.

        An answer of None says that the process does not know the command or its parameter.
        Raises TelemetryError when the process hangs up or sends an answer without a request.
        """
        while self._owed:
            left_s = max(0.0, deadline_s - time.monotonic())
            if not self._poll.poll(left_s * 1000):
                return
            command = self._owed[0]
            message = self._socket.receive(command)
            self._owed.popleft()
            if command is _GREETING:
                continue
            name = command.partition(",")[0]
            if name not in message:
                raise self._socket.error(f"the process does not answer {command}")
            yield command, message[name]

    def close(self) -> None:
        """Hang up; safe to repeat."""
        self._socket.close()


# How long a reading may wait for all processes together; of short intervals, a quarter.
_PATIENCE_S = 0.2


class Dpdk(Observer):
    """Counters of ports and their drivers, use of mempools, busy cycles of lcores.

    A DPDK process answers in a control thread, which keeps off the CPUs of its lcores where
    it may use others, and shares the main lcore's where it may not
    (eal_common_options.c, compute_ctrl_threads_cpuset). Its counters are requested at the
    reading's time and come within 0.2 s of it, mostly within one millisecond; a process that
    does not answer in time has no series until it does, and delays nothing else. Of a
    driver's counters DPDK tells the first 256.
    """

    source = "dpdk"
    waits = True
    summary = "ports, driver counters, mempools and lcores of DPDK processes, by telemetry v2"
    types = TYPES

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._patience_s = min(_PATIENCE_S, host.observation.interval_s / 4)
        telemetry = host.observation.telemetry
        if not telemetry:
            raise NotObservable("no DPDK process of this host is part of the test bed")
        self._processes = [DpdkProcess(app, Path(path)) for app, path in telemetry.items()]
        self.read(readings)
        troubles = [each.trouble for each in self._processes]
        if all(troubles):
            raise NotObservable("; ".join(str(trouble) for trouble in troubles))

    def read(self, readings: Readings) -> None:
        """Ask all processes at once, and tell what they answer."""
        for process in self._processes:
            process.ask(readings)
        deadline_s = time.monotonic() + self._patience_s
        for process in self._processes:
            process.take_answers(deadline_s, readings)


OBSERVER = Dpdk
