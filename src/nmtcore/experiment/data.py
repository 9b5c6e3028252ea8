"""What a run reads: the examples of a split, and the label vocabularies of its trees."""

from collections.abc import Mapping
from pathlib import Path

from nmtcore.annotation.labels import read_labels
from nmtcore.config.runs import RunSettings
from nmtcore.features.examples import Examples, by_annotator, check_ids, load_examples
from nmtcore.features.linearised import load_linearised
from nmtcore.features.schema import labels_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.layout import file_name


def load_split(run: RunSettings, folder: Path, split: str, *, target: bool = True) -> Examples:
    """Load what a run reads of a split, before any transform; the targets only where they are asked for and there."""
    target = target and "target" in run.sides_of(split)
    limit = run.sentences.of(split)
    return load_examples(folder, split, syntax=run.syntax_of(split), limit=limit, target=target)


def load_training(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load what a run trains on, or validates with, of a split.

    A scale's limit counts sentence pairs, even if each yields two examples.
    """
    pairs, file = load_split(run, folder, split), run.linearised_file(split)
    if file is None:
        return transforms.training(pairs)
    ids, linearised = load_linearised(folder / file, limit=run.sentences.of(split))
    check_ids(pairs.id, ids, folder / file_name("tokens", split=split, side="source"), folder / file)
    return transforms.training(pairs, linearised)


def load_sources(run: RunSettings, transforms: Transforms, folder: Path, split: str) -> Examples:
    """Load what a run translates or parses of a split: one example per pair, without targets."""
    return transforms.translation(load_split(run, folder, split, target=False))


def run_labels(run: RunSettings, files: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Read the label vocabularies of what a run reads, by side; each feature's from the file of its annotator.

    `files` gives their paths by side and annotator.
    """
    labels: dict[str, dict[str, list[str]]] = {}
    for side, annotators in run.syntax.items():
        labels[side] = {}
        for annotator, features in by_annotator(annotators).items():
            found = read_labels(Path(files[side][annotator]))
            labels[side] |= {name: found[name] for name in labels_of(features)}
    return labels
