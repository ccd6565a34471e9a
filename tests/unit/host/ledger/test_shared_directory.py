import os
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.shared_directory import ledger_uses, post, posted, posted_by_us, withdraw
from tests.worded.says import Says

ME = os.getuid()


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLIMSOLL_SHARED", str(tmp_path))
    return tmp_path


def test_what_is_posted_is_read_replaced_and_withdrawn(shared: Path) -> None:
    post("lab-1", "use", "first")
    post("lab-1", "use", "second")
    post("lab-1", "hugepages", "other")
    assert [(file.uid, file.ledger_id, file.text) for file in posted("use")] == [
        (ME, "lab-1", "second")
    ]
    assert (shared / f"plimsoll.{ME}.lab-1.use").stat().st_mode & 0o777 == 0o644
    withdraw("lab-1", "use")
    withdraw("lab-1", "use")
    assert posted("use") == ()
    assert posted_by_us("lab-1", "hugepages") == "other"


def test_what_only_looks_like_ours_is_left_out(shared: Path) -> None:
    secret = shared / "secret"
    secret.write_text("secret")
    (shared / f"plimsoll.{ME}.link.use").symlink_to(secret)
    os.mkfifo(shared / f"plimsoll.{ME}.fifo.use")
    (shared / f"plimsoll.{ME}.folder.use").mkdir()
    (shared / f"plimsoll.{ME}.huge.use").write_bytes(b"x" * (1 << 18) + b"x")
    (shared / f"plimsoll.{ME + 1}.other.use").write_text("not its owner's name")
    (shared / f"plimsoll.{ME}.../use").parent.mkdir()
    assert posted("use") == ()


def test_a_link_at_our_own_place_is_replaced_and_not_followed(shared: Path) -> None:
    target = shared / "target"
    target.write_text("kept")
    (shared / f"plimsoll.{ME}.lab-1.use").symlink_to(target)
    post("lab-1", "use", "text")
    assert target.read_text() == "kept"
    assert [file.text for file in posted("use")] == ["text"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100000,
        "{}",
        '{"boot_id": "BOOT", "directory": 1}',
        '{"boot_id": "BOOT", "directory": "/x", "created_unix_s": 1, "owner": {"pid": -1, '
        '"start_ticks": 0}, "processes": [], "polled_cpus": []}',
        '{"boot_id": "BOOT", "directory": "/x", "created_unix_s": 1, "owner": {"pid": 1e999, '
        '"start_ticks": 0}, "processes": [], "polled_cpus": []}',
    ],
)
def test_a_hostile_use_is_left_out(text: str, shared: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    post("lab-1", "use", text.replace("BOOT", boot))
    assert ledger_uses() == ()


def test_a_name_of_another_cannot_write_to_our_terminal(state: Path) -> None:
    ledger = Ledger.create("lab")
    ledger.note_process("\x1b[2Jevil", ledger.record.owner or pytest.fail("no owner"))
    (use,) = ledger_uses()
    assert use.processes[0].name == "?[2Jevil"


@pytest.mark.skipif(ME != 0, reason="only root may give a directory away")
def test_a_directory_where_others_can_replace_files_is_refused(shared: Path, says: Says) -> None:
    shared.chmod(0o777)
    with pytest.raises(MachineError) as caught:
        post("lab-1", "use", "text")
    assert caught.value == says("PLIMSOLL_SHARED")
    shared.chmod(0o1777)
    post("lab-1", "use", "text")
    os.chown(shared, 4242, 4242)
    with pytest.raises(MachineError) as caught:
        post("lab-1", "use", "text")
    assert caught.value == says("PLIMSOLL_SHARED", "1777")


def test_a_missing_directory_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: Says
) -> None:
    monkeypatch.setenv("PLIMSOLL_SHARED", str(tmp_path / "missing"))
    with pytest.raises(MachineError) as caught:
        post("lab-1", "use", "text")
    assert caught.value == says("1777")
