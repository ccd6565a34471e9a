"""A host without an intent: what it seems to be tuned for, and what checks say of it then.

Some things no packet dataplane wants, whatever it is: those are judged, but without an intent
warned of at most. Of all else what was read is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.expected_argument import ONLINE
from plimsoll.tune.audit.finding import CheckJudgement, Reading
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    KernelCommandLine,
    given_isolcpus,
    parse_isolcpus,
    parse_kernel_cpu_list,
)
from plimsoll.tune.host.boot.operating_system import is_virtual_machine
from plimsoll.tune.host.capture.capture_privacy import is_private, is_wild, kept_text, matches
from plimsoll.tune.host.cpus.cpu_sets import read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import is_interface_name
from plimsoll.tune.proposal.survey import survey_ports

IntentRule = Callable[[HostView, Intent], CheckJudgement]
HostRule = Callable[[HostView], CheckJudgement]

_MAX_READINGS = 6
_MAX_PATHS = 1024
_MAX_VALUES = 4
_LONGEST_VALUE = 60
# Of every process and thread there is: no reading of a host by itself.
_OF_PROCESSES = "/proc/[0-9]*/"
# What identifies devices, and does not show how they are set.
_NO_READINGS = tuple(f"/sys/bus/pci/devices/*/{name}" for name in ("class", "device", "vendor"))


def as_no_dataplane_wants_it(rule: IntentRule) -> HostRule:
    """`rule` against an intent that turns off what costs time, and has all ports of the host."""

    def judge(view: HostView) -> CheckJudgement:
        return warned_at_most(rule(view, _plain_intent(view)))

    return judge


def warned_at_most(found: CheckJudgement) -> CheckJudgement:
    """The judgement, with a warning instead of a failure: there is no intent."""
    return replace(found, verdict="warn") if found.verdict == "fail" else found


def readings(view: HostView, patterns: tuple[str, ...]) -> tuple[Reading, ...]:
    """What files of those patterns hold, equal values together; raises nothing."""
    found = []
    for pattern in dict.fromkeys(patterns):
        if pattern in _NO_READINGS or pattern.startswith(_OF_PROCESSES) or "**" in pattern:
            continue
        values = list(_values(view, pattern))
        if values:
            found.append(Reading(pattern, _shortened(values)))
    return tuple(found[:_MAX_READINGS])


def listed_readings(found: tuple[Reading, ...]) -> str:
    """All of them in one text."""
    return "; ".join(f"{each.where}: {each.what}" for each in found)


def _plain_intent(view: HostView) -> Intent:
    """Which CPUs are isolated in it matters to none of the rules applied."""
    ports = survey_ports(view, {})
    return Intent.model_validate(
        {
            "name": "none-given",
            "platform": "vm" if _virtual(view) else "bare-metal",
            "cpus": {"reserved": "0", "isolated": "1"},
            "services": dict.fromkeys(("fwupd", "ksm", "numa_balancing", "swap", "thp"), False),
            "bios": {"aspm": False},
            "nics": [
                {"name": f"port-{number}"} | _named(port.name, port.pci_address)
                for number, port in enumerate(ports)
            ],
        }
    )


def _named(interface: str | None, address: str) -> dict[str, list[str]]:
    if interface is not None and is_interface_name(interface):
        return {"pf_names": [interface]}
    return {"pci": [address]}


def _virtual(view: HostView) -> bool:
    try:
        return is_virtual_machine(view)
    except CannotRead:
        return False


def _values(view: HostView, pattern: str) -> Iterator[str]:
    names = tuple(pattern.split("/")[1:])
    for count, path in enumerate(_paths(view, "", names)):
        if count == _MAX_PATHS:
            return
        text = view.read(path)
        if text is not None and (short := _short(path, text)) is not None:
            yield short


def _paths(view: HostView, above: str, names: tuple[str, ...]) -> Iterator[str]:
    if not names:
        yield above
        return
    name, rest = names[0], names[1:]
    if not is_wild(name):
        yield from _paths(view, f"{above}/{name}", rest)
        return
    for each in view.listing(above or "/") or ():
        if matches(f"/{name}", f"/{each}"):
            yield from _paths(view, f"{above}/{each}", rest)


def _short(path: str, text: str) -> str | None:
    """The value of a file of one line, as a capture may have it; None of any other.

    What is shown is copied into issues and mails, as captures are.
    """
    if is_private(path) or "\n" in text:
        return None
    try:
        kept = kept_text(path, text)
    except ValueError:
        return None
    return kept if len(kept) <= _LONGEST_VALUE else f"{kept[: _LONGEST_VALUE - 1]}…"


def _shortened(values: list[str]) -> str:
    """Equal values with how many have them, the most frequent first."""
    counts: dict[str, int] = {}
    for each in values:
        counts[each] = counts.get(each, 0) + 1
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [
        f"{value or 'empty'} ({count} of {len(values)})" if len(values) > 1 else value or "empty"
        for value, count in ordered[:_MAX_VALUES]
    ]
    more = len(ordered) - _MAX_VALUES
    return ", ".join([*shown, *([f"{more} other values"] if more > 0 else [])])


def assume_intent(view: HostView) -> tuple[Intent | None, str]:
    """(intent, where it comes from), or (None, why there is none).

    CPUs that isolcpus or nohz_full name are isolated, all others reserved; tickless ones
    speak for the hint `realtime`. Everything else is left out of the intent, so that
    those settings are not judged.
    """
    try:
        return _from_command_line(view)
    except CannotRead as error:
        return None, f"no intent is given, and {error.unread}"
    except ValueError as error:
        return None, f"no intent is given, and on the kernel's command line {error}"


def _from_command_line(view: HostView) -> tuple[Intent | None, str]:
    line = KernelCommandLine.parse(view.need(PATH))
    online = read_cpu_list(view, ONLINE)
    given = line.counting("nohz_full")
    tickless = parse_kernel_cpu_list(given, online) if given else frozenset()
    written = line.values("isolcpus")
    isolcpus = given_isolcpus(line, online).in_force
    if any(written) and not isolcpus:
        # Says what of it the kernel cannot read.
        parse_isolcpus(written[-1], online)
    isolated = tickless.union(*(each.cpus for each in isolcpus)) & online
    reserved = online - isolated
    if not isolated or not reserved:
        which = "all CPUs" if isolated else "no CPUs"
        return None, f"no intent is given, and the kernel's command line isolates {which}"
    intent = Intent.model_validate(
        {
            "name": "assumed",
            "platform": "vm" if _virtual(view) else "bare-metal",
            "cpus": {
                "reserved": format_cpu_list(reserved),
                "isolated": format_cpu_list(isolated),
                "balance_isolated": all("domain" not in each.flags for each in isolcpus),
            },
            "hints": {"realtime": True} if tickless else {},
        }
    )
    return intent, (
        f"no intent is given; assumed from the kernel's command line: CPUs "
        f"{format_cpu_list(isolated)} isolated, {format_cpu_list(reserved)} reserved"
    )
