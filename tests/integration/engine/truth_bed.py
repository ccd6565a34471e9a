"""The engine and the delay DUT joined by memif, and what the engine must come to count."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from plimsoll.dut.ports.memif_port import memif_devargs
from tests.integration.engine.delay_dut import Behaviour, DelayDut, DutReport, Sent
from tests.integration.engine.requests import Request, open_request, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.tried_again import SpoiltByMachine

RING_SIZE = 4096
# Time for the DUT too to come to its turn on a busy machine.
DRAIN_S = 0.5
ORDER_COUNTERS = ("received", "duplicate", "out_of_order")
# What a tester at fault would count; a test on the truth has none of it.
FAULTS = ("refused", "skipped", "no_buffer")


@dataclass(frozen=True)
class Truth:
    """One trial: the engine's reply, and what the DUT says it did."""

    reply: Message
    report: DutReport

    def counts(self, stream: int) -> Message:
        (counts,) = (part for part in self.reply["streams"] if part["stream"] == stream)
        return dict(counts)


class TruthBed:
    """Ports 0 and 1 of engine and DUT joined, in order."""

    def __init__(self, engine: EngineSession, dut: DelayDut, tsc_hz: float) -> None:
        self._engine = engine
        self._dut = dut
        self._tsc_hz = tsc_hz
        self._marks = count(1000)

    def tsc_rates_hz(self) -> tuple[float, float]:
        """The TSC's rate as the engine and as the DUT measured it, each by code of its own."""
        return self._tsc_hz, float(self._dut.ask({"report": True})["tsc_hz"])

    def run(
        self,
        *streams: Request,
        paths: Sequence[Behaviour],
        seed: int = 1,
        meanwhile: Callable[[EngineSession], None] = lambda _: None,
        **changes: Any,
    ) -> Truth:
        """A trial while the DUT behaves so; no frame may be lost but by the DUT's will.

        `meanwhile` is called once it has been requested. Raises SpoiltByMachine where the machine
        took the CPU from either for too long for the truth to be seen.
        """
        try:
            return self._run(*streams, paths=paths, seed=seed, meanwhile=meanwhile, **changes)
        except SpoiltByMachine:
            # What was still under way comes in here, and is foreign then.
            self._engine.ask(trial_request(*streams, mark=next(self._marks), drain_s=DRAIN_S))
            raise

    def _run(
        self,
        *streams: Request,
        paths: Sequence[Behaviour],
        seed: int,
        meanwhile: Callable[[EngineSession], None],
        **changes: Any,
    ) -> Truth:
        self._dut.behave(*paths, seed=seed)
        options = {"mark": next(self._marks), "drain_s": DRAIN_S, **changes}
        request = trial_request(*streams, **options)
        self._engine.messages.clear()
        self._engine.send(request)
        try:
            meanwhile(self._engine)
        except BaseException:
            # It may last for minutes, and the loops poll for as long.
            self._engine.send({"id": next(self._marks), "request": "stop"})
            self._engine.reply_to(request["id"])
            raise
        reply = self._engine.reply_to(request["id"])
        assert reply["ok"], f"{reply}: {self._engine.stderr}"
        report = self._dut.report(self._tsc_hz)
        taken_in = sum(port["received"] for port in report.ports)
        sent = sum(counts["sent"] for counts in reply["streams"])
        if taken_in != sent:
            raise SpoiltByMachine(f"the DUT got to {taken_in} of {sent} frames in time")
        for counts in reply["streams"]:
            faults = {name: counts[name] for name in FAULTS if counts[name]}
            if faults:
                raise SpoiltByMachine(f"the engine, of stream {counts['stream']}: {faults}")
        return Truth(reply, report)


@contextmanager
def truth_bed(folder: Path) -> Iterator[TruthBed]:
    """A bed for several trials."""
    socket = folder / "memif.sock"
    server, client = (
        [memif_devargs(role, port, socket, RING_SIZE) for port in (0, 1)]
        for role in ("server", "client")
    )
    with DelayDut(folder, *server) as dut, EngineSession(folder) as engine:
        opened = engine.ask(open_request(*client, max_frame_bytes=1518))
        yield TruthBed(engine, dut, opened["tsc_hz"])
        # First the DUT: while it polls, a memif driver does not take its peer's end well.
        dut.finish()
        engine.finish()


def arrived(frames: Sequence[Sent], port: int) -> list[Sent]:
    """Those that reached their port whole and with the trial's mark, in order."""
    return [
        frame for frame in frames if frame.port == port and not frame.done & {"corrupt", "stale"}
    ]


def order_counts(numbers: Sequence[int]) -> dict[str, int]:
    """The order counters by the protocol's words, from a full record of the numbers seen."""
    seen: set[int] = set()
    highest = -1
    counts = dict.fromkeys(ORDER_COUNTERS, 0)
    for number in numbers:
        counts["received"] += 1
        counts["duplicate"] += number in seen
        counts["out_of_order"] += number not in seen and number < highest
        highest = max(highest, number)
        seen.add(number)
    return counts


def expected_counts(frames: Sequence[Sent], port: int, sent: int) -> dict[str, int]:
    """A stream's counters when the DUT sent these frames of it and `port` was its own."""
    whole = [frame for frame in frames if not frame.done & {"corrupt", "stale"}]
    order = order_counts([frame.sequence for frame in arrived(frames, port)])
    return order | {
        "sent": sent,
        "missing": sent - (order["received"] - order["duplicate"]),
        "corrupt": sum("corrupt" in frame.done for frame in frames),
        "misdirected": sum(frame.port != port for frame in whole),
    }


def assert_stream(truth: Truth, request: Request, sent: int) -> None:
    """The engine's every counter of a stream is what follows from the DUT's account."""
    stream, port = request["stream"], request["rx_port"]
    counts, frames = truth.counts(stream), truth.report.of(stream)
    expected = expected_counts(frames, port, sent)
    assert {name: counts[name] for name in expected} == expected
    assert (
        counts["latency"]["count"] + counts["latency_across_stalls"]["count"]
        == (expected["received"])
    )
    assert counts["lateness"]["count"] == (sent if request["role"] == "latency" else 0)


def assert_ports(truth: Truth, foreign: Sequence[int] = (0, 0)) -> None:
    """Stale frames are those the DUT marked so; strangers are as many as stated."""
    for number, port in enumerate(truth.reply["ports"]):
        stale = sum("stale" in frame.done and frame.port == number for frame in truth.report.sent)
        assert (port["stale"], port["foreign"]) == (stale, foreign[number])
        for trouble in ("rx_missed", "rx_errors", "rx_no_mbuf"):
            assert port[trouble] == 0
