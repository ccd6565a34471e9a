"""The names that CDM gives breakout dimensions; its indices refuse documents with any other.

The list is that of CommonDataModel's v8 index of metric_desc (cdm.js, August 2026). All are
keywords but `num`, which is a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

NUMBER = "num"
# Where what cannot be said otherwise goes, as name=value.
_ANYTHING = "id"
KEYWORDS = frozenset(
    """
    action actions batch benchmark-group benchmark-id benchmark-name benchmark-role blade bridge
    cgroup class clientserver cluster cmd container controller cookie core counter cpu csid cstype
    ct_label ct_mark ct_state ct_zone desc dev device die direction dl_dst dl_src dl_vlan domain dp
    dp_hash dport dst endpoint endpoint-label engine-id engine-role engine-type epoch error eth_dst
    eth_src eth_type flags function fwd_interface group host hosted-by hostname hypervisor-host
    icmp_code icmp_type id in_port interface interface-type ipv4_dst ipv4_frag ipv4_proto ipv4_src
    ipv6_dst ipv6_src irq job kthread level mark mempool_name metadata metric mode nic node
    osruntime output package parent pid pod port port_pair priority protocol queue rank recirc_id
    reg14 rev_interface role rx_port sensor sensor_index sensor_name shared-l1-domain
    shared-l2-domain shared-l3-domain shared-l4-domain skb_mark skb_priority slot socket source
    sport src status step stream table tcp_dst tcp_src thread tid tier tool-name tx_port type
    udp_dst udp_src ufid use userenv vlan
    """.split()
)
# What Plimsoll calls otherwise.
_CLOSEST = {"lcore": "cpu", "kind": "type", "state": "mode", "name": "counter"}


def cdm_names(names: Mapping[str, str]) -> dict[str, str]:
    """The same dimensions under CDM's names, by name; no two different ones become the same."""
    found = {name: value for name, value in names.items() if _fits(name, value)}
    left = {name: value for name, value in names.items() if name not in found}
    for name in sorted(left):
        closest = _CLOSEST.get(name)
        if closest is not None and closest not in names:
            found[closest] = left.pop(name)
    if left:
        said = [f"{name}={value}" for name, value in sorted(left.items())]
        found[_ANYTHING] = ",".join([*filter(None, [found.get(_ANYTHING)]), *said])
    return dict(sorted(found.items()))


def _fits(name: str, value: str) -> bool:
    return name in KEYWORDS or (name == NUMBER and _is_number(value))


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
