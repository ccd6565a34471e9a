"""A guest whose kernel, Debian's, has what this machine's may lack, and labs tried in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.command import QUICK, finished_trials
from tests.integration.dut.namespace_lab import OWNER
from tests.integration.unspoilt import unspoilt_in_guest
from tests.integration.vm.nic_guest import ROOT, Machine, NicGuest, booted_machine

# In the order of their need of each other; a kernel may have one built in.
_MODULES = (
    *("crc32c_generic", "libcrc32c", "veth", "tun", "llc", "stp", "garp", "mrp", "8021q", "bridge"),
    *("nf_defrag_ipv4", "nf_defrag_ipv6", "nf_conntrack", "nfnetlink", "nf_tables"),
    *("nft_objref", "nf_flow_table", "nf_flow_table_inet", "nft_flow_offload"),
    *("nf_nat", "nsh", "nf_conncount", "openvswitch"),
    *("sch_ingress", "act_mirred", "cls_u32", "cls_flower"),
    *("udp_tunnel", "ip6_udp_tunnel", "vxlan", "vport-vxlan"),
)

# As left_by_killed_owner lists it.
NOTHING_LEFT = ["/run/netns:", "/run/state:", "/sys/class/net:", "lo"]

# Port, frame in hexadecimal digits, how often.
Send = tuple[int, str, int]


@contextmanager
def booted_with_modules(folder: Path, *needed: str) -> Iterator[NicGuest]:
    """Without a card. Raises CannotBoot where parts, or the `needed` modules, are missing."""
    with booted_machine(Machine(modules=_MODULES, needed=("veth", *needed)), folder) as guest:
        yield guest


def sent_through(
    guest: NicGuest,
    lab: Mapping[str, object],
    *rounds: Sequence[Send],
    patience_s: float = 60.0,
) -> dict[str, Any]:
    """What came of rounds of frames through one lab (lab_in_guest)."""
    plan = {"lab": lab, "rounds": rounds, "patience_s": patience_s}
    (guest.folder / "shared" / "plan").write_text(json.dumps(plan))
    command = f"{sys.executable} -m tests.integration.vm.lab_in_guest </shared/plan >/shared/came"
    guest.must(f"cd {ROOT}; PYTHONPATH={ROOT} {command}")
    came: dict[str, Any] = json.loads((guest.folder / "shared" / "came").read_text())
    return came


def trial_of_engine(
    guest: NicGuest, name: str, lab: Mapping[str, object], **more: object
) -> tuple[RunDirectory, dict[str, Any]]:
    """A trial at a rate that an emulated processor bears, with streams of 64 flows: it passed."""
    experiment = QUICK | {
        "name": name,
        "lab": lab,
        "generator": {"kind": "engine", "cpus": [0]},
        "profile": {"streams": [{"name": "load", "role": "load", "flows": 64}]},
        "trial": {"drain": "2s", "warmup": None, "catch_up": "1s"},
        **more,
    }
    (guest.folder / "shared" / f"{name}.yaml").write_text(yaml.safe_dump(experiment))
    words = f"--load 200pps --duration 5s --runs /shared/{name}-runs"
    done = unspoilt_in_guest(guest, f"trial /shared/{name}.yaml {words}")
    print(done.said)
    (run,) = (guest.folder / "shared" / f"{name}-runs").iterdir()
    (trial,) = finished_trials(run)
    assert trial["verdict"] == "pass", trial["findings"]
    return RunDirectory.open(run), trial


def left_by_killed_owner(guest: NicGuest, lab: Mapping[str, object], look: str) -> tuple[str, str]:
    """Of a lab whose owner is killed: what there is of it before, and what after its janitor.

    `look` is a command run before in the lab's namespace. Both list interfaces, namespaces, the
    folder of ledgers, and Open vSwitch's processes by their names.
    """
    (guest.folder / "shared" / "owner.py").write_text(OWNER)
    said = guest.must(
        f"""export PLIMSOLL_STATE=/run/state PYTHONPATH={ROOT}
        mkdir -p $PLIMSOLL_STATE
        rm -f /run/owner
        cd {ROOT}
        there() {{
            ls /sys/class/net /run/netns /run/state
            cat /proc/[0-9]*/comm 2>/dev/null | grep ovs
        }}
        {sys.executable} /shared/owner.py '{json.dumps(lab)}' >/run/owner 2>&1 &
        owner=$!
        until [ -s /run/owner ]; do sleep 0.2; done
        ip netns exec "$(ls /run/netns)" {look} || exit
        there
        kill -9 $owner
        until [ -z "$(ls /run/netns /run/state | grep plimsoll)" ]; do
            sleep 0.2
        done
        echo killed
        there
        true"""
    )
    print(said)
    before, killed, after = said.partition("killed\n")
    assert killed
    return before, after
