"""VPP as a DUT: frames counted by both, to the frame; killed in the middle, nothing is left."""

import os
import signal
from pathlib import Path

import pytest

from plimsoll.dut.lab import LabDied
from plimsoll.dut.labs.vpp import VppLab, VppSettings
from plimsoll.dut.registry.standing import lab_down, lab_up
from plimsoll.dut.userspace.vpp_startup import VppStartup
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.shared_directory import ledger_uses
from plimsoll.host.processes.identity import wait_for_end
from tests.integration.command import Workplace, journal
from tests.integration.dut.namespace_lab import (
    CPU,
    IPV6,
    PATIENCE_S,
    agreements,
    make_lab,
    run_trial,
    settings_of,
    start_owner,
)

pytestmark = pytest.mark.full
SHARED_MEMORY = Path("/dev/shm")

# At addresses that no machine of tests has.
NO_CARDS = {
    "dut": ["ffff:fe:1e.0", "ffff:fe:1e.1"],
    "tester": [{"devargs": "ffff:fe:1f.0"}, {"devargs": "ffff:fe:1f.1"}],
}


@pytest.fixture(autouse=True)
def _has_vpp() -> None:
    try:
        VppSettings(cpu=CPU).check_machine()
    except MachineError as error:
        pytest.skip(str(error))


def shared_memory(ledger: str = "*") -> set[str]:
    """What VPPs of no living ledger, or that of one ledger, have left in shared memory."""
    found = {path.name for path in SHARED_MEMORY.glob(f"plimsoll-{ledger}-*")}
    living = [f"plimsoll-{use.ledger_id}-" for use in ledger_uses() if use.alive]
    if ledger != "*":
        return found
    return {name for name in found if not name.startswith(tuple(living))}


def brought_up(place: Workplace) -> dict[str, dict[str, object]]:
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    lab: dict[str, dict[str, object]] = up["lab"]
    return lab


@pytest.mark.parametrize(
    ("forwarding", "stream"),
    [
        *(("cross", {}), ("cross", {"frame_size": 9216})),
        *(("bridge", {}), ("bridge", IPV6), ("route", {}), ("route", IPV6)),
        ("route", {"frame_size": 9216}),
    ],
    ids=str,
)
def test_a_trial_passes_and_vpp_counted_the_same(
    place: Workplace, forwarding: str, stream: dict[str, object]
) -> None:
    trial = run_trial(place, {"kind": "vpp", "cpu": CPU, "forwarding": forwarding}, **stream)
    assert agreements(trial) == ["ok"] * 4
    assert shared_memory() == set()
    lab = brought_up(place)
    assert str(lab["version"]).startswith("vpp v")
    assert ("routes" in lab["forwards"]) is (forwarding == "route")


def test_a_vpp_that_is_killed_is_reported_as_such(ledger: Ledger) -> None:
    lab = make_lab(ledger, "vpp")
    lab.up()
    assert shared_memory(ledger.id) != set()
    (vpp,) = lab.processes()
    os.kill(vpp.pid, signal.SIGKILL)
    with pytest.raises(LabDied) as died:
        lab.counters()
    assert (died.value.process, died.value.pid, died.value.exit_status) == ("vpp", vpp.pid, -9)
    lab.down()
    assert shared_memory(ledger.id) == set()


def test_a_vpp_that_hangs_is_told_apart(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = make_lab(ledger, "vpp")
    lab.up()
    (vpp,) = lab.processes()
    monkeypatch.setattr(VppLab, "answer_timeout_s", 1.0)
    os.kill(vpp.pid, signal.SIGSTOP)
    with pytest.raises(MachineError, match=rf"VPP \(pid {vpp.pid}\) runs, and has not answered"):
        lab.counters()
    lab.down()
    assert shared_memory(ledger.id) == set()


@pytest.mark.parametrize(
    ("replacement", "error", "words"),
    [
        ("memif_plugin.so { disable }", MachineError, "VPP refuses `create memif socket .*unknown"),
        (
            "bogus",
            LabDied,
            r"exited with status 1; its log ends with:\s+vlib_plugin_config: unknown",
        ),
    ],
)
def test_what_vpp_refuses_is_told_in_its_words(
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    *,
    replacement: str,
    error: type[Exception],
    words: str,
) -> None:
    """A command, where its memif plugin is missing, and a configuration."""
    whole = VppStartup.text

    def changed(startup: VppStartup) -> str:
        return whole(startup).replace("memif_plugin.so { enable }", replacement)

    monkeypatch.setattr(VppStartup, "text", changed)
    lab = make_lab(ledger, "vpp")
    with pytest.raises(error, match=words):
        lab.up()
    assert shared_memory(ledger.id) == set()


def test_a_vpp_without_the_plugin_of_cards_names_its_package(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = VppStartup.text

    def changed(startup: VppStartup) -> str:
        return whole(startup).replace("dpdk_plugin.so { enable }", "dpdk_plugin.so { disable }")

    monkeypatch.setattr(VppStartup, "text", changed)
    lab = make_lab(ledger, "vpp", cards=NO_CARDS)
    with pytest.raises(
        MachineError, match=r"lab\.cards: this VPP has no dpdk_plugin.*-plugin-dpdk"
    ):
        lab.up()
    assert shared_memory(ledger.id) == set()


def test_cards_that_vpp_cannot_open_are_told_in_the_words_of_its_dpdk(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VppLab, "cards_timeout_s", 1.0)
    lab = make_lab(ledger, "vpp", cards=NO_CARDS)
    with pytest.raises(MachineError, match=r"lab\.cards") as refused:
        lab.up()
    if "dpdk_plugin.so" in str(refused.value):
        pytest.skip(str(refused.value))
    assert "VPP has not opened its cards in 1 s; its DPDK ends with: EAL: " in str(refused.value)
    assert shared_memory(ledger.id) == set()


def test_a_killed_owner_leaves_nothing_of_vpp(state: Path) -> None:
    owner, ledger = start_owner(settings_of("vpp"))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert processes["vpp"].alive
    assert shared_memory(ledger.id) != set()
    owner.kill()
    owner.communicate()
    assert wait_for_end(processes["janitor"], PATIENCE_S)
    assert not [name for name, identity in processes.items() if identity.alive]
    assert shared_memory(ledger.id) == set()
    assert list(state.iterdir()) == []


def test_it_stands_until_it_is_taken_down(state: Path) -> None:
    lab = lab_up(settings_of("vpp"))
    assert any(each.startswith("vpp ") for each in lab.processes)
    lab_down(lab.id)
    assert shared_memory(lab.id) == set()
    assert list(state.iterdir()) == []


def test_its_main_thread_keeps_off_the_polled_cpu(ledger: Ledger) -> None:
    lab = make_lab(ledger, "vpp")
    lab.up()
    (vpp,) = lab.processes()
    threads = Path(f"/proc/{vpp.pid}/task")
    names = {(each / "comm").read_text().strip(): int(each.name) for each in threads.iterdir()}
    assert CPU not in os.sched_getaffinity(names["vpp_main"])
    assert os.sched_getaffinity(names["vpp_wk_0"]) == {CPU}
    lab.down()


def test_it_has_a_hundred_thousand_routes(place: Workplace) -> None:
    """There is no route to the networks as a whole: what hits none is not forwarded."""
    lab = {"kind": "vpp", "cpu": CPU, "forwarding": "route", "routes": 100_000}
    spread = {"flows": 1000, "vary": [{"field": "IP.dst", "step": 50}]}
    trial = run_trial(place, lab, **spread)
    assert agreements(trial) == ["ok"] * 4
    up = brought_up(place)
    print(f"100,000 routes in {up['routes_installed_in_s']} s")
    assert up["forwards"]["route_count"] == 100_002
