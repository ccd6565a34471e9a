"""Stalls of a real trial (two shared vCPUs, Linux 6.18), with the kernel's events around them.

Captured by hand from a tracefs instance with the clock x86-tsc; the stalls are those that the
engine measured itself, of the thread 21472 on CPU 0.
"""

import json
from pathlib import Path

import pytest

from plimsoll.attribution.events.trace_reading import TraceCoverage
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

CAPTURED = Path(__file__).parent / "captured" / "stalls.jsonl"
HZ = 2.596e9
WHOLE = TraceCoverage({0: (0, 2**62), 1: (0, 2**62)})
LOOPS = (
    PollingLoop("tester", "plimsoll-engine", 0, 21472),
    PollingLoop("dut", "dpdk-testpmd", 1, 21459),
)


@pytest.mark.parametrize(
    ("end_tsc", "length_ns", "kind", "name", "confidence"),
    [
        # Not even the tick of 4 ms came on either CPU: the host ran neither.
        (4_043_247_037_783, 22_104_129, "unexplained", "no kernel event on CPU 0", "unexplained"),
        (4_043_149_010_659, 7_531_999, "task", "kdamond.0", "exact"),
        (4_048_238_355_283, 3_879_915, "workqueue", "kworker/u8:2 (wb_workfn)", "exact"),
    ],
)
def test_a_real_stall_is_named(
    end_tsc: int, length_ns: int, kind: str, name: str, confidence: str
) -> None:
    events = [KernelEvent(**json.loads(line)) for line in CAPTURED.read_text().splitlines()]
    begin = end_tsc - round(length_ns * HZ / 1e9)
    stall = Incident("stall", "CPU 0", begin, end_tsc, 0, length_ns)
    (found,) = explain(
        Observations(
            incidents=[stall], events=events, loops=LOOPS, counters=[], coverage=WHOLE, tsc_hz=HZ
        )
    )
    first = found.causes[0]
    assert (first.kind, first.confidence) == (kind, confidence)
    assert first.name.startswith(name)
    assert first.length_ns == pytest.approx(length_ns, rel=0.05)
