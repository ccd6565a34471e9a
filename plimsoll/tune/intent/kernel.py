"""The intent's kernel: its flavour, its page size and what its command line gets besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.section import Listed, Section, Text, Word


class Kernel(Section):
    """`arguments` are added to those that the other sections imply, in this order.

    `tuned_bootloader` holds variables of the [bootloader] section of the tuned profile
    on top of the platform's (cmdline_crash: "nohz_full=2-15,18-31").
    """

    realtime: bool = False
    page_size: Literal["4k", "64k"] | None = None
    arguments: Listed[Word] = ()
    tuned_bootloader: Mapping[Word, Text] = {}

    @model_validator(mode="after")
    def _check_page_size(self) -> Self:
        """The Node Tuning Operator's own rule: there is no such kernel."""
        if self.realtime and self.page_size == "64k":
            raise mistake(
                "the real-time kernel has pages of 4k",
                "use page_size: 4k, or realtime: false",
                "page_size",
            )
        return self


class Scheduling(Section):
    """Scheduler and timer settings; what is left out is neither set nor judged.

    `rt_runtime_us` is sched_rt_runtime_us, -1 for no limit; `timer_migration` is 1 on
    OpenShift and 0 by the bare-metal tuned profiles. `fifo_priority` is the SCHED_FIFO
    priority of busy polling threads, None where they run as SCHED_OTHER. `sysctls` are
    further settings by name.
    """

    rt_runtime_us: Annotated[int, Field(ge=-1, le=1_000_000)] | None = None
    timer_migration: Literal[0, 1] | None = None
    stat_interval_s: Annotated[int, Field(ge=1, le=86400)] | None = None
    hung_task_timeout_s: Annotated[int, Field(ge=0, le=86400)] | None = None
    fifo_priority: Annotated[int, Field(ge=1, le=99)] | None = None
    sysctls: Mapping[Word, Text] = {}
