import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.ports.memif_port import check_new_socket, check_socket_of, memif_devargs
from plimsoll.errors import InputError


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(path))
        server.listen()
        yield path


def test_devargs_name_role_connection_socket_and_ring() -> None:
    assert memif_devargs("client", 1, Path("/run/x.sock"), 16384) == (
        "net_memif1,role=client,id=1,socket=/run/x.sock,socket-abstract=no,rsize=14"
    )


def test_devargs_name_buffers_that_are_not_the_usual_ones() -> None:
    assert memif_devargs("server", 0, Path("/run/x.sock"), 2048, 9216) == (
        "net_memif0,role=server,id=0,socket=/run/x.sock,socket-abstract=no,rsize=11,bsize=9216"
    )


def test_a_free_path_passes(tmp_path: Path) -> None:
    check_new_socket(tmp_path / "s", "lab.socket")


def test_a_socket_in_use_is_named_with_place_and_remedy(listener: Path) -> None:
    with pytest.raises(InputError) as refused:
        check_new_socket(listener, "lab.socket")
    assert refused.value.where == "lab.socket"
    assert f"{listener}: another process listens on it" in refused.value.message
    assert refused.value.remedy == "stop that process or choose another path"


def test_a_left_over_socket_is_distinguished_from_one_in_use(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
    with pytest.raises(InputError, match=r"nothing listens on it \(remove it"):
        check_new_socket(path, "lab.socket")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/tmp/" + "x" * 103, "longer than 107 bytes"),
        ("/tmp/" + "é" * 52, "longer than 107 bytes"),
        ("/tmp/a,role=client", "DPDK cannot read such a path"),
        ("/tmp/a b", "DPDK cannot read such a path"),
        ("relative.sock", "not an absolute path"),
        ("/proc/nonexistent/dir/s", "its directory does not exist"),
    ],
)
def test_a_path_that_cannot_work_is_refused(path: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check_new_socket(Path(path), "lab.socket")


@pytest.mark.parametrize(
    ("devargs", "problem"),
    [
        (f"net_memif0,socket=/tmp/{'x' * 103}", "longer than 107 bytes"),
        (
            "net_memif0,socket-abstract=no,socket=/proc/nonexistent/s",
            "its directory does not exist",
        ),
        ("net_vhost12,iface=/proc/nonexistent/s", "its directory does not exist"),
        ("net_virtio_user0,queues=2,path=/proc/nonexistent/s", "its directory does not exist"),
    ],
)
def test_a_vdev_whose_socket_cannot_be_is_refused(devargs: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        check_socket_of(devargs, "lab.ports[0].devargs")
    assert refused.value.where == "lab.ports[0].devargs"
    assert refused.value.remedy


@pytest.mark.parametrize(
    "devargs",
    [
        "0000:01:00.0",
        "net_memif0",
        # An abstract socket, memif's default, is in no directory.
        "net_memif0,role=client,socket=/proc/nonexistent/s",
        "net_memif0,socket-abstract=no,socket=/tmp/s",
        "net_tap0,iface=plimsoll0",
    ],
)
def test_a_vdev_without_a_socket_or_with_a_possible_one_passes(devargs: str) -> None:
    check_socket_of(devargs, "lab.ports[0].devargs")
