"""The first program of a virtual machine: it has its two cards forward, and tells their counts.

A script of busybox's shell. It answers a line on the second serial port by the same line and the
frames in and out of the first card and of the second. MTU and FORWARDING are in its environment,
from the kernel's command line. Where it cannot go on it ends, and the machine with it.
"""

from __future__ import annotations

_BEGIN = """#!/bin/busybox sh
busybox mkdir -p /proc /sys /dev /run /var
busybox ln -s /run /var/run
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
for module in $(busybox cat /modules/order); do
    busybox insmod "/modules/$module" || echo "insmod $module failed"
done
"""
# Without IPv6 no interface sends frames of its own.
_BRIDGE = """
busybox brctl addbr br0
echo 0 >/sys/class/net/br0/bridge/multicast_snooping
for port in eth0 eth1; do
    busybox ip link set "$port" mtu "$MTU" promisc on
    busybox brctl addif br0 "$port"
    busybox ip link set "$port" up
done
busybox ip link set br0 mtu "$MTU" up
echo "plimsoll: the bridge is up"
cd /sys/class/net
counts() {
    busybox cat eth0/statistics/rx_packets eth0/statistics/tx_packets \\
        eth1/statistics/rx_packets eth1/statistics/tx_packets
}
"""
# By uio_pci_generic: there is no IOMMU, and Debian's kernel has no vfio without one. One of the
# two threads waits for commands, the other polls; both on the machine's one CPU.
_TESTPMD = """
cards=
for card in /sys/bus/pci/devices/*; do
    [ "$(busybox cat "$card/class")" = 0x020000 ] || continue
    echo uio_pci_generic >"$card/driver_override"
    echo "${card##*/}" >/sys/bus/pci/drivers_probe
    cards="$cards -a ${card##*/}"
done
# DPDK loads nothing from below a folder that all may write to.
busybox chmod 755 /
mbuf_bytes=$((MTU + 256))
[ "$mbuf_bytes" -ge 2176 ] || mbuf_bytes=2176
busybox mkfifo /commands
exec 3<>/commands
stdbuf -oL dpdk-testpmd --lcores 0@0,1@0 --in-memory --no-telemetry -d /drivers $cards -- \\
    --interactive --auto-start --forward-mode="$FORWARDING" --nb-cores=1 \\
    --total-num-mbufs=8192 --mbuf-size="$mbuf_bytes" --max-pkt-len=$((MTU + 18)) \\
    </commands >>/said 2>&1 &
testpmd=$!
check_testpmd() {
    kill -0 "$testpmd" && return
    busybox cat /said >/dev/ttyS0
    echo "plimsoll: testpmd has ended" >/dev/ttyS0
    exit 1
}
until busybox grep -q "testpmd>" /said; do
    check_testpmd
    busybox usleep 20000
done
busybox cat /said
echo "plimsoll: testpmd forwards"
said_counts() {
    busybox awk 'BEGIN { n = 0 } /RX-packets:/ { rx[n] = $2 } /TX-packets:/ { tx[n++] = $2 }
        END { if (n == 2) print rx[0], tx[0], rx[1], tx[1] }' /said
}
counts() {
    counted=
    : >/said
    echo "show port stats all" >&3
    until [ "$counted" ]; do
        check_testpmd
        busybox usleep 20000
        counted=$(said_counts)
    done
    echo "$counted"
}
"""
_END = """busybox stty -F /dev/ttyS1 raw -echo
while read -r request; do
    counted=$(counts) || exit 1
    echo "$request" $counted
done </dev/ttyS1 >/dev/ttyS1
"""

BRIDGE_INIT = (_BEGIN + _BRIDGE + _END).encode()
TESTPMD_INIT = (_BEGIN + _TESTPMD + _END).encode()
