"""What is written by hand of the kernel's structs and constants is what its headers say.

A compiler reads the headers; it is not the code under test that says how long a struct is.
"""

import ctypes
import re
import socket
import struct
import subprocess

import pytest

from plimsoll.host.bpf import libbpf
from plimsoll.host.namespaces import netlink
from plimsoll.host.ports import ethtool
from plimsoll.observe.network import bridge, qdisc
from plimsoll.web import quiet_server

# By the struct's name: its header, how Python reads it, and its fields where Python's begin.
PACKED: dict[str, tuple[str, struct.Struct, tuple[str, ...]]] = {
    "ucred": ("sys/socket.h", quiet_server._CREDENTIALS, ("pid", "uid", "gid")),
    "tcmsg": (
        "linux/rtnetlink.h",
        qdisc._HEAD,
        ("tcm_family", "tcm_ifindex", "tcm_handle", "tcm_parent", "tcm_info"),
    ),
    "gnet_stats_queue": (
        "linux/gen_stats.h",
        qdisc._QUEUE_FIELDS,
        ("qlen", "backlog", "drops", "requeues", "overlimits"),
    ),
    "ndmsg": (
        "linux/neighbour.h",
        bridge._HEAD,
        ("ndm_family", "ndm_ifindex", "ndm_state", "ndm_flags", "ndm_type"),
    ),
    "nlmsghdr": (
        "linux/netlink.h",
        netlink._HEADER,
        ("nlmsg_len", "nlmsg_type", "nlmsg_flags", "nlmsg_seq", "nlmsg_pid"),
    ),
    "nlattr": ("linux/netlink.h", netlink._ATTRIBUTE, ("nla_len", "nla_type")),
    "ifinfomsg": (
        "linux/rtnetlink.h",
        netlink._LINK,
        ("ifi_family", "__ifi_pad", "ifi_type", "ifi_index", "ifi_flags", "ifi_change"),
    ),
    "ethtool_channels": (
        "linux/ethtool.h",
        ethtool._CHANNELS,
        (
            *("cmd", "max_rx", "max_tx", "max_other", "max_combined"),
            *("rx_count", "tx_count", "other_count", "combined_count"),
        ),
    ),
    "ethtool_ts_info": (
        "linux/ethtool.h",
        ethtool._STAMPING_INFO,
        ("cmd", "so_timestamping", "phc_index", "tx_types", "rx_filters"),
    ),
}
HEADS = {"bpf_prog_info": libbpf._ProgramInfo, "bpf_map_info": libbpf._MapInfo}
CONSTANTS = {
    ("linux/bpf.h", "BPF_MAP_TYPE_PERCPU_ARRAY"): libbpf.PERCPU_ARRAY,
    ("linux/bpf.h", "BPF_MAP_TYPE_DEVMAP"): libbpf.DEVICE_MAP,
    ("linux/bpf.h", "BPF_PROG_TYPE_XDP"): libbpf._XDP_PROGRAM,
    ("linux/if_link.h", "XDP_FLAGS_SKB_MODE"): libbpf.XDP_GENERIC,
    ("linux/if_link.h", "XDP_FLAGS_DRV_MODE"): libbpf.XDP_NATIVE,
    ("linux/if_link.h", "XDP_FLAGS_UPDATE_IF_NOEXIST"): libbpf._ONLY_IF_NONE_IS_THERE,
    ("linux/rtnetlink.h", "RTM_GETLINK"): netlink.LINKS,
    ("linux/rtnetlink.h", "RTM_GETNEIGH"): netlink.NEIGHBOURS,
    ("linux/rtnetlink.h", "RTM_GETQDISC"): netlink.QDISCS,
    ("linux/rtnetlink.h", "TCA_STATS2"): qdisc._STATS,
    ("linux/gen_stats.h", "TCA_STATS_QUEUE"): qdisc._QUEUE,
    ("linux/neighbour.h", "NTF_SELF"): bridge._OF_INTERFACE,
    ("linux/neighbour.h", "NUD_PERMANENT"): bridge._PERMANENT,
    ("linux/neighbour.h", "NUD_NOARP"): bridge._STATIC,
    ("linux/ethtool.h", "ETHTOOL_GET_TS_INFO"): ethtool._GET_TIME_STAMPING_INFO,
    ("linux/ethtool.h", "ETHTOOL_GCHANNELS"): ethtool._GET_CHANNELS,
    ("linux/ethtool.h", "ETHTOOL_SCHANNELS"): ethtool._SET_CHANNELS,
    ("linux/ethtool.h", "sizeof(struct ethtool_drvinfo)"): ethtool._DRIVER_INFO_BYTES,
    ("sys/socket.h", "SO_PEERCRED"): socket.SO_PEERCRED,
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What the compiler makes of each expression."""
    expressions = [name for _, name in CONSTANTS]
    for name, (_, _, fields) in PACKED.items():
        expressions += [f"sizeof(struct {name})"]
        expressions += [f"offsetof(struct {name}, {field})" for field in fields]
    for name, head in HEADS.items():
        for field, *_ in head._fields_:
            place = f"struct {name}, {field}"
            expressions += [f"offsetof({place})", f"sizeof(((struct {name} *)0)->{field})"]
    headers = {header for header, _ in CONSTANTS} | {header for header, _, _ in PACKED.values()}
    lines = ["#define _GNU_SOURCE", "#include <stddef.h>", "#include <stdio.h>"]
    # The C library's come before the kernel's, which leave out what is there already.
    lines += [f"#include <{each}>" for each in sorted(headers, key=lambda each: each[:3] != "sys")]
    lines += ["int main(void) {"]
    lines += [f'  printf("%llu\\n", (unsigned long long)({each}));' for each in expressions]
    folder = tmp_path_factory.mktemp("structs")
    source = folder / "structs.c"
    source.write_text("\n".join([*lines, "  return 0;", "}", ""]))
    subprocess.run(["cc", "-o", folder / "structs", source], check=True)
    said = subprocess.run([folder / "structs"], check=True, capture_output=True, text=True).stdout
    return dict(zip(expressions, map(int, said.split()), strict=True))


@pytest.mark.parametrize("name", PACKED)
def test_a_struct_that_is_unpacked_is_the_kernels(name: str, told: dict[str, int]) -> None:
    _, packed, fields = PACKED[name]
    assert packed.size == told[f"sizeof(struct {name})"]
    # As many values as fields are named, each where its own begins.
    order, *items = re.findall(r"^[=@<>!]?|\d*[a-zA-Z]", packed.format)
    items = [each for item in items for each in _each(item)]
    begins: list[int] = []
    for place, item in enumerate(items):
        if item[-1] != "x":
            before = struct.calcsize(order + "".join(items[:place]))
            begins.append(before)
    assert begins == [told[f"offsetof(struct {name}, {field})"] for field in fields]


def _each(item: str) -> list[str]:
    """ "9I" is nine fields; "12x" is one gap."""
    times = item[:-1] or "1"
    return [item] if item[-1] == "x" else [item[-1]] * int(times)


@pytest.mark.parametrize("name", HEADS)
def test_the_head_of_a_struct_is_the_kernels(name: str, told: dict[str, int]) -> None:
    head: type[ctypes.Structure] = HEADS[name]
    for field, *_ in head._fields_:
        ours = getattr(head, field)
        assert ours.offset == told[f"offsetof(struct {name}, {field})"], field
        assert ours.size == told[f"sizeof(((struct {name} *)0)->{field})"], field


@pytest.mark.parametrize(("header", "name"), CONSTANTS)
def test_a_constant_is_the_kernels(header: str, name: str, told: dict[str, int]) -> None:
    assert CONSTANTS[header, name] == told[name]
