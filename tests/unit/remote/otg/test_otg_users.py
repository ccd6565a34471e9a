"""Without a token the servers answer the user who has started them, and no other of the machine."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from plimsoll.remote.otg.server.grpc_service import make_server
from plimsoll.remote.otg.server.serve import make_application
from plimsoll.remote.otg.server.settings import OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.web.endpoint import ListenEndpoint
from tests.free_ports import free_ports
from tests.unit.remote.otg.flows_read import TESTER
from tests.unit.remote.otg.test_otg_server import CountedTraffic

NOBODY = 65534
# Asks for the configuration, and says with which status it was answered.
ASK = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("GET", "/config")
print(connection.getresponse().status)
"""


# The same over gRPC, whose status has a name.
CALL = """
import grpc, sys
with grpc.insecure_channel("127.0.0.1:" + sys.argv[1]) as channel:
    call = channel.unary_unary("/otg.Openapi/GetConfig")
    try:
        call(b"", timeout=60)
        print("OK")
    except grpc.RpcError as error:
        print(error.code().name, error.details())
"""


@pytest.fixture(scope="module")
def settings() -> OtgSettings:
    rest, calls = free_ports(2)
    return OtgSettings(rest=ListenEndpoint("127.0.0.1", rest), grpc_port=calls)


@pytest.fixture(scope="module", autouse=True)
def _served(settings: OtgSettings) -> Iterator[None]:
    session = OtgSession(CountedTraffic(), TESTER)
    calls = make_server(session, settings)
    calls.start()
    config = uvicorn.Config(
        make_application(session, settings), port=settings.rest.port, log_level="warning",
        lifespan="off",
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield
    server.should_exit = True
    thread.join()
    calls.stop(None).wait()
    session.close()


def asked_by(user: int, program: str, port: int | None) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(port)],
        user=user,
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    return done.stdout


def test_its_own_user_is_answered(settings: OtgSettings) -> None:
    assert asked_by(os.geteuid(), ASK, settings.rest.port) == "200\n"
    assert asked_by(os.geteuid(), CALL, settings.grpc_port) == "OK\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for another user")
def test_another_user_is_not(settings: OtgSettings) -> None:
    assert asked_by(NOBODY, ASK, settings.rest.port) == "403\n"
    said = asked_by(NOBODY, CALL, settings.grpc_port)
    assert said.startswith("PERMISSION_DENIED ")
    assert "--token" in said
