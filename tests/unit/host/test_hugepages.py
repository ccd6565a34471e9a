from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import MachineError
from plimsoll.host.hugepage_pool import HugepageClaim, HugepagePool, give_back, pools
from plimsoll.host.hugepages import plan_memory
from plimsoll.host.ledger import Ledger


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


def test_large_pages_serve_when_small_ones_are_missing(tmp_path: Path, ledger: Ledger) -> None:
    small = make_pool(tmp_path)
    make_pool(tmp_path, 1048576, total=1, free=1)
    plan = plan_memory(160, ledger, root=tmp_path)
    assert (plan.huge, plan.reserved_kb, small.total) == (True, 0, 0)


def test_missing_pages_are_added_said_and_given_back(tmp_path: Path, ledger: Ledger) -> None:
    pool = make_pool(tmp_path, total=10, free=4)
    plan = plan_memory(33, ledger, root=tmp_path)
    # 33 MB are 17 pages, of which 4 are free.
    assert (plan.huge, plan.reserved_kb, pool.total) == (True, 13 * 2048, 23)
    assert plan.note == "reserved 13 hugepages of 2048 kB, to be given back at the end"
    assert "gave back 13 pages to hugepages-2048kB" in ledger.undo()
    assert pool.total == 10


def test_pages_that_others_add_meanwhile_stay(tmp_path: Path, ledger: Ledger) -> None:
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
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pool(tmp_path)
    refuse_resize(monkeypatch)
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert "no permission to reserve them" in plan.note
    assert "more TLB misses" in plan.note
    assert ledger.record.hugepages == ()


def test_required_hugepages_without_permission_are_an_error_with_the_remedy(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pool(tmp_path)
    refuse_resize(monkeypatch)
    with pytest.raises(MachineError) as refused:
        plan_memory(9, ledger, require_huge=True, root=tmp_path)
    assert refused.value.where == str(tmp_path)
    assert "no permission to reserve them: Permission denied" in refused.value.message
    assert "vm.nr_hugepages=5" in refused.value.remedy


def test_a_kernel_without_hugepages_is_said(tmp_path: Path, ledger: Ledger) -> None:
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert plan.note.startswith("this kernel has no hugepages")


def test_what_the_kernel_found_too_little_of_goes_back_at_once(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(tmp_path, total=2, free=0)
    grow = HugepagePool.resize
    monkeypatch.setattr(HugepagePool, "resize", lambda pool, pages: grow(pool, min(pages, 5)))
    plan = plan_memory(8, ledger, root=tmp_path)
    assert not plan.huge
    assert plan.note is not None
    assert "found memory for only 3 of the 4 missing pages" in plan.note
    assert pool.total == 2
    assert ledger.record.hugepages == ()


def claim_before_adding(pool: HugepagePool, added: int) -> HugepageClaim:
    return HugepageClaim(str(pool.directory), added, added, pool.total, "adding")


@pytest.mark.parametrize(("reached", "left"), [(7, 7), (12, 7)])
def test_a_kill_around_adding_is_undone_to_the_page(
    reached: int, left: int, tmp_path: Path, ledger: Ledger
) -> None:
    pool = make_pool(tmp_path, total=7)
    ledger.note_hugepages((claim_before_adding(pool, 5),))
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


def test_giving_back_is_noted_before_it_happens(tmp_path: Path) -> None:
    pool = make_pool(tmp_path, total=9)
    seen: list[tuple[str, int, int]] = []
    claim = HugepageClaim(str(pool.directory), 4, 4, 5, "held")
    assert give_back(claim, lambda noted: seen.append((noted.step, noted.added, pool.total))) == 4
    assert seen == [("returning", 4, 9), ("held", 0, 5)]
