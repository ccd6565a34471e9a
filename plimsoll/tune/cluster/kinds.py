"""The kinds of object that an audit of a cluster reads, and nothing else.

Groups, versions and plurals as in the CRDs of openshift/cluster-node-tuning-operator at commit
d2394aa8, openshift/api (machineconfiguration/v1, operator/v1, security/v1) and
k8snetworkplumbingwg/sriov-network-operator at commit 249e2001.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.tune.render.openshift.namespace import ROLE as DATAPLANE_ROLE
from plimsoll.tune.render.openshift.pod import SERVICE_ACCOUNT


@dataclass(frozen=True, slots=True)
class Kind:
    """`group` is empty for Kubernetes' first API.

    With `namespace`, and with `only`, only the objects there and of that name are requested.
    """

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool = False
    namespace: str | None = None
    only: str | None = None

    @property
    def resource(self) -> str:
        """As kubectl takes it: performanceprofiles.performance.openshift.io."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """As objects have it: performance.openshift.io/v2."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """The path under which an API server lists the objects."""
        root = f"/apis/{self.group}" if self.group else "/api"
        place = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"{root}/{self.version}{place}/{self.plural}"


_MACHINE = "machineconfiguration.openshift.io"
_SRIOV = "sriovnetwork.openshift.io"
_OPERATOR = "operator.openshift.io"
_RBAC = "rbac.authorization.k8s.io"

PERFORMANCE_PROFILE = Kind(
    "PerformanceProfile", "performance.openshift.io", "v2", "performanceprofiles"
)
TUNED = Kind("Tuned", "tuned.openshift.io", "v1", "tuneds", namespaced=True)
PROFILE = Kind("Profile", "tuned.openshift.io", "v1", "profiles", namespaced=True)
MACHINE_CONFIG_POOL = Kind("MachineConfigPool", _MACHINE, "v1", "machineconfigpools")
MACHINE_CONFIG = Kind("MachineConfig", _MACHINE, "v1", "machineconfigs")
KUBELET_CONFIG = Kind("KubeletConfig", _MACHINE, "v1", "kubeletconfigs")
RUNTIME_CLASS = Kind("RuntimeClass", "node.k8s.io", "v1", "runtimeclasses")
SRIOV_NODE_STATE = Kind(
    "SriovNetworkNodeState", _SRIOV, "v1", "sriovnetworknodestates", namespaced=True
)
SRIOV_POLICY = Kind(
    "SriovNetworkNodePolicy", _SRIOV, "v1", "sriovnetworknodepolicies", namespaced=True
)
SRIOV_NETWORK = Kind("SriovNetwork", _SRIOV, "v1", "sriovnetworks", namespaced=True)
NETWORK_ATTACHMENT = Kind(
    "NetworkAttachmentDefinition",
    "k8s.cni.cncf.io",
    "v1",
    "network-attachment-definitions",
    namespaced=True,
)
NODE = Kind("Node", "", "v1", "nodes")
POD = Kind("Pod", "", "v1", "pods", namespaced=True)
# One object by its name: ConfigMaps in general may hold anything.
MONITORING_CONFIG = Kind(
    "ConfigMap",
    "",
    "v1",
    "configmaps",
    namespaced=True,
    namespace="openshift-monitoring",
    only="cluster-monitoring-config",
)
CLUSTER_NETWORK = Kind("Network", _OPERATOR, "v1", "networks")
CONSOLE = Kind("Console", _OPERATOR, "v1", "consoles")
NAMESPACE = Kind("Namespace", "", "v1", "namespaces")
SECURITY_CONSTRAINT = Kind(
    "SecurityContextConstraints", "security.openshift.io", "v1", "securitycontextconstraints"
)
# Who may do what elsewhere in the cluster does not concern an audit.
SERVICE_ACCOUNT_OF_PODS = Kind(
    "ServiceAccount", "", "v1", "serviceaccounts", namespaced=True, only=SERVICE_ACCOUNT
)
ROLE = Kind("Role", _RBAC, "v1", "roles", namespaced=True, only=DATAPLANE_ROLE)
ROLE_BINDING = Kind(
    "RoleBinding", _RBAC, "v1", "rolebindings", namespaced=True, only=DATAPLANE_ROLE
)

ALL_KINDS = (
    PERFORMANCE_PROFILE,
    TUNED,
    PROFILE,
    MACHINE_CONFIG_POOL,
    MACHINE_CONFIG,
    KUBELET_CONFIG,
    RUNTIME_CLASS,
    SRIOV_NODE_STATE,
    SRIOV_POLICY,
    SRIOV_NETWORK,
    NETWORK_ATTACHMENT,
    NODE,
    POD,
    MONITORING_CONFIG,
    CLUSTER_NETWORK,
    CONSOLE,
    NAMESPACE,
    SECURITY_CONSTRAINT,
    SERVICE_ACCOUNT_OF_PODS,
    ROLE,
    ROLE_BINDING,
)
