"""Settings of corpora: their files, where these come from, and the rows of a corpus that a split uses."""

from dataclasses import field
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from nmtcore.config.formats import FORMATS
from nmtcore.config.ranges import Count, Listed, Positive, Seed, Short, settings_class
from nmtcore.config.typed import nearest
from nmtcore.errors import is_hidden, quoted

Side = Literal["source", "target"]
SIDES: tuple[Side, ...] = get_args(Side)


@settings_class
class MirrorSettings:
    """Another address of the same text, perhaps packed in another way."""

    path: str
    """Path below each root of `mirrors` in config.yaml (a folder, file:// or https://), or a whole URL."""
    member: str | None = None
    """Member to read if the mirror has an archive; null: the whole file is read."""
    sha256: str | None = None
    """SHA-256 of the mirror's file, if that is packed in another way than the file itself."""
    length: Count | None = None
    """Length of the mirror's file in bytes, if that is packed in another way than the file itself."""


@settings_class
class FileSettings:
    """A file of a corpus or model: downloaded, fetched by hand, or the user's own (`path`)."""

    name: str = ""
    """Path below the downloads folder; not needed if `path` is set."""
    path: str | None = None
    """A file of your own, read where it is. Absolute, from `~` on, or relative to the folder that holds `datasets` and
    `corpora`."""
    url: str | None = None
    """Address to download it from. `repository://data/FILE` is a file of this repository, wherever that is."""
    member: str | None = None
    """Member to read if the file is an archive, which is streamed and never extracted; null: the whole file is read."""
    sha256: str | None = None
    """SHA-256; null: recorded at the first download and enforced from then on."""
    md5: str | None = None
    """MD5, if the publisher gives no better sum."""
    length: Count | None = None
    """Length in bytes; null: recorded at the first download."""
    megabytes: Positive | None = None
    """Approximate size, which the plan shows; only `length` is compared."""
    mirrors: tuple[MirrorSettings, ...] = ()
    """Other addresses of the same text."""
    manual: str | None = None
    """A sentence that says where to get a file that cannot be downloaded; it belongs in the `manual` folder."""

    def __post_init__(self) -> None:
        if self.path is not None:
            if self.url or self.manual or self.mirrors:
                raise ValueError(
                    f"{self.path} is a `path`, so it is read where it is: leave out url, mirrors and manual"
                )
            return
        for key, text in (("name", self.name), ("url", self.url or "")):
            if any(map(is_hidden, text)) or "\n" in text:
                raise ValueError(f"{key} {quoted(text)} has control characters or others that are not seen")
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or not self.name:
            raise ValueError(
                f"name '{self.name}' must be a path below the downloads folder (a file of your own: `path`)"
            )
        if not (self.url or self.manual or self.mirrors):
            raise ValueError(f"{self.name} has neither url nor mirrors nor manual (a file of your own: `path`)")


@settings_class
class CorpusSettings:
    """A corpus: its format, and its files by the roles that the format has for them."""

    format: Annotated[str, Field(json_schema_extra={"enum": list(FORMATS)})]
    """Format of the files."""
    files: dict[str, Annotated[tuple[Annotated[FileSettings, Short("path")], ...], Listed()]] = field(
        default_factory=dict
    )
    """Files by role (`source`, `target`, a language code, `pairs` or `text`, as the format has them); the files of one
    role are read one after the other."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the format."""
    licence: str = ""
    """Licence, if it is not the data set's."""
    citation: str = ""
    """What to cite, if it is not what the data set cites."""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"unknown format {quoted(self.format)}. {nearest(self.format, FORMATS)}")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that have text; a treebank may have only one."""
        named = tuple(side for side in SIDES if side in self.files)
        return named if FORMATS[self.format].one_side_suffices and named else SIDES


@settings_class
class PartSettings:
    """Rows of a corpus, counted from 1 before any filter."""

    corpus: str
    """Name of the corpus: one of the data set's `corpora` or a file of `corpora/`."""
    first: Count = 1
    """First row."""
    last: Count | None = None
    """Last row, included; null: the corpus's last."""
    sample: Count | None = None
    """Number of these rows to draw at random, kept in corpus order; null: all."""
    seed: Seed = 1
    """Seed of the sample."""

    def __post_init__(self) -> None:
        if self.last is not None and self.last < self.first:
            raise ValueError(f"last {self.last} is below first {self.first}")
