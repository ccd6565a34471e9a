"""A running run, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from plimsoll.errors import PlimsollError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.web.live.live_feed import LiveFeeds
from plimsoll.web.routes.service import run_of, service_of


async def events(request: Request) -> Response:
    """An event `state` now and after every change, until the run does not go on any more.

    Its data is a JSON object (live/live_document.py). An event `damaged` has a message.
    """
    entry = await run_of(request)
    return StreamingResponse(
        _lines(entry, service_of(request).feeds),
        media_type="text/event-stream",
        # No proxy in between is to wait for more.
        headers={"x-accel-buffering": "no"},
    )


async def _lines(entry: RunEntry, feeds: LiveFeeds) -> AsyncIterator[str]:
    try:
        # Closed at once when the browser is gone, so that nothing goes on looking at the files.
        async with aclosing(feeds.documents(entry)) as documents:
            async for document in documents:
                yield _event("state", document) if document else ": the run continues\n\n"
    except PlimsollError as error:
        yield _event("damaged", {"message": str(error)})


def _event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


ROUTES = (Route("/runs/{id:run}/events", events),)
