"""The result of a run of any method, as the model of that method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.results.latency_at_load_result import LatencyAtLoadResult
from plimsoll.record.results.matrix_result import MatrixResult
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.results.probe_result import ProbeResult
from plimsoll.record.results.result import Result
from plimsoll.record.results.rfc2544_result import Rfc2544Result
from plimsoll.record.results.rfc9004_result import Rfc9004Result
from plimsoll.record.results.soak_result import SoakResult
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory

AnyResult: TypeAlias = Result | MatrixResult | MethodResult

_MODELS: Mapping[str, type[AnyResult]] = {
    "load-line": Result,
    "soak": SoakResult,
    "probe": ProbeResult,
    "latency-at-load": LatencyAtLoadResult,
    "rfc2544": Rfc2544Result,
    "rfc9004": Rfc9004Result,
    "matrix": MatrixResult,
}


def read_any_result(run: RunDirectory, method: str) -> AnyResult | None:
    """What result.json holds; None where the run has not come to one, or never writes one.

    Raises RecordError for one that is damaged or of a method that this version does not know.
    """
    if not run.result.exists():
        return None
    model = _MODELS.get(method)
    if model is None:
        raise RecordError(
            f"no result of a run of the method {method} can be read",
            where=str(run.result),
            remedy="use the version of plimsoll that its environment.json names",
        )
    return read_run_result(run, model)
