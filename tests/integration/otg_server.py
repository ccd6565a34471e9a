"""`plimsoll serve otg` as a process of its own, until snappi may find it."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.free_ports import free_ports
from tests.integration.command import ROOT, Workplace


@contextmanager
def otg_server(
    place: Workplace, experiment: Path, enter: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Where it is found by HTTP and by gRPC, begun by the command `enter` if one is given."""
    rest, calls = free_ports(2)
    with subprocess.Popen(
        [*enter, *place.argv("serve", "otg", experiment, "--listen", rest, "--grpc", calls)],
        cwd=ROOT,
        env=place.environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        said = []
        for line in server.stderr:
            said.append(line)
            if "transport='grpc'" in line:
                break
        assert server.poll() is None, "".join(said)
        yield f"http://127.0.0.1:{rest}", f"127.0.0.1:{calls}"
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
        assert server.wait(60) == 0
