"""Where the files of a corpus are now: the user's own, downloaded, on a mirror, or not on this machine.

Nothing is downloaded. Imports nothing heavy, because planning uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus.download import member_to_read, sidecar_path
from nmtcore.corpus.formats.rows import Input
from nmtcore.corpus.sources import Source, list_sources, missing_manual, shown_bytes, source_bytes


@dataclass(frozen=True, kw_only=True)
class FileLocation:
    """Where a file is, if it is on this machine."""

    file: FileSettings
    input: Input | None = None
    """The file to read; None if it is not on this machine."""
    place: str
    """Where it is, or where it would come from."""
    fault: str | None = None
    """A sentence that says why the workflow could not read the file; None if it could, perhaps after a download."""


def locate_file(
    file: FileSettings, *, downloads: Path, mirror_roots: Sequence[str], manual_folder: Path
) -> FileLocation:
    """Find a file where reading would look for it: its own path, the downloads, local mirrors, the manual folder."""
    if file.path is not None:
        return _own_file(file, Path(file.path))
    target = downloads / file.name
    if target.is_file() and sidecar_path(target).is_file():
        return FileLocation(file=file, input=Input(target, member_to_read(file, downloads)), place=f"at {target}")
    sources = list_sources(file, mirror_roots=mirror_roots, manual_folder=manual_folder)
    for source in sources:
        if source.local is not None and source.local.is_file():
            return _local_source(file, source, source.local)
    if sentence := missing_manual(file, manual_folder, mirror_roots):
        return FileLocation(file=file, place="must be fetched by hand", fault=sentence)
    remote = next((source for source in sources if source.local is None), None)
    if remote is None:
        fault = f"{file.name} is in no folder of `mirrors` in config.yaml, and has no address."
        return FileLocation(file=file, place="nowhere", fault=fault)
    size = source_bytes(file, remote)
    about = "" if size is None else f", about {shown_bytes(size)}"
    return FileLocation(file=file, place=f"not there yet; the workflow downloads it from {remote.location}{about}")


def _own_file(file: FileSettings, path: Path) -> FileLocation:
    if path.is_file():
        return FileLocation(file=file, input=Input(path, file.member), place=f"at {path}")
    fault = f"{'A folder is at' if path.is_dir() else 'There is no file'} {path}: correct its `path` or put it there."
    return FileLocation(file=file, place=f"missing at {path}", fault=fault)


def _local_source(file: FileSettings, source: Source, path: Path) -> FileLocation:
    """Describe a file that is on a mirror or in the manual folder, and compare its length if that is configured."""
    mirrors = (mirror.member for mirror in file.mirrors if mirror.path == source.mirror)
    member, length = next(mirrors, file.member), path.stat().st_size
    fault = None
    if source.length not in (None, length):
        fault = f"{path} has {length:,} bytes, not {source.length:,} as configured: replace it by the right file."
    return FileLocation(file=file, input=Input(path, member), place=f"at {path}", fault=fault)
