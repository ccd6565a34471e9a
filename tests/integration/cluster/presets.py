"""What is in a cluster that a preset is for: as applied by a user, and as others act on it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import yaml

from tests.integration.cluster.change import Manifest
from tests.unit.tune.render.example_intents import manifests

DETERMINISTIC, VDU, TELCO = "openshift-deterministic", "openshift-sno-vdu", "telco-core-rds"
PRESETS = (DETERMINISTIC, VDU, TELCO)
ALL_CHECKS = range(101, 119)
# Which checks have nothing to judge of a preset, and why.
NOT_APPLICABLE = {
    # Neither services nor sysctls; nothing of the cluster's own services.
    DETERMINISTIC: {106, 111},
    # No nic, so no policy, no state and no network, which the pod could join.
    VDU: {108, 109, 110, 116},
    TELCO: {106, 111},
}
_WRITTEN = Path(__file__).parent / "written"


def rendered(intent: str) -> list[Manifest]:
    """What a user applies: not the alternatives, and pods last."""
    found = [
        deepcopy(each)
        for path, each in manifests(intent).items()
        if not path.startswith("alternat")
    ]
    return sorted(found, key=lambda each: bool(each["kind"] == "Pod"))


def written(intent: str) -> list[Manifest]:
    """What operators, daemons and kubelets would write."""
    return list(yaml.safe_load_all((_WRITTEN / f"{intent}.yaml").read_text()))


def as_intended(intent: str) -> list[Manifest]:
    """Everything, in an order that the server takes; the pods run, as a kubelet would say."""
    applied = rendered(intent)
    pods = [each for each in applied if each["kind"] == "Pod"]
    running = [
        {field: each[field] for field in ("apiVersion", "kind", "metadata")}
        | {"status": {"phase": "Running"}}
        for each in pods
    ]
    others = [each for each in applied if each["kind"] != "Pod"]
    return [*others, *written(intent), *pods, *running]


def verdicts_when_all_acted(intent: str) -> dict[int, str]:
    """Everything that applies is ok."""
    return {
        number: "not-applicable" if number in NOT_APPLICABLE[intent] else "ok"
        for number in ALL_CHECKS
    }
