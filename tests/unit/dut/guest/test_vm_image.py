"""What a guest boots: read back by cpio, and what is missing said with its place."""

import gzip
import lzma
import subprocess
from pathlib import Path

import pytest

from plimsoll.dut.guest.vm_image import VmImage
from plimsoll.errors import InputError
from tests.worded.says import Says


@pytest.fixture
def busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    content = b"a static busybox"
    program = tmp_path / "bin" / "busybox"
    program.parent.mkdir()
    program.write_bytes(content)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return content


def image(folder: Path) -> VmImage:
    (folder / "modules").mkdir(parents=True)
    (folder / "vmlinuz").write_bytes(b"a kernel")
    (folder / "modules" / "bridge.ko").write_bytes(b"bridge")
    (folder / "modules" / "virtio_net.ko.xz").write_bytes(lzma.compress(b"net"))
    (folder / "modules" / "virtiofs.ko").write_bytes(b"not for a switch")
    return VmImage(folder)


def test_cpio_unpacks_what_the_guest_boots(tmp_path: Path, busybox: bytes) -> None:
    archive = gzip.decompress(image(tmp_path / "image").initramfs())
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["cpio", "-id", "--quiet"], input=archive, cwd=out, check=True)
    assert (out / "bin" / "busybox").read_bytes() == busybox
    # The network card's driver before the bridge, the rest is not for it.
    assert (out / "modules" / "order").read_text() == "virtio_net.ko\nbridge.ko\n"
    assert (out / "modules" / "virtio_net.ko").read_bytes() == b"net"
    assert (out / "init").stat().st_mode & 0o111
    subprocess.run(["sh", "-n", out / "init"], check=True)


def test_testpmd_is_booted_with_its_files_and_without_linuxs_driver(
    tmp_path: Path, busybox: bytes, says: Says
) -> None:
    folder = image(tmp_path / "image").folder
    (folder / "modules" / "uio_pci_generic.ko").write_bytes(b"generic")
    (folder / "modules" / "uio.ko").write_bytes(b"uio")
    with pytest.raises(InputError) as refused:
        VmImage(folder, with_testpmd=True).check()
    assert refused.value == says("/testpmd")
    assert refused.value.where == "lab.guest_image"
    assert "make vm-testpmd" in refused.value.remedy
    program = folder / "testpmd" / "usr" / "bin" / "dpdk-testpmd"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"testpmd")
    archive = gzip.decompress(VmImage(folder, with_testpmd=True).initramfs())
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["cpio", "-id", "--quiet"], input=archive, cwd=out, check=True)
    assert (out / "usr" / "bin" / "dpdk-testpmd").read_bytes() == b"testpmd"
    # With Linux's driver a card would not be testpmd's.
    assert (out / "modules" / "order").read_text() == "uio.ko\nuio_pci_generic.ko\n"
    subprocess.run(["sh", "-n", out / "init"], check=True)


def test_a_folder_without_a_kernel_is_named(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        VmImage(tmp_path).check()
    assert refused.value == says("/vmlinuz")
    assert refused.value.where == "lab.guest_image"
    assert "make vm-kernel" in refused.value.remedy


def test_a_damaged_module_is_an_error(tmp_path: Path, busybox: bytes, says: Says) -> None:
    broken = image(tmp_path / "image")
    (broken.folder / "modules" / "virtio_net.ko.xz").write_bytes(b"no xz")
    with pytest.raises(InputError) as caught:
        broken.initramfs()
    assert caught.value == says("modules")
