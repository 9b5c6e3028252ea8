"""Loading the examples of a run's splits, and the label vocabularies of its trees."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nmtcore.annotation.labels import read_labels
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.features.examples import (
    Examples,
    LinearisedParses,
    check_counts,
    check_ids,
    concatenate,
    group_by_annotator,
    load_examples,
    load_linearised_parses,
)
from nmtcore.features.mapped import KEY_DIGITS, NotWritable, map_blocks, map_examples
from nmtcore.features.schema import labels_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.layout import file_name
from nmtcore.parquet import ROWS_PER_GROUP, content_key, row_count

MAX_BLOCKS = 50
"""Pairs are transformed in at most this many blocks: fewer need more memory, more open the files more often."""
PAIRS_PER_MAPPED_BLOCK = 500_000
"""The size of a block if transformed examples do not stay in memory."""


def load_split(
    run: RunSettings, folder: Path, split: str, *, start: int = 0, stop: int | None = None, target: bool = True
) -> Examples:
    """Load the pairs start..stop-1 of a split, before any transform, with the features that a run reads.

    Targets are loaded if `target` is true and the split has them.
    """
    target = target and "target" in run.sides_of(split)
    return load_examples(folder, split, features=run.split_features(split), start=start, stop=stop, target=target)


def load_training(
    run: RunSettings,
    transforms: Transforms,
    folder: Path,
    split: str,
    *,
    map_from: int | None = None,
    log: Callable[[str], None] = print,
) -> Examples:
    """Load and transform the examples of a split that a run trains on or validates with.

    The scale's limit counts sentence pairs, even if each yields two examples. If there are at least `map_from` pairs,
    the examples are mapped into memory; `log` is told what that takes.
    """
    stop, tokens = run.sentences.of(split), folder / file_name("tokens", split=split, side="source")
    if map_from is not None and _is_large(tokens, stop, map_from):
        try:
            return _map_training(run, transforms, folder, split, log)
        except NotWritable as error:
            log(f"{error}: features are loaded into memory instead.")
    if not run.transforms:
        return load_split(run, folder, split, stop=stop)
    return concatenate(_transformed_blocks(run, transforms, folder, split))


def _map_training(
    run: RunSettings, transforms: Transforms, folder: Path, split: str, log: Callable[[str], None]
) -> Examples:
    """Map the examples of a split; each choice of transforms, features and pairs has a folder of its own."""
    stop, features = run.sentences.of(split), run.split_features(split)
    if not run.transforms:
        return map_examples(
            folder, split, features=features, stop=stop, target="target" in run.sides_of(split), log=log
        )
    choice = _checksum([run_to_json(run)["transforms"], features, run.linearised_by, stop])
    contents = [content_key(folder / name) for name in run.feature_files(split)]
    key = _checksum([choice, transforms.key, contents])[:KEY_DIGITS]
    return map_blocks(
        folder / file_name("mapped") / f"{split}.{'_'.join(run.transforms)}.{choice[:8]}.{key}",
        list(transforms.for_training(*_load_block(run, folder, split, 0, 0)).columns),
        lambda: _transformed_blocks(run, transforms, folder, split, most=PAIRS_PER_MAPPED_BLOCK),
        log=log,
    )


def _checksum(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _transformed_blocks(
    run: RunSettings, transforms: Transforms, folder: Path, split: str, *, most: int | None = None
) -> Iterator[Examples]:
    """Yield a split transformed block by block; a block comes from at most `most` pairs."""
    for block in _blocks(_count_pairs(run, folder, split), most=most):
        yield transforms.for_training(*_load_block(run, folder, split, *block))


def _is_large(tokens: Path, stop: int | None, least: int) -> bool:
    """Say whether a run reads at least so many rows of a file of tokens."""
    return (stop is None or stop >= least) and row_count(tokens) >= least


def _blocks(pairs: int, *, most: int | None = None) -> list[tuple[int, int]]:
    """Divide pairs into blocks (start, stop) of whole row groups; return one empty block if there are no pairs."""
    groups = math.ceil(math.ceil(pairs / MAX_BLOCKS) / ROWS_PER_GROUP)
    groups = groups if most is None else min(groups, most // ROWS_PER_GROUP)
    size = ROWS_PER_GROUP * max(1, groups)
    return [(start, min(start + size, pairs)) for start in range(0, max(pairs, 1), size)]


def _count_pairs(run: RunSettings, folder: Path, split: str) -> int:
    """Count the pairs of a split that a run reads. Raises `UserError` if the split's files have different counts."""
    limit, (first, *others) = run.sentences.of(split), (folder / name for name in run.feature_files(split))
    counts = {path: row_count(path) if limit is None else min(limit, row_count(path)) for path in (first, *others)}
    for path in others:
        check_counts(counts[first], counts[path], first, path)
    return counts[first]


def _load_block(
    run: RunSettings, folder: Path, split: str, start: int, stop: int
) -> tuple[Examples, LinearisedParses | None]:
    """Load the pairs start..stop-1, and the linearised parses of their sources if a transform needs them."""
    pairs, file = load_split(run, folder, split, start=start, stop=stop), run.linearised_parses_file(split)
    if file is None:
        return pairs, None
    ids, linearised_parses = load_linearised_parses(folder / file, start=start, stop=stop)
    check_ids(pairs.id, ids, folder / file_name("tokens", split=split, side="source"), folder / file, start)
    return pairs, linearised_parses


def load_sources(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load the examples of a split that a run translates or parses: one example per pair, without targets."""
    return transforms.for_translation(load_split(run, folder, split, stop=run.sentences.of(split), target=False))


def load_run_labels(run: RunSettings, files: Mapping[str, Mapping[str, str | Path]]) -> dict[str, dict[str, list[str]]]:
    """Read the label vocabularies of the features that a run reads, by side, from the files of their annotators.

    `files` has the paths by side and annotator.
    """
    labels: dict[str, dict[str, list[str]]] = {}
    for side, annotators in run.features.items():
        labels[side] = {}
        for annotator, features in group_by_annotator(annotators).items():
            vocabularies = read_labels(Path(files[side][annotator]))
            labels[side] |= {name: vocabularies[name] for name in labels_of(features)}
    return labels
