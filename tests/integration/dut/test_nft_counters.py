"""Counters of nftables by netlink, as the kernel has them."""

import shutil
import subprocess

import pytest

from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.flowtable_counts import NftCounters
from plimsoll.host.namespaces.network_namespace import run_within

TABLES = """
table inet plimsoll {
    counter port0 { packets 5000000000 bytes 230000000000 }
    counter port1 { }
    quota port2 { over 5 mbytes }
}
table inet other {
    counter port0 { packets 1 bytes 2 }
}
table ip plimsoll {
    counter port3 { packets 3 bytes 4 }
}
"""


def test_counters_of_a_table_are_read_by_name(ledger: Ledger) -> None:
    if shutil.which("nft") is None:
        pytest.skip("there is no nft (package nftables)")
    namespace = ledger.namespace
    namespace.create()
    done = subprocess.run(
        namespace.enter("nft", "-f", "-"), input=TABLES, capture_output=True, text=True, check=False
    )
    if "not supported" in done.stderr:
        pytest.skip(f"the kernel has no nftables: {done.stderr}")
    assert done.returncode == 0, done.stderr
    counters = run_within(namespace.path, NftCounters)
    assert counters.packets("plimsoll") == {"port0": 5_000_000_000, "port1": 0}
    assert counters.packets("no-such-table") == {}
