import shutil
import subprocess
import sys
from pathlib import Path

from plimsoll.host.ledger.hugepage_claims import HugepageClaim, note_claims
from plimsoll.host.ledger.janitor import start_janitor, swept_ledger, watch
from plimsoll.host.ledger.ledger import Ledger, ledgers, sweep
from plimsoll.host.ledger.shared_directory import ledger_uses
from plimsoll.host.processes.identity import ProcessIdentity, end_process, wait_for_end
from tests.worded.says import Says

OWNER = """
import subprocess, time
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.processes.identity import identify
with swept_ledger("test") as ledger:
    process = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
    ledger.note_process("sleeper", identify(process.pid))
    print(ledger.directory, flush=True)
    time.sleep(600)
"""


def start_owner() -> tuple[subprocess.Popen[str], Ledger]:
    root = Path(__file__).resolve().parents[4]
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert owner.stdout is not None
    return owner, Ledger(Path(owner.stdout.readline().strip()))


def identities(ledger: Ledger) -> dict[str, ProcessIdentity]:
    return {noted.name: noted.identity for noted in ledger.record.processes}


def test_a_watched_ledger_is_undone_and_its_janitor_ends(state: Path) -> None:
    with swept_ledger("test") as ledger:
        janitor = identities(ledger)["janitor"]
        assert janitor.alive
    assert not janitor.alive
    assert list(state.iterdir()) == []


def test_a_ledger_that_was_deleted_holds_nothing_up_and_gives_its_pages_back(
    state: Path, tmp_path: Path
) -> None:
    pool = tmp_path / "hugepages-2048kB"
    pool.mkdir()
    for name, pages in (("nr", 7), ("free", 7), ("resv", 0), ("surplus", 0)):
        (pool / f"{name}_hugepages").write_text(f"{pages}\n")
    with swept_ledger("test") as ledger:
        note_claims(ledger.id, (HugepageClaim(str(pool), 4, 4, 3, "held"),))
        shutil.rmtree(ledger.directory)
    assert (pool / "nr_hugepages").read_text() == "3\n"
    assert ledger_uses() == ()


def test_the_janitor_undoes_a_killed_owner(state: Path) -> None:
    owner, ledger = start_owner()
    processes = identities(ledger)
    owner.kill()
    owner.communicate()
    assert wait_for_end(processes["janitor"], timeout_s=60)
    assert not processes["sleeper"].alive
    assert list(state.iterdir()) == []


def test_sweep_undoes_an_owner_killed_with_its_janitor(state: Path, says: Says) -> None:
    owner, ledger = start_owner()
    processes = identities(ledger)
    assert end_process(processes["janitor"], patience_s=0)
    owner.kill()
    owner.communicate()
    assert processes["sleeper"].alive
    assert sweep() == [
        says("sleeper", str(processes["sleeper"].pid)),
        f"removed {ledger.directory}",
    ]
    assert not processes["sleeper"].alive


def test_the_janitor_leaves_a_ledger_that_was_handed_over(state: Path) -> None:
    ledger = Ledger.create("test")
    ledger.hand_over()
    assert watch(ledger) == []
    assert [found.id for found in ledgers()] == [ledger.id]


def test_the_janitor_is_noted_so_that_undo_ends_it(state: Path, says: Says) -> None:
    ledger = Ledger.create("test")
    janitor = start_janitor(ledger)
    assert ledger.undo()[0] == says(str(janitor.pid))
    assert janitor.wait() == -9
