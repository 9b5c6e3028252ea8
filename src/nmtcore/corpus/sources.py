"""Where the files of corpora and models are, or come from: mirrors, the folder for manual downloads, their own URLs.

Nothing is downloaded here. Imports nothing heavy, because planning uses it.
"""

import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nmtcore.config.corpora import FileSettings
from nmtcore.config.project import REPOSITORY
from nmtcore.corpus.text_lines import Input
from nmtcore.errors import UserError, escape_controls
from nmtcore.files import read_json
from nmtcore.layout import file_name

OTHER_MEMBER = "(another)"
"""Placeholder for any member of a mirror that differs from the file's own member."""


def sidecar_path(target: Path) -> Path:
    """Return the path of the record of a download: {source, mirror, sha256, length, passed_over}."""
    return target.with_name(file_name("download_record", file=target.name))


def partial_path(target: Path) -> Path:
    """Return the path of the bytes of an unfinished download."""
    return target.with_name(f".{target.name}.part")


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
    def is_shipped(self) -> bool:
        """Whether it is a file of the repository, whose folder the location does not say."""
        return self.location.startswith("repository://")

    @property
    def local(self) -> Path | None:
        """The path, if the location is on this machine."""
        if self.is_shipped:
            return REPOSITORY / self.location.removeprefix("repository://")
        parts = urlsplit(self.location)
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        return None if "://" in self.location else Path(self.location)


def list_sources(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> list[Source]:
    """List a file's sources in order: local mirrors, remote mirrors, the folder for manual downloads, its own URL."""
    file_pins = {"record": settings.name, "sha256": settings.sha256, "md5": settings.md5, "length": settings.length}
    sources = []
    for mirror in settings.mirrors:
        # A mirror may have the text in a different file: in another archive, or with its own checksum.
        differs = mirror.member != settings.member or mirror.sha256 is not None or mirror.length is not None
        pins = {"record": mirror.path, "sha256": mirror.sha256, "length": mirror.length} if differs else file_pins
        roots = [f"{str(root).rstrip('/')}/{mirror.path}" for root in mirror_roots]
        for location in [mirror.path] if "://" in mirror.path else roots:
            sources.append(Source(location=location, mirror=mirror.path, **pins))
    sources.sort(key=lambda source: source.local is None)  # stable
    if settings.manual:
        sources.append(Source(location=str(Path(manual_folder) / settings.name), **file_pins))
    if settings.url:
        sources.append(Source(location=settings.url, **file_pins))
    return sources


def without_member(settings: FileSettings) -> FileSettings:
    """Remove the members to read, which do not affect the download; keep whether a mirror's member differs."""
    mirrors = (
        replace(mirror, member=OTHER_MEMBER if mirror.member != settings.member else None)
        for mirror in settings.mirrors
    )
    return replace(settings, member=None, mirrors=tuple(mirrors))


def member_to_read(settings: FileSettings, downloads: Path) -> str | None:
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


def _first_source(settings: FileSettings, mirror_roots: Sequence[str], manual_folder: Path) -> Source | None:
    """Return the first source that may have a file: an address, or a path where there is a file."""
    sources = list_sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder)
    return next((source for source in sources if source.local is None or source.local.is_file()), None)


def missing_manual(settings: FileSettings, manual_folder: Path, mirror_roots: Sequence[str]) -> str | None:
    """Say how to get a file that must be fetched by hand and is missing; None if no action is needed."""
    if not settings.manual or _first_source(settings, mirror_roots, manual_folder):
        return None
    path = Path(manual_folder) / settings.name
    return escape_controls(f"{settings.name} must be fetched by hand: {settings.manual.rstrip('.')}. Put it at {path}.")


@dataclass(frozen=True, kw_only=True)
class FileLocation:
    """Where a file is, if it is on this machine."""

    input: Input | None = None
    """The file to read; None if it is not on this machine."""
    place: str
    """Where it is, or where it would come from."""
    fault: str | None = None
    """A sentence that says why the workflow could not read the file; None if it could, perhaps after a download."""


def locate_file(
    file: FileSettings, *, downloads: Path, mirror_roots: Sequence[str], manual_folder: Path
) -> FileLocation:
    """Find a file where reading would look for it: its own path, the downloads, or its first source."""
    if file.path is not None:
        path = Path(file.path)
        if path.is_file():
            return FileLocation(input=Input(path, file.member), place=f"at {path}")
        obstacle = "A folder is at" if path.is_dir() else "There is no file"
        fault = f"{obstacle} {path}: correct its `path` or put it there."
        return FileLocation(place=f"missing at {path}", fault=fault)
    target = downloads / file.name
    if target.is_file() and sidecar_path(target).is_file():
        return FileLocation(input=Input(target, member_to_read(file, downloads)), place=f"at {target}")
    source = _first_source(file, mirror_roots, manual_folder)
    if source is None:
        by_hand = missing_manual(file, manual_folder, mirror_roots)
        fault = by_hand or f"{file.name} is in no folder of `mirrors` in config.yaml, and has no address."
        return FileLocation(place="must be fetched by hand" if by_hand else "nowhere", fault=fault)
    if source.local is None:
        size = _source_bytes(file, source)
        about = "" if size is None else f", about {_shown_bytes(size)}"
        return FileLocation(place=f"not there yet; the workflow downloads it from {source.location}{about}")
    mirrors = (mirror.member for mirror in file.mirrors if mirror.path == source.mirror)
    return FileLocation(input=Input(source.local, next(mirrors, file.member)), place=f"at {source.local}")


def planned_downloads(
    files: Iterable[tuple[FileSettings, str]],
    *,
    downloads: Path,
    mirror_roots: Sequence[str],
    manual_folder: Path,
) -> list[str]:
    """Describe the missing ones of `files`, given with their licences: a summary line, then one line per file.

    Those of unknown size come first, and those of the repository are left out. Sizes are those of the settings; no
    server is asked. The list is empty if no file is missing. Control characters are escaped.
    """
    lines, sizes = [], []
    for settings, licence in files:
        if (downloads / settings.name).exists():
            continue
        source = _first_source(settings, mirror_roots, manual_folder)
        if source is not None and source.is_shipped:
            continue
        size = _source_bytes(settings, source)
        sizes.append(size)
        nowhere = "by hand, not there yet" if settings.manual else "from nowhere: no mirror root is set"
        place = nowhere if source is None else f"from {source.local or source.location}"
        shown = "unknown size" if size is None else _shown_bytes(size)
        lines.append(f"  {settings.name}: {shown}, {place}; licence: {licence or 'not stated'}")
    lines = [lines[n] for n in sorted(range(len(lines)), key=lambda n: sizes[n] is not None)]
    if not lines:
        return []
    total, unknown = sum(size or 0 for size in sizes), sizes.count(None)
    amounts = [_shown_bytes(total) if total else "", f"{unknown} of unknown size" if unknown else ""]
    free = free_bytes(downloads)
    warning = f" Only {_shown_bytes(free)} are free at {downloads}." if total > free else ""
    first = f"To be fetched: {len(lines)} files, {', and '.join(filter(None, amounts))}.{warning}"
    return [escape_controls(line) for line in (first, *lines)]


def _source_bytes(settings: FileSettings, source: Source | None) -> int | None:
    """Return the bytes of a file at a source (None: of the file itself), if it is here or they are configured."""
    if source is not None and source.local is not None:
        return source.local.stat().st_size
    if source is not None and source.record != settings.name:
        return source.length
    return settings.length or (None if settings.megabytes is None else round(settings.megabytes * 1e6))


def _shown_bytes(size: int) -> str:
    """Write the size of a file for a reader: 1,200.0 MB, 0.6 MB, 20 kB."""
    return f"{math.ceil(size / 1e3)} kB" if size < 50_000 else f"{size / 1e6:,.1f} MB"


def free_bytes(folder: Path) -> int:
    """Return the free bytes on the disk of a folder, which need not exist yet."""
    folder = folder.absolute()
    return shutil.disk_usage(next(parent for parent in (folder, *folder.parents) if parent.exists())).free
