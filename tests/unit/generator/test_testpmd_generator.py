"""testpmd as a generator: what it is asked for, what it says, and what it cannot send."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.generator.testpmd.console import Console
from plimsoll.generator.testpmd.generator import (
    PortStatistics,
    command,
    read_description,
    read_statistics,
)
from plimsoll.generator.testpmd.settings import TestpmdGeneratorSettings
from plimsoll.traffic.plan import FieldWriter, Schedule, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

# As testpmd 22.11 says it; the second port has counted.
STATISTICS = """
  ######################## NIC statistics for port 0  ########################
  RX-packets: 0          RX-missed: 0          RX-bytes:  0
  RX-errors: 0
  RX-nombuf:  0         
  TX-packets: 0          TX-errors: 0          TX-bytes:  0

  Throughput (since last show)
  Rx-pps:            0          Rx-bps:            0
  Tx-pps:            0          Tx-bps:            0
  ############################################################################

  ######################## NIC statistics for port 1  ########################
  RX-packets: 355040     RX-missed: 7          RX-bytes:  0
  RX-errors: 8
  RX-nombuf:  9         
  TX-packets: 31968      TX-errors: 4          TX-bytes:  0

  Throughput (since last show)
  Rx-pps:      7097427          Rx-bps:            0
  Tx-pps:       639056          Tx-bps:            0
  ############################################################################
"""
DESCRIPTION = """
********************* Infos for port 0  *********************
MAC address: 02:00:00:00:00:0A
Device name: net_memif0
Driver name: net_memif
Firmware-version: not available
Connect to socket: 0
memory allocation on the socket: 0
Link status: up
Link speed: 10 Gbps
Link duplex: full-duplex
"""
UNPACED = {"name": "load", "role": "load", "flows": 1024, "pacing": "back-to-back"}


def streams(**changes: object) -> tuple[StreamPlan, ...]:
    profile = Profile.model_validate({"streams": [{**UNPACED, **changes}]})
    return compile_profile(profile, 1000.0, ((0, 1), (1, 0)))


def test_counters_are_read_by_port() -> None:
    assert read_statistics(STATISTICS) == {
        0: PortStatistics(0, 0, 0, 0, 0),
        1: PortStatistics(355040, 7, 8, 9, 31968),
    }


def test_counters_that_are_cut_off_are_refused(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        read_statistics(STATISTICS.replace("RX-nombuf:  9", ""))
    assert caught.value == says("RX-nombuf", "1")


def test_a_port_is_described(says: Says) -> None:
    seen = read_description(DESCRIPTION)
    assert (seen.device, seen.driver, seen.mac) == ("net_memif0", "net_memif", "02:00:00:00:00:0a")
    assert (seen.link_up, seen.link_mbps) == (True, 10_000)
    down = read_description(DESCRIPTION.replace(": up", ": down").replace("10 Gbps", "None"))
    assert (down.link_up, down.link_mbps) == (False, None)
    with pytest.raises(ValueError) as caught:
        read_description(DESCRIPTION.replace("Driver name", "Driver"))
    assert caught.value == says("Driver name")


def test_what_flowgen_sends_is_accepted() -> None:
    assert TestpmdGeneratorSettings().streams_sent(streams(), 2) == streams()
    assert TestpmdGeneratorSettings(flows=16).streams_sent(streams(flows=16), 2) == streams(
        flows=16
    )


@pytest.mark.parametrize(
    ("sent", "facts"),
    [
        (streams(flows=7), ("7", "1024")),
        (streams(protocol="TCP", frame_size=128), ("IPv4",)),
        (streams(dst_ip="2001:2::1", frame_size=128), ("IPv4",)),
        (streams(vlan=7, frame_size=128), ("IPv4",)),
        (streams(imix="simple"), ()),
        (streams()[:1], ()),
        ((*streams(), replace(streams()[0], stream=9, name="more/0-1")), ()),
        (
            (replace(streams()[0], schedule=Schedule(1.0)), streams()[1]),
            (),
        ),
        (
            (replace(streams()[0], frame_count=5), streams()[1]),
            (),
        ),
    ],
)
def test_what_flowgen_does_not_send_is_refused(
    sent: tuple[StreamPlan, ...], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        TestpmdGeneratorSettings().streams_sent(sent, 2)
    assert caught.value == says(*facts)


def test_cpus_have_ports(says: Says) -> None:
    sent = streams()
    (one,) = TestpmdGeneratorSettings(cpus=(3,)).cpu_work(sent, 2)
    assert (one.cpu, one.sends, one.receives_from) == (3, ("load/0-1", "load/1-0"), (0, 1))
    first, second = TestpmdGeneratorSettings(cpus=(3, 4)).cpu_work(sent, 2)
    assert (first.sends, second.receives_from) == (("load/0-1",), (1,))
    with pytest.raises(InputError) as caught:
        TestpmdGeneratorSettings(cpus=(3, 4, 5)).check_ports(2)
    assert caught.value == says("3", "2")


@pytest.fixture
def stand_in(tmp_path: Path):
    """A console of a small program that prompts as testpmd does."""
    made: list[Console] = []

    def start(*lines: str) -> Console:
        program = "\n".join(
            [
                "import sys, os",
                "def say(text): sys.stdout.write(text); sys.stdout.flush()",
                "say('EAL: hello\\ntestpmd> ')",
                "for line in sys.stdin:",
                "    line = line.strip()",
                "    if line == 'quit': break",
                *(f"    {each}" for each in lines),
            ]
        )
        console = Console(
            (sys.executable, "-c", program),
            tmp_path / "log",
            {"PATH": "/usr/bin:/bin"},
            frozenset(),
        )
        made.append(console)
        assert "hello" in console.greeting(20.0)
        return console

    yield start
    for console in made:
        console.close()
        assert not console.identity.alive


def test_a_command_is_answered(stand_in) -> None:
    console = stand_in("say(f'did {line}\\ntestpmd> ')")
    assert console.ask("start") == "did start\n"
    assert command(console, "stop") == "did stop\n"


def test_a_command_that_is_not_obeyed_is_told(stand_in, says: Says) -> None:
    console = stand_in("say('Bad arguments\\ntestpmd> ')")
    with pytest.raises(GeneratorRefused) as caught:
        command(console, "set fwd flowgen")
    assert caught.value == says("set fwd flowgen")


def test_one_that_dies_is_told_with_its_last_words(stand_in, says: Says) -> None:
    console = stand_in("say('EAL: no memory\\n'); os._exit(3)")
    with pytest.raises(GeneratorDied) as caught:
        console.ask("start")
    assert caught.value == says("status 3", "EAL: no memory")


def test_one_that_is_silent_is_told(stand_in, says: Says) -> None:
    console = stand_in("pass")
    with pytest.raises(GeneratorDied) as caught:
        console.ask("start", timeout_s=0.2)
    assert caught.value == says("0.2")


def test_flows_are_told_by_the_longest_field() -> None:
    several = replace(
        streams()[0],
        fields=(FieldWriter(30, 4, 1024), FieldWriter(36, 2, 8)),
    )
    assert TestpmdGeneratorSettings().streams_sent((several, streams()[1]), 2)
