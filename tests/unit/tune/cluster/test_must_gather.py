"""must-gathers, made here by hand after the layout that oc adm inspect documents."""

import io
import lzma
import shutil
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from plimsoll.errors import InputError
from plimsoll.tune.cluster import must_gather as must_gather_files
from plimsoll.tune.cluster.cluster_audit import audit_cluster
from plimsoll.tune.cluster.kinds import (
    ALL_KINDS,
    MACHINE_CONFIG,
    NAMESPACE,
    NODE,
    PERFORMANCE_PROFILE,
    POD,
)
from plimsoll.tune.cluster.must_gather import open_must_gather
from plimsoll.tune.host.view.unread import CannotRead, Unread
from tests.unit.tune.cluster.clusters import intent, named, objects
from tests.worded.says import Says

IMAGE = "must-gather.local.42/quay-io-openshift-must-gather-sha256-1f"
PROFILES = f"{IMAGE}/cluster-scoped-resources/performance.openshift.io/performanceprofiles"
PLURALS = {(each.name, each.api_version): each for each in ALL_KINDS}
PROFILE = (
    "apiVersion: performance.openshift.io/v2\nkind: PerformanceProfile\nmetadata: {name: fast}\n"
)


def place(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def gathered(root: Path) -> Path:
    """The small cluster as a must-gather has it: a file for each object."""
    for each in objects():
        kind = PLURALS[each["kind"], each["apiVersion"]]
        namespace = each["metadata"].get("namespace")
        above = f"namespaces/{namespace}" if namespace else "cluster-scoped-resources"
        name = f"{each['metadata']['name']}.yaml"
        path = f"{IMAGE}/{above}/{kind.group or 'core'}/{kind.plural}/{name}"
        if kind == NAMESPACE:
            path = f"{IMAGE}/namespaces/{each['metadata']['name']}/{name}"
        place(root, path, "---\n" + yaml.safe_dump(each))
    place(root, f"{IMAGE}/namespaces/cnf/pods/testpmd/dpdk/logs/current.log", "x" * 1000)
    place(root, "must-gather.local.42/timestamp", "2026-11-22")
    return root


def archive(root: Path, path: Path, mode: str) -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        tar.add(root, arcname=".")
    return path


def test_a_directory_is_audited_as_the_cluster_itself(tmp_path: Path) -> None:
    done = audit_cluster(open_must_gather(gathered(tmp_path)), intent())
    assert {each.verdict for each in done.findings} == {"ok"}
    assert done.source == str(tmp_path)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tar.xz", "w:xz"), ("a.tbz", "w:bz2"), ("a", "w:gz")],
)
def test_an_archive_is_audited_without_being_unpacked(tmp_path: Path, name: str, mode: str) -> None:
    path = archive(gathered(tmp_path / "tree"), tmp_path / name, mode)
    done = audit_cluster(open_must_gather(path), intent())
    assert {each.verdict for each in done.findings} == {"ok"}
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, "tree"])


def test_lists_and_the_pods_own_place_are_read(tmp_path: Path) -> None:
    pods = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, namespace: cnf}\n"
    place(tmp_path, "namespaces/cnf/core/pods.yaml", pods)
    own = "apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: cnf}\n"
    place(tmp_path, "namespaces/cnf/pods/b/b.yaml", own)
    place(tmp_path, "namespaces/cnf/pods/b/other.yaml", own.replace("b", "c"))
    found = open_must_gather(tmp_path).need(POD, "cnf")
    assert named(found) == ["a", "b"]
    assert found[0]["kind"] == "Pod"


def test_an_object_gathered_by_two_images_is_one(tmp_path: Path) -> None:
    for image in ("first", "second"):
        path = f"{image}/cluster-scoped-resources/performance.openshift.io/performanceprofiles"
        place(tmp_path, f"{path}/fast.yaml", f"{PROFILE}spec: {{by: {image}}}\n")
    (found,) = open_must_gather(tmp_path).need(PERFORMANCE_PROFILE)
    assert found["spec"] == {"by": "first"}


def test_what_was_not_gathered_is_unknown_and_not_absent(tmp_path: Path) -> None:
    place(tmp_path, f"{PROFILES}/fast.yaml", PROFILE)
    view = open_must_gather(tmp_path)
    assert view.listed(MACHINE_CONFIG) == Unread(MACHINE_CONFIG.resource, "not-captured")
    assert view.listed(POD, "cnf") == Unread("pods in namespace cnf", "not-captured")
    assert view.find(PERFORMANCE_PROFILE, "slow") is None


def test_a_namespace_is_gathered_in_a_folder_of_its_own(tmp_path: Path) -> None:
    own = "apiVersion: v1\nkind: Namespace\nmetadata: {name: cnf}\n"
    place(tmp_path, "namespaces/cnf/cnf.yaml", own)
    place(tmp_path, "namespaces/cnf/other.yaml", own.replace("cnf", "other"))
    listed = own.replace("cnf", "listed")
    place(tmp_path, "cluster-scoped-resources/core/namespaces/listed.yaml", listed)
    assert sorted(named(open_must_gather(tmp_path).need(NAMESPACE))) == ["cnf", "listed"]


def test_a_namespace_that_no_one_named_is_unknown_next_to_others(tmp_path: Path) -> None:
    """oc adm inspect gathers those that it is given, and by default the platform's own."""
    name = "openshift-monitoring"
    own = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
    place(tmp_path, f"namespaces/{name}/{name}.yaml", own)
    view = open_must_gather(tmp_path)
    assert view.find(NAMESPACE, name) is not None
    with pytest.raises(CannotRead) as caught:
        view.find(NAMESPACE, "cnf")
    assert caught.value.unread == Unread("namespace cnf", "not-captured")


def test_rights_that_were_not_gathered_are_unknown(tmp_path: Path, says: Says) -> None:
    """oc adm inspect ns/NAME has the namespace and its pods, and no accounts or roles."""
    for name in ("serviceaccounts", "roles", "rolebindings"):
        for path in gathered(tmp_path).glob(f"**/{name}"):
            shutil.rmtree(path)
    done = audit_cluster(open_must_gather(tmp_path), intent())
    assert {each.name for each in done.findings if each.verdict != "ok"} == {"pods-rights"}
    text = done.findings[-1].text
    assert done.findings[-1].verdict == "unknown"
    assert text == says("rolebindings.rbac.authorization.k8s.io")


def test_objects_in_the_wrong_place_are_not_taken(tmp_path: Path) -> None:
    """Of another kind, of another namespace, and no kind that an audit reads."""
    place(tmp_path, f"{PROFILES}/fast.yaml", PROFILE.replace("PerformanceProfile", "Secret"))
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: other}\n"
    place(tmp_path, "namespaces/cnf/core/pods/a.yaml", pod)
    place(tmp_path, "namespaces/cnf/core/secrets/a.yaml", pod)
    place(tmp_path, "namespaces/cnf/core/nodes/a.yaml", pod)
    view = open_must_gather(tmp_path)
    assert view.need(PERFORMANCE_PROFILE) == ()
    assert view.need(POD, "cnf") == ()
    assert isinstance(view.listed(NODE), Unread)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a: [", ("2",)),
        ("", ()),
        ("- a", ()),
        ("a: &x [1]\nb: *x\n", ("1",)),
        ("a: " + "[" * 200_000, ("1",)),
        ("1: a\n", ("1",)),
        ("a: !!python/object:os.system {}\n", ("tag:yaml.org,2002:python/object:os.system", "1")),
        ("a: b\n---\nc: d\n", ("2",)),
        ("? [a]\n: b\n", ("1",)),
        (b"a: \xff\n", ("UTF-8",)),
        (b"a: \x00\n", ()),
    ],
)
def test_a_file_that_is_no_object_makes_its_kind_unknown(
    tmp_path: Path, text: str | bytes, facts: tuple[str, ...], says: Says
) -> None:
    place(tmp_path, f"{PROFILES}/broken.yaml", text)
    place(tmp_path, f"{PROFILES}/fast.yaml", PROFILE)
    unread = open_must_gather(tmp_path).listed(PERFORMANCE_PROFILE)
    assert isinstance(unread, Unread)
    assert unread.where == f"{PROFILES}/broken.yaml"
    assert str(unread) == says(*facts)


def test_unfolding_anchors_are_not_unfolded(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 40)]
    place(tmp_path, f"{PROFILES}/fast.yaml", "\n".join(lines))
    assert isinstance(open_must_gather(tmp_path).listed(PERFORMANCE_PROFILE), Unread)


def _nothing(tmp_path: Path) -> Path:
    return tmp_path / "none"


def _empty(tmp_path: Path) -> Path:
    place(tmp_path, "d/version", "4.16")
    return tmp_path / "d"


def _text(tmp_path: Path) -> Path:
    return place(tmp_path, "a.tar.gz", "no archive at all")


def _truncated(tmp_path: Path) -> Path:
    path = archive(gathered(tmp_path / "t"), tmp_path / "a.tar.gz", "w:gz")
    path.write_bytes(path.read_bytes()[:800])
    return path


def _pipe(tmp_path: Path) -> Path:
    return Path("/dev/null")


def _linked(tmp_path: Path) -> Path:
    place(tmp_path, "secret", PROFILE)
    link = tmp_path / "d" / PROFILES / "fast.yaml"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "secret")
    return tmp_path / "d"


def _archived_link(tmp_path: Path) -> Path:
    member = tarfile.TarInfo(f"{PROFILES}/fast.yaml")
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
    return _archive_of(tmp_path, [(member, b"")])


def _large(tmp_path: Path) -> Path:
    size = must_gather_files.MAX_FILE_BYTES + 1
    place(tmp_path, f"d/{PROFILES}/fast.yaml", b"#" * size)
    return tmp_path / "d"


def _archived_large(tmp_path: Path) -> Path:
    member = tarfile.TarInfo(f"{PROFILES}/fast.yaml")
    member.size = must_gather_files.MAX_FILE_BYTES + 1
    return _archive_of(tmp_path, [(member, b"#" * member.size)])


def _huge_header(tmp_path: Path) -> Path:
    """An extension of a header that claims 8 GiB, of which a few MiB are there."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 8 << 30
    path = tmp_path / "a.tar"
    path.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * (4 << 20))
    return path


def _endless(tmp_path: Path) -> Path:
    """A log that claims a terabyte."""
    member = tarfile.TarInfo("must-gather/namespaces/a/pods/b/c/logs/current.log")
    member.size = 1 << 40
    path = tmp_path / "a.tar"
    path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + b"\0" * 10240)
    return path


def _huge_dictionary(tmp_path: Path) -> Path:
    """An xz file whose header asks for a dictionary of 2 GiB, as in test_unpacked."""
    content = bytearray(lzma.compress(b"a must-gather"))
    end = 12 + content[12] * 4
    content[16] = 38
    content[end : end + 4] = zlib.crc32(bytes(content[12:end])).to_bytes(4, "little")
    return place(tmp_path, "a.tar.xz", bytes(content))


def _zstandard(tmp_path: Path) -> Path:
    return place(tmp_path, "a.tar.zst", b"\x28\xb5\x2f\xfd and so on")


def _archive_of(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for member, content in members:
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (_nothing, ()),
        (_empty, ()),
        (_text, ()),
        (_truncated, ()),
        (_pipe, ()),
        (_linked, ("fast.yaml'",)),
        (_archived_link, ()),
        (_large, ("32", "MiB")),
        (_archived_large, ("32", "MiB")),
        (_huge_header, ("1", "MiB")),
        (_endless, ("32", "GiB")),
        (_huge_dictionary, ()),
        (_zstandard, ()),
    ],
)
def test_what_no_tool_gathers_is_refused(
    tmp_path: Path, make: Callable[[Path], Path], facts: tuple[str, ...], says: Says
) -> None:
    path = make(tmp_path)
    with pytest.raises(InputError) as refused:
        open_must_gather(path)
    assert refused.value == says(*facts)
    assert refused.value.where == str(path)
    assert refused.value.remedy


def test_a_tree_of_too_many_objects_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(must_gather_files, "MAX_KEPT_BYTES", 1000)
    with pytest.raises(InputError, match="of objects"):
        open_must_gather(gathered(tmp_path))


@pytest.mark.parametrize(
    "name", [f"../{PROFILES}/fast.yaml", f"{PROFILES}/../fast.yaml", f"/x//{PROFILES}/fast.yaml"]
)
def test_names_that_lead_elsewhere_are_nothing_of_it(tmp_path: Path, name: str, says: Says) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(PROFILE)
    with pytest.raises(InputError) as caught:
        open_must_gather(_archive_of(tmp_path, [(member, PROFILE.encode())]))
    assert caught.value == says("a.tar.gz")
