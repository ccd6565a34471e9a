"""Check 46. Fields: Kubernetes, KubeletConfiguration v1beta1."""

import json

import pytest

from plimsoll.tune.audit.checks.kubelet_config import CHECK
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

OPENSHIFTS = "/etc/kubernetes/kubelet.conf"
KUBEADMS = "/var/lib/kubelet/config.yaml"
STATE = "/var/lib/kubelet/cpu_manager_state"
INTENT = intent(platform="openshift", pool={"role": "worker"}, numa_policy="single-numa-node")
STATIC = {STATE: json.dumps({"policyName": "static", "defaultCpuSet": "0-1", "entries": {}})}
# What the operator renders for reserved CPUs 0-1 and single-numa-node, and a field of others.
CONFIGURATION = """\
kind: KubeletConfiguration
apiVersion: kubelet.config.k8s.io/v1beta1
maxPods: 250
cpuManagerPolicy: static
cpuManagerPolicyOptions:
  full-pcpus-only: "true"
cpuManagerReconcilePeriod: 5s
evictionHard:
  imagefs.available: 15%
  memory.available: 100Mi
  nodefs.available: 10%
  nodefs.inodesFree: 5%
kubeReserved: {memory: 500Mi}
systemReserved: {memory: 500Mi}
reservedSystemCPUs: "0,1"
topologyManagerPolicy: single-numa-node
memoryManagerPolicy: Static
reservedMemory:
  - numaNode: 0
    limits: {memory: 1100Mi}
"""


def test_the_operators_settings_are_ok() -> None:
    """Reserved 0,1 and 0-1 are the same CPUs."""
    assert CHECK.judge(host(CHECK, {OPENSHIFTS: CONFIGURATION} | STATIC), INTENT).verdict == "ok"


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ("Policy: static", "Policy: none", ("cpuManagerPolicy", "static")),
        ("topologyManagerPolicy: single-numa-node\n", "", ("topologyManagerPolicy",)),
        ('"0,1"', '"0"', ("reservedSystemCPUs", "0", "0-1")),
    ],
)
def test_what_differs_fails(old: str, new: str, facts: tuple[str, ...], says: Says) -> None:
    changed = CONFIGURATION.replace(old, new)
    finding = CHECK.judge(host(CHECK, {OPENSHIFTS: changed} | STATIC), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)


# The amounts of openshift-kni/telco-reference, through the annotation kubeletconfig.experimental;
# the operator reserves 11Gi + 500Mi + 100Mi = 11264Mi + 600Mi on node 0.
TELCO = CONFIGURATION.replace("systemReserved: {memory: 500Mi}", "systemReserved: {memory: 11Gi}")
TELCO = TELCO.replace("1100Mi", "11864Mi")


def test_memory_of_which_the_intent_says_nothing_is_the_nodes_to_say() -> None:
    finding = CHECK.judge(host(CHECK, {OPENSHIFTS: TELCO} | STATIC), INTENT)
    assert finding.verdict == "ok"
    assert "systemReserved: {'memory': '11Gi'}" in finding.read[0].what


def test_the_preset_passes_a_node_of_the_telco_reference() -> None:
    preset = load_preset("telco-core-rds")
    node = TELCO.replace('"0,1"', "0,1,32,33")
    assert CHECK.judge(host(CHECK, {OPENSHIFTS: node} | STATIC), preset).verdict == "ok"


TUNED_INTENT = INTENT.model_copy(
    update={
        "kubelet": {
            "systemReserved": {"memory": "11Gi"},
            "evictionHard": {"imagefs.available": "15%"},
            "allowedUnsafeSysctls": ["net.ipv6.conf.all.accept_ra"],
        }
    }
)


def test_what_the_intent_says_of_memory_is_judged_in_any_unit() -> None:
    """11Gi are 11264Mi, and what the operator adds them up to is 11864Mi."""
    sysctls = "allowedUnsafeSysctls: [net.ipv6.conf.all.accept_ra]\n"
    same = (TELCO + sysctls).replace("11Gi", "11264Mi").replace("11864Mi", f"{11864 << 20}")
    assert CHECK.judge(host(CHECK, {OPENSHIFTS: same} | STATIC), TUNED_INTENT).verdict == "ok"


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ("11Gi", "500Mi", ("systemReserved.memory", "500Mi", "11Gi")),
        ("15%", "20%", ("evictionHard.imagefs.available", "20%", "15%")),
        ("11864Mi", "1100Mi", ("reservedMemory",)),
        ("", "", ("net.ipv6.conf.all.accept_ra", "allowedUnsafeSysctls")),
    ],
)
def test_what_differs_from_the_intents_kubelet_fails(
    old: str, new: str, facts: tuple[str, ...], says: Says
) -> None:
    changed = TELCO.replace(old, new) if old else TELCO
    finding = CHECK.judge(host(CHECK, {OPENSHIFTS: changed} | STATIC), TUNED_INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)


def test_a_kubelet_that_did_not_take_the_policy_fails(says: Says) -> None:
    other = {STATE: json.dumps({"policyName": "none", "defaultCpuSet": ""})}
    finding = CHECK.judge(host(CHECK, {OPENSHIFTS: CONFIGURATION} | other), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says()


def test_kubeadms_kubeconfig_of_the_same_name_is_passed_over() -> None:
    files = {OPENSHIFTS: "apiVersion: v1\nkind: Config\n", KUBEADMS: CONFIGURATION} | STATIC
    assert CHECK.judge(host(CHECK, files), INTENT).verdict == "ok"


def test_without_a_kubelet_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, {}), intent()).verdict == "not-applicable"


def test_what_cannot_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[OPENSHIFTS]), INTENT).verdict == "unknown"
    for nonsense in ("a: [", "- 1", "kind: KubeletConfiguration\nkind: Other\n"):
        assert CHECK.judge(host(CHECK, {OPENSHIFTS: nonsense}), INTENT).verdict == "unknown"
