"""PCI: no test sends on a real card, but what is said of one that cannot be had is tested."""

import pytest

from tests.integration.engine.port_bed import refusal
from tests.integration.engine.session import EngineSession


@pytest.mark.parametrize("address", ["ffff:ff:1f.7", "ff:1f.7"])
def test_an_address_without_a_device(engine: EngineSession, address: str) -> None:
    error = refusal(engine, "net_null0", address)
    assert error["where"] == "ports[1]"
    assert error["message"].startswith("DPDK cannot open this device")
