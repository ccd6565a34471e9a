"""Brings a lab up, sends frames through it by packet sockets, and tells what came of it.

    python -m tests.integration.vm.lab_in_guest <PLAN >OUTCOME

It runs in a guest, where imports take seconds: frames are made, and looked at, by who calls it.
The plan is the lab's settings and rounds of sends; a send is (port, frame, count), and waits until
as many have come out of the other port, or nothing more comes for `patience_s`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from plimsoll.dut.lab import LabModel
from plimsoll.dut.registry.labs import LabSettings, make_lab
from plimsoll.dut.sight import start_observation
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.namespaces.network_namespace import run_within
from tests.integration.packet_port import PacketPort

_TRACKED = Path("/proc/thread-self/net/nf_conntrack")


def main() -> None:
    plan = json.load(sys.stdin)
    settings: LabModel = TypeAdapter(LabSettings).validate_python(plan["lab"])
    settings.check_machine()
    with swept_ledger("run") as ledger, ExitStack() as stack:
        lab = make_lab(settings, ledger, MemoryPlan(huge=False, megabytes=0))
        ends = [each.partition("iface=")[2].split(",")[0] for each in lab.up().devargs]
        namespace = ledger.namespace
        ports = [stack.enter_context(PacketPort(end, plan["patience_s"])) for end in ends]
        rounds = []
        for sends in plan["rounds"]:
            before, end_sight = lab.counters(), start_observation(lab)
            came = [_sent(ports, *send) for send in sends]
            rounds.append(
                {
                    "came": came,
                    "remarks": [each.text for each in end_sight().remarks],
                    "counters": _grown(before, lab.counters()),
                    "tracked": run_within(namespace.path, _TRACKED.read_text).splitlines(),
                }
            )
        outcome = {"rounds": rounds, "facts": lab.facts()}
        lab.down()
    print(json.dumps(outcome))


def _sent(ports: Sequence[PacketPort], number: int, frame: str, count: int) -> dict[str, int]:
    """How often each frame came."""
    ports[number].send(bytes.fromhex(frame), count)
    came: Counter[str] = Counter()
    with suppress(TimeoutError):
        while came.total() < count:
            came[ports[1 - number].receive().hex()] += 1
    return dict(came)


def _grown(before: Any, after: Any) -> list[list[int]]:
    """Of each of the DUT's ports: frames in, and out."""
    return [
        [new.rx_frames - old.rx_frames, new.tx_frames - old.tx_frames]
        for old, new in zip(before, after, strict=True)
    ]


if __name__ == "__main__":
    main()
