"""The sources of a corpus file: mirrors, the folder for manual downloads, and the file's own URL.

Imports nothing heavy, because planning uses it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.errors import escape_controls

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


def list_sources(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> list[Source]:
    """List a file's sources in order: local mirrors, remote mirrors, the folder for manual downloads, its own URL."""
    own = {"record": settings.name, "sha256": settings.sha256, "md5": settings.md5, "length": settings.length}
    sources = [
        Source(
            location=location, mirror=mirror.path, **(_mirror_pins(mirror) if _is_other_file(mirror, settings) else own)
        )
        for mirror in settings.mirrors
        for location in _mirror_locations(mirror, mirror_roots)
    ]
    sources.sort(key=lambda source: source.local is None)  # stable
    if settings.manual:
        sources.append(Source(location=str(Path(manual_folder) / settings.name), **own))
    if settings.url:
        sources.append(Source(location=settings.url, **own))
    return sources


def source_bytes(settings: FileSettings, source: Source | None = None) -> int | None:
    """Return the bytes of a file at a source (None: of the file itself), as far as they are configured."""
    if source is not None and source.record != settings.name:
        return source.length
    return settings.length or (None if settings.megabytes is None else round(settings.megabytes * 1e6))


def shown_bytes(size: int) -> str:
    """Write the size of a file for a reader: 1,200.0 MB, 0.6 MB, 20 kB."""
    return f"{math.ceil(size / 1e3)} kB" if size < 50_000 else f"{size / 1e6:,.1f} MB"


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
    for source in list_sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if source.local is None or source.local.is_file():
            return None
    path = Path(manual_folder) / settings.name
    return escape_controls(f"{settings.name} must be fetched by hand: {settings.manual.rstrip('.')}. Put it at {path}.")
