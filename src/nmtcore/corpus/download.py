"""Download corpus files: try the sources of a file in order, verify the first that has it, then move it into place."""

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus.sources import Source, list_sources, missing_manual, partial_path, sidecar_path
from nmtcore.corpus.streams import FIRST_BYTES
from nmtcore.corpus.text_lines import natural_number
from nmtcore.errors import UserError, explain_os_errors, shortened
from nmtcore.files import atomic_path, read_json, write_json
from nmtcore.layout import model_of

CHUNK = 1 << 20
"""Bytes read at a time."""
TIMEOUT = 30
"""Seconds to wait for an answer, or for further bytes, before a message and another attempt."""
ATTEMPTS = 5
"""Consecutive attempts without progress after which a source is given up."""
PAUSE = 1.0
"""Seconds before the second attempt; the pause doubles with each further attempt."""
TEMPORARY_STATUSES = (408, 416, 425, 429, 500, 502, 503, 504)
"""HTTP statuses after which another attempt may succeed."""
PROPERTIES = {"length": " bytes", "sha256": "", "md5": ""}
"""The properties of a file that are compared, with their units."""
_HTML = (b"<!doctype html", b"<html")
"""The first bytes of an HTML page that a server sends instead of a file."""


class SourceFailed(Exception):
    """A source could not provide the file; the message says why."""


class _TemporaryFailure(Exception):
    """An attempt failed, but another attempt may succeed."""


def checksums_path(target: Path) -> Path:
    """Return the path of the checksums of first downloads, which outlast the file and its sidecar."""
    return target.with_name(f".{target.name}.known.json")


def download(
    settings: FileSettings,
    *,
    target: Path,
    mirror_roots: Sequence[str] = (),
    manual_folder: Path,
    http_hosts: Collection[str] = (),
    progress: bool = False,
) -> dict[str, Any]:
    """Download a file to `target` from the first source that has it; write and return its sidecar.

    Pinned lengths and checksums must match. If none is pinned, the checksum of the first download is recorded next to
    the target (`checksums_path`) and must match from then on, whatever the source; a mirror with a different file (in
    another archive, or with its own pins) has its own record. Without a pinned checksum, a file is refused that is
    empty, an HTML page, or not compressed as its name says. The sidecar says why sources were passed
    over. Of a file whose checksum is known, the bytes received are kept for the next run. Raises `UserError`, with all
    reasons, if all sources fail.
    """
    if sentence := missing_manual(settings, manual_folder=manual_folder, mirror_roots=mirror_roots):
        raise UserError(sentence)
    records = read_json(checksums_path(target)) if checksums_path(target).exists() else {}
    passed_over = []
    for source in list_sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        try:
            checked = _fetch(source, target, records.get(source.record, {}), http_hosts, progress=progress)
        except SourceFailed as error:
            passed_over.append(f"{source.location}: {error}")
            continue
        write_json(checksums_path(target), {**records, source.record: checked})
        sidecar = {"source": source.location, "mirror": source.mirror, **checked, "passed_over": passed_over}
        write_json(sidecar_path(target), sidecar)
        return sidecar
    tried = "\n".join(f"  {reason}" for reason in passed_over or ["nowhere: it has no URL, and no mirror root is set"])
    raise UserError(f"{settings.name} could not be fetched. Tried:\n{tried}\nWithout a network, {_offline(settings)}.")


def _offline(settings: FileSettings) -> str:
    model = model_of(settings.name)
    if model is None:
        return "set `mirrors` in config/config.yaml to a folder that contains it"
    return f"add the folder that contains this model, as a folder or file {model}, to `models` in config/config.yaml"


def _fetch(
    source: Source, target: Path, recorded: Mapping[str, Any], http_hosts: Collection[str], *, progress: bool
) -> dict[str, Any]:
    """Fetch and verify the file of one source, and move it to `target`; return its checksum and length."""
    if source.local is not None and not source.local.is_file():
        raise SourceFailed("there is no such file")
    can_resume = source.local is None and bool(source.sha256 or source.md5 or recorded)
    with explain_os_errors(target), _open_partial(target, keep=can_resume) as file:
        if source.local is not None:
            _copy_local(source.local, file)
        else:
            length = source.length if source.length is not None else recorded.get("length")
            _receive(source.location, file, length, http_hosts, can_resume=can_resume, progress=progress)
        actual = _properties(file)
        fault = _mismatch(source, actual, recorded, target)
        if not (fault or source.sha256 or source.md5):
            path = urlsplit(source.location).path
            fault = _content_fault(file, [path] if source.mirror else [path, target.name])
        if fault:
            file.truncate(0)  # so the next run begins again: bytes of an earlier run may be those of another file
            raise SourceFailed(fault)
        with atomic_path(target) as temporary:
            os.replace(partial_path(target), temporary)
    return {"sha256": actual["sha256"], "length": actual["length"]}


@contextmanager
def _open_partial(target: Path, *, keep: bool) -> Iterator[BinaryIO]:
    """Open and lock the partial file of `target`; without `keep`, it begins empty, and is deleted if the block fails.

    Raises `UserError` if another process holds the lock.
    """
    path = partial_path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"{target} is being downloaded by another process: wait for it.") from error
        try:
            if not keep:
                file.truncate(0)
            yield file
        except BaseException:
            if not keep or file.seek(0, os.SEEK_END) == 0:
                path.unlink(missing_ok=True)
            raise


def _copy_local(path: Path, file: BinaryIO) -> None:
    try:
        local = path.open("rb")
    except OSError as error:
        raise SourceFailed(error.strerror or str(error)) from error
    with local:
        shutil.copyfileobj(local, file, CHUNK)


def _content_fault(file: BinaryIO, names: Sequence[str]) -> str | None:
    """Say why a file without a pinned checksum cannot be what its `names` say; None if it can be."""
    endings = [PurePosixPath(name).suffix.lower() for name in names]
    file.seek(0)
    data = file.read(512)
    start = data.lower().lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data:
        return "it is empty"
    if start.startswith(_HTML) or (start.startswith(b"<?xml") and _HTML[0] in start):
        return "it is an HTML page, perhaps an error or login page, not a corpus file"
    ending = next(filter(FIRST_BYTES.get, endings), None)
    if ending and not data.startswith(FIRST_BYTES[ending]):
        return f"its name ends in {ending}, but its first bytes are not those of such a file"
    return None


def _properties(file: BinaryIO) -> dict[str, Any]:
    """Return the length and the checksums of a file."""
    file.flush()
    sums = {}
    for name in ("sha256", "md5"):
        file.seek(0)
        sums[name] = hashlib.file_digest(file, lambda name=name: hashlib.new(name, usedforsecurity=False)).hexdigest()
    return {"length": file.seek(0, os.SEEK_END), **sums}


def _mismatch(
    pinned: Source | FileSettings, actual: Mapping[str, Any], recorded: Mapping[str, Any], target: Path
) -> str | None:
    """Say how a file differs from its pinned or else recorded properties; None if it does not."""
    for key, unit in PROPERTIES.items():
        expected = getattr(pinned, key)
        if expected not in (None, actual[key]):
            return f"its {key} is {actual[key]}{unit}, not {expected}{unit} as the data set says"
        if expected is None and recorded.get(key, actual[key]) != actual[key]:
            return (
                f"its {key} is {actual[key]}{unit}, but it was {recorded[key]}{unit} when it was first fetched; "
                f"if the new file is right, delete {checksums_path(target)}"
            )
    return None


def check_own_file(settings: FileSettings) -> None:
    """Raise `UserError` if a file of the user's own differs from its pinned length or checksums."""
    if any(getattr(settings, key) is not None for key in PROPERTIES):
        path = Path(settings.path)
        with explain_os_errors(path), path.open("rb") as file:
            fault = _mismatch(settings, _properties(file), {}, path)
        if fault:
            raise UserError(f"{path}: {fault}: put the right file there, or correct the data set.")


def _receive(
    url: str, file: BinaryIO, length: int | None, http_hosts: Collection[str], *, can_resume: bool, progress: bool
) -> None:
    """Append what is missing of a URL to `file`. Raises `SourceFailed` if that fails."""
    from tqdm import tqdm

    failures = 0
    with (
        _session(http_hosts) as session,
        tqdm(total=length, unit="B", unit_scale=True, desc=url.rpartition("/")[2], disable=not progress) as bar,
    ):
        while (start := file.seek(0, os.SEEK_END)) == 0 or start != length:
            try:
                response = _answer(session, url, {"Range": f"bytes={start}-"} if start else {})
                _append(response, file, length, bar, can_resume=can_resume)
                return
            except _TemporaryFailure as error:
                if not can_resume:
                    file.truncate(0)
                received = file.seek(0, os.SEEK_END)
                failures = 1 if received > start else failures + 1
                if failures == ATTEMPTS:
                    kept = f"; {received} bytes are kept, and the next run resumes there" if received else ""
                    raise SourceFailed(f"{error}, {ATTEMPTS} times in a row{kept}") from error
                bar.clear()
                print(f"{url}: {error}; attempt {failures + 1} of {ATTEMPTS} follows.", file=sys.stderr, flush=True)
                time.sleep(PAUSE * 2 ** (failures - 1))


def _append(response: Any, file: BinaryIO, length: int | None, bar: Any, *, can_resume: bool) -> None:
    """Append the bytes that a server sends, or begin again if it sends all of them."""
    import urllib3

    start = file.seek(0, os.SEEK_END)
    if response.status_code in (200, 416):  # 416: there are no such bytes, so those received are of another file
        file.truncate(start := 0)
    if response.status_code != (206 if start else 200):
        failure = _TemporaryFailure if response.status_code in TEMPORARY_STATUSES else SourceFailed
        raise failure(f"the server answers {response.status_code} {shortened(response.reason)}")
    announced = natural_number(response.headers.get("Content-Length", ""))
    if announced is None and not response.raw.chunked and length is None and not can_resume:
        raise SourceFailed(
            "the server does not report the length, so a cut-off file could pass for a complete one: pin the `length`"
        )
    if None not in (length, announced) and start + announced != length:
        raise SourceFailed(f"its length is {start + announced} bytes, not {length} bytes as expected")
    bar.n = start
    try:
        while chunk := response.raw.read(CHUNK, decode_content=False):
            file.write(chunk)
            bar.update(len(chunk))
    except urllib3.exceptions.HTTPError as error:
        raise _TemporaryFailure(f"the transfer broke off ({_said(error)})") from error


def _session(http_hosts: Collection[str]) -> Any:
    """Make a session that reaches https addresses and plain http on some hosts, also when it is redirected."""
    import requests

    session = requests.Session()
    session.headers.update({"User-Agent": "nmtcore", "Accept-Encoding": "identity"})
    del session.adapters["http://"]
    for host in http_hosts:
        for end in ("/", ":"):
            session.mount(f"http://{host}{end}", requests.adapters.HTTPAdapter())
    return session


def _answer(session: Any, url: str, headers: Mapping[str, str]) -> Any:
    """Send a request and return the response, whose body is not read yet."""
    import requests
    import urllib3

    try:
        return session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.exceptions.InvalidSchema as error:
        raise SourceFailed(f"only https, and http on `http_hosts`, is supported ({shortened(str(error))})") from error
    except requests.RequestException as error:
        reason = error.args[0] if error.args else error
        if isinstance(error, requests.Timeout) or isinstance(reason, urllib3.exceptions.ProtocolError):
            raise _TemporaryFailure(f"the server does not answer ({_said(reason)})") from error
        raise SourceFailed(f"cannot be reached ({_said(getattr(reason, 'reason', reason))})") from error


def _said(error: Any) -> str:
    """Return what an exception of requests or urllib3 says, without the objects that it names first."""
    text = error.args[0] if isinstance(error, Exception) and error.args else error
    return shortened(str(text).rpartition(": ")[2])
