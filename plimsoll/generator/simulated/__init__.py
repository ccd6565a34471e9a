"""A generator and a DUT in simulated time, behind the interface of the engine."""

from plimsoll.generator.simulated.generator import SimulatedGenerator, Simulation

__all__ = ["SimulatedGenerator", "Simulation"]
