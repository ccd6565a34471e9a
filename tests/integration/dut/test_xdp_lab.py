"""XDP redirect as a DUT, in both modes: frames pass, all counts agree, nothing is left."""

import os
import re
import socket
import time
from pathlib import Path

import pytest

from plimsoll.dut.lab import Lab
from plimsoll.dut.labs.xdp import napi_threads
from plimsoll.errors import MachineError
from plimsoll.host.bpf.libbpf import XDP_GENERIC, attached_program, map_of_program
from plimsoll.host.bpf.xdp_redirect import XdpCounts, redirect_all
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NetworkNamespace, run_within
from tests.integration.command import Workplace, journal
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    PATIENCE_S,
    agreements,
    ends_of,
    exchange,
    killed_owner_leaves_nothing,
    leftovers,
    leftovers_of_run,
    make_lab,
    run_trial,
    settings_of,
    start_owner,
)
from tests.integration.packet_port import PacketPort

MODES = ("native", "generic")


@pytest.fixture(autouse=True)
def _has_libbpf() -> None:
    try:
        settings_of("xdp").check_machine()
    except MachineError as error:
        pytest.skip(str(error))


def programs_of(namespace: NetworkNamespace) -> list[int]:
    """The ids of the XDP programs on the DUT's ports."""
    ports = [namespace.dut_end(port) for port in (0, 1)]
    found = run_within(
        namespace.path, lambda: [attached_program(socket.if_nametoindex(port)) for port in ports]
    )
    return [each for each in found if each is not None]


def are_gone(programs: list[int]) -> bool:
    """The kernel frees a program in its own time, after the last interface that has it."""
    deadline = time.monotonic() + PATIENCE_S
    while any(map(_is_there, programs)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _is_there(program: int) -> bool:
    try:
        assert map_of_program(program, "no such map") is None
    except MachineError:
        return False
    return True


def programs_said(lab: Lab) -> list[dict[str, object]]:
    forwards = lab.facts()["forwards"]
    assert isinstance(forwards, dict)
    return list(forwards["ports"].values())


@pytest.mark.parametrize("mode", MODES)
def test_frames_pass_and_the_program_counts_them(ledger: Ledger, mode: str) -> None:
    lab = make_lab(ledger, "xdp", mode=mode)
    back, there = exchange(ends_of(lab))
    assert (len(back), len(there)) == (FRAMES, FRAMES)
    counted = lab.counters()
    assert counted is not None
    assert [(each.rx_frames, each.tx_frames, each.rx_missed) for each in counted] == [
        (FRAMES, FRAMES, 0)
    ] * 2
    said = programs_said(lab)
    assert [each["mode"] for each in said] == [mode, mode]
    redirected = {"aborted": 0, "drop": 0, "pass": 0, "tx": 0, "redirect": FRAMES}
    assert [each["actions"] for each in said] == [redirected] * 2
    programs = programs_of(ledger.namespace)
    assert len(programs) == 2
    lab.down()
    lab.down()
    assert leftovers(ledger) == set()
    assert are_gone(programs)


def test_what_has_nowhere_to_go_is_counted_as_dropped(ledger: Ledger) -> None:
    lab = make_lab(ledger, "xdp", mode="generic")
    ends = ends_of(lab)
    # It goes from the program's map as well, and the frames to it with that.
    ledger.namespace.batch(f"link delete {ledger.namespace.dut_end(1)}")
    with PacketPort(ends[0]) as port:
        port.send(bytes(60), FRAMES)
    dut_port = ledger.namespace.dut_end(0)
    counts = run_within(
        ledger.namespace.path, lambda: XdpCounts.of_interface(socket.if_nametoindex(dut_port))
    )
    assert counts is not None
    deadline = time.monotonic() + PATIENCE_S
    while (read := counts.read())["drop"] < FRAMES and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (read["drop"], read["redirect"]) == (FRAMES, 0)
    counts.close()
    lab.down()


def test_native_frames_are_redirected_on_the_cpu_of_the_lab(ledger: Ledger) -> None:
    lab = make_lab(ledger, "xdp")
    lab.up()
    threads = [napi_threads(ledger.namespace.dut_end(port)) for port in (0, 1)]
    assert all(threads)
    assert {cpu for some in threads for each in some for cpu in os.sched_getaffinity(each)} == {CPU}
    lab.down()


def test_an_interface_that_has_a_program_keeps_it(ledger: Ledger) -> None:
    lab = make_lab(ledger, "xdp", mode="generic")
    lab.up()
    namespace = ledger.namespace
    before = programs_of(namespace)
    name = namespace.dut_end(0)

    def again() -> None:
        index = socket.if_nametoindex(name)
        redirect_all(name, index, index, XDP_GENERIC)

    refused = f"refuses to put an XDP program on {name}: .*busy.*take it off"
    with pytest.raises(MachineError, match=re.compile(refused, re.DOTALL)):
        run_within(namespace.path, again)
    assert programs_of(namespace) == before
    lab.down()


@pytest.mark.parametrize("mode", ["native", pytest.param("generic", marks=pytest.mark.slow)])
def test_a_killed_owner_leaves_neither_program_nor_map(state: Path, mode: str) -> None:
    owner, ledger = start_owner(settings_of("xdp", mode=mode))
    assert len(leftovers(ledger)) == 3
    programs = programs_of(ledger.namespace)
    assert len(programs) == 2
    killed_owner_leaves_nothing(owner, ledger, state)
    assert are_gone(programs)


@pytest.mark.parametrize("mode", ["native", pytest.param("generic", marks=pytest.mark.full)])
def test_a_trial_of_the_engine_agrees_to_the_frame(
    place: Workplace, state: Path, mode: str
) -> None:
    assert agreements(run_trial(place, {"kind": "xdp", "cpu": CPU, "mode": mode})) == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert up["lab"]["forwards"]["by"] == f"XDP redirect, {mode} mode"
    assert leftovers_of_run(place) == set()
