"""The trace of another host, whose agent answers what it likes."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from plimsoll.generator.interface import ClockReading
from plimsoll.host.processes.polling_loops import FoundLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.agent import host_agent
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.observers import Observers
from plimsoll.observe.agent.remote_trace import HostClock, RemoteTrace
from plimsoll.observe.kernel_trace.trace_program import KernelEvent, TraceUnavailable
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.trials.clock_fit import ClockFit
from plimsoll.version import VERSION

# Says what it is given for each request, a number standing for so long a line; the clock by itself,
# a second ahead of ours.
AGENT = """
import json, sys, time
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    name = json.loads(line)["request"]
    if name == "clock" and name not in answers:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + 1_000_000_000
        answer = ['{"reply":"clock","raw_ns":%d,"unix_ns":%d}' % (now, now)]
    else:
        answer = answers.get(name, [])
    for each in answer:
        print("x" * each if isinstance(each, int) else each, flush=True)
"""
OPENED = json.dumps(
    {
        "reply": "opened",
        "version": VERSION,
        "hostname": "dut-7",
        "pid": 1,
        "ran_on": "0",
        "interval_s": 1,
        "sources": [],
        "missing": {},
    }
).replace(" ", "")
TICKS = {
    "period_s": 0.004,
    "tickless": [3],
    "virtual": True,
    "irq_time": False,
    "steal_apart": True,
}
LOOP = {"process": "dpdk-testpmd", "cpu": 2, "thread_id": 77, "sleeps": False}
REFUSED = {"unavailable": "no permission", "remedy": "run as root"}
STARTED = '{"reply":"trace-started"}'
RATE = '{"reply":"trace-rate","events_per_s":1500.5}'
READ = {"reply": "trace-read", "left_out": 0, "lost": [], "cgroups": {}, "own_threads": []}
FIT = ClockFit.of([ClockReading(2 * at, at, at, 10) for at in (0, 10**9)])


def trace_opened(**more: Any) -> str:
    fields = {"reply": "trace-opened", "loops": [LOOP], "ticks": TICKS, "names": ["sched_switch"]}
    return said(**{**fields, **more})


def said(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":"))


def events(*found: tuple[int, int, str, dict[str, object]]) -> str:
    return said(reply="trace-events", events=found)


class Watched:
    """A run's observers; the first of them is the tester's own, which is not there here."""

    def __init__(self, folder: Path) -> None:
        self.messages: list[str] = []
        self.observers = Observers(self.messages.append)
        self._folder = folder
        self._add("here", {"open": [OPENED.replace("dut-7", "here")]})

    def trace(self, **answers: Sequence[str | int]) -> RemoteTrace:
        given: dict[str, Sequence[str | int]] = {
            **{"open": [OPENED], "trace-open": [trace_opened()], "trace-start": [STARTED]},
        }
        given |= {"trace-stop": [RATE], "trace-rate": [RATE]}
        self._add("dut", given | {name.replace("_", "-"): said for name, said in answers.items()})
        (trace,) = self.observers.traces()
        return trace

    def _add(self, name: str, answers: Mapping[str, Sequence[str | int]]) -> None:
        argv = (sys.executable, "-c", AGENT, json.dumps(answers))
        agent = HostAgent(name, argv, self._folder / f"{name}.log", os.environ)
        self.observers.add(agent, Observation(polled_cpus=(2,)), {"dut": (2,)})


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    found = Watched(tmp_path)
    yield found
    found.observers.close()


def test_it_says_which_loops_poll_there_and_how_time_is_kept(watched: Watched) -> None:
    trace = watched.trace()
    assert trace.unavailable is None
    assert (trace.host, trace.cpus) == ("dut-7", (2,))
    assert trace.loops == (FoundLoop("dpdk-testpmd", 2, 77),)
    assert trace.ticks == HostTicks(0.004, frozenset({3}), True, False, True)
    assert trace.names == ("sched_switch",)


def test_loops_on_cpus_that_were_not_named_are_none_of_the_experiments(watched: Watched) -> None:
    other = {**LOOP, "cpu": 5, "thread_id": 78}
    assert [
        each.cpu for each in watched.trace(trace_open=[trace_opened(loops=[LOOP, other])]).loops
    ] == [2]


def test_both_clocks_are_read_before_and_after(watched: Watched) -> None:
    trace = watched.trace()
    trace.start()
    assert isinstance(trace.clock(FIT), TraceUnavailable)
    trace.stop()
    clock = trace.clock(FIT)
    assert isinstance(clock, HostClock)
    assert len(clock.remote.anchors) == 2
    # It is a second ahead; the ways there and back take their time.
    here_ns = clock.remote.anchors[0].middle_ns
    assert abs(clock.remote.there_ns(here_ns) - here_ns - 10**9) <= clock.remote.error_ns
    assert isinstance(trace.clock(None), TraceUnavailable)
    assert trace.events_per_s() == 1500.5


def test_events_come_in_order_with_what_was_lost(watched: Watched) -> None:
    trace = watched.trace(
        trace_read=[
            events((30, 2, "sched_switch", {"next_pid": 5})),
            events((20, 0, "sched_waking", {"comm": "x"})),
            said(
                **READ
                | {
                    "left_out": 3,
                    "lost": [{"cpu": 2, "events": 9, "complete_from_ns": 15}],
                    "cgroups": {"5": "/pod"},
                    "own_threads": [8],
                }
            ),
        ]
    )
    found = trace.read([(25, 40), (10, 30)], limit=10)
    assert found is not None
    assert found.events == [
        KernelEvent(20, 0, "sched_waking", {"comm": "x"}),
        KernelEvent(30, 2, "sched_switch", {"next_pid": 5}),
    ]
    assert (found.left_out, found.cgroups, found.own_threads) == (3, {5: "/pod"}, (8,))
    assert [(e.cpu, e.events, e.complete_from_ns) for e in found.lost] == [(2, 9, 15)]


def test_where_it_may_not_trace_the_loops_and_the_clock_are_known(watched: Watched) -> None:
    trace = watched.trace(trace_open=[trace_opened(**REFUSED)])
    trace.start()
    trace.stop()
    assert trace.unavailable == TraceUnavailable("no permission", "run as root")
    assert len(trace.loops) == 1
    assert isinstance(trace.clock(FIT), HostClock)
    assert (trace.read([(0, 9)], 5), trace.events_per_s()) == (None, 0.0)


def test_a_trace_that_fails_leaves_the_observer_there(watched: Watched) -> None:
    failed = said(reply="trace-failed", reason="the kernel refused", remedy="look into its log")
    trace = watched.trace(trace_stop=[failed])
    trace.start()
    trace.stop()
    assert trace.unavailable == TraceUnavailable("the kernel refused", "look into its log")
    assert watched.messages == ["observe: dut-7: the kernel refused"]
    assert isinstance(trace.clock(FIT), HostClock)


def test_a_clock_that_goes_back_ties_nothing_together(watched: Watched) -> None:
    trace = watched.trace(clock=['{"reply":"clock","raw_ns":5,"unix_ns":5}'])
    trace.start()
    trace.stop()
    why = trace.clock(FIT)
    assert isinstance(why, TraceUnavailable)
    assert "did not go on" in why.reason
    assert watched.messages == []


UNINTELLIGIBLE = "gave an answer that is not understood"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (trace_opened(loops=[{**LOOP, "cpu": 8192}]), UNINTELLIGIBLE),
        (trace_opened(loops=[{**LOOP, "thread_id": -1}]), UNINTELLIGIBLE),
        (trace_opened(loops=[{**LOOP, "process": "x" * 65}]), UNINTELLIGIBLE),
        (trace_opened(ticks={**TICKS, "period_s": 0}), UNINTELLIGIBLE),
        (trace_opened(names=["e"] * 4097), UNINTELLIGIBLE),
        ('{"reply":"trace-opened","loops":' + "[" * 20_000, UNINTELLIGIBLE),
        ('{"reply":"refused","problem":"not known"}', "refused: not known"),
        (STARTED, "answered trace-started"),
        ('{"reply":"trace-events","events":[]}', "answered trace-events"),
    ],
)
def test_a_bad_answer_ends_the_observer_and_not_the_run(
    watched: Watched, answer: str, problem: str
) -> None:
    trace = watched.trace(trace_open=[answer])
    assert trace.loops == ()
    assert trace.unavailable is not None
    assert problem in trace.unavailable.reason
    assert "plimsoll-observe of this version" in trace.unavailable.remedy
    (message,) = watched.messages
    assert problem in message
    # Neither of these does anything any more.
    trace.start()
    trace.stop()
    assert len(watched.messages) == 1


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([events((9, 0, "e", {})), said(**READ)], "of a time that was not requested"),
        ([events((41, 0, "e", {})), said(**READ)], "of a time that was not requested"),
        ([events(*[(20, 0, "e", {})] * 11), said(**READ)], "sent more than 10 events"),
        ([events(*[(20, 0, "e", {})] * 1001)], UNINTELLIGIBLE),
        ([events((-1, 0, "e", {}))], UNINTELLIGIBLE),
        ([events((20, 9000, "e", {}))], UNINTELLIGIBLE),
        ([events((20, 0, "e" * 65, {}))], UNINTELLIGIBLE),
        ([events((20, 0, "e", {"f": "x" * 5000}))], UNINTELLIGIBLE),
        ([events((20, 0, "e", {"f": [1]}))], UNINTELLIGIBLE),
        # Half of a character, which could not be written into any record.
        (['{"reply":"trace-events","events":[[20,0,"\\ud800",{}]]}'], UNINTELLIGIBLE),
        ([said(**READ | {"cgroups": {"5": "\ud800"}})], UNINTELLIGIBLE),
        ([said(**READ | {"left_out": -1})], UNINTELLIGIBLE),
        ([said(**READ | {"lost": [{"cpu": 2, "events": 1}]})], UNINTELLIGIBLE),
        ([said(**READ | {"own_threads": [2**40]})], UNINTELLIGIBLE),
        ([RATE], "answered trace-rate"),
    ],
)
def test_events_that_make_no_sense_end_the_observer(
    watched: Watched, answers: list[str], problem: str
) -> None:
    trace = watched.trace(trace_read=answers)
    assert trace.read([(10, 40)], limit=10) is None
    assert trace.unavailable is not None
    assert problem in trace.unavailable.reason


def test_a_line_without_an_end_is_not_waited_for(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_agent, "_LONGEST_LINE_BYTES", 1 << 16)
    trace = watched.trace(trace_read=[1 << 20])
    assert trace.read([(10, 40)], limit=10) is None
    assert trace.unavailable is not None
    assert "sends a line without an end" in trace.unavailable.reason


def test_an_observer_that_never_was_there_is_why_nothing_is_watched(
    watched: Watched, tmp_path: Path
) -> None:
    unreachable = ("sh", "-c", "echo 'ssh: no route to dut.lab' >&2")
    agent = HostAgent("root@dut.lab", unreachable, tmp_path / "log", os.environ)
    watched.observers.add(agent, Observation(polled_cpus=(2,)), {"dut": (2,)})
    (trace,) = watched.observers.traces()
    assert trace.host == "root@dut.lab"
    assert trace.unavailable is not None
    assert "no route to dut.lab" in trace.unavailable.reason
