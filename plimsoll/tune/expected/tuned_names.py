"""What TuneD profiles are called: the operator's own, and the rendered one."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.tune.intent.intent import Intent

PATCH = "performance-patch"


def operator_profile(intent: Intent) -> str:
    """The TuneD profile that the operator makes of the performance profile."""
    return f"openshift-node-performance-{intent.name}"


def rendered_profile(intent: Intent) -> str:
    """The TuneD profile that is rendered, by the name that the intent gives it."""
    own = PATCH if intent.platform == "openshift" else f"plimsoll-{intent.name}"
    return intent.tuned.name or own


_DIGITS = 8


def tuned_cpu_mask(cpus: Collection[int]) -> str:
    """Groups of eight hexadecimal digits, all of them whole: {0, 33} is "00000002,00000001".

    TuneD's cpulist2hex pads the first group too, which the kernel's own files do not.
    """
    bits = sum(1 << cpu for cpu in set(cpus))
    digits = f"{bits:x}"
    digits = digits.zfill(-(-len(digits) // _DIGITS) * _DIGITS)
    return ",".join(digits[at : at + _DIGITS] for at in range(0, len(digits), _DIGITS))
