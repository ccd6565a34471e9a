"""The intent's model: what it takes, and what it says of what it does not."""

import re
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.intent import Intent
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


def loaded(folder: Path, text: str) -> Intent:
    path = folder / "intent.yaml"
    path.write_text(text)
    return load_intent(path)


def test_the_least_intent_says_nothing_of_the_rest(tmp_path: Path) -> None:
    intent = loaded(tmp_path, BASE)
    assert (intent.cpus.reserved.text, sorted(intent.cpus.isolated.cpus)) == (
        "0-1",
        [2, 3, 4, 5, 6, 7],
    )
    assert intent.hugepages is None
    assert intent.numa_policy is None
    assert (intent.hints.high_power, intent.services.stalld, intent.bios.turbo) == (None,) * 3
    assert intent.pool is not None
    assert intent.pool.node_labels == {"node-role.kubernetes.io/worker": ""}


def test_cpu_lists_are_kept_as_written_and_one_cpu_may_be_a_number(tmp_path: Path) -> None:
    text = "name: lab\nplatform: vm\ncpus: {reserved: 0, isolated: '3,2,1'}\n"
    cpus = loaded(tmp_path, text).cpus
    assert (cpus.reserved.text, list(cpus.reserved)) == ("0", [0])
    assert (cpus.isolated.text, cpus.isolated.canonical) == ("3,2,1", "1-3")


@pytest.mark.parametrize(
    ("written", "read"), [("on", True), ("off", False), ("'on'", True), ("'off'", False)]
)
def test_a_switch_is_on_or_off_as_yaml_reads_it_or_as_text(
    tmp_path: Path, written: str, read: bool
) -> None:
    intent = loaded(tmp_path, BASE + f"services: {{stalld: {written}}}\n")
    assert intent.services.stalld is read
    assert intent.services.chronyd is None


def test_a_pod_requests_what_its_fields_say_and_one_vf_for_each_network(tmp_path: Path) -> None:
    text = BASE + (
        "nics:\n"
        "  - {name: a, pf_names: [ens1f0], num_vfs: 4, driver: vfio-pci, resource_name: left}\n"
        "networks:\n"
        "  - {kind: sriov, name: one, nic: a}\n"
        "  - {kind: sriov, name: two, nic: a}\n"
        "  - {kind: macvlan, name: three, master: ens2}\n"
        "pods:\n"
        "  - {name: dut, cpus: 4.0, memory: 512Mi, hugepages: {size: 1G, total: 2Gi},\n"
        "     networks: [one, two, three], resources: {example.com/fpga: 1}}\n"
    )
    intent = loaded(tmp_path, text)
    (pod,) = intent.pods
    assert intent.resources_of(pod) == {
        "cpu": "4",
        "memory": "512Mi",
        "hugepages-1Gi": "2Gi",
        "example.com/fpga": "1",
        "openshift.io/left": "2",
    }
    assert intent.runtime_class_of(pod) == "performance-lab"


def test_what_is_off_is_an_annotation_and_what_is_on_is_none(tmp_path: Path) -> None:
    effects = "effects: {cpu_quota: off, irq_load_balancing: on}"
    (pod,) = loaded(tmp_path, BASE + f"{POD}, {effects}}}\n").pods
    assert pod.effects.annotations == {"cpu-quota.crio.io": "disable"}


def test_two_uses_of_a_port_with_vf_ranges_apart_are_sound(tmp_path: Path) -> None:
    text = BASE + (
        "nics:\n"
        "  - {name: a, pf_names: [ens1], num_vfs: 8, vf_range: 0-3}\n"
        "  - {name: b, pf_names: [ens1], num_vfs: 8, vf_range: 4-7}\n"
    )
    first, second = loaded(tmp_path, text).nics
    assert (list(first.vfs), list(second.vfs)) == ([0, 1, 2, 3], [4, 5, 6, 7])


def test_the_real_time_kernel_may_leave_its_hint_to_the_platform(tmp_path: Path) -> None:
    intent = loaded(tmp_path, BASE + "kernel: {realtime: true}\n")
    assert intent.hints.realtime is None


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
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, f"{BASE}{added}\n")
    assert str(caught.value).startswith(f"{tmp_path / 'intent.yaml'}:{LINES + line}: {told}")


@pytest.mark.parametrize(
    ("cpus", "told"),
    [
        (
            "{reserved: 0-1, isolated: 1-7}",
            "cpus.isolated: names CPUs that are reserved already: 1 ",
        ),
        (
            "{reserved: 0-1, isolated: 2-7, offlined: 7-8}",
            "cpus.offlined: names CPUs that are isolated already: 7 "
            "(give each CPU to one of reserved, isolated and offlined)",
        ),
        ("{reserved: '', isolated: 2-7}", "cpus.reserved: '' is not a list of CPUs"),
        ("{reserved: 0, isolated: 2-}", "cpus.isolated: '2-' is not a list of CPUs"),
        ("{reserved: 0, isolated: [1, 2]}", 'found [1, 2] (write a list of CPUs, for example "2'),
        ("{reserved: 0, isolated: true}", "cpus.isolated: found True"),
        ("{reserved: 0, isolated: '1,1'}", "names a CPU twice (name each CPU once)"),
        ("{isolated: 2-7}", "cpus.reserved: is missing (add `reserved:`)"),
        ("{reserved: 0}", "cpus.isolated: is missing (add `isolated:`)"),
    ],
)
def test_cpus_are_two_disjoint_lists_neither_empty(tmp_path: Path, cpus: str, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        loaded(tmp_path, f"name: lab\nplatform: vm\ncpus: {cpus}\n")


def test_openshift_needs_a_pool_and_the_others_none(tmp_path: Path) -> None:
    cpus = "cpus: {reserved: 0, isolated: 1}\n"
    assert loaded(tmp_path, f"name: lab\nplatform: bare-metal\n{cpus}").pool is None
    with pytest.raises(InputError, match=r"pool: OpenShift tunes pools .*\(add pool: with its"):
        loaded(tmp_path, f"name: lab\nplatform: openshift\n{cpus}")


TREX = """\
generator:
  trex:
    ports:
      - {pci: "0000:87:00.0", ip: 1.1.1.1, default_gw: 2.2.2.2}
      - {pci: "0000:87:00.1", ip: 2.2.2.2, default_gw: 1.1.1.1}
    dual_if: [{socket: 0, threads: [5, 4]}]
    master_thread: 2
    latency_thread: 3
"""


def test_trex_counts_its_threads_and_names_all_its_cpus(tmp_path: Path) -> None:
    generator = loaded(tmp_path, BASE + TREX).generator
    assert generator.trex is not None
    assert (generator.trex.threads_per_pair, generator.polling_cpus) == (2, {2, 3, 4, 5})


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("latency_thread: 3", "latency_thread: 2", "latency_thread: CPU 2 is the master thread's"),
        ("[5, 4]", "[5, 3]", "dual_if[0].threads[1]: CPU 3 is given twice"),
        (
            "dual_if: [",
            "dual_if: [{socket: 1, threads: [6]}, ",
            "trex.ports: 2 ports are not 2 pair(s) (give two ports for each entry of dual_if)",
        ),
        (
            "generator:\n",
            "generator:\n  cpus: 2-4\n",
            "generator.cpus: TRex's CPU 5 is not among them "
            "(name every CPU of trex, or leave cpus out)",
        ),
    ],
)
def test_trex_threads_have_a_cpu_each(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in TREX
    with pytest.raises(InputError, match=re.escape(told)):
        loaded(tmp_path, BASE + TREX.replace(old, new))


def test_every_pair_has_as_many_threads(tmp_path: Path) -> None:
    text = TREX.replace("dual_if: [", "dual_if: [{socket: 1, threads: [6]}, ").replace(
        "    dual_if",
        '      - {pci: "0000:88:00.0", ip: 3.3.3.3, default_gw: 4.4.4.4}\n'
        '      - {pci: "0000:88:00.1", ip: 4.4.4.4, default_gw: 3.3.3.3}\n    dual_if',
    )
    told = re.escape("dual_if[1].threads: found 2 threads, the first pair has 1 (give each pair")
    with pytest.raises(InputError, match=told):
        loaded(tmp_path, BASE + text)


def test_a_preset_is_loaded_by_its_name_and_a_misspelt_one_is_told() -> None:
    assert load_intent("telco-core-rds").name == "customcnf"
    with pytest.raises(InputError, match=r"no preset or file .*\(did you mean telco-core-rds\?\)"):
        load_intent("telco-core-rd")
    with pytest.raises(InputError, match=r"missing.yaml: no such file \(check the path\)"):
        load_intent("missing.yaml")
