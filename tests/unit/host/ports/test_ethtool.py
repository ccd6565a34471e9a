import struct

import pytest

from plimsoll.host.ports.ethtool import (
    HardwareStamps,
    driver_of,
    hardware_stamps_of,
    read_stamping_info,
)

# SOF_TIMESTAMPING_*: software TX 2, RX 8, reporting 16; hardware TX 1, RX 4, raw 64.
SOFTWARE = 2 | 8 | 16
HARDWARE = SOFTWARE | 1 | 4 | 64


def info(ways: int, phc: int, tx_types: int, rx_filters: int) -> bytes:
    """struct ethtool_ts_info of linux/ethtool.h."""
    return struct.pack("=IIiIIIIIIII", 0x41, ways, phc, tx_types, 0, 0, 0, rx_filters, 0, 0, 0)


@pytest.mark.parametrize(
    ("answer", "stamps"),
    [
        # As ethtool -T shows of veth; of an X710, which stamps PTP only; and of an E810.
        (info(SOFTWARE, -1, 0, 0), HardwareStamps(False, False, False, None)),
        (info(HARDWARE, 2, 0b11, 0b1001_0000_0001), HardwareStamps(False, True, True, 2)),
        (info(HARDWARE, 0, 0b11, 0b11), HardwareStamps(True, True, True, 0)),
        # A driver that lists filters but has no clock to show.
        (info(HARDWARE & ~64, 0, 0b11, 0b11), HardwareStamps(False, False, False, 0)),
        (info(HARDWARE, 0, 0b01, 0b01), HardwareStamps(False, False, False, 0)),
    ],
)
def test_stamps_are_what_the_card_and_its_filters_allow(
    answer: bytes, stamps: HardwareStamps
) -> None:
    assert read_stamping_info(answer) == stamps


def test_the_loopback_stamps_nothing_by_hardware() -> None:
    assert hardware_stamps_of("lo") == HardwareStamps(False, False, False, None)


def test_an_interface_that_is_not_there_tells_nothing() -> None:
    assert driver_of("pl-nowhere") is None
    assert hardware_stamps_of("pl-nowhere") is None
