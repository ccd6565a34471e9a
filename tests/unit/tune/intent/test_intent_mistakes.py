"""What the intent's model refuses, and how it says so."""

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.load import load_intent

BASE = """\
name: lab
platform: openshift
pool:
  role: worker
cpus:
  reserved: 0-1
  isolated: 2-7
"""
LINES = BASE.count("\n")
POD = "pods:\n  - {name: dut, cpus: 4, memory: 1Gi"

# What is written after BASE, on which of those lines the mistake is, and what is said of it.
MISTAKES = {
    "unknown field": (
        "servces: {stalld: on}",
        1,
        "servces: unknown field (did you mean services?)",
    ),
    "no switch": (
        "services: {stalld: enabled}",
        1,
        "services.stalld: found 'enabled' (write on or off, or leave it out)",
    ),
    "number in quotes": (
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: '4'}]}",
        1,
        "hugepages.pages[0].count: found '4' (write a whole number)",
    ),
    "default size": (
        "hugepages:\n  default_size: 1G\n  pages: [{size: 2M, count: 4}]",
        2,
        "hugepages.default_size: 1G is not among the sizes of pages (use 2M, or add pages of 1G)",
    ),
    "pages twice": (
        "hugepages:\n  default_size: 1G\n  pages:\n"
        "    - {size: 1G, count: 4, node: 0}\n    - {size: 1G, count: 2, node: 0}",
        5,
        "hugepages.pages[1]: pages of 1G on node 0 are given twice (give their number once)",
    ),
    "no such page size": (
        "hugepages: {default_size: 4M, pages: [{size: 2M, count: 4}]}",
        1,
        "hugepages.default_size: '4M' is not known",
    ),
    "real-time kernel of large pages": (
        "kernel: {realtime: true, page_size: 64k}",
        1,
        "kernel.page_size: the real-time kernel has pages of 4k "
        "(use page_size: 4k, or realtime: false)",
    ),
    "hugepages of another kernel": (
        "kernel: {page_size: 64k}\nhugepages: {default_size: 2M, pages: [{size: 2M, count: 8}]}",
        2,
        "hugepages.pages[0].size: a kernel of 64k pages has no hugepages of 2M "
        "(use 512M, or kernel.page_size: 4k)",
    ),
    "realtime": (
        "kernel: {realtime: true}\nhints:\n  realtime: off",
        3,
        "hints.realtime: is off, and the real-time kernel is asked for "
        "(turn it on, or use kernel.realtime: false)",
    ),
    "power hints": (
        "hints:\n  high_power: on\n  per_pod_power: on",
        3,
        "hints.per_pod_power: high_power holds all CPUs awake, so that pods have nothing to "
        "choose (turn either high_power or per_pod_power off)",
    ),
    "vfio and rdma": (
        "nics:\n  - name: a\n    pf_names: [ens1]\n    driver: vfio-pci\n    rdma: true",
        5,
        "nics[0].rdma: a function bound to vfio-pci has no RDMA device "
        "(use driver: netdevice, or rdma: false)",
    ),
    "mlx5 and vfio": (
        "nics:\n  - name: a\n    vendor: 15b3\n    driver: vfio-pci",
        4,
        "nics[0].driver: DPDK drives mlx5 cards (vendor 15b3) beside the kernel, never through "
        "vfio-pci (use driver: netdevice and rdma: true)",
    ),
    "mlx5 without rdma": (
        "nics:\n  - {name: a, vendor: 15b3, num_vfs: 2}",
        2,
        "nics[0].rdma: DPDK reaches the VFs of mlx5 cards (vendor 15b3) through RDMA "
        "(use rdma: true)",
    ),
    "overlapping VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8, vf_range: 0-4}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 8, vf_range: 4-7}",
        3,
        "nics[1].vf_range: VF 4 of ens1 is taken by a already (give each a vf_range of its own)",
    ),
    "all VFs twice": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 8}",
        3,
        "nics[1]: VF 0 of ens1 is taken by a already (give each a vf_range of its own)",
    ),
    "port twice": (
        "nics:\n  - {name: a, pci: ['0000:87:00.0']}\n  - {name: b, pci: ['0000:87:00.0']}",
        3,
        "nics[1]: 0000:87:00.0 is taken by a already (name each port once)",
    ),
    "different numbers of VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8, vf_range: 0-3}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 6, vf_range: 4-5}",
        3,
        "nics[1].num_vfs: ens1 has 8 VFs by a (give both the same num_vfs)",
    ),
    "VF beyond the last": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 4, vf_range: 2-4}",
        2,
        "nics[0].vf_range: VF 4 does not exist: 4 are numbered from 0 (end it at 3 at most)",
    ),
    "VFs of no VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], vf_range: 2-4}",
        2,
        "nics[0].vf_range: takes VFs of a port without any (add num_vfs)",
    ),
    "VF range": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 9, vf_range: 4-2}",
        2,
        "nics[0].vf_range: '4-2' is no range of VFs (write first-last, for example 0-3)",
    ),
    "VLAN": (
        "nics:\n  - {name: a, pf_names: [ens1], vlan: 4095}",
        2,
        "nics[0].vlan: found 4095 (give at most 4094)",
    ),
    "no port": (
        "nics:\n  - {name: a}",
        2,
        "nics[0].pf_names: names no port (add pf_names, pci, or vendor with device_id)",
    ),
    # YAML takes it for a time in base 60.
    "PCI address as YAML reads it": (
        "nics:\n  - {name: a, pci: [0000:17:00.0]}",
        2,
        "nics[0].pci[0]: found 1020.0 (write text, in quotes)",
    ),
    "PCI address": (
        "nics:\n  - {name: a, pci: ['87:00.0']}",
        2,
        "nics[0].pci[0]: '87:00.0' is no PCI address (write it as lspci -D does: 0000:87:00.0)",
    ),
    "PCI id": (
        "nics:\n  - {name: a, vendor: Intel}",
        2,
        "nics[0].vendor: 'Intel' is no PCI id (write four lower case hexadecimal digits: \"8086\")",
    ),
    "resource": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 1, resource_name: openshift.io/east}",
        2,
        "nics[0].resource_name: 'openshift.io/east' cannot name a resource "
        "(use letters, digits and _, without the openshift.io/ before it)",
    ),
    "interface": (
        "nics:\n  - {name: a, pf_names: ['../../etc']}",
        2,
        "nics[0].pf_names[0]: '../../etc' cannot name an interface (write it as ip link shows it)",
    ),
    "name of an object": (
        "nics:\n  - {name: East_1, pf_names: [ens1]}",
        2,
        "nics[0].name: 'East_1' cannot name an object (use lower case letters, digits and -, "
        "at most 63, the first and the last no -)",
    ),
    "the same name": (
        "nics:\n  - {name: a, pf_names: [ens1]}\n  - {name: a, pf_names: [ens2]}",
        3,
        "nics[1].name: a is given twice (give each its own)",
    ),
    "no such nic": (
        "nics:\n  - {name: east, pf_names: [ens1], num_vfs: 1, resource_name: e}\n"
        "networks:\n  - {kind: sriov, name: one, nic: eas}",
        4,
        "networks[0].nic: no nic is eas (did you mean east?)",
    ),
    "nic without VFs": (
        "nics:\n  - {name: east, pf_names: [ens1]}\n"
        "networks:\n  - {kind: sriov, name: one, nic: east}",
        4,
        "networks[0].nic: nic east has no VFs to give (give it num_vfs and resource_name)",
    ),
    "no such network": (
        f"{POD}, networks: [one]}}",
        2,
        "pods[0].networks[0]: no network is one (add it to networks)",
    ),
    "kind of network": (
        "networks:\n  - {kind: ipvlan, name: one}",
        2,
        "networks[0]: unknown kind 'ipvlan'",
    ),
    "no addresses to give": (
        "networks:\n  - kind: macvlan\n    name: one\n    master: ens1\n"
        "    ipam: {type: host-local}",
        5,
        "networks[0].ipam.range: host-local needs one (add for example range: 192.0.2.0/24)",
    ),
    "addresses of another": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: dhcp, range: 10.0.0.0/8}}",
        3,
        "networks[0].ipam.range: dhcp has none (leave it out, or use another type)",
    ),
    "range": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: static, range: 10.0.0.300/8}}",
        3,
        "networks[0].ipam.range: '10.0.0.300/8' is no range of IP addresses "
        "(write for example 192.0.2.0/24)",
    ),
    "range without length": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: static, range: 10.0.0.3}}",
        3,
        "networks[0].ipam.range: '10.0.0.3' has no prefix length (write for example 192.0.2.0/24)",
    ),
    "half CPUs": (
        "pods:\n  - name: dut\n    cpus: 3.5\n    memory: 1Gi",
        3,
        "pods[0].cpus: 3.5 CPUs are no whole number, and a guaranteed pod shares none "
        "(give whole CPUs, or use qos: burstable)",
    ),
    "CPUs in quotes": (
        "pods:\n  - name: dut\n    cpus: 500m",
        3,
        "pods[0].cpus: found '500m' (write a number of CPUs, without quotes)",
    ),
    "guaranteed without memory": (
        "pods:\n  - {name: dut, cpus: 4}",
        2,
        "pods[0].memory: a guaranteed pod states its memory (add for example memory: 1000Mi)",
    ),
    "memory": (
        "pods:\n  - {name: dut, cpus: 4, memory: 1 GB}",
        2,
        "pods[0].memory: '1 GB' is no quantity of memory (write for example 1000Mi, 4Gi or 2Ti)",
    ),
    "half a page": (
        f"{POD}, hugepages: {{size: 1G, total: 1500Mi}}}}",
        2,
        "pods[0].hugepages.total: 1500Mi is not a whole number of pages of 1G "
        "(give a multiple of 1Gi)",
    ),
    "blank in an argument": (
        "kernel:\n  arguments: ['nohz_full=2-7 quiet']",
        2,
        "kernel.arguments[0]: found 'nohz_full=2-7 quiet' (write it without blanks, and not empty)",
    ),
    "control character": (
        'description: "lab\\u001b[31m"',
        1,
        "description: found 'lab\\x1b[31m' (leave out control characters and line ends)",
    ),
    "retention": (
        "cluster:\n  reduced_monitoring: {prometheus_retention: one day}",
        2,
        "cluster.reduced_monitoring.prometheus_retention: 'one day' is no time of Prometheus "
        "(write for example 24h or 15d)",
    ),
    "runtime limit": (
        "scheduling: {rt_runtime_us: -2}",
        1,
        "scheduling.rt_runtime_us: found -2 (give at least -1)",
    ),
}


@pytest.mark.parametrize(("added", "line", "told"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_place_and_remedy(
    tmp_path: Path, added: str, line: int, told: str
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{BASE}{added}\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).startswith(f"{path}:{LINES + line}: {told}")
