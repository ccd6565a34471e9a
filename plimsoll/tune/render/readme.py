"""README.md: what each file does, in which order to apply them, how to undo it.

The firmware settings, which no manifest can make: a list for people. Settings and reasons as in
the table of "Build deterministic OpenShift dataplane performance with TRex"; how each shows on a
running Linux is in the kernel's documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.tune.expected.kernel_argument import Vendor, command_line
from plimsoll.tune.expected.node import expected_node
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.system import Bios
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.cluster_steps import cluster_steps
from plimsoll.tune.render.render_warning import warnings_of


def host_steps(intent: Intent, files: Sequence[RenderedFile]) -> Iterator[str]:
    """The steps, in Markdown, without their numbers."""
    if any(each.path == "bios-checklist.md" for each in files):
        yield "Set the firmware by `bios-checklist.md`, whose last column is where it shows."
    units = [each.path for each in files if each.path.endswith(".service")]
    names = " ".join(path.rpartition("/")[2].removesuffix(".service") for path in units)
    yield "Read what is under `host/`, then, as root: `cp -r host/. / && systemctl daemon-reload`."
    yield "The kernel's command line: `grubby` or `update-grub`, as above."
    yield f"`systemctl enable {names}`. Done when `systemctl is-enabled {names}` says enabled."
    profiled = any(each.path.endswith("/tuned.conf") for each in files)
    if profiled:
        yield (
            f"With TuneD installed: `tuned-adm profile plimsoll-{intent.name}`. Done when "
            "`tuned-adm active` names it; it comes back at each boot."
        )
    proofs = [
        "`cat /proc/cmdline` has the arguments below",
        f"`systemctl is-active {names}` says active",
        *(["`tuned-adm verify --ignore-missing` succeeds"] if profiled else []),
    ]
    yield f"Restart the host. Done when {', '.join(proofs[:-1])} and {proofs[-1]}."
    if any(each.folder == "generator" for each in files):
        yield "`generator/` goes to the generator's host."


PATH = "README.md"


def render_readme(
    intent: Intent, files: Sequence[RenderedFile], header: str, vendor: Vendor
) -> RenderedFile:
    """The README of `files`."""
    steps = cluster_steps if intent.platform == "openshift" else host_steps
    parts = [
        f"# {intent.name}",
        *([_plain(intent.description)] if intent.description else []),
        f"{header} Change the intent and render anew rather than these files.",
        "## What each file does",
        _table(files),
        *_dangers(intent),
        "## In which order",
        "\n".join(f"{number}. {step}" for number, step in enumerate(steps(intent, files), 1)),
        *_not_applied(files),
        "## What to expect",
        *_expectation(intent, vendor),
        "## How to undo it",
        "The other way round: " + ("the last folder first." if files else "nothing was rendered."),
        _undoing(files),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return RenderedFile(PATH, text, does="This.", undo="", commented=False)


def _plain(text: str) -> str:
    """No markup of the description's own."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|!" else each for each in text)


def _table(files: Iterable[RenderedFile]) -> str:
    rows = [f"| `{each.path}` | {_cell(each.does)} |" for each in files]
    return "\n".join(["| file | what it does |", "|---|---|", *rows])


def _dangers(intent: Intent) -> Iterator[str]:
    """What has to be known before any file is applied."""
    message = [f"- **{each.text}** {each.remedy}" for each in warnings_of(intent)]
    if message:
        yield "## Before you apply it"
        yield "\n".join(message)


def _not_applied(files: Iterable[RenderedFile]) -> Iterator[str]:
    if any(each.folder == "alternatives" for each in files):
        yield "`alternatives/` is **not** applied with the rest: each file says instead of what."


def _undoing(files: Sequence[RenderedFile]) -> str:
    """One line for each way: a script and its unit go together."""
    ways: dict[str, list[str]] = {}
    for each in reversed(files):
        ways.setdefault(each.undo, []).append(f"`{each.path}`")
    return "\n".join(f"- {', '.join(paths)}: {_cell(way)}" for way, paths in ways.items())


def _cell(text: str) -> str:
    """Names of interfaces and arguments may hold what ends a cell or opens a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _expectation(intent: Intent, vendor: Vendor) -> Iterator[str]:
    node = expected_node(intent, vendor)
    line = command_line(node.effective_arguments)
    yield (
        f"The kernel's arguments ({vendor}; a bar stands between values of which one is right, "
        "brackets around what only some releases have):"
    )
    yield f"```\n{line}\n```"
    if node.crio:
        yield (
            f"Runtime class `{node.crio.runtime_class}`, whose handler is "
            f"`{node.crio.runtime_handler}`; kubelet: topology policy "
            f"`{node.kubelet['topologyManagerPolicy']}`, reserved CPUs "
            f"`{node.kubelet['reservedSystemCPUs']}`; active TuneD profile `{node.tuned_profile}`."
        )
    if node.node_pages and node.crio:
        units = ", ".join(f"`{each.operator_unit}`" for each in node.node_pages)
        yield f"Hugepages on nodes are not on the command line; services take them: {units}."
    if by_hand := list(_by_hand(intent)):
        yield f"By hand, for no file does it: {', '.join(by_hand)}."
    yield "Whether it came true: `plimsoll tune audit --intent` with the same intent."


def _by_hand(intent: Intent) -> Iterator[str]:
    """What the intent asks for and none of the files does."""
    on_host = intent.platform != "openshift"
    if on_host and intent.kernel.realtime:
        yield "the real-time kernel"
    if on_host:
        yield from (f"the ports {nic.kind} of nic {nic.name}" for nic in intent.nics if nic.by_kind)
    fields = ["swap", "tuned"] if on_host else ["swap", "ksm"]
    if on_host and intent.services.tuned is False:
        fields += ["stalld", "chronyd", "irqbalance", "fwupd"]
    for field in fields:
        switch = getattr(intent.services, field)
        if switch is not None:
            yield f"{field} {'on' if switch else 'off'}"


@dataclass(frozen=True, slots=True)
class _Setting:
    """`shows` is where Linux tells of it."""

    field: str
    title: str
    why: str
    shows: str


_SETTINGS = (
    _Setting(
        "smt",
        "SMT (Hyper-Threading, simultaneous multithreading)",
        "threads of a core share its execution units and its nearest caches",
        "/sys/devices/system/cpu/smt/active",
    ),
    _Setting(
        "turbo",
        "Turbo Boost (Core Performance Boost)",
        "the frequency would follow temperature and load",
        "/sys/devices/system/cpu/intel_pstate/no_turbo, or /sys/devices/system/cpu/cpufreq/boost",
    ),
    _Setting(
        "c_states",
        "C-states (idle power states, C1E and deeper)",
        "waking from one takes microseconds",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
    ),
    _Setting(
        "aspm",
        "PCIe ASPM (Active State Power Management)",
        "a link that sleeps adds to the latency of DMA",
        "/sys/module/pcie_aspm/parameters/policy, and LnkCtl of lspci -vv",
    ),
)
_PROFILES = {
    "max-performance": "maximum performance",
    "balanced": "balanced",
    "power-saving": "power saving",
}


def render_bios_checklist(intent: Intent) -> Iterator[RenderedFile]:
    """Only where the intent asks something of the firmware."""
    rows = list(_rows(intent.bios))
    if not rows:
        return
    table = "\n".join(["| set | to | because | Linux shows it in |", "|---|---|---|---|", *rows])
    yield RenderedFile(
        "bios-checklist.md",
        f"# Firmware settings of {intent.name}\n\n{table}\n",
        does="What to set in the firmware of each node, by hand, before all else.",
        undo="Set back what was there; note it before.",
        commented=False,
    )


def _rows(bios: Bios) -> Iterator[str]:
    for setting in _SETTINGS:
        expected = getattr(bios, setting.field)
        if expected is not None:
            word = "enabled" if expected else "disabled"
            yield f"| {setting.title} | {word} | {setting.why} | {setting.shows} |"
    if bios.power_profile is not None:
        yield (
            f"| CPU power management (system profile) | {_PROFILES[bios.power_profile]} "
            "| less saving of power is less jitter "
            "| /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor |"
        )
