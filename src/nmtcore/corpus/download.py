"""Fetch corpus files: from the first place that has the right one, compared, and only then put where they belong.

Imports nothing heavy: planning asks `missing_manual` and `planned_downloads`.
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
from nmtcore.corpus.partial import CHUNK, Partial, PlaceFailed, open_partial, partial_path
from nmtcore.errors import UserError, explained
from nmtcore.files import read_json, write_json
from nmtcore.layout import file_name, model_of

UNITS = {"length": " bytes", "sha256": "", "md5": ""}
"""What of a file is compared, and in which unit."""
ANOTHER = "(another)"
"""Stands for the member of a mirror, whichever it is, that is not the file's own."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A place where a file may be found, and what it must be there."""

    place: str
    """A path or an https:// address."""
    mirror: str | None = None
    """The `path` of the mirror that it is of; None for the file's own address, and for one fetched by hand."""
    record: str
    """The key of its recorded sum: the file's name, or the mirror's `path` where that holds another file."""
    sha256: str | None
    md5: str | None = None
    length: int | None

    @property
    def local(self) -> Path | None:
        """The path, when the place is one of this machine."""
        parts = urlsplit(self.place)
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        return None if "://" in self.place else Path(self.place)


def sidecar_path(target: Path) -> Path:
    """Say where the facts about a downloaded file stand: {source, mirror, sha256, length, passed_over}."""
    return target.with_name(file_name("download_record", file=target.name))


def known_path(target: Path) -> Path:
    """Say where sums of earlier downloads are remembered, also after the file and its sidecar were deleted."""
    return target.with_name(f".{target.name}.known.json")


def member_of(settings: FileSettings, downloads: Path) -> str | None:
    """Say which member of a downloaded file is meant: that of the mirror it came from, or its own."""
    target = Path(downloads) / settings.name
    mirror = read_json(sidecar_path(target))["mirror"]
    if mirror is None:
        return settings.member
    for each in settings.mirrors:
        if each.path == mirror:
            return each.member
    raise UserError(
        f"{target} was fetched from {mirror}, which the data set no longer names as a mirror: delete the file, so that "
        "it is fetched again."
    )


def candidates(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> list[Candidate]:
    """List the places to try, in order: the mirrors under every root, whole mirror URLs, the manual folder, the URL."""
    own = {"record": settings.name, "sha256": settings.sha256, "md5": settings.md5, "length": settings.length}
    found = [
        Candidate(place=place, mirror=mirror.path, **(_another(mirror) if _is_another(mirror, settings) else own))
        for mirror in settings.mirrors
        for place in _mirror_places(mirror, mirror_roots)
    ]
    found.sort(key=lambda candidate: candidate.local is None)  # stable: local ones first
    if settings.manual:
        found.append(Candidate(place=str(Path(manual_folder) / settings.name), **own))
    if settings.url:
        found.append(Candidate(place=settings.url, **own))
    return found


def _is_another(mirror: MirrorSettings, settings: FileSettings) -> bool:
    """Say whether a mirror holds the same text as another file: in another wrapping, or with a sum of its own."""
    return mirror.member != settings.member or mirror.sha256 is not None or mirror.length is not None


def _another(mirror: MirrorSettings) -> dict[str, Any]:
    return {"record": mirror.path, "sha256": mirror.sha256, "length": mirror.length}


def without_member(settings: FileSettings) -> FileSettings:
    """Leave out which member is read, which does not matter for fetching; whether a mirror is another archive does."""
    mirrors = (
        replace(mirror, member=ANOTHER if mirror.member != settings.member else None) for mirror in settings.mirrors
    )
    return replace(settings, member=None, mirrors=tuple(mirrors))


def _mirror_places(mirror: MirrorSettings, roots: Sequence[str]) -> list[str]:
    return [mirror.path] if "://" in mirror.path else [f"{str(root).rstrip('/')}/{mirror.path}" for root in roots]


def missing_manual(settings: FileSettings, manual_folder: Path, mirror_roots: Sequence[str]) -> str | None:
    """Say what a user must do when a file that is fetched by hand is not there yet; None when nothing is missing."""
    if not settings.manual:
        return None
    for candidate in candidates(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if candidate.local is None or candidate.local.is_file():
            return None
    place = Path(manual_folder) / settings.name
    return f"{settings.name} must be fetched by hand: {settings.manual.rstrip('.')}. Put it at {place}."


def planned_downloads(
    files: Iterable[tuple[FileSettings, str]],
    *,
    downloads: Path,
    mirror_roots: Sequence[str],
    manual_folder: Path,
    ask: Callable[[str], int | None] | None = None,
) -> list[str]:
    """Say of files, each with its licence, what is not there yet: the sum, then how much, where from, on which terms.

    `ask` gives the length of an address whose length nothing else tells; without it only this machine is looked at.
    Gives nothing when everything is there.
    """
    missing = [(settings, licence) for settings, licence in files if not (downloads / settings.name).exists()]
    if not missing:
        return []
    plans = [_plan(settings, mirror_roots=mirror_roots, manual_folder=manual_folder) for settings, _ in missing]
    sizes = _asked(plans, ask) if ask else [plan.size for plan in plans]
    lines = []
    for (settings, licence), plan, size in zip(missing, plans, sizes, strict=True):
        part = partial_path(downloads / settings.name)
        there = f", of which {_megabytes(part.stat().st_size)} are there" if part.exists() else ""
        lines.append(f"  {settings.name}: {_megabytes(size)}{there}, {plan.place}; licence: {licence or 'not stated'}")
    total, unknown = sum(size or 0 for size in sizes), sizes.count(None)
    amount = _megabytes(total) if total else ""
    also = f"{unknown} of unknown size" if unknown else ""
    space = _free(downloads)
    warning = f" Only {_megabytes(space)} are free at {downloads}." if total > space else ""
    return [f"To be fetched: {len(lines)} files, {', and '.join(filter(None, (amount, also)))}.{warning}", *lines]


@dataclass(frozen=True)
class _Plan:
    """Where a file will come from: in words, its bytes where they are known, the address that may tell them."""

    place: str
    size: int | None
    url: str | None = None


def _plan(settings: FileSettings, *, mirror_roots: Sequence[str], manual_folder: Path) -> _Plan:
    own = settings.length or (None if settings.megabytes is None else round(settings.megabytes * 1e6))
    for candidate in candidates(settings, mirror_roots=mirror_roots, manual_folder=manual_folder):
        if candidate.local is None:
            size = own if candidate.record == settings.name else candidate.length
            return _Plan(f"from {candidate.place}", size, candidate.place)
        if candidate.local.is_file():
            return _Plan(f"from {candidate.local}", candidate.local.stat().st_size)
    return _Plan("by hand, not there yet" if settings.manual else "from nowhere: no mirror root is set", own)


def _asked(plans: Sequence[_Plan], ask: Callable[[str], int | None]) -> list[int | None]:
    """Give all sizes; servers are asked all at once, as each may take its time."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda plan: ask(plan.url) if plan.url and plan.size is None else plan.size, plans))


def _megabytes(size: int | None) -> str:
    return "unknown size" if size is None else f"{size / 1e6:,.1f} MB"


def _free(folder: Path) -> int:
    folder = folder.absolute()
    return shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free


def download(
    settings: FileSettings,
    *,
    target: Path,
    mirror_roots: Sequence[str] = (),
    manual_folder: Path,
    http_hosts: Collection[str] = (),
    progress: bool = False,
) -> dict[str, Any]:
    """Bring a file to `target` from the first place that has it; write and return its sidecar.

    A pinned length or sum must agree. Where none is pinned, the sum of the first download is remembered beside the
    target (`known_path`) and holds from then on, wherever the file comes from; a mirror that holds another file (in
    another wrapping, or with a sum or length of its own) has a record of its own. A place that fails is passed over,
    and the sidecar says why; when all fail, one `UserError` lists them. What an address has sent is kept for next time.
    """
    if sentence := missing_manual(settings, manual_folder=manual_folder, mirror_roots=mirror_roots):
        raise UserError(sentence)
    known = read_json(known_path(target)) if known_path(target).exists() else {}
    places = candidates(settings, mirror_roots=mirror_roots, manual_folder=manual_folder)
    passed_over = []
    for candidate in places:
        try:
            facts = _fetch(candidate, target, _recorded(known, candidate, places), http_hosts, progress=progress)
        except PlaceFailed as error:
            passed_over.append(f"{candidate.place}: {error}")
            continue
        write_json(known_path(target), {**known, candidate.record: facts})
        facts = {"source": candidate.place, "mirror": candidate.mirror, **facts, "passed_over": passed_over}
        write_json(sidecar_path(target), facts)
        return facts
    tried = (
        "\n".join(f"  {sentence}" for sentence in passed_over) or "  nowhere: it has no URL, and no mirror root is set"
    )
    raise UserError(
        f"{settings.name} could not be fetched. Tried:\n{tried}\nWhere there is no network, {_offline(settings)}."
    )


def _recorded(known: dict, candidate: Candidate, places: Sequence[Candidate]) -> dict[str, Any]:
    """Give what was recorded of the file that a place holds; older records stand under the place that it came from."""
    same = (place.place for place in places if place.record == candidate.record)
    return next((known[key] for key in (candidate.record, *same) if key in known), {})


def _offline(settings: FileSettings) -> str:
    model = model_of(settings.name)
    if model is None:
        return "set `mirrors` in config/config.yaml to a folder that holds it"
    return f"add the folder that holds this model, as a folder or file {model}, to `models` in config/config.yaml"


def _fetch(
    candidate: Candidate, target: Path, known: dict, http_hosts: Collection[str], *, progress: bool
) -> dict[str, Any]:
    if candidate.local is not None and not candidate.local.is_file():
        raise PlaceFailed("there is no such file")
    length = candidate.length if candidate.length is not None else known.get("length")
    with explained(target), _bar(target.name, length, progress=progress) as show, open_partial(target, show) as partial:
        try:
            if candidate.local is not None:
                _copy(candidate.local, partial)
            else:
                _fetch_remote(candidate, partial, http_hosts, summed=bool(candidate.sha256 or candidate.md5 or known))
            facts = _compare(candidate, partial, known, target)
            partial.move_to(target)
        except BaseException:
            if partial.origin is None:  # nothing that could be resumed
                partial.discard()
            raise
    return facts


def _fetch_remote(candidate: Candidate, partial: Partial, http_hosts: Collection[str], *, summed: bool) -> None:
    from nmtcore.corpus.remote import Address, fetch

    fetch(Address(url=candidate.place, length=candidate.length, summed=summed, http_hosts=http_hosts), partial)


def _compare(candidate: Candidate, partial: Partial, known: dict, target: Path) -> dict[str, Any]:
    """Give the facts about a whole file; one that is wrong is forgotten, so that it is never resumed."""
    try:
        return _facts(candidate, partial, known, target)
    except PlaceFailed:
        partial.restart()
        raise


def _facts(candidate: Candidate, partial: Partial, known: dict, target: Path) -> dict[str, Any]:
    if partial.holds_a_page():
        raise PlaceFailed("it is an HTML page, perhaps of an error or a login, and no corpus file")
    facts = {"length": partial.length, **partial.sums}
    if fault := _unlike(candidate, facts):
        raise PlaceFailed(fault)
    for key, unit in UNITS.items():
        if getattr(candidate, key) is None and known.get(key, facts[key]) != facts[key]:
            raise PlaceFailed(
                f"its {key} is {facts[key]}{unit}, but it was {known[key]}{unit} when it was first fetched; "
                f"if the new file is right, delete {known_path(target)}"
            )
    return {"sha256": facts["sha256"], "length": facts["length"]}


def _unlike(pinned: Candidate | FileSettings, facts: Mapping[str, Any]) -> str | None:
    """Say how a file differs from the length and the sums that its data set gives; None where it does not."""
    for key, unit in UNITS.items():
        told = getattr(pinned, key)
        if told is not None and facts[key] != told:
            return f"its {key} is {facts[key]}{unit}, not {told}{unit} as the data set says"
    return None


def check_own_file(settings: FileSettings) -> None:
    """Raise a `UserError` where a file of the user's own differs from the length and sums that its data set gives."""
    if settings.sha256 is None and settings.md5 is None and settings.length is None:
        return
    sums = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    length = 0
    with explained(settings.path), open(settings.path, "rb") as file:
        while chunk := file.read(CHUNK):
            length += len(chunk)
            for each in sums.values():
                each.update(chunk)
    facts = {"length": length, **{name: each.hexdigest() for name, each in sums.items()}}
    if fault := _unlike(settings, facts):
        raise UserError(f"{settings.path}: {fault}: put the right file there, or correct the data set.")


def _copy(path: Path, partial: Partial) -> None:
    """Copy a file of this machine; an error in reading is `PlaceFailed`, one in writing goes on (a full disk)."""
    partial.restart()
    with _opened(path) as file:
        while chunk := _read(file):
            partial.write(chunk)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise PlaceFailed(error.strerror or str(error)) from error


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise PlaceFailed(f"reading it broke off ({error})") from error


@contextmanager
def _bar(name: str, total: int | None, *, progress: bool) -> Iterator[Callable[[int], Any]]:
    """Show a bar of the bytes that are there; yield what is called with their number."""
    if not progress:
        yield lambda length: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="B", unit_scale=True, desc=name, file=sys.stderr) as bar:
        yield lambda length: bar.update(length - bar.n)
