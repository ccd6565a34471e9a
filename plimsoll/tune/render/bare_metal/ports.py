"""A host's ports for DPDK: VFs, their settings, and the driver each function is bound to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.render.bare_metal.housekeeping import script_and_unit
from plimsoll.tune.render.files.cni import switch_word
from plimsoll.tune.render.files.rendered_file import RenderedFile

_HEAD = """\
#!/bin/sh
# An argument is a root other than /.
set -eu
root=${1-}

# port NAME: the folder in sysfs of the interface's PCI function. Its address is kept until the
# next boot, for vfio-pci takes the interface away, and its name may become another port's.
port() {
    kept=$root/run/plimsoll-ports/$1
    if [ ! -e "$kept" ]; then
        [ -e "$root/sys/class/net/$1/device" ] || { echo "there is no interface $1" >&2; exit 1; }
        mkdir -p "${kept%/*}"
        found=$(readlink -f "$root/sys/class/net/$1/device")
        # Virtio's own device lies below its PCI function.
        case $found in */virtio*) found=${found%/virtio*} ;; esac
        echo "${found##*/}" > "$kept"
    fi
    folder=$root/sys/bus/pci/devices/$(cat "$kept")
}

# bind DRIVER FOLDER: hand a PCI function to a driver, unless it has it.
bind() {
    [ -e "$2" ] || { echo "$2 is not there" >&2; exit 1; }
    function=$(readlink -f "$2")
    driver=$(readlink "$function/driver" || :)
    [ "${driver##*/}" != "$1" ] || return 0
    echo "$1" > "$function/driver_override"
    [ -z "$driver" ] || echo "${function##*/}" > "$function/driver/unbind"
    echo "${function##*/}" > "$root/sys/bus/pci/drivers_probe"
    [ -e "$function/driver" ] || { echo "$2: $1 did not take it; is it loaded?" >&2; exit 1; }
}

# A port can be divided anew only when it is not divided.
divide() {
    [ "$(cat "$1/sriov_numvfs")" != "$2" ] || return 0
    echo 0 > "$1/sriov_numvfs"
    echo "$2" > "$1/sriov_numvfs"
}

"""


def render_ports(intent: Intent) -> Iterator[RenderedFile]:
    """Only where ports are named one by one: an id would take cards that carry other traffic."""
    nics = [nic for nic in intent.nics if nic.pf_names or nic.pci]
    parts = [part for nic in nics for part in _port_lines(nic)]
    if parts:
        yield from script_and_unit(
            "plimsoll-ports",
            _HEAD + "\n".join(parts) + "\n",
            does=f"Divides and binds the ports of {', '.join(nic.name for nic in nics)}.",
            ordering="After=local-fs.target systemd-udev-settle.service "
            "systemd-modules-load.service\n"
            "Wants=systemd-udev-settle.service network-pre.target\nBefore=network-pre.target",
        )
    if any(nic.driver == "vfio-pci" for nic in intent.nics):
        yield RenderedFile(
            f"host/etc/modules-load.d/plimsoll-{intent.name}.conf",
            "vfio-pci\n",
            does="Loads vfio-pci at boot.",
            undo="Remove the file.",
        )


def _port_lines(nic: Nic) -> Iterator[str]:
    for port in (*nic.pf_names, *nic.pci):
        # The intent allows any name that the kernel does, `$(...)` among them.
        name, found = shlex.quote(port), f"port {shlex.quote(port)}"
        if port in nic.pci:
            name, found = '"$(ls "$folder/net")"', f"folder=$root/sys/bus/pci/devices/{port}"
        if nic.num_vfs is not None:
            yield from (found, f'divide "$folder" {nic.num_vfs}')
            yield from _vf_lines(nic, name)
        elif nic.driver == "vfio-pci":
            yield from (found, 'bind vfio-pci "$folder"')


def _vf_lines(nic: Nic, name: str) -> Iterator[str]:
    """`name` is the interface's, for the shell."""
    settings = _vf_settings(nic)
    if nic.mtu is not None:
        yield f"ip link set dev {name} mtu {nic.mtu}"
    for vf in nic.vfs:
        if settings:
            yield f"ip link set dev {name} vf {vf} {settings}"
        if nic.driver == "vfio-pci":
            yield f'bind vfio-pci "$folder/virtfn{vf}"'


def _vf_settings(nic: Nic) -> str:
    given = {
        "vlan": nic.vlan,
        "trust": switch_word(nic.trust),
        "spoofchk": switch_word(nic.spoofchk),
    }
    return " ".join(f"{word} {value}" for word, value in given.items() if value is not None)
