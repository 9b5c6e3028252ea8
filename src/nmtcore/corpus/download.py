"""Download corpus files: try the sources of a file in order, verify the first that has it, then move it into place."""

import hashlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus.partial import CHUNK, PartialDownload, SourceFailed, open_partial
from nmtcore.corpus.sources import Source, list_sources, missing_manual
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import read_json, write_json
from nmtcore.layout import file_name, model_of

UNITS = {"length": " bytes", "sha256": "", "md5": ""}
"""The properties of a file that are compared, with their units."""


def sidecar_path(target: Path) -> Path:
    """Return the path of the record of a download: {source, mirror, sha256, length, passed_over}."""
    return target.with_name(file_name("download_record", file=target.name))


def checksums_path(target: Path) -> Path:
    """Return the path of the checksums of first downloads, which outlast the file and its sidecar."""
    return target.with_name(f".{target.name}.known.json")


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
    records = _read_records(checksums_path(target))
    sources = list_sources(settings, mirror_roots=mirror_roots, manual_folder=manual_folder)
    passed_over = []
    for source in sources:
        try:
            checked = _fetch(source, target, _recorded(records, source, sources), http_hosts, progress=progress)
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


def _read_records(path: Path) -> dict[str, dict[str, Any]]:
    """Read the checksums of first downloads. Raises `UserError` if the file is damaged."""
    if not path.exists():
        return {}
    try:
        records = read_json(path)
        fault = "it does not hold checksums"
    except UserError as error:
        records, fault = None, str(error)
    if isinstance(records, dict) and all(
        isinstance(record, dict) and record.keys() <= UNITS.keys() for record in records.values()
    ):
        return records
    raise UserError(
        f"{path}, the record of what was fetched first, is damaged ({fault}): restore it or, to trust the next "
        "download, delete it."
    )


def _recorded(records: dict, source: Source, sources: Sequence[Source]) -> dict[str, Any]:
    """Return the recorded checksum of a source's file. Older releases recorded it under the source's location."""
    locations = (other.location for other in sources if other.record == source.record)
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
        explain_os_errors(target),
        _progress_bar(target.name, length, progress=progress) as show_length,
        open_partial(target, show_length) as partial,
    ):
        try:
            if source.local is not None:
                _copy_local(source.local, partial)
            else:
                has_checksum = bool(source.sha256 or source.md5 or recorded)
                _fetch_remote(source, partial, http_hosts, has_checksum=has_checksum)
            checked = _verify(source, partial, recorded, target)
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


def _verify(source: Source, partial: PartialDownload, recorded: dict, target: Path) -> dict[str, Any]:
    """Return the checksum and length of a complete file. If they are wrong, discard it, so that it is never resumed."""
    try:
        return _verify_pins(source, partial, recorded, target)
    except SourceFailed:
        partial.restart()
        raise


def _verify_pins(source: Source, partial: PartialDownload, recorded: dict, target: Path) -> dict[str, Any]:
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
    with explain_os_errors(settings.path), open(settings.path, "rb") as file:
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
