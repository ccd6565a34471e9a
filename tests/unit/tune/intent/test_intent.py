"""The intent's model: what it takes, and what it says of what it does not."""

import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_intent
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
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
        "hugepages: {default_size: 1G, pages: [{size: 1G, count: 2}]}\n"
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


@pytest.mark.parametrize(
    ("cpus", "facts"),
    [
        (
            "{reserved: 0-1, isolated: 1-7}",
            ("cpus.isolated", "reserved", "1"),
        ),
        (
            "{reserved: 0-1, isolated: 2-7, offlined: 7-8}",
            ("cpus.offlined", "isolated", "7", "reserved"),
        ),
        ("{reserved: '', isolated: 2-7}", ("cpus.reserved",)),
        ("{reserved: 0, isolated: 2-}", ("2-", "cpus.isolated")),
        ("{reserved: 0, isolated: [1, 2]}", ("[1, 2]",)),
        ("{reserved: 0, isolated: true}", ("cpus.isolated",)),
        ("{reserved: 0, isolated: '1,1'}", ("1,1", "cpus.isolated")),
        ("{isolated: 2-7}", ("reserved:", "cpus.reserved")),
        ("{reserved: 0}", ("isolated:", "cpus.isolated")),
    ],
)
def test_cpus_are_two_disjoint_lists_neither_empty(
    tmp_path: Path, cpus: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, f"name: lab\nplatform: vm\ncpus: {cpus}\n")
    assert caught.value == says(*facts)


def test_openshift_needs_a_pool_and_the_others_none(tmp_path: Path, says: Says) -> None:
    cpus = "cpus: {reserved: 0, isolated: 1}\n"
    assert loaded(tmp_path, f"name: lab\nplatform: bare-metal\n{cpus}").pool is None
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, f"name: lab\nplatform: openshift\n{cpus}")
    assert caught.value == says("OpenShift")


@pytest.mark.parametrize(
    ("pool", "facts"),
    [
        ("{role: dut, selector: {}}", ("pool.selector", "0")),
        (
            "{role: dut, node_selector: {a/b: '', c/d: ''}}",
            ("pool.node_selector", "2"),
        ),
        (
            "{role: dut, node_selector: {dut: ''}}",
            ("dut", "pool.node_selector", "domain/role", "node-role.kubernetes.io/"),
        ),
    ],
)
def test_a_pool_and_its_nodes_have_one_label_each(
    tmp_path: Path, pool: str, facts: tuple[str, ...], says: Says
) -> None:
    cpus = "cpus: {reserved: 0, isolated: 1}\n"
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, f"name: lab\nplatform: openshift\npool: {pool}\n{cpus}")
    assert caught.value == says(*facts)


def test_a_pool_with_a_selector_may_have_nodes_of_any_label(tmp_path: Path) -> None:
    text = BASE.replace("role: worker", "{role: dut, selector: {a: b}, node_selector: {c: d}}")
    pool = loaded(tmp_path, text.replace("pool:\n  {", "pool: {")).pool
    assert pool is not None
    assert pool.node_labels == {"c": "d"}


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
    ("old", "new", "facts"),
    [
        ("latency_thread: 3", "latency_thread: 2", ("latency_thread", "2")),
        ("ip: 1.1.1.1", "ip: lo", ("lo", "ports[0].ip", "192")),
        ("[5, 4]", "[5, 3]", ("dual_if[0].threads[1]", "3")),
        (
            "dual_if: [",
            "dual_if: [{socket: 1, threads: [6]}, ",
            ("trex.ports", "2", "dual_if"),
        ),
        (
            "generator:\n",
            "generator:\n  cpus: 2-4\n",
            ("generator.cpus", "5"),
        ),
    ],
)
def test_trex_threads_have_a_cpu_each(
    tmp_path: Path, old: str, new: str, facts: tuple[str, ...], says: Says
) -> None:
    assert old in TREX
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, BASE + TREX.replace(old, new))
    assert caught.value == says(*facts)


def test_every_pair_has_as_many_threads(tmp_path: Path) -> None:
    text = TREX.replace("dual_if: [", "dual_if: [{socket: 1, threads: [6]}, ").replace(
        "    dual_if",
        '      - {pci: "0000:88:00.0", ip: 3.3.3.3, default_gw: 4.4.4.4}\n'
        '      - {pci: "0000:88:00.1", ip: 4.4.4.4, default_gw: 3.3.3.3}\n    dual_if',
    )
    message = re.escape("dual_if[1].threads: found 2 threads, the first pair has 1 (give each pair")
    with pytest.raises(InputError, match=message):
        loaded(tmp_path, BASE + text)


def test_a_preset_is_loaded_by_its_name_and_a_misspelt_one_is_reported(says: Says) -> None:
    assert load_intent("telco-core-rds").name == "customcnf"
    with pytest.raises(InputError) as caught:
        load_intent("telco-core-rd")
    assert caught.value == says("telco-core-rds")
    with pytest.raises(InputError) as caught:
        load_intent("missing.yaml")
    assert caught.value == says("missing.yaml")


def test_a_host_has_its_ports_by_one_name(says: Says) -> None:
    nic = {"name": "a", "pf_names": ["ens1"], "pci": ["0000:87:00.0"]}
    assert intent_with(POOL, nics=[nic]).nics[0].ports == ("ens1",)
    with pytest.raises(InputError) as caught:
        intent_with(HOST, nics=[nic])
    assert caught.value == says("pf_names")


@pytest.mark.parametrize(
    "sections",
    [
        {
            "cpus": {"reserved": "0", "isolated": "1-2", "shared": "3"},
            "hints": {"mixed_cpus": True},
        },
        {"user_level_networking": True, "net_devices": [{"interface": "eth0"}]},
        {"kubelet": {"maxPods": 10}},
        {"tuned": {"priority": 5}},
    ],
)
def test_what_openshift_alone_has(sections: dict[str, Any]) -> None:
    intent_with(POOL, **sections)
    with pytest.raises(InputError, match="OpenShift alone"):
        intent_with(HOST, **sections)


@pytest.mark.parametrize(("total", "means"), [("4G", "4Gi"), ("2048M", "2048Mi"), ("4Gi", "4Gi")])
def test_a_pods_pages_may_be_written_as_pages_are(total: str, means: str) -> None:
    pod = {"name": "p", "cpus": 2, "memory": "1Gi", "hugepages": {"size": "1G", "total": total}}
    pages = {"default_size": "1G", "pages": [{"size": "1G", "count": 8}]}
    found = intent_with(POOL, hugepages=pages, pods=[pod]).pods[0].hugepages
    assert found is not None
    assert found.total == means
