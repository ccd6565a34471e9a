"""Check 40: the node tuning operator's channels=combined <reserved CPUs>."""

from typing import Any

from plimsoll.tune.audit.checks.nic_queues import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

NET = "/sys/class/net"
LINKS = {
    f"{NET}/eno1": "../../devices/pci0000:00/0000:00:1f.6/net/eno1",
    f"{NET}/eno1/device": "../../../0000:00:1f.6",
    f"{NET}/lo": "../../devices/virtual/net/lo",
    f"{NET}/eno1v0": "../../devices/pci0000:00/0000:00:10.0/net/eno1v0",
    f"{NET}/eno1v0/device": "../../../0000:00:10.0",
    f"{NET}/eno1v0/device/physfn": "../0000:00:1f.6",
}
INTENT = intent(user_level_networking=True)


def view(queues: int) -> Any:
    names = tuple(f"{way}-{number}" for way in ("rx", "tx") for number in range(queues))
    many = tuple(f"rx-{number}" for number in range(16))
    listed = {
        NET: ("eno1", "eno1v0", "lo"),
        f"{NET}/eno1/queues": names,
        f"{NET}/lo/queues": many,
        f"{NET}/eno1v0/queues": many,
    }
    return host(CHECK, {}, links=LINKS, listed=listed)


def test_a_queue_for_each_reserved_cpu_is_ok() -> None:
    """Two CPUs are reserved; the loopback and the VF do not count."""
    assert CHECK.judge(view(2), INTENT).verdict == "ok"


def test_more_queues_fail() -> None:
    finding = CHECK.judge(view(8), INTENT)
    assert finding.verdict == "fail"
    assert commands(finding) == ["ethtool -L eno1 combined 2"]


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(view(8), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {}), INTENT).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    listed = {NET: ("eno1",)}
    hidden = host(CHECK, {}, links=LINKS, listed=listed, forbidden=[f"{NET}/eno1/queues"])
    assert CHECK.judge(hidden, INTENT).verdict == "unknown"
