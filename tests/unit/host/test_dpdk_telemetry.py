import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.host.dpdk_telemetry import Telemetry, TelemetryError
from tests.worded.says import Says

GREETING = b'{"version":"DPDK 22.11.11","pid":1,"max_output_len":16384}'
Serve = Callable[..., Path]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve one connection: greet, then answer each command with the next of `answers`."""
    threads: list[threading.Thread] = []
    servers: list[socket.socket] = []

    def start(*answers: bytes, greeting: bytes = GREETING) -> Path:
        path = tmp_path / f"telemetry{len(threads)}"
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(str(path))
        server.listen()
        servers.append(server)

        def run() -> None:
            connection, _ = server.accept()
            with connection:
                connection.send(greeting)
                for answer in answers:
                    if not connection.recv(1024):
                        return
                    connection.send(answer)

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return path

    yield start
    for thread in threads:
        thread.join(60)
    for server in servers:
        server.close()


def test_an_answer_is_unwrapped(serve: Serve) -> None:
    path = serve(b'{"/ethdev/link_status":{"status":"UP"}}')
    with Telemetry(path) as telemetry:
        assert telemetry.version == "DPDK 22.11.11"
        assert telemetry.query("/ethdev/link_status,0") == {"status": "UP"}


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (b'{"/a":null}', ("/a,1",)),
        (b'{"/b":{}}', ("/a,1",)),
        (b'{"/a":[1]}', ("/a,1",)),
        (b"[]", ("/a,1",)),
        (b'{"/a":{"x"', ("/a,1",)),
        (b"\xff\xfe\xfd", ("/a,1",)),
        (b"[" * 60000, ("/a,1",)),
        (b" " * 70000, ("65536",)),
    ],
)
def test_a_hostile_answer_is_an_error_that_names_it(
    answer: bytes, facts: tuple[str, ...], serve: Serve, says: Says
) -> None:
    path = serve(answer)
    with (
        Telemetry(path) as telemetry,
        pytest.raises(TelemetryError) as refused,
    ):
        telemetry.query("/a,1")
    assert str(path) in refused.value.where
    assert refused.value == says(*facts)


def test_a_process_that_hangs_up_is_reported(serve: Serve) -> None:
    with Telemetry(serve()) as telemetry, pytest.raises(TelemetryError):
        telemetry.query("/a")


def test_a_process_that_says_nothing_is_given_up(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "mute"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(path))
        server.listen()
        with pytest.raises(TelemetryError) as caught:
            Telemetry(path, timeout_s=0.05)
        assert caught.value == says()


def test_a_greeting_that_is_none_is_refused(serve: Serve, says: Says) -> None:
    with pytest.raises(TelemetryError) as caught:
        Telemetry(serve(greeting=b"SSH-2.0"))
    assert caught.value == says("1", "0")


def test_no_socket_is_reported_with_its_path(tmp_path: Path, says: Says) -> None:
    with pytest.raises(TelemetryError) as caught:
        Telemetry(tmp_path / "gone")
    assert caught.value == says("gone")


ANSWERS = st.dictionaries(
    st.sampled_from(["/a", "/b"]), st.none() | st.dictionaries(st.text(), st.integers())
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(min_size=1, max_size=200) | ANSWERS.map(lambda answer: json.dumps(answer).encode())
)
def test_any_bytes_give_an_object_or_a_telemetry_error(serve: Serve, answer: bytes) -> None:
    with Telemetry(serve(answer)) as telemetry:
        try:
            answered = telemetry.query("/a")
        except TelemetryError:
            return
    assert json.loads(answer)["/a"] == answered
