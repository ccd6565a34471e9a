"""The API's operations: paths of REST, calls of gRPC, and the messages of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.remote.otg.model.published import Content
from plimsoll.remote.otg.model.refusal import Refusal
from plimsoll.remote.otg.session.session import OtgSession

# No configuration that this tester could send is nearly as large.
MOST_REQUEST_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: how it is called, what it takes and gives, and who does it.

    `request` is the message that a request has; in gRPC it stands in `<call>Request` in the
    field `request_field`. `response_field` of `<call>Response` has the answer.
    """

    call: str
    method: str
    path: str
    request: str
    request_field: str
    response: str
    response_field: str
    perform: Callable[[OtgSession, Content], Content | bytes]


def _not_supported(_: OtgSession, __: Content) -> Content:
    raise Refusal("is not supported: set the whole configuration instead")


OPERATIONS = (
    Operation(
        "SetConfig", "POST", "/config", "Config", "config", "Warning", "warning",
        OtgSession.set_config,
    ),
    Operation(
        "GetConfig", "GET", "/config", "", "", "Config", "config",
        lambda session, _: session.get_config(),
    ),
    Operation(
        "UpdateConfig", "PATCH", "/config", "ConfigUpdate", "config_update",
        "Warning", "warning", OtgSession.update_config,
    ),
    Operation(
        "AppendConfig", "PATCH", "/config/append", "ConfigAppend", "config_append",
        "Warning", "warning", _not_supported,
    ),
    Operation(
        "DeleteConfig", "PATCH", "/config/delete", "ConfigDelete", "config_delete",
        "Warning", "warning", _not_supported,
    ),
    Operation(
        "SetControlState", "POST", "/control/state", "ControlState", "control_state",
        "Warning", "warning", OtgSession.set_control_state,
    ),
    Operation(
        "SetControlAction", "POST", "/control/action", "ControlAction", "control_action",
        "ControlActionResponse", "control_action_response", OtgSession.set_control_action,
    ),
    Operation(
        "GetMetrics", "POST", "/monitor/metrics", "MetricsRequest", "metrics_request",
        "MetricsResponse", "metrics_response", OtgSession.get_metrics,
    ),
    Operation(
        "GetStates", "POST", "/monitor/states", "StatesRequest", "states_request",
        "StatesResponse", "states_response", OtgSession.get_states,
    ),
    Operation(
        "GetCapture", "POST", "/monitor/capture", "CaptureRequest", "capture_request",
        "", "response_bytes", OtgSession.get_capture,
    ),
    Operation(
        "GetVersion", "GET", "/capabilities/version", "", "", "Version", "version",
        lambda session, _: session.get_version(),
    ),
)  # fmt: skip


def by_call() -> Mapping[str, Operation]:
    """Operations by their name in gRPC."""
    return {operation.call: operation for operation in OPERATIONS}
