"""The YAML of "Build deterministic OpenShift dataplane performance with TRex", by hand.

Left out of what the article prints: `finalizers` and `generation`, which the server writes.
Added to it: what its excerpts leave out (names, the pod's memory, the attachment's namespace
and the annotation by which Multus finds the VF; the account, the user and the namespace that
the pod runs under). Not as in it: the pod's SYS_ADMIN.
"""

import json

import yaml

from tests.unit.tune.render.rendering import documents, rendered
from tests.worded.says import Says, passage

PROFILE = """
apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata:
  name: reghwol
spec:
  additionalKernelArgs:
  - nohz_full=2-39
  - nmi_watchdog=0
  - audit=0
  - processor.max_cstate=1
  - idle=poll
  - intel_idle.max_cstate=0
  - mce=off
  - tsc=reliable
  - rcu_nocb_poll
  - rcupdate.rcu_normal_after_boot=0
  cpu:
    isolated: 2-39
    reserved: 0,1
  globallyDisableIrqLoadBalancing: true
  hugepages:
    defaultHugepagesSize: 1G
    pages:
    - count: 16
      size: 1G
  kernelPageSize: 4k
  machineConfigPoolSelector:
    machineconfiguration.openshift.io/role: reghwol
  net:
    userLevelNetworking: false
  nodeSelector:
    node-role.kubernetes.io/reghwol: ""
  numa:
    topologyPolicy: single-numa-node
  realTimeKernel:
    enabled: false
  workloadHints:
    highPowerConsumption: true
    perPodPowerManagement: false
    realTime: false
"""
ATTACHMENT = """
{
  "cniVersion": "0.3.1",
  "type": "sriov",
  "resourceName": "openshift.io/intelnic_east",
  "deviceType": "vfio-pci",
  "trust": "on",
  "spoofchk": "on"
}
"""
RESOURCES = """
limits:
  cpu: "4"
  hugepages-1Gi: 4Gi
  openshift.io/intelnic_east: 1
  openshift.io/intelnic_west: 1
requests:
  cpu: "4"
  hugepages-1Gi: 4Gi
  openshift.io/intelnic_east: 1
  openshift.io/intelnic_west: 1
"""
TREX = """
-   c: 14
    interfaces:
    - 0000:87:00.0
    - 0000:87:00.1
    limit_memory: 2048
    platform:
        dual_if:
        -   socket: 1
            threads:
            - 35
            - 33
            - 31
            - 29
            - 27
            - 25
            - 23
            - 21
            - 19
            - 17
            - 15
            - 13
            - 11
            - 9
        latency_thread_id: 37
        master_thread_id: 39
    port_bandwidth_gb: 25
    port_info:
    -   default_gw: 2.2.2.2
        ip: 1.1.1.1
    -   default_gw: 1.1.1.1
        ip: 2.2.2.2
    version: 2
"""
FOUND = documents("openshift-deterministic")


def test_performance_profile() -> None:
    assert FOUND["1-node/20-performance-profile.yaml"] == yaml.safe_load(PROFILE)


def test_network_attachment() -> None:
    found = FOUND["alternatives/network-east-sriov-net.yaml"]
    assert found["apiVersion"] == "k8s.cni.cncf.io/v1"
    assert found["kind"] == "NetworkAttachmentDefinition"
    assert found["metadata"]["name"] == "east-sriov-net"
    assert json.loads(found["spec"]["config"]) == json.loads(ATTACHMENT)
    annotations = found["metadata"]["annotations"]
    assert annotations == {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/intelnic_east"}


def test_the_operators_network_is_the_same() -> None:
    found = FOUND["2-network/60-sriov-network-east-sriov-net.yaml"]
    assert found["metadata"]["namespace"] == "openshift-sriov-network-operator"
    assert found["spec"] == {
        # Ours, the intent's name: the article prints none.
        "networkNamespace": "reghwol",
        "resourceName": "intelnic_east",
        "spoofChk": "on",
        "trust": "on",
    }


def test_policy() -> None:
    # From the article's text: PFs ens7f0 and ens7f1, VFIO, jumbo frames of 9000.
    assert FOUND["2-network/50-sriov-policy-west.yaml"]["spec"] == {
        "deviceType": "vfio-pci",
        "isRdma": False,
        "mtu": 9000,
        "nicSelector": {"pfNames": ["ens7f1"]},
        "nodeSelector": {"node-role.kubernetes.io/reghwol": ""},
        "numVfs": 1,
        "resourceName": "intelnic_west",
    }


def test_pod() -> None:
    pod = FOUND["3-workload/70-pod-testpmd.yaml"]
    (container,) = pod["spec"]["containers"]
    expected = yaml.safe_load(RESOURCES)
    for side in ("limits", "requests"):
        found = {name: str(amount) for name, amount in container["resources"][side].items()}
        assert found.pop("memory") == "1000Mi"
        assert found == {name: str(amount) for name, amount in expected[side].items()}
    assert pod["spec"]["runtimeClassName"] == "performance-reghwol"
    assert pod["metadata"]["annotations"] == {
        "cpu-load-balancing.crio.io": "disable",
        "cpu-quota.crio.io": "disable",
        "irq-load-balancing.crio.io": "disable",
        "k8s.v1.cni.cncf.io/networks": "east-sriov-net,west-sriov-net",
    }


def test_the_pod_has_less_privilege_than_the_articles(says: Says) -> None:
    file = rendered("openshift-deterministic")["3-workload/70-pod-testpmd.yaml"]
    (container,) = yaml.safe_load(file.text)["spec"]["containers"]
    security = container["securityContext"]
    assert security["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    assert security["allowPrivilegeEscalation"] is False
    assert security["runAsUser"] == 0
    assert passage(file.text, "SYS_ADMIN") == says("SYS_ADMIN")


def test_trex_cfg() -> None:
    assert FOUND["generator/trex_cfg.yaml"] == yaml.safe_load(TREX)


def test_trex_command_line() -> None:
    expected = (
        "./_t-rex-64-o -i --checksum-offload --iom 0 -v 4 --prefix trafficgen_trex_ "
        "--close-at-end --cfg trex_cfg.yaml"
    )
    assert expected in rendered("openshift-deterministic")["README.md"].text


def test_bios_checklist() -> None:
    # The article's table: disabled four times, and maximum performance.
    text = rendered("openshift-deterministic")["bios-checklist.md"].text
    rows = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| ")]
    assert [(what.strip("| ")[:9], to) for what, to in rows[1:]] == [
        ("SMT (Hype", "disabled"),
        ("Turbo Boo", "disabled"),
        ("C-states ", "disabled"),
        ("PCIe ASPM", "disabled"),
        ("CPU power", "maximum performance"),
    ]


def test_machine_config_pool() -> None:
    # The article's pool, in the form of the Node Tuning Operator's own example
    # (test/e2e/performanceprofile/cluster-setup/base at commit d2394aa8), not paused.
    assert FOUND["1-node/10-machine-config-pool.yaml"] == {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {
            "name": "reghwol",
            "labels": {"machineconfiguration.openshift.io/role": "reghwol"},
        },
        "spec": {
            "machineConfigSelector": {
                "matchExpressions": [
                    {
                        "key": "machineconfiguration.openshift.io/role",
                        "operator": "In",
                        "values": ["worker", "reghwol"],
                    }
                ]
            },
            "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/reghwol": ""}},
        },
    }


def test_nothing_else_is_rendered() -> None:
    assert sorted(FOUND) == [
        "1-node/10-machine-config-pool.yaml",
        "1-node/20-performance-profile.yaml",
        "2-network/45-namespace-reghwol.yaml",
        "2-network/50-sriov-policy-east.yaml",
        "2-network/50-sriov-policy-west.yaml",
        "2-network/60-sriov-network-east-sriov-net.yaml",
        "2-network/60-sriov-network-west-sriov-net.yaml",
        "3-workload/60-service-account-reghwol.yaml",
        "3-workload/61-security-context-constraint-reghwol.yaml",
        "3-workload/62-role-reghwol.yaml",
        "3-workload/63-role-binding-reghwol.yaml",
        "3-workload/70-pod-testpmd.yaml",
        "alternatives/network-east-sriov-net.yaml",
        "alternatives/network-west-sriov-net.yaml",
        "generator/trex_cfg.yaml",
    ]
