import pytest

from plimsoll.errors import InputError
from plimsoll.generator.settings import EngineSettings, WorkerLayout


def test_one_cpu_polls_everything() -> None:
    assert EngineSettings(cpus=(3,)).layout(2) == (WorkerLayout(3, (0, 1), (0, 1)),)


def test_one_cpu_a_port() -> None:
    assert EngineSettings(cpus=(3, 5)).layout(2) == (
        WorkerLayout(3, (0,), (0,)),
        WorkerLayout(5, (1,), (1,)),
    )


def test_one_cpu_a_port_and_direction() -> None:
    assert EngineSettings(cpus=(2, 3, 4, 5)).layout(2) == (
        WorkerLayout(2, (0,), ()),
        WorkerLayout(3, (1,), ()),
        WorkerLayout(4, (), (0,)),
        WorkerLayout(5, (), (1,)),
    )


def test_cpus_that_do_not_fit_the_ports_are_refused() -> None:
    with pytest.raises(InputError, match="3 CPUs cannot poll 2 ports") as caught:
        EngineSettings(cpus=(1, 2, 3)).layout(2)
    assert caught.value.where == "generator.cpus"
    assert "or 4 (one" in caught.value.remedy
