"""What a run reads: the examples of a split, and the label vocabularies of its trees."""

import math
from collections.abc import Mapping
from pathlib import Path

from nmtcore.annotation.labels import read_labels
from nmtcore.config.runs import RunSettings
from nmtcore.features.examples import (
    Examples,
    check_counts,
    check_ids,
    concatenate,
    group_by_annotator,
    load_examples,
)
from nmtcore.features.linearised_parses import LinearisedParses, load_linearised_parses
from nmtcore.features.schema import labels_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.layout import file_name
from nmtcore.parquet import ROWS_PER_GROUP, row_count

BLOCKS = 50
"""In how many blocks pairs are transformed at most: fewer hold more beside the result, more open the files again."""


def load_split(
    run: RunSettings, folder: Path, split: str, *, start: int = 0, stop: int | None = None, target: bool = True
) -> Examples:
    """Load the pairs start..stop-1 of what a run reads of a split, before any transform.

    The targets are read only where they are asked for and there.
    """
    target = target and "target" in run.sides_of(split)
    return load_examples(folder, split, features=run.split_features(split), start=start, stop=stop, target=target)


def load_training(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load what a run trains on, or validates with, of a split.

    A scale's limit counts sentence pairs, even if each yields two examples.
    """
    if not run.transforms:
        return load_split(run, folder, split, stop=run.sentences.of(split))
    blocks = _blocks(_count_pairs(run, folder, split))
    return concatenate(transforms.for_training(*_load_block(run, folder, split, *block)) for block in blocks)


def _blocks(pairs: int) -> list[tuple[int, int]]:
    """Divide pairs into blocks of whole row groups, each (start, stop); no pairs are one empty block."""
    size = ROWS_PER_GROUP * max(1, math.ceil(pairs / BLOCKS / ROWS_PER_GROUP))
    return [(start, min(start + size, pairs)) for start in range(0, max(pairs, 1), size)]


def _count_pairs(run: RunSettings, folder: Path, split: str) -> int:
    """Count the pairs that a run reads of a split, which all its files must have."""
    limit, (first, *others) = run.sentences.of(split), (folder / name for name in run.feature_files(split))
    counts = {path: row_count(path) if limit is None else min(limit, row_count(path)) for path in (first, *others)}
    for path in others:
        check_counts(counts[first], counts[path], first, path)
    return counts[first]


def _load_block(
    run: RunSettings, folder: Path, split: str, start: int, stop: int
) -> tuple[Examples, LinearisedParses | None]:
    """Load the pairs start..stop-1, with the parses of their sources where a transform asks for them."""
    pairs, file = load_split(run, folder, split, start=start, stop=stop), run.linearised_parses_file(split)
    if file is None:
        return pairs, None
    ids, linearised_parses = load_linearised_parses(folder / file, start=start, stop=stop)
    check_ids(pairs.id, ids, folder / file_name("tokens", split=split, side="source"), folder / file, start)
    return pairs, linearised_parses


def load_sources(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load what a run translates or parses of a split: one example per pair, without targets."""
    return transforms.for_translation(load_split(run, folder, split, stop=run.sentences.of(split), target=False))


def run_labels(run: RunSettings, files: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Read the label vocabularies of what a run reads, by side; each feature's from the file of its annotator.

    `files` gives their paths by side and annotator.
    """
    labels: dict[str, dict[str, list[str]]] = {}
    for side, annotators in run.features.items():
        labels[side] = {}
        for annotator, features in group_by_annotator(annotators).items():
            found = read_labels(Path(files[side][annotator]))
            labels[side] |= {name: found[name] for name in labels_of(features)}
    return labels
