"""A router's flowtable: how it is loaded and read back, what is refused, and what a trial says.

What nft listed and conntrack counted is as recorded in a guest: nftables
v1.0.6 on Debian's Linux 6.1.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from plimsoll.dut.kernel import flowtable
from plimsoll.dut.kernel.flowtable import (
    Flowtable,
    TrialFigures,
    check_loaded,
    check_room,
    flowtable_of,
    objects_of,
    remarks,
    ruleset,
)
from plimsoll.dut.lab import LabModel
from plimsoll.dut.labs.linux_router import LinuxRouterSettings
from plimsoll.dut.needs import NAMESPACE_CAPABILITIES, NeededProgram
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.flowtable_counts import PathCounts, conntrack_max, dropped_for_room
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from tests.worded.says import Says

ROUTER: dict[str, object] = {"kind": "linux-router", "flowtable": True}
PORTS = ("port0", "port1")
LISTED = (Path(__file__).parent / "listed_flowtable.json").read_text()
# /proc/net/stat/nf_conntrack of three CPUs, of which one dropped 0xb4 = 180 packets.
STATISTICS = (Path(__file__).parent / "conntrack_statistics.txt").read_text()


def settings(**more: object) -> LabModel:
    adapter: TypeAdapter[LabModel] = TypeAdapter(LabSettings)
    return adapter.validate_python(ROUTER | more)


def without(kind: str) -> list[dict[str, Any]]:
    """The table as listed, without its objects of a kind."""
    return [each for each in objects_of(LISTED) if kind not in each]


class Nft:
    """Programs of these names on PATH: `ip` records what `nft` would be given, and answers."""

    def __init__(self, folder: Path, answer: str) -> None:
        self._folder = folder
        (folder / "answer").write_text(answer)
        self._write("nft", "echo 'nftables v1.0.6 (Lester Gooch #5)'")
        self._write(
            "ip",
            f'echo "$*" >>{folder}/commands\n'
            f'case "$*" in *"-f -") cat >{folder}/given ;; *) cat {folder}/answer ;; esac',
        )

    def _write(self, name: str, script: str) -> None:
        (self._folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._folder / name).chmod(0o700)

    @property
    def given(self) -> str:
        return (self._folder / "given").read_text()

    @property
    def commands(self) -> list[str]:
        return (self._folder / "commands").read_text().splitlines()


def nft(monkeypatch: pytest.MonkeyPatch, folder: Path, answer: str = LISTED) -> Nft:
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Nft(folder, answer)


def test_the_table_is_given_on_standard_input_and_read_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorded = nft(monkeypatch, tmp_path)
    Flowtable(PORTS).add(NetworkNamespace("plimsoll-f10a7b"))
    within = f"netns exec plimsoll-f10a7b {tmp_path}/nft"
    assert recorded.commands == [f"{within} -f -", f"{within} -j list table inet plimsoll"]
    assert recorded.given == ruleset(PORTS)
    lines = [line.strip() for line in recorded.given.splitlines()]
    assert "hook ingress priority 0; devices = { port0, port1 };" in lines
    assert "type filter hook ingress device port1 priority 10; policy accept;" in lines
    assert "meta l4proto { tcp, udp } flow add @fastpath" in lines


def test_what_nft_listed_is_the_table_that_was_loaded() -> None:
    check_loaded(objects_of(LISTED), PORTS)
    listed = flowtable_of(objects_of(LISTED))
    assert (listed["hook"], listed["prio"], listed["dev"]) == ("ingress", 0, list(PORTS))


def test_a_table_that_is_not_as_it_was_loaded_is_refused(says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        check_loaded(without("flowtable"), PORTS)
    assert caught.value == says("rule")
    with pytest.raises(MachineError) as caught:
        check_loaded(without("rule"), PORTS)
    assert caught.value == says("port0", "port1", "rule")
    one_port = copy.deepcopy(objects_of(LISTED))
    for each in one_port:
        each.get("flowtable", {})["dev"] = ["port1"]
    with pytest.raises(MachineError) as caught:
        check_loaded(one_port, PORTS)
    assert caught.value == says("lab.flowtable", "port1", "rule")


def test_what_nft_refuses_is_said_without_the_whole_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: Says
) -> None:
    # As nft 1.0.6 says it on Linux 6.18 without flowtables.
    said = "/dev/stdin:2:15-22: Error: Could not process rule: No such file or directory"
    nft(monkeypatch, tmp_path)
    (tmp_path / "ip").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    with pytest.raises(MachineError) as refused:
        Flowtable(PORTS).add(NetworkNamespace("plimsoll-f10a7b"))
    assert refused.value == says("lab.flowtable", str(said))


def test_version_and_facts_name_the_flowtable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: Says
) -> None:
    nft(monkeypatch, tmp_path)
    monkeypatch.setattr(flowtable, "run_within", lambda path, work: {"udp": 30, "tcp": 30})
    monkeypatch.setattr(flowtable, "conntrack_max", lambda: 262144)
    router = settings().forwarder(Ledger(tmp_path))  # type: ignore[attr-defined]
    assert router.version() == says("v1.0.6")
    assert Flowtable(PORTS).facts(NetworkNamespace("plimsoll-f10a7b")) == {
        "name": "fastpath",
        "hook": "ingress",
        "prio": 0,
        "dev": ["port0", "port1"],
        "timeouts_s": {"udp": 30, "tcp": 30},
        "conntrack_max": 262144,
    }


@pytest.mark.parametrize(
    ("missing", "facts"),
    [
        ("NF_FLOW_TABLE", ("CONFIG_NF_FLOW_TABLE",)),
        ("NF_FLOW_TABLE_INET", ("IPv4", "IPv6", "CONFIG_NF_FLOW_TABLE_INET")),
        ("NFT_FLOW_OFFLOAD", ("CONFIG_NFT_FLOW_OFFLOAD",)),
        ("NF_CONNTRACK", ("CONFIG_NF_CONNTRACK",)),
    ],
)
def test_what_the_kernel_lacks_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, missing: str, facts: tuple[str, ...], says: Says
) -> None:
    monkeypatch.setattr(
        "plimsoll.dut.needs.effective_capabilities", lambda: frozenset(NAMESPACE_CAPABILITIES)
    )
    monkeypatch.setattr(NeededProgram, "find", lambda self: self.name)
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: self.name == missing)
    with pytest.raises(MachineError) as refused:
        settings().check_machine()
    assert refused.value == says("lab.flowtable", *facts)
    # A router without it needs none of this.
    settings(flowtable=False).check_machine()


def test_without_nft_there_is_no_flowtable(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: False)
    monkeypatch.setenv("PATH", "/proc/nonexistent")
    with pytest.raises(MachineError) as caught:
        settings().check_machine()
    assert caught.value == says("lab")


def test_what_is_missing_is_listed_with_the_setting(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(
        KernelOption, "is_missing", lambda self, root=None: self.name == "NFT_FLOW_OFFLOAD"
    )
    monkeypatch.setattr(NeededProgram, "missing", True)
    assert LinuxRouterSettings.needs().unavailable_settings() == (
        says("CONFIG_NFT_FLOW_OFFLOAD"),
        says(),
    )


def test_more_flows_than_connection_tracking_takes_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    monkeypatch.setattr(flowtable, "conntrack_max", lambda: 65536)
    settings().check_flows(65536)
    settings(flowtable=False).check_flows(10**6)
    with pytest.raises(MachineError) as refused:
        settings().check_flows(65537)
    assert refused.value == says(
        "lab.flowtable",
        "65,537",
        "65,536",
        "-w",
        "net.netfilter.nf_conntrack_max=65537",
        "sysctl -w net.netfilter.nf_conntrack_max=65537",
    )
    monkeypatch.setattr(flowtable, "conntrack_max", lambda: None)
    check_room(10**6)


def test_what_conntrack_says_is_read(tmp_path: Path) -> None:
    (tmp_path / "max").write_text("262144\n")
    (tmp_path / "stat").write_text(STATISTICS)
    assert conntrack_max(tmp_path / "max") == 262144
    assert conntrack_max(tmp_path / "none") is None
    assert dropped_for_room(tmp_path / "stat") == 180
    assert dropped_for_room(tmp_path / "none") is None
    (tmp_path / "stat").write_text("entries found\n00000001 00000002\n")
    assert dropped_for_room(tmp_path / "stat") is None


def figures(port0: tuple[int, int], port1: tuple[int, int], dropped: int | None) -> TrialFigures:
    return {"port0": PathCounts(*port0), "port1": PathCounts(*port1)}, dropped


def test_a_trial_says_which_path_frames_took(says: Says) -> None:
    before = figures((1000, 40), (0, 0), 7)
    found = list(remarks(before, figures((13_000, 168), (0, 0), 7)))
    assert [(each.rule, each.subject, each.value, each.limit) for each in found] == [
        ("flowtable", "port0", 11_872, None)
    ]
    assert found[0].text == says("12,000", "port0", "11,872", "flowtable", "128")


def test_a_trial_says_what_connection_tracking_had_no_room_for() -> None:
    ends = figures((10, 10), (0, 0), None), figures((10, 10), (0, 0), 12)
    assert [(each.rule, each.value, each.limit) for each in remarks(*ends)] == [
        ("conntrack-full", 12, 0)
    ]
    assert not list(remarks(figures((0, 0), (0, 0), None), figures((0, 0), (0, 0), None)))


def test_the_setting_is_recorded_and_off_by_default() -> None:
    assert settings().model_dump(mode="json")["flowtable"] is True
    assert LinuxRouterSettings().flowtable is False
    assert json.loads(LISTED)["nftables"][0]["metainfo"]["version"] == "1.0.6"
