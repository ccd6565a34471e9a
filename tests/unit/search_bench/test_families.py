"""Families of DUTs: the same for a seed, in their ranges, half of them held out."""

from __future__ import annotations

import pytest

from benchmarks.search.families import FAMILIES, families
from benchmarks.search.held_out import HELD_OUT, HELD_OUT_LAST, HELD_OUT_LOSSY
from benchmarks.search.subjects import subject_of

SEEDS = range(20)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_a_seed_draws_a_dut_that_its_model_accepts(name: str) -> None:
    models = [FAMILIES[name].model(seed) for seed in SEEDS]
    assert models == [FAMILIES[name].model(seed) for seed in SEEDS]
    assert len(set(models)) == len(SEEDS)
    for model in models:
        assert type(model).model_validate(model.model_dump()) == model
        assert 0.5e6 <= model.capacity <= 1.5e6


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAMILIES))
def test_each_sustains_a_load_that_is_of_use(name: str) -> None:
    for seed in range(3):
        subject = subject_of(name, seed)
        assert subject.sustainable_pps is not None
        assert (
            0.1 * subject.model.capacity < subject.sustainable_pps < 1.01 * subject.model.capacity
        )


def test_at_least_half_of_the_families_are_held_out_and_none_is_of_both_kinds() -> None:
    assert families("all").keys() == FAMILIES.keys()
    held_out = HELD_OUT | HELD_OUT_LAST
    assert families("held-out").keys() == held_out
    assert families("lossy").keys() == HELD_OUT_LOSSY
    assert families("tuning").keys() == FAMILIES.keys() - held_out - HELD_OUT_LOSSY
    assert len(HELD_OUT) == len(families("tuning"))
    assert not HELD_OUT & HELD_OUT_LAST
    assert not HELD_OUT_LOSSY & held_out


@pytest.mark.parametrize("name", sorted(HELD_OUT_LOSSY))
def test_those_that_allow_loss_draw_how_much_with_the_seed(name: str) -> None:
    family = FAMILIES[name]
    limits = [family.limit_of(seed) for seed in SEEDS]
    assert limits == [family.limit_of(seed) for seed in SEEDS]
    assert all(1e-6 <= limit <= 1e-3 for limit in limits)
    assert limits[0] == subject_of(name, SEEDS[0]).limit
    assert len(set(limits)) == (1 if name == "clock-sweeps" else len(SEEDS))


def test_a_model_with_its_defaults_is_the_same_for_every_seed() -> None:
    assert subject_of("thermal", 1) != subject_of("thermal", 2)
    assert subject_of("soft-knee", 1) == subject_of("soft-knee", 2)
