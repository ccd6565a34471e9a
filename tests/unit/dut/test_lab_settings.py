from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from plimsoll.dut import labs
from plimsoll.dut.lab import Lab, LabModel, LineRate
from plimsoll.dut.labs.external import ExternalSettings
from plimsoll.dut.labs.grout import GroutSettings
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.needs import LabNeeds
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.registry.labs import LabSettings, lab_kinds, make_lab
from plimsoll.dut.registry.standing import lab_up
from plimsoll.errors import InputError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.text.document import read_document
from tests.worded.says import Says

ADAPTER: TypeAdapter[LabModel] = TypeAdapter(LabSettings)
CARDS = [{"devargs": "0000:01:00.0"}, {"devargs": "0000:01:00.1"}]
UNUSED_LEDGER = Ledger(Path("/proc/nonexistent"))


def passive_lab(settings: LabModel) -> Lab:
    return make_lab(settings, UNUSED_LEDGER, MemoryPlan(huge=False, megabytes=0))


def test_the_kinds_are_listed_with_a_line_each() -> None:
    kinds = lab_kinds()
    files = Path(labs.__path__[0]).glob("[!_]*.py")
    assert list(kinds) == sorted(each.stem.replace("_", "-") for each in files)
    assert all(line and "\n" not in line for line in kinds.values())


@pytest.mark.parametrize(
    ("document", "model"),
    [
        ({"kind": "testpmd-memif"}, TestpmdSettings),
        ({"kind": "loopback"}, LoopbackSettings),
        ({"kind": "external", "ports": CARDS}, ExternalSettings),
    ],
)
def test_the_kind_chooses_the_settings(document: dict[str, object], model: type[LabModel]) -> None:
    assert type(ADAPTER.validate_python(document)) is model


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"kind": "testpmd-vhost"}, ()),
        ({"kind": "testpmd-memif", "core": 1}, ()),
        ({"kind": "testpmd-memif", "cpu": -1}, ("0",)),
        ({"kind": "testpmd-memif", "forwarding": "route"}, ("mac",)),
        ({"kind": "testpmd-memif", "forwarding": "txonly"}, ()),
        ({"kind": "testpmd-memif", "forwarding": "noisy"}, ("noisy",)),
        ({"kind": "testpmd-memif", "noisy": {}}, ("noisy",)),
        (
            {"kind": "testpmd-memif", "forwarding": "noisy", "noisy": {"reads": 8}},
            ("lookup_megabytes",),
        ),
        (
            {"kind": "testpmd-memif", "forwarding": "noisy", "noisy": {"queued_frames": 512}},
            ("queued_frames", "flush_ms"),
        ),
        (
            {
                "kind": "testpmd-memif",
                "forwarding": "noisy",
                "noisy": {"queued_frames": 500, "flush_ms": 1},
            },
            ("queued_frames", "500"),
        ),
        ({"kind": "testpmd-memif", "ring_size": 1000}, ("1000",)),
        ({"kind": "testpmd-memif", "ring_size": 32768}, ("16384",)),
        ({"kind": "loopback", "ports": 0}, ("1",)),
        ({"kind": "external", "ports": []}, ("1",)),
        ({"kind": "external", "ports": [{"devargs": "a"}]}, ("1", "ports")),
        ({"kind": "external", "ports": [{}] * 2}, ("devargs", "netdev")),
        (
            {"kind": "external", "ports": [{"devargs": "a", "netdev": "b"}] * 2},
            ("devargs", "netdev"),
        ),
        (
            {"kind": "external", "ports": [{"devargs": "a", "queues": 2}] * 2},
            ("driver", "queues", "netdev"),
        ),
        ({"kind": "external", "ports": [{"netdev": "eth1,a=b"}] * 2}, ()),
        ({"kind": "external", "ports": [{"netdev": "e" * 16}] * 2}, ()),
        ({"kind": "testpmd-memif", "frame_size": 9217}, ("9216",)),
        (
            {"kind": "external", "ports": [{"devargs": "a"}], "paths": [[0, 1]]},
            ("paths", "ports", "1"),
        ),
        (
            {"kind": "external", "ports": CARDS, "line_rate": "5Mpps"},
            (),
        ),
    ],
)
def test_unsound_settings_are_refused(
    document: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(document)
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    ("first", "again", "problem", "field"),
    [
        ({"netdev": "eth1"}, {"netdev": "eth1"}, "eth1 is lab.ports[0].netdev already", "netdev"),
        (
            {"devargs": "net_memif0,role=server"},
            {"devargs": "net_memif0,role=client"},
            *("net_memif0 is lab.ports[0].devargs already", "devargs"),
        ),
        (
            {"devargs": "0000:3B:00.0"},
            {"devargs": "3b:00.0,rxq_cqe_comp_en=0"},
            *("0000:3b:00.0 is lab.ports[0].devargs already", "devargs"),
        ),
    ],
)
def test_a_port_given_twice_is_refused_with_both_places(
    tmp_path: Path,
    says: Says,
    *,
    first: dict[str, str],
    again: dict[str, str],
    problem: str,
    field: str,
) -> None:
    ports = [first, {"devargs": "net_null7"}, again, {"devargs": "net_null8"}]
    path = tmp_path / "lab.yaml"
    path.write_text(yaml.safe_dump({"kind": "external", "ports": ports}))
    with pytest.raises(InputError) as refused:
        read_document(path).validate(ExternalSettings)
    assert f"ports[2].{field}" in str(refused.value)
    assert problem in str(refused.value)
    assert refused.value == says()


def test_testpmd_asks_for_what_its_mbufs_take() -> None:
    # 16384 buffers of 2176 bytes took 53 MB when measured.
    assert 53 < TestpmdSettings(mbufs=16384).megabytes < 106
    # A million buffers of 2176 bytes are 2176 MB without any overhead.
    assert TestpmdSettings(mbufs=1048576).megabytes > 2176


@pytest.mark.parametrize(
    ("frame_size", "buffer_bytes", "ring_buffer_bytes", "ring_frames"),
    [
        (64, 2048, 2112, 16384),
        # 2048 bytes and FCS.
        (2052, 2048, 2112, 16384),
        (2053, 2112, 2112, 16384),
        (2117, 2176, 2240, 8192),
        # 33 MB hold 3728 buffers of 9280 bytes, and a ring's length is a power of two.
        (9216, 9216, 9280, 2048),
    ],
)
def test_testpmd_has_buffers_for_the_longest_frame(
    frame_size: int, buffer_bytes: int, ring_buffer_bytes: int, ring_frames: int
) -> None:
    lab = TestpmdSettings().for_frames(frame_size)
    assert (lab.buffer_bytes, lab.ring_frames) == (buffer_bytes, ring_frames)
    assert f"bsize={ring_buffer_bytes}" in lab.devargs("client", 0, Path("/run/x.sock"))
    assert lab.megabytes >= 16384 * buffer_bytes // 2**20
    assert TestpmdSettings(ring_size=128).for_frames(frame_size).ring_frames == 128


def test_a_profile_does_not_shrink_what_a_lab_was_given() -> None:
    assert TestpmdSettings(frame_size=9000).for_frames(64).frame_size == 9000
    external = ExternalSettings(
        ports=(TesterPortSettings(devargs="a"), TesterPortSettings(devargs="b")), frame_size=9000
    )
    assert external.for_frames(64).frame_size == 9000
    assert external.for_frames(9216).frame_size == 9216
    assert LoopbackSettings().for_frames(9216) == LoopbackSettings()


def test_loopback_returns_each_ports_own_frames() -> None:
    lab = passive_lab(LoopbackSettings(ports=2))
    ports = lab.up()
    assert ports.devargs == ("net_ring0", "net_ring1")
    assert ports.paths == ((0, 0), (1, 1))
    assert (ports.drained_by, ports.line_rate_bps) == ("tester", None)
    assert lab.counters() is None
    assert LoopbackSettings().polled_cpus == ()


def test_external_pairs_neighbours_and_knows_its_line_rate() -> None:
    devargs = [{"devargs": f"0000:0{port}:00.0"} for port in range(4)]
    settings = ADAPTER.validate_python(
        {"kind": "external", "ports": devargs, "line_rate": "25Gbps"}
    )
    ports = passive_lab(settings).up()
    assert ports.devargs == ("0000:00:00.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0")
    assert ports.paths == ((0, 1), (1, 0), (2, 3), (3, 2))
    assert (ports.drained_by, ports.line_rate_bps) == ("wire", 25e9)


def test_external_takes_the_paths_it_is_given() -> None:
    settings = ADAPTER.validate_python(
        {"kind": "external", "ports": [{"devargs": name} for name in "abc"], "paths": [[0, 2]]}
    )
    assert passive_lab(settings).up().paths == ((0, 2),)


def test_a_lab_without_processes_cannot_be_kept_up(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        lab_up(LoopbackSettings())
    assert caught.value == says("lab.kind")


@pytest.mark.parametrize(
    ("changes", "bps", "settled"),
    [
        ({}, None, False),
        ({"line_rate": "25Gbps"}, 25e9, True),
        # Nothing that a link says counts where the DUT itself takes the frames away.
        ({"drained_by": "dut"}, None, True),
        ({"ports": [{"devargs": "net_null0"}, {"devargs": "0000:01:00.0"}]}, None, True),
    ],
)
def test_what_is_known_of_the_line_rate_before_links_are_up(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], bps: float | None, *, settled: bool
) -> None:
    monkeypatch.setattr("plimsoll.dut.ports.tester_ports.check_card", lambda address, where: None)
    settings = ADAPTER.validate_python({"kind": "external", "ports": CARDS, **changes})
    assert settings.check_machine() == LineRate(bps, settled)


def test_a_line_rate_never_comes_where_there_is_no_wire() -> None:
    assert LoopbackSettings().check_machine() == LineRate(None, settled=True)


@pytest.mark.parametrize(
    "settings",
    [
        LoopbackSettings(ports=3),
        ExternalSettings(ports=tuple(TesterPortSettings(devargs=n) for n in "abcd")),
    ],
)
def test_ports_and_paths_are_known_beforehand(settings: LabModel) -> None:
    ports = passive_lab(settings).up()
    assert settings.port_count == len(ports.devargs)
    assert settings.directions == ports.paths


def test_a_socket_that_cannot_be_is_refused_beforehand(says: Says) -> None:
    gone = "net_memif1,role=client,socket-abstract=no,socket=/proc/nonexistent/m.sock"
    settings = ADAPTER.validate_python(
        {"kind": "external", "ports": [{"devargs": "net_null0"}, {"devargs": gone}]}
    )
    with pytest.raises(InputError) as refused:
        settings.check_machine()
    assert refused.value == says("lab.ports[1].devargs", "socket", "/proc/nonexistent/m.sock")


def test_grout_holds_the_devargs_of_the_longest_path(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    """It has room for 127 characters; of a socket's path only the name is among them."""
    monkeypatch.setattr(LabNeeds, "check", lambda _: None)
    folder = Path("/tmp") / ("x" * 80)
    for frame_size in (64, 9018):
        grout = GroutSettings(cpu=1, frame_size=frame_size)
        assert all(len(grout.memif(port, folder / "memif.sock")) <= 127 for port in (0, 1))
    with pytest.raises(InputError) as caught:
        GroutSettings(cpu=1, socket=Path("/tmp/a-rather-long-name.sock")).check_machine()
    assert caught.value == says("lab.socket", "a-rather-long-name")
