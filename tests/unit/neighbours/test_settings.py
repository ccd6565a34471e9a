"""Neighbours as they are written, and the command lines that they become."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import parse_set_field
from plimsoll.errors import InputError
from tests.worded.says import Says

BASE = """\
profile: {streams: [{name: load, role: load}]}
search: {minimum: 1kpps, maximum: 1Mpps}
"""
REPORT, FOLDER = Path("/report.yaml"), Path("/folder")


def load(tmp_path: Path, noise: str, *settings: str) -> Experiment:
    path = tmp_path / "noisy.yaml"
    path.write_text(f"{BASE}noise:\n  - {noise}\n")
    return load_experiment(path, [parse_set_field(each) for each in settings])


def refused(tmp_path: Path, noise: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, noise)
    assert caught.value.remedy
    return str(caught.value)


def argv(tmp_path: Path, noise: str) -> str:
    (neighbour,) = load(tmp_path, noise).noise
    return " ".join(neighbour.argv("/program", REPORT, FOLDER))


def test_without_noise_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "quiet.yaml"
    path.write_text(BASE)
    assert load_experiment(path).noise == ()


@pytest.mark.parametrize(
    ("noise", "stressor"),
    [
        ("stressor: memory-bandwidth, cpus: [1]", "--memrate 1 --memrate-bytes 256M"),
        (
            "stressor: memory-bandwidth, cpus: [1], rate: 1GiB/s",
            "--memrate 1 --memrate-bytes 256M --memrate-rd-mbs 1024 --memrate-wr-mbs 1024",
        ),
        ("stressor: cache, cpus: [1, 2]", "--cache 2 --cache-no-affinity"),
        ("stressor: branch, cpus: [1], workers: 3", "--branch 3"),
        ("stressor: ipi, cpus: [0, 1]", "--tlb-shootdown 2"),
        ("stressor: io, cgroup: noisy.slice", "--hdd 1 --hdd-bytes 64M --hdd-opts wr-seq,rd-seq,"),
        ("stressor: timer, cpus: [1]", "--timer 1 --timer-freq 10000"),
        ("stressor: timer, cpus: [1], frequency: 2.5kHz", "--timer 1 --timer-freq 2500"),
    ],
)
def test_each_class_is_a_stressor_of_stress_ng(tmp_path: Path, noise: str, stressor: str) -> None:
    line = argv(tmp_path, f"{{kind: stress-ng, {noise}}}")
    assert line.startswith(f"/program {stressor}")
    assert line.endswith(
        "--timeout 0 --keep-name --metrics --yaml /report.yaml --temp-path /folder"
    )


def test_the_antagonist_is_reported_in_bytes(tmp_path: Path) -> None:
    noise = (
        "{kind: memory, working_set: 1.5MiB, access: sequential, writes: 25%, rate: 2GB/s, "
        "cpus: [1], workers: 4}"
    )
    assert argv(tmp_path, noise) == (
        "/program --working-set 1572864 --access sequential --writes 64 --rate 2000000000 "
        "--workers 4"
    )


def test_the_antagonist_by_default(tmp_path: Path) -> None:
    assert argv(tmp_path, "{kind: memory, cpus: [1, 2]}") == (
        "/program --working-set 67108864 --access random --writes 128 --rate 0 --workers 2"
    )


@pytest.mark.parametrize(
    ("noise", "facts"),
    [
        ("{kind: stress-ng, stressor: timer}", ("noise[0]",)),
        ("{kind: stress-ng, stressor: timers, cpus: [1]}", ("noise[0].stressor",)),
        ("{kind: stress, cpus: [1]}", ("noise[0]",)),
        ("{kind: memory, cpus: [1, 1]}", ("noise[0].cpus", "1")),
        ("{kind: memory, cpus: [-1]}", ("noise[0].cpus[0]",)),
        ("{kind: memory, cpus: [1], workers: 0}", ("noise[0].workers",)),
        ("{kind: memory, cpus: [1], niceness: 20}", ("noise[0].niceness",)),
        ("{kind: memory, cpus: [1], working_set: 64}", ("64MiB",)),
        ("{kind: memory, cpus: [1], working_set: 64MiB/s}", ("64MiB",)),
        (
            "{kind: memory, cpus: [1], working_set: 0.3B}",
            ("0.3B", "noisy.yaml:4", "noise[0].working_set", "64MiB"),
        ),
        ("{kind: memory, cpus: [1], working_set: 1B}", ("noise[0].working_set",)),
        ("{kind: memory, cpus: [1], rate: 1Gbps}", ("2GB/s",)),
        ("{kind: memory, cpus: [1], writes: 120%}", ("noise[0].writes",)),
        ("{kind: memory, cpus: [1], access: chaotic}", ("noise[0].access",)),
        ("{kind: memory, cpus: [1], stressor: cache}", ("noise[0].stressor",)),
        ("{kind: memory, cgroup: /sys/fs/cgroup/a}", ("/sys/fs/cgroup",)),
        ("{kind: memory, cgroup: a/../../b}", ("/sys/fs/cgroup",)),
        (
            "{kind: stress-ng, stressor: cache, cpus: [1], rate: 1GB/s}",
            ("noise[0].rate", "stressor", "cache"),
        ),
        (
            "{kind: stress-ng, stressor: cache, cpus: [1], frequency: 1kHz}",
            ("noise[0].frequency", "stressor", "cache"),
        ),
        (
            "{kind: stress-ng, stressor: timer, cpus: [1], directory: /var/tmp}",
            ("noise[0].directory", "stressor", "timer"),
        ),
        (
            "{kind: stress-ng, stressor: ipi, cpus: [1]}",
            ("noise[0].cpus", "1"),
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, noise: str, facts: tuple[str, ...], says: Says
) -> None:
    message = refused(tmp_path, noise)
    assert message == says(*facts)
    assert "noisy.yaml:4" in message


@pytest.mark.parametrize(
    "noise",
    [
        "{kind: memory, cpus: [1], working_set: 3MiB, writes: 10%, rate: 5MB/s, niceness: -5}",
        "{kind: stress-ng, stressor: timer, cgroup: a/b, frequency: 7kHz, workers: 2}",
        "{kind: stress-ng, stressor: io, cpus: [0], directory: /var/tmp}",
    ],
)
def test_what_the_record_keeps_is_read_as_the_same(tmp_path: Path, noise: str) -> None:
    experiment = load(tmp_path, noise)
    path = tmp_path / "again.yaml"
    path.write_text(yaml.safe_dump(experiment.normalised()))
    assert load_experiment(path).noise == experiment.noise


def test_noise_is_left_out_by_set(tmp_path: Path) -> None:
    assert load(tmp_path, "{kind: memory, cpus: [1]}", "noise=[]").noise == ()


@pytest.mark.parametrize(
    ("noise", "name", "facts"),
    [
        ("{kind: memory, cpus: [1]}", "memory random 64 MiB", ("50",)),
        (
            "{kind: memory, cpus: [1], rate: 1GB/s}",
            "memory random 64 MiB",
            ("50", "1000", "MB/s"),
        ),
        ("{kind: stress-ng, stressor: branch, cpus: [1]}", "stress-ng branch", ()),
        ("{kind: stress-ng, stressor: timer, cpus: [1]}", "stress-ng timer", ("10000",)),
    ],
)
def test_a_neighbour_in_words(
    tmp_path: Path, noise: str, name: str, facts: tuple[str, ...], says: Says
) -> None:
    (neighbour,) = load(tmp_path, noise).noise
    assert neighbour.name == name
    assert neighbour.level == (says(*facts) if facts else "")


def test_the_schema_of_quantities_is_text() -> None:
    schema: dict[str, Any] = Experiment.model_json_schema()
    fields = schema["$defs"]["MemorySettings"]["properties"]
    assert fields["working_set"]["type"] == "string"
