"""What a check found: a verdict, what it rests on, and what to do."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.search.evidence.trial_evidence import recorded
from plimsoll.tune.host.boot.operating_system import OS_RELEASE, BootTool, read_operating_system
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent

# From the worst to the best; "unknown" is what could not be read, and no fault of the host.
CheckVerdict = Literal["fail", "warn", "unknown", "ok", "not-applicable"]
VERDICTS: tuple[CheckVerdict, ...] = ("fail", "warn", "unknown", "ok", "not-applicable")

CheckGroup = Literal["boot", "power", "kernel", "memory", "nic", "pod", "cluster"]
GROUP_TITLES: dict[CheckGroup, str] = {
    "boot": "Boot and isolation",
    "power": "Power and firmware",
    "kernel": "Kernel runtime",
    "memory": "Memory and interrupts",
    "nic": "NIC",
    "pod": "Pod and kubelet",
    "cluster": "Cluster",
}

Lasts = Literal["until-boot", "for-good", "sets-nothing"]

# For a command without a more specific remark on what has the setting on OpenShift.
MANAGED_NODE = (
    "on OpenShift the node's settings are its operators': change the object that has it "
    "(PerformanceProfile, Tuned, MachineConfig), and not the node"
)


@recorded
@dataclass(frozen=True, slots=True)
class Reading:
    """What was read at one place: its text, or the part of it that matters."""

    where: Annotated[str, Field(description="The path or command.")]
    what: Annotated[str, Field(description="What it said.")]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a remedy: a `command` for a root shell, or, where none will do, `advice`.

    The rest is what plimsoll.tune.audit.finding needs to fit it to the host at hand. `openshift`
    says which object has the setting on a node of OpenShift, where operators put back what is
    set by hand; None is for what is the same there, such as a command that sets nothing.
    `lasts` is until when a command's setting holds, or that it sets nothing, and `takes` what
    running it takes from the host's present users. `boot_arguments` are those that it adds to
    the kernel's command line.
    """

    text: str
    kind: Literal["command", "advice"]
    openshift: str | None = None
    lasts: Lasts = "until-boot"
    takes: str = ""
    boot_arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckJudgement:
    """The answer of a check's rule. `expected` is what the intent asks for, in words."""

    verdict: CheckVerdict
    text: str
    read: tuple[Reading, ...] = ()
    expected: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A judgement, and the words of the check that made it."""

    number: int
    name: str
    group: CheckGroup
    title: str
    verdict: CheckVerdict
    text: str
    read: tuple[Reading, ...]
    expected: str
    steps: tuple[Step, ...]
    why: str
    fix: str
    sources: tuple[str, ...]


def ok(text: str, *read: Reading, expected: str = "") -> CheckJudgement:
    """As expected."""
    return CheckJudgement("ok", text, read, expected)


def warn(
    text: str, *read: Reading, expected: str = "", steps: Iterable[Step] = ()
) -> CheckJudgement:
    """Sound on some hosts on purpose, or of small weight."""
    return CheckJudgement("warn", text, read, expected, tuple(steps))


def fail(
    text: str, *read: Reading, expected: str = "", steps: Iterable[Step] = ()
) -> CheckJudgement:
    """Not as expected."""
    return CheckJudgement("fail", text, read, expected, tuple(steps))


def not_applicable(text: str, *read: Reading) -> CheckJudgement:
    """Nothing to judge here, and why: the intent does not say, or the host has no such thing."""
    return CheckJudgement("not-applicable", text, read)


def unknown(text: str, *read: Reading, expected: str = "") -> CheckJudgement:
    """What it would rest on could not be read."""
    return CheckJudgement("unknown", text, read, expected)


def tell(judge: Callable[[], CheckJudgement]) -> CheckJudgement:
    """What `judge` says; unknown where it meets something that cannot be read."""
    try:
        return judge()
    except CannotRead as error:
        return unknown(str(error.unread))


def worst_of(parts: Iterable[CheckJudgement]) -> CheckJudgement:
    """One judgement of several: the worst verdict, and the text of all that share it.

    Readings, wishes and steps of all parts are kept. Parts that do not apply count only
    where there are no others; without parts it does not apply.
    """
    given = tuple(parts)
    if not given:
        return not_applicable("nothing to judge")
    counted = [part for part in given if part.verdict != "not-applicable"] or given
    verdict = min((part.verdict for part in counted), key=VERDICTS.index)
    # What is known to be wrong must not hide what is unknown.
    message = [part for part in counted if verdict in ("ok", part.verdict) or _matters(part)]
    return CheckJudgement(
        verdict,
        "; ".join(dict.fromkeys(part.text for part in message)),
        tuple(dict.fromkeys(reading for part in counted for reading in part.read)),
        "; ".join(dict.fromkeys(part.expected for part in counted if part.expected)),
        tuple(dict.fromkeys(step for part in counted for step in part.steps)),
    )


def command(
    *argv: str,
    openshift: str | None = MANAGED_NODE,
    lasts: Lasts = "until-boot",
    takes: str = "",
) -> Step:
    """A step that a root shell runs: the words, quoted as they need it. The rest as in Step."""
    return Step(shlex.join(argv), "command", openshift, lasts, takes)


def write(path: str, value: str, *, openshift: str | None = MANAGED_NODE, takes: str = "") -> Step:
    """A step that writes `value` to a file of procfs or sysfs; it lasts until the next boot."""
    return Step(
        f"echo {shlex.quote(value)} > {shlex.quote(path)}", "command", openshift, takes=takes
    )


def write_on_each(
    cpus: Iterable[int], path: str, value: str, *, openshift: str | None = MANAGED_NODE
) -> Step:
    """The same for each CPU's own file: `path` has "$cpu" for its number, and is plain else."""
    numbers = " ".join(map(str, sorted(cpus)))
    loop = f"for cpu in {numbers}; do echo {shlex.quote(value)} > {path}; done"
    return Step(loop, "command", openshift)


def advice(text: str, *, openshift: str | None = None) -> Step:
    """A step that no command of this host can do: firmware, a manifest, a decision.

    `openshift` is what it is there, where that is something else.
    """
    return Step(text, "advice", openshift)


def _matters(part: CheckJudgement) -> bool:
    return part.verdict in ("fail", "warn", "unknown")


REMEDY_READS = OS_RELEASE


@dataclass(frozen=True, slots=True)
class SettingsOwner:
    """Who keeps a host's settings: OpenShift's operators (`managed`), or root there.

    `boot_tool` changes the kernel's command line, None where nothing tells which does.
    """

    managed: bool
    boot_tool: BootTool | None


def owner_of(view: HostView, intent: Intent | None) -> SettingsOwner:
    """By the intent's platform, and by what the host says of its own system."""
    system = read_operating_system(view)
    tool = system.boot_tool if system else None
    on_openshift = intent is not None and intent.platform == "openshift"
    return SettingsOwner(on_openshift or tool == "operator", tool)


def fitted(steps: Iterable[Step], owner: SettingsOwner) -> tuple[Step, ...]:
    """The steps as the host's owner takes them, with a warning before what takes something away.

    On OpenShift the remedy is the object that has the setting. The command with it is only
    given, as a trial, and only where it neither outlives a reboot nor takes anything.
    """
    if owner.managed:
        # Several commands may be one object's.
        return tuple(dict.fromkeys(each for step in steps for each in _of_objects(step)))
    return tuple(each for step in steps for each in _of_commands(step, owner.boot_tool))


def _of_objects(step: Step) -> Iterator[Step]:
    if step.openshift is None:
        yield from _with_warning(step)
        return
    yield advice(step.openshift)
    if step.kind == "command" and step.lasts == "until-boot" and not step.takes:
        yield advice(f"until the next reboot, to try it: {step.text}")


def _of_commands(step: Step, tool: BootTool | None) -> Iterator[Step]:
    yield from _with_warning(_booted(step, tool) if step.boot_arguments else step)


def _with_warning(step: Step) -> Iterator[Step]:
    if step.takes:
        yield advice(f"before the next command: {step.takes}")
    yield step


def _booted(step: Step, tool: BootTool | None) -> Step:
    """The change by what the host has; `step` is grubby's, which alone changes what is there."""
    if tool == "grubby":
        return step
    remedy = f"boot with {' '.join(step.boot_arguments)}"
    if tool == "update-grub":
        return advice(f"{remedy}: change GRUB_CMDLINE_LINUX in /etc/default/grub, run update-grub")
    if tool == "rpm-ostree":
        return advice(f"{remedy}: change the arguments with rpm-ostree kargs --editor")
    return advice(
        f"{remedy}: {step.text} where there is grubby; on Debian's kin change GRUB_CMDLINE_LINUX "
        "in /etc/default/grub and run update-grub"
    )
