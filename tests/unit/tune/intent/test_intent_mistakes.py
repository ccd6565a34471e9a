"""What the intent's model refuses, and how it says so."""

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.load import load_intent
from tests.worded.says import Says

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
        ("servces",),
    ),
    "no switch": (
        "services: {stalld: enabled}",
        1,
        ("enabled", "services.stalld"),
    ),
    "kubelet: the operator's": (
        "kubelet: {topologyManagerPolicy: none}",
        1,
        ("kubelet.topologyManagerPolicy", "numa_policy"),
    ),
    "kubelet: no amount": (
        "kubelet:\n  systemReserved: {memory: lots}",
        2,
        ("lots", "kubelet.systemReserved.memory", "11Gi"),
    ),
    "tuned: a section that runs programs": (
        "tuned: {sections: {script: {script: x.sh}}}",
        1,
        ("tuned.sections.script",),
    ),
    "tuned: a plug-in that runs programs": (
        "tuned: {sections: {mine: {type: script}}}",
        1,
        ("tuned.sections.mine.type",),
    ),
    "memory that is decimal": (
        "pods:\n  - {name: dut, cpus: 4, memory: 4G}",
        2,
        ("4G", "pods[0].memory", "4Gi"),
    ),
    "number in quotes": (
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: '4'}]}",
        1,
        ("4", "hugepages.pages[0].count"),
    ),
    "default size": (
        "hugepages:\n  default_size: 1G\n  pages: [{size: 2M, count: 4}]",
        2,
        ("hugepages.default_size", "1G", "pages", "2M"),
    ),
    "pages twice": (
        "hugepages:\n  default_size: 1G\n  pages:\n"
        "    - {size: 1G, count: 4, node: 0}\n    - {size: 1G, count: 2, node: 0}",
        5,
        ("hugepages.pages[1]", "1G", "node", "0"),
    ),
    "no such page size": (
        "hugepages: {default_size: 4M, pages: [{size: 2M, count: 4}]}",
        1,
        ("4M", "hugepages.default_size"),
    ),
    "real-time kernel of large pages": (
        "kernel: {realtime: true, page_size: 64k}",
        1,
        ("kernel.page_size", "4k", "realtime"),
    ),
    "hugepages of another kernel": (
        "kernel: {page_size: 64k}\nhugepages: {default_size: 1G, pages: [{size: 1G, count: 8}]}",
        2,
        ("hugepages.pages[0].size", "kernel", "64k", "1G", "2M", "512M", "16G", "kernel.page_size"),
    ),
    "realtime": (
        "kernel: {realtime: true}\nhints:\n  realtime: off",
        3,
        ("hints.realtime", "kernel", "kernel.realtime"),
    ),
    "power hints": (
        "hints:\n  high_power: on\n  per_pod_power: on",
        3,
        ("hints.per_pod_power", "high_power"),
    ),
    "vfio and rdma": (
        "nics:\n  - name: a\n    pf_names: [ens1]\n    driver: vfio-pci\n    rdma: true",
        5,
        ("nics[0].rdma", "vfio-pci", "driver"),
    ),
    "mlx5 and vfio": (
        "nics:\n  - name: a\n    vendor: 15b3\n    driver: vfio-pci",
        4,
        ("nics[0].driver", "mlx5", "vendor", "15b3", "vfio-pci"),
    ),
    "mlx5 without rdma": (
        "nics:\n  - {name: a, vendor: 15b3, num_vfs: 2}",
        2,
        ("nics[0].rdma", "mlx5", "vendor", "15b3"),
    ),
    "overlapping VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8, vf_range: 0-4}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 8, vf_range: 4-7}",
        3,
        ("nics[1].vf_range", "4", "ens1"),
    ),
    "all VFs twice": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 8}",
        3,
        ("nics[1]", "0", "ens1", "vf_range"),
    ),
    "port twice": (
        "nics:\n  - {name: a, pci: ['0000:87:00.0']}\n  - {name: b, pci: ['0000:87:00.0']}",
        3,
        ("nics[1]", "0000:87:00.0"),
    ),
    "different numbers of VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 8, vf_range: 0-3}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 6, vf_range: 4-5}",
        3,
        ("nics[1].num_vfs", "ens1", "8"),
    ),
    "VF beyond the last": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 4, vf_range: 2-4}",
        2,
        ("nics[0].vf_range", "4", "3"),
    ),
    "VFs of no VFs": (
        "nics:\n  - {name: a, pf_names: [ens1], vf_range: 2-4}",
        2,
        ("nics[0].vf_range", "num_vfs"),
    ),
    "VF range": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 9, vf_range: 4-2}",
        2,
        ("4-2", "nics[0].vf_range", "0-3"),
    ),
    "VLAN": (
        "nics:\n  - {name: a, pf_names: [ens1], vlan: 4095}",
        2,
        ("nics[0].vlan", "4095", "4094"),
    ),
    "no port": (
        "nics:\n  - {name: a}",
        2,
        ("nics[0].pf_names", "device_id"),
    ),
    "port named in two ways": (
        "nics:\n  - {name: a, pf_names: [ens1, ens2], pci: ['0000:87:00.0']}",
        2,
        ("nics[0].pci", "1", "2", "pf_names"),
    ),
    "shared CPUs without a user": (
        "hints: {mixed_cpus: on}",
        1,
        ("hints.mixed_cpus", "cpus.shared"),
    ),
    "devices that are left alone": (
        "net_devices: [{interface: eth0}]",
        1,
        ("net_devices", "user_level_networking"),
    ),
    "a device of no vendor": (
        "user_level_networking: on\nnet_devices: [{device_id: '158b'}]",
        2,
        ("net_devices[0]", "device_id"),
    ),
    "rates the wrong way round": (
        "nics:\n  - {name: a, pf_names: [e], num_vfs: 1, resource_name: a}\nnetworks:\n"
        "  - {kind: sriov, name: n, nic: a, min_tx_rate_mbps: 9, max_tx_rate_mbps: 8}",
        4,
        ("networks[0].min_tx_rate_mbps", "9", "max_tx_rate_mbps", "8"),
    ),
    "CPUs as a resource": (
        f"{POD},\n  resources: {{cpu: 60}}}}",
        3,
        ("pods[0].resources.cpu",),
    ),
    "memory as a resource": (
        f"{POD},\n  resources: {{memory: 1}}}}",
        3,
        ("pods[0].resources.memory",),
    ),
    "pages as a resource": (
        f"{POD},\n  resources: {{hugepages-1Gi: 2}}}}",
        3,
        ("pods[0].resources.hugepages-1Gi",),
    ),
    "storage as a resource": (
        f"{POD},\n  resources: {{ephemeral-storage: 2}}}}",
        3,
        ("pods[0].resources.ephemeral-storage",),
    ),
    "resource without a domain": (
        f"{POD},\n  resources: {{fpga: 1}}}}",
        3,
        ("fpga", "pods[0].resources.fpga", "example.com/fpga"),
    ),
    "capability with its prefix": (
        f"{POD}, capabilities: [IPC_LOCK, CAP_SYS_ADMIN]}}",
        2,
        ("CAP_SYS_ADMIN", "pods[0].capabilities[1]", "SYS_ADMIN"),
    ),
    "capability in lower case": (
        f"{POD}, capabilities: [sys_admin]}}",
        2,
        ("sys_admin", "pods[0].capabilities[0]", "SYS_ADMIN"),
    ),
    "no such capability": (
        f"{POD}, capabilities: [NO_SUCH]}}",
        2,
        ("NO_SUCH", "pods[0].capabilities[0]", "capabilities(7)", "IPC_LOCK"),
    ),
    "misspelt capability": (
        f"{POD}, capabilities: [CAP_IPCLOCK]}}",
        2,
        ("CAP_IPCLOCK", "pods[0].capabilities[0]", "IPC_LOCK"),
    ),
    "all capabilities": (
        f"{POD}, capabilities: [ALL]}}",
        2,
        ("pods[0].capabilities[0]", "IPC_LOCK"),
    ),
    # YAML takes it for a time in base 60.
    "PCI address as YAML reads it": (
        "nics:\n  - {name: a, pci: [0000:17:00.0]}",
        2,
        ("nics[0].pci[0]", "0000:17:00.0", "1020.0"),
    ),
    "PCI address": (
        "nics:\n  - {name: a, pci: ['87:00.0']}",
        2,
        ("87:00.0", "nics[0].pci[0]", "-D", "0000:87:00.0"),
    ),
    "PCI id": (
        "nics:\n  - {name: a, vendor: Intel}",
        2,
        ("Intel", "nics[0].vendor", "8086"),
    ),
    "resource": (
        "nics:\n  - {name: a, pf_names: [ens1], num_vfs: 1, resource_name: openshift.io/east}",
        2,
        ("openshift.io/east", "nics[0].resource_name", "_", "openshift.io/"),
    ),
    "interface": (
        "nics:\n  - {name: a, pf_names: ['../../etc']}",
        2,
        ("../../etc", "nics[0].pf_names[0]"),
    ),
    "name of an object": (
        "nics:\n  - {name: East_1, pf_names: [ens1]}",
        2,
        ("East_1", "nics[0].name", "63"),
    ),
    "the same name": (
        "nics:\n  - {name: a, pf_names: [ens1]}\n  - {name: a, pf_names: [ens2]}",
        3,
        ("nics[1].name",),
    ),
    "no such nic": (
        "nics:\n  - {name: east, pf_names: [ens1], num_vfs: 1, resource_name: e}\n"
        "networks:\n  - {kind: sriov, name: one, nic: eas}",
        4,
        ("networks[0].nic", "eas", "east"),
    ),
    "nic without VFs": (
        "nics:\n  - {name: east, pf_names: [ens1]}\n"
        "networks:\n  - {kind: sriov, name: one, nic: east}",
        4,
        ("networks[0].nic", "east", "num_vfs", "resource_name"),
    ),
    "no such network": (
        f"{POD}, networks: [one]}}",
        2,
        ("pods[0].networks[0]",),
    ),
    "kind of network": (
        "networks:\n  - {kind: ipvlan, name: one}",
        2,
        ("ipvlan", "networks[0]"),
    ),
    "no addresses to give": (
        "networks:\n  - kind: macvlan\n    name: one\n    master: ens1\n"
        "    ipam: {type: host-local}",
        5,
        ("networks[0].ipam.range", "host-local", "192.0.2.0/24"),
    ),
    "addresses of another": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: dhcp, range: 10.0.0.0/8}}",
        3,
        ("networks[0].ipam.range", "dhcp", "type"),
    ),
    "range": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: static, range: 10.0.0.300/8}}",
        3,
        ("10.0.0.300/8", "networks[0].ipam.range", "192.0.2.0/24"),
    ),
    "range without length": (
        "networks:\n  - {kind: bridge, name: one, master: br0,\n"
        "     ipam: {type: static, range: 10.0.0.3}}",
        3,
        ("10.0.0.3", "networks[0].ipam.range", "192.0.2.0/24"),
    ),
    "half CPUs": (
        "pods:\n  - name: dut\n    cpus: 3.5\n    memory: 1Gi",
        3,
        ("pods[0].cpus", "3.5"),
    ),
    "CPUs in quotes": (
        "pods:\n  - name: dut\n    cpus: 500m",
        3,
        ("500m", "pods[0].cpus"),
    ),
    "guaranteed without memory": (
        "pods:\n  - {name: dut, cpus: 4}",
        2,
        ("pods[0].memory", "1000Mi"),
    ),
    "memory": (
        "pods:\n  - {name: dut, cpus: 4, memory: 1 GB}",
        2,
        ("1 GB", "pods[0].memory", "1000Mi", "4Gi", "2Ti"),
    ),
    "half a page": (
        f"{POD}, hugepages: {{size: 1G, total: 1500Mi}}}}",
        2,
        ("pods[0].hugepages.total", "1500Mi", "1G", "1Gi"),
    ),
    "blank in an argument": (
        "kernel:\n  arguments: ['nohz_full=2-7 quiet']",
        2,
        ("nohz_full=2-7 quiet", "kernel.arguments[0]"),
    ),
    "control character": (
        'description: "lab\\u001b[31m"',
        1,
        ("lab\\x1b[31m", "description"),
    ),
    "retention": (
        "cluster:\n  reduced_monitoring: {prometheus_retention: one day}",
        2,
        ("one day", "cluster.reduced_monitoring.prometheus_retention", "24h", "15d"),
    ),
    "runtime limit": (
        "scheduling: {rt_runtime_us: -2}",
        1,
        ("scheduling.rt_runtime_us", "-2", "-1"),
    ),
}


@pytest.mark.parametrize(("added", "line", "facts"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_reported_with_its_place_and_remedy(
    tmp_path: Path, added: str, line: int, facts: tuple[str, ...], says: Says
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{BASE}{added}\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert caught.value.where == f"{path}:{LINES + line}"
    assert caught.value == says(*facts)


# What is written in place of the lists of CPUs, and what is said of it; None where it is taken.
CPUS = {
    "1-99999": ("1-99999", "8192", "0", "8191"),
    "7-2": ("7-2", "2-5,8"),
    "-1": ("-1", "2-5,8"),
    "1,1": ("1,1",),
    "1:30": ("1:30", "90"),
    "010": ("010", "8", "10"),
    "0x3": ("0x3", "3"),
    "1_0": ("1_0", "10"),
    "2026-11-22": ("2026-11-22",),
    "[0, 1]": ("[0, 1]", "2-5,8"),
    "0.5": ("0.5", "2-5,8"),
    "on": ("2-5,8",),
    "": ("2-5,8",),
    f'"{"1," * 5000}"': ("10000", "2-5,8"),
    "2-5,8": None,
    "0,1": None,
    "7": None,
}


@pytest.mark.parametrize(("written", "facts"), CPUS.items(), ids=[each[:12] for each in CPUS])
def test_lists_of_cpus(
    tmp_path: Path, written: str, facts: tuple[str, ...] | None, says: Says
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"name: lab\nplatform: vm\ncpus:\n  reserved: 8191\n  isolated: {written}\n")
    if facts is None:
        path.write_text(path.read_text().replace("8191", "16"))
        assert load_intent(path).cpus.isolated.text == written
        return
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert caught.value.where == f"{path}:5"
    assert caught.value == says("cpus.isolated:", *facts)


# Whole files, the line of the mistake (None where it is of the whole file), and what is said.
FILES = {
    "second document": (
        f"{BASE}---\nname: other\n",
        8,
        (),
    ),
    "tab": (
        "name: lab\ncpus:\n\treserved: 0\n",
        3,
        (),
    ),
    "template": (
        f"{BASE}description: {{{{ name }}}}\n",
        8,
        (),
    ),
    "two values": (
        f"{BASE}description: a: b\n",
        8,
        (":",),
    ),
    "pasted Markdown": (
        f"```yaml\n{BASE}```\n",
        1,
        (),
    ),
    "tag": (
        f"{BASE}kernel: !!python/object/apply:os.system [id]\n",
        8,
        (),
    ),
    "zero byte": (
        f"{BASE}description: a\0b\n",
        8,
        ("U+0000",),
    ),
    "endless number": (
        f"{BASE}user_level_networking: {'9' * 5000}\n",
        8,
        ("999999999999...9999999999999",),
    ),
    "no such date": (
        f"{BASE}description: 2026-13-45\n",
        8,
        ("2026-13-45",),
    ),
    "unknown alias": (
        f"{BASE}nics: *none\n",
        8,
        ("none",),
    ),
    "list in itself": (
        f"{BASE}expected_processes: &all [*all]\n",
        8,
        (),
    ),
    "many": (
        f"{BASE}expected_processes: [{', '.join(['x'] * 1025)}]\n",
        8,
        (
            "x",
            "expected_processes",
            "1024",
        ),
    ),
    "large": (
        f"{BASE}# {'x' * (256 << 10)}\n",
        None,
        ("256", "KiB"),
    ),
    "nothing": ("# nothing\n", None, ("field: value",)),
}


@pytest.mark.parametrize(("text", "line", "facts"), FILES.values(), ids=list(FILES))
def test_a_file_that_is_no_intent(
    tmp_path: Path, text: str, line: int | None, facts: tuple[str, ...], says: Says
) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert caught.value == says(*facts)


def test_every_misread_value_is_reported_with_its_line(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(f"{BASE}nics:\n  - name: a\n    pci: [0000:17:00.0,\n      0000:17:00.1]\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert str(caught.value).splitlines() == [
        f"{path}: 2 mistakes:",
        says(f"{path}:10", "nics[0].pci[0]", "0000:17:00.0", "1020.0"),
        says(f"{path}:11", "nics[0].pci[1]", "0000:17:00.1", "1020.1"),
    ]


def test_aliases_that_multiply_cost_no_memory(tmp_path: Path, says: Says) -> None:
    """Nine times nine, nine levels deep, would be 387 million words."""
    path = tmp_path / "intent.yaml"
    levels = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))
    path.write_text(f"{BASE}x0: &x0 [a]\n{levels}expected_processes: *x9\n")
    with pytest.raises(InputError) as caught:
        load_intent(path)
    assert caught.value == says(f"{path}:14", "1,000,000")


def test_ports_in_quotes_and_words_that_look_odd_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(
        f"{BASE}nics:\n  - {{name: a, pci: ['0000:17:00.0'], vendor: 15b3, device_id: '1017'}}\n"
        "description: '010'\n"
    )
    assert load_intent(path).nics[0].pci == ("0000:17:00.0",)
