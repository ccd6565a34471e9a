"""The hugepages of a proposal: those that are there, or a share of the memory."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.hugepages import Pages
from plimsoll.tune.proposal.proposal import Proposal, propose_intent
from plimsoll.tune.proposal.survey import survey_host
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40
from tests.worded.says import Says, passage


def proposed(tree: HostTree, preset: str | None = None) -> Proposal:
    return propose_intent(survey_host(LiveHost(tree.root), {}), preset)


@pytest.mark.parametrize(
    ("tree", "pages"),
    [
        # A quarter of 4 GiB is 1 GiB, and a guest's pages are small; of 96 GiB it would be 24,
        # and 16 are the most.
        (tree_of_2, (Pages(size="2M", count=512),)),
        (
            partial(tree_of_40, smt=True),
            (Pages(size="1G", count=16, node=0), Pages(size="1G", count=16, node=1)),
        ),
    ],
)
def test_hugepages_are_a_quarter_of_each_node_s_memory(
    tmp_path: Path, tree: Callable[[Path], HostTree], pages: tuple[Pages, ...]
) -> None:
    hugepages = proposed(tree(tmp_path)).intent.hugepages
    assert hugepages is not None
    assert (hugepages.default_size, hugepages.pages) == (pages[0].size, pages)


def test_a_small_host_gets_small_pages(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    tree.node(0, "0-1", 2)
    hugepages = proposed(tree, "bare-metal").intent.hugepages
    assert hugepages is not None
    assert hugepages.pages == (Pages(size="2M", count=256),)


def test_pages_that_are_set_aside_already_are_proposed(tmp_path: Path, says: Says) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.set_aside(0, 2048, 100)
    tree.set_aside(1, 2048, 50)
    tree.set_aside(1, 1048576, 3)
    proposal = proposed(tree)
    hugepages = proposal.intent.hugepages
    assert hugepages is not None
    # Pages of 1G are on one node alone.
    assert hugepages.default_size == "2M"
    assert set(hugepages.pages) == {
        Pages(size="2M", count=100, node=0),
        Pages(size="2M", count=50, node=1),
        Pages(size="1G", count=3, node=1),
    }
    assert passage(proposal.reasons["hugepages"], "100", "2M", "0") == says()


@pytest.mark.parametrize(
    "counts",
    # None where node 1 has CPUs; more than the 96 GiB that it has.
    [(100, 0), (100, 96 * 512)],
)
def test_pages_that_do_not_serve_are_not_proposed(tmp_path: Path, counts: tuple[int, int]) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    for node, count in enumerate(counts):
        tree.set_aside(node, 2048, count)
    hugepages = proposed(tree).intent.hugepages
    assert hugepages is not None
    assert {(each.size, each.count) for each in hugepages.pages} == {("1G", 16)}


def test_a_kernel_without_hugepages_gets_none(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.cpus("0-1", ["0", "1"])
    tree.node(0, "0-1", 64)
    assert proposed(tree).intent.hugepages is None
