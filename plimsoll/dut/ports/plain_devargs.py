"""Devargs by which DPDK opens a port and does nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.dut.ports.memif_port import SOCKET_ARGUMENTS
from plimsoll.host.ports.pci_address import pci_address
from plimsoll.text.named_program import AllowedPrograms, NamesProgram, not_on_the_list

# Drivers whose arguments are names, numbers and a socket. Not net_failsafe, which runs what stands
# in exec(…) by a shell; net_pcap, which writes any file; net_softnic, which reads a script; and
# net_af_xdp, which loads a program into the kernel: `netdev` opens an interface without one.
_PLAIN_DRIVERS = frozenset({*SOCKET_ARGUMENTS, "net_af_packet", "net_null", "net_ring", "net_tap"})


@dataclass(frozen=True)
class Devargs(NamesProgram):
    """Devargs, some of which have programs run, or files read and written: on no list."""

    def permitted(self, value: str, allowed: AllowedPrograms) -> str:
        """As it is, where it is plain."""
        if not is_plain(value):
            raise not_on_the_list(
                value, "take a PCI address, a plain vdev or a netdev, or run it from a terminal"
            )
        return value


def is_plain(devargs: str) -> bool:
    """Whether they are of a card or a plain driver, and name no file but that driver's socket."""
    name, *given = devargs.split(",")
    driver = name.rstrip("0123456789")
    if pci_address(name) is None and driver not in _PLAIN_DRIVERS:
        return False
    return not any(_is_peculiar(each, SOCKET_ARGUMENTS.get(driver)) for each in given)


def _is_peculiar(argument: str, socket_argument: str | None) -> bool:
    key, _, value = argument.partition("=")
    return (
        not argument.isprintable() or "(" in argument or ("/" in value and key != socket_argument)
    )
