"""A capture: collected, written, read back; and captures that no honest tool makes."""

import gzip
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.host.capture import collect as collecting
from plimsoll.tune.host.capture import open_capture
from plimsoll.tune.host.capture.capture import Capture, CapturedHost, write_capture
from plimsoll.tune.host.capture.collect import NeededFiles, collect
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.unread import CannotRead, Unread
from tests.worded.says import Says

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
CPU = "/sys/devices/system/cpu"
HOST = CapturedHost(
    files={
        "/proc/sys/kernel/hostname": "worker-1",
        "/proc/sys/kernel/osrelease": "5.14.0",
        "/proc/cmdline": "ro rd.luks.key=hunter2 isolcpus=2-3",
        f"{CPU}/cpu0/cpuidle/state0/name": "POLL",
        f"{CPU}/cpu1/cpuidle/state0/name": "C1",
        "/proc/1/environ": "TOKEN=hunter2",
        "/proc/1/status": "Name: systemd",
        "/etc/kubernetes/kubelet.conf": "client-key-data: hunter2",
        "/etc/unheard-of": "hunter2",
        "/sys/fs/cgroup/cpu.max": "max 1",
        "/sys/fs/cgroup/a/b/cpu.max": "7 8",
    },
    links={
        "/sys/class/net/eth0/device": "../../0000:87:00.0",
        # As in sysfs, back up to where it came from.
        "/sys/fs/cgroup/a/loop": "../..",
    },
    listed={
        "/sys/kernel/iommu_groups": ("0", "1"),
        "/sys/bus/pci/devices": (),
        "/sys/class/net": ("eth0", "veth7"),
    },
    outputs={"tuned-adm verify": CommandOutput(0, "Verification succeeded.")},
    unread=[Unread("/sys/kernel/debug/x", "forbidden"), Unread("ethtool -i eth0", "unreadable")],
)
EXPECTED = NeededFiles(
    files=(
        "/proc/cmdline",
        "/proc/version",
        "/proc/*/status",
        "/proc/*/environ",
        f"{CPU}/cpu[0-9]*/cpuidle/state[0-9]*/name",
        "/sys/kernel/debug/x",
        "/etc/kubernetes/kubelet.conf",
        "/etc/unheard-of",
        "/sys/fs/cgroup/**/cpu.max",
        "/sys/bus/pci/devices/*/numa_node",
    ),
    links=("/sys/class/net/*/device",),
    lists=("/sys/kernel/iommu_groups",),
    commands=("tuned-adm verify", "ethtool -i <interface>"),
)


@pytest.fixture
def capture() -> Capture:
    return collect(HOST, EXPECTED, NOW)


def test_what_is_expected_is_collected_and_nothing_else(capture: Capture) -> None:
    assert sorted(capture.files) == [
        "/etc/kubernetes/kubelet.conf",
        "/proc/1/status",
        "/proc/cmdline",
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/osrelease",
        f"{CPU}/cpu0/cpuidle/state0/name",
        f"{CPU}/cpu1/cpuidle/state0/name",
        "/sys/fs/cgroup/a/b/cpu.max",
        "/sys/fs/cgroup/cpu.max",
    ]
    manifest = capture.manifest
    assert (manifest.host, manifest.kernel) == ("worker-1", "5.14.0")
    assert manifest.time == "2026-11-22T08:30:00Z"
    assert manifest.links == {"/sys/class/net/eth0/device": "../../0000:87:00.0"}
    assert manifest.listed["/sys/kernel/iommu_groups"] == ["0", "1"]
    assert manifest.outputs["tuned-adm verify"].text == "Verification succeeded."


def test_no_secret_is_in_it(capture: Capture) -> None:
    everything = capture.manifest.model_dump_json() + json.dumps(dict(capture.files))
    assert "hunter2" not in everything
    assert capture.files["/proc/cmdline"] == "ro rd.luks.key=<hidden> isolcpus=2-3"


def test_what_was_not_read_is_reported_with_its_cause(capture: Capture, says: Says) -> None:
    message = {each.where: (each.cause, each.reason) for each in capture.manifest.unread}
    assert message["/sys/kernel/debug/x"] == ("forbidden", "")
    assert message["/proc/1/environ"] == ("forbidden", says())
    assert message["/etc/unheard-of"] == ("forbidden", says())
    assert message["ethtool -i eth0"] == ("unreadable", "")
    # Absent is an answer, and interfaces without a device are not queried.
    assert "/proc/version" not in message
    assert "ethtool -i veth7" not in message


def test_too_many_paths_of_a_pattern_are_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MAX_PATHS_OF_A_PATTERN", 1)
    pattern = f"{CPU}/cpu[0-9]*/cpuidle/state[0-9]*/name"
    capture = collect(HOST, NeededFiles(files=(pattern,)), NOW)
    assert f"{CPU}/cpu1/cpuidle/state0/name" not in capture.files
    (unread,) = (each for each in capture.manifest.unread if each.where == pattern)
    assert (unread.cause, unread.reason) == ("not-captured", "more than 1 paths")


def test_what_exceeds_the_size_of_a_capture_is_unknown(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(collecting, "MAX_BYTES", 20)
    view = collect(HOST, EXPECTED, NOW).view("x")
    with pytest.raises(CannotRead) as caught:
        view.find("/proc/cmdline")
    assert caught.value == says("/proc/cmdline")


def assert_same(view: Any) -> None:
    assert view.need("/proc/cmdline") == "ro rd.luks.key=<hidden> isolcpus=2-3"
    assert view.find("/proc/version") is None
    assert view.find_names("/sys/bus/pci/devices") == ()
    assert view.find_names("/sys/kernel/iommu_groups") == ("0", "1")
    assert view.listing(CPU) == ("cpu0", "cpu1")
    assert view.link("/sys/class/net/eth0/device") == "../../0000:87:00.0"
    assert view.command("tuned-adm verify") == CommandOutput(0, "Verification succeeded.")
    for ask in (view.find, view.find_names):
        with pytest.raises(CannotRead, match="is not in the capture"):
            ask("/proc/irq")
    with pytest.raises(CannotRead, match="without more privileges"):
        view.find("/sys/kernel/debug/x")


def test_it_reads_back_from_an_archive_and_unpacked(capture: Capture, tmp_path: Path) -> None:
    path = tmp_path / "worker-1.tar.gz"
    write_capture(capture, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert_same(open_root(path))
    shutil.unpack_archive(path, tmp_path / "unpacked")
    assert_same(open_root(tmp_path / "unpacked"))


def test_a_capture_of_this_host_reads_back(tmp_path: Path) -> None:
    expected = NeededFiles(files=("/proc/version", f"{CPU}/online"), lists=("/sys/class/net",))
    write_capture(collect(LiveHost(), expected, NOW), tmp_path / "own.tgz")
    view = open_root(tmp_path / "own.tgz")
    assert view.need("/proc/version") == Path("/proc/version").read_text().strip()
    assert view.listing("/sys/class/net") == tuple(sorted(os.listdir("/sys/class/net")))


def test_a_mounted_root_file_system_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cmdline").write_text("ro\n")
    view = open_root(tmp_path)
    assert view.need("/proc/cmdline") == "ro"
    assert view.find("/proc/version") is None


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("x.zip", (".tar.gz",)),
        ("there.tar.gz", ("there.tar.gz",)),
        ("no/x.tar.gz", ("no/x.tar.gz",)),
    ],
)
def test_a_bad_place_to_write_to(
    capture: Capture, tmp_path: Path, name: str, facts: tuple[str, ...], says: Says
) -> None:
    (tmp_path / "there.tar.gz").touch()
    with pytest.raises(InputError) as caught:
        write_capture(capture, tmp_path / name)
    assert caught.value == says(*facts)
    assert caught.value.where == str(tmp_path / name)


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        open_root(path)
    assert caught.value.where == str(path)
    return caught.value


def archive_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def manifest_of(capture: Capture) -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo("manifest.json"), capture.manifest.model_dump_json().encode()


def link(kind: bytes, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo("files/proc/version")
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("member", "facts"),
    [
        (tarfile.TarInfo("files/../../etc/passwd"), ()),
        (tarfile.TarInfo("/etc/passwd"), ()),
        (tarfile.TarInfo("etc/passwd"), ()),
        (tarfile.TarInfo("files//etc/passwd"), ()),
        (tarfile.TarInfo("files"), ()),
        (link(tarfile.SYMTYPE, "/etc/shadow"), ()),
        (link(tarfile.LNKTYPE, "files/proc/cmdline"), ()),
        (link(tarfile.CHRTYPE, ""), ()),
        (link(tarfile.BLKTYPE, ""), ()),
        (link(tarfile.FIFOTYPE, ""), ()),
        (link(tarfile.GNUTYPE_SPARSE, ""), ()),
        (tarfile.TarInfo("files/" + "x" * 5000), ("4096",)),
    ],
)
def test_members_of_other_kinds_and_names_are_refused(
    capture: Capture, tmp_path: Path, member: tarfile.TarInfo, facts: tuple[str, ...], says: Says
) -> None:
    path = archive_of(tmp_path / "bad.tar.gz", manifest_of(capture), (member, b""))
    error = refusal(path)
    assert error == says(*facts)


def test_a_name_given_twice_is_refused(capture: Capture, tmp_path: Path) -> None:
    twice = [(tarfile.TarInfo("files/proc/cmdline"), b"ro")] * 2
    path = archive_of(tmp_path / "bad.tar.gz", manifest_of(capture), *twice)
    assert "'files/proc/cmdline' twice" in refusal(path).message
    path = archive_of(tmp_path / "two.tar.gz", *[manifest_of(capture)] * 2)
    assert "'manifest.json' twice" in refusal(path).message


def test_an_archive_without_a_manifest_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "x.tar.gz", (tarfile.TarInfo("files/proc/cmdline"), b"ro"))
    assert refusal(path).message == "holds no manifest.json"


def test_a_bomb_is_refused_before_it_fills_memory(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(open_capture, "_MAX_BYTES", 1 << 20)
    zeros = [(tarfile.TarInfo(f"files/{n}"), bytes(1 << 18)) for n in range(8)]
    path = archive_of(tmp_path / "bomb.tar.gz", manifest_of(capture), *zeros)
    assert path.stat().st_size < 1 << 14
    assert refusal(path).message == says("1", "MiB")


def test_a_file_larger_than_any_is_refused(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_capture, "MAX_FILE_BYTES", 1 << 20)
    large = (tarfile.TarInfo("files/large"), bytes(2 << 20))
    path = archive_of(tmp_path / "x.tar.gz", manifest_of(capture), large)
    assert "larger than 1 MiB" in refusal(path).message


def test_too_many_files_are_refused(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(open_capture, "MAX_FILES", 3)
    many = [(tarfile.TarInfo(f"files/{n}"), b"") for n in range(5)]
    path = archive_of(tmp_path / "x.tar.gz", manifest_of(capture), *many)
    assert refusal(path).message == says("3", "files")


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest | {"version": 2},
        lambda manifest: manifest | {"format": "sosreport"},
        lambda manifest: manifest | {"unread": [{"where": "/x", "cause": "lazy"}]},
        lambda manifest: manifest | {"outputs": {"x": {"status": "0", "text": ""}}},
        lambda manifest: manifest | {"more": 1},
    ],
)
def test_another_manifest_is_refused(
    capture: Capture, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    content = json.dumps(change(json.loads(capture.manifest.model_dump_json()))).encode()
    path = archive_of(tmp_path / "x.tar.gz", (tarfile.TarInfo("manifest.json"), content))
    assert refusal(path).message.startswith("manifest.json: ")


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"no tar" * 200), gzip.compress(bytes(4096))[:-9]],
    ids=["empty", "text", "text compressed", "cut short"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes, says: Says) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    assert refusal(path).remedy == says()


def test_a_cut_archive_is_refused(capture: Capture, tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    write_capture(capture, path)
    whole = path.read_bytes()
    # The last eight bytes are the checksum of all others (RFC 1952).
    for length in [*range(0, len(whole), 97), *range(len(whole) - 9, len(whole))]:
        path.write_bytes(whole[:length])
        refusal(path)


def test_links_in_an_unpacked_capture_are_refused(
    capture: Capture, tmp_path: Path, says: Says
) -> None:
    (tmp_path / "manifest.json").write_text(capture.manifest.model_dump_json())
    files = tmp_path / "files"
    files.mkdir()
    (files / "passwd").symlink_to("/etc/passwd")
    assert refusal(tmp_path).message == says("files/passwd")
    (files / "passwd").unlink()
    (files / "etc").symlink_to("/etc")
    assert refusal(tmp_path).message == says("files/etc")
    (files / "etc").unlink()
    os.mkfifo(files / "pipe")
    assert refusal(tmp_path).message == says("files/pipe")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("nothing", ()),
        ("file.txt", ()),
        ("pipe", ()),
        ("empty", ("manifest.json",)),
    ],
)
def test_what_is_no_capture_at_all(
    tmp_path: Path, name: str, facts: tuple[str, ...], says: Says
) -> None:
    (tmp_path / "file.txt").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / name).message == says(*facts)


CALIBRATIONS = "/home/me/.local/state/plimsoll/calibrations"


@pytest.mark.parametrize("link", ["/home/me/.local", CALIBRATIONS, f"{CALIBRATIONS}/a.json"])
def test_a_link_in_a_users_home_is_not_followed(tmp_path: Path, link: str, says: Says) -> None:
    """Who captures is often root, and a user's link may name any file."""
    expected = NeededFiles(files=("/home/*/.local/state/plimsoll/calibrations/*.json",))
    calibration = tmp_path / CALIBRATIONS.lstrip("/") / "a.json"
    calibration.parent.mkdir(parents=True)
    calibration.write_text("{}")
    assert f"{CALIBRATIONS}/a.json" in collect(LiveHost(tmp_path), expected, NOW).files
    (tmp_path / link.lstrip("/")).rename(tmp_path / "elsewhere")
    (tmp_path / link.lstrip("/")).symlink_to("/elsewhere")
    capture = collect(LiveHost(tmp_path), expected, NOW)
    assert capture.files == {}
    message = [each.reason for each in capture.manifest.unread if each.where.startswith("/home")]
    assert message == [says("link", "home")]
