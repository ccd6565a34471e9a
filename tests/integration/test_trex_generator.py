"""TRex's own client drives a server: ours in front of our engine, where its library is at hand.

`PLIMSOLL_TREX` names the folder of a TRex release, or `scripts` of its tree, and
`PLIMSOLL_TREX_PYTHON` a Python that has what its library needs. With a server in the tree the
same trial runs on a real TRex through the testpmd of a lab.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from plimsoll.generator.trex.server import SERVER
from plimsoll.host.ledger.shared_directory import ledger_uses
from tests.integration.command import Workplace, assert_nothing_is_left, hugepages, searching, until
from tests.integration.unspoilt import unspoilt

TREE = Path(os.environ.get("PLIMSOLL_TREX", "/nowhere"))
PYTHON = os.environ.get("PLIMSOLL_TREX_PYTHON", "python3")
CPUS = sorted(os.sched_getaffinity(0))[:2]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not (TREE / "automation/trex_control_plane/interactive/trex").is_dir(),
        reason="needs TRex's client library: name its tree in PLIMSOLL_TREX",
    ),
]
STREAMS = [
    {"name": "load", "role": "load", "flows": 64},
    {"name": "probe", "role": "latency", "rate": "100pps", "frame_size": 128},
]
_READY = re.compile(r"requests on (\d+), events on (\d+)")


def trial(place: Workplace, **changes: Any) -> dict[str, Any]:
    path = place.experiment(
        **{
            "profile": {"streams": STREAMS},
            "criteria": [{"kind": "loss-ratio"}, {"kind": "misdirected"}],
            "observe": {"enabled": False},
            **changes,
        }
    )
    words = ("--load", "5kpps", "--duration", "2s", "--runs", place.runs, "--json")
    done = unspoilt(place, "trial", path, *words)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def check(record: dict[str, Any]) -> None:
    loads = [each for each in record["streams"] if each["name"].startswith("load")]
    probes = [each for each in record["streams"] if each["name"].startswith("probe")]
    assert len(loads) == len(probes) == 2
    # Due are 10,000 and 200; the tester's limits allow half.
    assert all(5_000 <= each["sent"] <= 10_100 and each["lost"] == 0 for each in loads)
    assert all(100 <= each["sent"] <= 210 for each in probes)
    assert all(each["latency"]["count"] == each["received"] for each in probes)
    assert all(each["latency"]["count"] == 0 for each in loads)


def test_its_client_drives_our_server(place: Workplace) -> None:
    before = hugepages()
    lab = {"kind": "loopback", "ports": 2}
    served = place.experiment(lab=lab, generator={"kind": "engine", "cpus": [CPUS[0]]})
    server = place.start("serve", "trex", served, "--sync-port", "0", "--async-port", "0")
    try:
        assert server.stderr is not None
        ready = next(found for line in server.stderr if (found := _READY.search(line)))
        there = {"host": "127.0.0.1", "sync_port": int(ready[1]), "async_port": int(ready[2])}
        generator = {"kind": "trex", "tree": str(TREE), "python": PYTHON, **there}
        check(trial(place, lab=lab, generator=generator))
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=120)
    finally:
        server.kill()
        server.communicate()
    assert_nothing_is_left(place, before)


needs_a_server = pytest.mark.skipif(
    not os.access(TREE / SERVER, os.X_OK) or shutil.which("dpdk-testpmd") is None,
    reason="needs a TRex server in PLIMSOLL_TREX, and dpdk-testpmd",
)


def behind_testpmd(**changes: Any) -> dict[str, Any]:
    return {
        "lab": {"kind": "testpmd-memif", "cpu": CPUS[1]},
        "generator": {"kind": "trex", "tree": str(TREE), "python": PYTHON, "cpus": [CPUS[0]]},
        "profile": {"streams": STREAMS},
        "criteria": [{"kind": "loss-ratio"}, {"kind": "misdirected"}],
        **changes,
    }


def namespaces() -> set[str]:
    """Those of no living run or lab."""
    found = {path.name for path in Path("/run/netns").glob("plimsoll-*")}
    living = {use.ledger_id.rpartition("-")[2] for use in ledger_uses() if use.alive}
    return {name for name in found if not any(token in name for token in living)}


@needs_a_server
def test_a_real_one_sends_through_a_testpmd(place: Workplace) -> None:
    before, known = hugepages(), namespaces()
    record = trial(place, **behind_testpmd(observe={"enabled": False}))
    check(record)
    agreed = [each for each in record["findings"] if each["rule"] == "dut-counters"]
    assert {each["outcome"] for each in agreed} == {"ok"}
    assert_nothing_is_left(place, before)
    assert namespaces() == known


@needs_a_server
def test_a_killed_run_leaves_no_real_one(place: Workplace) -> None:
    before, known = hugepages(), namespaces()
    process = searching(place, place.experiment(**behind_testpmd()))
    assert place.processes(SERVER[:15])
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)
    until(lambda: namespaces() == known, "its network namespace to be gone")


@needs_a_server
@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGKILL, "SIGKILL"), (signal.SIGSTOP, "TRex's client did not")],
)
def test_a_real_one_that_dies_or_hangs_is_told(
    place: Workplace, number: signal.Signals, said: str
) -> None:
    before = hugepages()
    process = searching(place, place.experiment(**behind_testpmd()))
    (victim, *_) = place.processes(SERVER[:15])
    os.kill(victim, number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 5
    assert said in stderr
    assert_nothing_is_left(place, before)
