"""Captures of live traffic: what trials are to capture, and in which files it is found."""

import struct
from pathlib import Path

import pytest

from plimsoll.benchmark.live_traffic.live_captures import (
    LiveCaptures,
    PortCapture,
    ReceivedFrame,
    as_pcap,
    read_received,
)
from plimsoll.errors import InputError, MachineError
from plimsoll.generator.interface import CaptureCounts, CapturePlan, GeneratorRefused
from plimsoll.traffic.plan import StreamPlan
from tests.unit.benchmark.live_traffic.conftest import Live, python_traffic
from tests.worded.says import Says

WHOLE = PortCapture(most_frames=5)


def stream(number: int, rate_pps: float = 1000.0) -> StreamPlan:
    return StreamPlan(
        stream=number,
        name=f"s{number}",
        role="load",
        rate_pps=rate_pps,
        tx_port=0,
        rx_port=1,
        frames=(bytes(60),),
    )


def frame(number: int) -> ReceivedFrame:
    return ReceivedFrame(1_700_000_000_000_000_000 + number, 60, bytes([number]) * 60)


def write(path: Path, *numbers: int) -> None:
    path.write_bytes(as_pcap(map(frame, numbers), 9342))


def numbers_of(live: Live, port: int = 0) -> list[int]:
    return [each.data[0] for each in live.traffic.captured(port).frames()]


@pytest.fixture
def started(live: Live) -> Live:
    """Port 0 can be captured, and something is sent."""
    live.traffic.prepare_captures({0: WHOLE})
    live.traffic.add([stream(1), stream(2)])
    live.traffic.start([1])
    return live


def current(live: Live) -> Path:
    """The file that the generator writes to now."""
    switched = [path for _, _, path in live.trial.switches if path is not None]
    return Path([live.trial.plan.captures[0].path, *switched][-1])


def test_without_captures_nothing_is_planned(live: Live, says: Says) -> None:
    live.traffic.add([stream(1)])
    live.traffic.start()
    assert live.trial.plan.captures == ()
    with pytest.raises(InputError) as caught:
        live.traffic.start_capture(0)
    assert caught.value == says("0")


def test_a_capture_that_began_before_traffic_goes_on_with_it(live: Live, tmp_path: Path) -> None:
    live.traffic.prepare_captures({0: PortCapture(5, 64), 1: WHOLE})
    live.traffic.start_capture(0)
    live.traffic.add([stream(1)])
    live.traffic.start()
    folder = tmp_path / "captured"
    assert live.trial.plan.captures == (
        CapturePlan(0, str(folder / "0.pcap"), 5, 64, True),
        CapturePlan(1, str(folder / "1.pcap"), 5, None, False),
    )
    assert folder.stat().st_mode & 0o777 == 0o700
    write(folder / "0.pcap", 1, 2)
    live.trial.captured[0] = CaptureCounts(0, 2, 7)
    captured = live.traffic.captured(0)
    assert live.trial.switches == [(0, True, None)]
    assert [each.data[0] for each in captured.frames()] == [1, 2]
    assert (captured.left_out, captured.error) == (7, None)


def test_a_capture_that_begins_meanwhile_has_a_file_of_its_own(started: Live, says: Says) -> None:
    unused = current(started)
    started.traffic.start_capture(0)
    assert not unused.exists()
    (switch,) = started.trial.switches
    assert switch[:2] == (0, True)
    write(current(started), 3)
    started.trial.captured[0] = CaptureCounts(0, 1, 0, "No space left on device")
    started.traffic.stop_capture(0)
    assert started.trial.switches[-1] == (0, False, None)
    assert numbers_of(started) == [3]
    assert started.traffic.captured(0).error == says()


def test_the_next_capture_begins_anew(started: Live) -> None:
    started.traffic.start_capture(0)
    first = current(started)
    write(first, 3)
    started.traffic.start_capture(0)
    assert not first.exists()
    assert numbers_of(started) == []


def test_a_capture_goes_on_over_trials_with_what_is_left_of_it(started: Live) -> None:
    started.traffic.start_capture(0)
    write(current(started), 1, 2, 3)
    started.trial.captured[0] = CaptureCounts(0, 3, 4)
    started.traffic.add([stream(7)])
    started.traffic.start([7])
    (plan,) = started.trial.plan.captures
    assert (plan.on, plan.most_frames) == (True, 2)
    write(Path(plan.path), 4, 5)
    started.trial.captured[0] = CaptureCounts(0, 2, 1)
    captured = started.traffic.captured(0)
    assert [each.data[0] for each in captured.frames()] == [1, 2, 3, 4, 5]
    assert captured.left_out == 5


def test_no_more_frames_are_found_than_were_to_be_kept(started: Live) -> None:
    started.traffic.start_capture(0)
    write(current(started), *range(5))
    started.trial.captured[0] = CaptureCounts(0, 5, 0)
    started.traffic.add([stream(7)])
    started.traffic.start([7])
    (plan,) = started.trial.plan.captures
    assert plan.most_frames == 1
    write(Path(plan.path), 9)
    assert numbers_of(started) == list(range(5))


def test_what_was_captured_outlives_its_trial_and_trials_without_it(started: Live) -> None:
    started.traffic.start_capture(0)
    write(current(started), 1)
    started.trial.captured[0] = CaptureCounts(0, 1, 2)
    started.traffic.stop_capture(0)
    started.traffic.stop()
    started.traffic.start([1])
    assert not started.trial.plan.captures[0].on
    unused = current(started)
    started.trial.captured[0] = CaptureCounts(0, 0, 99)
    assert numbers_of(started) == [1]
    assert started.traffic.captured(0).left_out == 2
    started.traffic.stop()
    started.traffic.start([1])
    assert not unused.exists()
    assert numbers_of(started) == [1]


def test_files_are_gone_once_other_captures_are_prepared(
    started: Live, tmp_path: Path, says: Says
) -> None:
    started.traffic.start_capture(0)
    with pytest.raises(InputError) as caught:
        started.traffic.prepare_captures({})
    assert caught.value == says("captures")
    started.traffic.stop()
    started.traffic.prepare_captures({})
    assert list((tmp_path / "captured").iterdir()) == []


def test_ports_that_there_are_not_cannot_be_captured(live: Live, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        live.traffic.prepare_captures({0: WHOLE, 2: WHOLE})
    assert caught.value == says("2")


@pytest.mark.parametrize(
    ("kept", "where"),
    [
        (PortCapture(0), "most_frames"),
        (PortCapture(100_000_001), "most_frames"),
        (PortCapture(5, 0), "snap_bytes"),
        (PortCapture(5, 9343), "snap_bytes"),
    ],
)
def test_a_capture_keeps_something(live: Live, kept: PortCapture, where: str) -> None:
    with pytest.raises(InputError) as caught:
        live.traffic.prepare_captures({0: kept})
    assert caught.value.where == where


def test_captures_from_python(live: Live) -> None:
    traffic = python_traffic(live)
    traffic.capture(1, most_frames=2, snap_bytes=64)
    traffic.start(load="1kpps")
    (plan,) = live.trial.plan.captures
    assert (plan.port, plan.most_frames, plan.snap_bytes, plan.on) == (1, 2, 64, True)
    write(Path(plan.path), 1, 2)
    assert traffic.captured(1) == as_pcap(map(frame, (1, 2)), 64)
    traffic.stop()
    traffic.capture()
    traffic.start()
    assert [plan.port for plan in live.trial.plan.captures] == [0, 1]


def test_a_generator_without_captures_says_so(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        LiveCaptures(None).prepare({0: WHOLE})
    assert caught.value == says("generator")
    LiveCaptures(None).prepare({})


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        LiveCaptures(tmp_path / "no" / "folder").prepare({0: WHOLE})
    assert caught.value == says()


def test_a_refused_switch_leaves_the_capture_off(
    started: Live, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise GeneratorRefused("cannot be made: No space left on device")

    monkeypatch.setattr(started.trial, "switch_capture", refuse)
    with pytest.raises(GeneratorRefused) as caught:
        started.traffic.start_capture(0)
    assert caught.value == says()
    monkeypatch.undo()
    started.traffic.captured(0)
    assert started.trial.switches == [(0, False, None)]


def test_frames_are_read_as_they_were_written(tmp_path: Path) -> None:
    """The bytes of the format, by hand: magic, version 2.4, snap length, Ethernet."""
    path = tmp_path / "a.pcap"
    cut = ReceivedFrame(1_795_123_456_789_012_345, 1500, b"\xff\xee\xdd")
    content = as_pcap([cut], 64)
    assert content == struct.pack(
        "=IHHiIIIIIII3s",
        *(0xA1B23C4D, 2, 4, 0, 0, 64, 1),
        *(1_795_123_456, 789_012_345, 3, 1500),
        b"\xff\xee\xdd",
    )
    path.write_bytes(content)
    assert list(read_received(path)) == [cut]


@pytest.mark.parametrize("missing", [1, 60, 61, 75, 76])
def test_a_frame_that_is_being_written_ends_the_file(tmp_path: Path, missing: int) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(as_pcap(map(frame, range(3)), 64)[:-missing])
    assert list(read_received(path)) == [frame(0), frame(1)]


def test_no_file_has_no_frames(tmp_path: Path) -> None:
    assert list(read_received(tmp_path / "none")) == []
    (tmp_path / "empty").touch()
    assert list(read_received(tmp_path / "empty")) == []
