"""Captures in archives of every kind that people make of them; each within bounds."""

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.host.capture import open_capture
from plimsoll.tune.host.capture.capture import CapturedHost, write_capture
from plimsoll.tune.host.capture.collect import NeededFiles, collect
from plimsoll.tune.host.capture.open_capture import open_root
from tests.worded.says import Says

HOST = CapturedHost(files={"/proc/version": "Linux", "/proc/cmdline": "ro"})
EXPECTED = NeededFiles(files=("/proc/version", "/proc/cmdline"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture, unpacked."""
    path = tmp_path / "x.tar.gz"
    write_capture(collect(HOST, EXPECTED, datetime(2026, 11, 22, tzinfo=UTC)), path)
    shutil.unpack_archive(path, tmp_path / "folder")
    return tmp_path / "folder"


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        open_root(path)
    assert caught.value.where == str(path)
    return caught.value


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", ""])
def test_it_is_opened_however_it_is_compressed_and_called(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    """Packed anew by hand, as `tar -C FOLDER -cf x.tar .` does."""
    with tarfile.open(tmp_path / "capture", f"w:{kind}") as archive:
        archive.add(folder, ".")
    view = open_root(tmp_path / "capture")
    assert (view.need("/proc/version"), view.need("/proc/cmdline")) == ("Linux", "ro")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_it_is_bounded_and_a_cut_one_refused(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compress: Callable[[bytes], bytes],
    says: Says,
) -> None:
    plain, packed = tmp_path / "plain.tar", tmp_path / "packed"
    with tarfile.open(plain, "w") as archive:
        archive.add(folder / "manifest.json", "manifest.json")
        for number in range(8):
            large = tarfile.TarInfo(f"files/{number}")
            large.size = 1 << 18
            archive.addfile(large, io.BytesIO(bytes(1 << 18)))
    content = compress(plain.read_bytes())
    packed.write_bytes(content)
    assert open_root(packed).listing("/") == tuple("01234567")
    packed.write_bytes(content[: len(content) // 2])
    assert refusal(packed).message == says()
    monkeypatch.setattr(open_capture, "_MAX_BYTES", 1 << 20)
    packed.write_bytes(content)
    assert refusal(packed).message == says("1", "MiB")


def test_one_that_asks_for_gigabytes_to_be_unpacked_is_refused(tmp_path: Path, says: Says) -> None:
    """An xz dictionary is as large as its header says."""
    content = bytearray(lzma.compress(b"a capture"))
    # After the stream's header of 12 bytes the block's: its size in words less one, flags, then
    # for each filter its id, the size of its properties and these: LZMA2 is 0x21, and its
    # dictionary size 38 means 2 GiB. A CRC32 ends it (xz-file-format.txt, 3.1 and 5.3.1).
    end = 12 + content[12] * 4
    assert bytes(content[14:16]) == b"\x21\x01"
    content[16] = 38
    content[end : end + 4] = zlib.crc32(bytes(content[12:end])).to_bytes(4, "little")
    path = tmp_path / "x.tar.xz"
    path.write_bytes(content)
    assert refusal(path).message == says()


def test_zstandard_is_named(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "x.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd and so on")
    error = refusal(path)
    assert error == says("tar")


def test_names_without_files_are_refused_before_they_are_all_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    """Each takes tarfile a hundred times as long as as many bytes of a file."""
    monkeypatch.setattr(open_capture, "_MAX_HEADER_BYTES", 1 << 20)
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        archive.add(folder, ".")
        for number in range(1000):
            archive.addfile(tarfile.TarInfo(f"files/{'x' * 3000}{number}"))
    assert path.stat().st_size < 1 << 17
    assert refusal(path).message == says("1", "MiB")


def test_paths_deeper_than_any_of_a_host_are_refused(
    folder: Path, tmp_path: Path, says: Says
) -> None:
    """Of a path of 2000 parts each is looked up with all before it."""
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(folder, ".")
        archive.addfile(tarfile.TarInfo("files/" + "a/" * 2000 + "a"))
    assert refusal(path).message == says()


def test_attributes_without_end_are_refused(folder: Path, tmp_path: Path, says: Says) -> None:
    member = tarfile.TarInfo("files/a")
    member.pax_headers = {f"k{number}": "v" for number in range(40_000)}
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.add(folder, ".")
        archive.addfile(member)
    assert refusal(path).message == says("64")
