"""The API over gRPC, with the calls that carry one message and those that stream it in pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import grpc

from plimsoll.errors import MachineError
from plimsoll.host.processes.tcp_peer import loopback_peer_uid
from plimsoll.remote.otg.model.published import Content, Refusal, content_of, message_of, messages
from plimsoll.remote.otg.server.settings import UNKNOWN_USER, OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.web.security.access import same

# No configuration that this tester could send is nearly as large.
MAX_REQUEST_BYTES = 16 * 2**20


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


_SERVICE = "otg.Openapi"
_THREADS = 4
# Of all clients; a further call is refused at once (RESOURCE_EXHAUSTED). Those that wait for a
# thread have been received whole, so this bounds what they take of the memory.
_CALLS_MAX = 8
# A connection that no call has used for so long is closed; clients open another one by themselves.
_IDLE_MS = 10 * 60 * 1000
# Bit 0: none. A compressed message is inflated before its size or its token can be looked at.
_NO_COMPRESSION = 1 << 0
_PIECE_BYTES = 2 * 2**20
_STATUS = {
    "validation": grpc.StatusCode.INVALID_ARGUMENT,
    "internal": grpc.StatusCode.INTERNAL,
}

# gRPC's Python has no types.
_Context = Any
_Message = Any


def make_server(session: OtgSession, settings: OtgSettings) -> Any:
    """A server that listens when it is started. Raises MachineError for a port that is taken."""
    server = grpc.server(
        ThreadPoolExecutor(_THREADS, thread_name_prefix="otg-grpc"),
        options=[
            ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
            ("grpc.compression_enabled_algorithms_bitset", _NO_COMPRESSION),
            ("grpc.max_concurrent_streams", _CALLS_MAX),
            ("grpc.max_connection_idle_ms", _IDLE_MS),
        ],
        maximum_concurrent_rpcs=_CALLS_MAX,
    )
    handlers: dict[str, Any] = {}
    for operation in OPERATIONS:
        handlers |= _handlers(operation, session, settings)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    _bind(server, settings)
    return server


def _bind(server: Any, settings: OtgSettings) -> None:
    location = settings.grpc_location
    try:
        if settings.certificate is None or settings.key is None:
            port = server.add_insecure_port(location)
        else:
            pair = (settings.key.read_bytes(), settings.certificate.read_bytes())
            port = server.add_secure_port(location, grpc.ssl_server_credentials([pair]))
    except (RuntimeError, OSError) as error:
        port, reason = 0, str(error)
    else:
        reason = "it is taken"
    if not port:
        raise MachineError(
            f"cannot listen on {location}: {reason}",
            where="--grpc",
            remedy="choose another port, or end what listens on it",
        )


def _handlers(operation: Operation, session: OtgSession, settings: OtgSettings) -> dict[str, Any]:
    """One message each way; and with the request, or the answer, in pieces."""
    protocol = messages()
    request = getattr(protocol, f"{operation.call}Request", None)

    def perform(message: _Message, context: _Context) -> _Message:
        _check_token(context, settings)
        inner = getattr(message, operation.request_field) if operation.request else None
        return _performed(operation, session, inner, context)

    def perform_pieces(pieces: Iterable[_Message], context: _Context) -> _Message:
        _check_token(context, settings)
        inner = _joined(operation, pieces, context)
        return _performed(operation, session, inner, context)

    def perform_in_pieces(message: _Message, context: _Context) -> Iterator[_Message]:
        answer = getattr(perform(message, context), operation.response_field)
        data = answer if isinstance(answer, bytes) else answer.SerializeToString()
        for begin in range(0, len(data), _PIECE_BYTES):
            datum = data[begin : begin + _PIECE_BYTES]
            yield protocol.Data(chunk_size=len(datum), datum=datum)

    read: Callable[[bytes], Any] = request.FromString if request else _unread
    write = _serialized
    if operation.call.startswith("Get"):
        streaming = grpc.unary_stream_rpc_method_handler(perform_in_pieces, read, write)
    else:
        streaming = grpc.stream_unary_rpc_method_handler(
            perform_pieces, protocol.Data.FromString, write
        )
    return {
        operation.call: grpc.unary_unary_rpc_method_handler(perform, read, write),
        f"stream{operation.call}": streaming,
    }


def _unread(body: bytes) -> bytes:
    """google.protobuf.Empty, whatever it holds."""
    return body


def _serialized(message: _Message) -> bytes:
    return bytes(message.SerializeToString())


def _performed(
    operation: Operation, session: OtgSession, request: _Message, context: _Context
) -> _Message:
    try:
        content = content_of(request) if operation.request else {}
        answer = operation.perform(session, content)
        field = operation.response_field
        if isinstance(answer, bytes):
            return getattr(messages(), f"{operation.call}Response")(**{field: answer})
        return message_of(f"{operation.call}Response", {field: answer})
    except Refusal as refusal:
        _abort(context, _STATUS[refusal.kind], refusal.kind, list(refusal.errors))


def _abort(context: _Context, status: Any, kind: str, errors: list[str]) -> None:
    """The models say: OTG's Error as JSON is the call's error text."""
    context.abort(status, json.dumps({"code": status.value[0], "kind": kind, "errors": errors}))


def _joined(operation: Operation, pieces: Iterable[_Message], context: _Context) -> _Message:
    data = bytearray()
    for piece in pieces:
        data += piece.datum
        if len(data) > MAX_REQUEST_BYTES:
            problem = f"the request has more than {MAX_REQUEST_BYTES} bytes"
            _abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, "validation", [problem])
    try:
        return getattr(messages(), operation.request).FromString(bytes(data))
    # protobuf's DecodeError, of whichever implementation reads it.
    except Exception:
        problem = f"the pieces are no {operation.request}"
        _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "validation", [problem])


def _check_token(context: _Context, settings: OtgSettings) -> None:
    if settings.token is None:
        if not settings.answers(_user_of(context, settings)):
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, "validation", [UNKNOWN_USER])
        return
    given = dict(context.invocation_metadata()).get("authorization", "")
    if not same(str(given).removeprefix("Bearer "), settings.token):
        problem = "the token is missing or wrong (send it as metadata: authorization: Bearer …)"
        _abort(context, grpc.StatusCode.UNAUTHENTICATED, "validation", [problem])


def _user_of(context: _Context, settings: OtgSettings) -> int | None:
    """The user of a client on this machine, whom gRPC knows as ipv4:127.0.0.1:40312."""
    address, _, port = unquote(context.peer()).partition(":")[2].rpartition(":")
    if settings.grpc_port is None or not port.isdecimal():
        return None
    peer = (address.removeprefix("[").removesuffix("]"), int(port))
    return loopback_peer_uid(peer, (settings.rest.address, settings.grpc_port))
