"""Download one address over https, resuming earlier attempts; only a complete file counts as downloaded.

Further bytes are appended only if the server proves that they belong to the same file: by status 206, a matching
Content-Range, and a validator that it compares (RFC 9110, sections 13.1.5 and 14). Otherwise the download restarts.
"""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from nmtcore.corpus.partial import CHUNK, Origin, PartialDownload, SourceFailed
from nmtcore.errors import shortened
from nmtcore.numerals import natural_number

TIMEOUT = 60
"""Seconds to wait for an answer, and seconds within which at least `MIN_PROGRESS` bytes must arrive."""
LENGTH_TIMEOUT = 10
"""Seconds to wait for the answer to a request for a file's length."""
MIN_PROGRESS = 60_000
"""Bytes; a server that sends fewer within `TIMEOUT` has stalled."""
ATTEMPTS = 5
"""Consecutive attempts without progress after which a source is given up."""
PAUSE = 1.0
"""Seconds before the second attempt; the pause doubles with each further attempt."""
TEMPORARY_STATUSES = (408, 425, 429, 500, 502, 503, 504)
"""HTTP statuses after which another attempt may succeed."""


class _TemporaryFailure(Exception):
    """An attempt failed, but another attempt may succeed."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A URL to download, and how its content can be checked."""

    url: str
    length: int | None
    """Bytes according to the data set, if it pins them."""
    has_checksum: bool
    """Whether a checksum will be compared, so that a mixture of two files is detected."""
    http_hosts: Collection[str]
    """Hosts for which plain http is allowed."""


def fetch(address: Address, partial: PartialDownload) -> None:
    """Fill `partial` until it is complete. If that fails, keep the bytes received and raise `SourceFailed`."""
    max_length, failures = partial.length, 0
    while True:
        try:
            _attempt(address, partial)
            return
        except _TemporaryFailure as error:
            failures = 0 if partial.length >= max_length + MIN_PROGRESS else failures + 1
            max_length = max(max_length, partial.length)
            if failures == ATTEMPTS:
                kept = f"; {partial.length} bytes are kept, and the next run resumes there" if partial.length else ""
                raise SourceFailed(f"{error}, {ATTEMPTS} times in a row{kept}") from error
            time.sleep(PAUSE * 2 ** max(failures - 1, 0))


def remote_length(url: str, http_hosts: Collection[str]) -> int | None:
    """Ask a server for a file's length in bytes; None if it does not say or cannot be reached."""
    request = urllib.request.Request(
        url, headers={"User-Agent": "nmtcore", "Accept-Encoding": "identity"}, method="HEAD"
    )
    try:
        with _open(request, http_hosts, timeout=LENGTH_TIMEOUT) as response:
            length = response.headers.get("Content-Length", "")
    except (OSError, http.client.HTTPException, ValueError, SourceFailed):
        return None
    return natural_number(length)


def _attempt(address: Address, partial: PartialDownload) -> None:
    """Request the missing bytes once and append them."""
    origin = partial.origin
    if origin and (origin.url, origin.length) == (address.url, partial.length):
        return  # complete: an earlier run ended after the last byte and before the move
    headers = {"User-Agent": "nmtcore", "Accept-Encoding": "identity", **_range_headers(address, partial)}
    with _open_or_fail(urllib.request.Request(address.url, headers=headers), address, partial) as response:
        if response.status == 206 and "Range" in headers:
            _check_range(response, partial)
        elif response.status == 200:
            partial.restart(_origin(response, address))
        else:
            raise SourceFailed(f"the server answers {response.status} {shortened(response.reason)}")
        _copy_response(response, partial, address.length)


def _range_headers(address: Address, partial: PartialDownload) -> dict[str, str]:
    """Return headers that request the rest of the file, if the bytes received can be verified to belong to it."""
    origin = partial.origin
    if origin is None or origin.url != address.url or origin.length is None or not partial.length:
        return {}
    if origin.validator is None and not address.has_checksum:
        return {}
    condition = {"If-Range": origin.validator} if origin.validator else {}
    return {"Range": f"bytes={partial.length}-", **condition}


def _origin(response: http.client.HTTPResponse, address: Address) -> Origin:
    """Return the origin of a whole file. Raises `SourceFailed` if its length is wrong, or unknown without any pin."""
    length = response.headers.get("Content-Length", "")
    length = natural_number(length)
    if length is None and not response.chunked and not address.has_checksum and address.length is None:
        raise SourceFailed(
            "the server does not report the length, so a cut-off file could pass for a complete one: pin the `length`"
        )
    if address.length is not None and length not in (None, address.length):
        raise SourceFailed(f"its length is {length} bytes, not {address.length} bytes as the data set says")
    tag = response.headers.get("ETag", "")
    validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
    return Origin(url=address.url, validator=validator, length=length)


def _check_range(response: http.client.HTTPResponse, partial: PartialDownload) -> None:
    """Discard the partial file and raise `_TemporaryFailure` if a response has other bytes than requested."""
    content_range = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})", content_range)
    total = partial.origin.length
    if match is None or [int(number) for number in match.groups()] != [partial.length, total - 1, total]:
        partial.restart()
        raise _TemporaryFailure(
            f"the server sends other bytes ({shortened(content_range) or 'no Content-Range'}) than requested"
        )


def _copy_response(response: http.client.HTTPResponse, partial: PartialDownload, pinned: int | None) -> None:
    """Append the bytes that the server sends, at most as many as the file has, if that is known.

    Errors in writing, such as a full disk, are raised unchanged.
    """
    total = partial.origin.length
    most = total if pinned is None else pinned
    last_time, last_length = time.monotonic(), partial.length
    while chunk := _read_response(response):
        partial.write(chunk)
        if most is not None and partial.length > most:
            partial.restart()
            raise SourceFailed(f"the server sends more than the {most} bytes of the file")
        if (now := time.monotonic()) - last_time > TIMEOUT:
            if partial.length - last_length < MIN_PROGRESS:
                raise _TemporaryFailure(
                    f"the server stalls: {partial.length - last_length} bytes in {now - last_time:.0f} s"
                )
            last_time, last_length = now, partial.length
    if total is not None and partial.length != total:
        raise _TemporaryFailure(f"only {partial.length} of {total} bytes arrived")


def _read_response(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _TemporaryFailure(f"the transfer broke off ({shortened(str(error))})") from error


def _open(request: urllib.request.Request, http_hosts: Collection[str], *, timeout: float) -> Any:
    """Send a request; follow redirects only to addresses that `check_address` accepts."""

    class Redirects(urllib.request.HTTPRedirectHandler):
        def http_error_302(self, request: Any, response: Any, *arguments: Any) -> Any:
            response.close()  # else the whole body would be read, however long it is
            return super().http_error_302(request, response, *arguments)

        http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

        def redirect_request(self, request: Any, *arguments: Any) -> Any:
            redirected = super().redirect_request(request, *arguments)
            check_address(redirected.full_url, http_hosts, redirected_from=request.full_url)
            return redirected

    check_address(request.full_url, http_hosts)
    return urllib.request.build_opener(Redirects).open(request, timeout=timeout)


def _open_or_fail(request: urllib.request.Request, address: Address, partial: PartialDownload) -> Any:
    """Send a request; turn errors into `_TemporaryFailure` or `SourceFailed`."""
    try:
        return _open(request, address.http_hosts, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the file became shorter, or the bytes received belong to another file
            partial.restart()
            raise _TemporaryFailure("the server does not have the requested bytes") from error
        if error.code in TEMPORARY_STATUSES:
            raise _TemporaryFailure(f"the server answers {error.code} {shortened(str(error.reason))}") from error
        raise SourceFailed(f"the server answers {error.code} {shortened(str(error.reason))}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError | ConnectionResetError | http.client.RemoteDisconnected):
            raise _TemporaryFailure(f"the server does not answer ({shortened(str(reason))})") from error
        raise SourceFailed(f"cannot be reached ({shortened(str(reason))})") from error


def check_address(url: str, http_hosts: Collection[str], *, redirected_from: str | None = None) -> None:
    """Raise `SourceFailed` unless a URL is https, or http on an allowed host and not redirected from https."""
    parts, host = urlsplit(url), urlsplit(url).hostname
    redirect = f"it redirects to {shortened(url)}, and " if redirected_from else ""
    if parts.scheme == "http" and redirected_from and urlsplit(redirected_from).scheme == "https":
        raise SourceFailed(f"{redirect}redirects from https to http are not followed")
    if parts.scheme == "http" and host not in http_hosts:
        raise SourceFailed(f"{redirect}http is refused; if {host} does not offer https, add it to http_hosts")
    if parts.scheme not in ("http", "https"):
        raise SourceFailed(f"{redirect}only https addresses are supported")
