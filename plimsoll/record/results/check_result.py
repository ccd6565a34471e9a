"""What `plimsoll check` found: an experiment's mistakes, or what a run of it would do.

Its JSON Schema is published as check-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from plimsoll.record.files.record_model import RecordModel


class _Part(RecordModel):
    # Readers of the document may rely on every field, those with a default too.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class FoundMistake(_Part):
    """One mistake, or one thing that this machine lacks for the experiment."""

    where: str = Field(description="The file and line, or the option or path, that it is about.")
    message: str = Field(description="What is wrong, preceded by the field if it concerns one.")
    remedy: str = Field(description="What to do, as an imperative; may be empty.")
    exit_code: int = Field(
        description="With which code a run would end by it: 2 bad input, 3 the machine lacks it."
    )


class PlannedRate(_Part):
    """A rate of frames and the bits that they take on the wire."""

    pps: float = Field(ge=0, description="Frames per second.")
    l1_bps: float = Field(
        ge=0, description="Bits per second on layer 1, with preamble, start of frame and gap."
    )
    l2_bps: float = Field(ge=0, description="Bits per second on layer 2, without the FCS.")


class PlannedFrame(_Part):
    """One of a stream's frames before any field of it varies."""

    size: int = Field(description="Its size with FCS, in bytes.")
    share: float = Field(description="The share of the stream's frames that are made from it.")
    summary: str = Field(description="Scapy's summary() of it.")
    shown: str = Field(description="Scapy's show() of it; the payload only by its length.")
    hex: str = Field(
        description="Its bytes without FCS, in hexadecimal; zeroes where the signature will be."
    )


class PlannedStream(_Part):
    """A stream in one direction."""

    name: str = Field(description="The stream's name in the profile, and its ports.")
    role: Literal["load", "latency"] = Field(
        description="load, or latency for a probe stream that is only there to be timed."
    )
    tx_port: int = Field(description="The tester's port that sends it, from 0.")
    rx_port: int = Field(description="The tester's port on which it must come back, from 0.")
    pacing: str = Field(description="When its frames are due: constant, burst, poisson and so on.")
    flows: int = Field(description="After how many frames the fields that vary repeat.")
    varies: tuple[str, ...] = Field(description="The fields that vary from frame to frame.")
    churn: float | None = Field(
        default=None, description="New flows a second, as many as make room for them; or null."
    )
    mean_frame_size: float = Field(description="Mean frame size with FCS, in bytes.")
    at_minimum: PlannedRate | None = Field(
        description="Its rate at the search's least load; null if not known yet."
    )
    at_maximum: PlannedRate | None = Field(
        description="Its rate at the search's highest load; null if not known yet."
    )
    templates: int = Field(description="From how many different frames it is made.")
    frames: tuple[PlannedFrame, ...] = Field(description="The first of these.")


class PlannedPort(_Part):
    """What a port of the tester sends in all."""

    port: int = Field(description="The tester's port, from 0.")
    at_minimum: PlannedRate | None = Field(
        description="What it sends at the search's least load; null if not known yet."
    )
    at_maximum: PlannedRate | None = Field(
        description="What it sends at the search's highest load; null if not known yet."
    )
    line_share: float | None = Field(
        description="At the highest load, the share of the line rate; null where there is none."
    )


class PlannedCpu(_Part):
    """A CPU of this machine that a polling loop would keep busy. It exists and may be used."""

    cpu: int = Field(description="The CPU, as the kernel numbers it.")
    role: Literal["tester", "dut"] = Field(description="Whose loop polls it.")
    field: str = Field(description="The field of the experiment that says so.")
    sends: tuple[str, ...] = Field(description="The streams that the tester sends from it.")
    receives_from: tuple[int, ...] = Field(description="The tester's ports that it receives from.")
    busy_share: float = Field(
        description="The share of half a second that others kept it busy; 0 below a tenth."
    )
    busy_with: tuple[str, ...] = Field(description="The busiest of those, with their process ids.")


class PlannedPhase(_Part):
    """Trials for one purpose, as few and as many as an ideal DUT takes."""

    name: str = Field(description="As in the journal: calibration, search, validation and so on.")
    trials_least: int | None = Field(description="The fewest trials; null if not known yet.")
    trials_most: int | None = Field(description="The most trials; null if not known yet.")
    least_s: float | None = Field(description="The shortest time, in s; null if not known yet.")
    most_s: float | None = Field(description="The longest time, in s; null if not known yet.")
    about: str = Field(description="What the phase is for, in words.")


class PlannedRun(_Part):
    """What `plimsoll run` would do."""

    name: str = Field(description="The experiment's name.")
    method: str = Field(description="The method; load-line for plimsoll run.")
    strategy: str = Field(description="How the load is searched for.")
    lab: str = Field(description="The kind of the lab.")
    line_rate_bps: float | None = Field(
        description="Line rate of a port on layer 1, in bits per second; null without one, and "
        "where only the links will tell."
    )
    minimum_pps: float | None = Field(
        description="The search's least load per direction, in frames per second; null where it "
        "is a share of a line rate that only the links will tell."
    )
    maximum_pps: float | None = Field(
        description="The search's highest load per direction, in frames per second; null as above."
    )
    streams: tuple[PlannedStream, ...] = Field(description="Every stream in each direction.")
    ports: tuple[PlannedPort, ...] = Field(description="The tester's ports.")
    cpus: tuple[PlannedCpu, ...] = Field(description="The CPUs that would be polled here.")
    phases: tuple[PlannedPhase, ...] = Field(description="The trials by purpose, in their order.")
    least_s: float | None = Field(
        description="The shortest time that all trials take, in s; null if not known yet."
    )
    most_s: float | None = Field(
        description="The longest time that all trials take, in s, under `assumptions`; null if "
        "not known yet."
    )
    assumptions: tuple[str, ...] = Field(description="What the times rest on, and leave out.")
    notes: tuple[str, ...] = Field(description="Remarks on how to read the numbers.")


class CheckResult(_Part):
    """An experiment's mistakes, or what a run of it would do."""

    format: Literal["plimsoll-check"] = Field(
        default="plimsoll-check", description="What this document is."
    )
    version: Literal[1] = Field(default=1, description="The version of its schema.")
    file: str = Field(description="The experiment's file.")
    mistakes: tuple[FoundMistake, ...] = Field(description="Everything wrong, at once.")
    run: PlannedRun | None = Field(description="What a run would do; null with mistakes.")
