"""Fields of the profile that the articles' do not have."""

import json
from typing import Any

from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents


def spec(**sections: Any) -> dict[str, Any]:
    found = documents(intent_with(POOL, **sections))["1-node/20-performance-profile.yaml"]["spec"]
    assert isinstance(found, dict)
    return found


def test_what_the_intent_does_not_say_is_left_to_the_operator() -> None:
    assert spec() == {
        "cpu": {"isolated": "1-3", "reserved": "0"},
        "nodeSelector": {"node-role.kubernetes.io/worker-cnf": ""},
        "realTimeKernel": {"enabled": False},
    }


def test_isolation_and_offlined_cpus() -> None:
    cpus = {"reserved": 0, "isolated": "1-2", "offlined": 3, "balance_isolated": False}
    assert spec(cpus=cpus)["cpu"] == {
        "balanceIsolated": False,
        "isolated": "1-2",
        "offlined": "3",
        "reserved": "0",
    }


def test_page_size_and_single_hints() -> None:
    found = spec(kernel={"page_size": "4k"}, hints={"high_power": True})
    assert found["kernelPageSize"] == "4k"
    assert found["workloadHints"] == {"highPowerConsumption": True}


def test_a_role_that_the_nodes_label_does_not_tell_is_reported() -> None:
    selector = {"machineconfiguration.openshift.io/role": "worker-cnf"}
    pool = {"role": "worker-cnf", "selector": selector, "node_selector": {"example.com/x": "y"}}
    found = spec(pool=pool)
    assert found["machineConfigLabel"] == {"machineconfiguration.openshift.io/role": "worker-cnf"}
    assert found["nodeSelector"] == {"example.com/x": "y"}


def test_the_kubelets_fields_are_the_annotation_that_the_operator_reads() -> None:
    kubelet = {"systemReserved": {"memory": "11Gi"}, "allowedUnsafeSysctls": ["net.ipv6.x"]}
    found = documents(intent_with(POOL, kubelet=kubelet))["1-node/20-performance-profile.yaml"]
    (annotation,) = found["metadata"]["annotations"].items()
    assert annotation[0] == "kubeletconfig.experimental"
    assert json.loads(annotation[1]) == kubelet
