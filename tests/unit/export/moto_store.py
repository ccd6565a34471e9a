"""moto's model of S3, over HTTP on the loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from plimsoll.export.credentials import Credentials

KEY = Credentials("id", "secret")


@contextmanager
def moto_store() -> Iterator[str]:
    """The URL of a server of its own."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def client_of(endpoint: str) -> Any:
    """boto3's own client."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEY.user,
        aws_secret_access_key=KEY.secret,
    )
