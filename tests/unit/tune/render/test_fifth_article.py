"""The PerformanceProfile of the article on the Telco Core reference's performance, by hand."""

import yaml

from tests.unit.tune.render.rendering import documents

# The article prints it without indentation.
PROFILE = """
apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata:
  name: customcnf
spec:
  cpu:
    isolated: 2-31,34-63
    reserved: 0,32,1,33
  globallyDisableIrqLoadBalancing: false
  hugepages:
    defaultHugepagesSize: 1G
    pages:
    - count: 160
      node: 0
      size: 1G
    - count: 6
      node: 1
      size: 1G
  machineConfigPoolSelector:
    pools.operator.machineconfiguration.openshift.io/worker: ""
  nodeSelector:
    node-role.kubernetes.io/worker: ""
  numa:
    topologyPolicy: single-numa-node
  realTimeKernel:
    enabled: false
  workloadHints:
    highPowerConsumption: false
    perPodPowerManagement: true
    realTime: false
  net:
    userLevelNetworking: false
"""
FOUND = documents("telco-core-rds")


def test_performance_profile() -> None:
    assert FOUND["1-node/20-performance-profile.yaml"] == yaml.safe_load(PROFILE)


def test_dpdk_pod() -> None:
    # "These DPDK pods request 16GB hugepages ... two requested cores ... 1x OVN and 2x SRIOV".
    pod = FOUND["3-workload/70-pod-dpdk.yaml"]
    (container,) = pod["spec"]["containers"]
    limits = container["resources"]["limits"]
    assert (limits["cpu"], limits["hugepages-1Gi"], limits["openshift.io/dpdk"]) == (
        "2",
        "16Gi",
        "2",
    )
    assert container["resources"]["requests"] == limits
    assert pod["spec"]["nodeSelector"] == {"node-role.kubernetes.io/worker-dpdk": ""}


def test_ids_of_cards_stay_text() -> None:
    selector = FOUND["2-network/50-sriov-policy-dpdk.yaml"]["spec"]["nicSelector"]
    assert selector == {"vendor": "8086", "deviceID": "158b"}
