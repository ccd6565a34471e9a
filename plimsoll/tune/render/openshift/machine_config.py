"""MachineConfigs: files and systemd units that OpenShift puts on every node of a pool."""

from __future__ import annotations

import base64
from typing import Any

from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.render.files.manifest import Manifest, manifest_of

# What the Machine Config Operator of OpenShift 4.6 and later reads.
_IGNITION = "3.2.0"


def machine_config(
    name: str,
    pool: Pool,
    files: list[dict[str, Any]],
    units: list[dict[str, Any]] | None = None,
) -> Manifest:
    """A MachineConfig for the nodes of `pool`."""
    config: dict[str, Any] = {"ignition": {"version": _IGNITION}, "storage": {"files": files}}
    if units:
        config["systemd"] = {"units": units}
    return manifest_of(
        "machineconfiguration.openshift.io/v1",
        "MachineConfig",
        name,
        labels=pool.machine_config_labels,
        spec={"config": config},
    )


def ignition_file(path: str, text: str, mode: int = 0o644) -> dict[str, Any]:
    """A file of Ignition: its text in base64, `mode` as the decimal number JSON has."""
    body = base64.b64encode(text.encode()).decode()
    return {
        "contents": {"source": f"data:text/plain;charset=utf-8;base64,{body}"},
        "mode": mode,
        "overwrite": True,
        "path": path,
        "user": {"name": "root"},
    }
