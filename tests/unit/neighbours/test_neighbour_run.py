from pydantic import TypeAdapter

from plimsoll.neighbours.memory import MemorySettings
from plimsoll.neighbours.neighbour import Achieved, NeighbourRun
from plimsoll.neighbours.noise import _run

ADAPTER: TypeAdapter[NeighbourRun] = TypeAdapter(NeighbourRun)


def test_what_a_neighbour_did_is_json_and_reads_back() -> None:
    memory = MemorySettings.model_validate({"kind": "memory", "cpus": [1]})
    for achieved in (Achieved("B/s"), Achieved("B/s", 5e8, figures={"writes": 2.5})):
        made = _run(memory, achieved, 2.5, None)
        assert ADAPTER.validate_json(ADAPTER.dump_json(made)) == made
