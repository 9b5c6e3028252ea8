"""A sample of every format, in `samples/FORMAT.ROLE`: all have the same pairs."""

from dataclasses import replace
from pathlib import Path

import pytest

from nmtcore.config.corpora import FORMATS, PartSettings

SAMPLES = Path(__file__).with_name("samples")
PAIRS = [("Pes spí", "The dog sleeps"), ("Žena čte knihu", "The woman reads a book")]
READ = {
    "copied": [(source, source) for source, _ in PAIRS],
    "contrastive": [*PAIRS[:1], ("Pes spí", "The dog sleep"), *PAIRS[1:], ("Žena čte knihu", "The woman read a book")],
}
"""What formats without plain pairs give."""


@pytest.mark.parametrize("name", [name for name, options in sorted(FORMATS.items()) if options.roles])
def test_every_format_reads_its_sample(name, bench):
    """A new format needs a sample."""
    files = {role: SAMPLES / f"{name}.{role}" for role in FORMATS[name].roles}
    assert all(path.exists() for path in files.values()), f"tests/corpus/samples has no {' or '.join(map(str, files))}"
    corpus = bench.corpus(name, **{role: bench.file(path.name, path.read_bytes()) for role, path in files.items()})
    dataset, split = bench.dataset(bench.plain("a\n", "b\n")), "contrast_x" if FORMATS[name].contrastive else "train"
    splits = dataset.splits | {split: (PartSettings(corpus="sample"),)}
    dataset = replace(dataset, corpora=dataset.corpora | {"sample": corpus}, splits=splits)
    rows, report = bench.read(dataset, split)
    assert [(row["source"], row["target"]) for row in rows] == READ.get(name, PAIRS)
    assert not report["dropped"]
