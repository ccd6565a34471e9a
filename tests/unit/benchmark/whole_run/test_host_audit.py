"""The audit of one host of a run: this machine's real one, and what others were meant for."""

from collections.abc import Collection

import pytest

from plimsoll.benchmark.whole_run.run_audits import JudgedIntent, audit_host, choose_intent
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.captures.systems import SYSTEMS
from tests.worded.says import Says

ONLINE = "/sys/devices/system/cpu/online"
CPUINFO = {"/proc/cpuinfo": "flags : tsc hypervisor"}
UNISOLATED = CapturedHost(files={"/proc/cmdline": "quiet", ONLINE: "0-3", **CPUINFO})
ISOLATED = CapturedHost(
    files={"/proc/cmdline": "isolcpus=2-3 nohz_full=2-3", ONLINE: "0-3", **CPUINFO}
)
DECLARED = SYSTEMS[0].declared()
NOBODY = frozenset[int]()


def isolated(meant: JudgedIntent) -> str:
    assert meant.intent is not None
    return meant.intent.cpus.isolated.text


def test_every_check_is_recorded() -> None:
    found = audit_host(LiveHost(), "tester", load_preset("vm"), frozenset({1}), "tester-1")
    assert (found.role, found.source, found.host) == ("tester", "this host", "tester-1")
    assert (found.intent, found.assumed, found.under_test) == ("vm", "", "1")
    numbers = [finding.number for finding in found.findings]
    assert numbers == sorted(set(numbers))
    assert {7, 21, 33, 43, 47} <= set(numbers)
    assert len(found.text) < 200_000


@pytest.mark.parametrize("name", ["tuned", "mistaken"])
def test_a_host_elsewhere_is_judged_as_itself(name: str) -> None:
    """By the verdicts that were worked out by hand from how each system was made."""
    system = next(each for each in SYSTEMS if each.name == name)
    found = audit_host(open_root(system.capture), "observed", system.declared(), NOBODY)
    verdicts = {each.number: each.verdict for each in found.findings}
    assert {number: verdicts[number] for number in system.verdicts} == system.verdicts
    assert found.role == "observed"


def test_the_cpus_under_test_are_isolated_where_others_are_left(says: Says) -> None:
    meant = choose_intent(UNISOLATED, None, frozenset({2, 3}))
    assert meant.intent is not None
    assert (isolated(meant), meant.intent.cpus.reserved.text) == ("2-3", "0-1")
    assert meant.intent.hugepages is None
    assert meant.assumed == says("2-3", "0-1")


def test_all_cpus_under_test_leave_the_proposals_own() -> None:
    # The first core is for the system.
    assert isolated(choose_intent(UNISOLATED, None, frozenset(range(4)))) == "1-3"


def test_the_kernels_command_line_comes_first() -> None:
    meant = choose_intent(ISOLATED, None, frozenset({1}))
    assert isolated(meant) == "2-3"
    assert "command line" in meant.assumed


@pytest.mark.parametrize(
    ("view", "declared", "tested", "found"),
    [
        (ISOLATED, None, {1}, {1}),
        (ISOLATED, DECLARED, {0}, {0}),
        # Whoever isolated CPUs meant them for what is tested.
        (ISOLATED, None, (), {2, 3}),
        (ISOLATED, DECLARED, (), {1, 2, 3}),
        # A proposal is our own guess.
        (UNISOLATED, None, (), ()),
        (UNISOLATED, None, {3}, {3}),
    ],
)
def test_which_cpus_are_under_test(
    view: CapturedHost, declared: Intent | None, tested: Collection[int], found: Collection[int]
) -> None:
    assert choose_intent(view, declared, frozenset(tested)).tested == frozenset(found)


def test_a_host_of_one_core_is_audited_without_an_intent(says: Says) -> None:
    view = CapturedHost(files={"/proc/cmdline": "quiet", ONLINE: "0", **CPUINFO})
    meant = choose_intent(view, None, frozenset({0}))
    assert meant.intent is None
    assert meant.assumed == says("0")
    found = audit_host(view, "observed", None, NOBODY)
    assert (found.intent, found.under_test) == (None, "")
    assert found.findings


def test_a_host_that_shows_nothing_is_audited_all_the_same() -> None:
    found = audit_host(CapturedHost(files={}, collected=()), "observed", None, NOBODY, "dut")
    assert found.host == "dut"
    assert found.kernel is None
    assert {each.verdict for each in found.findings} <= {"unknown", "not-applicable"}
