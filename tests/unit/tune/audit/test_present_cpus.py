"""What checks of isolated CPUs say where the host has none of them."""

from pathlib import Path

import pytest

from plimsoll.tune.audit.audit import audit
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from plimsoll.tune.host.capture.open_capture import open_root
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.captures.systems import SYSTEMS

CAPTURES = [system.capture for system in SYSTEMS if system.name in ("tuned", "untuned", "mistaken")]
# Of a host of CPUs 0-3, as those are.
ELSEWHERE = {"reserved": "0-3", "isolated": "8-15"}
ABOUT_ISOLATED_CPUS = {1, 2, 3, 4, 5, 6, 7, 12, 13, 28, 32, 33, 34}


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
@pytest.mark.parametrize("balance", [True, False])
def test_nothing_can_be_said_of_cpus_that_are_not_online(capture: Path, balance: bool) -> None:
    declared = intent(
        platform="vm",
        cpus=ELSEWHERE | {"balance_isolated": balance},
        hints={"realtime": True, "high_power": True},
    )
    found = {each.number: each for each in audit(open_root(capture), declared).findings}
    message = {
        number: (found[number].verdict, found[number].text) for number in ABOUT_ISOLATED_CPUS
    }
    assert message == dict.fromkeys(ABOUT_ISOLATED_CPUS, ("not-applicable", NONE_PRESENT))
    # That the intent is of another host is the question of one check alone.
    assert found[10].verdict == "fail"
