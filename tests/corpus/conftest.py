"""Small data sets in a temporary folder, with files as the download stage leaves them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nmtcore.config.corpora import CorpusSettings, FileSettings, PartSettings, SegmentationSettings, WordsSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.corpus.filters import filter_split
from nmtcore.corpus.read import read_split
from nmtcore.corpus.sources import sidecar_path
from nmtcore.files import read_json, write_json
from nmtcore.parquet import read_rows


@dataclass
class Bench:
    """Builds data sets in a folder and runs the corpus stage on them."""

    folder: Path

    def file(self, name: str, data: bytes | str, member: str | None = None) -> FileSettings:
        path = self.folder / "downloads" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        write_json(sidecar_path(path), {"source": name, "mirror": None, "sha256": "", "length": len(data)})
        return FileSettings(name=name, url="https://example.org/" + name, member=member)

    def corpus(self, format: str, options: dict | None = None, **files: Any) -> CorpusSettings:
        named = {role: tuple(file) if isinstance(file, list) else (file,) for role, file in files.items()}
        return CorpusSettings(format=format, files=named, options=options or {})

    def plain(self, source: bytes | str, target: bytes | str) -> CorpusSettings:
        return self.corpus("plain", source=self.file("text.cs", source), target=self.file("text.en", target))

    def dataset(self, corpus: CorpusSettings, *, first: int = 1, last: int | None = None, **values: Any):
        splits = {"train": (PartSettings(corpus="c", first=first, last=last),)}
        splits |= {name: (PartSettings(corpus="c"),) for name in ("dev", "test")}
        words = values.pop("words", "spaces")
        words = dict.fromkeys(("source", "target"), WordsSettings(kind=words)) if isinstance(words, str) else words
        return DatasetSettings(
            name="bench", description="", licence="", citation="", source="cs", target="en", recipe="small",
            corpora={"c": corpus}, splits=values.pop("splits", splits), words=words,
            segmentation=SegmentationSettings(kind="words", size=10), **values,
        )  # fmt: skip

    def raw(self, split: str) -> Path:
        return self.folder / "raw" / f"{split}.parquet"

    def read(self, dataset: DatasetSettings, split: str = "train", processes: int = 1) -> tuple[list[dict], dict]:
        report = self.raw(split).with_suffix(".json")
        read_split(
            ReadingSettings.of(dataset, split), dataset=dataset.name, split=split, downloads=self.folder / "downloads",
            output=self.raw(split), report=report, processes=processes,
        )  # fmt: skip
        return list(read_rows(self.raw(split))), read_json(report)

    def filter(self, dataset: DatasetSettings, split: str = "train", **values: Any) -> tuple[list[dict], dict]:
        output = self.folder / "corpus" / f"{split}.parquet"
        others = {name: self.raw(name) for name in dataset.splits if name != split and self.raw(name).exists()}
        report = output.with_suffix(".json")
        filter_split(
            FilteringSettings.of(dataset, split), dataset=dataset.name, raw=self.raw(split), other_raws=others,
            output=output, report=report, **values,
        )  # fmt: skip
        return list(read_rows(output)), read_json(report)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
