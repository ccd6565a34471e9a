"""The options of bench-trafficgen's binary-search.py: their forms, defaults, and who heeds them.

Read from its source, commit d81d481 of github.com/perftool-incubator/bench-trafficgen. An
option without a counterpart says why; all others are for the other files here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# "toggle" is ON where its value is left out.
Form = Literal["flag", "whole", "number", "text", "toggle"]
# The values of --traffic-generator that can be imported, as heeding an option.
Heeding = Literal["both", "profile", "txrx", "neither"]
Value = bool | int | float | str

PROFILE, TXRX = "trex-txrx-profile", "trex-txrx"


@dataclass(frozen=True, slots=True)
class TrafficgenOption:
    """One option, without its dashes.

    `without` says why it has no counterpart here; None where it has. `heeded_by` are the
    traffic generators to which binary-search.py passes it on, or for which it uses it.
    """

    name: str
    form: Form
    default: Value
    heeded_by: Heeding = "both"
    choices: tuple[str, ...] = ()
    without: str | None = None

    def is_heeded_by(self, generator: str) -> bool:
        """Whether it has an effect together with that --traffic-generator."""
        return self.heeded_by == "both" or self.heeded_by == _SHORT.get(generator)


_SHORT = {PROFILE: "profile", TXRX: "txrx"}

_DIRECTIONS = ("bidirectional", "unidirectional", "revunidirectional")
_ON_FAILURE = ("fail", "quit", "retry-to-fail", "retry-to-quit")
_TEACHING = ("garp", "icmp", "generic")

_OWN_RECORD = "a run directory always holds everything"
_TREX = "it is about TRex, which Plimsoll's engine stands in for"
_PTP = "a second pair of NICs that probes by itself is not driven; latency streams probe here"
_STATEFUL = "TRex's stateful mode (ASTF) has no counterpart"
_UNUSED = "trafficgen reads it and uses it nowhere"


def _flag(name: str, heeded_by: Heeding = "both", without: str | None = None) -> TrafficgenOption:
    return TrafficgenOption(name, "flag", False, heeded_by, (), without)


def _whole(
    name: str, default: int, heeded_by: Heeding = "both", without: str | None = None
) -> TrafficgenOption:
    return TrafficgenOption(name, "whole", default, heeded_by, (), without)


def _number(
    name: str, default: float, heeded_by: Heeding = "both", without: str | None = None
) -> TrafficgenOption:
    return TrafficgenOption(name, "number", default, heeded_by, (), without)


def _text(
    name: str, default: str = "", heeded_by: Heeding = "both", without: str | None = None
) -> TrafficgenOption:
    return TrafficgenOption(name, "text", default, heeded_by, (), without)


def _choice(
    name: str,
    default: str,
    choices: tuple[str, ...],
    heeded_by: Heeding = "both",
    without: str | None = None,
) -> TrafficgenOption:
    return TrafficgenOption(name, "text", default, heeded_by, choices, without)


_TRAFFIC = (
    _choice(
        "traffic-generator",
        TXRX,
        (TXRX, PROFILE, "trex-astf", "valkyrie2544", "null-txrx"),
    ),
    _text("traffic-profile", heeded_by="profile"),
    _text("traffic-profile-name", heeded_by="profile"),
    _text("frame-size", "64", "txrx"),
    _whole("num-flows", 1024, "txrx"),
    _whole("use-src-ip-flows", 1, "txrx"),
    _whole("use-dst-ip-flows", 1, "txrx"),
    _whole("use-src-mac-flows", 1, "txrx"),
    _whole("use-dst-mac-flows", 1, "txrx"),
    _whole("use-src-port-flows", 0, "txrx"),
    _whole("use-dst-port-flows", 0, "txrx"),
    _whole("use-protocol-flows", 0, "txrx"),
    _choice("packet-protocol", "UDP", ("UDP", "TCP"), "txrx"),
    _choice("traffic-direction", "bidirectional", _DIRECTIONS, "txrx"),
    _text("src-macs", heeded_by="txrx"),
    _text("dst-macs", heeded_by="txrx"),
    _text("src-ips", heeded_by="txrx"),
    _text("dst-ips", heeded_by="txrx"),
    _text("src-ports", heeded_by="txrx"),
    _text("dst-ports", heeded_by="txrx"),
    _text("vlan-ids", heeded_by="txrx"),
    _text("vxlan-ids", heeded_by="neither", without=_UNUSED),
    _text("encap-src-macs", heeded_by="neither", without=_UNUSED),
    _text("encap-dst-macs", heeded_by="neither", without=_UNUSED),
    _text("encap-src-ips", heeded_by="neither", without=_UNUSED),
    _text("encap-dst-ips", heeded_by="neither", without=_UNUSED),
    _whole("use-encap-src-ip-flows", 0, "neither", _UNUSED),
    _whole("use-encap-dst-ip-flows", 0, "neither", _UNUSED),
    _whole("use-encap-src-mac-flows", 0, "neither", _UNUSED),
    _whole("use-encap-dst-mac-flows", 0, "neither", _UNUSED),
    _whole("measure-latency", 1),
    _whole("latency-rate", 1000),
    _number("random-seed", 0.0, "profile"),
    _choice("stream-mode", "continuous", ("continuous", "segmented"), "txrx"),
    _flag(
        "enable-segment-monitor",
        "txrx",
        "a trial ends early by the losses of all of it, not of one segment",
    ),
    _flag(
        "enable-segment-monitor-noop",
        "txrx",
        "it only logs; the record has every second's losses",
    ),
)

_SEARCH = (
    _number("rate", 0.0),
    _number("min-rate", 0.0),
    _choice("rate-unit", "mpps", ("%", "mpps", "cps-mult", "cps")),
    _whole("one-shot", 0),
    _whole("search-runtime", 30),
    _whole("validation-runtime", 30),
    _whole("uniform-trial-runtime", 0),
    _whole("sniff-runtime", 0),
    _number("search-granularity", 0.1),
    _flag("disable-upward-search"),
    _flag("repeat-final-validation"),
    _whole("max-retries", 1),
    _flag("warmup-trial"),
    _whole("warmup-trial-runtime", 30),
    _text(
        "warmup-traffic-profile",
        heeded_by="profile",
        without="the warm-up trial sends the same profile, at the least load",
    ),
    _text(
        "warmup-traffic-profile-name",
        heeded_by="profile",
        without="the warm-up trial sends the same profile, at the least load",
    ),
    _whole("trial-gap", 0),
    _text("pre-trial-cmd"),
)

_VERDICT = (
    _number("max-loss-pct", 0.002),
    _choice("loss-granularity", "direction", ("direction", "device", "segment")),
    _number("rate-tolerance", 5.0),
    _choice("rate-tolerance-failure", "quit", ("fail", "quit")),
    _number("runtime-tolerance", 5.0),
    _choice("negative-packet-loss", "quit", _ON_FAILURE),
    _choice("duplicate-packet-failure", "quit", _ON_FAILURE),
    _flag(
        "use-device-stats",
        "txrx",
        "losses are counted by the sequence numbers of all frames, and the ports' counters "
        "are read as well",
    ),
)

_TEACHING_OPTIONS = (
    _flag("send-teaching-warmup", "txrx"),
    _flag("send-teaching-measurement", "txrx"),
    _choice("teaching-warmup-packet-type", "", _TEACHING, "txrx"),
    _choice("teaching-measurement-packet-type", "", _TEACHING, "txrx"),
    _whole("teaching-warmup-packet-rate", 1000),
    _whole("teaching-measurement-packet-rate", 1000),
    _number("teaching-measurement-interval", 10.0),
)

_LAB = (
    _text("device-pairs", "0:1"),
    _text("active-device-pairs", "--"),
    _text("trex-host", "localhost", without="labs are on the machine that Plimsoll runs on"),
    _flag("no-promisc", without="ports are promiscuous, so that frames sent astray are seen"),
    _flag("disable-flow-cache", without=_TREX),
    _text("latency-device-pair", "--", without=_PTP),
    _whole("latency-probe-rate", 1000, without=_PTP),
    _whole("latency-warmup-packets", 10, without=_PTP),
    _text("latency-fwd-dst-mac", "--", without=_PTP),
    _text("latency-rev-dst-mac", "--", without=_PTP),
    _whole("latency-packet-size", 0, without=_PTP),
    _whole("latency-max-latency", 5, without=_PTP),
    _whole("latency-cpu", -1, without=_PTP),
    _whole("latency-busy-poll", 0, without=_PTP),
    _flag("latency-realtime", without=_PTP),
    _flag("latency-pin-irqs", without=_PTP),
)

_OUTPUT = (
    _text("output-dir", "./", without=_OWN_RECORD),
    _flag("compress-files", without=_OWN_RECORD),
    _choice("result-output", "device", ("none", "device"), without=_OWN_RECORD),
    _flag("disable-trex-profiler", "profile", "series are always recorded"),
    _number("trex-profiler-interval", 3.0, "profile", "the step of all series is trial.interval"),
    _flag("process-all-profiler-data", "profile", "the series of every trial are kept"),
)

_ASTF_FORMS: tuple[tuple[str, Form, Value], ...] = (
    ("protocol", "text", "tcp"),
    ("tcp-port", "whole", 8080),
    ("udp-port", "whole", 5353),
    ("udp-percent", "number", 1.0),
    ("message-size", "whole", 64),
    ("num-messages", "whole", 1),
    ("server-wait-ms", "whole", 0),
    ("tcp-mss", "whole", 1400),
    ("client-ip-start", "text", "16.0.0.0"),
    ("client-ip-end", "text", "16.0.255.255"),
    ("server-ip-start", "text", "48.0.0.0"),
    ("server-ip-end", "text", "48.0.255.255"),
    ("ip-offset", "text", "1.0.0.0"),
    ("ip-offset-server", "text", ""),
    ("per-core-distribution", "text", "seq"),
    ("use-subprocess", "flag", False),
    ("flush-on-pass", "flag", False),
    ("max-cps-deviation-pct", "number", 50.0),
    ("max-udp-drop-pct", "number", 0.0),
    ("max-flows", "whole", 0),
    ("ramp-time", "whole", 5),
    ("vlan-id", "whole", 0),
    ("ipv6", "toggle", "OFF"),
    ("ipv6-client-msb", "text", "ff02::"),
    ("ipv6-server-msb", "text", "ff03::"),
    ("profile", "text", ""),
    ("max-error-pct", "number", 0.1),
    ("max-retransmit-pct", "number", 0.0),
    ("max-latency-us", "whole", 0),
    ("ignore-errors", "text", ""),
    ("e-duration", "number", 0.0),
    ("t-duration", "number", 0.0),
    ("latency-pps", "whole", 0),
)
_ASTF = tuple(
    TrafficgenOption(f"astf-{name}", form, default, "neither", (), _STATEFUL)
    for name, form, default in _ASTF_FORMS
)

OPTIONS: dict[str, TrafficgenOption] = {
    option.name: option
    for option in (
        *_TRAFFIC,
        *_SEARCH,
        *_VERDICT,
        *_TEACHING_OPTIONS,
        *_LAB,
        *_OUTPUT,
        *_ASTF,
    )
}
