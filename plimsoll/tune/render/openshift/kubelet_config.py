"""The KubeletConfig: the CPU manager, for pools that no performance profile tunes.

As in the article "DPDK latency in OpenShift - Part II". Several KubeletConfigs of one pool are
not merged, and the one made last counts (openshift/openshift-docs, pull request 118856), so
next to a performance profile, of which the operator makes one, this is an alternative.

The kubelet's housekeeping, less often: it walks all control groups each time. Intervals as in the
article "DPDK latency in OpenShift - Part II". Two of them are environment variables; the third is
a flag, which a drop-in can add only by repeating the whole command, so a script reads that from
the unit on the node. The article's mount namespace is not in it: OpenShift has had one of its own
since 4.12, kubens.service, a Technology Preview (openshift/machine-config-operator at commit
7ff337a4, templates/common/_base/units).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.intent.cluster import CpuManager, KubeletHousekeeping, Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)
from plimsoll.tune.render.openshift.machine_config_pool import ignition_file, machine_config

_NAME = "cpumanager-enabled"


def render_kubelet_config(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """Only where the intent asks for the CPU manager by itself."""
    if intent.cluster.cpu_manager is None:
        return
    yield RenderedFile(
        "alternatives/kubelet-config.yaml",
        manifest_text(kubelet_config(intent.cluster.cpu_manager)),
        does="The kubelet's CPU manager for a pool **without** the performance profile, which sets "
        "it itself. Of two for one pool the one made last counts: the topology policy and the "
        "reserved CPUs would be lost. Select the pool with "
        f"`oc label machineconfigpool {pool.role} custom-kubelet={_NAME}`.",
        undo=f"`oc delete kubeletconfig {_NAME}`",
        notes=("Not for a pool that a performance profile tunes: see README.md.",),
    )


def kubelet_config(cpu_manager: CpuManager) -> Manifest:
    """The object, for the pools labelled custom-kubelet=cpumanager-enabled."""
    kubelet: dict[str, str] = {"cpuManagerPolicy": cpu_manager.policy}
    if cpu_manager.reconcile_period_s is not None:
        kubelet["cpuManagerReconcilePeriod"] = f"{cpu_manager.reconcile_period_s}s"
    return manifest_of(
        "machineconfiguration.openshift.io/v1",
        "KubeletConfig",
        _NAME,
        spec={
            "machineConfigPoolSelector": {"matchLabels": {"custom-kubelet": _NAME}},
            "kubeletConfig": kubelet,
        },
    )


_SCRIPT_PATH = "/usr/local/bin/kubelet-start-command"
_ENVIRONMENT = "/run/kubelet-start-command.env"

START_COMMAND_SCRIPT = """\
#!/bin/bash
# Writes to FILE, for EnvironmentFile=, the command that a unit's own ExecStart= runs:
#   kubelet-start-command FILE [UNIT-FILE]
# A drop-in replaces ExecStart= and cannot add to it, so it has to know what it replaces.
set -euo pipefail

unit_file=${2:-$(systemctl show --property=FragmentPath --value kubelet.service)}
command=$(awk '
    !found && sub(/^ExecStart=/, "") { found = 1 }
    found {
        continued = sub(/\\\\$/, "")
        command = command " " $0
        if (!continued) exit
    }
    END { $0 = command; $1 = $1; print }
' "$unit_file")
[[ -n $command ]] || { echo "no ExecStart in $unit_file" >&2; exit 1; }
printf 'KUBELET_START_COMMAND=%s\\n' "$command" > "$1"
"""


def render_kubelet_housekeeping(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """Only where the intent has intervals."""
    housekeeping = intent.cluster.kubelet_housekeeping
    if housekeeping is None:
        return
    yield RenderedFile(
        "1-node/31-machine-config-kubelet-housekeeping.yaml",
        manifest_text(kubelet_housekeeping(housekeeping, pool)),
        does=f"Has the kubelet look around every {housekeeping.interval_s} s instead of every "
        "10 s. For a mount namespace of the kubelet's and CRI-O's own enable the node's "
        "kubens.service: OpenShift 4.12 and later have it, as a Technology Preview.",
        undo=f"`oc delete machineconfig {housekeeping_name(pool)}`; the nodes restart.",
    )


def kubelet_housekeeping(housekeeping: KubeletHousekeeping, pool: Pool) -> Manifest:
    """The MachineConfig: the script, and the drop-ins of kubelet.service."""
    dropins = [{"name": "20-kubelet-housekeeping.conf", "contents": _command(housekeeping)}]
    if variables := _variables(housekeeping):
        dropins.append(
            {"name": "30-kubelet-interval-tuning.conf", "contents": f"[Service]\n{variables}"}
        )
    return machine_config(
        housekeeping_name(pool),
        pool,
        [ignition_file(_SCRIPT_PATH, START_COMMAND_SCRIPT, 0o755)],
        [{"name": "kubelet.service", "dropins": dropins}],
    )


def housekeeping_name(pool: Pool) -> str:
    """The MachineConfig's name."""
    return f"99-{pool.role}-kubelet-housekeeping"


def _command(housekeeping: KubeletHousekeeping) -> str:
    # systemd puts the unit's command in, and the shell the variables that are in it.
    flag = f"--housekeeping-interval={housekeeping.interval_s}s"
    return (
        "[Service]\n"
        f"ExecStartPre={_SCRIPT_PATH} {_ENVIRONMENT}\n"
        f"EnvironmentFile=-{_ENVIRONMENT}\n"
        "ExecStart=\n"
        f'ExecStart=/bin/bash -c "exec ${{KUBELET_START_COMMAND}} {flag}"\n'
    )


def _variables(housekeeping: KubeletHousekeeping) -> str:
    values = {
        "OPENSHIFT_MAX_HOUSEKEEPING_INTERVAL_DURATION": housekeeping.max_interval_s,
        "OPENSHIFT_EVICTION_MONITORING_PERIOD_DURATION": housekeeping.eviction_monitoring_period_s,
    }
    return "".join(
        f'Environment="{name}={value}s"\n' for name, value in values.items() if value is not None
    )
