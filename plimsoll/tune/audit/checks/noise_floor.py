"""47: how long the host itself keeps a polling loop from running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import ONLINE
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    command,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
)
from plimsoll.tune.host.cpus.noise_measurements import (
    CALIBRATIONS,
    OUTPUTS,
    measured_us,
    read_calibration,
)
from plimsoll.tune.host.view.host_view import HostView

_HOSTNAME = "/proc/sys/kernel/hostname"
# OpenShift's latency tests take 20 us as the example of a bound for real-time workloads.
_QUIET_US = 20.0
# A ring of 2048 descriptors takes 2 ms of 1 Mpps: half of it is ours to call too long.
_LOUD_US = 1000.0
_MAX_FILES = 64


@dataclass(frozen=True, slots=True)
class _Floor:
    """The longest time that a loop was kept from running, and who measured it."""

    worst_us: float
    where: str
    message: str


def _judge(view: HostView) -> CheckJudgement:
    floors = [*_calibrated(view), *_measured(view)]
    expected = f"no gap in a polling loop longer than {_QUIET_US:g} us"
    if not floors and (view.read(ONLINE) or "").isdigit():
        # A list of one CPU is a bare number.
        return not_applicable("this host has one CPU, which no loop can have for itself")
    if not floors:
        return unknown(
            "the noise floor has not been measured here: plimsoll calibrate does", expected=expected
        )
    worst = max(floors, key=lambda floor: floor.worst_us)
    read = [Reading(floor.where, floor.message) for floor in floors]
    message = f"polling loops were kept from running for up to {_us(worst.worst_us)}"
    if worst.worst_us <= _QUIET_US:
        return ok(message, *read, expected=expected)
    say = warn if worst.worst_us < _LOUD_US else fail
    steps = [
        advice("set right what other checks found, and measure again"),
        command("plimsoll", "calibrate", openshift=None, lasts="sets-nothing"),
    ]
    return say(message, *read, expected=expected, steps=steps)


def _calibrated(view: HostView) -> Iterator[_Floor]:
    """The worst stall of each calibration of a tester on this host."""
    host = view.read(_HOSTNAME)
    for path in _calibration_files(view):
        found = read_calibration(view.read(path) or "")
        if found is not None and found.host == host:
            worst_us = found.worst_ns / 1e3
            message = f"worst stall {_us(worst_us)} on CPUs {found.cpus}, {found.measured_at}"
            yield _Floor(worst_us, path, message)


def _calibration_files(view: HostView) -> Iterator[str]:
    homes = ["/root", *(f"/home/{name}" for name in view.listing("/home") or ())]
    for home in homes:
        folder = f"{home}/.local/state/plimsoll/calibrations"
        for name in (view.listing(folder) or ())[:_MAX_FILES]:
            if name.endswith(".json"):
                yield f"{folder}/{name}"


def _measured(view: HostView) -> Iterator[_Floor]:
    for name in (view.listing(OUTPUTS) or ())[:_MAX_FILES]:
        path = f"{OUTPUTS}/{name}"
        if found := measured_us(view.read(path) or ""):
            yield _Floor(max(found), path, f"longest {_us(max(found))}")


def _us(value: float) -> str:
    return f"{value:.3g} us" if value < 1000 else f"{value / 1000:.3g} ms"


CHECK = Check(
    number=47,
    name="noise-floor",
    group="pod",
    title="The host leaves a polling loop alone",
    reads=(_HOSTNAME, ONLINE, *CALIBRATIONS, f"{OUTPUTS}/*"),
    why=(
        "Every setting above serves one end: that a loop which only polls is never away. How "
        "long it is away on this host, with no packet at all, is the floor under every latency, "
        "and on a guest the only sign of what the hypervisor does."
    ),
    fix=(
        "Measure with plimsoll calibrate, or put the output of oslat or rtla osnoise into "
        "/var/lib/plimsoll/noise; then fix what the other checks name."
    ),
    sources=(
        "OpenShift, Performing latency tests for platform verification: oslat, MAXIMUM_LATENCY",
        "Linux, Documentation/tools/rtla/rtla-osnoise-top.rst",
    ),
    host_rule=_judge,
)
