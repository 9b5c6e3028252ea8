"""Translating the test splits and parsing the gold treebanks of a run, into files from which scores are computed."""

from collections.abc import Mapping
from pathlib import Path

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.errors import explain_os_errors
from nmtcore.evaluation.scores import output_files
from nmtcore.experiment.load_examples import load_sources
from nmtcore.experiment.output import TextOutput
from nmtcore.files import write_lines
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import parse_examples
from nmtcore.inference.parse_files import write_parses
from nmtcore.inference.translate import translate_and_parse
from nmtcore.model.device import choose_device


def translate_tests(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    corpora: Mapping[str, Path],
    hypotheses: Path,
    device: str,
    threads: int,
) -> None:
    """Translate every test split of a run, and parse it if the system parses, in one process.

    Write the `output_files` of the folder `hypotheses`, with references from the corpus files `corpora`, by split.
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    output = TextOutput(run, bundle.target_vocabulary, bundle.target_segmenter, bundle.transforms)
    with explain_os_errors(hypotheses):
        hypotheses.mkdir(parents=True, exist_ok=True)
    for split in run.tests:
        examples = load_sources(run, bundle.transforms, features, split)
        translations, parses = translate_and_parse(bundle.model, examples, run.decoding)
        files = output_files(hypotheses, split)
        write_lines(files.translations, [output.text(nbest[0]) for nbest in translations])
        write_lines(files.references, output.references(corpora[split], len(examples)))
        if parses is not None:
            write_parses(files.parses, examples.id, parses)


def parse_gold(run: RunSettings, *, model: Path, features: Path, parses: Path, device: str, threads: int) -> None:
    """Parse every gold treebank of a run in one process, and write {split}.parquet into the folder `parses`."""
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    with explain_os_errors(parses):
        parses.mkdir(parents=True, exist_ok=True)
    for split in run.gold:
        examples = load_sources(run, bundle.transforms, features, split)
        trees = parse_examples(bundle.model, examples, batch_sentences=run.decoding.batch_sentences)
        write_parses(output_files(parses, split).parses, examples.id, trees)
