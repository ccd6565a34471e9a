"""What comes out of DuckDB where it is interrupted or has no memory."""

import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import duckdb
import pytest

from plimsoll.errors import Interrupted, MachineError
from plimsoll.record.files.table_file import connect


@pytest.fixture
def alarm() -> Iterator[None]:
    """A signal whose handler raises, as those of the command line do."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise Interrupted(signal.Signals(number).name)

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def interrupted_soon(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    connection.execute(statement)


@pytest.mark.usefixtures("alarm")
def test_a_signal_inside_a_statement_interrupts() -> None:
    # It takes hours, so that the signal comes inside of it.
    hours = "SELECT count(*) FROM range(1_000_000_000_000) WHERE range % 7 = 8"
    with connect() as connection:
        # The first makes the database, which takes a while.
        connection.execute("SELECT 1")
    with pytest.raises(Interrupted), connect() as connection:
        interrupted_soon(connection, hours)
    with connect() as connection:
        assert connection.sql("SELECT 1").fetchall() == [(1,)]


def test_used_up_memory_is_the_machines() -> None:
    with pytest.raises(MachineError, match="not enough memory"), connect():
        raise duckdb.OutOfMemoryException("could not allocate block of size 256 KiB")


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="another"), connect():
        raise RuntimeError("another")
    with pytest.raises(duckdb.CatalogException), connect() as connection:
        connection.execute("FROM none")
