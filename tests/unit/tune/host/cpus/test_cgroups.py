"""Where the kubelet puts pods: its cgroup drivers systemd and cgroupfs, and cgroups(7)."""

import pytest

from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.cpus.cgroups import PodOfGroup, group_of, pod_of
from plimsoll.tune.host.view.unread import CannotRead

UID = "1b2c3d4e-0000-4000-8000-0123456789ab"
SLICES = UID.replace("-", "_")


@pytest.mark.parametrize(
    ("path", "qos"),
    [
        (f"/kubepods.slice/kubepods-pod{SLICES}.slice/crio-77.scope", "guaranteed"),
        (
            f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{SLICES}.slice",
            "burstable",
        ),
        (
            f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{SLICES}.slice/x",
            "besteffort",
        ),
        (f"/kubepods/pod{UID}/77", "guaranteed"),
        (f"/kubepods/burstable/pod{UID}/77", "burstable"),
        (f"/kubelet/kubepods/besteffort/pod{UID}", "besteffort"),
    ],
)
def test_a_pods_group(path: str, qos: str) -> None:
    found = pod_of(path)
    assert isinstance(found, PodOfGroup)
    assert (found.uid, found.qos) == (UID, qos)


@pytest.mark.parametrize(
    "path",
    ["/", "/system.slice/sshd.service", "/kubepods.slice", "/user.slice/kubepods-pod.slice"],
)
def test_a_group_of_no_pod(path: str) -> None:
    assert pod_of(path) is None


def test_the_controllers_tree_of_version_1_wins_over_the_unified_one() -> None:
    host = CapturedHost(files={"/proc/9/cgroup": "4:cpu,cpuacct:/a/b\n3:cpuset:/\n0::/c"})
    group = group_of(host, 9, "cpu")
    assert (group.version, group.directory) == (1, "/sys/fs/cgroup/cpu,cpuacct/a/b")
    assert [each.directory for each in group.with_ancestors()] == [
        "/sys/fs/cgroup/cpu,cpuacct/a/b",
        "/sys/fs/cgroup/cpu,cpuacct/a",
        "/sys/fs/cgroup/cpu,cpuacct",
    ]
    assert group_of(host, 9, "cpuset").directory == "/sys/fs/cgroup/cpuset"


@pytest.mark.parametrize("text", ["", "0::/../outside", "0::relative", "7", "1:memory:/x"])
def test_what_is_no_place_cannot_be_read(text: str) -> None:
    host = CapturedHost(files={"/proc/9/cgroup": text})
    with pytest.raises(CannotRead, match="/proc/9/cgroup"):
        group_of(host, 9, "cpu")
