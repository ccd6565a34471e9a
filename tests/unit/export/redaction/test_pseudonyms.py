"""Names and addresses replaced in text."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.export.redaction.pseudonyms import Pseudonyms
from plimsoll.export.redaction.redacted_run import identities_in, with_short_names

WORDS = [
    ("host", "dut-7.lab.example"),
    ("host", "dut-7"),
    ("user", "alice"),
    ("serial", "CZJ12345"),
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("alice on DUT-7.lab.example and dut-7", "user-1 on host-1 and host-2"),
        ("20260101T120000-dut-7", "20260101T120000-host-1"),
        ("alicex malice dut-70", "alicex malice dut-70"),
        ("metrics/trial-0003@dut-7.lab.example.parquet", "metrics/trial-0003@host-1.parquet"),
        ("serial CZJ12345.", "serial serial-1."),
        ("mac 86:CD:e8:2e:12:70, 86:cd:e8:2e:12:70", "mac 0a:00:5e:00:00:01, 0a:00:5e:00:00:01"),
        ("86-cd-e8-2e-12-70", "0a-00-5e-00-00-01"),
        ("ping 10.1.2.3/24 10.1.2.3", "ping 198.19.128.1/24 198.19.128.1"),
        ("fe80::1%eth0, [fd00::5]:22", "2001:db8::1%eth0, [2001:db8::2]:22"),
        ("https://u:p@bmc.lab/redfish/v1", "https://host-1/…"),
        ("kube://lab/bench/observer", "kube://host-1/host-2/host-3"),
        ("kube:///bench/observer/observe", "kube:///host-1/host-2/host-3"),
        ("bob@corp.example.com", "user-1@host-1"),
        ("--file=/home/bob/x.yaml /opt/y", "--file=/path-1 /path-2"),
        ("~/lab.yaml", "/path-1"),
        ("/etc/alice/x /dev/disk/by-id/nvme-S4EV", "/etc/user-1/x /dev/disk/by-id/disk-1"),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", "00000000-0000-4000-8000-000000000001"),
        ("id 3d1219c7c4c5404aaa1f6d2a48adfda4", f"id {1:032d}"),
    ],
)
def test_what_says_whose_it_is_has_a_stand_in(text: str, shown: str) -> None:
    assert Pseudonyms(WORDS).text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Tag=probe/0-0@0:0+lateness",
        "polling-gaps@cpu-0",
        "--lcores 0@(0-1),1@1",
        "17:34:26 12:34:56:78 0000:18:00.0",
        "DPDK 22.11.11, 6.1.0-18-amd64",
        "198.18.0.1 127.0.0.1 0.0.0.0 ff:ff:ff:ff:ff:ff 01:00:5e:00:00:01 ::1 239.1.2.3",
        "/proc/cmdline /sys/devices/system/cpu/isolated /usr/bin/dpdk-testpmd",
        "load/0-1: 293/s, KiB/s, r/i40e-.*/",
        "dfbae4b3467f38fdc45893090886c2e45a0416f039ceb2ac2261251d1d5bd441",
        "999.1.2.3 1.2.3.4.5",
        "trial-0003@other.parquet cpu*/topology /proc/<pid>/stat",
    ],
)
def test_what_has_no_owner_stays(text: str) -> None:
    assert Pseudonyms(WORDS).text(text) == text


def test_a_stand_in_is_the_same_each_time_and_of_its_kind() -> None:
    pseudonyms = Pseudonyms(WORDS)
    first = pseudonyms.text("10.0.0.1 10.0.0.2")
    assert pseudonyms.text("10.0.0.2 10.0.0.1") == " ".join(reversed(first.split()))
    assert all(ipaddress.ip_address(each) for each in first.split())
    assert pseudonyms.counts == {"ipv4": 2}


@given(st.lists(st.integers(min_value=0, max_value=2**48 - 1), min_size=1, max_size=20))
def test_addresses_that_differ_still_do(numbers: list[int]) -> None:
    macs = {":".join(re.findall("..", f"{number:012x}")) for number in numbers}
    pseudonyms = Pseudonyms()
    shown = [pseudonyms.text(mac) for mac in macs]
    assert len(set(shown)) == len(macs)
    assert all(re.fullmatch("[0-9a-f]{2}(:[0-9a-f]{2}){5}", each) for each in shown)


def test_names_are_found_where_a_record_has_them() -> None:
    document = {
        "host": "dut-7.lab.example",
        "kernel_version": "#1 SMP (builder@buildhost-3) x",
        "observe": {"hosts": [{"ssh": "carol@10.0.0.9"}, {"ssh": "tester-2"}]},
        "bios": {"SerialNumber": "CZJ12345", "console": "serial console"},
        "names": {"host": "42", "node": "numa-1"},
        "argv": ["/home/dave/bin/x", "root@localhost"],
        "note": "Serial no: ABC-998877, serial console",
    }
    found = set(with_short_names(identities_in(document)))
    assert found == {
        ("host", "dut-7.lab.example"),
        ("host", "dut-7"),
        ("host", "buildhost-3"),
        ("user", "builder"),
        ("user", "carol"),
        ("host", "10.0.0.9"),
        ("host", "tester-2"),
        ("serial", "CZJ12345"),
        ("user", "dave"),
        ("serial", "ABC-998877"),
    }
