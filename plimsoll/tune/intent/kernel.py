"""The intent's kernel: its flavour, its page size and what its command line gets in addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import Listed, Section, Text, Word


class Kernel(Section):
    """The kernel that boots, and its command line beyond what the other sections imply."""

    realtime: bool = False
    """Whether the real-time kernel (PREEMPT_RT) is to run."""
    page_size: Literal["4k", "64k"] | None = None
    """The kernel's own page size, 64k on arm64 alone; left out, the platform's."""
    arguments: Annotated[Listed[Word], NotRun("of a kernel, rendered and audited")] = ()
    """Kernel arguments added to those that the other sections imply, in this order."""
    tuned_bootloader: Mapping[Word, Text] = {}
    """Variables of the section [bootloader] of the TuneD profile, on top of the platform's, such as
    `cmdline_crash: nohz_full=2-15,18-31`."""

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
    """Scheduler and timer settings; what is left out is neither set nor judged."""

    rt_runtime_us: Annotated[int, Field(ge=-1, le=1_000_000)] | None = None
    """kernel.sched_rt_runtime_us, in µs: how much of each period (1 s) real-time tasks may
    take; -1 means unlimited."""
    timer_migration: Literal[0, 1] | None = None
    """kernel.timer_migration: 1 lets timers of idle CPUs move to busy ones. It is 1 on OpenShift
    and 0 by TuneD's profiles for bare metal."""
    stat_interval_s: Annotated[int, Field(ge=1, le=86400)] | None = None
    """vm.stat_interval, in s: how often the kernel's memory counters are summed up, on every CPU.
    """
    hung_task_timeout_s: Annotated[int, Field(ge=0, le=86400)] | None = None
    """kernel.hung_task_timeout_secs, in s: after how long a blocked task is reported; 0 is never.
    """
    fifo_priority: Annotated[int, Field(ge=1, le=99)] | None = None
    """SCHED_FIFO priority of the polling threads; left out, they run as SCHED_OTHER."""
    sysctls: Mapping[Word, Text] = {}
    """Further kernel settings (sysctl) by their names, values as text."""
