"""Experiments for made-up hosts: what is chosen was worked out by hand, and all of them load."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.proposal.proposed_experiment import proposed_experiment
from plimsoll.benchmark.proposal.survey import HostSurvey, survey_host
from plimsoll.dut.labs.external import ExternalSettings
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.needs import NeededProgram
from plimsoll.errors import MachineError
from plimsoll.host.ports.machine_ports import HostAbilities
from tests.unit.host.machine_tree import MachineTree
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40, tree_of_64
from tests.worded.says import Says, passage

ROOT = HostAbilities(
    capabilities=frozenset({"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_SYS_ADMIN"}),
    hugepages=True,
    vfio="loaded",
    iommu=True,
    unsafe_noiommu=False,
)
DEFAULT_ROUTE = "ens1\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0"


@pytest.fixture(autouse=True)
def testpmd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.dut.needs.NeededProgram.find", lambda needed: needed.name)


def isolate(tree: MachineTree, cpus: str) -> None:
    tree.write(tree.sys / "devices/system/cpu/isolated", cpus)


def set_aside(tree: MachineTree, pages: int) -> None:
    """So many pages of 2 MB, all free."""
    pool = tree.sys / "kernel/mm/hugepages/hugepages-2048kB"
    for name, count in (
        ("nr_hugepages", pages),
        ("free_hugepages", pages),
        ("resv_hugepages", 0),
        ("surplus_hugepages", 0),
    ):
        tree.write(pool / name, str(count))


def surveyed(
    tree: HostTree, allowed: range, abilities: HostAbilities = ROOT, pages: int | None = 1024
) -> HostSurvey:
    shutil.rmtree(tree.sys / "kernel/mm/hugepages")
    if pages is not None:
        set_aside(tree, pages)
    return survey_host(tree.root, allowed=frozenset(allowed), abilities=abilities, environment={})


def proposed(survey: HostSurvey, folder: Path) -> tuple[Experiment, str]:
    """The experiment as `plimsoll run` reads it, and its text."""
    text = proposed_experiment(survey)
    path = folder / "proposed.yaml"
    path.write_text(text)
    return load_experiment(path), " ".join(text.split())


def test_a_guest_of_two_cpus_gets_the_lab_without_a_nic(tmp_path: Path, says: Says) -> None:
    tree = tree_of_2(tmp_path)
    tree.interface("eth0", tree.card("0000:00:03.0", "virtio-pci", numa=-1) / "virtio1")
    plan, text = proposed(surveyed(tree, range(2)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    # CPU 0 has most to do for the kernel, and the DUT gets the better one.
    assert (plan.lab.cpu, plan.generator.cpus) == (1, (0,))
    assert not plan.require_hugepages
    assert passage(text, "0-1") == says("0-1")
    assert text.replace("# ", "") == says(
        "plimsoll init",
        "plimsoll tune init",
        "plimsoll ports bind",
        "docs/experiment.md",
        "0-1",
        "0000:00:03.0",
        "eth0",
    )


def test_isolated_cpus_of_one_node_on_cores_of_their_own_come_first(
    tmp_path: Path, says: Says
) -> None:
    tree = tree_of_40(tmp_path, smt=True)
    isolate(tree, "2-19,22-39")
    plan, text = proposed(surveyed(tree, range(40)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    # Even CPUs are on node 0; 22 and 24 are the second threads of the cores of 2 and 4.
    assert (plan.lab.cpu, plan.generator.cpus) == (2, (4,))
    assert passage(text, "0") == says("0")


def test_without_isolated_ones_the_core_of_cpu_0_is_left_alone(tmp_path: Path) -> None:
    plan, _ = proposed(surveyed(tree_of_40(tmp_path, smt=True), range(40)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    # 1 is the first that will do, and odd CPUs are on its node.
    assert (plan.lab.cpu, plan.generator.cpus) == (1, (3,))


def test_two_threads_of_one_isolated_core_are_taken_and_it_is_said(
    tmp_path: Path, says: Says
) -> None:
    tree = tree_of_64(tmp_path)
    isolate(tree, "5,37")
    plan, text = proposed(surveyed(tree, range(64)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    assert (plan.lab.cpu, plan.generator.cpus) == (5, (37,))
    assert text == says("plimsoll init", "0-63", "5,37", "require_hugepages", "336")


def test_isolated_cpus_out_of_reach_are_not_taken_and_how_to_is_said(
    tmp_path: Path, says: Says
) -> None:
    tree = tree_of_64(tmp_path)
    isolate(tree, "2-31,34-63")
    plan, text = proposed(surveyed(tree, range(2)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    assert (plan.lab.cpu, plan.generator.cpus) == (1, (0,))
    assert passage(text.replace("# ", ""), "0-63", "2-31,34-63", "0-1", "-c") == says(
        "0-63", "2-31,34-63", "0-1", "-c"
    )


def test_two_cards_for_dpdk_are_used_with_cpus_of_their_node(tmp_path: Path, says: Says) -> None:
    tree = tree_of_40(tmp_path, smt=True)
    isolate(tree, "2-19,22-39")
    tree.interface("ens1", tree.card("0000:17:00.0", "mlx5_core", numa=0))
    tree.route(DEFAULT_ROUTE)
    tree.card("0000:18:00.0", "vfio-pci", numa=0)
    tree.card("0000:87:00.0", "vfio-pci", numa=1)
    tree.card("0000:87:00.1", "vfio-pci", numa=1)
    plan, text = proposed(surveyed(tree, range(40)), tmp_path)
    assert isinstance(plan.lab, ExternalSettings)
    assert [port.devargs for port in plan.lab.ports] == ["0000:87:00.0", "0000:87:00.1"]
    assert plan.lab.directions == ((0, 1), (1, 0))
    # Odd CPUs are on node 1, and 1 is not isolated.
    assert plan.generator.cpus == (3, 5, 7, 9)
    # Ports without an interface have no speed that the kernel knows.
    assert plan.lab.line_rate is None
    assert plan.require_hugepages
    assert passage(
        text, "0000:17:00.0", "ens1", "mlx5_core", "0000:87:00.1", "vfio-pci", "1"
    ) == says("0000:17:00.0", "ens1", "mlx5_core", "0000:87:00.1", "vfio-pci", "1")


def test_the_line_rate_is_the_slower_links(tmp_path: Path) -> None:
    tree = tree_of_64(tmp_path)
    tree.interface("ens5", tree.card("0000:5e:00.0", "mlx5_core"), speed="100000")
    tree.interface("ens6", tree.card("0000:5f:00.0", "mlx5_core"), speed="25000")
    plan, _ = proposed(surveyed(tree, range(64)), tmp_path)
    assert isinstance(plan.lab, ExternalSettings)
    assert plan.lab.line_rate is not None
    assert plan.lab.line_rate.value == 25e9
    # Node 0 has the cores 0 to 15; that of CPU 0 is the system's.
    assert plan.generator.cpus == (1, 2, 3, 4)


def test_ports_of_two_nodes_are_a_pair_where_there_is_no_other(tmp_path: Path, says: Says) -> None:
    tree = tree_of_2(tmp_path)
    tree.card("0000:18:00.0", "vfio-pci", numa=0)
    tree.card("0000:87:00.0", "igb_uio", numa=1)
    plan, text = proposed(surveyed(tree, range(2)), tmp_path)
    assert isinstance(plan.lab, ExternalSettings)
    assert [port.devargs for port in plan.lab.ports] == ["0000:18:00.0", "0000:87:00.0"]
    assert plan.generator.cpus == (1,)
    assert text == says(
        "plimsoll init", "plimsoll tune init", "0000:18:00.0", "0-1", "0000:87:00.0", "igb_uio"
    )


def test_one_port_is_no_pair(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    tree.card("0000:18:00.0", "vfio-pci")
    plan, _ = proposed(surveyed(tree, range(2)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)


def test_what_root_has_to_do_is_said(tmp_path: Path, says: Says) -> None:
    tree = tree_of_2(tmp_path)
    for function in range(2):
        tree.card(f"0000:18:00.{function}", "vfio-pci")
    unprivileged = HostAbilities(
        capabilities=frozenset(), hugepages=True, vfio="loaded", iommu=True, unsafe_noiommu=False
    )
    plan, text = proposed(surveyed(tree, range(2), unprivileged), tmp_path)
    assert isinstance(plan.lab, ExternalSettings)
    assert passage(text, "0000:18:00.0", "vfio-pci") == says("0000:18:00.0", "vfio-pci")


@pytest.mark.parametrize(
    ("pages", "writable", "facts"),
    [
        # The tester: 80 MB for DPDK, and for each of four queues 10,240 buffers of a page each,
        # 160 MB in all. The DUT: 32 MB and 16,384 buffers of a page each, 64 MB.
        (1024, False, ("336",)),
        (100, True, ("336", "200")),
        (0, False, ("336", "0", "vm.nr_hugepages=168")),
    ],
)
def test_hugepages_are_counted(
    tmp_path: Path, says: Says, *, pages: int, writable: bool, facts: tuple[str, ...]
) -> None:
    survey = surveyed(tree_of_2(tmp_path), range(2), pages=pages)
    _, text = proposed(replace(survey, adds_hugepages=writable), tmp_path)
    assert passage(text, "require_hugepages", "profile", *facts) == says(
        "require_hugepages", "profile", *facts
    )


def test_a_kernel_without_hugepages_has_none_free(tmp_path: Path) -> None:
    survey = surveyed(tree_of_2(tmp_path), range(2), pages=None)
    assert (survey.free_megabytes, survey.adds_hugepages) == (0, False)


def test_one_cpu_is_too_few(tmp_path: Path, says: Says) -> None:
    with pytest.raises(MachineError) as refused:
        proposed_experiment(surveyed(tree_of_2(tmp_path), range(1)))
    assert refused.value == says("2", "1", "plimsoll init")


def test_neither_ports_nor_testpmd_is_too_little(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: Says
) -> None:
    def missing(needed: NeededProgram) -> str:
        raise MachineError(f"{needed.name} is missing", where="lab", remedy="install dpdk-dev")

    monkeypatch.setattr("plimsoll.dut.needs.NeededProgram.find", missing)
    with pytest.raises(MachineError) as refused:
        proposed_experiment(surveyed(tree_of_2(tmp_path), range(2)))
    assert refused.value == says("plimsoll", "dpdk-dev", "plimsoll init", "plimsoll ports")


def test_a_name_that_ends_a_comment_does_not(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    tree.interface("x\nlab: {}", tree.card("0000:18:00.0", "ice"))
    plan, text = proposed(surveyed(tree, range(2)), tmp_path)
    assert isinstance(plan.lab, TestpmdSettings)
    assert r"(x\nlab: {})" in text
