"""A guest whose kernel, Debian's, has what this machine's may lack: flowtables, VLAN interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.vm.nic_guest import Machine, NicGuest, booted_machine

# In the order of their need of each other; a kernel may have one built in.
_MODULES = (
    *("crc32c_generic", "libcrc32c", "veth", "llc", "stp", "garp", "mrp", "8021q"),
    *("nf_defrag_ipv4", "nf_defrag_ipv6", "nf_conntrack", "nfnetlink", "nf_tables"),
    *("nft_objref", "nf_flow_table", "nf_flow_table_inet", "nft_flow_offload"),
)
_NEEDED = ("veth", "nf_flow_table", "nf_flow_table_inet", "nft_flow_offload")


@contextmanager
def booted_with_netfilter(folder: Path) -> Iterator[NicGuest]:
    """Without a card. Raises CannotBoot where parts are missing."""
    with booted_machine(Machine(modules=_MODULES, needed=_NEEDED), folder) as guest:
        yield guest
