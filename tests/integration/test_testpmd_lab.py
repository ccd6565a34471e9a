"""The testpmd-memif lab with a real dpdk-testpmd: up, watched, killed, and nothing left."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.lab import LabDied, LabPorts
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.registry.standing import lab_down, lab_list, lab_up
from plimsoll.dut.userspace.testpmd import TestpmdLab
from plimsoll.errors import InputError, MachineError
from plimsoll.host.dpdk_telemetry import Telemetry
from plimsoll.host.ledger.hugepage_claims import claims_locked, claims_of, pools
from plimsoll.host.ledger.hugepages import MemoryPlan, plan_memory
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger, ledgers, sweep
from plimsoll.host.ledger.shared_directory import ledger_uses
from plimsoll.host.processes.child import Child
from plimsoll.host.processes.identity import ProcessIdentity, end_process, wait_for_end
from tests.integration.command import hugepages

CPU = max(os.sched_getaffinity(0))
ORDINARY_PAGES = MemoryPlan(huge=False, megabytes=128)
PATIENCE_S = 60

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        shutil.which("dpdk-testpmd") is None,
        reason="dpdk-testpmd is missing: install dpdk-dev (Debian 12) or dpdk (Fedora)",
    ),
]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may reserve hugepages")

# A run as the command line makes it: argument 1 is how many MB of hugepages it wants.
OWNER = f"""
import sys, time
from plimsoll.dut.registry.labs import make_lab
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.host.ledger.hugepages import plan_memory
from plimsoll.host.ledger.janitor import swept_ledger
with swept_ledger("run") as ledger:
    memory = plan_memory(int(sys.argv[1]), ledger, require_huge=True)
    make_lab(TestpmdSettings(cpu={CPU}), ledger, memory).up()
    print(ledger.directory, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_STATE", str(directory))
    yield directory
    for ledger in ledgers():
        ledger.undo()
    shutil.rmtree(directory)


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    with swept_ledger("test") as ledger:
        yield ledger


def make_lab(ledger: Ledger, memory: MemoryPlan = ORDINARY_PAGES) -> TestpmdLab:
    return TestpmdSettings(cpu=CPU).make(ledger, memory, "ours")


def forwarder_of(ledger: Ledger) -> ProcessIdentity:
    named = {noted.name: noted.identity for noted in ledger.record.processes}
    return named["dpdk-testpmd"]


def start_client(ports: LabPorts, ledger: Ledger) -> Child:
    """Another testpmd at the tester's end, which sends on both ports."""
    vdevs = [word for devargs in ports.devargs for word in ("--vdev", devargs)]
    cpus = ",".join(str(cpu) for cpu in os.sched_getaffinity(0))
    lcores = f"0@({cpus}),1@{min(os.sched_getaffinity(0))}"
    return Child.start(
        [
            *("dpdk-testpmd", "--lcores", lcores, "--no-pci", "--file-prefix", "client"),
            *("--no-huge", "-m", "128", "--no-shconf", *vdevs, "--"),
            *("--forward-mode=txonly", "--nb-cores=1", "--total-num-mbufs=16384"),
        ],
        log=ledger.directory / "client.log",
        environment=ledger.environment,
    )


def start_owner(megabytes: int) -> tuple[subprocess.Popen[str], Ledger]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(megabytes)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert owner.stdout is not None
    return owner, Ledger(Path(owner.stdout.readline().strip()))


def added_by(ledger: Ledger) -> int:
    """The pages that it has added to the pool."""
    return sum(claim.added for claim in claims_of(ledger.id))


def free_megabytes() -> int:
    pool = pools()[0]
    return pool.free * pool.page_kb // 1024


def test_up_links_down_telemetry_and_down(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    ports = lab.up()
    testpmd = forwarder_of(ledger)
    assert (ports.paths, ports.drained_by) == (((0, 1), (1, 0)), "dut")
    with Telemetry(ledger.directory / "dpdk" / "dut" / "dpdk_telemetry.v2") as telemetry:
        assert telemetry.query("/ethdev/link_status,0") == {"status": "DOWN"}
    with pytest.raises(MachineError, match=r"no link at ports \[0, 1\] after 0\.1 s"):
        lab.wait_links(0.1)
    assert [counters.rx_frames for counters in lab.counters()] == [0, 0]
    assert str(lab.facts()["version"]).startswith("DPDK ")
    lab.check()
    lab.down()
    lab.down()
    assert not testpmd.alive
    assert not (ledger.directory / "memif.sock").exists()


@pytest.mark.full
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_a_client_brings_the_links_up_and_frames_are_counted(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    client = start_client(lab.up(), ledger)
    lab.wait_links(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while not all(counters.rx_frames for counters in lab.counters()):
        assert time.monotonic() < deadline
    client.end(0)
    # It may crash when its client hangs up; taking it down must not mind.
    lab.down()


def test_a_killed_testpmd_is_reported_as_such(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    lab.up()
    pid = forwarder_of(ledger).pid
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(LabDied) as died:
        lab.wait_links(PATIENCE_S)
    assert (died.value.process, died.value.pid, died.value.exit_status) == ("dpdk-testpmd", pid, -9)
    assert f"dpdk-testpmd (pid {pid}) was killed by signal 9 (SIGKILL)" in str(died.value)
    assert "EAL: " in str(died.value)
    with pytest.raises(LabDied):
        lab.counters()
    lab.down()


def test_a_testpmd_that_refuses_to_start_says_why_and_leaves_nothing(ledger: Ledger) -> None:
    settings = TestpmdSettings(cpu=CPU).model_copy(update={"burst": 5000})
    # It exits with 1, or, in DPDK 22.11, dies of its own clean-up while memif still starts.
    ends = (
        r"(?s)(exited with status 1|was killed by signal 11 \(SIGSEGV\)); its log ends with:.*burst"
    )
    with pytest.raises(LabDied, match=ends):
        settings.make(ledger, ORDINARY_PAGES, "ours").up()
    assert not forwarder_of(ledger).alive


@needs_root
def test_hugepages_are_reserved_used_and_given_back(state: Path) -> None:
    before = hugepages()
    with swept_ledger("test") as ledger:
        memory = plan_memory(free_megabytes() + 64, ledger, require_huge=True)
        assert memory.reserved_kb >= 64 * 1024
        make_lab(ledger, memory).up()
        assert added_by(ledger) == memory.reserved_kb // pools()[0].page_kb
        # That is by how much the pool has grown.
        assert hugepages() == before
    assert hugepages() == before
    assert list(state.iterdir()) == []


@pytest.mark.full
@needs_root
def test_pages_that_a_run_has_mapped_are_not_counted_as_promised_too(ledger: Ledger) -> None:
    pool = pools()[0]
    memory = plan_memory(free_megabytes() + 64, ledger, require_huge=True)
    make_lab(ledger, memory).up()
    with claims_locked(pool.directory.parent):
        pool.resize(pool.total + 10)
    try:
        # All pages but those ten are the lab's, mapped or promised.
        second = Ledger.create("second")
        assert plan_memory(10 * pool.page_kb // 1024, second, require_huge=True).reserved_kb == 0
        third = Ledger.create("third")
        assert plan_memory(pool.page_kb // 1024, third, require_huge=True).reserved_kb > 0
        third.undo()
    finally:
        with claims_locked(pool.directory.parent):
            pool.resize(pool.total - 10)


@needs_root
def test_a_killed_owner_leaves_nothing(state: Path) -> None:
    before = hugepages()
    owner, ledger = start_owner(free_megabytes() + 64)
    processes = {noted.name: noted.identity for noted in ledger.record.processes}
    assert added_by(ledger) > 0
    owner.kill()
    owner.communicate()
    assert wait_for_end(processes["janitor"], PATIENCE_S)
    assert not processes["dpdk-testpmd"].alive
    assert list(state.iterdir()) == []
    assert hugepages() == before


@needs_root
def test_sweep_cleans_up_after_owner_and_janitor_were_killed(state: Path) -> None:
    before = hugepages()
    owner, ledger = start_owner(free_megabytes() + 64)
    processes = {noted.name: noted.identity for noted in ledger.record.processes}
    assert end_process(processes["janitor"], patience_s=0)
    owner.kill()
    owner.communicate()
    assert added_by(ledger) > 0
    assert f"removed {ledger.directory}" in sweep()
    assert not processes["dpdk-testpmd"].alive
    assert list(state.iterdir()) == []
    assert hugepages() == before


@pytest.mark.full
@needs_root
def test_the_end_of_one_run_does_not_disturb_another(state: Path) -> None:
    before = hugepages()
    first, first_ledger = start_owner(free_megabytes() + 64)
    second, second_ledger = start_owner(256)
    first.kill()
    first.communicate()
    assert wait_for_end(
        {noted.name: noted.identity for noted in first_ledger.record.processes}["janitor"],
        PATIENCE_S,
    )
    assert forwarder_of(second_ledger).alive
    # All that the pool has grown by is the second one's.
    assert hugepages() == before
    second.terminate()
    second.communicate()
    janitor = [
        noted.identity for noted in second_ledger.record.processes if noted.name == "janitor"
    ]
    assert wait_for_end(janitor[0], PATIENCE_S)
    assert hugepages() == before


def test_a_standing_lab_outlives_its_command_until_it_is_taken_down(state: Path) -> None:
    lab = lab_up(TestpmdSettings(cpu=CPU))
    assert [(found.id, found.state) for found in lab_list()] == [(lab.id, "up")]
    assert sweep() == []
    done = lab_down(lab.id)
    assert any(words.startswith("killed dpdk-testpmd") for words in done)
    assert lab_list() == ()
    assert list(state.iterdir()) == []


def test_a_standing_lab_that_died_is_listed_so(state: Path) -> None:
    lab = lab_up(TestpmdSettings(cpu=CPU))
    assert end_process(forwarder_of(ledgers()[0]), patience_s=0)
    assert [found.state for found in lab_list()] == ["died"]
    lab_down(lab.id)
    assert list(state.iterdir()) == []


def test_a_lab_that_is_not_there_cannot_be_taken_down(state: Path) -> None:
    with pytest.raises(InputError, match=r"no lab 'x' \(choose from: none is up\)"):
        lab_down("x")


def test_a_lab_of_a_run_is_not_taken_down_from_outside(ledger: Ledger) -> None:
    with pytest.raises(InputError, match=r"belongs to a run, process \d+ \(end that run"):
        lab_down(ledger.id)


def test_a_missing_testpmd_names_the_package(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/proc/nonexistent")
    with pytest.raises(MachineError, match=r"dpdk-testpmd is missing \(install .*dpdk-dev.*Fedora"):
        make_lab(ledger).up()


def test_a_socket_in_use_is_refused_and_left_alone(ledger: Ledger) -> None:
    path = ledger.directory / "taken"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(path))
        server.listen()
        lab = TestpmdSettings(cpu=CPU, socket=path).make(ledger, ORDINARY_PAGES, "ours")
        with pytest.raises(InputError, match=r"lab\.socket: .*another process listens on it"):
            lab.up()
        lab.down()
    assert path.exists()


def test_a_cpu_that_does_not_exist_is_refused(ledger: Ledger) -> None:
    lab = TestpmdSettings(cpu=8000).make(ledger, ORDINARY_PAGES, "ours")
    with pytest.raises(InputError, match=r"lab\.cpu: CPU 8000 does not exist"):
        lab.up()


@needs_root
def test_testpmd_may_lock_its_memory_and_nothing_else(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    lab.up()
    status = Path(f"/proc/{forwarder_of(ledger).pid}/status").read_text()
    # Bit 14 is CAP_IPC_LOCK.
    assert "CapEff:\t0000000000004000\n" in status
    assert "CapBnd:\t0000000000004000\n" in status
    assert "NoNewPrivs:\t1\n" in status
    locked = next(line for line in status.splitlines() if line.startswith("VmLck:"))
    assert int(locked.split()[1]) > 0
    lab.down()


def test_a_second_lab_on_the_same_cpu_is_refused_by_name(state: Path) -> None:
    lab = lab_up(TestpmdSettings(cpu=CPU))
    (use,) = [each for each in ledger_uses() if each.ledger_id == lab.id]
    process = use.process_named("dpdk-testpmd")
    assert process is not None
    with pytest.raises(MachineError) as refused:
        lab_up(TestpmdSettings(cpu=CPU))
    assert refused.value.where == "lab.cpu"
    assert refused.value.message == f"CPU {CPU} is polled by {lab.id} (dpdk-testpmd {process.pid})"
    assert refused.value.remedy == f"plimsoll lab down {lab.id}, or choose another CPU"
    assert [each.id for each in lab_list()] == [lab.id]
    lab_down(lab.id)
    lab_down(lab_up(TestpmdSettings(cpu=CPU)).id)


# One of several runs: argument 1 is how many MB it reserves. It maps all of it, as DPDK does.
RESERVER = """
import mmap, sys
from plimsoll.host.ledger.hugepages import plan_memory
from plimsoll.host.ledger.janitor import swept_ledger
with swept_ledger("run") as ledger:
    memory = plan_memory(int(sys.argv[1]), ledger, require_huge=True)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000 | 0x8000  # MAP_HUGETLB, MAP_POPULATE
    mapped = mmap.mmap(-1, int(sys.argv[1]) << 20, flags=flags)
    mapped[::2097152] = bytes(len(mapped[::2097152]))
    print(memory.huge, flush=True)
    sys.stdin.read()
"""


@pytest.mark.full
@needs_root
def test_twelve_runs_at_once_with_state_directories_of_their_own_all_get_their_pages(
    state: Path,
) -> None:
    before = hugepages()
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RESERVER, "40"],
            env={**os.environ, "PLIMSOLL_STATE": str(state / str(number))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(12)
    ]
    said = [run.stdout.readline() for run in runs if run.stdout is not None]
    # Half of them end as they should, and half are killed.
    for run in runs[6:]:
        run.kill()
    for run in runs:
        run.communicate("")
    assert said == ["True\n"] * 12
    deadline = time.monotonic() + PATIENCE_S
    while hugepages() != before or any(list(root.iterdir()) for root in state.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for root in state.iterdir():
        root.rmdir()
