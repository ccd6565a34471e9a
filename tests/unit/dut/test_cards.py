"""DUTs on network cards: what is written of them, and what is refused beforehand."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import LabModel, LineRate
from plimsoll.dut.labs.testpmd import TestpmdOnCardsSettings
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import InputError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.record import LedgerRecord, from_json, to_json
from plimsoll.host.ports.ethtool import Channels
from plimsoll.host.ports.lent_interface import LentInterface
from plimsoll.text.document import read_document
from tests.worded.says import Says

ADAPTER: TypeAdapter[LabModel] = TypeAdapter(LabSettings)
PCI = ["0000:86:00.0", "0000:86:00.1"]
TESTER = [{"devargs": "0000:87:00.0"}, {"devargs": "0000:87:00.1"}]


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"kind": "linux-bridge", "cards": {"dut": ["a", "a"]}}, ()),
        ({"kind": "linux-bridge", "cards": {"dut": ["a"], "tester": TESTER}}, ()),
        ({"kind": "linux-bridge", "cards": {"dut": ["a", "a"], "tester": TESTER}}, ()),
        (
            {"kind": "xdp", "cards": {"dut": ["a", "b"], "tester": [{"netdev": "b"}, TESTER[0]]}},
            (),
        ),
        (
            {"kind": "ovs", "cards": {"dut": ["a", "b"], "tester": [TESTER[0]] * 2}},
            ("0000:87:00.0", "lab.cards.tester[0].devargs"),
        ),
        (
            {
                "kind": "linux-router",
                "driver": "af_xdp",
                "cards": {"dut": ["a", "b"], "tester": TESTER},
            },
            ("driver",),
        ),
        (
            {"kind": "vpp", "socket": "/run/m.sock", "cards": {"dut": PCI, "tester": TESTER}},
            ("socket",),
        ),
        ({"kind": "macvlan", "cards": {"dut": ["a", "b"], "tester": TESTER}}, ("1",)),
        (
            {"kind": "grout", "ring_size": 64, "cards": {"dut": PCI, "tester": TESTER}},
            ("ring_size",),
        ),
        ({"kind": "testpmd"}, ()),
        ({"kind": "testpmd", "cards": {"dut": ["eth1", "eth2"], "tester": TESTER}}, ()),
    ],
)
def test_mistakes_are_refused(
    document: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(document)
    assert caught.value == says(*facts)


def test_a_mistake_is_placed(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(
        'kind: testpmd\ncards:\n  dut: ["86:00.0", "86:00.0"]\n'
        '  tester: [{devargs: "87:00.0"}, {devargs: "87:00.1"}]\n'
    )
    with pytest.raises(InputError) as refused:
        read_document(path).validate(TestpmdOnCardsSettings)
    assert refused.value == says(f"{path}:3", "cards.dut[1]", "0000:86:00.0")


def test_testpmd_opens_the_cards_that_it_was_given_and_no_others(tmp_path: Path) -> None:
    settings = ADAPTER.validate_python(
        {"kind": "testpmd", "cards": {"dut": ["86:00.0", "0000:86:00.1"], "tester": TESTER}}
    ).for_frames(9000)
    assert isinstance(settings, TestpmdOnCardsSettings)
    assert settings.ports(Ledger(tmp_path)).eal_arguments == (
        *("--allow", "0000:86:00.0", "--allow", "0000:86:00.1"),
    )
    assert settings.port_arguments == ("--max-pkt-len=9000",)
    ports = settings.make(Ledger(tmp_path), MemoryPlan(huge=True, megabytes=64), "ours")
    assert ports.processes() == ()


@pytest.mark.parametrize(
    ("line_rate", "known"),
    [
        (None, LineRate(None, settled=False)),
        (25e9, LineRate(25e9)),
    ],
)
def test_the_line_rate_is_that_of_the_links_unless_stated(
    monkeypatch: pytest.MonkeyPatch, line_rate: float | None, known: LineRate
) -> None:
    for module in ("plimsoll.dut.cards", "plimsoll.dut.ports.tester_ports"):
        monkeypatch.setattr(f"{module}.check_card", lambda address, where: None)
    cards = DpdkCards.model_validate({"dut": PCI, "tester": TESTER})
    assert cards.check_machine(line_rate) == known


def test_a_ledger_remembers_how_interfaces_were() -> None:
    lent = LentInterface(
        *("ens1", "port0", "02:00:00:00:00:01", 9000, True),
        settings=(("threaded", "0"), ("/proc/irq/45/smp_affinity_list", "0-3")),
        channels=Channels(0, 0, 8),
    )
    record = LedgerRecord("run", "boot", 0.0, None, lent_interfaces=(lent,))
    assert from_json(to_json(record)) == record
