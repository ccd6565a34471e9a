import signal
import threading

import pytest

from plimsoll.errors import Interrupted
from plimsoll.host.processes.stop_request import stop_requested


def interrupt(number: int, _: object) -> None:
    raise Interrupted(signal.Signals(number).name)


@pytest.fixture(autouse=True)
def _interrupting() -> object:
    before = {each: signal.signal(each, interrupt) for each in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_first_signal_is_noted_and_the_second_takes_effect() -> None:
    with stop_requested() as request:
        assert request.signal_name is None
        signal.raise_signal(signal.SIGTERM)
        assert request.signal_name == "SIGTERM"
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGINT)


def test_afterwards_signals_do_what_they_did() -> None:
    with stop_requested():
        pass
    with pytest.raises(Interrupted):
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_requested() as request:
            signal.raise_signal(signal.SIGHUP)
            assert request.signal_name is None
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_outside_the_main_thread_nothing_is_done() -> None:
    seen: list[str | None] = []

    def work() -> None:
        with stop_requested() as request:
            seen.append(request.signal_name)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None]
    assert signal.getsignal(signal.SIGINT) is interrupt
