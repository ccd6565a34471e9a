"""The conversation with an engine process, against small stand-in programs that misbehave."""

import os
import sys
import time
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.messages import PROTOCOL
from plimsoll.generator.engine.program import EngineProgram, find_engine
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.version import VERSION
from tests.worded.says import Says

VECTORS = Path(__file__).parents[3] / "engine/tests/vectors"
HELLO = (
    '{"event":"hello","engine":"plimsoll-engine","version":"%s","protocol":%d,'
    '"dpdk":"DPDK 22.11","pid":1}'
)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes an executable of the given Python lines the engine."""

    def make(*lines: str) -> Path:
        program = tmp_path / "plimsoll-engine"
        program.write_text("\n".join([f"#!{sys.executable}", "import sys, time", *lines]))
        program.chmod(0o755)
        monkeypatch.setenv("PLIMSOLL_ENGINE", str(program))
        return program

    return make


def start(tmp_path: Path) -> Engine:
    return Engine.start(tmp_path / "engine.log", os.environ)


def test_an_engine_of_another_version_is_refused(tmp_path: Path, stand_in, says: Says) -> None:
    stand_in(f"print({HELLO % ('9.9.9', 2)!r}, flush=True)", "sys.stdin.read()")
    with pytest.raises(MachineError) as caught:
        start(tmp_path)
    assert caught.value == says("9.9.9", "make build")
    assert VERSION in caught.value.message
    assert "make build" in caught.value.remedy


def test_an_engine_of_another_protocol_is_refused(tmp_path: Path, stand_in) -> None:
    stand_in(f"print({HELLO % (VERSION, 1)!r}, flush=True)", "sys.stdin.read()")
    with pytest.raises(MachineError, match="protocol 1"):
        start(tmp_path)


def test_an_engine_that_dies_is_named_with_its_last_words(
    tmp_path: Path, stand_in, says: Says
) -> None:
    stand_in("print('EAL: no memory', file=sys.stderr)", "sys.exit(3)")
    with pytest.raises(GeneratorDied) as caught:
        start(tmp_path)
    assert caught.value == says("3")
    assert "EAL: no memory" in caught.value.message


def test_an_engine_killed_by_a_signal_is_said_to_be(tmp_path: Path, stand_in) -> None:
    stand_in("import os", "os.kill(os.getpid(), 9)")
    with pytest.raises(GeneratorDied, match="SIGKILL"):
        start(tmp_path)


def test_a_silent_engine_is_ended(tmp_path: Path, stand_in, says: Says) -> None:
    stand_in("time.sleep(600)")
    program = EngineProgram(tmp_path / "engine.log", os.environ)
    with pytest.raises(GeneratorDied) as caught:
        program.receive(timeout_s=0.2)
    assert caught.value == says("generator")
    assert not Path(f"/proc/{program.pid}").exists()
    program.close()


@pytest.mark.parametrize("line", ["not json", "[1, 2]", "{"])
def test_an_engine_that_talks_nonsense_is_ended(
    tmp_path: Path, stand_in, line: str, says: Says
) -> None:
    stand_in(f"print({line!r}, flush=True)", "sys.stdin.read()")
    program = EngineProgram(tmp_path / "engine.log", os.environ)
    with pytest.raises(GeneratorDied) as caught:
        program.receive(timeout_s=60)
    assert caught.value == says("generator")
    program.close()


@pytest.mark.parametrize("answered", ["1", "null"], ids=["its id", "no id: it was not read"])
def test_what_the_engine_refuses_names_the_place(
    tmp_path: Path, stand_in, answered: str, says: Says
) -> None:
    refusal = (
        f'{{"id":{answered},"ok":false,'
        '"error":{"where":"ports[0]","message":"no such device","fatal":false}}'
    )
    stand_in(
        f"print({HELLO % (VERSION, PROTOCOL)!r}, flush=True)",
        "sys.stdin.readline()",
        f"print({refusal!r}, flush=True)",
        "sys.stdin.read()",
    )
    engine = start(tmp_path)
    with pytest.raises(GeneratorRefused) as caught:
        engine.open(
            workers=EngineSettings().layout(1),
            stamps="tsc",
            memory=MemoryPlan(huge=False, megabytes=64),
            devargs=["net_ring0"],
            descriptors=1024,
            main_cpus=[0],
            max_frame_bytes=60,
        )
    assert caught.value == says("generator: ports[0]")
    engine.close()
    assert caught.value.where == "generator: ports[0]"


def test_an_open_engine_tells_its_ticks_and_its_loops(tmp_path: Path, stand_in) -> None:
    reply = (VECTORS / "replies/good-open-reply.jsonl").read_text().splitlines()[0]
    stand_in(
        f"print({HELLO % (VERSION, PROTOCOL)!r}, flush=True)",
        "sys.stdin.readline()",
        f"print({reply!r}, flush=True)",
        "sys.stdin.read()",
    )
    engine = start(tmp_path)
    assert (engine.facts.tsc_hz, engine.facts.workers) == (None, ())
    settings = EngineSettings(cpus=(0,))
    engine.open(
        workers=settings.layout(1),
        stamps="tsc",
        memory=MemoryPlan(huge=False, megabytes=64),
        devargs=["net_ring0"],
        descriptors=1024,
        main_cpus=[0],
        max_frame_bytes=60,
    )
    engine.close()
    assert engine.facts.tsc_hz == 2_250_000_000
    assert engine.facts.workers == settings.layout(1)


def test_a_named_engine_that_is_no_program(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setenv("PLIMSOLL_ENGINE", "/nowhere/plimsoll-engine")
    with pytest.raises(MachineError) as caught:
        find_engine()
    assert caught.value == says("PLIMSOLL_ENGINE", "/nowhere/plimsoll-engine")
    assert caught.value.where == "PLIMSOLL_ENGINE"


def test_no_engine_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PLIMSOLL_ENGINE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(MachineError, match="plimsoll-engine is missing") as caught:
        find_engine()
    assert "make build" in caught.value.remedy


def test_an_engine_with_much_to_say_ends_by_itself(tmp_path: Path, stand_in) -> None:
    """One that is interrupted in a trial: its last interval is more than a pipe holds."""
    ended = tmp_path / "ended"
    stand_in(
        f"print({HELLO % (VERSION, PROTOCOL)!r}, flush=True)",
        "sys.stdin.read()",
        "print('x' * 1_000_000, flush=True)",
        f"open({str(ended)!r}, 'w').close()",
    )
    start(tmp_path).close()
    assert ended.exists()


def test_an_engine_need_not_wait_for_a_reader_that_is_away(tmp_path: Path, stand_in) -> None:
    """Some seconds of intervals, of a hundred kilobytes each at most."""
    said = tmp_path / "said"
    stand_in(
        f"print({HELLO % (VERSION, PROTOCOL)!r}, flush=True)",
        "print('x' * 900_000, flush=True)",
        f"open({str(said)!r}, 'w').close()",
        "sys.stdin.read()",
    )
    engine = start(tmp_path)
    deadline = time.monotonic() + 60
    while not said.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    found = said.exists()
    engine.close()
    assert found
