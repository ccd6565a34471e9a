"""Labs in namespaces: made for a test, sent through by packet sockets, and their leftovers."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter
from scapy.all import IP, UDP, Ether, IPv6

from plimsoll.dut.lab import Lab, LabModel
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NAMESPACE_PREFIX
from plimsoll.host.processes.identity import wait_for_end
from tests.integration.command import Workplace, journal
from tests.integration.packet_port import PacketPort
from tests.integration.unspoilt import unspoilt

CPU = max(os.sched_getaffinity(0))
# As the default streams of a profile have them.
MACS = ("02:00:00:00:00:01", "02:00:01:00:00:01")
# What a stream is to have for IPv6, the other way the same; a stream has one version.
IPV6 = {"src_ip": "2001:2:0:1::1", "frame_size": 100}
PATIENCE_S = 60
FRAMES = 100

OWNER = """
import sys, time
from pydantic import TypeAdapter
from plimsoll.dut.registry.labs import LabSettings, make_lab
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.janitor import swept_ledger
settings = TypeAdapter(LabSettings).validate_json(sys.argv[1])
with swept_ledger("run") as ledger:
    make_lab(settings, ledger, MemoryPlan(huge=False, megabytes=0)).up()
    print(ledger.directory, flush=True)
    time.sleep(600)
"""


def settings_of(kind: str, **more: object) -> LabModel:
    adapter: TypeAdapter[LabModel] = TypeAdapter(LabSettings)
    return adapter.validate_python({"kind": kind, "cpu": CPU, **more})


def leftovers(ledger: Ledger) -> set[str]:
    """What is there of a ledger's namespace, of its guests' and of the cables into it."""
    namespace = ledger.namespace
    ends = [namespace.tester_end(port) for port in (0, 1)]
    cables = [Path("/sys/class/net") / end for end in ends]
    spaces = namespace.path.parent.glob(f"{namespace.name}*")
    return {path.name for path in (*spaces, *cables) if path.exists()}


def make_lab(ledger: Ledger, kind: str, **more: object) -> Lab:
    return settings_of(kind, **more).make(ledger, MemoryPlan(huge=False, megabytes=0), "ours")


def ends_of(lab: Lab) -> list[str]:
    """The tester's interfaces, brought up."""
    return [each.partition("iface=")[2].split(",")[0] for each in lab.up().devargs]


def exchange(ends: list[str]) -> list[list[bytes]]:
    """Send IPv4 into port 0 and IPv6 into port 1 by packet sockets; what came out of each."""
    with ExitStack() as stack:
        ports = [stack.enter_context(PacketPort(end)) for end in ends]
        there = Ether(src=MACS[0], dst=MACS[1]) / IP(src="198.18.0.1", dst="198.19.7.7", ttl=64)
        back = Ether(src=MACS[1], dst=MACS[0]) / IPv6(
            src="2001:2:0:2::1", dst="2001:2:0:1::7", hlim=64
        )
        for frame, port in ((there, ports[0]), (back, ports[1])):
            port.send(bytes(frame / UDP(sport=4096, dport=4097) / bytes(30)), FRAMES)
        return [[port.receive() for _ in range(FRAMES)] for port in ports]


def start_owner(settings: LabModel) -> tuple[subprocess.Popen[str], Ledger]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, settings.model_dump_json()],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert owner.stdout is not None
    return owner, Ledger(Path(owner.stdout.readline().strip()))


def killed_owner_leaves_nothing(owner: subprocess.Popen[str], ledger: Ledger, state: Path) -> None:
    """Killed in the middle: its janitor ends all that it started, and then itself."""
    processes = {each.name: each.identity for each in ledger.record.processes}
    owner.kill()
    owner.communicate()
    assert wait_for_end(processes["janitor"], PATIENCE_S)
    assert not [name for name, identity in processes.items() if identity.alive]
    assert leftovers(ledger) == set()
    assert list(state.iterdir()) == []


def leftovers_of_run(place: Workplace) -> set[str]:
    """The same of the ledger of a run's lab, by what its record says."""
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    token = str(up["lab"]["namespace"]).removeprefix(NAMESPACE_PREFIX)
    return leftovers(Ledger(place.state / f"run-{token}"))


def run_trial(place: Workplace, lab: dict[str, object], **stream: object) -> dict[str, object]:
    """A trial of 64 flows at 1 kpps for a second that passes; its record."""
    streams = [{"name": "load", "role": "load", "flows": 64, **stream}]
    experiment = place.experiment(profile={"streams": streams}, lab=lab)
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "1kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trial: dict[str, object] = json.loads(done.stdout)
    assert trial["verdict"] == "pass"
    return trial


def agreements(trial: dict[str, object]) -> list[object]:
    """What came of comparing the DUT's counters, in and out of both ports, with the tester's."""
    findings = cast("list[dict[str, object]]", trial["findings"])
    return [each["outcome"] for each in findings if each["rule"] == "dut-counters"]
