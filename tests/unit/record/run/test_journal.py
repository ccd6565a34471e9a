import binascii
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.journal import LINE_CUT, Journal, JournalEvent, read_journal
from tests.unit.record.file_size_limit import at_most_4_kib_a_file
from tests.unit.record.trial_parts import record
from tests.worded.says import Says


def written(path: Path, count: int) -> tuple[JournalEvent, ...]:
    with Journal(path) as journal:
        return tuple(journal.append("note", number=n, text="ä,\n") for n in range(count))


def test_events_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    events = written(path, 3)
    assert read_journal(path).events == events
    assert len(path.read_text().splitlines()) == 3


def test_without_a_file_there_are_no_events(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "journal.jsonl").events == ()


@given(cut=st.integers(min_value=0))
def test_a_kill_at_any_byte_costs_at_most_the_last_event(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    events = written(path, 4)
    data = path.read_bytes()[: cut % (path.stat().st_size + 1)]
    path.write_bytes(data)
    contents = read_journal(path)
    whole = data.count(b"\n")
    assert contents.events == events[:whole]
    assert contents.torn == (not data.endswith(b"\n") and bool(data))
    with Journal(path) as journal:
        journal.append("resumed")
    again = read_journal(path)
    assert [event.kind for event in again.events] == [
        *(["note"] * whole),
        *([LINE_CUT] if contents.torn and whole else []),
        "resumed",
    ]
    assert not again.torn


def test_a_last_line_of_zeros_without_an_end_is_torn_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    events = written(path, 2)
    with path.open("ab") as file:
        file.write(b"\0" * 80)
    assert read_journal(path).torn
    with Journal(path) as journal:
        journal.append("resumed")
    assert read_journal(path).events[:2] == events
    assert not read_journal(path).torn


@given(line=st.integers(0, 3), byte=st.integers(min_value=0), bit=st.integers(0, 7))
def test_a_flipped_bit_in_any_whole_line_is_damage_and_nothing_is_cut_off(
    tmp_path_factory: pytest.TempPathFactory, line: int, byte: int, bit: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    written(path, 4)
    lines = path.read_bytes().splitlines(keepends=True)
    flipped = bytearray(lines[line])
    flipped[byte % (len(flipped) - 1)] ^= 1 << bit
    damaged = b"".join([*lines[:line], bytes(flipped), *lines[line + 1 :]])
    path.write_bytes(damaged)
    with pytest.raises(RecordError, match=f"line {line + 1} is damaged"):
        read_journal(path)
    with pytest.raises(RecordError, match=f"line {line + 1} is damaged"):
        Journal(path)
    assert path.read_bytes() == damaged


def test_the_checksum_is_the_crc_32_of_the_line_before_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    written(path, 1)
    line = path.read_bytes()
    text, checksum = line.split(b', "crc32": "')
    assert checksum == f'{binascii.crc32(text):08x}"}}\n'.encode()
    assert json.loads(line)["text"] == "ä,\n"


def test_a_line_without_a_checksum_is_not_taken(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"kind": "note", "at_unix_ns": 1}\n')
    with pytest.raises(RecordError) as caught:
        read_journal(path)
    assert caught.value == says("journal.jsonl", "1")
    assert "earlier version" in caught.value.message


@pytest.mark.parametrize(
    "line", ["{broken", "[]", "{}", '{"kind": 3, "at_unix_ns": 1}', "[" * 20_000]
)
def test_a_damaged_middle_line_is_named(tmp_path: Path, line: str, says: Says) -> None:
    path = tmp_path / "journal.jsonl"
    written(path, 3)
    lines = path.read_text().splitlines()
    lines[1] = line
    path.write_text("".join(f"{each}\n" for each in lines))
    with pytest.raises(RecordError) as caught:
        read_journal(path)
    assert caught.value == says("2")
    assert caught.value.where == str(path)


def test_trials_come_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    trial = record(4)
    with Journal(path) as journal:
        journal.append("trial-started", number=4, load_pps=1000.0)
        journal.append("trial", trial=json.loads(trial.model_dump_json()))
        journal.append("trial-started", number=5, load_pps=500.0)
    contents = read_journal(path)
    assert contents.trials() == (trial,)
    assert [event.fields["number"] for event in contents.unfinished_trials()] == [5]
    assert contents.next_trial_number() == 6


def test_the_first_trial_is_number_one(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "journal.jsonl").next_trial_number() == 1


def test_a_trial_of_another_version_says_what_to_do(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append("trial", trial={"number": 1, "colour": "red"})
    with pytest.raises(RecordError) as caught:
        read_journal(path).trials()
    assert caught.value == says("journal.jsonl", "environment.json")
    assert "environment.json" in caught.value.remedy


def test_a_full_disk_is_an_error_and_harms_no_event(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    events = written(path, 2)
    with Journal(path) as journal, at_most_4_kib_a_file(), pytest.raises(RecordError) as caught:
        journal.append("note", text="x" * 5000)
    assert caught.value.where == str(path)
    assert read_journal(path).events == events
