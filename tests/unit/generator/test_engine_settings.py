import pytest

from plimsoll.errors import InputError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import WorkerLayout
from tests.worded.says import Says


def test_one_cpu_polls_everything() -> None:
    everything = ((0, 0), (1, 0))
    assert EngineSettings(cpus=(3,)).layout(2) == (WorkerLayout(3, everything, everything),)


def test_one_cpu_a_port() -> None:
    assert EngineSettings(cpus=(3, 5)).layout(2) == (
        WorkerLayout(3, ((0, 0),), ((0, 0),)),
        WorkerLayout(5, ((1, 0),), ((1, 0),)),
    )


def test_one_cpu_a_port_and_direction() -> None:
    assert EngineSettings(cpus=(2, 3, 4, 5)).layout(2) == (
        WorkerLayout(2, ((0, 0),), ()),
        WorkerLayout(3, ((1, 0),), ()),
        WorkerLayout(4, (), ((0, 0),)),
        WorkerLayout(5, (), ((1, 0),)),
    )


def test_more_cpus_have_queues_of_their_own_and_senders_are_the_most() -> None:
    settings = EngineSettings(cpus=(2, 3, 4, 5, 6, 7))
    assert settings.layout(2) == (
        WorkerLayout(2, ((0, 0),), ()),
        WorkerLayout(3, ((1, 0),), ()),
        WorkerLayout(4, ((0, 1),), ()),
        WorkerLayout(5, ((1, 1),), ()),
        WorkerLayout(6, (), ((0, 0),)),
        WorkerLayout(7, (), ((1, 0),)),
    )


def test_one_port_may_have_several_cpus_each_way() -> None:
    assert EngineSettings(cpus=(2, 3, 4, 5)).layout(1) == (
        WorkerLayout(2, ((0, 0),), ()),
        WorkerLayout(3, ((0, 1),), ()),
        WorkerLayout(4, (), ((0, 0),)),
        WorkerLayout(5, (), ((0, 1),)),
    )


@pytest.mark.parametrize(("cpus", "ports"), [(3, 2), (2, 3), (33, 1)])
def test_cpus_that_do_not_fit_the_ports_are_refused(cpus: int, ports: int, says: Says) -> None:
    with pytest.raises(InputError, match=f"{cpus} CPUs cannot poll {ports} port") as caught:
        EngineSettings(cpus=tuple(range(cpus))).layout(ports)
    assert caught.value.where == "generator.cpus"
    assert caught.value == says(str(ports))


def test_memory_grows_with_queues_and_frames() -> None:
    settings = EngineSettings()
    # 2 pools a port of 10,240 buffers, each in a page of 4 KiB: 40 MiB a pool.
    assert settings.megabytes_for(2, 1024, 60) == 80 + 160
    assert settings.megabytes_for(4, 1024, 60) == 80 + 320
    # A jumbo frame of 9,212 bytes needs 9,980, which is three pages: 120 MiB a pool.
    assert settings.megabytes_for(1, 1024, 9212) == 80 + 240
    # Two queues each way are four pools.
    assert EngineSettings(cpus=(0, 1, 2, 3)).megabytes_for(1, 1024, 60) == 80 + 160


def test_memory_may_be_set() -> None:
    assert EngineSettings(megabytes=512).megabytes_for(2, 1024, 60) == 512


def test_without_ports_every_cpu_has_a_loop_without_queues() -> None:
    assert EngineSettings(cpus=(2, 5)).layout(0) == (
        WorkerLayout(2, (), ()),
        WorkerLayout(5, (), ()),
    )
