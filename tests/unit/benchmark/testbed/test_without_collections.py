"""Collections are held back for a while, and then are as they were before."""

import gc
from collections.abc import Iterator

import pytest

from plimsoll.host.processes.garbage_collection import gc_disabled


@pytest.fixture(autouse=True)
def _enabled_again() -> Iterator[None]:
    yield
    gc.enable()


def test_they_go_on_after_an_error() -> None:
    def fail() -> None:
        with gc_disabled():
            assert not gc.isenabled()
            raise ValueError("no such")

    with pytest.raises(ValueError, match="no such"):
        fail()
    assert gc.isenabled()


def test_they_stay_off_where_they_were_off() -> None:
    gc.disable()
    with gc_disabled():
        pass
    assert not gc.isenabled()


def test_one_within_another_holds_them_back_to_the_end() -> None:
    with gc_disabled():
        with gc_disabled():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
