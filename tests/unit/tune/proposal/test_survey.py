"""A host is surveyed alike live and from a capture; and what a capture leaves unknown."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.cli.tune.capture import needed_files
from plimsoll.errors import InputError
from plimsoll.tune.host.capture.capture import CapturedHost, write_capture
from plimsoll.tune.host.capture.collect import collect
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.load import load_intent
from plimsoll.tune.proposal.intent_text import intent_text
from plimsoll.tune.proposal.proposal import propose_intent
from plimsoll.tune.proposal.survey import SurveyedPort, survey_host
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40
from tests.worded.says import Says, passage

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
DEFAULT = "bond0.7\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0"
# 10.0.0.0/8, in the byte order of x86.
TO_THE_LAB = "ens4\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0"


def server(folder: Path) -> HostTree:
    """The default route leads by a VLAN of a bond of ens1, a route to the lab by ens4."""
    tree = tree_of_40(folder, smt=False)
    tree.interface("ens1", tree.card("0000:17:00.0", "ice", numa=0))
    card = tree.card("0000:87:00.0", "ice", numa=1)
    tree.write(card / "sriov_totalvfs", "64")
    tree.interface("ens4", card)
    tree.interface("ens5", tree.card("0000:87:00.1", "ice", numa=-1), speed="-1")
    tree.card("0000:88:00.0", "vfio-pci", numa=1)
    tree.link(tree.card("0000:87:01.0", "iavf") / "physfn", card)
    tree.card("0000:00:1f.2", "ahci", kind="0x010601")
    tree.interface("bond0")
    tree.interface("bond0.7")
    tree.on_top("bond0", "ens1")
    tree.on_top("bond0.7", "bond0")
    tree.route(DEFAULT, TO_THE_LAB)
    return tree


def guest(folder: Path) -> HostTree:
    """A virtio port, which is one directory below its PCI function."""
    tree = tree_of_2(folder)
    function = tree.card("0000:00:03.0", "virtio-pci", numa=-1)
    tree.interface("eth0", function / "virtio1", speed="-1")
    return tree


def captured(tree: HostTree, folder: Path) -> HostView:
    """As `plimsoll tune capture` and `--root` do."""
    path = folder / "host.tar.gz"
    write_capture(collect(LiveHost(tree.root), needed_files(), NOW), path)
    return open_root(path)


def test_the_ports_of_a_server(tmp_path: Path, says: Says) -> None:
    survey = survey_host(LiveHost(server(tmp_path).root), {})
    assert survey.ports == (
        SurveyedPort(
            "ens1",
            "0000:17:00.0",
            "8086",
            "ice",
            0,
            True,
            0,
            25000,
            says("bond0", "bond0.7"),
        ),
        SurveyedPort("ens4", "0000:87:00.0", "8086", "ice", 1, True, 64, 25000, None),
        SurveyedPort("ens5", "0000:87:00.1", "8086", "ice", None, True, 0, None, None),
        SurveyedPort(None, "0000:88:00.0", "8086", "vfio-pci", 1, True, 0, None, None),
    )


def test_the_port_of_ones_own_session_is_in_use(tmp_path: Path, says: Says) -> None:
    environment = {"SSH_CONNECTION": "10.9.8.7 50000 10.1.1.1 22"}
    survey = survey_host(LiveHost(server(tmp_path).root), environment)
    assert survey.ports[1].in_use == says()


@pytest.mark.parametrize("host", [server, guest, tree_of_2])
def test_a_capture_tells_the_same(tmp_path: Path, host: Callable[[Path], HostTree]) -> None:
    tree = host(tmp_path / "host")
    live = survey_host(LiveHost(tree.root), {})
    message = survey_host(captured(tree, tmp_path))
    assert message.ports == live.ports
    assert (message.page_sizes, message.virtual) == (live.page_sizes, live.virtual)
    # No port is looked up in either, and the rest of a topology is CPUs and memory.
    assert message.topology == live.topology
    assert (message.where, message.sessions_known) == (str(tmp_path / "host.tar.gz"), False)


def test_the_port_of_a_guest_has_its_interface(tmp_path: Path) -> None:
    (port,) = survey_host(LiveHost(guest(tmp_path).root), {}).ports
    assert (port.name, port.pci_address, port.in_use) == ("eth0", "0000:00:03.0", None)


def test_a_proposal_from_a_capture_says_whose_it_is_and_what_it_cannot_know(
    tmp_path: Path, says: Says
) -> None:
    proposal = propose_intent(survey_host(captured(server(tmp_path / "host"), tmp_path)))
    path = tmp_path / "intent.yaml"
    path.write_text(intent_text(proposal))
    assert load_intent(path) == proposal.intent
    text = " ".join(line.strip("# ") for line in path.read_text().splitlines())
    assert passage(text, str(tmp_path / "host.tar.gz")) == says(str(tmp_path / "host.tar.gz"))
    assert [nic.pci for nic in proposal.intent.nics] == [
        ("0000:87:00.0",),
        ("0000:87:00.1",),
        ("0000:88:00.0",),
    ]


def without_routes(tree: HostTree) -> HostView:
    """A capture made before captures had them."""
    expected = needed_files()
    files = tuple(path for path in expected.files if not path.startswith("/proc/net"))
    older = collect(LiveHost(tree.root), type(expected)(files, expected.links, expected.lists), NOW)
    return older.view("older.tar.gz")


def test_ports_are_left_out_where_no_one_knows_the_uplink(tmp_path: Path) -> None:
    survey = survey_host(without_routes(server(tmp_path)))
    reason = (
        "it is unknown whether the host's own traffic takes it: "
        "/proc/net/route is not in the capture"
    )
    assert [port.in_use for port in survey.ports] == [reason, reason, reason, None]


FILES = {
    "/sys/devices/system/cpu/online": "0-3",
    "/proc/cpuinfo": "flags : fpu",
    "/proc/net/route": "Iface\tDestination",
    "/sys/class/net/ens1/type": "1",
    "/sys/bus/pci/devices/0000:17:00.0/class": "0x020000",
    "/sys/bus/pci/devices/0000:17:00.0/vendor": "0x8086",
}
LINKS = {"/sys/class/net/ens1": "../../devices/pci0000:17/0000:17:00.0/net/ens1"}


@pytest.mark.parametrize(
    "line",
    [
        "ens1 zero 0 0003 0 0 0 0",
        "ens1 FFFFFFFFFF 0 0003 0 0 0 FFFFFFFFFF",
        "ens1 00000000 0 0003 0 0 many 00000000",
        "ens1 00000000 0 0003 0 0 0 01010101",
    ],
)
def test_routes_that_are_none_leave_the_uplink_unknown(line: str, says: Says) -> None:
    view = CapturedHost(files=FILES | {"/proc/net/route": f"Iface\n{line}"}, links=LINKS)
    (port,) = survey_host(view).ports
    assert port.in_use == says("/proc/net/route")


def test_a_captures_words_end_no_comment(says: Says) -> None:
    driver = "../../ice\u2028pods: []\x85\n\x1b[2J"
    links = LINKS | {"/sys/bus/pci/devices/0000:17:00.0/driver": driver}
    proposal = propose_intent(survey_host(CapturedHost(files=FILES, links=links, where="a\nb")))
    text = intent_text(proposal)
    assert all(each.isprintable() for line in text.split("\n") for each in line)
    assert "ice\\u2028pods: []\\x85\\n\\x1b[2J" in text.replace("\n# ", " ")
    assert text == says("plimsoll tune", "0", "0000:17:00.0", "ens1", "ice\\u2028pods")


@pytest.mark.parametrize(
    ("file", "said", "place"),
    [
        ("/sys/bus/pci/devices/0000:17:00.0/net/ens1/speed", "9" * 19, "nics.0.link_speed_gbps"),
    ],
)
def test_what_no_host_has_is_reported_and_makes_no_intent(
    file: str, said: str, place: str, says: Says
) -> None:
    view = CapturedHost(files=FILES | {file: said}, links=LINKS, where="odd.tar.gz")
    with pytest.raises(InputError) as caught:
        propose_intent(survey_host(view))
    assert caught.value == says("odd.tar.gz", str(place))
