"""The isolated CPUs of an intent that the host at hand has."""

from __future__ import annotations

from plimsoll.tune.host.cpus.cpu_sets import read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

ONLINE = "/sys/devices/system/cpu/online"
NONE_PRESENT = "no CPU that the intent isolates is online"


def present_isolated(view: HostView, intent: Intent) -> frozenset[int]:
    """Isolated CPUs that are online; nothing can be said of others. Raises CannotRead."""
    return intent.cpus.isolated.cpus & read_cpu_list(view, ONLINE)
