"""The result of a run of any method, as the model of that method."""

from __future__ import annotations

from pydantic import BaseModel

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.methods.registry import method_with_result
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory


def read_any_result(run: RunDirectory, name: str) -> BaseModel | None:
    """What result.json holds; None where the run has not come to one, or never writes one.

    `name` is the method's. Raises RecordError for a result that is damaged, or of a method
    that this version does not know.
    """
    if not run.result.exists():
        return None
    method = method_with_result(name)
    if method is None:
        raise RecordError(
            f"no result of a run of the method {name} can be read",
            where=str(run.result),
            remedy="use the version of plimsoll that its environment.json names",
        )
    result: BaseModel | None = read_run_result(run, method.result)
    return result
