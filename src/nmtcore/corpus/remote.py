"""Fetch one address by https, on from the bytes that are there already; nothing but a whole file counts as fetched.

Bytes are asked for and appended only when the server proves that they belong to the same file: by 206, a Content-Range
that fits, and a validator that it compares (RFC 9110, sections 13.1.5 and 14). Everything else starts afresh.
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

from nmtcore.corpus.partial import CHUNK, Origin, Partial, PlaceFailed

TIMEOUT = 60
"""Seconds without any answer, and those in which at least `LEAST` must come."""
SHORT = 10
"""Seconds that a server has to tell a length before anything starts."""
LEAST = 60_000
"""Bytes; a server that sends fewer in `TIMEOUT` stalls."""
TRIES = 5
"""Attempts that bring nothing new, one after the other, before a place is given up."""
PAUSE = 1.0
"""Seconds before the second attempt; each further one waits twice as long."""
PASSING = (408, 425, 429, 500, 502, 503, 504)
"""Answers that may be others in a moment."""


class _Again(Exception):
    """It broke off, but another attempt may go on."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """What is fetched, and what is known about it."""

    url: str
    length: int | None
    """Bytes, where the data set tells them."""
    summed: bool
    """A sum will be compared, so that bytes which do not belong together cannot pass."""
    http_hosts: Collection[str]
    """Hosts from which plain http is accepted."""


def fetch(address: Address, partial: Partial) -> None:
    """Fill `partial` until it is whole; raise `PlaceFailed` and leave what came when that does not succeed."""
    most, tries = partial.length, 0
    while True:
        try:
            _attempt(address, partial)
            return
        except _Again as error:
            tries = 0 if partial.length >= most + LEAST else tries + 1
            most = max(most, partial.length)
            if tries == TRIES:
                kept = f"; {partial.length} bytes are kept, and the next run goes on there" if partial.length else ""
                raise PlaceFailed(f"{error}, {TRIES} times one after the other{kept}") from error
            time.sleep(PAUSE * 2 ** max(tries - 1, 0))


def remote_length(url: str, http_hosts: Collection[str]) -> int | None:
    """Ask a server how many bytes a file has; None where it does not tell, or cannot be reached."""
    request = urllib.request.Request(
        url, headers={"User-Agent": "nmtcore", "Accept-Encoding": "identity"}, method="HEAD"
    )
    try:
        with _open(request, http_hosts, timeout=SHORT) as response:
            length = response.headers.get("Content-Length", "")
    except (OSError, http.client.HTTPException, ValueError, PlaceFailed):
        return None
    return int(length) if length.isdecimal() else None


def _attempt(address: Address, partial: Partial) -> None:
    origin = partial.origin
    if origin and (origin.url, origin.length) == (address.url, partial.length):
        return  # whole already: an earlier run ended between the last byte and the move
    headers = {"User-Agent": "nmtcore", "Accept-Encoding": "identity", **_range(address, partial)}
    with _answer(urllib.request.Request(address.url, headers=headers), address, partial) as response:
        if response.status == 206 and "Range" in headers:
            _check_range(response, partial)
        elif response.status == 200:
            partial.restart(_origin(response, address))
        else:
            raise PlaceFailed(f"the server answers {response.status} {response.reason}")
        _copy(response, partial)


def _range(address: Address, partial: Partial) -> dict[str, str]:
    """Ask for the rest, where what is there can be trusted to belong to it."""
    origin = partial.origin
    if origin is None or origin.url != address.url or origin.length is None or not partial.length:
        return {}
    if origin.validator is None and not address.summed:
        return {}
    condition = {"If-Range": origin.validator} if origin.validator else {}
    return {"Range": f"bytes={partial.length}-", **condition}


def _origin(response: http.client.HTTPResponse, address: Address) -> Origin:
    length = response.headers.get("Content-Length", "")
    length = int(length) if length.isdecimal() else None
    if length is None and not response.chunked and not address.summed and address.length is None:
        raise PlaceFailed("the server does not say how long it is, so a part could pass for the whole: pin its length")
    if address.length is not None and length not in (None, address.length):
        raise PlaceFailed(f"its length is {length} bytes, not {address.length} bytes as the data set says")
    tag = response.headers.get("ETag", "")
    validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
    return Origin(url=address.url, validator=validator, length=length)


def _check_range(response: http.client.HTTPResponse, partial: Partial) -> None:
    told = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", told)
    total = partial.origin.length
    if match is None or [int(number) for number in match.groups()] != [partial.length, total - 1, total]:
        partial.restart()
        raise _Again(f"the server sends other bytes ({told or 'no Content-Range'}) than those that were asked for")


def _copy(response: http.client.HTTPResponse, partial: Partial) -> None:
    """Append what the server sends; an error in writing goes on as it is (a full disk)."""
    total = partial.origin.length
    since, at = time.monotonic(), partial.length
    while chunk := _read(response):
        partial.write(chunk)
        if (now := time.monotonic()) - since > TIMEOUT:
            if partial.length - at < LEAST:
                raise _Again(f"it stalls: {partial.length - at} bytes in {now - since:.0f} s")
            since, at = now, partial.length
    if total is not None and partial.length != total:
        raise _Again(f"only {partial.length} of {total} bytes came")


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _Again(f"reading it broke off ({error})") from error


def _open(request: urllib.request.Request, http_hosts: Collection[str], *, timeout: float) -> Any:
    """Send a request; follow redirects only to addresses that are as good."""

    class Redirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, request: Any, *arguments: Any) -> Any:
            following = super().redirect_request(request, *arguments)
            check_address(following.full_url, http_hosts, came_from=request.full_url)
            return following

    check_address(request.full_url, http_hosts)
    return urllib.request.build_opener(Redirects).open(request, timeout=timeout)


def _answer(request: urllib.request.Request, address: Address, partial: Partial) -> Any:
    try:
        return _open(request, address.http_hosts, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the file has become shorter, or what is there is not of it
            partial.restart()
            raise _Again("the server has no such bytes") from error
        if error.code in PASSING:
            raise _Again(f"the server answers {error.code} {error.reason}") from error
        raise PlaceFailed(f"the server answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError | ConnectionResetError | http.client.RemoteDisconnected):
            raise _Again(f"the server does not answer ({reason})") from error
        raise PlaceFailed(f"cannot be reached ({reason})") from error


def check_address(url: str, http_hosts: Collection[str], *, came_from: str | None = None) -> None:
    """Refuse what is not https, nor http from a host that is allowed to; and a redirect from https to http."""
    parts, host = urlsplit(url), urlsplit(url).hostname
    leads = f"it leads to {url}, and " if came_from else ""
    if parts.scheme == "http" and came_from and urlsplit(came_from).scheme == "https":
        raise PlaceFailed(f"{leads}a redirect from https to http is not followed")
    if parts.scheme == "http" and host not in http_hosts:
        raise PlaceFailed(f"{leads}http is refused; if {host} has nothing better, name it in http_hosts")
    if parts.scheme not in ("http", "https"):
        raise PlaceFailed(f"{leads}only https addresses are fetched")
