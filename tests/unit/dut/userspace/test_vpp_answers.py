"""What vppctl printed of VPP v26.06, as recorded, and what is read of it.

Those without a word on them are of one VPP (`vpp v26.06.0-`, gcc 12) that routed between two memif
ports in a trial of the lab at 12 Mpps, more than the tester could send: the commands are named with
each. Those of cards are of one (`vpp v26.06-release`, DPDK 26.03) that routed between two emulated
82576 at 20 kpps.
"""

import pytest

from plimsoll.dut.lab import DutPortCounters
from plimsoll.dut.userspace.vpp_answers import (
    NodeError,
    NodeRun,
    entry_count,
    error_remarks,
    links_up,
    next_hop_of,
    port_counters,
    read_errors,
    read_interfaces,
    read_runtime,
    vector_remark,
)
from plimsoll.errors import MachineError
from tests.worded.says import Says

# show interface
INTERFACES = """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     
local0                            0     down          0/0/0/0       drops                          2
memif1/0                          1      up          9000/0/0/0     rx packets              26217272
                                                                    rx bytes              1573036320
                                                                    tx packets              26210944
                                                                    tx bytes              1572656640
                                                                    ip4                     26217272
                                                                    tx-error                       1
memif1/1                          2      up          9000/0/0/0     rx packets              26210944
                                                                    rx bytes              1572656640
                                                                    tx packets              26217272
                                                                    tx bytes              1573036320
                                                                    ip4                     26210944
                                                                    tx-error                       1
"""
# show interface, before any frame came.
NEW_INTERFACES = """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     
local0                            0     down          0/0/0/0       
memif1/0                          1      up          9000/0/0/0     
memif1/1                          2      up          9000/0/0/0     
"""
# show errors
ERRORS = """\
   Count                  Node                              Reason               Severity 
         1          memif1/0-output                   interface is down            error  
         1          memif1/1-output                   interface is down            error  
       256            memif1/0-tx                      no free tx slots            error  
      1579            memif1/1-tx                      no free tx slots            error  
"""
# show hardware-interfaces memif1/0 memif1/1, as far as the second's link.
HARDWARE = """\
              Name                Idx   Link  Hardware
memif1/0                           1     up   memif1/0
  Link speed: unknown
  RX Queues:
    queue thread         mode      
    0     vpp_wk_0 (1)   polling   
  Ethernet address 02:00:01:00:00:01
  MEMIF interface
     instance 0
memif1/1                           2    down  memif1/1
  Link speed: unknown
  Ethernet address 02:00:00:00:00:01
"""
# show ip fib summary
SUMMARY = """\
ipv4-VRF:0, fib_index:0, flow hash:[src dst sport dport proto flowlabel ] epoch:0 flags:none \
locks:[adjacency:1, default-route:1, ]
    Prefix length         Count     
                   0               1
                   4               2
                  16               2
                  32               4
"""
# show ip6 fib summary
SUMMARY_6 = """\
ipv6-VRF:0, fib_index:0, flow hash:[src dst sport dport proto flowlabel ] epoch:0 flags:none \
locks:[default-route:1, ]
    Prefix length         Count     
         64                 2       
         10                 1       
          0                 1       
"""
# show ip6 fib 2001:2:0:2::/64
ROUTE_6 = """\
ipv6-VRF:0, fib_index:0, flow hash:[src dst sport dport proto flowlabel ] epoch:0 flags:none \
locks:[default-route:1, ]
2001:2:0:2::/64 fib:0 index:20 locks:2
  CLI refs:1 src-flags:added,contributing,active,
    path-list:[26] locks:2 flags:shared, uPRF-list:19 len:1 itfs:[2, ]
      path:[34] pl-index:26 ip6 weight=1 pref=0 attached-nexthop:  oper-flags:resolved,
        fe80::2 memif1/1
      [@0]: ipv6 via fe80::2 memif1/1: mtu:9000 next:4 flags:[] 02000100000102000000000186dd

 forwarding:   unicast-ip6-chain
  [@0]: dpo-load-balance: [proto:ip6 index:19 buckets:1 uRPF:19 to:[0:0]]
    [0] [@5]: ipv6 via fe80::2 memif1/1: mtu:9000 next:4 flags:[] 02000100000102000000000186dd
"""
# show runtime, two of its main thread's nodes and all of its worker's.
RUNTIME = """\
Thread 0 vpp_main (lcore 0)
Time 10.3, 10.000000 sec internal node vector rate 0.00 loops/sec 2016729.59
  vector rates in 0.0000e0, out 0.0000e0, drop 1.9493e-1, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends      \
Packet-Clocks   Vectors/Call  
api-rx-from-ring               "any wait"                0               0               1         \
 2.24e6            0.00
drop                             active                  1               2               0         \
 2.27e3            2.00
---------------
Thread 1 vpp_wk_0 (lcore 1)
Time 10.3, 10.000000 sec internal node vector rate 0.00 loops/sec 12114538.52
  vector rates in 5.1088e6, out 5.1086e6, drop 0.0000e0, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends      \
Packet-Clocks   Vectors/Call  
ethernet-input                   active             808025        52428216               0         \
 1.32e1           64.88
ip4-input                        active             802309        52428216               0         \
 1.41e1           65.35
ip4-lookup                       active             802309        52428216               0         \
 1.03e1           65.35
ip4-rewrite                      active             802309        52428216               0         \
 1.32e1           65.35
memif-input                      polling          65954860        52428216               0         \
 1.31e2             .79
memif1/0-output                  active             400991        26210944               0         \
 4.13e0           65.37
memif1/0-tx                      active             400991        26210688               0         \
 6.52e1           65.36
memif1/1-output                  active             407034        26217272               0         \
 4.38e0           64.41
memif1/1-tx                      active             407034        26215693               0         \
 6.86e1           64.41
"""
# show interface, of cards
INTERFACES_OF_CARDS = """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count     
local0                            0     down          0/0/0/0       drops                          2
port0                             1      up          1500/0/0/0     rx packets                118727
                                                                    rx bytes                 7123620
                                                                    tx packets                118883
                                                                    tx bytes                 7132980
                                                                    ip4                       118727
                                                                    tx-error                       1
port1                             2      up          1500/0/0/0     rx packets                118883
                                                                    rx bytes                 7132980
                                                                    tx packets                118727
                                                                    tx bytes                 7123620
                                                                    ip4                       118883
                                                                    tx-error                       1
"""
# show errors, of cards
ERRORS_OF_CARDS = """\
   Count                  Node                              Reason               Severity 
         1            port0-output                    interface is down            error  
         1            port1-output                    interface is down            error  
"""
# show hardware-interfaces port0 port1, of cards, as far as the first's flags and the second's link
HARDWARE_OF_CARDS = """\
              Name                Idx   Link  Hardware
port0                              1     up   port0
  Link speed: 1.000000 Gbps
  RX Queues:
    queue thread         mode      
    0     vpp_wk_0 (1)   polling   
  TX Queues:
    TX Hash: [name: hash-eth-l34 priority: 50 description: Hash ethernet L34 headers]
    queue shared thread(s)      
    0     no     0
    1     no     1
  Ethernet address 02:00:01:00:00:01
  Intel e1000
    carrier up full duplex max-frame-size 1522 
    flags: admin-up maybe-multiseg tx-offload intel-phdr-cksum rx-ip4-cksum int-supported
port1                              2     up   port1
"""
# Made up of it, by what VPP's sources say (dpdk/device/device.c): 30 of port 1's frames had no room
# in the card's ring, of which DPDK's plugin makes an error of the interface as well; and 40 that
# came were missed by the card.
LOSSES_OF_CARDS = INTERFACES_OF_CARDS.removesuffix("1\n") + (
    "31\n" + " " * 68 + "rx-miss                       40\n"
)
LOST_BY_CARDS = """\
        30              port1-tx              Tx packet drops (dpdk tx failure)    error  
"""
# Made up, of the same form: a second worker's line, and a node that only tells what it did.
MORE_ERRORS = """\
        44            memif1/0-tx                      no free tx slots            error  
       900              l2-learn                      L2 learn packets             info   
"""


def test_frames_that_found_no_room_in_the_ring_were_not_sent() -> None:
    """26210944 and 26217272 frames left the interfaces, of which the driver lost 256 and 1579."""
    interfaces, errors = read_interfaces(INTERFACES), read_errors(ERRORS)
    assert port_counters(0, "memif1/0", interfaces, errors) == DutPortCounters(
        port=0,
        rx_frames=26_217_272,
        tx_frames=26_210_688,
        rx_missed=0,
        rx_errors=0,
        tx_errors=257,
        rx_no_mbuf=0,
    )
    assert port_counters(1, "memif1/1", interfaces, errors).tx_frames == 26_215_693


def test_a_card_has_sent_what_its_interface_counts() -> None:
    interfaces, errors = read_interfaces(INTERFACES_OF_CARDS), read_errors(ERRORS_OF_CARDS)
    assert port_counters(0, "port0", interfaces, errors) == DutPortCounters(
        port=0,
        rx_frames=118_727,
        tx_frames=118_883,
        rx_missed=0,
        rx_errors=0,
        tx_errors=1,
        rx_no_mbuf=0,
    )


def test_frames_that_a_card_had_no_room_for_are_errors_once() -> None:
    interfaces = read_interfaces(LOSSES_OF_CARDS)
    errors = read_errors(ERRORS_OF_CARDS + LOST_BY_CARDS)
    assert port_counters(1, "port1", interfaces, errors) == DutPortCounters(
        port=1,
        rx_frames=118_883,
        tx_frames=118_697,
        rx_missed=40,
        rx_errors=0,
        tx_errors=31,
        rx_no_mbuf=0,
    )


def test_a_counter_that_is_not_listed_is_0() -> None:
    counters = port_counters(1, "memif1/1", read_interfaces(NEW_INTERFACES), {})
    assert (counters.rx_frames, counters.tx_frames, counters.tx_errors) == (0, 0, 0)


@pytest.mark.parametrize("text", ["", "show: unknown input `interface'\n"])
def test_an_answer_without_the_port_is_an_error(text: str, says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        port_counters(0, "memif1/0", read_interfaces(text), {})
    assert caught.value == says("show interface", "memif1/0")


def test_errors_are_added_up_over_the_threads() -> None:
    full = NodeError("memif1/0-tx", "no free tx slots", "error")
    assert read_errors(ERRORS)[full] == 256
    assert read_errors(ERRORS + MORE_ERRORS)[full] == 300
    assert len(read_errors(ERRORS + MORE_ERRORS)) == 5


def test_a_trials_errors_are_those_that_came_in_it(says: Says) -> None:
    remarks = list(error_remarks(read_errors(ERRORS), read_errors(ERRORS + MORE_ERRORS)))
    assert [each.text for each in remarks] == [says("44", "memif1/0-tx")]
    assert not list(error_remarks(read_errors(ERRORS), read_errors(ERRORS)))


def test_the_workers_nodes_tell_how_many_packets_they_took_at_a_time(says: Says) -> None:
    runs = read_runtime(RUNTIME)
    assert len(runs) == 9
    assert runs[0] == NodeRun("ethernet-input", 808_025, 52_428_216, 13.2)
    (remark,) = vector_remark(runs)
    assert remark.value == pytest.approx(64.88, abs=0.01)
    assert remark.text == says(
        "64.9",
        "256",
        "ethernet-input 13.2, ip4-input 14.1, ip4-lookup 10.3, ip4-rewrite 13.2, memif-input 131",
        "memif1/0-output 4.13, memif1/0-tx 65.2, memif1/1-output 4.38, memif1/1-tx 68.6",
    )


@pytest.mark.parametrize("text", ["", "show runtime: unknown\n", RUNTIME.partition("-----")[0]])
def test_without_packets_there_is_nothing_to_tell(text: str) -> None:
    assert not list(vector_remark(read_runtime(text)))


def test_links_are_told_apart_from_what_else_is_up() -> None:
    assert links_up(HARDWARE) == {"memif1/0"}
    assert links_up(HARDWARE_OF_CARDS) == {"port0", "port1"}


def test_entries_of_all_lengths_are_counted() -> None:
    assert entry_count(SUMMARY) == 9
    assert entry_count(SUMMARY_6) == 4


def test_a_route_has_its_next_hop() -> None:
    assert next_hop_of(ROUTE_6) == "fe80::2 memif1/1"
    assert next_hop_of(ROUTE_6.replace("memif1/1", "port1")) == "fe80::2 port1"
    assert next_hop_of("no such route\n") is None
