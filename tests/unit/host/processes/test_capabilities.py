from pathlib import Path

import pytest

from plimsoll.host.processes.privileges import (
    effective_capabilities,
    missing_for_packet_sockets,
    missing_for_xdp,
)


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        ("0000000000000000", set()),
        ("0000000000002000", {"CAP_NET_RAW"}),
        ("0000008000003000", {"CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"}),
        (
            "000001ffffffffff",
            {"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_SYS_ADMIN", "CAP_BPF"},
        ),
    ],
)
def test_they_are_read_by_number(tmp_path: Path, bits: str, names: set[str]) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tpython\nCapPrm:\t000001ffffffffff\nCapEff:\t{bits}\nCapBnd:\t0\n")
    assert effective_capabilities(status) == names


def test_packet_sockets_need_one() -> None:
    assert missing_for_packet_sockets({"CAP_NET_ADMIN"}) == ("CAP_NET_RAW",)
    assert missing_for_packet_sockets({"CAP_NET_RAW"}) == ()


@pytest.mark.parametrize(
    ("held", "missing"),
    [
        (set(), ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF")),
        ({"CAP_NET_RAW", "CAP_NET_ADMIN"}, ("CAP_BPF",)),
        ({"CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_SYS_ADMIN"}, ()),
        ({"CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"}, ()),
    ],
)
def test_xdp_needs_three_of_which_an_older_one_replaces_one(
    held: set[str], missing: tuple[str, ...]
) -> None:
    assert missing_for_xdp(held) == missing
