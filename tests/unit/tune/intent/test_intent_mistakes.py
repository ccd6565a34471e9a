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
    "kubelet: the operator's": (
        "kubelet: {topologyManagerPolicy: none}",
        1,
        "kubelet.topologyManagerPolicy: is the operator's to set (use numa_policy)",
    ),
    "kubelet: no amount": (
        "kubelet:\n  systemReserved: {memory: lots}",
        2,
        "kubelet.systemReserved.memory: 'lots' is not a quantity (write for example 11Gi)",
    ),
    "tuned: a section that runs programs": (
        "tuned: {sections: {script: {script: x.sh}}}",
        1,
        "tuned.sections.script: is not a section of its own here "
        "(leave it out: it runs programs as root)",
    ),
    "tuned: a plug-in that runs programs": (
        "tuned: {sections: {mine: {type: script}}}",
        1,
        "tuned.sections.mine.type: runs programs as root (leave it out)",
    ),
    "memory that is decimal": (
        "pods:\n  - {name: dut, cpus: 4, memory: 4G}",
        2,
        "pods[0].memory: '4G' is decimal to Kubernetes, and memory comes in powers of two "
        "(write 4Gi)",
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
        "kernel: {page_size: 64k}\nhugepages: {default_size: 1G, pages: [{size: 1G, count: 8}]}",
        2,
        "hugepages.pages[0].size: a kernel of 64k pages has no hugepages of 1G "
        "(use 2M, 512M or 16G, or another kernel.page_size)",
    ),
    "realtime": (
        "kernel: {realtime: true}\nhints:\n  realtime: off",
        3,
        "hints.realtime: is off, and the real-time kernel is requested "
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
        "nics[0].driver: DPDK drives mlx5 cards (vendor 15b3) alongside the kernel, never through "
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
        "nics[0].vf_range: '4-2' is not a range of VFs (write first-last, for example 0-3)",
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
    "port named in two ways": (
        "nics:\n  - {name: a, pf_names: [ens1, ens2], pci: ['0000:87:00.0']}",
        2,
        "nics[0].pci: has 1 address for 2 interfaces of pf_names, and a policy takes the ports "
        "that fit both (give each port's address, or pf_names alone)",
    ),
    "shared CPUs without a user": (
        "hints: {mixed_cpus: on}",
        1,
        "hints.mixed_cpus: has no CPUs to share (add cpus.shared)",
    ),
    "devices that are left alone": (
        "net_devices: [{interface: eth0}]",
        1,
        "net_devices: are left alone (add user_level_networking: on, or leave them out)",
    ),
    "a device of no vendor": (
        "user_level_networking: on\nnet_devices: [{device_id: '158b'}]",
        2,
        "net_devices[0]: names no device (add interface, or vendor with device_id)",
    ),
    "rates the wrong way round": (
        "nics:\n  - {name: a, pf_names: [e], num_vfs: 1, resource_name: a}\nnetworks:\n"
        "  - {kind: sriov, name: n, nic: a, min_tx_rate_mbps: 9, max_tx_rate_mbps: 8}",
        4,
        "networks[0].min_tx_rate_mbps: 9 is above max_tx_rate_mbps, 8 (lower it)",
    ),
    "CPUs as a resource": (
        f"{POD},\n  resources: {{cpu: 60}}}}",
        3,
        "pods[0].resources.cpu: is not a device (use the pod's cpus)",
    ),
    "memory as a resource": (
        f"{POD},\n  resources: {{memory: 1}}}}",
        3,
        "pods[0].resources.memory: is not a device (use the pod's memory)",
    ),
    "pages as a resource": (
        f"{POD},\n  resources: {{hugepages-1Gi: 2}}}}",
        3,
        "pods[0].resources.hugepages-1Gi: is not a device "
        "(use the pod's hugepages, with size and total)",
    ),
    "storage as a resource": (
        f"{POD},\n  resources: {{ephemeral-storage: 2}}}}",
        3,
        "pods[0].resources.ephemeral-storage: is not a device "
        "(leave it out: no intent asks for storage)",
    ),
    "resource without a domain": (
        f"{POD},\n  resources: {{fpga: 1}}}}",
        3,
        "pods[0].resources.fpga: 'fpga' is nothing that a device plugin hands out "
        "(write it with its domain: example.com/fpga)",
    ),
    "capability with its prefix": (
        f"{POD}, capabilities: [IPC_LOCK, CAP_SYS_ADMIN]}}",
        2,
        "pods[0].capabilities[1]: found 'CAP_SYS_ADMIN' (write SYS_ADMIN)",
    ),
    "capability in lower case": (
        f"{POD}, capabilities: [sys_admin]}}",
        2,
        "pods[0].capabilities[0]: found 'sys_admin' (write SYS_ADMIN)",
    ),
    "no such capability": (
        f"{POD}, capabilities: [NO_SUCH]}}",
        2,
        "pods[0].capabilities[0]: 'NO_SUCH' is not a capability of the kernel "
        "(write one of capabilities(7), such as IPC_LOCK)",
    ),
    "misspelt capability": (
        f"{POD}, capabilities: [CAP_IPCLOCK]}}",
        2,
        "pods[0].capabilities[0]: 'CAP_IPCLOCK' is not a capability of the kernel "
        "(did you mean IPC_LOCK?)",
    ),
    "all capabilities": (
        f"{POD}, capabilities: [ALL]}}",
        2,
        "pods[0].capabilities[0]: ALL is root on the node "
        "(name the ones that are needed, such as IPC_LOCK)",
    ),
    # YAML takes it for a time in base 60.
    "PCI address as YAML reads it": (
        "nics:\n  - {name: a, pci: [0000:17:00.0]}",
        2,
        "nics[0].pci[0]: YAML takes 0000:17:00.0 for the number 1020.0 "
        "(put it in quotes if it is text; a number has no colon)",
    ),
    "PCI address": (
        "nics:\n  - {name: a, pci: ['87:00.0']}",
        2,
        "nics[0].pci[0]: '87:00.0' is not a PCI address (write it as lspci -D does: 0000:87:00.0)",
    ),
    "PCI id": (
        "nics:\n  - {name: a, vendor: Intel}",
        2,
        "nics[0].vendor: 'Intel' is not a PCI id (write four lower case hexadecimal digits: "
        '"8086")',
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
        "networks[0].ipam.range: '10.0.0.300/8' is not a range of IP addresses "
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
        "pods[0].cpus: 3.5 CPUs are not a whole number, and a guaranteed pod shares none "
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
        "pods[0].memory: '1 GB' is not a quantity of memory (write for example 1000Mi, 4Gi or 2Ti)",
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
        "cluster.reduced_monitoring.prometheus_retention: 'one day' is not a Prometheus duration "
        "(write for example 24h or 15d)",
    ),
    "runtime limit": (
        "scheduling: {rt_runtime_us: -2}",
        1,
        "scheduling.rt_runtime_us: found -2 (give at least -1)",
    ),
}


@pytest.mark.parametrize(("added", "line", "message"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_reported_with_its_place_and_remedy(
    tmp_path: Path, added: str, line: int, message: str
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{BASE}{added}\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).startswith(f"{path}:{LINES + line}: {message}")


# What is written in place of the lists of CPUs, and what is said of it; None where it is taken.
CPUS = {
    "1-99999": "'1-99999' names CPU 99999, and Linux numbers at most 8192 "
    "(name CPUs from 0 to 8191)",
    "7-2": "'7-2' is not a list of CPUs (write numbers and ascending ranges, for example 2-5,8)",
    "-1": "'-1' is not a list of CPUs (write numbers and ascending ranges, for example 2-5,8)",
    "1,1": "the CPU list '1,1' names a CPU twice (name each CPU once)",
    "1:30": "YAML takes 1:30 for the number 90 "
    "(put it in quotes if it is text; a number has no colon)",
    "010": "YAML takes 010 for the number 8 "
    "(write 10, or 8 if octal is meant, or put it in quotes if it is text)",
    "0x3": "YAML takes 0x3 for the number 3 (write 3, or put it in quotes if it is text)",
    "1_0": "YAML takes 1_0 for the number 10 (write 10, or put it in quotes if it is text)",
    "2026-11-22": "YAML takes 2026-11-22 for a date (put it in quotes)",
    "[0, 1]": 'found [0, 1] (write a list of CPUs, for example "2-5,8")',
    "0.5": 'found 0.5 (write a list of CPUs, for example "2-5,8")',
    "on": 'found True (write a list of CPUs, for example "2-5,8")',
    "": 'found None (write a list of CPUs, for example "2-5,8")',
    f'"{"1," * 5000}"': "has 10000 characters (write ranges, for example 2-5,8)",
    "2-5,8": None,
    "0,1": None,
    "7": None,
}


@pytest.mark.parametrize(("written", "message"), CPUS.items(), ids=[each[:12] for each in CPUS])
def test_lists_of_cpus(tmp_path: Path, written: str, message: str | None) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"name: lab\nplatform: vm\ncpus:\n  reserved: 8191\n  isolated: {written}\n")
    if message is None:
        path.write_text(path.read_text().replace("8191", "16"))
        assert load_intent(path).cpus.isolated.text == written
        return
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value) == f"{path}:5: cpus.isolated: {message}"


# Whole files, the line of the mistake (None where it is of the whole file), and what is said.
FILES = {
    "second document": (
        f"{BASE}---\nname: other\n",
        8,
        "cannot be parsed: a second document begins here (keep one document a file)",
    ),
    "tab": (
        "name: lab\ncpus:\n\treserved: 0\n",
        3,
        "cannot be parsed: a tab stands where YAML takes blanks alone (indent with blanks)",
    ),
    "template": (
        f"{BASE}description: {{{{ name }}}}\n",
        8,
        "cannot be parsed: the name of a field is a list or a mapping (write a word before the :)",
    ),
    "two values": (
        f"{BASE}description: a: b\n",
        8,
        "cannot be parsed: a second `: ` in one line, or a wrong indentation (quote the value)",
    ),
    "pasted Markdown": (
        f"```yaml\n{BASE}```\n",
        1,
        "cannot be parsed: a value begins with ` (put it in quotes)",
    ),
    "tag": (
        f"{BASE}kernel: !!python/object/apply:os.system [id]\n",
        8,
        "cannot be parsed: it has a tag (!…), of which none is known (remove the tag)",
    ),
    "zero byte": (
        f"{BASE}description: a\0b\n",
        8,
        "cannot be parsed: holds the character U+0000 (remove it: YAML is printable text)",
    ),
    "endless number": (
        f"{BASE}user_level_networking: {'9' * 5000}\n",
        8,
        "cannot be parsed: '999999999999...9999999999999' is not a number or date "
        "(fix the file's YAML)",
    ),
    "no such date": (
        f"{BASE}description: 2026-13-45\n",
        8,
        "cannot be parsed: '2026-13-45' is not a number or date (fix the file's YAML)",
    ),
    "unknown alias": (
        f"{BASE}nics: *none\n",
        8,
        "cannot be parsed: found undefined alias 'none' (fix the file's YAML)",
    ),
    "list in itself": (
        f"{BASE}expected_processes: &all [*all]\n",
        8,
        "cannot be parsed: has an alias of something that it is a part of (fix the file's YAML)",
    ),
    "many": (
        f"{BASE}expected_processes: [{', '.join(['x'] * 1025)}]\n",
        8,
        "expected_processes: found ['x', 'x', 'x', 'x', 'x', 'x', ...] (give at most 1024)",
    ),
    "large": (
        f"{BASE}# {'x' * (256 << 10)}\n",
        None,
        "is larger than 256 KiB (give an intent, of YAML)",
    ),
    "nothing": ("# nothing\n", None, "holds no fields (write `field: value` lines)"),
}


@pytest.mark.parametrize(("text", "line", "message"), FILES.values(), ids=list(FILES))
def test_a_file_that_is_no_intent(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value) == (f"{path}:{line}: {message}" if line else f"{path}: {message}")


def test_every_misread_value_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{BASE}nics:\n  - name: a\n    pci: [0000:17:00.0,\n      0000:17:00.1]\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).splitlines() == [
        f"{path}: 2 mistakes:",
        f"  {path}:10: nics[0].pci[0]: YAML takes 0000:17:00.0 for the number 1020.0 "
        "(put it in quotes if it is text; a number has no colon)",
        f"  {path}:11: nics[0].pci[1]: YAML takes 0000:17:00.1 for the number 1020.1 "
        "(put it in quotes if it is text; a number has no colon)",
    ]


def test_aliases_that_multiply_cost_no_memory(tmp_path: Path) -> None:
    """Nine times nine, nine levels deep, would be 387 million words."""
    path = tmp_path / "intent.yaml"
    levels = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))
    path.write_text(f"{BASE}x0: &x0 [a]\n{levels}expected_processes: *x9\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).startswith(f"{path}:14: cannot be parsed: holds more than 1,000,000")


def test_ports_in_quotes_and_words_that_look_odd_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(
        f"{BASE}nics:\n  - {{name: a, pci: ['0000:17:00.0'], vendor: 15b3, device_id: '1017'}}\n"
        "description: '010'\n"
    )
    assert load_intent(path).nics[0].pci == ("0000:17:00.0",)
