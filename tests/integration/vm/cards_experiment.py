"""What experiments in a guest with network cards have in common.

Its three processors are emulated by what the host has, and two of them poll.
"""

from __future__ import annotations

from tests.integration.command import QUICK
from tests.integration.vm.nic_guest import CARDS

DUT_CARDS = [CARDS[1], CARDS[2]]
# Through testpmd, from a generator on CPU 1: an experiment as far as it does not say more.
ON_CARDS = QUICK | {
    "lab": {
        "kind": "testpmd",
        "cpu": 2,
        "mbufs": 8192,
        "cards": {
            "dut": DUT_CARDS,
            "tester": [{"devargs": CARDS[3]}, {"devargs": CARDS[4]}],
        },
    },
    "observe": {"enabled": False},
}
# Ends at its maximum, with two trials before the validation.
SHORT_SEARCH = {
    "strategy": "binary",
    "minimum": "50pps",
    "maximum": "200pps",
    "start": "100pps",
    "granularity": "50%",
    "duration": "2s",
    "validation": {"duration": "4s"},
}
