"""What a run reads: the examples of a split, and the label vocabularies of its trees."""

from collections.abc import Mapping
from pathlib import Path

from nmtcore.annotation.labels import read_labels
from nmtcore.config.runs import RunSettings
from nmtcore.features.examples import Examples, by_annotator, load_examples
from nmtcore.features.schema import labels_of
from nmtcore.features.tasks import ROWS_OF_A_PAIR, rows_of_first


def load_split(run: RunSettings, folder: Path, split: str, *, target: bool = True) -> Examples:
    """Load what a run reads of a split, the targets only where they are asked for and there.

    A scale's limit counts pairs, also where they stand for two tasks: so systems share what they are compared on.
    """
    target, pairs = target and "target" in run.sides_of(split), run.sentences.of(split)
    if pairs is None or not run.segmentation.parsing:
        return load_examples(folder, split, syntax=run.syntax_of(split), limit=pairs, target=target)
    examples = load_examples(folder, split, limit=ROWS_OF_A_PAIR * pairs, target=target)
    return examples.head(rows_of_first(pairs, examples.id))


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
