"""Describe the downloads of a plan: which files are missing, their sizes, sources and licences.

Imports nothing heavy, because planning uses it.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus.partial import partial_path
from nmtcore.corpus.sources import list_sources, shown_bytes, source_bytes
from nmtcore.errors import escape_controls


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
    empty if no file is missing. Control characters are escaped.
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
        received = f", of which {shown_bytes(part.stat().st_size)} are there" if part.exists() else ""
        shown = "unknown size" if size is None else shown_bytes(size)
        lines.append(f"  {settings.name}: {shown}{received}, {plan.source}; licence: {licence or 'not stated'}")
    total, unknown = sum(size or 0 for size in sizes), sizes.count(None)
    amounts = [shown_bytes(total) if total else "", f"{unknown} of unknown size" if unknown else ""]
    free = free_bytes(downloads)
    warning = f" Only {shown_bytes(free)} are free at {downloads}." if total > free else ""
    first = f"To be fetched: {len(lines)} files, {', and '.join(filter(None, amounts))}.{warning}"
    return [escape_controls(line) for line in (first, *lines)]


@dataclass(frozen=True)
class _DownloadPlan:
    """A description of a file's source, the file's bytes if known, and a URL whose server may know them."""

    source: str
    size: int | None
    url: str | None = None


def _plan_download(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> _DownloadPlan:
    for source in list_sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if source.local is None:
            return _DownloadPlan(f"from {source.location}", source_bytes(settings, source), source.location)
        if source.local.is_file():
            return _DownloadPlan(f"from {source.local}", source.local.stat().st_size)
    description = "by hand, not there yet" if settings.manual else "from nowhere: no mirror root is set"
    return _DownloadPlan(description, source_bytes(settings))


def _ask_sizes(plans: Sequence[_DownloadPlan], ask_length: Callable[[str], int | None]) -> list[int | None]:
    """Return all sizes. Servers are asked concurrently, because each may be slow."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda plan: ask_length(plan.url) if plan.url and plan.size is None else plan.size, plans))


def free_bytes(folder: Path) -> int:
    """Return the free bytes on the disk of a folder, which need not exist yet."""
    folder = folder.absolute()
    return shutil.disk_usage(next(parent for parent in (folder, *folder.parents) if parent.exists())).free
