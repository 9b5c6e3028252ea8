"""Loading the examples of a run's splits, and the label vocabularies of its trees."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nmtcore.annotation.labels import read_labels
from nmtcore.config.features import stored_column
from nmtcore.config.runs import RunSettings
from nmtcore.features.examples import (
    Examples,
    LinearisedParses,
    concatenate,
    group_by_file,
    labels_of,
    load_examples,
    load_linearised_parses,
)
from nmtcore.features.sources import MAX_SUBWORDS, Sources, select_sources
from nmtcore.features.transforms.chain import Transforms
from nmtcore.layout import file_name
from nmtcore.parquet import check_ids, row_count

PAIRS_PER_BLOCK = 500_000
"""Pairs are transformed in blocks of this size, a multiple of the rows of a row group."""


def load_split(
    run: RunSettings, folder: Path, split: str, *, start: int = 0, stop: int | None = None, target: bool = True
) -> Examples:
    """Load the pairs start..stop-1 of a split, before any transform, with the features that a run reads.

    Targets are loaded if `target` is true and the split has them.
    """
    target = target and "target" in run.sides_of(split)
    return load_examples(folder, split, features=run.split_features(split), start=start, stop=stop, target=target)


def load_training(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load and transform the examples of a split that a run trains on or validates with.

    The scale's limit counts sentence pairs, even if each yields two examples.
    """
    rows, limit = row_count(folder / run.feature_files(split)[0]), run.sentences.of(split)
    pairs = rows if limit is None else min(rows, limit)

    def blocks() -> Iterator[Examples]:
        for start in range(0, max(pairs, 1), PAIRS_PER_BLOCK):
            yield transforms.for_training(*_load_block(run, folder, split, start, min(start + PAIRS_PER_BLOCK, pairs)))

    return concatenate(blocks())


def _load_block(
    run: RunSettings, folder: Path, split: str, start: int, stop: int
) -> tuple[Examples, LinearisedParses | None]:
    """Load the pairs start..stop-1, and the linearised parses of their sources if a transform needs them."""
    pairs, file = load_split(run, folder, split, start=start, stop=stop), run.linearised_parses_file(split)
    if file is None:
        return pairs, None
    ids, linearised_parses = load_linearised_parses(folder / file, start=start, stop=stop)
    files = folder / file_name("tokens", split=split, side="source"), folder / file
    check_ids(pairs.id, ids, files=files, rows=(start, start))
    return pairs, linearised_parses


def load_sources(
    run: RunSettings,
    transforms: Transforms,
    folder: Path,
    split: str,
    *,
    sentences: int | None = None,
    log: Callable[[str], None] = print,
) -> Sources:
    """Load the sources of a split, or its first `sentences`, that a run translates or parses.

    `log` gets the lines that are left out since they are too long.
    """
    limits = [limit for limit in (run.sentences.of(split), sentences) if limit is not None]
    pairs = load_split(run, folder, split, stop=min(limits, default=None), target=False)
    sources = select_sources(pairs, transforms)
    for row in sources.long:
        log(f"{split}, line {sources.ids[row] + 1}: left out, since it has more than {MAX_SUBWORDS:,} subwords.")
    return sources


def load_run_labels(run: RunSettings, files: Mapping[str, Mapping[str, str | Path]]) -> dict[str, dict[str, list[str]]]:
    """Read the label vocabularies of the features that a run reads, by side, from the files of their annotators.

    `files` has the paths by side and what they are named after.
    """
    labels: dict[str, dict[str, list[str]]] = {}
    for side, annotators in run.features.items():
        labels[side] = {}
        for source, features in group_by_file(annotators).items():
            columns = {name: stored_column(name) for name in labels_of(features)}
            vocabularies = read_labels(Path(files[side][source]), list(columns.values()))
            labels[side] |= {name: vocabularies[column] for name, column in columns.items()}
    return labels
