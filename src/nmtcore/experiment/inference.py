"""What the model of a run makes of a split, into files: translations, parses, attention, gates and contrasts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.corpus.contrasts import read_contrast_list
from nmtcore.errors import UserError
from nmtcore.evaluation.counts import read_counts
from nmtcore.evaluation.metrics import score_of
from nmtcore.evaluation.outputs import read_references
from nmtcore.evaluation.scores import make_output_files, score_tests
from nmtcore.evaluation.summary import DEV
from nmtcore.experiment.load_examples import load_sources, load_split
from nmtcore.features.sources import MAX_SUBWORDS, long_pairs
from nmtcore.features.transforms.chain import Transforms
from nmtcore.files import write_json, write_lines
from nmtcore.inference.attention import observed, write_attention
from nmtcore.inference.batches import device_of
from nmtcore.inference.bundle import Bundle, load_bundle, new_model, to_device
from nmtcore.inference.parse import parse_examples, parses_of_all, translate_and_parse
from nmtcore.inference.schemas import ATTENTION_SCHEMA, write_contrast_scores, write_parses, write_predicted_tags
from nmtcore.inference.scoring import gate_norms, predict_tags, score_contrasts, write_gates
from nmtcore.inference.search import translate_examples
from nmtcore.inference.text import TextOutput
from nmtcore.layout import file_name
from nmtcore.model.device import choose_device
from nmtcore.parquet import row_writer
from nmtcore.planning.training import path_of_run
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class ModelOnSplit:
    """The model of a run, and the split that it reads."""

    run: RunSettings
    model: Path
    """The folder of the bundle."""
    features: Path
    """The folder of the data set's features."""
    split: str
    device: str
    threads: int

    def load(self) -> Bundle:
        """Load the model. Raises `UserError` if it was trained on another data set."""
        torch.set_num_threads(self.threads)
        bundle = load_bundle(self.model, choose_device(self.device))
        if bundle.run.dataset != self.run.dataset:
            raise UserError(
                f"The model in {self.model} was trained on the data set {bundle.run.dataset}, not on "
                f"{self.run.dataset}: delete it and run the workflow again."
            )
        return bundle


def scored_output(run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter, transforms: Transforms) -> TextOutput:
    """Return what makes the text that is scored, of which `read_references` has references in the same form."""
    return TextOutput(run, vocabulary, segmenter, transforms, detokenised=run.evaluation.text == "detokenised")


def translate_split(measured: ModelOnSplit, *, corpus: Path, hypotheses: Path) -> None:
    """Translate a test split of a run; parse it if the system parses, and tag the translations if it predicts tags.

    Write the `output_files` of the folder `hypotheses`, with references from the file `corpus`. If
    `evaluation.greedy_dev` asks for it, dev is translated by greedy search too, as in validation.
    """
    run, split, bundle = measured.run, measured.split, measured.load()
    output = scored_output(run, bundle.vocabularies["target"], bundle.segmenters["target"], bundle.transforms)
    files = make_output_files(hypotheses)
    sources = load_sources(run, bundle.transforms, measured.features, split)
    examples = sources.examples
    translations, parses = translate_and_parse(bundle.model, examples, bundle.search_settings(run.decoding))
    best = [nbest[0].tokens for nbest in translations]
    write_lines(files.translations, output.texts(sources, best))
    write_lines(files.references, read_references(run, corpus, len(sources)))
    if parses is not None:
        every = parses_of_all(sources, parses, to_root=bundle.model.parser.points_to_root)
        write_parses(files.parses, sources.ids, every)
    if run.predicted_tags is not None:
        tagged = sources.of_all(predict_tags(bundle, examples, best), [])
        write_predicted_tags(files.predicted_tags, sources.ids, tagged)
    if split == DEV and run.evaluation.greedy_dev:
        greedy_settings = bundle.search_settings(replace(run.decoding, beam=1))
        greedy = translate_examples(bundle.model, examples, greedy_settings, scores=False)
        write_lines(files.greedy_translations, output.texts(sources, [nbest[0].tokens for nbest in greedy]))


def score_choice(
    project: Project, *, sweep: Mapping[str, Any], dataset: str, output: Path, device: str, threads: int
) -> list[str]:
    """Choose the trial of a sweep (`planned_choice`) by dev, then translate and score the tests with that alone.

    Writes the choice, and a folder for each of its seeds; returns the scores as lines.
    """
    scores, lines, measure = {}, [], sweep["measure"]
    for trial, folders in sweep["trials"].items():
        files = [Path(folder, file_name("split_counts", split=DEV)) for folder in folders.values()]
        scores[trial] = [read_counts(file, measure, score_of(measure)).corpus_score() for file in files]
    choice = max(scores, key=lambda trial: fmean(scores[trial]))
    write_json(output / file_name("chosen"), {"choice": choice, DEV: scores})
    for seed in map(int, sweep["trials"][choice]):
        run, folder = project.run(dataset, choice, sweep["scale"], seed), output / f"seed{seed}"
        model, features = Path(path_of_run(project, "model", run)), Path(run.feature_folder(project.layout))
        hypotheses = {split: folder / "hypotheses" / split for split in sweep["tests"]}
        for split, translated in hypotheses.items():
            corpus = Path(project.layout.path("pairs", dataset=dataset, split=split))
            reads = {"run": run, "model": model, "features": features, "split": split}
            translate_split(ModelOnSplit(**reads, device=device, threads=threads), corpus=corpus, hypotheses=translated)
        settings = replace(ScoringSettings.of_tests(run), splits=tuple(hypotheses), parsed=())
        files = {"hypotheses": hypotheses, "scores": folder / "scores.json", "counts": folder / "counts"}
        lines += score_tests(settings, corpora={}, trees={}, **files)
    return [f"{output}: of {len(scores)} trials, dev chooses {choice}", *lines]


def parse_gold(measured: ModelOnSplit, *, parses: Path) -> None:
    """Parse a gold treebank of a run, and write the parses of `output_files` into a folder.

    If the run's trees are induced, its untrained model parses the treebank as well.
    """
    run, bundle = measured.run, measured.load()
    models = {"parses": bundle.model}
    if run.tree_comparison == "induced":
        untrained = new_model(bundle.run, bundle.vocabularies, bundle.labels, seed=run.seed)
        models["untrained_parses"] = to_device(untrained, device_of(bundle.model))
    files = make_output_files(parses)
    sources = load_sources(run, bundle.transforms, measured.features, measured.split)
    for file_type, translation_model in models.items():
        trees = parse_examples(translation_model, sources.examples, batch_sentences=run.decoding.batch_sentences)
        every = parses_of_all(sources, trees, to_root=translation_model.parser.points_to_root)
        write_parses(getattr(files, file_type), sources.ids, every)


def measure_attention(measured: ModelOnSplit, *, sentences: int, output: Path) -> None:
    """Write the attention of a run on the first `sentences` of a split as `ATTENTION_SCHEMA`.

    It is the attention in the encoder, if that has heads, and the attention to the source while the best translation is
    generated; `id` is that of the pair. The weights are rounded (`write_attention`).
    """
    run, bundle = measured.run, observed(measured.load())
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
    write_gates(output, pairs, norms, bundle.vocabularies["target"], tokens=tokens, tags=tags)


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
