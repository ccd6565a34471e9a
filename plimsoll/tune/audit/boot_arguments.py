"""How a kernel argument gets onto the command line, by platform."""

from __future__ import annotations

from plimsoll.tune.audit.finding import Step, advice, command
from plimsoll.tune.intent.intent import Intent


def add_at_boot(intent: Intent, *arguments: str) -> Step:
    """The step that adds `arguments` from the next boot on.

    On OpenShift the nodes' command line is the performance profile's, and what is changed
    by hand is put back. grubby is what RHEL and its kin have; Debian's kin edit
    /etc/default/grub.
    """
    words = " ".join(arguments)
    if intent.platform == "openshift":
        return advice(f"let the PerformanceProfile render {words} (plimsoll tune render)")
    return command("grubby", "--update-kernel=ALL", f"--args={words}")


def remove_at_boot(intent: Intent, *names: str) -> Step:
    """The step that takes arguments of these names away from the next boot on."""
    words = " ".join(names)
    if intent.platform == "openshift":
        return advice(f"take {words} out of the PerformanceProfile's arguments")
    return command("grubby", "--update-kernel=ALL", f"--remove-args={words}")
