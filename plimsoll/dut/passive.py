"""A lab without a process of its own: ports that are simply there."""

from __future__ import annotations

from plimsoll.dut.lab import DutPortCounters, DutProcess, LabPorts, LinkWatch


class PassiveLab:
    """Nothing to start, watch or read; the tester's own ports tell whether links are up."""

    def __init__(self, kind: str, ports: LabPorts) -> None:
        self.kind = kind
        self._ports = ports

    def up(self) -> LabPorts:
        """Name the ports."""
        return self._ports

    def wait_links(self, timeout_s: float) -> None:
        """Return at once: only the tester sees these links."""

    def check(self) -> None:
        """Return: there is no process that could have died."""

    def watch_links(self) -> LinkWatch:
        """A watch that sees nothing: the tester's ports know their own links."""
        return lambda: ()

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """None: there is no DUT whose counters could be read."""
        return None

    def processes(self) -> tuple[DutProcess, ...]:
        """None that we know of."""
        return ()

    def facts(self) -> dict[str, object]:
        """The ports as given to the tester."""
        return {"devargs": list(self._ports.devargs)}

    def down(self) -> None:
        """Nothing to take down."""
