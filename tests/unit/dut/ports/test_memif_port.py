import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.ports.memif_port import check_new_socket, check_socket_of, memif_devargs
from plimsoll.errors import InputError
from tests.worded.says import Says


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


def test_a_socket_in_use_is_named_with_place_and_remedy(listener: Path, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        check_new_socket(listener, "lab.socket")
    assert refused.value.where == "lab.socket"
    assert refused.value == says(str(listener))


def test_a_left_over_socket_is_distinguished_from_one_in_use(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
    with pytest.raises(InputError) as caught:
        check_new_socket(path, "lab.socket")
    assert caught.value == says("lab.socket")


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("/tmp/" + "x" * 103, ("107",)),
        ("/tmp/" + "é" * 52, ("107",)),
        ("/tmp/a,role=client", ("lab.socket", "/tmp/a,role=client")),
        ("/tmp/a b", ("lab.socket", "/tmp/a")),
        ("relative.sock", ("lab.socket", "relative.sock")),
        ("/proc/nonexistent/dir/s", ("lab.socket", "/proc/nonexistent/dir/s")),
    ],
)
def test_a_path_that_cannot_work_is_refused(path: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        check_new_socket(Path(path), "lab.socket")
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    ("devargs", "facts"),
    [
        (f"net_memif0,socket=/tmp/{'x' * 103}", ("107",)),
        (
            "net_memif0,socket-abstract=no,socket=/proc/nonexistent/s",
            ("lab.ports[0].devargs", "/proc/nonexistent/s"),
        ),
        ("net_vhost12,iface=/proc/nonexistent/s", ("lab.ports[0].devargs", "/proc/nonexistent/s")),
        (
            "net_virtio_user0,queues=2,path=/proc/nonexistent/s",
            ("lab.ports[0].devargs", "/proc/nonexistent/s"),
        ),
    ],
)
def test_a_vdev_whose_socket_cannot_be_is_refused(
    devargs: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as refused:
        check_socket_of(devargs, "lab.ports[0].devargs")
    assert refused.value == says(*facts)
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
