"""A results folder with one test, its trees, and files of attention, gates and parses of runs, for tests of figures."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from evaluation.test_sharpness import map_row
from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.evaluation.scores import make_output_files
from nmtcore.inference.schemas import ATTENTION_SCHEMA, Parse, write_parses
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation, failed

SENTENCES = [
    ["too", "short"],
    ["no", "tree", "in", "this", "sentence", ",", "it", "failed"],
    ["A", "<b>", "&", "the", '"dog"', "sleep", "s", "."],
    ["the", "next", "sentence", "is", "not", "chosen", "by", "anything"],
]
IDS = [3, 4, 7, 9]
HEADS = [4, 1, 2, 5, 6, 0, 6, 6]
LABELS = ["det", "<l>", "cc", "det", "nsubj", "root", "dep", "punct"]
UPOS = ["DET", "NOUN", "CCONJ", "DET", "NOUN", "VERB", "X", "PUNCT"]


class AttentionRuns:
    """A results folder at the scale quick, with the test of the data set `d`."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(results=str(folder / "results"), scales=("quick",))
        self.outputs = {"json": folder / "figure.json", "figure": folder / "figure.svg"}
        names = {"dataset": "d", "split": "test"}
        self.pairs = write_corpus(Path(self.layout.path("pairs", **names)), SENTENCES, ids=IDS)
        tree = Annotation(head=HEADS, deprel=LABELS, upos=UPOS)
        short = Annotation(head=[2, 0], deprel=["a", "b"], upos=["X", "X"])
        annotations = [short, failed("too hard"), tree, tree]
        self.trees = Path(self.layout.path("annotation", **names, annotator="existing", side="source"))
        rows = [annotation_row(id, annotation) for id, annotation in zip(IDS, annotations, strict=True)]
        write_rows(self.trees, ANNOTATION_SCHEMA, rows)

    def path(self, file_type: str, system: str, seed: int = 1) -> Path:
        names = {"scale": "quick", "dataset": "d", "system": system, "seed": seed, "split": "test"}
        return Path(self.layout.path(file_type, **names))

    def write_attention(self, system, *, layers=2, selection=False, ids=tuple(IDS), seed=1) -> Path:
        """Write random attention: of two heads in each layer, of the decoder, and of the heads of words if selected."""
        random, rows, target = np.random.default_rng(seed), [], ["ein", "<h&>", "</s>"]
        for id in ids:
            keys = [*SENTENCES[IDS.index(id)], "</s>"]
            maps = [(keys, layer, head, "encoder") for layer in range(layers) for head in range(2)]
            maps += [(target, 0, 0, "cross"), *[(keys, None, None, "head_selection")] * selection]
            for queries, *names in maps:
                weights = np.round(random.dirichlet(np.full(len(keys), 0.3), len(queries)), 4).tolist()
                rows.append({**map_row(id, names[0], names[1], weights, names[2]), "queries": queries, "keys": keys})
        path = self.path("attention", system, seed)
        write_rows(path, ATTENTION_SCHEMA, rows)
        return path

    def write_parses(self, system, heads, *, ids) -> Path:
        """Write the same heads as the parse of every sentence."""
        folder = self.path("gold_parses", system)
        write_parses(make_output_files(folder).parses, ids, [Parse(argmax=heads, one_root=heads)] * len(ids))
        return folder

    def texts(self) -> list[str]:
        """Return the texts of the figure, which must be well-formed."""
        root = ElementTree.fromstring(self.outputs["figure"].read_text(encoding="utf-8"))
        tags = {f"{{http://www.w3.org/2000/svg}}{name}" for name in ("text", "tspan")}
        return [element.text for element in root.iter() if element.tag in tags and element.text]
