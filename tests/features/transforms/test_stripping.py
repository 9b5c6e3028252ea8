"""Tags before the words of 10,000 real sentences and their removal, from ids to text."""

from pathlib import Path

import numpy as np
import pytest
from factories import run_settings
from pair_files import write_corpus

from nmtcore.annotation.labels import label_vocabularies, read_labels
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.transforms import InterleaveSettings
from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.formats.rows import Input
from nmtcore.experiment.output import TextOutput
from nmtcore.features.examples import NO_WORD, load_examples
from nmtcore.features.extract import extract_subwords, extract_syntax
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.inference.hypotheses import Hypothesis
from nmtcore.parquet import write_rows
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter

TREEBANKS = [*(f"{language}_pud" for language in ("cs", "de", "en", "ja", "ru", "tr")), "en_ewt_dev", "en_ewt_test"]
COUNT = 10_000
BPE = SegmentationSettings(kind="bpe", size=1000, joint=True)


@pytest.fixture(scope="module")
def treebank(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list]:
    """The words and gold trees of real sentences in six languages, as the files of both sides of a data set."""
    folder = tmp_path_factory.mktemp("treebank")
    files = [shared / "data" / "ud" / f"{name}.conllu" for name in TREEBANKS]
    sides = [parse_sentence(piece, surface=False) for path in files for piece in sentences(Input(path, None))][:COUNT]
    words = [list(side.words) for side in sides]
    corpus = write_corpus(folder / "train.parquet", words)
    rows = [annotation_row(i, side.annotation) for i, side in enumerate(sides)]
    write_rows(folder / "trees.parquet", ANNOTATION_SCHEMA, rows)
    label_vocabularies(folder / "trees.parquet", folder / "labels.json")
    learn_segmentation(corpus, BPE, folder / "bpe")
    options = {"words": corpus, "segmentation": folder / "bpe", "settings": BPE}
    for side in ("source", "target"):
        tokens = folder / f"train.{side}.parquet"
        extract_subwords(**options, column=f"{side}_words", side=side, output=tokens)
        extract_syntax(
            annotation=folder / "trees.parquet",
            labels=folder / "labels.json",
            tokens=tokens,
            output=folder / f"train.{side}.existing.parquet",
            annotation_names=["dependencies"],
            side=side,
        )
    return folder, words


@pytest.mark.parametrize("tags", ["dg_a_tags", "dg_b_tags"])
def test_the_words_of_real_sentences_are_restored_exactly(treebank, tags, record_property):
    folder, words = treebank
    labels = dict.fromkeys(("source", "target"), read_labels(folder / "labels.json"))
    transforms = {side: InterleaveSettings(side=side, tags=tags) for side in labels}
    evaluation = EvaluationSettings(text="tokens")
    run = run_settings(segmentation=BPE, transforms=transforms, evaluation=evaluation)
    vocabularies = run_vocabularies(run, folder / "bpe", labels)
    features = {side: {tags: "existing"} for side in labels}
    plain = load_examples(folder, "train", features=features)
    chain = Transforms.of(run, vocabularies, labels)
    target = chain.for_training(plain).target
    output = TextOutput(run, vocabularies["target"], Segmenter.load(folder / "bpe", BPE, "target"), chain)

    restored = 0
    for row, sentence in zip(target.ids, words, strict=True):
        tokens = tuple(row.tolist())
        same = chain.words(tokens, vocabularies["target"], output._segmenter) == sentence
        same &= output.text(Hypothesis(tokens=tokens, score=0.0, log_probability=0.0)) == " ".join(sentence)
        restored += same
    record_property("restored", restored)
    print(f"{tags}: {restored} of {len(words)} sentences restored, {len(set(labels['target'][tags[:4]])) - 1} tags")
    assert restored == len(words) == COUNT

    assert target.word_of_subword.values.tolist().count(NO_WORD) == sum(map(len, words)), "a tag per word"
    assert np.array_equal(target.subword_counts, plain.target.ids.lengths)
