"""Download corpus files: try the sources of a file in order, verify the first that has it, then move it into place.

Imports nothing heavy, because planning calls `missing_manual` and `planned_downloads`.
"""

import hashlib
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus.partial import CHUNK, PartialDownload, SourceFailed, open_partial, partial_path
from nmtcore.errors import UserError, explained
from nmtcore.files import read_json, write_json
from nmtcore.layout import file_name, model_of

UNITS = {"length": " bytes", "sha256": "", "md5": ""}
"""The properties of a file that are compared, with their units."""
OTHER_MEMBER = "(another)"
"""Placeholder for any member of a mirror that differs from the file's own member."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A location that may have a file, and the expected properties of the file there."""

    location: str
    """A path or a URL."""
    mirror: str | None = None
    """The `path` of the mirror at this location; None for the file's own URL and for a file fetched by hand."""
    record: str
    """The key of the recorded checksum: the file's name, or the `path` of a mirror with a different file."""
    sha256: str | None
    md5: str | None = None
    length: int | None

    @property
    def local(self) -> Path | None:
        """The path, if the location is on this machine."""
        parts = urlsplit(self.location)
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        return None if "://" in self.location else Path(self.location)


def sidecar_path(target: Path) -> Path:
    """Return the path of the record of a download: {source, mirror, sha256, length, passed_over}."""
    return target.with_name(file_name("download_record", file=target.name))


def checksums_path(target: Path) -> Path:
    """Return the path of the checksums of first downloads, which outlast the file and its sidecar."""
    return target.with_name(f".{target.name}.known.json")


def member_of(settings: FileSettings, downloads: Path) -> str | None:
    """Return which member of a downloaded file to read: the member of the mirror it came from, or the file's own."""
    target = Path(downloads) / settings.name
    mirror = read_json(sidecar_path(target))["mirror"]
    if mirror is None:
        return settings.member
    for mirror_settings in settings.mirrors:
        if mirror_settings.path == mirror:
            return mirror_settings.member
    raise UserError(
        f"{target} was fetched from {mirror}, which is no longer a mirror in the data set: delete the file, so that it"
        " is fetched again."
    )


def sources(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> list[Source]:
    """List a file's sources in order: local mirrors, remote mirrors, the folder for manual downloads, its own URL."""
    own = {"record": settings.name, "sha256": settings.sha256, "md5": settings.md5, "length": settings.length}
    file_sources = [
        Source(
            location=location, mirror=mirror.path, **(_mirror_pins(mirror) if _is_other_file(mirror, settings) else own)
        )
        for mirror in settings.mirrors
        for location in _mirror_locations(mirror, mirror_roots)
    ]
    file_sources.sort(key=lambda source: source.local is None)  # stable
    if settings.manual:
        file_sources.append(Source(location=str(Path(manual_folder) / settings.name), **own))
    if settings.url:
        file_sources.append(Source(location=settings.url, **own))
    return file_sources


def _is_other_file(mirror: MirrorSettings, settings: FileSettings) -> bool:
    """Return whether a mirror has the text in a different file: in another archive, or with its own checksum."""
    return mirror.member != settings.member or mirror.sha256 is not None or mirror.length is not None


def _mirror_pins(mirror: MirrorSettings) -> dict[str, Any]:
    return {"record": mirror.path, "sha256": mirror.sha256, "length": mirror.length}


def without_member(settings: FileSettings) -> FileSettings:
    """Remove the members to read, which do not affect the download; keep whether a mirror's member differs."""
    mirrors = (
        replace(mirror, member=OTHER_MEMBER if mirror.member != settings.member else None)
        for mirror in settings.mirrors
    )
    return replace(settings, member=None, mirrors=tuple(mirrors))


def _mirror_locations(mirror: MirrorSettings, roots: Sequence[str]) -> list[str]:
    return [mirror.path] if "://" in mirror.path else [f"{str(root).rstrip('/')}/{mirror.path}" for root in roots]


def missing_manual(settings: FileSettings, manual_folder: Path, mirror_roots: Sequence[str]) -> str | None:
    """Say how to get a file that must be fetched by hand and is missing; None if no action is needed."""
    if not settings.manual:
        return None
    for source in sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if source.local is None or source.local.is_file():
            return None
    path = Path(manual_folder) / settings.name
    return f"{settings.name} must be fetched by hand: {settings.manual.rstrip('.')}. Put it at {path}."


def planned_downloads(
    files: Iterable[tuple[FileSettings, str]],
    *,
    downloads: Path,
    mirror_roots: Sequence[str],
    manual_folder: Path,
    ask_length: Callable[[str], int | None] | None = None,
) -> list[str]:
    """Describe the missing ones of `files`, given with their licences: a summary line, then one line per file.

    `ask_length` returns the length of a URL whose length is not configured; without it, no server is asked. The list is
    empty if no file is missing.
    """
    missing = [(settings, licence) for settings, licence in files if not (downloads / settings.name).exists()]
    if not missing:
        return []
    plans = [
        _plan_download(settings, mirror_roots=mirror_roots, manual_folder=manual_folder) for settings, _ in missing
    ]
    sizes = _ask_sizes(plans, ask_length) if ask_length else [plan.size for plan in plans]
    lines = []
    for (settings, licence), plan, size in zip(missing, plans, sizes, strict=True):
        part = partial_path(downloads / settings.name)
        received = f", of which {_megabytes(part.stat().st_size)} are there" if part.exists() else ""
        lines.append(
            f"  {settings.name}: {_megabytes(size)}{received}, {plan.source}; licence: {licence or 'not stated'}"
        )
    total, unknown = sum(size or 0 for size in sizes), sizes.count(None)
    amounts = [_megabytes(total) if total else "", f"{unknown} of unknown size" if unknown else ""]
    free = _free_bytes(downloads)
    warning = f" Only {_megabytes(free)} are free at {downloads}." if total > free else ""
    return [f"To be fetched: {len(lines)} files, {', and '.join(filter(None, amounts))}.{warning}", *lines]


@dataclass(frozen=True)
class _DownloadPlan:
    """A description of a file's source, the file's bytes if known, and a URL whose server may know them."""

    source: str
    size: int | None
    url: str | None = None


def _plan_download(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> _DownloadPlan:
    own_size = settings.length or (None if settings.megabytes is None else round(settings.megabytes * 1e6))
    for source in sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if source.local is None:
            size = own_size if source.record == settings.name else source.length
            return _DownloadPlan(f"from {source.location}", size, source.location)
        if source.local.is_file():
            return _DownloadPlan(f"from {source.local}", source.local.stat().st_size)
    description = "by hand, not there yet" if settings.manual else "from nowhere: no mirror root is set"
    return _DownloadPlan(description, own_size)


def _ask_sizes(plans: Sequence[_DownloadPlan], ask_length: Callable[[str], int | None]) -> list[int | None]:
    """Return all sizes. Servers are asked concurrently, because each may be slow."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda plan: ask_length(plan.url) if plan.url and plan.size is None else plan.size, plans))


def _megabytes(size: int | None) -> str:
    return "unknown size" if size is None else f"{size / 1e6:,.1f} MB"


def _free_bytes(folder: Path) -> int:
    folder = folder.absolute()
    return shutil.disk_usage(next(parent for parent in (folder, *folder.parents) if parent.exists())).free


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
    another archive, or with its own pins) has its own record. The sidecar says why sources were passed over. Bytes
    received from a server are kept for the next run. Raises `UserError`, with all reasons, if all sources fail.
    """
    if sentence := missing_manual(settings, manual_folder=manual_folder, mirror_roots=mirror_roots):
        raise UserError(sentence)
    records = read_json(checksums_path(target)) if checksums_path(target).exists() else {}
    file_sources = sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder)
    passed_over = []
    for source in file_sources:
        try:
            checked = _fetch(source, target, _recorded(records, source, file_sources), http_hosts, progress=progress)
        except SourceFailed as error:
            passed_over.append(f"{source.location}: {error}")
            continue
        write_json(checksums_path(target), {**records, source.record: checked})
        sidecar = {"source": source.location, "mirror": source.mirror, **checked, "passed_over": passed_over}
        write_json(sidecar_path(target), sidecar)
        return sidecar
    reasons = passed_over or ["nowhere: it has no URL, and no mirror root is set"]
    tried = "\n".join(f"  {reason}" for reason in reasons)
    raise UserError(f"{settings.name} could not be fetched. Tried:\n{tried}\nWithout a network, {_offline(settings)}.")


def _recorded(records: dict, source: Source, file_sources: Sequence[Source]) -> dict[str, Any]:
    """Return the recorded checksum of a source's file. Older releases recorded it under the source's location."""
    locations = (other.location for other in file_sources if other.record == source.record)
    return next((records[key] for key in (source.record, *locations) if key in records), {})


def _offline(settings: FileSettings) -> str:
    model = model_of(settings.name)
    if model is None:
        return "set `mirrors` in config/config.yaml to a folder that contains it"
    return f"add the folder that contains this model, as a folder or file {model}, to `models` in config/config.yaml"


def _fetch(
    source: Source, target: Path, recorded: dict, http_hosts: Collection[str], *, progress: bool
) -> dict[str, Any]:
    if source.local is not None and not source.local.is_file():
        raise SourceFailed("there is no such file")
    length = source.length if source.length is not None else recorded.get("length")
    with (
        explained(target),
        _progress_bar(target.name, length, progress=progress) as show_length,
        open_partial(target, show_length) as partial,
    ):
        try:
            if source.local is not None:
                _copy_local(source.local, partial)
            else:
                has_checksum = bool(source.sha256 or source.md5 or recorded)
                _fetch_remote(source, partial, http_hosts, has_checksum=has_checksum)
            checked = _check(source, partial, recorded, target)
            partial.move_to(target)
        except BaseException:
            if partial.origin is None:  # it cannot be resumed
                partial.discard()
            raise
    return checked


def _fetch_remote(source: Source, partial: PartialDownload, http_hosts: Collection[str], *, has_checksum: bool) -> None:
    from nmtcore.corpus.remote import Address, fetch

    address = Address(url=source.location, length=source.length, has_checksum=has_checksum, http_hosts=http_hosts)
    fetch(address, partial)


def _check(source: Source, partial: PartialDownload, recorded: dict, target: Path) -> dict[str, Any]:
    """Return the checksum and length of a complete file. If they are wrong, discard it, so that it is never resumed."""
    try:
        return _checked(source, partial, recorded, target)
    except SourceFailed:
        partial.restart()
        raise


def _checked(source: Source, partial: PartialDownload, recorded: dict, target: Path) -> dict[str, Any]:
    if partial.is_html_page():
        raise SourceFailed("it is an HTML page, perhaps an error or login page, not a corpus file")
    actual = {"length": partial.length, **partial.sums}
    if fault := _mismatch(source, actual):
        raise SourceFailed(fault)
    for key, unit in UNITS.items():
        if getattr(source, key) is None and recorded.get(key, actual[key]) != actual[key]:
            raise SourceFailed(
                f"its {key} is {actual[key]}{unit}, but it was {recorded[key]}{unit} when it was first fetched; "
                f"if the new file is right, delete {checksums_path(target)}"
            )
    return {"sha256": actual["sha256"], "length": actual["length"]}


def _mismatch(pinned: Source | FileSettings, actual: Mapping[str, Any]) -> str | None:
    """Say how a file differs from its pinned length and checksums; None if it does not."""
    for key, unit in UNITS.items():
        expected = getattr(pinned, key)
        if expected is not None and actual[key] != expected:
            return f"its {key} is {actual[key]}{unit}, not {expected}{unit} as the data set says"
    return None


def check_own_file(settings: FileSettings) -> None:
    """Raise `UserError` if a file of the user's own differs from its pinned length or checksums."""
    if settings.sha256 is None and settings.md5 is None and settings.length is None:
        return
    hashes = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    length = 0
    with explained(settings.path), open(settings.path, "rb") as file:
        while chunk := file.read(CHUNK):
            length += len(chunk)
            for file_hash in hashes.values():
                file_hash.update(chunk)
    actual = {"length": length, **{name: file_hash.hexdigest() for name, file_hash in hashes.items()}}
    if fault := _mismatch(settings, actual):
        raise UserError(f"{settings.path}: {fault}: put the right file there, or correct the data set.")


def _copy_local(path: Path, partial: PartialDownload) -> None:
    """Copy a local file. Reading errors raise `SourceFailed`; writing errors, such as a full disk, pass through."""
    partial.restart()
    with _open_local(path) as file:
        while chunk := _read_local(file):
            partial.write(chunk)


def _open_local(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise SourceFailed(error.strerror or str(error)) from error


def _read_local(file: BinaryIO) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise SourceFailed(f"reading it failed ({error})") from error


@contextmanager
def _progress_bar(name: str, total: int | None, *, progress: bool) -> Iterator[Callable[[int], Any]]:
    """Show a progress bar if `progress` is true; yield a function that updates the number of bytes received."""
    if not progress:
        yield lambda length: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="B", unit_scale=True, desc=name, file=sys.stderr) as bar:
        yield lambda length: bar.update(length - bar.n)
