"""A small cluster that is as its intent wants it, written by hand, and what a test changes.

Shapes as in the API's own types: openshift/api machineconfiguration/v1 and operator/v1,
openshift/cluster-node-tuning-operator, k8snetworkplumbingwg/sriov-network-operator, Kubernetes v1.
"""

import copy
from collections.abc import Iterable
from typing import Any

import yaml

from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.host.view.unread import Unread, UnreadCause
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, name_of, namespace_of

INTENT = """
name: fast
platform: openshift
pool:
  role: dataplane
cpus: {reserved: "0,1", isolated: 2-7, smt: enabled}
hugepages:
  default_size: 1G
  pages: [{size: 1G, count: 4}]
kernel: {realtime: false, arguments: [audit=0]}
numa_policy: single-numa-node
hints: {high_power: on}
nics:
  - {name: east, pf_names: [ens1f0], num_vfs: 2, driver: vfio-pci, mtu: 9000,
     trust: on, resource_name: east, link_speed_gbps: 25}
networks:
  - {kind: sriov, name: east-net, nic: east, namespace: cnf}
pods:
  - name: testpmd
    namespace: cnf
    cpus: 4
    memory: 1000Mi
    hugepages: {size: 1G, total: 2Gi}
    networks: [east-net]
    effects: {cpu_quota: off, irq_load_balancing: off}
services: {chronyd: off}
cluster:
  reduced_monitoring: {alertmanager: off}
  network_diagnostics: off
  console: off
"""

OBJECTS = """
apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata: {name: fast, uid: 0c1d, finalizers: [foreground-deletion]}
spec:
  additionalKernelArgs: [audit=0]
  cpu: {isolated: 2-7, reserved: 0-1}
  hugepages:
    defaultHugepagesSize: 1G
    pages: [{count: 4, size: 1G}]
  nodeSelector: {node-role.kubernetes.io/dataplane: ""}
  numa: {topologyPolicy: single-numa-node}
  workloadHints: {highPowerConsumption: true}
status:
  conditions:
    - {type: Available, status: "True"}
    - {type: Degraded, status: "False"}
  runtimeClass: performance-fast
---
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata:
  name: dataplane
  labels: {machineconfiguration.openshift.io/role: dataplane}
spec:
  machineConfigSelector:
    matchExpressions:
      - {key: machineconfiguration.openshift.io/role, operator: In, values: [worker, dataplane]}
  nodeSelector:
    matchLabels: {node-role.kubernetes.io/dataplane: ""}
  paused: false
status:
  machineCount: 1
  readyMachineCount: 1
  updatedMachineCount: 1
  conditions:
    - {type: Updated, status: "True"}
    - {type: Degraded, status: "False"}
  configuration:
    name: rendered-dataplane-5f1
    source:
      - {kind: MachineConfig, name: 00-worker}
      - {kind: MachineConfig, name: 50-performance-fast}
---
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-performance-fast}
spec: {kernelType: default}
---
apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata: {name: performance-fast}
spec:
  kubeletConfig:
    cpuManagerPolicy: static
    cpuManagerPolicyOptions: {full-pcpus-only: "true"}
    memoryManagerPolicy: Static
    reservedSystemCPUs: 0-1
    topologyManagerPolicy: single-numa-node
  machineConfigPoolSelector:
    matchLabels: {machineconfiguration.openshift.io/role: dataplane}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: performance-fast}
handler: high-performance
---
apiVersion: tuned.openshift.io/v1
kind: Tuned
metadata: {name: performance-patch, namespace: openshift-cluster-node-tuning-operator}
spec:
  profile:
    - name: performance-patch
      data: |
        [main]
        summary=Written by another author
        include = openshift-node-performance-fast
        [service]
        service.chronyd=stop,disable
  recommend:
    - machineConfigLabels: {machineconfiguration.openshift.io/role: dataplane}
      priority: 19
      profile: performance-patch
---
apiVersion: tuned.openshift.io/v1
kind: Profile
metadata: {name: w0, namespace: openshift-cluster-node-tuning-operator}
spec: {config: {tunedProfile: performance-patch}}
status:
  tunedProfile: performance-patch
  conditions:
    - {type: Applied, status: "True"}
    - {type: Degraded, status: "False"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: east, namespace: openshift-sriov-network-operator}
spec:
  deviceType: vfio-pci
  mtu: 9000
  nicSelector: {pfNames: [ens1f0]}
  nodeSelector: {node-role.kubernetes.io/dataplane: ""}
  numVfs: 2
  priority: 99
  resourceName: east
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: w0, namespace: openshift-sriov-network-operator}
status:
  syncStatus: Succeeded
  interfaces:
    - {name: eno1, pciAddress: "0000:01:00.0", linkSpeed: 1000 Mb/s}
    - name: ens1f0
      pciAddress: "0000:87:00.0"
      linkSpeed: 25000 Mb/s
      mtu: 9000
      numVfs: 2
      Vfs:
        - {vfID: 0, driver: vfio-pci, pciAddress: "0000:87:02.0"}
        - {vfID: 1, driver: vfio-pci, pciAddress: "0000:87:02.1"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: east-net, namespace: openshift-sriov-network-operator}
spec: {networkNamespace: cnf, resourceName: east, trust: "on"}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: east-net
  namespace: cnf
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/east}
spec:
  config: '{"cniVersion":"1.0.0", "name":"east-net", "type":"sriov", "vlan":0, "trust":"on"}'
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-monitoring-config, namespace: openshift-monitoring}
data:
  config.yaml: |
    # what we keep
    alertmanagerMain: {enabled: false}
    prometheusK8s: {retention: 15d}
---
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec: {disableNetworkDiagnostics: true, managementState: Managed}
---
apiVersion: operator.openshift.io/v1
kind: Console
metadata: {name: cluster}
spec: {managementState: Removed}
---
apiVersion: v1
kind: Node
metadata: {name: w0, labels: {node-role.kubernetes.io/dataplane: ""}}
spec: {}
status:
  capacity: {cpu: "8", hugepages-1Gi: 4Gi, openshift.io/east: "2"}
  allocatable: {cpu: "6", hugepages-1Gi: 4Gi, openshift.io/east: "2"}
  conditions: [{type: Ready, status: "True"}]
  nodeInfo: {kernelVersion: 5.14.0-427.el9.x86_64}
---
apiVersion: v1
kind: Namespace
metadata:
  name: cnf
  labels: {kubernetes.io/metadata.name: cnf, pod-security.kubernetes.io/enforce: privileged}
  annotations: {openshift.io/sa.scc.mcs: "s0:c26,c20"}
spec: {finalizers: [kubernetes]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: dataplane, namespace: cnf}
automountServiceAccountToken: false
imagePullSecrets: [{name: dataplane-dockercfg-x7p2q}]
---
apiVersion: security.openshift.io/v1
kind: SecurityContextConstraints
metadata: {name: cnf-dataplane}
allowHostDirVolumePlugin: false
allowHostIPC: false
allowHostNetwork: false
allowHostPID: false
allowHostPorts: false
allowPrivilegeEscalation: false
allowPrivilegedContainer: false
allowedCapabilities: [IPC_LOCK]
defaultAddCapabilities: null
fsGroup: {type: MustRunAs}
priority: null
readOnlyRootFilesystem: false
requiredDropCapabilities: [ALL]
runAsUser: {type: MustRunAs, uid: 0}
seLinuxContext: {type: MustRunAs}
seccompProfiles: [runtime/default]
supplementalGroups: {type: RunAsAny}
volumes: [emptyDir, downwardAPI]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: use-dataplane-constraint, namespace: cnf}
rules:
  - apiGroups: [security.openshift.io]
    resources: [securitycontextconstraints]
    resourceNames: [cnf-dataplane]
    verbs: [use]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: use-dataplane-constraint, namespace: cnf}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: use-dataplane-constraint}
subjects: [{kind: ServiceAccount, name: dataplane, namespace: cnf}]
---
apiVersion: v1
kind: Pod
metadata:
  name: testpmd
  namespace: cnf
  annotations:
    cpu-quota.crio.io: disable
    irq-load-balancing.crio.io: disable
    k8s.v1.cni.cncf.io/networks: '[{"name": "east-net"}]'
spec:
  nodeName: w0
  runtimeClassName: performance-fast
  containers:
    - name: dpdk
      image: quay.io/ours/testpmd:1
      resources:
        requests: {cpu: 4000m, memory: 1000Mi, hugepages-1Gi: 2048Mi, openshift.io/east: "1"}
        limits: {cpu: "4", memory: 1000Mi, hugepages-1Gi: 2Gi, openshift.io/east: "1"}
status: {phase: Running, qosClass: Guaranteed}
"""


def intent(**sections: Any) -> Intent:
    """The intent of the cluster, with the sections that a test replaces; None takes one out."""
    given = yaml.safe_load(INTENT) | sections
    return Intent.model_validate(
        {name: value for name, value in given.items() if value is not None}
    )


def objects() -> list[dict[str, Any]]:
    """Every object of the cluster, anew."""
    return list(yaml.safe_load_all(OBJECTS))


class SmallCluster(ClusterView):
    """Objects in memory; `refused` kinds (by plural) cannot be listed, for the cause given."""

    where = "a small cluster"

    def __init__(
        self, given: Iterable[dict[str, Any]], refused: dict[str, UnreadCause] | None = None
    ) -> None:
        self.given = list(given)
        self.refused = refused or {}

    def listed(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...] | Unread:
        if kind.plural in self.refused:
            return Unread(kind.resource, self.refused[kind.plural])
        return tuple(
            each
            for each in self.given
            if each["kind"] == kind.name
            and each["apiVersion"] == kind.api_version
            and namespace in (None, namespace_of(each))
        )


def cluster(*changes: tuple[str, str, Any], without: Iterable[str] = ()) -> SmallCluster:
    """The cluster with fields set: (kind, dotted path, value), where numbers are places in lists.

    A value of None takes the field out. `without` are kinds of which there are no objects.
    """
    given = [each for each in objects() if each["kind"] not in set(without)]
    for kind, path, value in changes:
        (changed,) = [each for each in given if each["kind"] == kind]
        _set(changed, path.split("/"), value)
    return SmallCluster(given)


def with_another(kind: str, name: str, **fields: Any) -> SmallCluster:
    """The cluster with one more object: a copy of the one of `kind`, its `fields` replaced."""
    given = objects()
    (model,) = [each for each in given if each["kind"] == kind]
    more = copy.deepcopy(model) | fields
    more["metadata"] = model["metadata"] | more["metadata"] | {"name": name}
    return SmallCluster([*given, more])


def named(given: Iterable[KubeObject]) -> list[str]:
    """The objects' names."""
    return [name_of(each) for each in given]


def _set(holder: Any, path: list[str], value: Any) -> None:
    for part in path[:-1]:
        holder = holder[int(part)] if isinstance(holder, list) else holder.setdefault(part, {})
    last: Any = int(path[-1]) if isinstance(holder, list) else path[-1]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
