"""Users at the other ends of connections, by the kernel's tables."""

import os
import socket
from pathlib import Path

import pytest

from plimsoll.host.processes.tcp_peer import loopback_peer_uid, starters

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
PEER, LOCAL = ("127.0.0.1", 0xBE4A), ("127.0.0.1", 0xB549)
# Of two processes' ends, as /proc/net/tcp of a little-endian machine has them.
THEIRS = "0100007F:BE4A 0100007F:B549"
OURS = "0100007F:B549 0100007F:BE4A"


def tables(folder: Path, tcp: str = "", tcp6: str = "") -> Path:
    (folder / "tcp").write_text(HEAD + tcp)
    (folder / "tcp6").write_text(HEAD + tcp6)
    return folder


def row(ends: str, state: str = "01", uid: int = 1000, inode: int = 331585) -> str:
    return (
        f"  11: {ends} {state} 00000000:00000000 00:00000000 00000000 {uid:5}        0 {inode} 1 "
        "000000004e05ebe3 20 4 25 15 -1\n"
    )


def test_the_clients_end_counts_and_not_the_servers(tmp_path: Path) -> None:
    found = tables(tmp_path, row(OURS, uid=0) + row(THEIRS, uid=1000))
    assert loopback_peer_uid(PEER, LOCAL, found) == 1000


@pytest.mark.parametrize(
    "tcp",
    [
        "",
        row(OURS, uid=0),
        # A connection that was closed has root's id in the table: FIN_WAIT2, TIME_WAIT, and one
        # that is still to be told so.
        row(THEIRS, state="05", uid=0, inode=0),
        row(THEIRS, state="06", uid=0, inode=0),
        row(THEIRS, state="01", uid=0, inode=0),
        row(THEIRS, state="08", uid=0),
        # The same port to another server.
        row("0100007F:BE4A 0100007F:B54A", uid=0),
        row("0200007F:BE4A 0100007F:B549", uid=0),
    ],
)
def test_what_is_not_the_clients_open_end_is_nobodys(tmp_path: Path, tcp: str) -> None:
    assert loopback_peer_uid(PEER, LOCAL, tables(tmp_path, tcp)) is None


def test_ipv6_and_ipv4_within_it(tmp_path: Path) -> None:
    one = "00000000000000000000000001000000"
    mapped = "0000000000000000FFFF00000100007F"
    rows = row(f"{one}:0001 {one}:0002", uid=7) + row(f"{mapped}:BE4A {mapped}:B549", uid=8)
    found = tables(tmp_path, tcp6=rows)
    assert loopback_peer_uid(("::1", 1), ("::1", 2), found) == 7
    assert loopback_peer_uid(PEER, LOCAL, found) == 8
    assert loopback_peer_uid(("::ffff:127.0.0.1", 0xBE4A), LOCAL, found) == 8


@pytest.mark.parametrize(
    ("peer", "local"),
    [(("192.0.2.1", 1), LOCAL), (PEER, ("192.0.2.1", 1)), (("", 0), LOCAL), (("lab-7", 1), LOCAL)],
)
def test_a_connection_from_elsewhere_is_nobodys(
    tmp_path: Path, peer: tuple[str, int], local: tuple[str, int]
) -> None:
    assert loopback_peer_uid(peer, local, tables(tmp_path, row(THEIRS))) is None


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_connection_of_this_process_is_this_users(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as listener, socket.socket(family) as client:
        listener.bind((address, 0))
        listener.listen()
        client.connect(listener.getsockname())
        connection, peer = listener.accept()
        with connection:
            local = connection.getsockname()[:2]
            assert loopback_peer_uid(peer[:2], local) == os.geteuid()
            client.close()
            assert loopback_peer_uid(peer[:2], local) is None


def test_who_called_sudo_has_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert starters() == {0}
    monkeypatch.setenv("SUDO_UID", "1000")
    assert starters() == {0, 1000}
    monkeypatch.setenv("SUDO_UID", "x")
    assert starters() == {0}
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert starters() == {0, 1001}
