"""What MoonGen's DPDK (17.08) is started with: the ports, its CPUs and its memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.generator.kernel_interfaces import interface_of
from plimsoll.host.ports.pci_address import pci_address

MEGABYTES = 256


@dataclass(frozen=True, slots=True)
class DpdkPort:
    """A port: DPDK's name of it, what DPDK opens it by, and whether it is a `card`."""

    name: str
    devargs: str
    card: bool


def dpdk_port(place: int, devargs: str) -> DpdkPort:
    """The port at that place of ours. Raises InputError where it is of another kind."""
    if address := pci_address(devargs):
        return DpdkPort(address, address, card=True)
    interface = interface_of(devargs)
    name = f"net_af_packet{place}"
    return DpdkPort(name, f"{name},iface={interface}", card=False)


def dpdk_configuration(ports: Sequence[DpdkPort], cpus: Sequence[int], prefix: str) -> str:
    """The file that libmoon takes EAL's arguments from.

    Without cards it needs no hugepages, and leaves none; with cards it unlinks its own once it
    has them. `prefix` is in the names of files that it makes.
    """
    cards = [each for each in ports if each.card]
    words = ["--no-shconf", "--file-prefix", prefix, "-m", str(MEGABYTES)]
    words += ["--huge-unlink"] if cards else ["--no-huge", "--no-pci"]
    words += [word for each in cards for word in ("-w", each.devargs)]
    vdevs = [each for each in ports if not each.card]
    words += [word for each in vdevs for word in ("--vdev", each.devargs)]
    if any(set(word) & set('"\\\n') for word in words):
        raise ValueError("no argument of a port has quotes")
    quoted = ", ".join(f'"{word}"' for word in words)
    cores = ", ".join(map(str, cpus))
    # A loop a port, and one for probes.
    shared = len(ports) + 1
    return f"DPDKConfig {{cores = {{{cores}}}, sharedCores = {shared}, cli = {{{quoted}}}}}\n"


def files_left(prefix: str) -> tuple[Path, ...]:
    """What DPDK 17.08 makes for a process with hugepages and vfio-pci, and does not remove."""
    folder = Path("/var/run") if os.geteuid() == 0 else Path.home()
    return tuple(folder / f".{prefix}_{kind}" for kind in ("hugepage_info", "mp_socket"))
