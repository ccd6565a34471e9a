import os
import socket
import subprocess
from pathlib import Path

import pytest

from plimsoll.host.processes.privileges import (
    effective_numbers,
    limited,
    needed_for,
    needed_to_make,
)

DAC_OVERRIDE, NET_ADMIN, NET_RAW, IPC_LOCK, SYS_ADMIN, BPF = 1, 12, 13, 14, 21, 39
needs_setpcap = pytest.mark.skipif(8 not in effective_numbers(), reason="needs CAP_SETPCAP")


def status_of(needed: frozenset[int]) -> dict[str, str]:
    argv = limited(["cat", "/proc/self/status"], needed)
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return dict(line.split(":\t", 1) for line in said.splitlines())


@needs_setpcap
def test_a_program_that_needs_nothing_holds_nothing_and_gains_nothing() -> None:
    status = status_of(frozenset())
    assert {status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"


@needs_setpcap
def test_a_program_holds_what_its_ports_need_and_no_more() -> None:
    status = status_of(needed_for(["net_af_packet0,iface=eth9"]))
    # Bits 12, 13 and 14.
    assert (status["CapEff"], status["CapBnd"]) == ("0000000000007000", "0000000000007000")


@pytest.mark.parametrize(
    ("devargs", "needed"),
    [
        ("net_ring0", set()),
        ("net_null1,copy=0", set()),
        ("net_memif0,role=client,socket=/run/x", {DAC_OVERRIDE}),
        ("net_af_packet0,iface=net_ring0", {NET_ADMIN, NET_RAW, IPC_LOCK}),
    ],
)
def test_each_kind_of_port_needs_its_own(devargs: str, needed: set[int]) -> None:
    assert needed_for([devargs]) == needed


def test_a_socket_that_is_ours_needs_nothing(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert needed_for([f"net_memif0,role=client,socket={tmp_path}/s,rsize=10"]) == set()


def test_ports_of_several_kinds_need_what_all_need() -> None:
    both = needed_for(["net_ring0", "net_af_packet1,iface=eth9", "net_vhost0,iface=/run/x"])
    assert both == {NET_ADMIN, NET_RAW, IPC_LOCK, DAC_OVERRIDE}


def test_xdp_may_load_programs_and_lock_memory() -> None:
    assert {BPF, NET_RAW, NET_ADMIN, IPC_LOCK} <= needed_for(["net_af_xdp0,iface=eth9"])


@pytest.mark.parametrize("devargs", ["0000:03:00.0", "net_unheard0", "crypto_x"])
def test_devices_and_unknown_drivers_lock_memory_and_touch_no_processes(devargs: str) -> None:
    needed = needed_for([devargs])
    # CAP_SYS_PTRACE, CAP_SYS_MODULE, CAP_SYS_BOOT, CAP_SETUID, CAP_KILL.
    assert needed.isdisjoint({19, 16, 22, 7, 5})


def test_without_the_right_to_narrow_only_gaining_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plimsoll.host.processes.privileges.effective_numbers", frozenset)
    assert limited(["x"], frozenset()) == ("setpriv", "--no-new-privs", "--", "x")
    # The file itself may have what an ordinary user's ports need (setcap).
    assert limited(["x"], frozenset({NET_RAW})) == ("x",)


def test_a_socket_in_a_directory_of_our_own_needs_nothing(tmp_path: Path) -> None:
    assert needed_to_make(tmp_path / "memif.sock") == frozenset()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a directory away")
def test_a_socket_in_another_users_directory_needs_to_pass_by_its_mode(tmp_path: Path) -> None:
    os.chown(tmp_path, 4242, 4242)
    assert needed_to_make(tmp_path / "memif.sock") == {DAC_OVERRIDE}
