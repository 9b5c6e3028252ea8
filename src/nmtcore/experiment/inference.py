"""Translating a test split and parsing a gold treebank of a run, into files from which scores are computed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_references
from nmtcore.evaluation.scores import make_output_files
from nmtcore.evaluation.summary import DEV
from nmtcore.experiment.load_examples import load_sources
from nmtcore.features.transforms.chain import Transforms
from nmtcore.files import write_lines
from nmtcore.inference.batches import device_of
from nmtcore.inference.bundle import Bundle, load_bundle, new_model, to_device
from nmtcore.inference.parse import join_parses, parse_examples, translate_and_parse
from nmtcore.inference.schemas import write_parses, write_predicted_tags
from nmtcore.inference.search import translate_examples
from nmtcore.inference.tags import predict_tags
from nmtcore.inference.text import TextOutput
from nmtcore.model.device import choose_device
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


def scored_output(run: RunSettings, vocabulary: Vocabulary, segmenter: Segmenter, transforms: Transforms) -> TextOutput:
    """Return what makes the text that is scored, of which `read_references` has references in the same form."""
    return TextOutput(run, vocabulary, segmenter, transforms, detokenised=run.evaluation.text == "detokenised")


def translate_split(
    run: RunSettings,
    *,
    split: str,
    model: Path,
    features: Path,
    corpus: Path,
    hypotheses: Path,
    device: str,
    threads: int,
) -> None:
    """Translate a test split of a run; parse it if the system parses, and tag the translations if it predicts tags.

    A source without words has an empty translation and an empty parse.

    Write the `output_files` of the folder `hypotheses`, with references from the file `corpus`. If
    `evaluation.greedy_dev` asks for it, dev is translated by greedy search too, as in validation.
    """
    torch.set_num_threads(threads)
    bundle = load_run(run, model, device)
    output = scored_output(run, bundle.target_vocabulary, bundle.target_segmenter, bundle.transforms)
    files = make_output_files(hypotheses)
    sources = load_sources(run, bundle.transforms, features, split)
    examples = sources.examples
    translations, parses = translate_and_parse(bundle.model, examples, bundle.search_settings(run.decoding))
    best = [nbest[0].tokens for nbest in translations]
    write_lines(files.translations, output.texts(sources, best))
    write_lines(files.references, read_references(run, corpus, len(sources)))
    if parses is not None:
        joined = join_parses(sources, parses, to_root=bundle.model.parser.points_to_root)
        write_parses(files.parses, sources.ids, joined)
    if run.predicted_tags is not None:
        tagged = sources.by_sentence(predict_tags(bundle, examples, best))
        write_predicted_tags(files.predicted_tags, sources.ids, map(chain.from_iterable, tagged))
    if split == DEV and run.evaluation.greedy_dev:
        greedy_settings = bundle.search_settings(replace(run.decoding, beam=1))
        greedy = translate_examples(bundle.model, examples, greedy_settings, scores=False)
        write_lines(files.greedy_translations, output.texts(sources, [nbest[0].tokens for nbest in greedy]))


def parse_gold(
    run: RunSettings, *, split: str, model: Path, features: Path, parses: Path, device: str, threads: int
) -> None:
    """Parse a gold treebank of a run, and write the parses of `output_files` into a folder.

    If the run's trees are induced, its untrained model parses the treebank as well.
    """
    torch.set_num_threads(threads)
    bundle = load_run(run, model, device)
    models = {"parses": bundle.model}
    if run.tree_comparison == "induced":
        untrained = new_model(bundle.run, bundle.vocabularies, bundle.labels, seed=run.seed)
        models["untrained_parses"] = to_device(untrained, device_of(bundle.model))
    files = make_output_files(parses)
    sources = load_sources(run, bundle.transforms, features, split)
    for file_type, translation_model in models.items():
        trees = parse_examples(translation_model, sources.examples, batch_sentences=run.decoding.batch_sentences)
        joined = join_parses(sources, trees, to_root=translation_model.parser.points_to_root)
        write_parses(getattr(files, file_type), sources.ids, joined)


def load_run(run: RunSettings, folder: Path, device: str, *, load: Callable[..., Bundle] = load_bundle) -> Bundle:
    """Load the model of a run. Raises `UserError` if the bundle in `folder` was trained on another data set."""
    bundle = load(folder, choose_device(device))
    if bundle.run.dataset != run.dataset:
        raise UserError(
            f"The model in {folder} was trained on the data set {bundle.run.dataset}, not on {run.dataset}: delete it "
            "and run the workflow again."
        )
    return bundle
