"""What a run's environment says of a host whose figures were recorded during its trials."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ObservedHostRecord(BaseModel):
    """One host. CPUs are lists in the kernel's form.

    The agent that read the figures ran on `ran_on`. `polled` are the CPUs of polling loops
    by role ("tester", "dut"). `missing` says of each source that was not read why.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hostname: str
    interval_s: float
    ran_on: str
    polled: dict[str, str]
    sources: tuple[str, ...]
    missing: dict[str, str]
