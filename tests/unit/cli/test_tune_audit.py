"""`plimsoll tune audit`: the table, the document, the commands and the exit status."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.errors import InputError
from tests.unit.record.published import schema_of
from tests.worded.says import Says

runner = CliRunner()
INTENT = """\
name: declared
platform: bare-metal
cpus: {reserved: "0", isolated: 1-3}
"""
FILES = {
    "proc/cmdline": "ro isolcpus=managed_irq,1-3\n",
    "proc/cpuinfo": "vendor_id\t: GenuineIntel\nflags\t\t: fpu\nmicrocode\t: 0x1\n",
    "proc/sys/kernel/hostname": "worker\x1b[31m-1\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/version": "Linux version 6.1.0\n",
    "proc/1/status": "Name:\tsystemd\nCpus_allowed_list:\t0\n",
    "sys/devices/system/cpu/online": "0-3\n",
    "sys/devices/system/cpu/isolated": "\n",
    "sys/devices/virtual/workqueue/cpumask": "f\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small host's root file system, unbound work of which goes everywhere."""
    for name, text in FILES.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "root"


@pytest.fixture
def intent(tmp_path: Path) -> Path:
    path = tmp_path / "intent.yaml"
    path.write_text(INTENT)
    return path


def audited(root: Path, *options: str) -> tuple[int, str]:
    result = runner.invoke(app, ["tune", "audit", "--root", str(root), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout


def test_the_table_has_the_worst_first_and_fits_100_columns(
    root: Path, intent: Path, says: Says
) -> None:
    status, text = audited(root, "--intent", str(intent))
    assert status == 1
    lines = text.splitlines()
    # What drives a terminal is written out.
    assert lines[0] == says("worker\\x1b[31m-1", "kernel", "6.1.0", str(root), "declared")
    assert lines[1].split() == ["verdict", "#", "check", "found"]
    assert max(len(line) for line in lines[1:]) <= 100
    failed = next(line for line in lines if "workqueues" in line)
    assert failed.split()[:3] == ["fail", "6", "workqueues"]
    assert "/sys/devices/virtual/workqueue/cpumask: f" in text
    verdicts = [line.split()[0] for line in lines[2:-1] if not line.startswith(" ")]
    order = ["fail", "warn", "unknown", "ok", "n/a"]
    assert verdicts == sorted(verdicts, key=order.index)
    assert " checks: " in lines[-1]
    assert " fail" in lines[-1]


def test_the_document_has_everything_of_each_check(root: Path, intent: Path) -> None:
    status, text = audited(root, "--intent", str(intent), "--json")
    assert status == 1
    document = json.loads(text)
    Draft202012Validator(schema_of("audit")).validate(document)
    assert (document["format"], document["version"]) == ("plimsoll-audit", 2)
    # No run has it.
    assert (document["role"], document["under_test"], document["unread"]) == (None, None, "")
    assert document["source"] == str(root)
    assert document["intent"] == "declared"
    found = {each["number"]: each for each in document["findings"]}
    assert found[6]["verdict"] == "fail"
    assert found[6]["read"] == [{"where": "/sys/devices/virtual/workqueue/cpumask", "what": "f"}]
    assert found[6]["expected"] == "CPUs of 0 alone"
    assert found[6]["steps"] == [
        {"text": "echo 1 > /sys/devices/virtual/workqueue/cpumask", "kind": "command"}
    ]
    assert found[1]["verdict"] == "ok"
    assert all(each["why"] and each["fix"] and each["sources"] for each in found.values())
    assert document["counts"]["fail"] == sum(each["verdict"] == "fail" for each in found.values())


def test_fixes_are_printed_and_nothing_is_done(root: Path, intent: Path) -> None:
    status, text = audited(root, "--intent", str(intent), "--fix")
    assert status == 1
    assert "echo 1 > /sys/devices/virtual/workqueue/cpumask" in text.splitlines()
    commands = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(
        line.split()[0] in ("echo", "grubby", "sysctl", "systemctl", "cpupower", "modprobe")
        for line in commands
    ), commands
    assert (root / "sys/devices/virtual/workqueue/cpumask").read_text() == "f\n"


def test_a_command_that_sets_nothing_is_not_said_to(root: Path, tmp_path: Path, says: Says) -> None:
    """On OpenShift nothing is to be run but the measurement, which needs no root."""
    noise = root / "var/lib/plimsoll/noise/oslat.txt"
    noise.parent.mkdir(parents=True)
    noise.write_text("oslat V 2.00\n    CPU:\t 2 3\n    Maximum:\t 500 700 (us)\n")
    there = tmp_path / "openshift.yaml"
    there.write_text(INTENT.replace("bare-metal", "openshift\npool: {role: worker}"))
    _, text = audited(root, "--intent", str(there), "--fix")
    lines = text.splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == ["plimsoll calibrate"]
    assert lines[0] == says()
    assert "as root" not in text
    assert "until the next boot" not in text


def test_without_failures_it_ends_with_0(root: Path, tmp_path: Path) -> None:
    (root / "proc/cmdline").write_text("ro quiet\n")
    status, text = audited(root)
    assert status == 0
    assert "no intent is given, and the kernel's command line isolates no CPUs" in text


def test_without_an_intent_it_says_what_it_assumes(root: Path) -> None:
    _, text = audited(root)
    assert "assumed from the kernel's command line: CPUs 1-3 isolated, 0 reserved" in text


def test_mistakes_in_options() -> None:
    for options in (["--intent", "opensift-deterministic"], ["--root", "/no/such/capture"]):
        result = runner.invoke(app, ["tune", "audit", *options])
        assert isinstance(result.exception, InputError)


def test_brackets_in_a_hosts_own_words_are_no_markup(root: Path, says: Says) -> None:
    """`[/]` closes what was never opened, which rich refuses with a traceback."""
    (root / "proc/cmdline").write_text("nohz_full=[/]1-2\n")
    status, text = audited(root)
    assert status == 0
    assert " ".join(text.split()) == says("[/]1-2")


def test_a_text_as_long_as_a_file_is_cut(root: Path, intent: Path) -> None:
    (root / "sys/devices/virtual/workqueue/cpumask").write_text("f" * 100_000)
    _, text = audited(root, "--intent", str(intent))
    assert len(text) < 20_000
