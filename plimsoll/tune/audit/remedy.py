"""Steps fitted to the host at hand: who owns its settings, and how its kernel is booted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from plimsoll.tune.audit.finding import Step, advice
from plimsoll.tune.host.boot.operating_system import OS_RELEASE, BootTool, read_operating_system
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

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
