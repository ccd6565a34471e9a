#!/bin/busybox sh
# The first program of a guest with network cards. Its file system is the host's, read-only, under
# a layer in memory that takes what is written; /shared is a folder of the host's that both write.
busybox mkdir -p /proc /sys /dev /lower /upper /new
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
for module in $(busybox cat /modules/order); do
    busybox insmod "/modules/$module" || echo "insmod $module failed"
done
options=trans=virtio,version=9p2000.L,msize=512000
busybox mount -t 9p -o "$options,ro,cache=loose" host /lower || exit
busybox mount -t tmpfs tmpfs /upper
busybox mkdir /upper/files /upper/work
busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /new ||
    exit
busybox mkdir -p /new/shared
busybox mount -t 9p -o "$options" shared /new/shared || exit
for folder in proc sys dev; do
    busybox mount -o move "/$folder" "/new/$folder"
done
busybox mount -t tmpfs tmpfs /new/run
busybox mkdir -p /new/dev/hugepages /new/dev/shm
busybox mkdir -p /new/dev/pts
busybox mount -t devpts devpts /new/dev/pts
busybox mount -t tmpfs tmpfs /new/dev/shm
busybox mount -t hugetlbfs hugetlbfs /new/dev/hugepages
busybox ip link set lo up
exec busybox chroot /new /bin/sh /shared/serve
