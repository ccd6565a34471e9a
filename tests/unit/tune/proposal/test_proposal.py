"""Proposals for made-up hosts: what is split off, set aside and handed out, worked out by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.tune.fit.topology import ports_of, read_topology
from plimsoll.tune.fit.topology_rules import check_topology
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.hugepages import Pages
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_intent, preset_names
from plimsoll.tune.intent.network import SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.proposal.intent_text import intent_text
from plimsoll.tune.proposal.proposal import Proposal, propose_intent
from plimsoll.tune.proposal.survey import ports_in_use, survey_host
from tests.unit.tune.captures.composed_host import FOLDER, composed_host
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40, tree_of_64
from tests.worded.says import Says, passage

DEFAULT_ROUTE = "eno1\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0"
TREES: dict[str, Callable[[Path], HostTree]] = {
    "2": tree_of_2,
    "40 without SMT": lambda folder: tree_of_40(folder, smt=False),
    "40 with SMT": lambda folder: tree_of_40(folder, smt=True),
    "64": tree_of_64,
}


def proposed(tree: HostTree, preset: str | None = None) -> Proposal:
    return propose_intent(survey_host(LiveHost(tree.root), {}), preset)


@pytest.mark.parametrize(
    ("tree", "reserved", "isolated", "smt"),
    [
        ("2", "0", "1", "any"),
        ("40 without SMT", "0-1", "2-39", "any"),
        ("40 with SMT", "0-1,20-21", "2-19,22-39", "enabled"),
        ("64", "0,16,32,48", "1-15,17-31,33-47,49-63", "enabled"),
    ],
)
def test_the_first_core_of_each_node_is_reserved(
    tmp_path: Path, tree: str, reserved: str, isolated: str, smt: str
) -> None:
    cpus = proposed(TREES[tree](tmp_path)).intent.cpus
    assert (cpus.reserved.text, cpus.isolated.text, cpus.smt) == (reserved, isolated, smt)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("preset", preset_names())
def test_every_proposal_keeps_the_rules_of_its_host_and_loads_back(
    tmp_path: Path, tree: str, preset: str
) -> None:
    host = TREES[tree](tmp_path)
    host.interface("ens1", host.card("0000:17:00.0", "ice"))
    proposal = proposed(host, preset)
    path = tmp_path / "intent.yaml"
    path.write_text(intent_text(proposal))
    loaded = load_intent(path)
    assert loaded == proposal.intent
    topology = read_topology(LiveHost(host.root).read, ports_of(loaded))
    problems = check_topology(loaded, topology)
    assert [each.text for each in problems] == []


CAPTURES = FOLDER.parent
# Of one core, which no proposal is for.
TOO_SMALL = "one-cpu"


def captured_host(name: str) -> HostView:
    """A machine that was booted, or one composed by hand."""
    booted = CAPTURES / f"{name}.tar.gz"
    return open_root(booted) if booted.exists() else composed_host(name).capture().view(name)


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize(
    "name",
    sorted(
        {path.name.removesuffix(".tar.gz") for path in CAPTURES.glob("*.tar.gz")} - {TOO_SMALL}
        | {path.stem for path in FOLDER.glob("*.yaml")}
    ),
)
def test_every_proposal_from_a_capture_keeps_the_rules_of_its_host(name: str, preset: str) -> None:
    view = captured_host(name)
    intent = propose_intent(survey_host(view), preset).intent
    topology = read_topology(view.read, ports_of(intent), view.link)
    problems = check_topology(intent, replace(topology, in_use=ports_in_use(view)))
    assert [each.text for each in problems] == []


@pytest.mark.parametrize("name", ["tuned", "spoilt", "balanced"])
def test_the_pages_of_a_tuned_guest_are_its_own_proposal_s(name: str) -> None:
    """64 pages of 2M are on its command line."""
    hugepages = propose_intent(survey_host(captured_host(name)), "vm").intent.hugepages
    assert hugepages is not None
    assert (hugepages.default_size, hugepages.pages) == ("2M", (Pages(size="2M", count=64),))


def test_without_a_preset_it_is_what_the_host_is(tmp_path: Path) -> None:
    guest, server = tree_of_2(tmp_path / "guest"), tree_of_64(tmp_path / "server")
    assert (proposed(guest).preset, proposed(guest).intent.platform) == ("vm", "vm")
    assert (proposed(server).preset, proposed(server).intent.platform) == (
        "bare-metal",
        "bare-metal",
    )


def test_kernel_arguments_name_the_host_s_own_cpus(tmp_path: Path) -> None:
    kernel = proposed(tree_of_40(tmp_path, smt=True), "openshift-sno-vdu").intent.kernel
    assert kernel.arguments[:2] == ("nohz_full=2-19,22-39", "idle=poll")
    assert kernel.tuned_bootloader == {"cmdline_crash": "nohz_full=2-19,22-39"}


@pytest.mark.parametrize(
    ("node_1", "facts"),
    [
        (("2-3", 0), ()),
        (("", 8), ()),
    ],
)
def test_a_card_far_from_all_else_is_left_out(
    tmp_path: Path, node_1: tuple[str, int], facts: tuple[str, ...], says: Says
) -> None:
    cpus, memory = node_1
    tree = HostTree(tmp_path)
    tree.cpus("0-3", ["0", "1", "2", "3"])
    tree.node(0, "0-3" if not cpus else "0-1", 8)
    tree.node(1, cpus, memory)
    tree.page_sizes(2048)
    tree.interface("ens1", tree.card("0000:17:00.0", "ice", numa=1))
    proposal = proposed(tree)
    assert proposal.intent.nics == ()
    assert proposal.reasons["nics"] == says("0000:17:00.0", "ens1", "1", *facts)


def test_a_preset_s_generator_stays_behind(tmp_path: Path) -> None:
    intent = proposed(tree_of_2(tmp_path), "openshift-deterministic").intent
    assert intent.generator.trex is None


def test_a_card_past_the_kernel_is_named_by_its_address(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.interface("ens1", tree.card("0000:87:00.0", "ice", numa=1))
    tree.card("0000:88:00.0", "vfio-pci", numa=1)
    by_name, alone = proposed(tree).intent.nics
    assert by_name == Nic(
        name="ens1", pci=("0000:87:00.0",), driver="vfio-pci", numa_node=1, link_speed_gbps=25
    )
    assert alone == Nic(
        name="pci-0000-88-00-0", pci=("0000:88:00.0",), driver="vfio-pci", numa_node=1
    )


def test_a_card_without_an_iommu_stays_with_the_kernel(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    card = tree.card("0000:00:03.0", "virtio-pci")
    (card / "iommu_group").unlink()
    tree.interface("eth1", card)
    (nic,) = proposed(tree).intent.nics
    assert (nic.driver, nic.pci) == ("netdevice", ("0000:00:03.0",))


def test_mellanox_cards_stay_with_the_kernel_and_have_rdma(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    card = tree.card("0000:5e:00.0", "mlx5_core")
    tree.write(card / "vendor", "0x15b3")
    tree.interface("ens5", card)
    (nic,) = proposed(tree).intent.nics
    assert (nic.driver, nic.rdma, nic.vendor) == ("netdevice", True, "15b3")


def test_openshift_divides_ports_as_the_preset_does_and_joins_the_pod_to_two(
    tmp_path: Path,
) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    for number, name in enumerate(["ens7f0", "ens7f1", "ens7f2"]):
        card = tree.card(f"0000:87:00.{number}", "ice", numa=1)
        tree.write(card / "sriov_totalvfs", "64")
        tree.interface(name, card)
    intent = proposed(tree, "openshift-deterministic").intent
    assert intent.nics[0] == Nic(
        name="ens7f0",
        pf_names=("ens7f0",),
        num_vfs=1,
        driver="vfio-pci",
        mtu=9000,
        trust=True,
        spoofchk=True,
        resource_name="nic_ens7f0",
        numa_node=1,
        link_speed_gbps=25,
    )
    assert intent.networks[2] == SriovAttachment(kind="sriov", name="ens7f2-net", nic="ens7f2")
    assert intent.pods[0].networks == ("ens7f0-net", "ens7f1-net")


def test_a_port_that_cannot_be_divided_has_no_network(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.interface("ens1", tree.card("0000:87:00.0", "ice"))
    intent = proposed(tree, "openshift-deterministic").intent
    assert (intent.nics[0].num_vfs, intent.networks, intent.pods[0].networks) == (None, (), ())


def test_what_the_host_lives_by_is_left_out_and_named(tmp_path: Path, says: Says) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.interface("eno1", tree.card("0000:01:00.0", "tg3"))
    tree.route(DEFAULT_ROUTE)
    proposal = proposed(tree)
    assert proposal.intent.nics == ()
    assert passage(intent_text(proposal), "0000:01:00.0", "eno1") == says("0000:01:00.0", "eno1")


def test_a_vf_is_no_port_of_its_own(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    port = tree.card("0000:87:00.0", "ice")
    tree.link(tree.card("0000:87:01.0", "iavf") / "physfn", port)
    assert [nic.pci for nic in proposed(tree).intent.nics] == [("0000:87:00.0",)]


def test_an_interface_s_name_cannot_drive_a_terminal(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.interface("\x1b[2J", tree.card("0000:87:00.0", "ice"))
    text = intent_text(proposed(tree, "openshift-deterministic"))
    assert "\x1b" not in text
    assert "0000:87:00.0 (\\x1b[2J)" in text


def test_one_core_is_too_few(tmp_path: Path, says: Says) -> None:
    tree = HostTree(tmp_path)
    tree.cpus("0-1", ["0,1"])
    tree.node(0, "0-1", 4)
    with pytest.raises(MachineError) as caught:
        proposed(tree)
    assert caught.value == says("0-1")


def test_a_node_of_one_core_keeps_it(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.cpus("0-1", ["0", "1"])
    tree.node(0, "0", 4)
    tree.node(1, "1", 4)
    cpus = proposed(tree).intent.cpus
    assert (cpus.reserved.text, cpus.isolated.text) == ("0", "1")


def test_a_preset_that_is_none(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        proposed(tree_of_2(tmp_path), "baremetal")
    assert caught.value == says("intent", "baremetal")


def test_nothing_of_the_host_is_changed(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=True)
    tree.interface("ens1", tree.card("0000:17:00.0", "ice"))
    before = _contents(tmp_path)
    intent_text(proposed(tree, "openshift-deterministic"))
    assert _contents(tmp_path) == before


def test_the_text_says_what_it_is_and_why(tmp_path: Path, says: Says) -> None:
    proposal = replace(proposed(tree_of_40(tmp_path, smt=True)), where="a.tar.gz")
    text = intent_text(proposal, schema="tuning-intent.schema.json")
    lines = text.splitlines()
    # By yaml-language-server's README: the file's first line, the path from its folder.
    assert lines[0] == "# yaml-language-server: $schema=tuning-intent.schema.json"
    assert lines[1] == says("a.tar.gz")
    assert intent_text(proposal) == text.partition("\n")[2]
    assert passage("\n".join(lines), "40", "20", "2") == says("40", "20", "2")
    assert max(map(len, lines)) <= 100


def _contents(folder: Path) -> dict[Path, Any]:
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_survey_says_what_intents_take(tmp_path: Path) -> None:
    survey = survey_host(LiveHost(tree_of_40(tmp_path, smt=False).root), {})
    assert (survey.page_sizes, survey.virtual, survey.ports) == ({"2M", "1G"}, False, ())
    assert isinstance(propose_intent(survey).intent, Intent)
