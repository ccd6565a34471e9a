"""What tests of methods share."""

import pytest

from plimsoll.dut.ports.tester_ports import check_card


@pytest.fixture(autouse=True)
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has the cards of made-up labs, 0000:01:00.0 and 0000:01:00.1."""

    def check(address: str, where: str) -> None:
        if not address.startswith("0000:01:00."):
            check_card(address, where)

    monkeypatch.setattr("plimsoll.dut.ports.tester_ports.check_card", check)
