"""Fetch corpus files: streamed, hashed on the way, compared, and only then put in their place.

Imports nothing heavy: planning asks `missing_manual`.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from nmtcore.config.datasets import FileSettings
from nmtcore.errors import UserError
from nmtcore.files import atomic_path, read_json, write_json

CHUNK = 1 << 20
TIMEOUT = 60
"""Seconds without any answer."""
REMOTE = ("https",)
"""What is fetched over the network; http is refused."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A place where a file may be found, and what it must be there."""

    place: str
    """A path or an https:// address."""
    member: str | None
    sha256: str | None
    length: int | None

    @property
    def local(self) -> Path | None:
        """The path, when the place is one of this machine."""
        parts = urlsplit(self.place)
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        return None if "://" in self.place else Path(self.place)


class _Failed(Exception):
    """One candidate could not give the file."""


def sidecar_path(target: Path) -> Path:
    """Say where the facts about a downloaded file stand: {source, member, sha256, length}."""
    return target.with_name(target.name + ".json")


def known_path(target: Path) -> Path:
    """Say where sums of earlier downloads are remembered, also after the file and its sidecar were deleted."""
    return target.with_name(f".{target.name}.known.json")


def candidates(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> list[Candidate]:
    """List the places to try, in order: the mirrors under every root, whole mirror URLs, the manual folder, the URL."""
    found = []
    for mirror in settings.mirrors:
        whole = "://" in mirror.path
        places = [mirror.path] if whole else [f"{str(root).rstrip('/')}/{mirror.path}" for root in mirror_roots]
        for place in places:
            found.append(Candidate(place=place, member=mirror.member, sha256=mirror.sha256, length=mirror.length))
    found.sort(key=lambda candidate: candidate.local is None)  # stable: local ones first
    own = {"member": settings.member, "sha256": settings.sha256, "length": settings.length}
    if settings.manual:
        found.append(Candidate(place=str(Path(manual_folder) / settings.name), **own))
    if settings.url:
        found.append(Candidate(place=settings.url, **own))
    return found


def missing_manual(settings: FileSettings, manual_folder: Path, mirror_roots: Sequence[str]) -> str | None:
    """Say what a user must do when a file that is fetched by hand is not there yet; None when nothing is missing."""
    if not settings.manual:
        return None
    for candidate in candidates(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if candidate.local is None or candidate.local.is_file():
            return None
    place = Path(manual_folder) / settings.name
    return f"{settings.name} must be fetched by hand: {settings.manual.rstrip('.')}. Put it at {place}."


def download(
    settings: FileSettings,
    *,
    target: Path,
    mirror_roots: Sequence[str] = (),
    manual_folder: Path,
    progress: bool = False,
) -> dict[str, Any]:
    """Bring a file to `target` from the first place that has it; write and return its sidecar.

    A pinned length or sha256 must agree. Where none is pinned, the sum of the first download is remembered beside the
    target (`known_path`) and holds for the same place from then on. A place that fails is passed over, and the sidecar
    says why; when all fail, one `UserError` lists them.
    """
    if sentence := missing_manual(settings, manual_folder=manual_folder, mirror_roots=mirror_roots):
        raise UserError(sentence)
    known = read_json(known_path(target)) if known_path(target).exists() else {}
    passed_over = []
    for candidate in candidates(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        try:
            facts = _fetch(candidate, target, known.get(candidate.place, {}), progress=progress)
        except _Failed as error:
            passed_over.append(f"{candidate.place}: {error}")
            continue
        write_json(known_path(target), {**known, candidate.place: {k: facts[k] for k in ("sha256", "length")}})
        facts = {"source": candidate.place, "member": candidate.member, **facts, "passed_over": passed_over}
        write_json(sidecar_path(target), facts)
        return facts
    tried = (
        "\n".join(f"  {sentence}" for sentence in passed_over) or "  nowhere: it has no URL, and no mirror root is set"
    )
    raise UserError(
        f"{settings.name} could not be fetched. Tried:\n{tried}\n"
        "Where there is no network, set `mirrors` in config/config.yaml to a folder that holds it."
    )


def _fetch(candidate: Candidate, target: Path, known: dict, *, progress: bool) -> dict[str, Any]:
    with _source(candidate) as (stream, length), atomic_path(target) as temporary:
        with open(temporary, "wb") as file:
            facts = _copy(stream, file, length if progress else None, target.name, progress=progress)
        if length is not None and facts["length"] != length:
            raise _Failed(f"only {facts['length']} of {length} bytes came; try again")
        _compare(candidate, facts, known, target)
    return facts


def _compare(candidate: Candidate, facts: dict, known: dict, target: Path) -> None:
    for key, unit in (("length", " bytes"), ("sha256", "")):
        pinned = getattr(candidate, key)
        if pinned is not None and facts[key] != pinned:
            raise _Failed(f"its {key} is {facts[key]}{unit}, not {pinned}{unit} as the data set says")
        if pinned is None and known.get(key, facts[key]) != facts[key]:
            raise _Failed(
                f"its {key} is {facts[key]}{unit}, but it was {known[key]}{unit} when it was first fetched; "
                f"if the new file is right, delete {known_path(target)}"
            )


def _copy(stream: BinaryIO, file: BinaryIO, total: int | None, name: str, *, progress: bool) -> dict[str, Any]:
    """Copy and hash; an error in reading is `_Failed`, one in writing goes on as it is (a full disk)."""
    digest, length = hashlib.sha256(), 0
    with _bar(name, total, progress=progress) as advance:
        while chunk := _read(stream):
            digest.update(chunk)
            file.write(chunk)
            length += len(chunk)
            advance(len(chunk))
    return {"sha256": digest.hexdigest(), "length": length}


def _read(stream: BinaryIO) -> bytes:
    import http.client

    try:
        return stream.read(CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _Failed(f"reading it broke off ({error})") from error


@contextmanager
def _bar(name: str, total: int | None, *, progress: bool) -> Iterator[Callable[[int], Any]]:
    if not progress:
        yield lambda count: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="B", unit_scale=True, desc=name, file=sys.stderr) as bar:
        yield bar.update


@contextmanager
def _source(candidate: Candidate) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a candidate; yield its stream and, where it is told, its length."""
    if candidate.local is None:
        with _open_url(candidate.place) as response:
            yield response
        return
    if not candidate.local.is_file():
        raise _Failed("there is no such file")
    try:
        file = open(candidate.local, "rb")  # noqa: SIM115, errors of the block below are not ours
    except OSError as error:
        raise _Failed(error.strerror or str(error)) from error
    with file:
        yield file, candidate.local.stat().st_size


@contextmanager
def _open_url(url: str) -> Iterator[tuple[BinaryIO, int | None]]:
    import http.client
    import urllib.error
    import urllib.request

    class Redirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, request: Any, *arguments: Any) -> Any:
            following = super().redirect_request(request, *arguments)
            _check_scheme(following.full_url)
            return following

    _check_scheme(url)
    request = urllib.request.Request(url, headers={"User-Agent": "nmtcore"})
    try:
        response = urllib.request.build_opener(Redirects).open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        raise _Failed(f"the server answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _Failed(f"cannot be reached ({getattr(error, 'reason', error)})") from error
    with response:
        length = response.headers.get("Content-Length")
        yield response, int(length) if length and length.isdecimal() else None


def _check_scheme(url: str) -> None:
    if urlsplit(url).scheme not in REMOTE:
        raise _Failed(f"only {' and '.join(REMOTE)} addresses are fetched, and {url} is none")
