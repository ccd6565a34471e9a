"""Stands in for kube-proxy, for the one service that pods use: that of the API server itself."""

from __future__ import annotations

import asyncio
import threading
from asyncio import StreamReader, StreamWriter

from tests.integration.cluster.credentials import SERVICE

_PORT = 443
_BLOCK_BYTES = 1 << 16


def serve(host: str, port: int) -> None:
    """Carry what comes to the service to that address, in a thread, until the process ends."""
    listening = threading.Event()
    loop = asyncio.new_event_loop()

    async def take(reader: StreamReader, writer: StreamWriter) -> None:
        back, there = await asyncio.open_connection(host, port)
        await asyncio.gather(_carry(reader, there), _carry(back, writer))

    def run() -> None:
        loop.run_until_complete(asyncio.start_server(take, SERVICE, _PORT))
        listening.set()
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    assert listening.wait(60)


async def _carry(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while block := await reader.read(_BLOCK_BYTES):
            writer.write(block)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
