"""What only the host tells of an intent's ports: that it lives by one, or that two are one."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.fit.topology_problem import Problem
from plimsoll.tune.intent.intent import Intent


def ports_on_host(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The ports that binding would cut the host off by, and those that two nics would bind."""
    yield from _uplinks(intent, topology)
    yield from _named_once(intent, topology)


def _uplinks(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """VFs alone leave the port itself with the kernel, and its traffic."""
    for place, nic in enumerate(intent.nics):
        if nic.driver != "vfio-pci" or nic.num_vfs is not None:
            continue
        for port in (*nic.pf_names, *nic.pci):
            if reason := topology.in_use.get(port):
                yield Problem(
                    "nic-is-uplink",
                    f"nics[{place}]",
                    "fail",
                    f"{nic.driver} would take {port} from the host at each boot: {reason}",
                    "name another port, or give it num_vfs, so that only its VFs are taken",
                )


def _named_once(intent: Intent, topology: Topology) -> Iterator[Problem]:
    """The intent alone cannot tell, and so not see two uses of one port disagree."""
    users = {address: nic.name for nic in intent.nics for address in nic.pci}
    for place, nic in enumerate(intent.nics):
        for port in nic.pf_names:
            address = topology.port_addresses.get(port)
            if address in users and users[address] != nic.name:
                yield Problem(
                    "port-named-once",
                    f"nics[{place}].pf_names",
                    "fail",
                    f"{port} is {address}, which {users[address]} takes already",
                    "take it out of one of them; where each takes VFs of its own, name it by its "
                    "address in both",
                )
