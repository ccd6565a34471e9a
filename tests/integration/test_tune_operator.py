"""The Node Tuning Operator itself, where it is installed, against what is expected of it.

Its subcommand render makes files of a PerformanceProfile, as it does while a cluster is being
installed; nothing is contacted. Skipped where cluster-node-tuning-operator is neither on the
PATH nor in build/. TuneD, which makes one command line of the [bootloader] sections, is not
needed: the few variables in them are filled in here by hand.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tomllib
from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.expected.kernel_argument import Vendor
from plimsoll.tune.expected.kubelet import crio_workload_partitioning, kubelet_workload_partitioning
from plimsoll.tune.expected.node import expected_node
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.render.openshift.machine_config_pool import BUILT_IN, machine_config_pool
from plimsoll.tune.render.openshift.performance_profile import performance_profile
from tests.unit.tune.expected.printed_line import disagreements

NAME = "cluster-node-tuning-operator"
BUILD = Path(__file__).parents[2] / "build"
# The CPUs that are not isolated, as TuneD's functions write them: its mask and its list.
NOT_ISOLATED = {
    "openshift-deterministic": ("00000003", "0,1"),
    "openshift-sno-vdu": ("00030003", "0,1,16,17"),
    "telco-core-rds": ("00000003,00000003", "0,1,32,33"),
}
# The option of TuneD's network-latency (redhat-performance/tuned, 2.21 to 2.24).
PARENTS = "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1"
# Sections whose options come before the operator's own profile, by the processor's maker.
MAKERS: dict[Vendor, str] = {"intel": "intel-x86", "amd": "amd-x86"}
# Not set, in what the operator writes.
UNSET = (None, "", "0s", "0", 0, {}, [])


@dataclass(frozen=True)
class Rendered:
    """What the operator wrote for one profile: objects by kind, files by path, units by name."""

    objects: dict[str, Any]
    files: dict[str, str]
    units: dict[str, str]


@pytest.fixture(scope="module")
def operator() -> str:
    found = shutil.which(NAME) or shutil.which(NAME, path=str(BUILD))
    if found is None:
        pytest.skip(f"{NAME} is neither on the PATH nor in build/")
    return found


@pytest.fixture(params=sorted(NOT_ISOLATED))
def intent(request: pytest.FixtureRequest) -> Intent:
    return load_preset(request.param)


@pytest.fixture
def rendered(operator: str, intent: Intent, tmp_path: Path) -> Rendered:
    given, made = tmp_path / "given", tmp_path / "made"
    given.mkdir()
    assert intent.pool is not None
    manifests = [performance_profile(intent, intent.pool), _infrastructure(intent)]
    if intent.pool.role not in BUILT_IN:
        manifests.append(machine_config_pool(intent.pool))
    (given / "all.yaml").write_text(yaml.safe_dump_all(manifests))
    folders = ["--asset-input-dir", str(given), "--asset-output-dir", str(made)]
    command = [operator, "render", "--owner-ref", "none", *folders]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    documents = [yaml.safe_load(path.read_text()) for path in made.glob(f"{intent.name}_*.yaml")]
    objects = {document["kind"]: document for document in documents}
    ignition = objects["MachineConfig"]["spec"]["config"]
    return Rendered(
        objects,
        {each["path"]: _text(each) for each in ignition["storage"]["files"]},
        {each["name"]: each.get("contents", "") for each in ignition["systemd"]["units"]},
    )


def _infrastructure(intent: Intent) -> dict[str, Any]:
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
        "status": {
            "cpuPartitioning": "AllNodes" if intent.cluster.workload_partitioning else "None"
        },
    }


def _text(file: dict[str, Any]) -> str:
    return base64.b64decode(file["contents"]["source"].partition(",")[2]).decode()


def _sections(rendered: Rendered, name: str) -> ConfigParser:
    profiles = {each["name"]: each["data"] for each in rendered.objects["Tuned"]["spec"]["profile"]}
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(profiles[name])
    return parser


def _boot_options(rendered: Rendered, intent: Intent, preset: str, vendor: Vendor) -> str:
    base = f"openshift-node-performance-{intent.name}"
    makers = f"openshift-node-performance-{MAKERS[vendor]}-{intent.name}"
    options: dict[str, str] = {}
    for profile in (makers, base):
        options |= dict(_sections(rendered, profile)["bootloader"])
    mask, cpus = NOT_ISOLATED[preset]
    variables = {
        "${isolated_cores}": _sections(rendered, base)["variables"]["isolated_cores"],
        "${not_isolated_cpumask}": mask,
        "${not_isolated_cores_expanded}": cpus,
        "${f:intel_recommended_pstate}": "active",
    }
    texts = [text for name, text in options.items() if name.startswith("cmdline")]
    line = " ".join([PARENTS, *(text.removeprefix("+") for text in texts)])
    for variable, value in variables.items():
        line = line.replace(variable, value)
    return line


@pytest.mark.parametrize("vendor", MAKERS)
def test_kernel_arguments(
    rendered: Rendered, intent: Intent, vendor: Vendor, request: pytest.FixtureRequest
) -> None:
    preset = request.node.callspec.params["intent"]
    # The patch is ours, and not in the operator's files.
    arguments = expected_node(intent, vendor).kernel_arguments
    own = [each for each in arguments if not each.source.startswith("Tuned,")]
    assert disagreements(own, _boot_options(rendered, intent, preset, vendor)) == []


def test_kubelet(rendered: Rendered, intent: Intent) -> None:
    made = rendered.objects["KubeletConfig"]["spec"]["kubeletConfig"]
    expected = expected_node(intent).kubelet
    found = {name: made.get(name) for name in expected}
    found["reservedSystemCPUs"] = format_cpu_list(parse_cpu_list(made["reservedSystemCPUs"]))
    assert found == expected
    others = {name: _set(value) for name, value in made.items() if name not in expected}
    assert {name for name, value in others.items() if value not in UNSET} <= {"apiVersion", "kind"}


def _set(value: object) -> object:
    """Without what is not set."""
    if not isinstance(value, dict):
        return value
    kept = {name: _set(each) for name, each in value.items()}
    return {name: each for name, each in kept.items() if each not in UNSET}


def test_crio_and_the_runtime_class(rendered: Rendered, intent: Intent) -> None:
    expected = expected_node(intent).crio
    assert expected is not None
    runtime = tomllib.loads(rendered.files["/etc/crio/crio.conf.d/99-runtimes.conf"])["crio"][
        "runtime"
    ]
    assert runtime["infra_ctr_cpuset"] == expected.infra_ctr_cpuset
    handler = runtime["runtimes"][expected.runtime_handler]
    assert tuple(handler["allowed_annotations"]) == expected.allowed_annotations
    made = rendered.objects["RuntimeClass"]
    assert (made["metadata"]["name"], made["handler"]) == (
        expected.runtime_class,
        expected.runtime_handler,
    )


def test_hugepages_on_nodes(rendered: Rendered, intent: Intent) -> None:
    made = {name: text for name, text in rendered.units.items() if name.startswith("hugepages-")}
    expected = {each.operator_unit: each for each in expected_node(intent).node_pages}
    assert made.keys() == expected.keys()
    for name, pages in expected.items():
        assert f"Environment=HUGEPAGES_COUNT={pages.count}\n" in made[name]


def test_workload_partitioning(rendered: Rendered, intent: Intent) -> None:
    crio = rendered.files.get("/etc/crio/crio.conf.d/99-workload-pinning.conf")
    kubelet = rendered.files.get("/etc/kubernetes/openshift-workload-pinning")
    if not intent.cluster.workload_partitioning:
        assert (crio, kubelet) == (None, None)
        return
    assert tomllib.loads(crio or "") == tomllib.loads(crio_workload_partitioning(intent))
    assert json.loads(kubelet or "") == json.loads(kubelet_workload_partitioning(intent))


def test_sysctls_and_services(rendered: Rendered, intent: Intent) -> None:
    sections = _sections(rendered, f"openshift-node-performance-{intent.name}")
    # Without the intent's own, which are the patch's.
    bare = intent.model_copy(
        update={"services": type(intent.services)(), "scheduling": type(intent.scheduling)()}
    )
    expected = expected_node(bare)
    made = {name: value for name, value in sections["sysctl"].items() if name in expected.sysctls}
    assert made.items() <= expected.sysctls.items()
    services = {
        name.removeprefix("service."): value == "start,enable"
        for name, value in sections["service"].items()
    }
    assert services.items() <= expected.units.items()
    assert expected.units.keys() - services.keys() <= {"fwupd-refresh.timer"}
