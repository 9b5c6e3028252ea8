"""Tiny models with random weights, as bundles or in memory."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from factories import build_tiny_model, run_settings, side

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.features import ComponentSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import RecurrentSettings
from nmtcore.features.examples import TOKENS_SCHEMA, Examples, labels_of
from nmtcore.features.transforms.chain import run_vocabularies
from nmtcore.files import write_json
from nmtcore.inference.bundle import FORMAT, MANIFEST, Bundle, save_bundle
from nmtcore.inference.parse import conllu_block, make_parser, parse_sentences
from nmtcore.inference.text import read_text
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.model.losses import TRANSLATION
from nmtcore.parquet import write_rows
from nmtcore.segmentation.learn import learn_pieces
from nmtcore.segmentation.segmenter import TextSegmenter
from nmtcore.segmentation.vocabulary import EOS, Vocabulary

MERGES = ["t h", "th e</w>", "c a", "ca t</w>", "d o", "do g</w>"]
RECURRENT = {"base": "recurrent", "model": RecurrentSettings(width=16)}
"""Settings of a run with the recurrent base."""
UPDATES = 50
"""Of `trained_briefly`."""
PIECES = ["the", "cat", "dog", "ca@@", "do@@", "th@@", *(f"{c}@@" for c in "abcdeghot"), *"abcdeghot.,"]


def write_segmentation(folder: Path, *, of_text: bool = False) -> Path:
    """Write codes for both sides and for each, or models of SentencePiece, and vocabularies."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("codes", "source.codes", "target.codes"):
        (folder / name).write_text("#version: 0.2\n" + "".join(f"{merge}\n" for merge in MERGES))
    entries = PIECES
    if of_text:
        model = learn_pieces(["the cat sat. the dog sat.", "the cab is hot, the cat is bad!!"] * 9, 45)
        for name in ("source", "target"):
            (folder / f"{name}.spm").write_bytes(model)
        learned = TextSegmenter(folder / "source.spm").model
        entries = [learned.id_to_piece(i) for i in range(len(learned))]
    for name in ("source", "target"):
        Vocabulary.of(entries).save(folder / f"{name}.vocab")
    return folder


def write_bundle(
    folder: Path,
    run: RunSettings | None = None,
    *,
    seed: int = 1,
    label_names: Sequence[str] = ("a",),
    train: Callable[..., TranslationModel] = lambda model, vocabulary: model,
) -> Path:
    """Write a bundle of a run; `train` may train its model, of which it also gets the size of the vocabulary."""
    run = run or run_settings()
    of_text = run.segmentation.kind == "sentencepiece"
    segmentation = write_segmentation(folder.parent / "segmentation", of_text=of_text)
    labels = {
        side: {column: [*LABEL_SPECIALS, *label_names] for column in columns}
        for side, features in run.features.items()
        if (columns := labels_of(features))
    }
    size = len(run_vocabularies(run, segmentation, labels)["source"])
    model = train(build_tiny_model(run, vocabulary=size, seed=seed, labels=labels or None), vocabulary=size)
    save_bundle(folder, run=run, model=model, segmentation=segmentation, labels=labels)
    return folder


def fit_checksums(bundle: Path) -> None:
    """Let the checksums of a bundle be those of its files, whatever they hold."""
    files = (path for path in sorted(bundle.iterdir()) if path.name != MANIFEST)
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    write_json(bundle / MANIFEST, {"format": FORMAT, "files": sums})


def trained_briefly(model: TranslationModel, *, vocabulary: int) -> TranslationModel:
    """Train a model to copy its source, until its translations end and differ."""
    sources = random_examples(64 * UPDATES, seed=2, longest=8, vocabulary=vocabulary).source
    pairs = Examples(id=np.arange(len(sources)), source=sources, target=sources)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for rows in np.split(np.arange(len(pairs)), UPDATES):
        batch = make_batch(pairs, rows, tuple(model.components), terms=frozenset({TRANSLATION}))
        loss = model.loss(batch).parts[0]
        optimiser.zero_grad()
        (loss.sum / loss.count).backward()
        optimiser.step()
    return model.eval()


def ending_at_once(model: TranslationModel, **_: Any) -> TranslationModel:
    """Make `</s>` the likeliest token everywhere."""
    with torch.no_grad():
        model.decoder_norm.weight.zero_()
        model.decoder_norm.bias.fill_(1)
        model.target_embedding.weight.zero_()[EOS] = 10
    return model


def random_model(*components: ComponentSettings, seed: int = 1, **values: Any) -> TranslationModel:
    """Make a model in float64 and evaluation mode whose predictions are far from uniform; `values` are of its run."""
    model = build_tiny_model(run_settings(*components, **values), vocabulary=17, seed=seed)
    with torch.no_grad():
        model.target_embedding.weight.mul_(3)
    return model.double().eval()


def random_examples(count: int, *, seed: int = 1, longest: int = 9, vocabulary: int = 17) -> Examples:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest + 1, count)
    ids = [random.integers(5, vocabulary, n) for n in lengths]
    words = [np.minimum.accumulate(np.cumsum(random.random(n) < 0.7)[::-1])[::-1] if n else [] for n in lengths]
    words = [np.asarray(w) - w[0] if len(w) else w for w in words]
    return Examples(id=np.arange(count) * 2, source=side(ids, words))


def examples_of_text(bundle: Bundle, lines: Sequence[str]) -> Examples:
    return bundle.reader.read(list(read_text(lines))).examples


def parse_text(bundle: Bundle, lines: Sequence[str | bytes], *, method: str, parser=None, **options) -> list[str]:
    """Return a block of CoNLL-U per line."""
    parser = parser or make_parser(bundle, method)
    return [conllu_block(*own) for own in parse_sentences(bundle, read_text(lines), parser, **options)]


def heads_of_block(block: str) -> list[int]:
    rows = [line.split("\t") for line in block.splitlines()]
    return [int(row[6]) for row in rows if row[0].isdecimal()]


def write_tokens(path: Path, sentences: Sequence[Sequence[str]], *, step: int = 1) -> Path:
    """Write sentences of which each word is a subword; return the folder. Ids count from 0 in steps of `step`."""
    vocabulary = Vocabulary.of(PIECES)
    rows = [
        {"id": step * i, "ids": vocabulary.ids(words), "word_of_subword": list(range(len(words)))}
        for i, words in enumerate(sentences)
    ]
    write_rows(path, TOKENS_SCHEMA, rows)
    return path.parent
