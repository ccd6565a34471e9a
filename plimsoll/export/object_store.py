"""Parquet into object storage that speaks S3's protocol: AWS, MinIO, Ceph, and others.

By obstore, a binding of Apache Arrow's object_store: one wheel without dependencies, uploads in
parts, retries. It is an extra, as most never need it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll.errors import InputError, MachineError
from plimsoll.export.credentials import Credentials
from plimsoll.export.output_file import ExportError
from plimsoll.export.parquet_parts import RecordedPeriod, parquet_parts, partition
from plimsoll.extras import added_by
from plimsoll.host.http.origin import Origin
from plimsoll.host.http.origin_proxy import OriginProxy
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import plain_text

if TYPE_CHECKING:
    from obstore.store import S3Store

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
_MAX_CHARACTERS = 400
# What obstore does not follow by itself: most answers to an upload, and to where there is no TLS.
_REDIRECTION = re.compile(r"non-2xx status code: 30[12378]|error following redirect")
_LED_TO = re.compile(r'kind: Redirect,.*?url: "([^"]+)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where to: a bucket and a prefix of keys, without slashes at its ends.

    `endpoint` is the server's URL; None leaves it to AWS_ENDPOINT_URL, and to AWS.
    """

    name: str
    prefix: str
    endpoint: str | None = None
    credentials: Credentials | None = None

    @classmethod
    def of(
        cls, url: str, endpoint: str | None = None, credentials: Credentials | None = None
    ) -> Bucket:
        """The bucket that `s3://bucket/prefix` names. Raises InputError."""
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise _bad_url(url) from error
        plain = not (parts.query or parts.fragment or "@" in parts.netloc or ":" in parts.netloc)
        if parts.scheme != "s3" or not parts.netloc or not plain:
            raise _bad_url(url)
        if endpoint is not None and urlsplit(endpoint).scheme not in ("http", "https"):
            raise InputError(
                f"{endpoint!r} is not a valid URL",
                where="--endpoint",
                remedy="write https://host:port",
            )
        return cls(parts.netloc, parts.path.strip("/"), endpoint, credentials)

    def url(self, key: str) -> str:
        """The URL of an object."""
        return f"s3://{self.name}/{key}"


def put_parts(
    run: RunDirectory,
    periods: Sequence[RecordedPeriod],
    bucket: Bucket,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[str, ...]:
    """Put the Parquet files of these periods there, and return their URLs.

    Each object is there as a whole or not at all, and replaces an earlier one of the same
    key. `progress` is called with each URL. Raises MachineError without obstore, ExportError where
    the storage does not take them, and RecordError.
    """
    keys = []
    with opened(bucket) as there, parquet_parts(run, periods) as parts:
        for part in parts:
            key = "/".join(filter(None, [bucket.prefix, partition(run), part.name]))
            there.put_file(key, part)
            progress(bucket.url(key))
            keys.append(bucket.url(key))
    return tuple(keys)


@dataclass(frozen=True, slots=True)
class OpenBucket:
    """A bucket with the `store` that requests go by, within `errors`."""

    bucket: Bucket
    store: S3Store
    _proxy: OriginProxy

    def put_file(self, key: str, path: Path) -> None:
        """Put one file there as a whole. Raises ExportError."""
        with self.errors(self.bucket.url(key)):
            self.store.put(key, path)

    @contextmanager
    def errors(self, where: str) -> Iterator[None]:
        """What the storage refuses within, as an ExportError."""
        from obstore.exceptions import BaseError  # noqa: PLC0415

        try:
            yield
        except (BaseError, OSError) as error:
            target = self._proxy.refused or _led_to(str(error))
            if target is not None:
                raise _redirected(where, target) from error
            raise _not_taken(self.bucket, where, error) from error


@contextmanager
def opened(bucket: Bucket) -> Iterator[OpenBucket]:
    """The bucket, ready for requests. Raises MachineError without obstore, and ExportError."""
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415
        from obstore.store import S3Store  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            "object storage needs the Python package obstore",
            where="--to",
            remedy=added_by("s3"),
        ) from error
    settings = _settings(bucket)
    try:
        origins = {_origin(bucket.name, settings), *_token_service()}
        with OriginProxy(origins) as proxy:
            options = settings.get("client_options", {}) | _through(proxy, bucket)
            store = S3Store(bucket.name, **settings | {"client_options": options})
            yield OpenBucket(bucket, store, proxy)
    except BaseError as error:
        raise _not_taken(bucket, bucket.name, error) from error


def _settings(bucket: Bucket) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if endpoint := bucket.endpoint or os.environ.get(ENDPOINT_VARIABLE):
        settings["endpoint"] = endpoint
        settings["client_options"] = {"allow_http": endpoint.startswith("http://")}
    if (given := bucket.credentials) is not None:
        # By a provider, for a session's token in the environment belongs to another key.
        settings["credential_provider"] = lambda: _key(given.user, given.secret)
    return settings


def _key(identity: str, secret: str) -> dict[str, Any]:
    """As obstore takes a key that does not expire."""
    return {
        "access_key_id": identity,
        "secret_access_key": secret,
        "token": None,
        "expires_at": None,
    }


def _origin(name: str, settings: dict[str, Any]) -> Origin:
    """The one server that obstore will ask, by a URL that it signs with a dummy key.

    obstore follows redirections, and takes a session's token with it wherever they lead.
    """
    from obstore import sign  # noqa: PLC0415
    from obstore.store import S3Store  # noqa: PLC0415

    unused = {"credential_provider": lambda: _key("unused", "unused"), "skip_signature": False}
    url = sign(S3Store(name, **settings | unused), "GET", "x", timedelta(seconds=1))
    return Origin.of(url)


def _token_service() -> Iterator[Origin]:
    """Which trades the identity of a pod on AWS for a key, where that is how it is given."""
    if os.environ.get("AWS_WEB_IDENTITY_TOKEN_FILE"):
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        service = f"https://sts.{region or 'us-east-1'}.amazonaws.com"
        yield Origin.of(os.environ.get("AWS_ENDPOINT_URL_STS") or service)


def _through(proxy: OriginProxy, bucket: Bucket) -> dict[str, Any]:
    if bucket.credentials is not None or os.environ.get("AWS_ACCESS_KEY_ID"):
        return {"proxy_url": proxy.url}
    # The key comes from the machine's or the container's own metadata service, without the proxy.
    return {"proxy_url": proxy.url, "proxy_excludes": ",".join(_metadata_hosts())}


def _metadata_hosts() -> Iterator[str]:
    yield from ("169.254.0.0/16", "fd00:ec2::/32")
    for variable in ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_METADATA_ENDPOINT"):
        host = urlsplit(os.environ.get(variable, "")).hostname
        if host:
            yield host


def _led_to(message: str) -> str | None:
    """Where a redirection led that obstore itself did not follow; None where there was none."""
    if _REDIRECTION.search(message) is None:
        return None
    found = _LED_TO.search(message)
    return found[1] if found else "another address"


def _redirected(where: str, target: str) -> ExportError:
    return ExportError(
        f"the storage redirects to {plain_text(target, _MAX_CHARACTERS)}, which is not followed: "
        "what it is sent is for this server alone",
        where=where,
        remedy="if that is the right server, write its address in --endpoint",
    )


def _not_taken(bucket: Bucket, where: str, error: Exception) -> ExportError:
    message = " ".join(str(error).split())[:_MAX_CHARACTERS]
    return ExportError(
        f"the storage did not take it: {message}",
        where=where,
        remedy="see to the bucket, its endpoint (--endpoint) and the access key "
        "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --credentials)",
    )


def _bad_url(url: str) -> InputError:
    return InputError(
        f"{url!r} names no bucket", where="--to", remedy="write --to s3://bucket/prefix"
    )
