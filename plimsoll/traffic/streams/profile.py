"""A profile: the named streams of a test, in Plimsoll's own form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from plimsoll.text.mistakes import check_all, mistake
from plimsoll.text.units import Rate
from plimsoll.traffic.streams.stream import Stream


class Profile(BaseModel):
    """The streams of a test. Frame sizes are bytes with FCS."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    streams: Annotated[tuple[Stream, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _streams_agree(self) -> Self:
        check_all(
            self._names_differ,
            self._measures_something,
            self._loads_share_a_unit,
            self._probes_are_taken_from_loads,
        )
        return self

    def _names_differ(self) -> None:
        names = [stream.name for stream in self.streams]
        for name in names:
            if names.count(name) > 1:
                raise mistake(f"two streams are named {name}", "name each its own", "streams")

    def _measures_something(self) -> None:
        if not self.measured_streams:
            raise mistake(
                "every stream is for teaching alone", "add one of type measurement", "streams"
            )

    def _loads_share_a_unit(self) -> None:
        if len({rate.unit for rate in _rates(self.load_streams)}) > 1:
            raise mistake(
                "load streams with weights and with rates in pps do not add up",
                "give all of them weights, or all of them pps",
                "streams",
            )

    def _probes_are_taken_from_loads(self) -> None:
        loads = [stream.name for stream in self.load_streams]
        for probe in self.latency_streams:
            if probe.taken_from is not None and probe.taken_from not in loads:
                raise mistake(
                    f"{probe.name} is taken from {probe.taken_from}, which is not a load stream",
                    f"name one of {', '.join(loads)}" if loads else "remove taken_from",
                    "streams",
                )

    @property
    def measured_streams(self) -> tuple[Stream, ...]:
        """Those that are sent themselves; the others only have their destinations taught."""
        return tuple(stream for stream in self.streams if stream.measured)

    @property
    def load_streams(self) -> tuple[Stream, ...]:
        """Those that make up the load."""
        return tuple(stream for stream in self.measured_streams if stream.role == "load")

    @property
    def latency_streams(self) -> tuple[Stream, ...]:
        """Those that probe."""
        return tuple(stream for stream in self.measured_streams if stream.role == "latency")

    @property
    def total_weight(self) -> float:
        """The load streams' rates summed in the direction where they sum highest."""
        return _weight(_heaviest_direction(self.load_streams))

    @property
    def rate_pps(self) -> float | None:
        """The load per direction that the profile itself states; None if it gives weights."""
        rates = _rates(self.load_streams)
        return self.total_weight if any(rate.unit == "pps" for rate in rates) else None

    def pps_of(self, load: Rate, line_rate_bps: float | None) -> float:
        """A load in frames a second per direction of this profile. Raises as `Rate.to_pps`."""
        return load.to_pps(self.mean_frame_size, line_rate_bps, self.rate_pps)

    @property
    def mean_frame_size(self) -> float:
        """Of the load streams of the heaviest direction, weighted by rate.

        Of the latency streams if there are no others.
        """
        streams = _heaviest_direction(self.load_streams or self.measured_streams)
        weight = _weight(streams)
        if weight == 0:
            # None of them has a rate: each sends as fast as it can.
            return sum(stream.mean_frame_size for stream in streams) / len(streams)
        return _bytes_a_second(streams) / weight

    @property
    def largest_frame_size(self) -> int:
        """The largest frame of any stream."""
        return max(stream.largest_frame_size for stream in self.streams)

    @property
    def paced_by_the_port(self) -> tuple[Stream, ...]:
        """The load streams that take no rate, and so no load either."""
        return tuple(stream for stream in self.load_streams if stream.planned_rate is None)

    def notes(self) -> list[str]:
        """What is sent that the profile does not spell out, in sentences for people."""
        return [note for stream in self.streams for note in stream.notes()]


def _heaviest_direction(streams: Sequence[Stream]) -> list[Stream]:
    """Those of the direction with the most frames a second; of equals, the most bytes."""
    forward, reverse = (
        [stream for stream in streams if way in stream.goes] for way in (False, True)
    )
    return max(forward, reverse, key=lambda each: (_weight(each), _bytes_a_second(each)))


def _weight(streams: Sequence[Stream]) -> float:
    return sum(rate.value for rate in _rates(streams))


def _bytes_a_second(streams: Sequence[Stream]) -> float:
    return sum(
        stream.mean_frame_size * rate.value for stream in streams for rate in _rates([stream])
    )


def _rates(streams: Sequence[Stream]) -> list[Rate]:
    """Those that there are."""
    return [rate for stream in streams if (rate := stream.planned_rate) is not None]
