"""Damaged treebanks: whatever is read is a tree of its words."""

from pathlib import Path
from random import Random

from campaigns.corpora import WORDS, conllu
from campaigns.damage import damaged_bytes, packed
from campaigns.run import WrongOutput
from corpus.conftest import Bench

from nmtcore.config.corpora import CorpusSettings, PartSettings
from nmtcore.syntax.annotation import tree_fault


def attempt(random: Random, folder: Path) -> str:
    """Read a treebank of one side."""
    bench = Bench(folder)
    texts = [
        f"s{i:04d} {' '.join(random.choices(WORDS, k=random.randrange(6)))}".strip()
        for i in range(random.randrange(12, 24))
    ]
    file = bench.file("trees.conllu", packed(damaged_bytes(conllu(texts), random), random))
    corpus = CorpusSettings(format="conllu", files={"source": (file,)}, options={})
    splits = {name: (PartSettings(corpus="c"),) for name in ("train", "dev", "test", "gold_x")}
    dataset = bench.dataset(corpus, splits=splits, max_bad_lines=random.choice((0, 1, 1000)))
    rows, report = bench.read(dataset, "gold_x")
    for row in rows:
        heads = row["source_annotation"]["head"]
        if len(heads) != len(row["source_words"]) or tree_fault(heads):
            raise WrongOutput(f"{row['source_words']} with heads {heads}")
        if "".join("".join(row["source_words"]).split()) != "".join(row["source"].split()):
            raise WrongOutput(f"{row['source_words']} is not {row['source']!r}")
    return "counted" if report["dropped"] else "clean"
