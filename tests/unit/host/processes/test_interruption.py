import os
import signal
import threading

import pytest

from plimsoll.host.processes.stop_request import uninterrupted
from tests.worded.says import Says


class Cut(Exception):
    pass


def cut(number: int, _: object) -> None:
    raise Cut(signal.Signals(number).name)


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.signal(number, cut) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_effect_after_the_block(number: signal.Signals, says: Says) -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            done.append("the rest of the block")

    with pytest.raises(Cut, match=number.name):
        work()
    assert done == [says()]
    assert signal.getsignal(number) is cut


def test_an_error_in_the_block_is_not_lost() -> None:
    with pytest.raises(ValueError, match="of the block"), uninterrupted():
        raise ValueError("of the block")
    assert signal.getsignal(signal.SIGTERM) is cut


def test_other_threads_may_use_it() -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
