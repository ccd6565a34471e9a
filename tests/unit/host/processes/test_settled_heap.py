"""The collector, made to leave alone what is there."""

import gc
import weakref

import pytest

from plimsoll.host.processes.garbage_collection import gc_frozen


class Thing:
    """Something that may refer to itself."""

    itself: "Thing | None" = None


def test_what_was_there_is_not_looked_at_and_what_comes_is() -> None:
    with gc_frozen():
        assert gc.get_freeze_count() > 1000
        made = Thing()
        made.itself = made
        watched = weakref.ref(made)
        del made
        gc.collect()
        assert watched() is None
    assert gc.get_freeze_count() == 0


def test_an_error_in_the_block_ends_it_as_well() -> None:
    with pytest.raises(ZeroDivisionError), gc_frozen():
        raise ZeroDivisionError
    assert gc.get_freeze_count() == 0
