"""The pods of a proposal fit the host it is from; expectations are by hand."""

from pathlib import Path

from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.hugepages import PodHugepages
from plimsoll.tune.proposal.proposal import Proposal, propose_intent
from plimsoll.tune.proposal.survey import survey_host
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40, tree_of_64


def proposed(tree: HostTree, preset: str | None = None) -> Proposal:
    return propose_intent(survey_host(LiveHost(tree.root), {}), preset)


def test_a_preset_s_pod_is_made_to_fit(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    (pod,) = proposed(tree, "openshift-sno-vdu").intent.pods
    assert (pod.cpus, pod.hugepages) == (1, PodHugepages(size="1G", total="1Gi"))
    (pod,) = proposed(tree_of_64(tmp_path / "large"), "openshift-sno-vdu").intent.pods
    assert (pod.cpus, pod.hugepages) == (14, PodHugepages(size="1G", total="12Gi"))


def test_a_pod_of_one_node_is_no_larger_than_it(tmp_path: Path) -> None:
    """Of 8 cores with two threads on each node one is reserved; 14 CPUs would be both nodes' 7."""
    tree = HostTree(tmp_path)
    tree.cpus("0-15", [str(cpu) for cpu in range(16)])
    tree.node(0, "0-7", 48)
    tree.node(1, "8-15", 16)
    tree.page_sizes(1048576)
    (pod,) = proposed(tree, "openshift-sno-vdu").intent.pods
    assert (pod.cpus, pod.hugepages) == (7, PodHugepages(size="1G", total="12Gi"))


def test_a_pod_s_memory_is_what_hugepages_leave_at_most(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.cpus("0-1", ["0", "1"])
    tree.node(0, "0-1", 1)
    tree.page_sizes(2048)
    (pod,) = proposed(tree, "openshift-sno-vdu").intent.pods
    # 1024 MiB, of which 256 are hugepages; half of the rest.
    assert (pod.memory, pod.hugepages) == ("384Mi", PodHugepages(size="2M", total="256Mi"))


def test_a_pod_joins_networks_of_one_node(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    for number, (name, node) in enumerate([("ens1", 0), ("ens2", 1), ("ens3", 1)]):
        card = tree.card(f"0000:87:00.{number}", "ice", numa=node)
        tree.write(card / "sriov_totalvfs", "8")
        tree.interface(name, card)
    intent = proposed(tree, "openshift-deterministic").intent
    assert [each.name for each in intent.networks] == ["ens1-net", "ens2-net", "ens3-net"]
    assert intent.pods[0].networks == ("ens2-net", "ens3-net")
