"""Measuring the model of a run on a split: its attention, gates and contrastive pairs."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.contrasts import read_contrast_list
from nmtcore.errors import UserError
from nmtcore.experiment.inference import load_run
from nmtcore.experiment.load_examples import load_sources, load_split
from nmtcore.features.sources import MAX_SUBWORDS, long_pairs
from nmtcore.inference.attention import load_observed_bundle, write_attention
from nmtcore.inference.bundle import Bundle, load_bundle
from nmtcore.inference.schemas import ATTENTION_SCHEMA, write_contrast_scores
from nmtcore.inference.scoring import gate_norms, score_contrasts, write_gates
from nmtcore.inference.search import translate_examples
from nmtcore.layout import file_name
from nmtcore.parquet import row_writer


@dataclass(frozen=True, kw_only=True)
class ModelOnSplit:
    """The model of a run, and the split on which it is measured."""

    run: RunSettings
    model: Path
    """The folder of the bundle."""
    features: Path
    """The folder of the data set's features."""
    split: str
    device: str
    threads: int

    def load(self, *, observed: bool = False) -> Bundle:
        """Load the model, `observed` to record its attention."""
        torch.set_num_threads(self.threads)
        return load_run(self.run, self.model, self.device, load=load_observed_bundle if observed else load_bundle)


def measure_attention(measured: ModelOnSplit, *, sentences: int, output: Path) -> None:
    """Write the attention of a run on the first `sentences` of a split as `ATTENTION_SCHEMA`.

    It is the attention in the encoder, if that has heads, and the attention to the source while the best translation is
    generated; `id` is that of the pair. The weights are rounded (`write_attention`).
    """
    run, bundle = measured.run, measured.load(observed=True)
    sources = load_sources(run, bundle.transforms, measured.features, measured.split, sentences=sentences)
    examples = sources.examples
    translations = translate_examples(bundle.model, examples, bundle.search_settings(run.decoding), scores=False)
    with row_writer(output, ATTENTION_SCHEMA) as writer:
        write_attention(writer, bundle, examples, [hypotheses[0].tokens for hypotheses in translations])


def measure_gates(measured: ModelOnSplit, *, tags: Path | None, output: Path) -> None:
    """Write the gate norms of a run on the references of a split as `GATES_SCHEMA`.

    `tags` is the annotation of the target side, if there is any. Very long pairs are left out.
    """
    run, split, bundle = measured.run, measured.split, measured.load()
    pairs = load_split(run, measured.features, split, stop=run.sentences.of(split))
    long = long_pairs(pairs)
    for id in pairs.id[long].tolist():
        print(f"{split}, line {id + 1}: a side has more than {MAX_SUBWORDS:,} subwords: left out.")
    pairs, rows = bundle.transforms.for_translation(pairs), np.delete(np.arange(len(pairs)), long)
    tokens = measured.features / file_name("tokens", split=split, side="target")
    norms = dict(zip(rows.tolist(), gate_norms(bundle.model, pairs.take(rows)), strict=True))
    write_gates(output, pairs, norms, bundle.target_vocabulary, tokens=tokens, tags=tags)


def measure_contrasts(measured: ModelOnSplit, *, contrasts: Path, output: Path) -> None:
    """Score the contrastive pairs that `contrasts` lists of a split, and write them as `CONTRAST_SCORES_SCHEMA`.

    The scale's number of test sentences counts sources. Raises `UserError` if the features lack sentence pairs of the
    list, or if one is very long.
    """
    run, split, bundle = measured.run, measured.split, measured.load()
    pairs = read_contrast_list(contrasts, entries=run.sentences.of(split))
    examples = load_split(run, measured.features, split, stop=1 + max((pair.wrong for pair in pairs), default=-1))
    if examples.id.tolist() != list(range(len(examples))) or len(examples) <= pairs[-1].wrong:
        raise UserError(
            f"{contrasts} lists sentence pairs that the features of {split} lack: delete the older ones and run the "
            "workflow again."
        )
    for id in examples.id[long_pairs(examples)].tolist():
        raise UserError(f"{split}, sentence pair {id}: a side has more than {MAX_SUBWORDS:,} subwords: shorten it.")
    examples = bundle.transforms.for_translation(replace(examples, target=replace(examples.target, features={})))
    write_contrast_scores(output, score_contrasts(bundle.model, examples, pairs))
