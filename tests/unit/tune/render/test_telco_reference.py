"""What the telco reference configurations set, said by intents.

Facts of openshift-kni/telco-reference at commit 6fdaa259, by object and field: telco-core/
configuration/reference-crs and telco-ran/configuration/source-crs. What stands there for a site
to fill in has values of ours. docs/tuning-intent.md has what cannot be said.
"""

import json
from typing import Any

from tests.unit.tune.intent_documents import intent_with
from tests.unit.tune.render.rendering import documents, tuned_sections

PROFILE = "1-node/20-performance-profile.yaml"
PATCH = "1-node/21-tuned-patch.yaml"
POLICY = "2-network/50-sriov-policy-{}.yaml"
NETWORK = "2-network/60-sriov-network-{}.yaml"
RESERVE = {"systemReserved": {"memory": "11Gi"}}
BY_POD = {"high_power": False, "per_pod_power": True, "realtime": False}
WAVE = {"ran.openshift.io/ztp-deploy-wave": "10"}
RAN_PROFILE = WAVE | {"ran.openshift.io/reference-configuration": "ran-du.redhat.com"}


def pool(role: str) -> dict[str, Any]:
    return {
        "role": role,
        "selector": {f"pools.operator.machineconfiguration.openshift.io/{role}": ""},
        "node_selector": {f"node-role.kubernetes.io/{role}": ""},
    }


def core(name: str, role: str, **sections: Any) -> dict[str, Any]:
    return {
        "name": name,
        "platform": "openshift",
        "pool": pool(role),
        "kernel": {"arguments": ["module_blacklist=irdma"]},
        "irq": {"globally_disable_balancing": False},
        "hints": BY_POD,
        "numa_policy": "single-numa-node",
        "kubelet": RESERVE,
        **sections,
    }


CONTROL_PLANE = core(
    "control-plane-profile",
    "master",
    cpus={"reserved": "0-7,36-43", "isolated": "8-35,44-71"},
    user_level_networking=True,
)
WORKER = core(
    "worker-profile-1",
    "worker",
    cpus={"reserved": "0,18,36,54", "isolated": "1-17,19-35,37-53,55-71"},
    hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 64}]},
    user_level_networking=False,
    kubelet=RESERVE | {"allowedUnsafeSysctls": ["net.ipv6.conf.all.accept_ra"]},
    scheduling={"sysctls": {"kernel.panic_on_unrecovered_nmi": "1"}},
    tuned={"name": "worker-profile-1", "object": "telco-core-performance", "priority": 18},
)
RAN = {
    "name": "openshift-node-performance-profile",
    "platform": "openshift",
    "pool": pool("master"),
    "cpus": {"reserved": "0-1,32-33", "isolated": "2-31,34-63"},
    "hugepages": {"default_size": "1G", "pages": [{"size": "1G", "count": 32, "node": 0}]},
    "kernel": {
        "realtime": True,
        "arguments": ["vfio_pci.enable_sriov=1", "vfio_pci.disable_idle_d3=1"],
        "tuned_bootloader": {
            "cmdline_ran_rcu": "rcupdate.rcu_normal_after_boot=0",
            "cmdline_ran_efi": "efi=runtime",
            "cmdline_x86_blacklist": "module_blacklist=irdma,mgag200",
            "cmdline_x86_iavf": "rd.driver.pre=iavf",
        },
    },
    "hints": {"high_power": False, "per_pod_power": False, "realtime": True},
    "numa_policy": "restricted",
    "kubelet": RESERVE,
    "services": {"chronyd": False, "stalld": True},
    "scheduling": {"sysctls": {"kernel.panic_on_unrecovered_nmi": "1"}},
    "tuned": {
        "name": "ran-du-performance",
        "priority": 18,
        "sections": {
            "scheduler": {
                "group.ice-ptp": "0:f:10:*:ice-ptp.*",
                "group.ice-gnss": "0:f:10:*:ice-gnss.*",
                "group.ice-dplls": "0:f:10:*:ice-dplls.*",
            }
        },
    },
    "nics": [
        {
            "name": "fronthaul",
            "pf_names": ["ens1f0"],
            "num_vfs": 8,
            "driver": "vfio-pci",
            "rdma": False,
            "priority": 10,
            "resource_name": "fronthaul",
        }
    ],
    "networks": [{"kind": "sriov", "name": "fh", "nic": "fronthaul"}],
    "namespace": "openshift-sriov-network-operator",
    "annotations": {
        "PerformanceProfile": RAN_PROFILE,
        "Tuned": WAVE,
        "SriovNetworkNodePolicy": {"ran.openshift.io/ztp-deploy-wave": "100"},
        "SriovNetwork": {"ran.openshift.io/ztp-deploy-wave": "100"},
    },
}
RAN_ARM = {
    "name": "openshift-node-performance-profile",
    "platform": "openshift",
    "pool": pool("master"),
    "cpus": {
        "reserved": "0-3",
        "isolated": "4-71",
        "max_frequency": {"isolated_khz": 3000000, "reserved_khz": 2500000},
    },
    "hugepages": {"default_size": "512M", "pages": [{"size": "512M", "count": 16, "node": 0}]},
    "kernel": {
        "realtime": False,
        "page_size": "64k",
        "arguments": [
            "acpi_power_meter.force_cap_on=y",
            "console=ttyAMA0,115200n8",
            "earlycon",
            "module_blacklist=nouveau",
            "pci=pcie_bus_safe",
        ],
    },
    "hints": {"high_power": False, "per_pod_power": False, "realtime": True},
    "numa_policy": "none",
    "user_level_networking": True,
    "net_devices": [{"interface": "eth0"}],
    "kubelet": RESERVE,
    "annotations": {"PerformanceProfile": RAN_PROFILE},
}


def found(intent: dict[str, Any]) -> dict[str, Any]:
    return documents(intent_with(intent))


def kubelet_of(profile: dict[str, Any]) -> Any:
    return json.loads(profile["metadata"]["annotations"]["kubeletconfig.experimental"])


def test_core_control_plane() -> None:
    profile = found(CONTROL_PLANE)[PROFILE]
    assert kubelet_of(profile) == {"systemReserved": {"memory": "11Gi"}}
    assert profile["spec"] == {
        "additionalKernelArgs": ["module_blacklist=irdma"],
        "cpu": {"isolated": "8-35,44-71", "reserved": "0-7,36-43"},
        "globallyDisableIrqLoadBalancing": False,
        "machineConfigPoolSelector": {
            "pools.operator.machineconfiguration.openshift.io/master": "",
        },
        "net": {"userLevelNetworking": True},
        "nodeSelector": {"node-role.kubernetes.io/master": ""},
        "numa": {"topologyPolicy": "single-numa-node"},
        "realTimeKernel": {"enabled": False},
        "workloadHints": {
            "highPowerConsumption": False,
            "perPodPowerManagement": True,
            "realTime": False,
        },
    }


def test_core_worker() -> None:
    profile = found(WORKER)[PROFILE]
    assert kubelet_of(profile) == {
        "systemReserved": {"memory": "11Gi"},
        "allowedUnsafeSysctls": ["net.ipv6.conf.all.accept_ra"],
    }
    assert profile["spec"]["hugepages"] == {
        "defaultHugepagesSize": "1G",
        "pages": [{"count": 64, "size": "1G"}],
    }
    assert profile["spec"]["net"] == {"userLevelNetworking": False}


def test_core_tuned_patch() -> None:
    tuned = found(WORKER)[PATCH]
    assert tuned["metadata"]["name"] == "telco-core-performance"
    (profile,) = tuned["spec"]["profile"]
    sections = tuned_sections(profile["data"])
    del sections["main"]["summary"]
    assert (profile["name"], sections) == (
        "worker-profile-1",
        {
            "main": {"include": "openshift-node-performance-worker-profile-1"},
            "sysctl": {"kernel.panic_on_unrecovered_nmi": "1"},
        },
    )
    assert tuned["spec"]["recommend"] == [
        {
            "machineConfigLabels": {"machineconfiguration.openshift.io/role": "worker"},
            "priority": 18,
            "profile": "worker-profile-1",
        }
    ]


def test_pools_of_one_cluster_have_no_object_in_common() -> None:
    """But for its namespaces and roles, which are of the intent's own name."""
    second = WORKER | {
        "name": "worker-profile-2",
        "pool": pool("worker-2"),
        "tuned": WORKER["tuned"] | {"name": "worker-profile-2", "object": "telco-core-2"},
    }
    kinds = [
        {
            (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"])
            for each in found(intent).values()
        }
        for intent in (CONTROL_PLANE, WORKER, second)
    ]
    assert sum(map(len, kinds)) == len(set().union(*kinds))


def test_core_sriov() -> None:
    card = {
        "name": "core",
        "pf_names": ["ens8f0np0"],
        "pci": ["0000:d8:00.0"],
        "vendor": "8086",
        "device_id": "1593",
        "vf_range": "0-9",
        "num_vfs": 20,
        "driver": "netdevice",
        "priority": 99,
        "exclude_topology": True,
        "resource_name": "resourceTest",
        "node_selector": {"kubernetes.io/hostname": "host.sample.lab"},
    }
    network = {
        "kind": "sriov",
        "name": "sriov-network",
        "nic": "core",
        "namespace": "cni-test",
        "capabilities": {"mac": True, "ips": True},
        "ipam": {"type": "host-local", "range": "10.3.38.0/24"},
    }
    made = found(WORKER | {"nics": [card], "networks": [network]})
    assert made[POLICY.format("core")]["spec"] == {
        "deviceType": "netdevice",
        "excludeTopology": True,
        "isRdma": False,
        "nicSelector": {
            "deviceID": "1593",
            "pfNames": ["ens8f0np0#0-9"],
            "rootDevices": ["0000:d8:00.0"],
            "vendor": "8086",
        },
        "nodeSelector": {"kubernetes.io/hostname": "host.sample.lab"},
        "numVfs": 20,
        "priority": 99,
        "resourceName": "resourceTest",
    }
    spec = made[NETWORK.format("sriov-network")]["spec"]
    assert json.loads(spec.pop("capabilities")) == {"mac": True, "ips": True}
    assert json.loads(spec.pop("ipam")) == {"type": "host-local", "subnet": "10.3.38.0/24"}
    assert spec == {"networkNamespace": "cni-test", "resourceName": "resourceTest"}


def test_ran_profile() -> None:
    profile = found(RAN)[PROFILE]
    assert kubelet_of(profile) == {"systemReserved": {"memory": "11Gi"}}
    assert {
        name: value
        for name, value in profile["metadata"]["annotations"].items()
        if name.startswith("ran.openshift.io/")
    } == RAN_PROFILE
    spec = profile["spec"]
    assert spec["additionalKernelArgs"] == [
        "vfio_pci.enable_sriov=1",
        "vfio_pci.disable_idle_d3=1",
    ]
    assert spec["realTimeKernel"] == {"enabled": True}
    assert spec["numa"] == {"topologyPolicy": "restricted"}
    assert spec["hugepages"]["pages"] == [{"count": 32, "node": 0, "size": "1G"}]
    assert spec["workloadHints"] == {
        "highPowerConsumption": False,
        "perPodPowerManagement": False,
        "realTime": True,
    }
    assert "net" not in spec


def test_ran_profile_of_arm() -> None:
    spec = found(RAN_ARM)[PROFILE]["spec"]
    assert spec["additionalKernelArgs"] == RAN_ARM["kernel"]["arguments"]  # type: ignore[index]
    assert spec["kernelPageSize"] == "64k"
    assert spec["numa"] == {"topologyPolicy": "none"}
    assert spec["hugepages"] == {
        "defaultHugepagesSize": "512M",
        "pages": [{"count": 16, "node": 0, "size": "512M"}],
    }
    assert spec["hardwareTuning"] == {"isolatedCpuFreq": 3000000, "reservedCpuFreq": 2500000}
    assert spec["net"] == {"userLevelNetworking": True, "devices": [{"interfaceName": "eth0"}]}


def test_ran_tuned_patch() -> None:
    tuned = found(RAN)[PATCH]
    assert tuned["metadata"]["annotations"] == WAVE
    (profile,) = tuned["spec"]["profile"]
    sections = tuned_sections(profile["data"])
    del sections["main"]["summary"]
    base = "openshift-node-performance-openshift-node-performance-profile"
    assert (profile["name"], sections) == (
        "ran-du-performance",
        {
            "main": {"include": base},
            "service": {"service.chronyd": "stop,disable", "service.stalld": "start,enable"},
            "bootloader": {
                "cmdline_ran_rcu": "rcupdate.rcu_normal_after_boot=0",
                "cmdline_ran_efi": "efi=runtime",
                "cmdline_x86_blacklist": "module_blacklist=irdma,mgag200",
                "cmdline_x86_iavf": "rd.driver.pre=iavf",
            },
            "scheduler": {
                "group.ice-ptp": "0:f:10:*:ice-ptp.*",
                "group.ice-gnss": "0:f:10:*:ice-gnss.*",
                "group.ice-dplls": "0:f:10:*:ice-dplls.*",
            },
            "sysctl": {"kernel.panic_on_unrecovered_nmi": "1"},
        },
    )
    (recommend,) = tuned["spec"]["recommend"]
    assert recommend["priority"] == 18


def test_ran_power_saving() -> None:
    """A patch upon the patch: the one that a node gets is that of the lowest priority."""
    variable = "${cpufreq_max_perf_percent}"
    power = RAN | {
        "scheduling": {},
        "services": {},
        "kernel": {
            "realtime": True,
            "tuned_bootloader": {"cmdline_add": "cpufreq.default_governor=${cpufreq_governor}"},
        },
        "tuned": {
            "name": "power-saving-performance-patch",
            "priority": 15,
            "include": ["ran-du-performance"],
            "sections": {
                "variables": {"cpufreq_max_perf_percent": "80", "cpufreq_governor": "schedutil"},
                "sysfs": {"/sys/devices/system/cpu/intel_pstate/max_perf_pct": variable},
            },
        },
    }
    tuned = found(power)[PATCH]
    sections = tuned_sections(tuned["spec"]["profile"][0]["data"])
    assert list(sections)[:2] == ["main", "variables"]
    assert sections["main"]["include"] == "ran-du-performance"
    assert sections["variables"] == {
        "cpufreq_max_perf_percent": "80",
        "cpufreq_governor": "schedutil",
    }
    assert sections["bootloader"] == {
        "cmdline_add": "cpufreq.default_governor=${cpufreq_governor}",
    }
    assert sections["sysfs"] == {"/sys/devices/system/cpu/intel_pstate/max_perf_pct": variable}
    assert tuned["spec"]["recommend"][0]["priority"] == 15


def test_ran_sriov() -> None:
    made = found(RAN)
    policy, network = made[POLICY.format("fronthaul")], made[NETWORK.format("fh")]
    for each in (policy, network):
        assert each["metadata"]["annotations"] == {"ran.openshift.io/ztp-deploy-wave": "100"}
    assert policy["spec"] == {
        "deviceType": "vfio-pci",
        "isRdma": False,
        "nicSelector": {"pfNames": ["ens1f0"]},
        "nodeSelector": {"node-role.kubernetes.io/master": ""},
        "numVfs": 8,
        "priority": 10,
        "resourceName": "fronthaul",
    }
    assert network["spec"]["networkNamespace"] == "openshift-sriov-network-operator"


def test_every_option_of_a_ran_network() -> None:
    options = {
        "link_state": "enable",
        "min_tx_rate_mbps": 100,
        "max_tx_rate_mbps": 1000,
        "vlan_qos": 3,
        "capabilities": {"mac": True},
    }
    (network,) = RAN["networks"]  # type: ignore[misc]
    (card,) = RAN["nics"]  # type: ignore[misc]
    more = {"vlan": 100, "trust": True, "spoofchk": False, "link_type": "eth", "vhost_net": True}
    made = found(RAN | {"networks": [network | options], "nics": [card | more]})  # type: ignore[operator]
    spec = made[NETWORK.format("fh")]["spec"]
    assert json.loads(spec.pop("capabilities")) == {"mac": True}
    assert spec == {
        "linkState": "enable",
        "maxTxRate": 1000,
        "minTxRate": 100,
        "networkNamespace": "openshift-sriov-network-operator",
        "resourceName": "fronthaul",
        "spoofChk": "off",
        "trust": "on",
        "vlan": 100,
        "vlanQoS": 3,
    }
    policy = made[POLICY.format("fronthaul")]["spec"]
    assert (policy["linkType"], policy["needVhostNet"]) == ("eth", True)
    config = json.loads(made["alternatives/network-fh.yaml"]["spec"]["config"])
    assert (config["link_state"], config["min_tx_rate"], config["max_tx_rate"]) == (
        "enable",
        100,
        1000,
    )
    assert (config["vlanQoS"], config["capabilities"]) == (3, {"mac": True})


def test_shared_cpus() -> None:
    cpus = {"reserved": "0-1", "isolated": "4-7", "shared": "2-3"}
    spec = found(CONTROL_PLANE | {"cpus": cpus, "hints": BY_POD | {"mixed_cpus": True}})[PROFILE][
        "spec"
    ]
    assert spec["cpu"] == {"isolated": "4-7", "reserved": "0-1", "shared": "2-3"}
    assert spec["workloadHints"]["mixedCpus"] is True
