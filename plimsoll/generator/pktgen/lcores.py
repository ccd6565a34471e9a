"""Pktgen's threads and the CPUs that they run on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

# The lowest priority of an ordinary thread.
_LAST = 19


def lcore_arguments(cpus: Sequence[int], ports: int) -> tuple[str, ...]:
    """EAL's: the main thread on the first CPU, and a loop for each port on the others, if any.

    Pktgen binds its screen's thread to the CPU that has the number of the main lcore
    (pktgen_timer_setup), so that lcore is numbered as its CPU.
    """
    main, *loops = cpus
    numbers = _loop_numbers(main, ports)
    places = [f"{main}@{main}"]
    places += [f"{n}@{cpu}" for n, cpu in zip(numbers, loops or [main] * ports, strict=True)]
    return ("--lcores", ",".join(places), "--main-lcore", str(main))


def port_mappings(cpus: Sequence[int], ports: int) -> tuple[str, ...]:
    """Pktgen's: each port sent and received by a loop of its own, as of 23.10 it has to be."""
    numbers = _loop_numbers(cpus[0], ports)
    return tuple(word for port in range(ports) for word in ("-m", f"{numbers[port]}.{port}"))


def let_loops_go_first(pid: int) -> None:
    """Have the screen's thread, which polls, wait for the loops that share its CPU.

    It is the one that is named as the main thread, of which it is none.
    """
    name = Path(f"/proc/{pid}/comm").read_text()
    for task in Path(f"/proc/{pid}/task").iterdir():
        # Threads may end, and not every user may have them wait.
        with contextlib.suppress(OSError):
            if int(task.name) != pid and (task / "comm").read_text() == name:
                os.setpriority(os.PRIO_PROCESS, int(task.name), _LAST)


def _loop_numbers(main: int, ports: int) -> list[int]:
    return [number for number in range(ports + 1) if number != main][:ports]
