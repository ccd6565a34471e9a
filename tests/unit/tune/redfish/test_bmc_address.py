"""Addresses of BMCs."""

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.redfish.bmc_credentials import bmc_address
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://bmc.lab", "https://bmc.lab"),
        ("https://bmc.lab/", "https://bmc.lab"),
        ("https://192.0.2.7:8443", "https://192.0.2.7:8443"),
        ("https://[2001:db8::7]", "https://[2001:db8::7]"),
    ],
)
def test_an_address_is_taken(given: str, address: str) -> None:
    assert bmc_address(given) == address


@pytest.mark.parametrize(
    "given",
    [
        "bmc.lab",
        "http://bmc.lab",
        "https://",
        "https://user:secret@bmc.lab",
        "https://bmc.lab/redfish/v1",
        "https://bmc.lab?x=1",
        "https://bmc.lab:99999",
        "https://bmc.lab:port",
        "https://[2001:db8::7",
        "https://bmc lab",
        "https://bmc.lab\x1b[2J",
    ],
)
def test_anything_else_is_refused_without_a_quote(given: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        bmc_address(given)
    assert caught.value == says("--bmc", "https://host:port")
