"""An engine in a network of its own, where a Linux bridge is the DUT."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.engine.session import EngineSession
from tests.integration.network import Network, network

# The tester's ends of two cables, and what the bridge has of them.
NEAR = ("pl-a0", "pl-b0")
FAR = ("pl-a1", "pl-b1")


@contextmanager
def engine_next_to_a_bridge(
    folder: Path, queues: int = 1, mtu: int = 1500
) -> Iterator[tuple[EngineSession, Network]]:
    """The engine, and two cables into a bridge, all in one namespace."""
    with network() as place:
        for near, far in zip(NEAR, FAR, strict=True):
            place.veth(near, far, queues, mtu)
        place.bridge("pl-br", *FAR)
        with EngineSession(folder, within=place.enter) as engine:
            yield engine, place
