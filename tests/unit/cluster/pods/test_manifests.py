"""The objects of a run, against what Kubernetes' documentation says of guaranteed pods."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.cluster.pods.manifests import (
    ObservedNode,
    dut_pods,
    observer_pod,
    observers_access,
    owner_manifest,
    run_pod,
)
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.errors import InputError
from tests.worded.says import Says

OWNER = {"metadata": {"name": "plimsoll-0123456789", "uid": "1f2e"}}
NAME, RUN = "plimsoll-0123456789", "20260101T000000-demo"
EXPERIMENT = """\
name: demo
lab: {kind: testpmd-memif, cpu: 1}
generator: {cpus: [0]}
profile: {streams: [{name: load, role: load, frame_size: 64}]}
search: {minimum: 100kpps, maximum: 1Mpps}
"""
INTENT = """
tuning:
  name: lab
  platform: openshift
  pool: {role: worker}
  cpus: {reserved: 0-1, isolated: 2-31}
  hugepages: {default_size: 1G, pages: [{size: 1G, count: 16}]}
  nics:
    - {name: tester, pf_names: [ens1f0], num_vfs: 4, driver: vfio-pci,
       resource_name: tester}
  networks: [{name: wire, kind: sriov, nic: tester}]
  pods:
    - {name: trafficgen, role: generator, cpus: 6, memory: 4Gi, hugepages: {size: 1G, total: 4Gi},
       networks: [wire], image: registry.lab/plimsoll, node_selector: {testbed: a}}
    - {name: testpmd, role: dut, cpus: 4, memory: 1Gi, hugepages: {size: 1G, total: 2Gi},
       networks: [wire], image: registry.lab/testpmd,
       command: [dpdk-testpmd, --, --forward-mode=mac]}
    - {name: idle, role: dut, cpus: 2, memory: 1Gi, image: registry.lab/testpmd}
"""


def experiment(folder: Path, more: str = "") -> Experiment:
    path = folder / "demo.yaml"
    path.write_text(EXPERIMENT + more)
    return load_experiment(path)


def the_pod(folder: Path, more: str = "", *, hugepages: bool = False) -> dict[str, Any]:
    plan = plan_pods(experiment(folder, more), "registry.lab/chosen", hugepages=hugepages)
    return run_pod(NAME, RUN, plan, OWNER)


def test_it_is_guaranteed_with_a_cpu_for_each_loop_and_one_more(tmp_path: Path) -> None:
    pod = the_pod(tmp_path)
    runner, keeper = pod["spec"]["containers"]
    assert runner["resources"]["requests"]["cpu"] == "3"
    # The class is the pod's: each container's limits equal its requests.
    for container in (runner, keeper):
        resources = container["resources"]
        assert resources["limits"] == resources["requests"]
        assert {"cpu", "memory"} <= resources["limits"].keys()
    assert (runner["image"], keeper["image"]) == ("registry.lab/chosen", "registry.lab/chosen")


def test_it_may_do_nothing_beyond_what_it_needs(tmp_path: Path) -> None:
    pod = the_pod(tmp_path)
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccountName"} & pod["spec"].keys()
    for container in pod["spec"]["containers"]:
        security = container["securityContext"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
        # As whom, the image says, or OpenShift's restricted-v2, which refuses what a pod names.
        assert security["runAsNonRoot"]
        assert "runAsUser" not in security
        assert "ports" not in container
    kinds = {key for volume in pod["spec"]["volumes"] for key in volume.keys() - {"name"}}
    assert kinds == {"emptyDir", "configMap"}


def test_it_goes_with_its_owner_and_is_found_by_its_labels(tmp_path: Path) -> None:
    owner = owner_manifest(NAME, RUN, "name: demo\n")
    assert owner["data"] == {"experiment.yaml": "name: demo\n"}
    pod = the_pod(tmp_path)
    for each in (owner, pod):
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/managed-by"] == "plimsoll"
        assert labels["plimsoll/run"] == NAME
        assert each["metadata"]["annotations"]["plimsoll/run-id"] == RUN
        assert "namespace" not in each["metadata"]
    (reference,) = pod["metadata"]["ownerReferences"]
    assert (reference["kind"], reference["uid"]) == ("ConfigMap", "1f2e")
    assert pod["spec"]["activeDeadlineSeconds"] > 0


def test_hugepages_are_requested_where_the_experiment_requires_them(tmp_path: Path) -> None:
    assert "hugepages" not in {v["name"] for v in the_pod(tmp_path)["spec"]["volumes"]}
    pod = the_pod(tmp_path, hugepages=True)
    limits = pod["spec"]["containers"][0]["resources"]["limits"]
    assert int(limits["hugepages-2Mi"].removesuffix("Mi")) % 2 == 0
    assert {"name": "hugepages", "emptyDir": {"medium": "HugePages-2Mi"}} in pod["spec"]["volumes"]


def test_an_intents_generator_pod_is_the_one_that_runs(tmp_path: Path) -> None:
    pod = the_pod(tmp_path, INTENT)
    runner, keeper = pod["spec"]["containers"]
    assert runner["resources"]["limits"] == {
        "cpu": "6",
        "memory": "4Gi",
        "hugepages-1Gi": "4Gi",
        "openshift.io/tester": "1",
    }
    assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == "wire"
    assert pod["spec"]["nodeSelector"] == {"testbed": "a"}
    assert pod["spec"]["runtimeClassName"] == "performance-lab"
    # A VF through VFIO pins memory, which takes root with that one capability.
    assert runner["securityContext"]["capabilities"] == {"add": ["IPC_LOCK"], "drop": ["ALL"]}
    assert runner["securityContext"]["runAsUser"] == 0
    assert keeper["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_an_intents_duts_are_deployed_where_they_have_a_command(tmp_path: Path) -> None:
    plan = plan_pods(experiment(tmp_path, INTENT), None, hugepages=False)
    assert plan.image == "registry.lab/plimsoll"
    (dut,) = dut_pods(NAME, RUN, plan, OWNER)
    assert dut["metadata"]["name"] == f"{NAME}-testpmd"
    assert dut["metadata"]["ownerReferences"][0]["uid"] == "1f2e"
    assert dut["spec"]["containers"][0]["command"][0] == "dpdk-testpmd"


def test_an_observer_is_on_the_duts_node_and_may_do_nothing(tmp_path: Path) -> None:
    plan = plan_pods(experiment(tmp_path, INTENT), None, hugepages=False)
    (dut,) = dut_pods(NAME, RUN, plan, OWNER)
    observer = observer_pod(NAME, RUN, plan, plan.duts[0], OWNER)
    (term,) = observer["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"].items() <= dut["metadata"]["labels"].items()
    (container,) = observer["spec"]["containers"]
    assert container["image"] == plan.image
    # Of the node's CPUs it gets none to itself, and so none of those under test.
    assert container["resources"]["requests"]["cpu"].endswith("m")
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert observer["spec"]["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "volumes"} & observer["spec"].keys()
    assert observer["metadata"]["ownerReferences"][0]["uid"] == "1f2e"


def test_the_run_may_start_commands_in_its_observers_and_nothing_else(tmp_path: Path) -> None:
    without_cards = INTENT.replace("       networks: [wire], ", "       ")
    plan = plan_pods(experiment(tmp_path, without_cards), None, hugepages=False)
    observer = observer_pod(NAME, RUN, plan, plan.duts[0], OWNER)
    account, role, binding = observers_access(NAME, RUN, plan, OWNER)
    (rule,) = role["rules"]
    assert (rule["apiGroups"], rule["resources"]) == ([""], ["pods/exec"])
    assert rule["resourceNames"] == [observer["metadata"]["name"]]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": account["metadata"]["name"]}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    node = ObservedNode("worker-2", "kube:///bench/observer", (2, 3))
    pod = run_pod(NAME, RUN, plan, OWNER, [node])
    assert pod["spec"]["serviceAccountName"] == account["metadata"]["name"]
    assert pod["spec"]["automountServiceAccountToken"] is True


def test_the_account_that_cards_take_stays_and_has_the_observers_added(tmp_path: Path) -> None:
    """OpenShift admits root and IPC_LOCK by the account's security context constraint."""
    plan = plan_pods(experiment(tmp_path, INTENT), None, hugepages=False)
    role, binding = observers_access(NAME, RUN, plan, OWNER)
    before = run_pod(NAME, RUN, plan, OWNER)["spec"]["serviceAccountName"]
    observed = [ObservedNode("worker-2", "kube:///bench/observer", ())]
    after = run_pod(NAME, RUN, plan, OWNER, observed)["spec"]["serviceAccountName"]
    assert (role["kind"], binding["kind"]) == ("Role", "RoleBinding")
    assert before == after == binding["subjects"][0]["name"] != NAME


def test_without_an_image_nothing_is_deployed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no image") as refused:
        plan_pods(experiment(tmp_path), None, hugepages=False)
    assert "PLIMSOLL_IMAGE" in refused.value.remedy


def test_two_generators_are_one_too_many(tmp_path: Path, says: Says) -> None:
    second = INTENT.rstrip().rsplit("\n", 1)[0] + (
        "\n    - {name: second, role: generator, cpus: 2, memory: 1Gi}\n"
    )
    with pytest.raises(InputError) as caught:
        plan_pods(experiment(tmp_path, second), "x", hugepages=False)
    assert caught.value == says("2", "role", "generator")
