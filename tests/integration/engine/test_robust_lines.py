"""What a driver may send by mistake or malice: reported, passed over, and no memory kept for it."""

import json
from pathlib import Path

import pytest

from tests.integration.engine.frames import udp_frame
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

LONGEST = 32 << 20
STOP = {"id": 90, "request": "stop"}


def resident_kb(engine: EngineSession) -> int:
    status = Path(f"/proc/{engine.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def refusal(engine: EngineSession, line: bytes) -> str:
    engine.send_line(line)
    reply = engine.reply_to(None)
    assert not reply["error"]["fatal"]
    return str(reply["error"]["message"])


@pytest.mark.parametrize("line", [b"\0", b'{"id":90,"request":"stop"}\0', b'{"id":90,\0}'])
def test_a_line_with_a_nul_byte(engine: EngineSession, line: bytes) -> None:
    assert refusal(engine, line) == "a line holds a NUL byte"
    engine.ask(STOP)
    engine.finish()


def test_a_line_longer_than_any_request(engine: EngineSession) -> None:
    message = refusal(engine, b"x" * (LONGEST + 100))
    assert message == f"a line is longer than {LONGEST} bytes"
    engine.ask(STOP)
    engine.finish()


@pytest.mark.slow
def test_long_lines_add_up_to_nothing(engine: EngineSession) -> None:
    """What the JSON library once took for the worst line of all serves every other one."""
    line = b"[" + b"1," * (LONGEST // 4) + b"x]"
    assert "not JSON" in refusal(engine, line)
    first_kb = resident_kb(engine)
    for _ in range(4):
        refusal(engine, line)
    assert resident_kb(engine) < first_kb + LONGEST // 1024
    engine.finish()


@pytest.mark.slow
def test_as_many_frames_as_a_stream_may_have(engine: EngineSession) -> None:
    """4096 templates of 1514 bytes, of which each is sent once."""
    frames = [udp_frame(1514)[:-20].hex() + f"{number:04x}" + 36 * "0" for number in range(4096)]
    engine.ask(open_request("net_ring0"))
    request = trial_request(stream(0, 100_000, frames=frames, frame_count=len(frames)))
    assert len(json.dumps(request)) > 12_000_000
    (counts,) = engine.ask(request)["streams"]
    assert counts["sent"] == counts["received"] == len(frames)
    engine.finish()
