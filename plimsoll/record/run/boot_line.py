"""The kernel's command line as records keep it: without what may be secret.

Anybody may have put passwords and addresses with credentials onto it, and records are shared:
as for captures, values stay of arguments that are known, and names of the rest. Hiding again
changes nothing, so that records made before are cleaned where they are read.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from plimsoll.tune.host.boot.kernel_command_line import without_unknown_values

BootLine: TypeAlias = Annotated[str, AfterValidator(without_unknown_values)]
