"""A bridge of the kernel's in a namespace: made of its ports, waited for, and read back."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.comes_true import comes_true

_FORWARDING_TIMEOUT_S = 10.0
_POLL_S = 0.01
_BRIDGE_FACTS = ("stp_state", "ageing_time", "vlan_filtering")
_PORT_FACTS = ("state", "learning")


def add_bridge(
    namespace: NetworkNamespace, name: str, ports: Sequence[str], *, learning: bool = True
) -> None:
    """Join the `ports`, which are up. Raises MachineError."""
    namespace.batch(
        # Without delay, and without frames of its own: no spanning tree, no IGMP or MLD.
        f"link add {name} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        *(f"link set {port} master {name}" for port in ports),
        *(
            f"link set {port} type bridge_slave learning {'on' if learning else 'off'}"
            for port in ports
        ),
        f"link set {name} up",
    )


def wait_until_forwarding(namespace: NetworkNamespace, name: str) -> None:
    """Return once each of its ports forwards. Raises MachineError."""
    states: list[object] = []

    def forwards() -> bool:
        nonlocal states
        states = [port["state"] for port in _ports(namespace, name).values()]
        return set(states) == {"forwarding"}

    if not comes_true(forwards, _FORWARDING_TIMEOUT_S, every_s=_POLL_S):
        raise MachineError(
            f"the ports of {name} are still {', '.join(map(str, states))}",
            where="lab",
            remedy="start it again on a less busy machine",
        )


def bridge_facts(namespace: NetworkNamespace, name: str) -> dict[str, object]:
    """The bridge and its ports as the kernel has them."""
    (bridge,) = namespace.objects("link", "show", "dev", name)
    return {
        "bridge": _link_data(bridge, "info_data", _BRIDGE_FACTS),
        "ports": _ports(namespace, name),
    }


def _ports(namespace: NetworkNamespace, name: str) -> dict[str, dict[str, object]]:
    return {
        str(port["ifname"]): _link_data(port, "info_slave_data", _PORT_FACTS)
        for port in namespace.objects("link", "show", "master", name)
    }


def _link_data(link: dict[str, object], which: str, names: tuple[str, ...]) -> dict[str, object]:
    info = link.get("linkinfo")
    data = info.get(which) if isinstance(info, dict) else None
    return {name: data.get(name) for name in names} if isinstance(data, dict) else {}
