"""The ports that a proposal gives to tests: all physical ones that the host does not live by."""

from __future__ import annotations

import re
from typing import Any

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import MELLANOX, is_interface_name
from plimsoll.tune.proposal.proposed_pages import ProposedPages
from plimsoll.tune.proposal.survey import Survey
from plimsoll.tune.proposal.surveyed_ports import SurveyedPort

# What a preset says of its own ports and holds of any.
_OF_THE_PRESET = ("num_vfs", "mtu", "vlan", "trust", "spoofchk")


_LONGEST = 63
_WHO_LOGS_IN = " Which of them carries logins is unknown: check before you bind one to vfio-pci."


def propose_ports(
    survey: Survey, base: Intent, isolated: frozenset[int], pages: ProposedPages
) -> tuple[list[dict[str, Any]], str]:
    """(entries of nics, why these): the free ports, with the settings of the preset's own.

    Not those whose node has no CPU among `isolated`, or none of the pages.
    """
    against = [(port, port.in_use or _far(port, survey, isolated, pages)) for port in survey.ports]
    free = [port for port, reason in against if reason is None]
    nics = [_nic(port, base) for port in free]
    found = "".join(f" {_shown(port)}: {_described(port)}." for port in free)
    spared = "".join(f" Left out: {_shown(port)}, as {why}." for port, why in against if why)
    if not free:
        return nics, f"No free PCI port was found.{spared}"
    warning = "" if survey.sessions_known else _WHO_LOGS_IN
    return nics, f"The physical ports that are not in use.{found}{spared}{warning}"


def _far(
    port: SurveyedPort, survey: Survey, isolated: frozenset[int], pages: ProposedPages
) -> str | None:
    """Why its frames would cross the link between the sockets; None where they need not."""
    if port.numa_node is None:
        return None
    if not survey.topology.nodes.get(port.numa_node, frozenset()) & isolated:
        return f"it is on node {port.numa_node}, where no CPU is isolated"
    if pages.entries and not pages.on_node(port.numa_node):
        return f"it is on node {port.numa_node}, which has no memory for hugepages"
    return None


def _nic(port: SurveyedPort, base: Intent) -> dict[str, Any]:
    name = _object_name(port)
    mellanox = port.vendor == MELLANOX
    nic: dict[str, Any] = {"name": name}
    if base.platform == "openshift" and port.name and is_interface_name(port.name):
        nic["pf_names"] = [port.name]
    else:
        # An interface's name is gone once its port is bound to vfio-pci.
        nic["pci"] = [port.pci_address]
    # DPDK drives mlx5 cards alongside the kernel; without an IOMMU vfio-pci is not safe.
    past_the_kernel = port.driver == "vfio-pci" or (port.iommu and not mellanox)
    nic["driver"] = "vfio-pci" if past_the_kernel else "netdevice"
    if mellanox:
        nic |= {"vendor": MELLANOX, "rdma": True}
    if base.platform == "openshift" and port.total_vfs:
        nic |= _divided(port, base, name)
    if port.numa_node is not None:
        nic["numa_node"] = port.numa_node
    if port.speed_mbps and port.speed_mbps >= 1000:
        nic["link_speed_gbps"] = port.speed_mbps // 1000
    return nic


def _divided(port: SurveyedPort, base: Intent, name: str) -> dict[str, Any]:
    """VFs, as many as the preset's ports have, or one."""
    preset = base.nics[0].model_dump(mode="json", exclude_unset=True) if base.nics else {}
    settings = {field: preset[field] for field in _OF_THE_PRESET if field in preset}
    settings["num_vfs"] = min(settings.get("num_vfs", 1), port.total_vfs)
    return settings | {"resource_name": f"nic_{name.replace('-', '_')}"[:63]}


def _object_name(port: SurveyedPort) -> str:
    """The interface's name, or else the PCI address, as Kubernetes accepts names."""
    plain = re.sub(r"[^a-z0-9]+", "-", (port.name or "").lower()).strip("-")
    return plain[:_LONGEST].strip("-") or f"pci-{re.sub(r'[:.]', '-', port.pci_address)}"


def _shown(port: SurveyedPort) -> str:
    # The kernel lets an interface's name drive a terminal.
    name = ascii(port.name)[1:-1] if port.name else "no interface"
    return f"{port.pci_address} ({name})"


def _described(port: SurveyedPort) -> str:
    node = "node unknown" if port.numa_node is None else f"node {port.numa_node}"
    return f"driver {port.driver or 'none'}, {node}"
