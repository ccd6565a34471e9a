"""What captures leave out, and that they are judged as their hosts all the same.

Names of arguments: dracut.cmdline(7), systemd(1), coreos-installer; values are made up.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cli.tune.capture import needed_files
from plimsoll.tune.audit.audit import Audit, audit
from plimsoll.tune.audit.checks.kernel_arguments import CHECK as KERNEL_ARGUMENTS
from plimsoll.tune.expected.kernel_argument import Vendor
from plimsoll.tune.expected.kubelet import expected_kubelet
from plimsoll.tune.expected.node import expected_arguments
from plimsoll.tune.host.boot.kernel_command_line import KNOWN_ARGUMENTS, PATH, KernelCommandLine
from plimsoll.tune.host.boot.kubelet import FIELDS
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.capture_privacy import is_private, kept_text
from plimsoll.tune.host.capture.collect import collect
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.load import load_preset, preset_names
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CPUINFO, INTEL
from tests.worded.says import Says

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
CAPTURES = sorted((Path(__file__).parents[2] / "captures").glob("*.tar.gz"))
KUBELET = "/var/lib/kubelet/config.yaml"
DROP_IN = "/etc/systemd/system/irqbalance.service.d/50.conf"


@pytest.mark.parametrize(
    "path",
    [
        "/proc/1/environ",
        "/proc/4711/cmdline",
        "/proc/4711/task/4712/cmdline",
        "/proc/keys",
        "/proc/4711/fd/3",
        "/etc/shadow",
        "/etc/fstab",
        "/etc/kubernetes/kubeconfig",
        "/root/.ssh/id_ed25519",
        "/home/me/notes",
        "/redfish/bios.json",
    ],
)
def test_private_paths(path: str) -> None:
    assert is_private(path)


@pytest.mark.parametrize("path", ["/proc/cmdline", "/proc/1/status", "/proc/1/comm", KUBELET])
def test_other_paths(path: str) -> None:
    assert not is_private(path)


def test_no_check_asks_for_a_private_path() -> None:
    requested = needed_files()
    assert [path for path in requested.files if is_private(path.replace("[0-9]*", "0"))] == []


def shown(line: str) -> str:
    return kept_text(PATH, line)


@pytest.mark.parametrize(
    "word",
    [
        "rd.luks.key=/hunter2:UUID=7",
        "rd.iscsi.password=hunter2",
        "netroot=iscsi:me:hunter2@10.0.0.1::3260:1:iqn.x",
        "systemd.set_credential=root.password:hunter2",
        "systemd.setenv=TOKEN=hunter2",
        "cifsroot=//h/s,username=u,password=hunter2",
        "nfsroot=10.0.0.1:/r,sec=sys,pass=hunter2",
        "inst.ks=https://example.org/ks.cfg?token=hunter2",
        "inst.ks=https://me:hunter2@example.org/ks.cfg",
        "coreos.inst.ignition_url=https://x/y?X-Amz-Signature=hunter2",
        "wifi.psk=hunter2",
        "apikey=hunter2",
        "BMC_PW=hunter2",
        "sshpwd=hunter2",
        '"vendor.secret=hunter2 hunter2"',
    ],
)
def test_of_arguments_that_no_one_knows_the_name_alone_stays(word: str) -> None:
    name = word.partition("=")[0].strip('"')
    assert shown(f"ro {word} isolcpus=2-3") == f"ro {name}=<hidden> isolcpus=2-3"


@pytest.mark.parametrize(
    "rest",
    ["'hunter2", "hunter2'", "https://me:hunter2@x/y?a=b", "hunter2=", "7hunter2=8", "-- hunter2"],
)
def test_what_looks_like_no_argument_goes_altogether(rest: str) -> None:
    """The kernel knows no single quotes: the second half of a password may stand alone."""
    assert "hunter2" not in shown(f"ro {rest}")


def test_what_tunes_stays() -> None:
    line = "ro iommu.passthrough=1 nohz_full=2-3 vfio_pci.ids=8086:1572 rcu_nocb_poll idle=poll"
    assert shown(line) == line
    # The kernel takes "-" in a name for "_", and quotes for none of a value.
    spelled = shown('"isolcpus=managed_irq,2-3" rcu-nocbs=2')
    assert spelled == "isolcpus=managed_irq,2-3 rcu_nocbs=2"


@given(st.text(st.characters(blacklist_categories=["C"]), max_size=80))
def test_hiding_twice_changes_nothing_more(text: str) -> None:
    once = shown(text)
    assert shown(once) == once


def test_all_arguments_that_presets_imply_are_known() -> None:
    for name in preset_names():
        for vendor in get_args(Vendor):
            implied = {each.name for each in expected_arguments(load_preset(name), vendor)}
            assert implied <= KNOWN_ARGUMENTS


def test_an_argument_that_a_capture_hides_is_unknown_and_not_missing(says: Says) -> None:
    requested = intent(kernel={"arguments": ["vendor.tuning=1", "skew_tick=1"]})
    files = {PATH: shown("vendor.tuning=1 skew_tick=1"), CPUINFO: INTEL}
    finding = KERNEL_ARGUMENTS.judge(CapturedHost(files=files), requested)
    assert finding.verdict == "unknown"
    assert finding.text == says("vendor.tuning")
    # What the line cannot have named is missing in a capture too.
    files = {PATH: shown("skew_tick=1"), CPUINFO: INTEL}
    assert KERNEL_ARGUMENTS.judge(CapturedHost(files=files), requested).verdict == "fail"
    # And what is known to be wrong is no less so next to it.
    files = {PATH: shown("vendor.tuning=1 skew_tick=0"), CPUINFO: INTEL}
    finding = KERNEL_ARGUMENTS.judge(CapturedHost(files=files), requested)
    assert finding.verdict == "fail"
    assert "skew_tick is 0" in finding.text


def test_a_word_that_was_hidden_may_be_any_argument_that_stands_alone() -> None:
    line = KernelCommandLine.parse(shown("ro hunter2"))
    assert line.hides("vendor.switch")
    assert not line.hides("rcu_nocb_poll")
    assert not KernelCommandLine.parse(shown("ro")).hides("vendor.switch")


@pytest.mark.parametrize(
    "secret",
    [
        "staticPodURLHeader:\n  Authorization: [Bearer hunter2]",
        "providers: {token: hunter2}",
        "clientCAFile: /etc/hunter2",
        'tlsPrivateKeyFile: "hunter2"',
    ],
)
def test_of_a_kubelets_configuration_only_what_is_read_is_taken(secret: str) -> None:
    text = f"kind: KubeletConfiguration\ncpuManagerPolicy: static\n{secret}\n"
    kept = kept_text(KUBELET, text)
    assert json.loads(kept) == {"kind": "KubeletConfiguration", "cpuManagerPolicy": "static"}


def test_of_what_is_no_such_configuration_nothing_is_taken() -> None:
    for text in ("users:\n- user: {token: hunter2}", "kind: Config\ntoken: hunter2", "{", ""):
        assert kept_text("/etc/kubernetes/kubelet.conf", text) == "{}"


def test_every_field_of_the_kubelet_that_an_intent_means_is_taken() -> None:
    for name in preset_names():
        assert set(expected_kubelet(load_preset(name))) <= set(FIELDS)


def test_of_irqbalances_files_only_the_bans_are_taken() -> None:
    text = (
        "[Service]\nEnvironment=HTTP_PROXY=http://u:hunter2@proxy\n"
        "Environment=AWS_SECRET_ACCESS_KEY=hunter2\n"
        "Environment=IRQBALANCE_BANNED_CPULIST=2-7\n"
    )
    assert kept_text(DROP_IN, text) == ('[Service]\nEnvironment="IRQBALANCE_BANNED_CPULIST=2-7"')
    odd = "IRQBALANCE_BANNED_CPUS=fc hunter2\n"
    assert kept_text("/etc/default/irqbalance", odd) == "IRQBALANCE_BANNED_CPUS=<hidden>"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Environment=\nUnsetEnvironment=\nEnvironmentFile=\n", None),
        ("Environment=A=hunter2\nUnsetEnvironment=HUNTER2\n", ""),
        ("EnvironmentFile=-/etc/default/irqbalance", None),
        ("EnvironmentFile=/etc/hunter2", "EnvironmentFile=<hidden>"),
        (
            "UnsetEnvironment=IRQBALANCE_BANNED_CPUS hunter2",
            'UnsetEnvironment="IRQBALANCE_BANNED_CPUS"',
        ),
        (
            "Environment='IRQBALANCE_BANNED_CPUS=fc hunter2'",
            'Environment="IRQBALANCE_BANNED_CPUS=<hidden>"',
        ),
        (
            "Environment=IRQBALANCE_BANNED_CPUS=\\x66c hunter2",
            "Environment=IRQBALANCE_BANNED_\\<hidden>",
        ),
    ],
)
def test_of_its_drop_ins_what_bears_on_bans_is_taken(text: str, kept: str | None) -> None:
    expected = text.strip() if kept is None else kept
    found = kept_text(DROP_IN, f"[Service]\n{text}")
    assert found == (f"[Service]\n{expected}" if expected else "")
    assert kept_text(DROP_IN, found) == found


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("export IRQBALANCE_BANNED_CPUS=fc\n", ""),
        ("A=hunter2\nIRQBALANCE_BANNED_CPULIST = 2-4, 5-7\n", "IRQBALANCE_BANNED_CPULIST=2-4, 5-7"),
        ("IRQBALANCE_BANNED_CPUS=' '\n", 'IRQBALANCE_BANNED_CPUS=" "'),
        ("# hunter2 \\\nIRQBALANCE_BANNED_CPUS=fc\n", "IRQBALANCE_BANNED_CPUS=<hidden>"),
    ],
)
def test_of_its_environment_files_what_is_set_is_taken(text: str, kept: str) -> None:
    assert kept_text("/etc/default/irqbalance", text) == kept


def test_of_measurements_only_the_figures_are_taken() -> None:
    calibration = {
        "tester": {"host": "a", "cpus": "2-3", "token": "hunter2"},
        "measured_at": "2026-11-22T08:30:00Z",
        "points": [{"worst_stall_ns": 7, "note": "hunter2"}, {"worst_stall_ns": 9}],
        "profile": "hunter2",
    }
    path = "/home/me/.local/state/plimsoll/calibrations/a.json"
    assert json.loads(kept_text(path, json.dumps(calibration))) == {
        "tester": {"host": "a", "cpus": "2-3"},
        "measured_at": "2026-11-22T08:30:00Z",
        "points": [{"worst_stall_ns": 9}],
    }
    oslat = "$ TOKEN=hunter2 oslat\n   Maximum:\t 5 3 (us)\nhunter2\n"
    assert kept_text("/var/lib/plimsoll/noise/a", oslat) == "Maximum:\t 5 3 (us)"
    assert kept_text("/var/lib/plimsoll/noise/a", "hunter2\n") == ""


def test_other_files_are_taken_as_far_as_they_are_read() -> None:
    release = 'NAME="hunter2"\nID="rhcos"\nOPENSHIFT_VERSION="4.16"\nHOME_URL="https://hunter2"\n'
    assert kept_text("/etc/os-release", release) == 'ID="rhcos"\nOPENSHIFT_VERSION="4.16"'
    assert kept_text("/etc/systemd/system/fwupd-refresh.timer", "hunter2") == ""
    assert kept_text("/etc/tuned/active_profile", "openshift-node\thunter2") == "<hidden>"
    assert kept_text("/etc/tuned/active_profile", "cpu-partitioning") == "cpu-partitioning"
    profile = "[main]\nsummary=hunter2\ninclude=a, b\n[script]\nscript=hunter2\n"
    assert kept_text("/etc/tuned/ours/tuned.conf", profile) == "include=a, b"
    variables = "# hunter2\nisolated_cores=2-3\ntoken=hunter2\n"
    path = "/etc/tuned/cpu-partitioning-variables.conf"
    assert kept_text(path, variables) == "isolated_cores=2-3"
    assert kept_text("/run/plimsoll-ports/ens7f0", "hunter2") == ""
    assert kept_text("/run/plimsoll-ports/ens7f0", "0000:87:00.0") == "0000:87:00.0"
    state = {
        "policyName": "static",
        "defaultCpuSet": "0-1",
        "entries": {"uid-1": {"hunter2": "2-3", "b": "4"}},
        "checksum": 7,
    }
    kept = kept_text("/var/lib/kubelet/cpu_manager_state", json.dumps(state))
    assert json.loads(kept) == {
        "policyName": "static",
        "defaultCpuSet": "0-1",
        "entries": {"uid-1": {"": "2-4"}},
    }


def message(done: Audit) -> list[dict[str, object]]:
    return [asdict(finding) for finding in done.findings]


def assert_judged_alike(view: HostView) -> None:
    again = collect(view, needed_files(), NOW).view(view.where)
    for name in preset_names():
        declared = load_preset(name)
        assert message(audit(again, declared)) == message(audit(view, declared)), name


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_capture_is_judged_as_what_it_was_made_of(path: Path) -> None:
    assert_judged_alike(open_root(path))


def test_a_host_with_a_secret_in_every_file_is_judged_as_its_capture() -> None:
    header = "staticPodURLHeader: {Authorization: [hunter2]}"
    files = {
        PATH: "ro root=hunter2 hunter2 token=hunter2 isolcpus=managed_irq,2-15 nohz=on",
        CPUINFO: INTEL,
        "/sys/devices/system/cpu/online": "0-15",
        "/proc/2/stat": "2 (kthreadd) S 0 0 0 0 -1 2129984 " + "0 " * 27 + "17 1 0 0 0 0 0 0 0 0 0",
        "/proc/9/stat": "9 (irqbalance) S 1 0 0 0 -1 4194304 " + "0 " * 27 + "17 1 0 0 0 0 0 0 0 0",
        "/etc/kubernetes/kubelet.conf": "kind: Config\nusers: [{user: {token: hunter2}}]",
        KUBELET: f"kind: KubeletConfiguration\ncpuManagerPolicy: none\n{header}\n",
        DROP_IN: "[Service]\nEnvironment=A=hunter2\nEnvironment=IRQBALANCE_BANNED_CPULIST=2-15\n",
        "/proc/irq/default_smp_affinity": "ffff",
        "/etc/os-release": "ID=debian\n",
    }
    view = CapturedHost(files=files)
    assert_judged_alike(view)
    capture = collect(view, needed_files(), NOW)
    everything = capture.manifest.model_dump_json() + json.dumps(dict(capture.files))
    assert "hunter2" not in everything
    # And not because nothing was judged: the kubelet's second file is found behind the first.
    findings = {
        each.number: each for each in audit(view, load_preset("openshift-sno-vdu")).findings
    }
    assert findings[46].verdict == "fail"
    assert findings[32].verdict == "fail"
    assert (DROP_IN, "IRQBALANCE_BANNED_CPULIST=2-15") in [
        (reading.where, reading.what) for reading in findings[32].read
    ]
