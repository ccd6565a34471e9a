"""A proposed intent as YAML to be read, changed and loaded again."""

from __future__ import annotations

import textwrap
from typing import Any

import yaml

from plimsoll.tune.proposal.proposal import Proposal

_WIDTH = 100
# What each field is for, where the proposal has no reason of its own for its value.
_PURPOSES = {
    "name": "Names the performance profile and all that is rendered.",
    "pool": "The nodes it is for: their role and MachineConfigPool.",
    "kernel": "Arguments come after those that the other sections imply, in this order.",
    "numa_policy": "The kubelet's topology manager: none, best-effort, restricted or "
    "single-numa-node.",
    "hints": "high_power: no deep idle states. per_pod_power: pods choose. realtime: isolated CPUs "
    "are tickless, watchdogs off.",
    "irq": "Whether device interrupts are kept off all isolated CPUs, or off those of pods that "
    "ask.",
    "user_level_networking": "Whether the queues of netdevice ports are as many as reserved CPUs.",
    "networks": "Attachments of pods: sriov, macvlan or bridge.",
    "pods": 'effects: what CRI-O\'s annotations must achieve; false is "disable".',
    "services": "true is on, false off; what is left out is neither rendered nor judged.",
    "scheduling": "Scheduler and timer settings, by sysctl.",
    "tuned": "The TuneD profile: its name, what it includes, sections of its own.",
    "kubelet": "Fields of the kubelet's configuration, such as systemReserved.",
    "cluster": "What OpenShift itself keeps off the isolated CPUs, or leaves out.",
    "bios": "What no manifest can set: a checklist, and what is read through Redfish.",
    "expected_processes": "Names of processes that belong on isolated CPUs.",
}


def intent_text(proposal: Proposal, schema: str | None = None) -> str:
    """The whole file; `load_intent` reads the same intent from it.

    `schema` is where the file's editor finds the JSON Schema: a path from the file's folder.
    """
    data = proposal.intent.model_dump(mode="json", exclude_unset=True)
    # For editors that speak to yaml-language-server; it has to be the first line.
    modeline = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    parts = [modeline + _head(proposal)]
    for field, value in data.items():
        reason = proposal.reasons.get(field) or _PURPOSES.get(field, "")
        parts.append(_comment(reason) + _yaml(field, value))
    absent = [text for field, text in proposal.reasons.items() if text and field not in data]
    parts.extend(_comment(text) for text in absent)
    return "\n".join(parts)


def _head(proposal: Proposal) -> str:
    return _comment(
        f"An intent proposed from {proposal.where} upon the preset {proposal.preset}; nothing "
        "was changed there. Read it, change what does not fit, and keep it: it is what "
        "plimsoll tune renders manifests from and audits hosts against. Every field: "
        "docs/tuning-intent.md."
    )


def _comment(text: str) -> str:
    # A capture's names may hold what ends a line, and with it a comment.
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    # A path or a list of CPUs that is broken in two cannot be searched for, nor copied.
    lines = textwrap.wrap(shown, _WIDTH - 2, break_on_hyphens=False, break_long_words=False)
    return "".join(f"# {line}\n" for line in lines)


def _yaml(field: str, value: Any) -> str:
    return yaml.safe_dump({field: value}, sort_keys=False, width=_WIDTH, allow_unicode=True)
