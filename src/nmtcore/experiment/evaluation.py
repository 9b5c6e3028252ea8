"""Translating, parsing and scoring what a trained model was not trained on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.errors import explained
from nmtcore.evaluation.attachment import attachment, is_punctuation
from nmtcore.evaluation.lines import run_lines
from nmtcore.experiment.data import load_split
from nmtcore.experiment.output import Output
from nmtcore.features.tasks import translations
from nmtcore.files import write_json, write_lines
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import WAYS, Parse, parse_examples, write_parses
from nmtcore.inference.translate import translate_and_parse
from nmtcore.model.device import choose_device
from nmtcore.parquet import read_rows


def evaluate(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    hypotheses: Path,
    scores: Path,
    device: str,
    threads: int,
) -> list[str]:
    """Translate, parse and score every test split of a run, with one process; return the scores as lines.

    Writes {split}.txt and, where the system parses, {split}.parquet into the folder `hypotheses`, and all numbers into
    `scores` (JSON): bleu, and uas where the system parses, by split.
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    output = Output(run, bundle.target_vocabulary, bundle.target_segmenter)
    result = _named(run) | {"bleu": {}, **({"uas": {}} if run.parses else {})}
    with explained(hypotheses):
        hypotheses.mkdir(parents=True, exist_ok=True)
    for split in run.tests:
        examples = load_split(run, features, split, target=False)
        examples = examples.take(translations(examples.id))
        found, parses = translate_and_parse(bundle.model, examples, run.decoding)
        texts = [output.text(best[0]) for best in found]
        write_lines(hypotheses / f"{split}.txt", texts)
        result["bleu"][split] = output.scores(texts, output.references(corpora[split], len(examples)))
        if parses is not None:
            write_parses(hypotheses / f"{split}.parquet", examples.id, parses)
            result["uas"][split] = score_parses(parses, corpora[split], trees.get(split), roots=run.evaluation.roots)
    write_json(scores, result)
    return run_lines(result, scores.parent)


def _named(run: RunSettings) -> dict[str, Any]:
    """Say whose scores a file has."""
    return {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}


def evaluate_gold(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    parses: Path,
    scores: Path,
    device: str,
    threads: int,
) -> list[str]:
    """Parse every gold treebank of a run and compare its trees with the treebank's, `trees`; return scores as lines.

    Writes {split}.parquet into the folder `parses`, and gold.uas by split into `scores` (JSON).
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    found = {}
    with explained(parses):
        parses.mkdir(parents=True, exist_ok=True)
    for split in run.gold:
        examples = load_split(run, features, split)
        predicted = parse_examples(bundle.model, examples, batch_sentences=run.decoding.batch_sentences)
        write_parses(parses / f"{split}.parquet", examples.id, predicted)
        found[split] = score_parses(predicted, corpora[split], trees[split], roots=run.evaluation.roots)
    result = _named(run) | {"gold.uas": found}
    write_json(scores, result)
    return run_lines(result, scores.parent)


def score_parses(
    parses: Sequence[Parse], corpus: Path, trees: Path | None, *, roots: Literal["one", "many"] = "one"
) -> dict[str, Any]:
    """Score predicted heads against a parser's or a treebank's trees of the source side: argmax and spanning trees.

    `spanning_tree` is the one with as many `roots` as the data set's trees have. Without `trees` the right head of a
    word is the previous one, and of the first word itself (`diagonalparse`).
    """
    words = [row["source_words"] for row in read_rows(corpus, columns=["source_words"], stop=len(parses))]
    if trees is None:
        gold = [[max(1, word) for word in range(len(sentence))] for sentence in words]
        marks = [is_punctuation(sentence) for sentence in words]
    else:
        rows = list(read_rows(trees, columns=["head", "upos"], stop=len(parses)))
        gold = [row["head"] for row in rows]
        marks = [is_punctuation(sentence, row["upos"]) for sentence, row in zip(words, rows, strict=True)]
    ways = {"argmax": "argmax"}
    if trees is not None:
        ways["spanning_tree"] = WAYS[roots]
        ways |= {"one_root": "one_root", "many_roots": "many_roots"}
    return {name: attachment([_heads(getattr(p, way)) for p in parses], gold, marks) for name, way in ways.items()}


def _heads(heads: Any) -> list[int]:
    return [int(head) for head in heads]
