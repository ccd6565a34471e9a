"""What TuneD profiles are called: the operator's own, and the rendered one."""

from __future__ import annotations

from plimsoll.tune.intent.intent import Intent

PATCH = "performance-patch"


def operator_profile(intent: Intent) -> str:
    """The TuneD profile that the operator makes of the performance profile."""
    return f"openshift-node-performance-{intent.name}"


def rendered_profile(intent: Intent) -> str:
    """The TuneD profile that is rendered, by the name that the intent gives it."""
    own = PATCH if intent.platform == "openshift" else f"plimsoll-{intent.name}"
    return intent.tuned.name or own
