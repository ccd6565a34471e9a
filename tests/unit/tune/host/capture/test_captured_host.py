"""A captured host: absent is distinguished from what was not requested."""

import pytest

from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.unread import CannotRead, Unread
from tests.worded.says import Says

CPU = "/sys/devices/system/cpu"
VIEW = CapturedHost(
    files={f"{CPU}/cpu0/online": "1\n", f"{CPU}/cpu10/online": "0\n", "/proc/cmdline": "ro"},
    links={"/sys/class/net/eth0/device": "../../../0000:87:00.0"},
    listed={"/sys/kernel/iommu_groups": ()},
    outputs={"tuned-adm active": CommandOutput(0, "Current active profile: realtime")},
    unread=[Unread("/proc/1/status", "forbidden"), Unread("tuned-adm verify", "absent")],
    collected=["/proc/cmdline", "/proc/version", f"{CPU}/cpu[0-9]*/online", "/proc/1/status"],
)


def test_files_directories_and_links(says: Says) -> None:
    assert VIEW.read(f"{CPU}/cpu0/online") == "1"
    assert VIEW.listing(CPU) == ("cpu0", "cpu10")
    assert VIEW.listing("/sys/kernel/iommu_groups") == ()
    assert VIEW.link("/sys/class/net/eth0/device") == "../../../0000:87:00.0"
    assert VIEW.need_command("tuned-adm active").text == says("active")


def test_what_was_requested_for_and_is_not_there_is_absent() -> None:
    assert VIEW.find("/proc/version") is None
    assert VIEW.find(f"{CPU}/cpu3/online") is None
    # A directory that was looked into for a pattern.
    assert CapturedHost(files={}, collected=["/a/b*/c"]).find_names("/a") == ()


def test_what_was_not_requested_for_is_unknown(says: Says) -> None:
    for ask in (
        lambda: VIEW.find("/proc/meminfo"),
        lambda: VIEW.find_names("/proc/irq"),
        lambda: VIEW.need_command("devlink dev info"),
    ):
        with pytest.raises(CannotRead) as caught:
            ask()
        assert caught.value == says()


def test_what_was_refused_stays_refused(says: Says) -> None:
    with pytest.raises(CannotRead) as caught:
        VIEW.find("/proc/1/status")
    assert caught.value == says()
    assert caught.value.where == "/proc/1/status"
    assert VIEW.command("tuned-adm verify") is None
