"""Rules of findings in words, as a page names them; the record keeps their short names."""

from __future__ import annotations

_WORDS = {
    "loss-ratio": "Frame loss ratio",
    "pdv": "Packet delay variation",
    "corrupt": "Corrupt frames",
    "duplicate": "Duplicate frames",
    "misdirected": "Misdirected frames",
    "out-of-order": "Reordered frames",
    "rx-stability": "Stability of the received rate",
    "segment-loss": "Loss in a segment of the trial",
    "spread-of-latency": "Repeatability of latency",
    "spread-of-rate": "Repeatability of the rate",
    "steal": "CPU time stolen by the hypervisor",
    "throttled": "CPU throttling by quota",
    "dut-interrupts": "Interrupts on the DUT's CPUs",
    "major-faults": "Major page faults",
    "busy": "CPU utilisation",
    "host-metric": "Host metric",
    "absent-frames": "Frames not sent while a loop was stalled",
    "dut-on-tester-cpu": "Loops of the DUT on the tester's CPUs",
    "dut-received": "Frames that the DUT did not receive",
    "dut-counters": "DUT port counters",
    "hops": "Frames at each hop inside the DUT",
    "returned-length": "Length of the frames that came back",
    "upcalls": "Packets sent to the switch's slow path",
    "failed-upcalls": "Packets that the switch's slow path gave up",
    "flowtable": "Frames by the path they took through the router",
    "conntrack-full": "Packets that connection tracking had no room for",
    "late-probes": "Probes sent late",
    "link": "Link state",
    "negative-loss": "More frames received than offered",
    "no-buffer": "Frames not sent for want of a buffer",
    "offered-rate": "Offered against intended load",
    "own-share": "CPU time of Plimsoll's other processes",
    "runtime": "Trial duration",
    "stale-frames": "Frames of an earlier trial",
    "stall": "Longest stall of a polling loop",
    "stalled-share": "Time that polling loops were stalled",
    "tester-losses": "Losses during stalls of the tester",
    "truncated-frames": "Frames that came back cut short",
    "late-frames": "Frames that left the DUT after the drain",
    "unread-frames": "Frames the tester's ports dropped",
    "windows": "Windows of the trial",
}
# The rule is what it is about, after the kind: latency-p99, pdv-p99.9.
_QUANTIFIED = {"latency": "Latency", "pdv": "Packet delay variation"}


def rule_words(rule: str) -> str:
    """ "Frame loss ratio" for loss-ratio, "Latency p99" for latency-p99.

    Rules of other versions are named as they are, without their hyphens.
    """
    if rule in _WORDS:
        return _WORDS[rule]
    kind, _, quantile = rule.partition("-")
    if kind in _QUANTIFIED and quantile:
        return f"{_QUANTIFIED[kind]}, {quantile}"
    return rule.replace("-", " ").capitalize()
