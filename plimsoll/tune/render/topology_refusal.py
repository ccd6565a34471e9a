"""The rules that a profile's own operator cannot check, on the host it is for."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.tune.fit.topology import ports_of, read_topology
from plimsoll.tune.fit.topology_rules import check_topology
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.proposal.surveyed_ports import ports_in_use
from plimsoll.tune.render.files.refusal import Mistake, refuse


def check_on_host(intent: Intent, view: HostView) -> tuple[str, ...]:
    """The warnings, as lines.

    Raises InputError with all the rules that the intent breaks on this host, and MachineError
    where its CPUs cannot be read.
    """
    topology = read_topology(view.read, ports_of(intent), view.link)
    found = check_topology(intent, replace(topology, in_use=ports_in_use(view)))
    broken = [
        Mistake(each.field, each.text, each.remedy) for each in found if each.severity == "fail"
    ]
    refuse(broken, f"{intent.name} on {view.where}")
    return tuple(
        f"{each.field}: {each.text} ({each.remedy})" for each in found if each.severity == "warn"
    )
