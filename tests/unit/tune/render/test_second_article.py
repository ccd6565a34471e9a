"""The YAML of "DPDK latency in OpenShift - Part II", by hand.

Not as in it: the summary of its TuneD profile (its own words), and the MachineConfig of the
kubelet's housekeeping, which also brings a mount namespace and two scripts of another project;
ours has the same intervals, and OpenShift its own namespace since 4.12.
"""

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.tune.render.openshift.kubelet_config import START_COMMAND_SCRIPT
from tests.unit.tune.render.rendering import documents, tuned_sections

PROFILE = """
apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata:
  name: performance-worker-pao-sno
spec:
  additionalKernelArgs:
  - nohz_full=2-15,18-31
  - idle=poll
  - rcu_nocb_poll
  - nmi_watchdog=0
  - audit=0
  - mce=off
  - processor.max_cstate=1
  - intel_idle.max_cstate=0
  - rcutree.kthread_prio=11
  - rcupdate.rcu_normal_after_boot=0
  cpu:
    isolated: "2-15,18-31"
    reserved: "0-1,16-17"
  globallyDisableIrqLoadBalancing: true
  net:
    userLevelNetworking: true
  hugepages:
    defaultHugepagesSize: "1G"
    pages:
    - size: "1G"
      count: 20
  realTimeKernel:
    enabled: true
  numa:
    topologyPolicy: "single-numa-node"
  nodeSelector:
    node-role.kubernetes.io/master: ""
"""
PARTITIONING = """
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: master
  name: 02-master-workload-partitioning
spec:
  config:
    ignition:
      version: 3.2.0
    storage:
      files:
      - contents:
          source: data:text/plain;charset=utf-8;base64,W2NyaW8ucnVudGltZS53b3JrbG9hZHMubWFuYWdlbWVudF0KYWN0aXZhdGlvbl9hbm5vdGF0aW9uID0gInRhcmdldC53b3JrbG9hZC5vcGVuc2hpZnQuaW8vbWFuYWdlbWVudCIKYW5ub3RhdGlvbl9wcmVmaXggPSAicmVzb3VyY2VzLndvcmtsb2FkLm9wZW5zaGlmdC5pbyIKcmVzb3VyY2VzID0geyAiY3B1c2hhcmVzIiA9IDAsICJjcHVzZXQiID0gIjAtMSwxNi0xNyIgfQoK
        mode: 420
        overwrite: true
        path: /etc/crio/crio.conf.d/01-workload-partitioning
        user:
          name: root
      - contents:
          source: data:text/plain;charset=utf-8;base64,ewogICJtYW5hZ2VtZW50IjogewogICAgImNwdXNldCI6ICIwLTEsMTYtMTciCiAgfQp9Cg==
        mode: 420
        overwrite: true
        path: /etc/kubernetes/openshift-workload-pinning
        user:
          name: root
"""  # noqa: E501
TUNED_SECTIONS = {
    "main": {"include": "openshift-node-performance-performance-worker-pao-sno"},
    "bootloader": {"cmdline_crash": "nohz_full=2-15,18-31"},
    "sysctl": {"kernel.timer_migration": "1"},
    "service": {"service.stalld": "start,enable", "service.chronyd": "stop,disable"},
}
KUBELET_CONFIG = """
apiVersion: machineconfiguration.openshift.io/v1
kind: KubeletConfig
metadata:
  name: cpumanager-enabled
spec:
  machineConfigPoolSelector:
    matchLabels:
      custom-kubelet: cpumanager-enabled
  kubeletConfig:
     cpuManagerPolicy: static
     cpuManagerReconcilePeriod: 5s
"""
MONITORING = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-monitoring-config
  namespace: openshift-monitoring
data:
  config.yaml: |
    grafana:
      enabled: false
    alertmanagerMain:
      enabled: false
    prometheusK8s:
      retention: 24h
"""
NETWORK = """
apiVersion: operator.openshift.io/v1
kind: Network
metadata:
  name: cluster
spec:
  disableNetworkDiagnostics: true
"""
CONSOLE = """
apiVersion: operator.openshift.io/v1
kind: Console
metadata:
  annotations:
    include.release.openshift.io/ibm-cloud-managed: "false"
    include.release.openshift.io/self-managed-high-availability: "false"
    include.release.openshift.io/single-node-developer: "false"
    release.openshift.io/create-only: "true"
  name: cluster
spec:
  logLevel: Normal
  managementState: Removed
  operatorLogLevel: Normal
"""
FOUND = documents("openshift-sno-vdu")


@pytest.mark.parametrize(
    ("path", "article"),
    [
        ("1-node/20-performance-profile.yaml", PROFILE),
        ("1-node/30-machine-config-workload-partitioning.yaml", PARTITIONING),
        ("1-node/41-network-diagnostics.yaml", NETWORK),
        ("1-node/42-console.yaml", CONSOLE),
        ("alternatives/kubelet-config.yaml", KUBELET_CONFIG),
    ],
)
def test_equal_to_the_articles(path: str, article: str) -> None:
    assert FOUND[path] == yaml.safe_load(article)


def test_monitoring() -> None:
    found, article = FOUND["1-node/40-cluster-monitoring.yaml"], yaml.safe_load(MONITORING)
    assert yaml.safe_load(found["data"].pop("config.yaml")) == yaml.safe_load(
        article["data"].pop("config.yaml")
    )
    assert found == article


def test_tuned_patch() -> None:
    found = FOUND["1-node/21-tuned-patch.yaml"]
    assert found["metadata"] == {
        "name": "performance-patch",
        "namespace": "openshift-cluster-node-tuning-operator",
    }
    (profile,) = found["spec"]["profile"]
    assert profile["name"] == "performance-patch"
    sections = tuned_sections(profile["data"])
    assert sections["main"].pop("summary")
    assert sections == TUNED_SECTIONS
    assert found["spec"]["recommend"] == [
        {
            "machineConfigLabels": {"machineconfiguration.openshift.io/role": "master"},
            "priority": 19,
            "profile": "performance-patch",
        }
    ]


def test_pod() -> None:
    pod = FOUND["3-workload/70-pod-testpmd.yaml"]
    assert pod["metadata"]["annotations"] == {
        "cpu-load-balancing.crio.io": "disable",
        "cpu-quota.crio.io": "disable",
    }
    (container,) = pod["spec"]["containers"]
    expected = {"cpu": "14", "memory": "1000Mi", "hugepages-1Gi": "12Gi"}
    assert container["resources"] == {"limits": expected, "requests": expected}


def test_masters_have_a_pool_already() -> None:
    assert not any("machine-config-pool" in path for path in FOUND)


def housekeeping_dropins() -> dict[str, str]:
    config = FOUND["1-node/31-machine-config-kubelet-housekeeping.yaml"]["spec"]["config"]
    (unit,) = config["systemd"]["units"]
    assert unit["name"] == "kubelet.service"
    return {dropin["name"]: dropin["contents"] for dropin in unit["dropins"]}


def test_housekeeping_has_the_articles_intervals() -> None:
    dropins = housekeeping_dropins()
    assert "--housekeeping-interval=30s" in dropins["20-kubelet-housekeeping.conf"]
    assert dropins["30-kubelet-interval-tuning.conf"].splitlines() == [
        "[Service]",
        'Environment="OPENSHIFT_MAX_HOUSEKEEPING_INTERVAL_DURATION=60s"',
        'Environment="OPENSHIFT_EVICTION_MONITORING_PERIOD_DURATION=30s"',
    ]


def housekeeping_script() -> dict[str, Any]:
    config = FOUND["1-node/31-machine-config-kubelet-housekeeping.yaml"]["spec"]["config"]
    (file,) = config["storage"]["files"]
    assert isinstance(file, dict)
    return file


def test_the_script_is_what_the_dropin_starts() -> None:
    file = housekeeping_script()
    body = file["contents"]["source"].partition("base64,")[2]
    assert base64.b64decode(body).decode() == START_COMMAND_SCRIPT
    assert file["mode"] == 0o755
    starts = f"ExecStartPre={file['path']} /run/kubelet-start-command.env"
    assert starts in housekeeping_dropins()["20-kubelet-housekeeping.conf"]


# In the manner of the Machine Config Operator's unit, of which nothing else matters here.
UNIT = r"""[Service]
ExecStartPre=/bin/true
Environment="A=B"
ExecStart=/usr/local/bin/kubenswrapper \
    /usr/bin/kubelet \
      --config=/etc/kubernetes/kubelet.conf \
      --node-labels=a/b,os_id=${ID},${LABELS} \
      --v=${KUBELET_LOG_LEVEL}

Restart=always
ExecStart=/bin/second
"""


def start_command(tmp_path: Path, unit: str) -> tuple[int, str]:
    script, unit_file, result = (tmp_path / name for name in ("script", "unit", "env"))
    script.write_text(START_COMMAND_SCRIPT)
    unit_file.write_text(unit)
    ended = subprocess.run(["bash", script, result, unit_file], check=False, capture_output=True)
    return ended.returncode, result.read_text() if result.exists() else ""


def test_the_script_reads_a_command_of_several_lines(tmp_path: Path) -> None:
    assert start_command(tmp_path, UNIT) == (
        0,
        "KUBELET_START_COMMAND=/usr/local/bin/kubenswrapper /usr/bin/kubelet "
        "--config=/etc/kubernetes/kubelet.conf --node-labels=a/b,os_id=${ID},${LABELS} "
        "--v=${KUBELET_LOG_LEVEL}\n",
    )


def test_the_script_reads_a_command_of_one_line(tmp_path: Path) -> None:
    found = start_command(tmp_path, "[Service]\nExecStart=/bin/kubelet --v=2\nRestart=no\n")
    assert found == (0, "KUBELET_START_COMMAND=/bin/kubelet --v=2\n")


def test_the_script_fails_where_there_is_no_command(tmp_path: Path) -> None:
    assert start_command(tmp_path, "[Service]\nType=notify\n") == (1, "")
