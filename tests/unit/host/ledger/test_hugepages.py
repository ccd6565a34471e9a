import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.ledger.hugepage_claims import (
    HugepageClaim,
    HugepagePool,
    claims_locked,
    claims_of,
    give_back,
    note_claims,
    pools,
)
from plimsoll.host.ledger.hugepages import hugepages_explained, plan_memory, unclaimed
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.host.ledger.record import to_json
from plimsoll.host.ledger.shared_directory import ledger_uses, locked, post_use
from plimsoll.host.processes.identity import HugepageHolder, ProcessIdentity
from tests.worded.says import Says

ROOT = Path(__file__).resolve().parents[4]


def make_pool(root: Path, page_kb: int = 2048, total: int = 0, free: int = 0) -> HugepagePool:
    directory = root / f"hugepages-{page_kb}kB"
    directory.mkdir()
    for name, pages in (("nr", total), ("free", free), ("resv", 0), ("surplus", 0)):
        (directory / f"{name}_hugepages").write_text(f"{pages}\n")
    return HugepagePool(directory)


def refuse_resize(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pool: HugepagePool, pages: int) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(HugepagePool, "resize", refuse)


@pytest.fixture
def ledger(state: Path) -> Ledger:
    return Ledger.create("test")


def test_pools_are_found_smallest_page_first(tmp_path: Path) -> None:
    for page_kb in (1048576, 64, 2048):
        make_pool(tmp_path, page_kb)
    assert [pool.page_kb for pool in pools(tmp_path)] == [2048, 1048576]


def test_enough_free_pages_are_used_as_they_are(tmp_path: Path, ledger: Ledger) -> None:
    pool = make_pool(tmp_path, total=100, free=80)
    plan = plan_memory(160, ledger, root=tmp_path)
    assert (plan.huge, plan.reserved_kb, plan.note) == (True, 0, None)
    assert pool.total == 100


def test_pages_that_a_mapping_has_reserved_are_not_free(tmp_path: Path, ledger: Ledger) -> None:
    pool = make_pool(tmp_path, total=100, free=80)
    (pool.directory / "resv_hugepages").write_text("1\n")
    assert plan_memory(160, ledger, root=tmp_path).reserved_kb == 2048


def test_surplus_pages_do_not_belong_to_the_pool(tmp_path: Path) -> None:
    pool = make_pool(tmp_path, total=9)
    (pool.directory / "surplus_hugepages").write_text("3\n")
    assert pool.total == 6


def test_surplus_pages_that_others_hold_are_reserved_in_addition(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ledger: Ledger
) -> None:
    """As of a socket that the kernel closes late: the pool is empty, 12 pages are still held.

    Linux 6.18 then makes 108 free pages of nr_hugepages 120: it takes in the surplus first.
    """
    pool = make_pool(tmp_path, total=12)
    (pool.directory / "surplus_hugepages").write_text("12\n")

    def resize(pool: HugepagePool, pages: int) -> int:
        for name, count in (("nr", pages), ("surplus", 0), ("free", pages - 12)):
            (pool.directory / f"{name}_hugepages").write_text(f"{count}\n")
        return pool.total

    monkeypatch.setattr(HugepagePool, "resize", resize)
    assert plan_memory(240, ledger, root=tmp_path).huge
    assert pool.free == 120


def test_large_pages_serve_when_small_ones_are_missing(tmp_path: Path, ledger: Ledger) -> None:
    small = make_pool(tmp_path)
    make_pool(tmp_path, 1048576, total=1, free=1)
    plan = plan_memory(160, ledger, root=tmp_path)
    assert (plan.huge, plan.reserved_kb, small.total) == (True, 0, 0)


def test_missing_pages_are_added_said_and_given_back(
    tmp_path: Path, ledger: Ledger, says: Says
) -> None:
    pool = make_pool(tmp_path, total=10, free=4)
    plan = plan_memory(33, ledger, root=tmp_path)
    # 33 MB are 17 pages, of which 4 are free.
    assert (plan.huge, plan.reserved_kb, pool.total) == (True, 13 * 2048, 23)
    assert plan.note == says("13", "2048", "kB")
    assert ledger.undo() == says("13", "hugepages-2048kB")
    assert pool.total == 10


def test_pages_that_others_add_in_between_stay(tmp_path: Path, ledger: Ledger) -> None:
    pool = make_pool(tmp_path, total=10, free=0)
    plan_memory(8, ledger, root=tmp_path)
    pool.resize(pool.total + 50)
    ledger.undo()
    assert pool.total == 60


def test_pages_that_an_administrator_took_away_are_not_taken_twice(
    tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path)
    plan_memory(8, ledger, root=tmp_path)
    pool.resize(1)
    ledger.undo()
    assert pool.total == 0


def test_pages_promised_to_another_run_are_not_promised_again(
    tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path, total=10, free=10)
    assert plan_memory(12, Ledger.create("other"), root=tmp_path).reserved_kb == 0
    # 6 of the 10 pages are the other run's, so 1 of our 5 is missing.
    assert plan_memory(10, ledger, root=tmp_path).reserved_kb == 2048
    assert pool.total == 11


def test_a_promise_that_the_pool_cannot_keep_is_not_ours_to_mend(
    tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path, total=10, free=10)
    plan_memory(20, Ledger.create("other"), root=tmp_path)
    (pool.directory / "free_hugepages").write_text("2\n")
    assert plan_memory(10, ledger, root=tmp_path).reserved_kb == 5 * 2048


def test_two_plans_of_one_run_add_up(tmp_path: Path, ledger: Ledger) -> None:
    pool = make_pool(tmp_path)
    plan_memory(8, ledger, root=tmp_path)
    (pool.directory / "free_hugepages").write_text("4\n")
    plan_memory(6, ledger, root=tmp_path)
    assert pool.total == 7
    ledger.undo()
    assert pool.total == 0


def test_without_permission_ordinary_pages_serve_and_the_cost_is_said(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    make_pool(tmp_path)
    refuse_resize(monkeypatch)
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert plan.note == says("4", "2048", "kB")
    assert "more TLB misses" in plan.note
    assert claims_of(ledger.id) == ()


def test_required_hugepages_without_permission_are_an_error_with_the_remedy(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    make_pool(tmp_path)
    refuse_resize(monkeypatch)
    with pytest.raises(MachineError) as refused:
        plan_memory(9, ledger, require_huge=True, root=tmp_path)
    assert refused.value.where == str(tmp_path)
    assert refused.value == says("5", "2048", "kB", "vm.nr_hugepages=5")
    assert "vm.nr_hugepages=5" in refused.value.remedy


def test_root_is_not_advised_to_become_root(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    make_pool(tmp_path)
    monkeypatch.setattr(HugepagePool, "resize", lambda pool, pages: pool.total)
    with pytest.raises(MachineError) as refused:
        plan_memory(9, ledger, require_huge=True, root=tmp_path)
    assert refused.value == says("0", "5")
    assert "as root" not in refused.value.remedy


def test_a_kernel_without_hugepages_is_said(tmp_path: Path, ledger: Ledger, says: Says) -> None:
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert plan.note == says("4", "kB")


def test_what_the_kernel_found_too_little_of_goes_back_at_once(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    pool = make_pool(tmp_path, total=2, free=0)
    grow = HugepagePool.resize
    monkeypatch.setattr(HugepagePool, "resize", lambda pool, pages: grow(pool, min(pages, 5)))
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert plan.note == says("3", "4")
    assert pool.total == 2
    assert claims_of(ledger.id) == ()


def claim_before_adding(pool: HugepagePool, added: int) -> HugepageClaim:
    return HugepageClaim(str(pool.directory), added, added, pool.total, "adding")


@pytest.mark.parametrize(("reached", "left"), [(7, 7), (12, 7)])
def test_a_kill_around_adding_is_undone_to_the_page(
    reached: int, left: int, tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path, total=7)
    note_claims(ledger.id, (claim_before_adding(pool, 5),))
    pool.resize(reached)
    ledger.undo()
    assert pool.total == left


@given(before=st.integers(0, 1000), added=st.integers(1, 1000), others=st.integers(0, 1000))
def test_a_kill_while_giving_back_loses_and_steals_nothing(
    before: int, added: int, others: int
) -> None:
    full = before + others + added
    returning = HugepageClaim("pool", added, added, full, "returning")
    assert returning.owed(full) == added
    assert returning.owed(full - added) == 0
    assert replace(returning, step="held").owed(full) == added


def test_giving_back_is_noted_before_it_happens(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(tmp_path, total=9)
    note_claims(ledger.id, (HugepageClaim(str(pool.directory), 4, 4, 5, "held"),))
    seen: list[tuple[str, int, int]] = []
    shrink = HugepagePool.resize

    def watched(pool: HugepagePool, pages: int) -> int:
        (claim,) = claims_of(ledger.id)
        seen.append((claim.step, claim.added, pool.total))
        return shrink(pool, pages)

    monkeypatch.setattr(HugepagePool, "resize", watched)
    assert give_back(ledger.id) == {"hugepages-2048kB": 4}
    assert seen == [("returning", 4, 9)]
    assert pool.total == 5
    assert claims_of(ledger.id) == ()


def test_a_step_left_half_done_is_settled_before_anybody_changes_the_pool(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A dies having added; B gives its own back before A is undone: A's are not forgotten."""
    pool = make_pool(tmp_path)
    other = Ledger.create("other")
    plan_memory(10, other, root=tmp_path)
    note_claims(ledger.id, (claim_before_adding(pool, 7),))
    pool.resize(12)
    other.undo()
    assert pool.total == 7
    ledger.undo()
    assert pool.total == 0


def test_a_step_that_never_happened_takes_nothing_from_others(
    tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path)
    note_claims(ledger.id, (claim_before_adding(pool, 7),))
    plan_memory(10, Ledger.create("other"), root=tmp_path)
    ledger.undo()
    assert pool.total == 5


def test_pages_of_a_ledger_whose_state_directory_was_deleted_are_given_back(
    tmp_path: Path, state: Path, says: Says
) -> None:
    pool = make_pool(tmp_path)
    ledger = Ledger.create("lost")
    plan_memory(8, ledger, root=tmp_path)
    abandoned = replace(ledger.record, owner=ProcessIdentity(os.getpid(), 1))
    post_use(ledger.directory, abandoned)
    shutil.rmtree(ledger.directory)
    assert sweep() == [says("4", "hugepages-2048kB")]
    assert pool.total == 0
    assert ledger_uses() == ()


def test_a_ledger_that_another_state_directory_holds_is_swept_too(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    pool = make_pool(tmp_path)
    ledger = Ledger.create("elsewhere")
    plan_memory(8, ledger, root=tmp_path)
    dead = replace(ledger.record, owner=ProcessIdentity(os.getpid(), 1))
    (ledger.directory / "ledger.json").write_text(to_json(dead))
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "state"))
    assert sweep() == [
        says("4", "hugepages-2048kB"),
        f"removed {ledger.directory}",
    ]
    assert pool.total == 0


# A run of another state directory: argument 1 is the root of the pools, 2 how many MB it needs.
# Its kernel frees the pages that it adds, and nobody maps any.
RESERVER = """
import sys
from pathlib import Path
from plimsoll.host.ledger.hugepage_claims import HugepagePool
from plimsoll.host.ledger.hugepages import plan_memory
from plimsoll.host.ledger.ledger import Ledger
write = HugepagePool.resize
def resize(pool, pages):
    free = pool.directory / "free_hugepages"
    free.write_text(str(int(free.read_text()) + pages - pool.total))
    return write(pool, pages)
HugepagePool.resize = resize
ledger = Ledger.create("run")
print(plan_memory(int(sys.argv[2]), ledger, require_huge=True, root=Path(sys.argv[1])).huge)
sys.stdout.flush()
sys.stdin.read()
ledger.undo()
"""


def test_twelve_runs_with_state_directories_of_their_own_share_one_pool(
    tmp_path: Path, state: Path
) -> None:
    root = tmp_path / "pools"
    root.mkdir()
    pool = make_pool(root, total=3, free=3)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RESERVER, str(root), "8"],
            env={**os.environ, "PLIMSOLL_STATE": f"{state}/{number}"},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(12)
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "True\n"
    # Four pages each, and three were there.
    assert pool.total == 48
    for run in runs:
        run.communicate("")
        assert run.returncode == 0
    assert (pool.total, pool.free) == (3, 3)


def claim_of_another_user(monkeypatch: pytest.MonkeyPatch, pool: HugepagePool) -> None:
    """A claim of ten pages, seven of them added, by a run of a user who is neither we nor root."""
    theirs = Ledger.create("theirs")
    note_claims(theirs.id, (HugepageClaim(str(pool.directory), 10, 7, 0, "held"),))
    shutil.rmtree(theirs.directory)
    for path in Path(os.environ["PLIMSOLL_SHARED"]).iterdir():
        path.rename(path.with_name(path.name.replace(f".{os.getuid()}.", ".4242.")))
    status = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        fields = list(status(descriptor))
        fields[4] = 4242
        return os.stat_result(fields)

    monkeypatch.setattr("plimsoll.host.ledger.shared_directory.os.fstat", of_another)


def test_another_users_run_counts_while_it_lives(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(tmp_path, total=12, free=12)
    claim_of_another_user(monkeypatch, pool)
    assert unclaimed(pool) == 2


def test_another_users_dead_run_counts_for_nothing(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(tmp_path, total=12, free=12)
    claim_of_another_user(monkeypatch, pool)
    monkeypatch.setattr(ProcessIdentity, "alive", False)
    assert unclaimed(pool) == 12


def test_pages_taken_by_others_are_named_as_the_cause(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    pool = make_pool(tmp_path, total=10, free=10)
    memory = plan_memory(20, ledger, root=tmp_path)
    (pool.directory / "free_hugepages").write_text("0\n")
    holder = HugepageHolder(4711, "pktgen", 20480, None)
    monkeypatch.setattr("plimsoll.host.ledger.hugepages.hugepage_holders", lambda _: (holder,))
    with (
        pytest.raises(MachineError) as failed,
        hugepages_explained(memory, ledger, tmp_path),
    ):
        raise PlimsollError("Cannot get hugepage information")
    assert failed.value == says("10", "2048", "kB", "pktgen", "4711", "20")


def test_pages_that_an_ended_process_still_gives_back_are_not_taken(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(tmp_path, total=10, free=10)
    memory = plan_memory(20, ledger, root=tmp_path)
    free = pool.directory / "free_hugepages"
    free.write_text("9\n")

    def no_holder(_: str) -> tuple[HugepageHolder, ...]:
        looked.append(free.read_text())
        if len(looked) > 1:
            free.write_text("10\n")
        return ()

    looked: list[str] = []
    monkeypatch.setattr("plimsoll.host.ledger.hugepages.hugepage_holders", no_holder)
    with (
        pytest.raises(PlimsollError, match="bad port"),
        hugepages_explained(memory, ledger, tmp_path),
    ):
        raise PlimsollError("bad port")
    assert looked == ["9\n", "9\n"]


def test_a_failure_with_all_pages_there_stays_as_it_is(tmp_path: Path, ledger: Ledger) -> None:
    make_pool(tmp_path, total=10, free=10)
    memory = plan_memory(20, ledger, root=tmp_path)
    with (
        pytest.raises(PlimsollError, match="bad port"),
        hugepages_explained(memory, ledger, tmp_path),
    ):
        raise PlimsollError("bad port")


def test_a_lock_that_is_never_released_is_said_with_its_holder(
    tmp_path: Path, ledger: Ledger
) -> None:
    make_pool(tmp_path)
    with (
        claims_locked(tmp_path),
        pytest.raises(MachineError, match=rf"locked for 0 s: .*\(pid {os.getpid()}\)"),
        locked(tmp_path, patience_s=0),
    ):
        pass
