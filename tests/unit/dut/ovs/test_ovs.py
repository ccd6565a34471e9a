"""Labs with Open vSwitch: what its tools print, as read, and what is refused beforehand."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.dut.labs.ovs_dpdk import OvsDpdkLab, OvsDpdkSettings
from plimsoll.dut.needs import LabNeeds, NeededProgram
from plimsoll.dut.ovs.figures import read_figures, read_kernel_figures, upcall_remarks
from plimsoll.dut.ovs.switch import (
    PortDrops,
    SwitchPortCounts,
    read_cross_counts,
    read_port_counts,
    read_port_drops,
)
from plimsoll.dut.ovs.vxlan import VxlanTunnel
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from tests.worded.says import Says

# As Open vSwitch 3.1.0 prints them.
PORTS = """\
OFPST_PORT reply (OF1.3) (xid=0x2): 3 ports
  port LOCAL: rx pkts=0, bytes=0, drop=7, errs=0, frame=0, over=0, crc=0
           tx pkts=0, bytes=0, drop=0, errs=0, coll=0
           duration=1.234s
  port  1: rx pkts=200, bytes=12400, drop=3, errs=1, frame=?, over=?, crc=?
           tx pkts=198, bytes=16400, drop=2, errs=?, coll=?
           duration=1.230s
  port  port1: rx pkts=201, bytes=16400, drop=?, errs=?, frame=0, over=0, crc=0
           tx pkts=200, bytes=12400, drop=0, errs=0, coll=0
           duration=1.230s
"""
FIGURES = """\
pmd thread numa_id 0 core_id 1:
  packets received: 400
  packet recirculations: 0
  avg. datapath passes per packet: 1.00
  simple match hits: 390
  emc hits: 8
  smc hits: 0
  megaflow hits: 0
  avg. subtable lookups per megaflow hit: 0.00
  miss with success upcall: 2
  miss with failed upcall: 0
  avg. packets per output batch: 1.00
  idle cycles: 9816132564 (97.15%)
  processing cycles: 287684874 (2.85%)
  avg cycles per packet: 25259543.60 (10103817438/400)
  avg processing cycles per packet: 719212.18 (287684874/400)
main thread:
  packets received: 3
"""


# Of the kernel's datapath, after 450 packets, behind another's in userspace.
KERNEL_FIGURES = """\
netdev@ovs-netdev:
  lookups: hit:7 missed:5 lost:0
  flows: 1
  port 0: ovs-netdev (tap)
system@ovs-system:
  lookups: hit:249 missed:201 lost:3
  flows: 2
  masks: hit:300 total:1 hit/pkt:0.67
  cache: hit:149 hit-rate:33.11%
  caches:
    masks-cache: size:256
  port 0: ovs-system (internal)
  port 1: port1
"""


def test_counters_of_ports_are_read_by_number_and_by_name() -> None:
    counts = read_port_counts(PORTS)
    assert counts["1"] == SwitchPortCounts(200, 3, 1, 198, 2, 0)
    # What the switch does not count is "?".
    assert counts["port1"] == SwitchPortCounts(201, 0, 0, 200, 0, 0)


@pytest.mark.parametrize("text", ["", "ovs-ofctl: unix:x: failed", PORTS[:200]])
def test_what_are_no_counters_is_refused(text: str, says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        read_port_counts(text)
    assert caught.value == says("vSwitch")


def test_the_caches_hits_are_read_by_thread_and_averages_left_out() -> None:
    assert read_figures(FIGURES) == {
        "pmd thread numa_id 0 core_id 1": {
            "packets received": 400,
            "packet recirculations": 0,
            "simple match hits": 390,
            "emc hits": 8,
            "smc hits": 0,
            "megaflow hits": 0,
            "miss with success upcall": 2,
            "miss with failed upcall": 0,
            "idle cycles": 9816132564,
            "processing cycles": 287684874,
        },
        "main thread": {"packets received": 3},
    }


def test_figures_of_the_kernels_datapath_are_read_by_its_name() -> None:
    assert read_kernel_figures(KERNEL_FIGURES) == {
        "system@ovs-system": {
            "lookups": 450,
            "mask cache hits": 149,
            "megaflow hits": 100,
            "miss with success upcall": 198,
            "miss with failed upcall": 3,
            "flows": 2,
            "mask lookups": 300,
            "masks": 1,
        }
    }


def test_a_datapath_that_has_passed_nothing_has_no_hits() -> None:
    fresh = """\
system@ovs-system:
  lookups: hit:0 missed:0 lost:0
  flows: 0
  masks: hit:0 total:0 hit/pkt:0.00
  caches:
    masks-cache: size:256
"""
    assert set(read_kernel_figures(fresh)["system@ovs-system"].values()) == {0}


def test_the_kernels_datapath_has_ports_of_its_own(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        OvsSettings(datapath="system", ports="af_xdp")
    assert caught.value == says("ports")


def test_the_kernels_datapath_is_refused_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: True)
    monkeypatch.setattr(NeededProgram, "missing", False)
    monkeypatch.setattr(LabNeeds, "check", lambda self: None)
    with pytest.raises(MachineError) as refused:
        OvsSettings(datapath="system").check_machine()
    assert refused.value.where == "lab.datapath"
    assert refused.value == says(
        "vSwitch", "datapath", "CONFIG_OPENVSWITCH", "modprobe openvswitch"
    )
    assert refused.value.remedy is not None
    assert "modprobe openvswitch" in refused.value.remedy
    OvsSettings().check_machine()
    assert OvsSettings.needs().unavailable_settings() == says(
        "datapath", "system", "vSwitch", "CONFIG_OPENVSWITCH"
    )


def test_tunnels_of_the_kernels_datapath_are_refused_where_the_kernel_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: self.name == "VXLAN")
    monkeypatch.setattr(LabNeeds, "check", lambda self: None)
    with pytest.raises(MachineError) as refused:
        OvsSettings(datapath="system", vxlan=VxlanTunnel(vni=7)).check_machine()
    assert refused.value.where == "lab.vxlan"
    assert "no VXLAN tunnels (CONFIG_VXLAN)" in str(refused.value)
    # In userspace the switch encapsulates by itself.
    OvsSettings(vxlan=VxlanTunnel(vni=7)).check_machine()


def test_memory_holds_the_mbufs_of_both_ports() -> None:
    # 16384 for each, which may not cross a page of 4 kB, as testpmd's.
    assert OvsDpdkSettings().megabytes > 2 * 16384 * 4096 >> 20
    assert OvsDpdkSettings().largest_frame_size == 1518


@pytest.mark.parametrize(
    ("huge", "extra"),
    [(True, "--no-pci --in-memory"), (False, "--no-pci --no-huge --legacy-mem -m 208 ")],
)
def test_the_switch_is_given_its_cpu_and_memory(tmp_path: Path, *, huge: bool, extra: str) -> None:
    settings = OvsDpdkSettings(cpu=5, emc_probability=0, smc=True)
    lab = OvsDpdkLab(settings, Ledger(tmp_path), MemoryPlan(huge=huge, megabytes=208), "ours")
    config = lab._other_config()
    assert config["pmd-cpu-mask"] == "0x20"
    assert config["dpdk-extra"].startswith(extra)
    assert ("dpdk-socket-limit" in config) == huge
    assert (config["emc-insert-inv-prob"], config["smc-enable"]) == ("0", "true")
    assert lab._devargs(1) == (
        f"net_virtio_user1,path={tmp_path}/ovs/port1,queues=1,queue_size=1024"
    )


def test_settings_that_are_unsound_are_refused() -> None:
    for changes in ({"ring_size": 1000}, {"emc_probability": -1}, {"rules": "drop"}):
        with pytest.raises(ValidationError):
            OvsDpdkSettings.model_validate(changes)


# As Open vSwitch 3.1.0 prints them by OpenFlow 1.3 and 1.4.
FLOWS = """\
OFPST_FLOW reply (OF1.3) (xid=0x2):
 cookie=0x0, table=0, n_packets=25585568, n_bytes=1637476352, in_port=1 actions=output:2
 cookie=0x0, table=0, n_packets=7, n_bytes=448, in_port="guest0b" actions=output:port1
 cookie=0x0, table=0, n_packets=9, n_bytes=448, actions=NORMAL
"""
DROPS = """\
OFPST_PORT reply (OF1.4) (xid=0x2): 2 ports
  port  1: rx pkts=?, bytes=?, drop=?, errs=?, frame=?, over=?, crc=?
           tx pkts=?, bytes=?, drop=?, errs=?, coll=?
           duration=5.840s
           CUSTOM Statistics
                      ovs_tx_failure_drops=30, ovs_tx_mtu_exceeded_drops=2,
                      ovs_tx_qos_drops=0, ovs_rx_qos_drops=9, ovs_tx_invalid_hwol_drops=0,
                      ovs_tx_retries=100,
  port  port1: rx pkts=?, bytes=?, drop=?, errs=?, frame=?, over=?, crc=?
           tx pkts=?, bytes=?, drop=?, errs=?, coll=?
           duration=5.841s
"""


def test_rules_that_join_two_ports_are_counted() -> None:
    assert list(read_cross_counts(FLOWS)) == [("1", "2", 25585568), ("guest0b", "port1", 7)]


def test_what_a_port_dropped_is_summed_by_direction() -> None:
    # Retries lost nothing.
    assert read_port_drops(DROPS) == {"1": PortDrops(9, 32), "port1": PortDrops(0, 0)}


def figures(received: int, answered: int, failed: int) -> dict[str, dict[str, int]]:
    return {
        "pmd thread numa_id 0 core_id 1": {
            "packets received": received,
            "miss with success upcall": answered,
            "miss with failed upcall": failed,
        }
    }


def test_the_first_packets_of_flows_are_no_storm() -> None:
    before, after = figures(100, 5, 0), figures(1_000_100, 1004, 0)
    assert list(upcall_remarks(before, after)) == []
    # More than 1,000, and less than 1 % of the packets.
    assert list(upcall_remarks(before, figures(1_000_100, 9_000, 0))) == []


def test_a_storm_of_upcalls_is_remarked(says: Says) -> None:
    (storm,) = upcall_remarks(figures(100, 5, 0), figures(100_100, 2_005, 0))
    assert (storm.rule, storm.value, storm.limit) == ("upcalls", 2000, 1000)
    assert storm.text == says("2,000", "100,000")


def test_lookups_of_the_kernel_are_the_packets_of_which_some_are_upcalls(says: Says) -> None:
    before = {"system@ovs-system": {"lookups": 50, "miss with success upcall": 1}}
    after = {"system@ovs-system": {"lookups": 40_050, "miss with success upcall": 1_501}}
    (storm,) = upcall_remarks(before, after)
    assert storm.text == says("1,500", "40,000")


def test_upcalls_that_failed_are_lost_packets() -> None:
    (failed,) = upcall_remarks(figures(0, 0, 2), figures(500, 0, 5))
    assert (failed.rule, failed.value) == ("failed-upcalls", 3)


def test_of_a_thread_that_came_meanwhile_all_counts() -> None:
    (storm,) = upcall_remarks({}, figures(2_000, 2_000, 0))
    assert storm.value == 2_000
