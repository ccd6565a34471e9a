"""A CPU of one of several hosts: its number alone says nothing once there are two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class HostCpu(NamedTuple):
    """CPU number `cpu` of `host`; a host of None is the tester's own.

    A number of None stands for a CPU that is not known, and for all CPUs of the host.
    """

    host: str | None
    cpu: int | None

    def __str__(self) -> str:
        """For people: "CPU 3", or "CPU 3 of dut.lab" where it is not the tester's host."""
        return f"CPU {self.cpu}{of_host(self.host)}"


def of_host(host: str | None) -> str:
    """What follows the name of something on a host, for people: nothing on the tester's own."""
    return "" if host is None else f" of {host}"


def named_cpus(places: Iterable[HostCpu]) -> str:
    """Several for people, by host: "CPU 0, 1 and CPU 3 of dut.lab"."""
    by_host: dict[str | None, list[str]] = {}
    for place in dict.fromkeys(places):
        by_host.setdefault(place.host, []).append(str(place.cpu))
    return " and ".join(f"CPU {', '.join(cpus)}{of_host(host)}" for host, cpus in by_host.items())
