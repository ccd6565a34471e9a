"""How a kernel argument gets onto the command line, and who has it there on OpenShift."""

from __future__ import annotations

import shlex
from typing import get_args

from plimsoll.tune.audit.finding import Step
from plimsoll.tune.audit.openshift_object import performance_profile
from plimsoll.tune.expected.kernel_argument import Vendor
from plimsoll.tune.expected.node import expected_arguments
from plimsoll.tune.intent.intent import Intent


def add_at_boot(intent: Intent, *arguments: str) -> Step:
    """The step that adds `arguments` from the next boot on.

    It is grubby's, which RHEL and its kin have; plimsoll.tune.audit.remedy fits it to others.
    """
    text = shlex.join(["grubby", "--update-kernel=ALL", f"--args={' '.join(arguments)}"])
    return Step(text, "command", _rendered(intent, arguments), "for-good", boot_arguments=arguments)


def _rendered(intent: Intent, arguments: tuple[str, ...]) -> str:
    """What the operator makes of the profile, or what the profile has to name in addition."""
    made = {
        word
        for vendor in get_args(Vendor)
        for each in expected_arguments(intent, vendor)
        for word in each.words
    }
    words = " ".join(arguments)
    if made.issuperset(arguments):
        return performance_profile(f"the operator boot with {words}")
    return performance_profile(f"additionalKernelArgs {words} (kernel.arguments of the intent)")
