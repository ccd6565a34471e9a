"""What a stranger can make `plimsoll serve otg` hold in memory, as the kernel counts it."""

import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest

from plimsoll.version import VERSION
from tests.integration.command import Workplace, workplace
from tests.integration.otg_server import otg_server

pytestmark = pytest.mark.usefixtures("live_in_turn")

# Zeros, of which gzip makes a thousandth.
INFLATED_MB = 256
GZIP = 2


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    with workplace(tmp_path_factory.mktemp("otg")) as found:
        yield found


@pytest.fixture(scope="module")
def server(place: Workplace) -> Iterator[tuple[psutil.Process, str]]:
    """Its process, and where gRPC is served."""
    experiment = place.experiment(lab={"kind": "loopback"})
    with otg_server(place, experiment) as (_, calls):
        (process,) = (
            each
            for each in psutil.Process().children(recursive=True)
            if "otg" in each.cmdline() and str(experiment) in each.cmdline()
        )
        yield process, calls


def peak_mb(process: psutil.Process) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def test_a_compressed_message_is_refused_before_it_is_inflated(
    server: tuple[psutil.Process, str],
) -> None:
    process, calls = server
    before = peak_mb(process)
    options = [("grpc.default_compression_algorithm", GZIP)]
    with grpc.insecure_channel(calls, options=options) as channel:
        set_config = channel.unary_unary("/otg.Openapi/SetConfig")
        with pytest.raises(grpc.RpcError) as caught:
            set_config(bytes(INFLATED_MB * 2**20), timeout=120)
    assert caught.value.code() in (
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )
    assert peak_mb(process) - before < INFLATED_MB / 4


def test_what_is_not_compressed_is_answered(server: tuple[psutil.Process, str]) -> None:
    _, calls = server
    with grpc.insecure_channel(calls) as channel:
        answer = channel.unary_unary("/otg.Openapi/GetVersion")(b"", timeout=120)
    assert VERSION.encode() in answer
