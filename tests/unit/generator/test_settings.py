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


def test_memory_grows_with_ports_and_frames() -> None:
    settings = EngineSettings()
    # 2 pools of 10,240 buffers a port: 24.4 MB each at 2,496 bytes, 97.5 MB for two ports.
    assert settings.megabytes_for(2, 1024, 60) == 80 + 98
    assert settings.megabytes_for(4, 1024, 60) == 80 + 195
    # A jumbo frame of 9,212 bytes needs 9,660: 94.3 MB a pool.
    assert settings.megabytes_for(1, 1024, 9212) == 80 + 189


def test_memory_may_be_set() -> None:
    assert EngineSettings(megabytes=512).megabytes_for(2, 1024, 60) == 512
