"""The commands of `plimsoll console`: each is a method, its docstring the help."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table

from plimsoll.benchmark.live_traffic.experiment_traffic import ExperimentTraffic
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LiveStream
from plimsoll.errors import InputError
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.units import (
    format_duration,
    format_ns_between,
    format_number,
    format_pps,
    parse_duration,
    parse_rate,
)

_ABSENT = "-"
_QUANTILES = (0.5, 0.99, 0.999)


def streams_table(counts: LiveCounts) -> Table:
    """A line for each stream: what it is to send, does, and has done."""
    table = _table("stream", "state", *(f"> {name}" for name in _STREAM_NUMBERS))
    for each in counts.streams:
        rate = "as fast as it can" if each.rate_pps is None else format_pps(each.rate_pps)
        table.add_row(
            each.name,
            each.state,
            rate,
            format_pps(each.tx_pps),
            format_pps(each.rx_pps),
            f"{each.counts.sent:,}",
            f"{each.counts.received:,}",
            f"{each.lost:,}",
            *_latencies(each),
        )
    return table


def ports_table(counts: LiveCounts) -> Table:
    """A line for each port: rates, sums, and foreign frames."""
    table = _table("port", "link", *(f"> {name}" for name in _PORT_NUMBERS))
    for each in counts.ports:
        kinds = each.counts.foreign_kinds if each.counts else {}
        foreign = ", ".join(f"{name} {count:,}" for name, count in kinds.items() if count)
        table.add_row(
            str(each.port),
            "up" if each.link_up else "down",
            format_pps(each.tx_pps),
            _bps(each.tx_bps),
            format_pps(each.rx_pps),
            _bps(each.rx_bps),
            f"{each.tx_frames:,}",
            f"{each.rx_frames:,}",
            foreign or _ABSENT,
        )
    return table


def faults_line(counts: LiveCounts) -> str:
    """What the tester did not send as it should have, in words; empty where it did."""
    streams = [each.counts for each in counts.streams]
    sums = {
        "late": sum(each.skipped for each in streams),
        "refused by the port": sum(each.refused for each in streams),
        "without a buffer": sum(each.no_buffer for each in streams),
        "out of order": sum(each.out_of_order for each in streams),
        "duplicate": sum(each.duplicate for each in streams),
        "corrupt": sum(each.corrupt for each in streams),
        "misdirected": sum(each.misdirected for each in streams),
    }
    return ", ".join(f"{name}: {count:,}" for name, count in sums.items() if count)


def short_line(counts: LiveCounts, load_pps: float | None) -> str:
    """All of it in one line."""
    load = "no load" if load_pps is None else f"load {format_pps(load_pps)}"
    sent = sum(each.tx_pps for each in counts.streams)
    received = sum(each.rx_pps for each in counts.streams)
    lost = sum(each.lost for each in counts.streams)
    state = "sending" if counts.sending else "stopped"
    return (
        f"{state} · {load} a direction · tx {format_pps(sent)} · rx {format_pps(received)} · "
        f"lost {lost:,}"
    )


_STREAM_NUMBERS = ("rate", "tx", "rx", "sent", "received", "lost", "p50", "p99", "p99.9", "max")
_PORT_NUMBERS = ("tx", "tx bps", "rx", "rx bps", "sent", "received", "foreign")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = name.startswith("> ")
        table.add_column(name.removeprefix("> "), justify="right" if right else "left")
    return table


def _latencies(stream: LiveStream) -> list[str]:
    """Both ends, where stalls of the tester leave it open."""
    ends = LatencyEnds.of(stream.counts)
    if ends.low.max_ns is None or ends.high.max_ns is None:
        return [_ABSENT] * (len(_QUANTILES) + 1)
    lows = (*ends.low.quantiles_ns(_QUANTILES), ends.low.max_ns)
    highs = (*ends.high.quantiles_ns(_QUANTILES), ends.high.max_ns)
    return [format_ns_between(*each) for each in zip(lows, highs, strict=True)]


def _bps(bps: float) -> str:
    for unit, size in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3)):
        if bps >= size:
            return f"{format_number(bps / size)} {unit}"
    return f"{format_number(bps)} bps"


_REFRESH_S = 0.5


@dataclass(frozen=True)
class Usage:
    """A command: how it is written, what it does, and what its words may be."""

    written: str
    does: str
    words: tuple[str, ...] = ()


# In the order in which help lists them. "streams" among the words stands for their names.
USAGES = {
    "start": Usage(
        "start [STREAM …] [LOAD] [for DURATION]",
        "start all streams, or these, at LOAD per direction (500kpps, 2Gbps, 60%)",
        ("streams", "for"),
    ),
    "stop": Usage("stop [STREAM …]", "stop all streams, or these", ("streams",)),
    "load": Usage("load LOAD", "change the load while it is sent"),
    "rate": Usage("rate STREAM RATE", "give one stream a rate; 0pps pauses it", ("streams",)),
    "stats": Usage("stats", "streams and ports, now"),
    "live": Usage("live [DURATION]", "the same, renewed until Ctrl-C or for DURATION"),
    "streams": Usage("streams", "the streams' names, frames and rates"),
    "ports": Usage("ports", "the tester's ports"),
    "link": Usage("link PORT up|down", "bring a port's link up or take it down", ("up", "down")),
    "clear": Usage("clear", "begin all counters anew"),
    "wait": Usage("wait [DURATION]", "until nothing is sent any more, at most for DURATION"),
    "sleep": Usage("sleep DURATION", "do nothing for so long, in scripts"),
    "help": Usage("help [COMMAND]", "this list, or how one command is written"),
    "quit": Usage("quit", "stop everything and end; so do exit and Ctrl-D"),
}
_ENDS = ("quit", "exit")


class ConsoleCommands:
    """Carries commands out on `traffic` and prints on `out` what they show."""

    def __init__(self, traffic: ExperimentTraffic, out: Console) -> None:
        self._traffic = traffic
        self._out = out
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "start": self._start,
            "stop": self._stop,
            "load": self._load,
            "rate": self._rate,
            "stats": self._stats,
            "live": self._live,
            "streams": self._streams,
            "ports": self._ports,
            "link": self._link,
            "clear": self._clear,
            "wait": self._wait,
            "sleep": self._sleep,
            "help": self._help,
        }

    def run(self, line: str) -> bool:
        """Carry a line out; False when it ends the console. Raises PlimsollError."""
        words = _words(line)
        if not words:
            return True
        name, rest = words[0], words[1:]
        if name in _ENDS:
            return False
        if name not in self._commands:
            raise InputError(
                f"there is no command {name!r}",
                where="console",
                remedy=did_you_mean(name, [*USAGES, "exit"], "type help"),
            )
        self._commands[name](rest)
        return True

    def _start(self, words: list[str]) -> None:
        duration_s = None
        if "for" in words:
            at = words.index("for")
            duration_s = parse_duration(_one(words[at + 1 :], "start"))
            words = words[:at]
        # A stream's name begins with a letter, a load with a digit.
        loads = [word for word in words if word[:1].isdigit()]
        if len(loads) > 1:
            raise _wrong("start")
        load = parse_rate(loads[0]) if loads else None
        names = [word for word in words if word not in loads]
        self._traffic.start(names, load=load, duration_s=duration_s)
        load_pps = self._traffic.load_pps
        at_load = "" if load_pps is None else f" at {format_pps(load_pps)} per direction"
        length = "" if duration_s is None else f" for {format_duration(duration_s)}"
        self._say(f"started {', '.join(names) or 'all streams'}{at_load}{length}")

    def _stop(self, words: list[str]) -> None:
        self._traffic.stop(words)
        self._say(f"stopped {', '.join(words) or 'all streams'}")

    def _load(self, words: list[str]) -> None:
        self._traffic.set_load(parse_rate(_one(words, "load")))
        self._say(f"load is {format_pps(self._traffic.load_pps or 0.0)} per direction")

    def _rate(self, words: list[str]) -> None:
        if len(words) != 2:
            raise _wrong("rate")
        # As a load, 0 would be a mistake.
        paused = words[1] in ("0", "0pps")
        rate_pps = 0.0 if paused else parse_rate(words[1]).to_pps(64.0, None, None)
        self._traffic.set_rate(words[0], rate_pps)
        self._say(f"rate of {words[0]} is {format_pps(rate_pps)}")

    def _stats(self, words: list[str]) -> None:
        _none(words, "stats")
        self._out.print(self._tables())

    def _live(self, words: list[str]) -> None:
        until = time.monotonic() + parse_duration(_one(words, "live")) if words else None
        try:
            with Live(self._tables(), console=self._out, auto_refresh=False) as shown:
                while until is None or time.monotonic() < until:
                    time.sleep(_REFRESH_S)
                    shown.update(self._tables(), refresh=True)
        except KeyboardInterrupt:
            return

    def _streams(self, words: list[str]) -> None:
        _none(words, "streams")
        for plan in self._traffic.live.streams:
            rate = "as fast as it can" if plan.rate_pps is None else format_pps(plan.rate_pps)
            self._say(
                f"{plan.name}: {plan.role}, port {plan.tx_port} to {plan.rx_port}, "
                f"{plan.mean_frame_size:.10g} B, {rate}, {plan.pacing.kind}"
            )

    def _ports(self, words: list[str]) -> None:
        _none(words, "ports")
        for port in self._traffic.live.ports:
            speed = "" if port.link_mbps is None else f", {port.link_mbps} Mbit/s"
            link = "up" if port.link_up else "down"
            self._say(f"{port.port}: {port.driver}, {port.mac}, link {link}{speed}, {port.devargs}")

    def _link(self, words: list[str]) -> None:
        numbers = {str(port.port): port.port for port in self._traffic.live.ports}
        if len(words) != 2 or words[1] not in ("up", "down"):
            raise _wrong("link")
        if words[0] not in numbers:
            raise InputError(
                f"there is no port {words[0]}",
                where="console",
                remedy="type ports, which lists them",
            )
        is_up = self._traffic.live.set_link(numbers[words[0]], up=words[1] == "up")
        self._say(f"link of port {words[0]} is {'up' if is_up else 'down'}")

    def _clear(self, words: list[str]) -> None:
        _none(words, "clear")
        self._traffic.clear()

    def _wait(self, words: list[str]) -> None:
        timeout_s = parse_duration(_one(words, "wait")) if words else None
        if not self._traffic.wait(timeout_s):
            self._say("still sending")

    def _sleep(self, words: list[str]) -> None:
        time.sleep(parse_duration(_one(words, "sleep")))

    def _help(self, words: list[str]) -> None:
        if words:
            usage = USAGES.get(_one(words, "help"))
            if usage is None:
                raise _wrong("help")
            self._say(f"{usage.written}: {usage.does}")
            return
        width = max(len(usage.written) for usage in USAGES.values())
        for usage in USAGES.values():
            self._say(f"{usage.written:<{width}}  {usage.does}")

    def _tables(self) -> Group:
        counts = self._traffic.counts()
        faults = faults_line(counts)
        parts: list[RenderableType] = [streams_table(counts), "", ports_table(counts)]
        return Group(*parts, *([f"\n{faults}"] if faults else []))

    def _say(self, text: str) -> None:
        self._out.print(text, highlight=False, soft_wrap=True)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise InputError(str(error), where="console", remedy="close the quotation") from None


def _one(words: Sequence[str], command: str) -> str:
    if len(words) != 1:
        raise _wrong(command)
    return words[0]


def _none(words: Sequence[str], command: str) -> None:
    if words:
        raise _wrong(command)


def _wrong(command: str) -> InputError:
    return InputError(
        f"{command} is not written so",
        where="console",
        remedy=f"write {USAGES[command].written}",
    )
