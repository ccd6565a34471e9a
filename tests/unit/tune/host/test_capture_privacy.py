"""What captures leave out. Names of arguments: dracut.cmdline(7), systemd(1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.tune.audit.wanted_files import wanted_files
from plimsoll.tune.host.capture_privacy import (
    MASK,
    holds_secret,
    is_private,
    kept_text,
    masked_command_line,
)


@pytest.mark.parametrize(
    "path",
    [
        "/proc/1/environ",
        "/proc/4711/cmdline",
        "/proc/4711/task/4712/cmdline",
        "/proc/keys",
        "/proc/4711/fd/3",
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/kubernetes/kubeconfig",
        "/root/.ssh/id_ed25519",
        "/home/me/notes",
    ],
)
def test_private_paths(path: str) -> None:
    assert is_private(path)


@pytest.mark.parametrize("path", ["/proc/cmdline", "/proc/1/status", "/proc/1/comm", "/etc/fstab"])
def test_other_paths(path: str) -> None:
    assert not is_private(path)


def test_no_check_asks_for_a_private_path() -> None:
    asked = wanted_files()
    assert [path for path in asked.files if is_private(path.replace("[0-9]*", "0"))] == []


@pytest.mark.parametrize(
    "word",
    [
        "rd.luks.key=/keyfile:UUID=7",
        "rd.luks.uuid=luks-7",
        "rd.iscsi.password=hunter2",
        "netroot=iscsi:me:hunter2@10.0.0.1::3260:1:iqn.x",
        "systemd.set_credential=root.password:hunter2",
        "systemd.setenv=TOKEN=hunter2",
        "ks.password=hunter2",
        "api-token=hunter2",
        "db.pass=hunter2",
        '"vendor.secret=hunter2 hunter2"',
    ],
)
def test_values_of_telling_arguments_are_masked(word: str) -> None:
    masked = masked_command_line(f"ro {word} isolcpus=2-3")
    assert "hunter2" not in masked
    assert "keyfile" not in masked
    assert masked.startswith(f"ro {word.partition('=')[0]}={MASK}")
    assert masked.endswith(" isolcpus=2-3")


def test_a_password_in_an_address_is_masked() -> None:
    masked = masked_command_line("inst.ks=https://me:hunter2@example.org/ks.cfg")
    assert masked == f"inst.ks=https://{MASK}@example.org/ks.cfg"


def test_arguments_for_the_first_process_go_altogether() -> None:
    assert masked_command_line("ro -- --token hunter2") == f"ro -- {MASK}"


def test_arguments_that_only_sound_like_it_stay() -> None:
    line = "iommu.passthrough=1 keyboard=us nohz_full=2-3 root=UUID=1 author=me"
    assert masked_command_line(line) == line


@given(st.text(st.characters(blacklist_categories=["C"]), max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = masked_command_line(text)
    assert masked_command_line(once) == once


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----", True),
        ("users:\n- user:\n    client-key-data: LS0t", True),
        ("users:\n- user:\n    token: eyJh", True),
        ('{"password": "x"}'.replace("{", "{\n"), True),
        ("cpuManagerPolicy: static\nserverTLSBootstrap: true", False),
    ],
)
def test_files_that_hold_secrets(text: str, secret: bool) -> None:
    assert holds_secret(text) is secret


@pytest.mark.parametrize("text", ["kind: Secret\n", "PIN: 1\n2: hunter2\n", "not: [yaml"])
def test_what_is_no_pods_manifest_is_left_out_whole(text: str) -> None:
    """And the reason quotes nothing of it."""
    with pytest.raises(ValueError, match=r"^it is no pod's manifest, and may hold a secret$"):
        kept_text("/etc/kubernetes/manifests/a.yaml", text)


def test_of_a_pods_manifest_names_amounts_and_kinds_are_taken() -> None:
    kept = kept_text(
        "/etc/kubernetes/manifests/a.yaml",
        "kind: Pod\nspec: {containers: [{name: a, env: [{name: TOKEN, value: hunter2}]}]}\n",
    )
    assert '"name": "a"' in kept
    assert "hunter2" not in kept
    assert "env" not in kept


def test_of_other_files_all_or_nothing_is_taken() -> None:
    assert kept_text("/etc/tuned/active_profile", "mine") == "mine"
    with pytest.raises(ValueError, match=r"^it holds a secret$"):
        kept_text("/etc/sysconfig/irqbalance", "password=hunter2")
