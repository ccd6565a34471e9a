#!/bin/busybox sh
# The only process of the guest: tunes it as /tune.sh says, then sends out of the second serial
# port, as a tar archive under gzip, what /needed lists. What it cannot read it names.
busybox mkdir -p /proc /sys /dev /capture/files
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
for module in $(busybox cat /modules/order); do
    busybox insmod "/modules/$module" || echo "insmod $module failed"
done

. /tune.sh

take_file() {
    [ -f "$1" ] || return
    mkdir -p "/capture/files${1%/*}"
    cat "$1" >"/capture/files$1" 2>/dev/null && return
    rm "/capture/files$1"
    echo "$1" >>/capture/unread
}

take_names() {
    [ -d "$1" ] || return
    for name in "$1"/* "$1"/.[!.]*; do
        [ -e "$name" ] || [ -L "$name" ] || continue
        echo "$1	${name##*/}"
    done >>/capture/names
    echo "$1" >>/capture/directories
}

take_link() {
    [ -L "$1" ] && echo "$1	$(readlink "$1")" >>/capture/links
}

cd /
while IFS='	' read -r kind pattern name; do
    if [ -n "$name" ]; then
        paths=$(find "$pattern" -name "$name")
    else
        paths=$pattern
    fi
    # Unquoted on purpose: this is where patterns become paths, of which none has a blank.
    for path in $paths; do
        "take_$kind" "$path"
    done
done </needed

stty -F /dev/ttyS1 raw -echo
tar -C /capture -c -f - . | gzip >/dev/ttyS1
sync
poweroff -f
