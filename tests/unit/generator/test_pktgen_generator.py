"""Pktgen as a generator: what it is set to, what it cannot send, and how it may misbehave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.generator.pktgen.generator import read_samples
from plimsoll.generator.pktgen.port_settings import (
    port_settings,
    probe_settings,
    rate_percent,
    streams_by_port,
)
from plimsoll.generator.pktgen.settings import PktgenSettings, lcore_arguments, port_mappings
from plimsoll.generator.scripted.conversation import (
    FILES,
    ProgramName,
    ScriptConversation,
    script_environment,
)
from plimsoll.host.processes.child import Child
from plimsoll.traffic.plan import Schedule, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

LOAD = {"name": "load", "role": "load", "flows": 32}
PROBE = {"name": "probe", "role": "latency", "rate": "100pps", "frame_size": 84}
SETTINGS = PktgenSettings(program=sys.executable)
TITLE = "Latency\n"


def streams(*given: dict[str, object]) -> tuple[StreamPlan, ...]:
    profile = Profile.model_validate({"streams": list(given)})
    return compile_profile(profile, 1000.0, ((0, 1), (1, 0)))


def test_what_it_sends_is_accepted() -> None:
    for sent in (streams(LOAD, PROBE), streams({**LOAD, "vary": ["src_port", "dst_ip"]})):
        assert SETTINGS.streams_sent(sent, 2) == sent


@pytest.mark.parametrize(
    ("sent", "facts"),
    [
        (streams({**LOAD, "protocol": "TCP", "frame_size": 128}), ("IPv4",)),
        (streams({**LOAD, "dst_ip": "2001:2::1", "frame_size": 128}), ("IPv4",)),
        (streams({**LOAD, "vlan": 7, "frame_size": 128}), ("IPv4",)),
        (streams({**LOAD, "imix": "simple"}), ()),
        (streams({**LOAD, "frame_size": 9000}), ("9000",)),
        (streams({**LOAD, "vary": ["dst_mac"]}), ("IPv4",)),
        (streams({**LOAD, "flows": 20000}), ("20000", "flows", "16384")),
        (streams(LOAD, {**LOAD, "name": "more"}), ()),
        (streams(LOAD, {**PROBE, "frame_size": 128}), ("128",)),
        (streams(PROBE), ()),
        ((replace(streams(LOAD)[0], schedule=Schedule(1.0)),), ()),
        ((replace(streams(LOAD)[0], frame_count=5),), ()),
    ],
)
def test_what_it_does_not_send_is_refused(
    sent: tuple[StreamPlan, ...], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        SETTINGS.streams_sent(sent, 2)
    assert caught.value == says(*facts)


@pytest.mark.parametrize("kind", ["random", "list"])
def test_values_without_a_step_are_refused(kind: str, says: Says) -> None:
    (load, *_) = streams(LOAD)
    (field,) = load.fields
    changed = replace(load, fields=(replace(field, kind=kind),))
    with pytest.raises(InputError) as caught:
        SETTINGS.streams_sent((changed,), 2)
    assert caught.value == says("load/0-1", "30")


def test_cpus_have_ports(says: Says) -> None:
    sent = streams(LOAD)
    (one,) = replaced(cpus=(3,)).cpu_work(sent, 2)
    assert (one.cpu, one.sends, one.receives_from) == (3, ("load/0-1", "load/1-0"), (0, 1))
    main, first, second = replaced(cpus=(3, 4, 5)).cpu_work(sent, 2)
    assert (main.sends, first.sends, second.receives_from) == ((), ("load/0-1",), (1,))
    with pytest.raises(InputError, match="2 ports by 2 CPUs"):
        replaced(cpus=(3, 4)).check_ports(2)
    with pytest.raises(ValueError) as caught:
        replaced(cpus=(3, 3, 4))
    assert caught.value == says()


def replaced(**changes: object) -> PktgenSettings:
    return PktgenSettings.model_validate({"program": sys.executable, **changes})


def test_a_program_that_is_not_there_is_named(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        replaced(program="/nowhere/none").check_ports(2)
    assert caught.value == says("/nowhere/none")


@pytest.mark.parametrize(
    ("cpus", "lcores", "mappings"),
    [
        ((0,), "0@0,1@0,2@0", ("-m", "1.0", "-m", "2.1")),
        ((1,), "1@1,0@1,2@1", ("-m", "0.0", "-m", "2.1")),
        ((4, 6, 8), "4@4,0@6,1@8", ("-m", "0.0", "-m", "1.1")),
    ],
)
def test_the_screen_is_bound_to_the_first_cpu(
    cpus: tuple[int, ...], lcores: str, mappings: tuple[str, ...]
) -> None:
    assert lcore_arguments(cpus, 2) == ("--lcores", lcores, "--main-lcore", str(cpus[0]))
    assert port_mappings(cpus, 2) == mappings


# What Pktgen 24.07.1 made of rates on links of 100 and 10 Gbit/s (`tx_pps` of its portInfo):
# 0.01 % of the one were 14880 pps, 0.067 % of the other 9970.
@pytest.mark.parametrize(
    ("pps", "mbps", "percent"), [(14880, 100_000, 0.01), (9970, 10_000, 0.067)]
)
def test_a_rate_is_a_share_of_what_the_link_claims(pps: int, mbps: int, percent: float) -> None:
    assert rate_percent(pps, mbps, 64) == pytest.approx(percent, rel=1e-3)


def test_a_range_has_the_values_of_a_field() -> None:
    (load, _) = streams({**LOAD, "flows": 8, "vary": ["src_port"]})
    calls = list(port_settings(0, streams_by_port((load,))[0], 16))
    assert [call[3] for call in calls if call[0] == "range.src_port"] == [4096, 4096, 4103, 1]
    assert [call[3] for call in calls if call[0] == "range.dst_port"] == [4097, 4097, 4097, 0]
    assert ("set", 0, "txburst", 16) in calls
    # Its rate is made of the single frame's size.
    assert ("set", 0, "size", 64) in calls


def test_probes_are_so_many_microseconds_apart() -> None:
    (probe,) = (each for each in streams(LOAD, PROBE) if each.name == "probe/0-1")
    assert ("latency", 0, "rate", 10_000) in probe_settings(0, probe, 1, "file")
    # One that only times others' sends as few as it can.
    assert ("latency", 1, "rate", 1_000_000) in probe_settings(1, None, 1, "file")


def test_samples_are_read(tmp_path: Path) -> None:
    file = tmp_path / "samples"
    file.write_text(f"{TITLE}3992700\n210\n")
    assert read_samples(file) == {210: 1, 3_992_700: 1}
    file.write_text(TITLE)
    assert read_samples(file) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Other\n1\n",
        "Latency\n1\n2",
        "Latency\n-5\n",
        "Latency\n1e3\n",
        "Latency\n18446744073709551000\n",
        "Latency\n" + "9" * 5000 + "\n",
        "Latency\n\n",
        "Latency\n²\n",
    ],
)
def test_samples_that_are_none_are_refused(tmp_path: Path, text: str, says: Says) -> None:
    file = tmp_path / "samples"
    file.write_text(text)
    with pytest.raises(GeneratorDied) as caught:
        read_samples(file)
    assert caught.value == says("generator")


Start = Callable[..., ScriptConversation]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[Start]:
    """A conversation with a small program in place of Pktgen and its driver."""
    made: list[ScriptConversation] = []

    def begin(*lines: str) -> ScriptConversation:
        program = "\n".join(
            [
                "import os, sys",
                f"given, taken = map(int, os.environ['{FILES}'].split(','))",
                "def say(text): os.write(taken, text.encode('latin-1'))",
                "say('ok\\n')",
                "for line in os.fdopen(given):",
                *(f"    {each}" for each in lines),
            ]
        )

        def start(terminal: int, pipes: tuple[int, int]) -> Child:
            return Child.start(
                (sys.executable, "-c", program),
                log=tmp_path / "log",
                environment=script_environment(pipes),
                terminal=terminal,
                inherited=pipes,
            )

        conversation = ScriptConversation(ProgramName("Pktgen", "build it with Lua"), start)
        made.append(conversation)
        conversation.greeting(20.0)
        return conversation

    yield begin
    for conversation in made:
        conversation.close()
        assert not conversation.child.identity.alive


def test_fields_of_an_answer_are_read(stand_in: Start, says: Says) -> None:
    answer = stand_in(r"say('ok\tlink=<UP-100000-FD>\tpps=5000\n')").ask("port", 0)
    assert (answer.text("link"), answer.number("pps")) == ("<UP-100000-FD>", 5000)
    with pytest.raises(GeneratorDied) as caught:
        answer.number("cycles")
    assert caught.value == says("port 0", "cycles")
    with pytest.raises(GeneratorDied) as caught:
        answer.number("link")
    assert caught.value == says("link", "'<UP")


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (r"ok\tpps", ("generator", "versions")),
        (r"yes", ("generator", "versions")),
        (r"ok\tpps=\x1b[2J", ("generator", "versions")),
        (r"ok\tpps=\xe9", ("generator", "versions")),
        ("ok" + "a" * 5000, ("4096",)),
    ],
)
def test_an_answer_that_is_none_is_refused(
    stand_in: Start, said: str, facts: tuple[str, ...], says: Says
) -> None:
    conversation = stand_in(f"say('{said}\\n')")
    with pytest.raises(GeneratorDied) as caught:
        conversation.ask("versions")
    assert caught.value == says(*facts)


def test_an_error_of_its_library_is_a_refusal(stand_in: Start, says: Says) -> None:
    conversation = stand_in(r"say('error\tset does not support rates\n')")
    with pytest.raises(GeneratorRefused) as caught:
        conversation.call([("set", 0, "rates", 1)])
    assert caught.value == says("call set 0 rates 1")


def test_one_that_ends_is_named_with_the_end_of_its_log(stand_in: Start, says: Says) -> None:
    conversation = stand_in(r"print('\x1b[2JEAL: no memory', flush=True); os._exit(3)")
    with pytest.raises(GeneratorDied) as caught:
        conversation.ask("versions")
    assert caught.value == says("status 3", "EAL: no memory")


def test_one_that_is_silent_is_named(stand_in: Start, says: Says) -> None:
    conversation = stand_in("pass")
    with pytest.raises(GeneratorDied) as caught:
        conversation.ask("versions", timeout_s=0.2)
    assert caught.value == says("0.2")
