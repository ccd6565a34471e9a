"""What DPDK processes tell of themselves by telemetry: ports, mempools, lcores."""

from __future__ import annotations

import time
from pathlib import Path

from plimsoll.observe.dpdk.figures import TYPES
from plimsoll.observe.dpdk.process import DpdkProcess
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings

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
