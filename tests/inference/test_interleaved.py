"""Models with interleaved tags: bundles, raw text, limits of length, attention, gates, and labels that changed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from factories import build_tiny_model, examples_of, forced_logits, run_settings, side
from inference.test_raw import Chain
from inference.tiny import PIECES, write_bundle, write_segmentation
from pair_files import write_corpus

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.training import BatchSettings, DecodingSettings
from nmtcore.config.transforms import InterleaveSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.gates import count_gates
from nmtcore.experiment.inference import check_labels, translate_tests
from nmtcore.features.schema import TOKENS_SCHEMA, syntax_schema
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.files import read_lines, write_json
from nmtcore.inference import raw
from nmtcore.inference.attention import load_observed_bundle, write_attention
from nmtcore.inference.bundle import load_bundle, load_initial_weights, save_bundle
from nmtcore.inference.gates import gate_norms, read_gates, write_gates
from nmtcore.inference.scoring import TextFile
from nmtcore.inference.search import length_limits
from nmtcore.inference.translate import translate_examples
from nmtcore.model.batch import make_batch
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary, tag_entry
from nmtcore.training.data import count_unannotated, prepare_training_data

SIDES = ("source", "target")
TRANSFORMS = {name: InterleaveSettings(side=name, tags="dg_a_tags") for name in SIDES}
LINES = ["the cat", "", "  ", "größer 漢字 \U0001f600", "the dog .", "a" * 40, "the cat . " * 20]


def run_with(*sides, **values):
    """Make a run that interleaves some sides; raw text is parsed by an annotator that the tests replace."""
    return run_settings(
        **{
            "transforms": {f"interleave_{name}": TRANSFORMS[name] for name in sides},
            "features": {name: {"dg_a_tags": "parser"} for name in sides},
            "annotators": {"parser": {"tool": "existing"}},
            **values,
        }
    )


@pytest.fixture(autouse=True)
def _parser(monkeypatch):
    """Annotate raw text by chains (the labels are x); a sentence with "dog" has no parse."""
    monkeypatch.setattr(raw, "open_annotator", lambda settings, task: Chain())


def tagged_bundle(folder: Path, run, labels=("x|root", "x|x"), *, seed=1):
    """Write and load the bundle of a run with random weights whose predictions are far from uniform."""
    segmentation = write_segmentation(folder.parent / "segmentation")
    vocabularies = {name: {"dg_a": [*LABEL_SPECIALS, *labels]} for name in run.features}
    size = len(run_vocabularies(run, segmentation, vocabularies)["source"])
    model = build_tiny_model(run, vocabulary=size, seed=seed, labels=vocabularies or None)
    with torch.no_grad():
        model.target_embedding.weight.normal_()
    save_bundle(folder, run=run, model=model, segmentation=segmentation, labels=vocabularies)
    return load_bundle(folder)


@pytest.mark.parametrize("sides", [("source",), ("target",), SIDES])
def test_saved_models_are_loaded_unchanged(tmp_path, sides):
    bundle = tagged_bundle(tmp_path / "model", run_with(*sides))
    tags = ["<unk>", "x|root", "x|x"]
    assert bundle.target_vocabulary == Vocabulary.of(PIECES).extended(tags)
    options = {"segmentation": tmp_path / "segmentation", "labels": bundle.labels}
    save_bundle(tmp_path / "again", run=bundle.run, model=bundle.model, **options)
    again = load_bundle(tmp_path / "again")
    assert again.run == bundle.run
    assert again.vocabularies == bundle.vocabularies
    assert again.labels == bundle.labels
    assert list(again.translate(LINES)) == list(bundle.translate(LINES))
    label_files = {path.name for path in (tmp_path / "again").glob("*.labels.json")}
    assert label_files == {f"{name}.labels.json" for name in sides}


def test_raw_text_has_tags_before_its_words(tmp_path):
    bundle = tagged_bundle(tmp_path / "model", run_with("source"))
    with bundle.reader() as reader:
        examples, lines = reader.examples(["the cab", "", "the dog", "x"])
    entries = [bundle.source_vocabulary.tokens(row.tolist()) for row in examples.source.ids]
    root, inner = map(tag_entry, ("x|root", "x|x"))
    assert lines == [0, 2, 3]
    assert entries == [[root, "the", inner, "ca@@", "b"], ["the", "dog"], [root, "<unk>"]]
    assert examples.source.word_of_subword[0].tolist() == [-1, 0, -1, 1, 1]


def test_parts_of_a_long_line_count_subwords_without_tags(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "MAX_SUBWORDS", 4)
    bundle = tagged_bundle(tmp_path / "model", run_with("source"))
    with bundle.reader() as reader:
        examples, lines = reader.examples(["the cab the cat"])
    assert lines == [0, 0]
    assert examples.source.subword_counts.tolist() == [4, 1]
    assert examples.source.ids.lengths.tolist() == [7, 2]


@pytest.mark.parametrize("sides", [("source",), ("target",), SIDES])
def test_translations_have_no_tags_whatever_the_line(tmp_path, sides):
    """Random models predict tags anywhere: at the end, in a row, inside a word."""
    seen = set()
    for seed in range(3):
        bundle = tagged_bundle(tmp_path / f"model{seed}", run_with(*sides), seed=seed)
        nbest = list(bundle.translate_n_best(LINES, n_best=3))
        assert [len(texts) for texts in nbest] == [3, 1, 1, 3, 3, 3, 3]
        assert not [text for texts in nbest for text, _ in texts if "|" in text or "  " in text]
        with bundle.reader() as reader:
            examples, _ = reader.examples(LINES)
        target = bundle.target_vocabulary, bundle.target_segmenter
        for (best,) in translate_examples(bundle.model, examples, bundle.search_settings()):
            seen |= set(bundle.target_vocabulary.tokens(best.tokens)) & {tag_entry("x|root"), tag_entry("x|x")}
            words = bundle.words(best.tokens)
            assert [word.word for word in bundle.transforms.locate_words(best.tokens, *target)] == words
            assert all(word and not word.startswith(" ") for word in words)
    assert seen, "no hypothesis had a tag"


@pytest.mark.parametrize("sides", [("source",), ("target",), SIDES])
def test_sentences_are_translated_alike_in_any_batch(tmp_path, sides):
    bundle = tagged_bundle(tmp_path / "model", run_with(*sides))
    model = bundle.model.double()
    with bundle.reader() as reader:
        examples, _ = reader.examples([*LINES, "cat the", "the . dog", "cat"])
    together, alone = (
        translate_examples(model, examples, replace(bundle.search_settings(), batch_sentences=size), n_best=2)
        for size in (64, 1)
    )
    for one, other in zip(together, alone, strict=True):
        assert [hypothesis.tokens for hypothesis in one] == [hypothesis.tokens for hypothesis in other]
        np.testing.assert_allclose([h.score for h in one], [h.score for h in other], atol=1e-10)


def test_losses_of_a_batch_equal_those_of_its_sentences(tmp_path):
    """Padding and other sentences' tags change nothing."""
    bundle = tagged_bundle(tmp_path / "model", run_with(*SIDES))
    pairs = drawn_pairs(bundle)
    model = bundle.model.double()

    def logits(rows):
        batch = make_batch(pairs, np.array(rows), ())
        with torch.no_grad():
            return batch, forced_logits(model, batch)

    batch, all_BTV = logits(range(len(pairs)))
    assert batch.tokens == int(pairs.target.ids.lengths.sum()) + len(pairs), "tags are predicted too"
    for row, length in enumerate(pairs.target.ids.lengths.tolist()):
        alone, own_1TV = logits([row])
        assert torch.equal(alone.target_output_BT[0], batch.target_output_BT[row, : length + 1])
        torch.testing.assert_close(own_1TV[0], all_BTV[row, : length + 1], atol=1e-10, rtol=0)


def drawn_pairs(bundle, count=6):
    """Draw pairs with a label per word, and put tags before the words."""
    random, first = np.random.default_rng(3), len(SPECIALS)
    sides = []
    for _ in SIDES:
        lengths = random.integers(0, 7, count)
        ids = [random.integers(first, first + len(PIECES), n).tolist() for n in lengths]
        sides.append(side(ids, features={"dg_a": [random.integers(0, 4, n).tolist() for n in lengths]}))
    return bundle.transforms.for_training(examples_of(*sides))


def test_limits_of_length_do_not_count_tags(tmp_path):
    settings = DecodingSettings(beam=1, max_length_ratio=1.0, max_length_extra=1, max_length=4)
    bundle = tagged_bundle(tmp_path / "model", run_with("source", "target", decoding=settings))
    with bundle.reader() as reader:
        examples, _ = reader.examples(["the", "the cat the", "the cat . " * 5])
    limits = length_limits(bundle.search_settings(), examples.source.subword_counts.tolist())
    assert examples.source.ids.lengths.tolist() == [2, 6, 30]
    assert limits == [2 * 2, 2 * 4, 2 * 4]
    hypotheses = translate_examples(bundle.model, examples, bundle.search_settings())
    assert all(len(best.tokens) <= limit for (best,), limit in zip(hypotheses, limits, strict=True))
    source_only = tagged_bundle(tmp_path / "source", run_with("source", decoding=settings))
    assert source_only.search_settings() == settings


def test_training_keeps_pairs_whose_words_fit_and_counts_those_without_tags(tmp_path):
    run = run_with("target")
    bundle = tagged_bundle(tmp_path / "model", run)
    source = side([[5]] * 4)
    labels = [[2] * 4, [2] * 5, [0] * 4, [0] * 5]
    plain = examples_of(source, side([[7] * len(row) for row in labels], features={"dg_a": labels}))
    pairs = bundle.transforms.for_training(plain)
    assert pairs.target.ids.lengths.tolist() == [8, 10, 4, 5]
    training = replace(run.training, batch=BatchSettings(max_length=4, size=100))
    lines = []
    data = prepare_training_data(replace(run, training=training), bundle.model, pairs, pairs, lines.append)
    assert data.main.kept.tolist() == [0, 2]
    assert data.main.lengths.longer.tolist() == [9, 11, 5, 6], "a batch in tokens counts real positions"
    assert lines == [
        "2 of 4 training pairs have more than 4 subwords: left out.",
        "1 of 2 training sentences have no dg_a_tags on the target side: they are trained on as plain text.",
    ]
    added = replace(pairs, id=np.array([0, 1, -2, 3]))
    assert list(count_unannotated(run.features, added, np.array([0, 2]))) == [], "rows of a second task do not count"


def test_labels_of_the_data_that_changed_are_an_error(tmp_path):
    run = run_with("source", "target")
    bundle = tagged_bundle(tmp_path / "model", run)
    files = {name: {"parser": tmp_path / f"{name}.labels.json"} for name in SIDES}
    for path in (files["source"]["parser"], files["target"]["parser"]):
        write_json(path, {"dg_a": [*LABEL_SPECIALS, "x|root", "x|x"], "ccg": list(LABEL_SPECIALS)})
    check_labels(bundle, tmp_path / "model", run.features, files)
    for labels in (["x|x", "x|root"], ["x|root"], ["x|root", "x|x", "y|x"]):
        write_json(files["source"]["parser"], {"dg_a": [*LABEL_SPECIALS, *labels]})
        with pytest.raises(UserError) as error:
            check_labels(bundle, tmp_path / "model", run.inference_features, files)
        assert str(error.value) == (
            f"The model in {tmp_path / 'model'} was trained with 4 labels of dg_a, which are not the {len(labels) + 2} "
            f"of {files['source']['parser']}: the annotation has changed since. Train the model again."
        )
        check_labels(bundle, tmp_path / "model", {"target": run.features["target"]}, files)
    with pytest.raises(UserError, match="the annotation has changed since"):
        translate_tests(
            run,
            model=tmp_path / "model",
            features=tmp_path,
            corpora={},
            hypotheses=tmp_path / "hypotheses",
            labels=files,
            device="cpu",
            threads=1,
        )
    files["source"]["parser"].unlink()
    check_labels(bundle, tmp_path / "model", run.inference_features, files)


def test_initial_weights_need_the_same_labels(tmp_path):
    run = run_with("source")
    bundle = tagged_bundle(tmp_path / "model", run)
    options = {"run": run, "segmentation": tmp_path / "segmentation"}
    load_initial_weights(bundle.model, tmp_path / "model", **options, labels=bundle.labels)
    for labels in (["x|x", "x|root"], ["x|root", "new"]):
        other = {"source": {"dg_a": [*LABEL_SPECIALS, *labels]}}
        with pytest.raises(UserError, match=r"with 4 labels of dg_a, which are not the 4 of .*segmentation"):
            load_initial_weights(bundle.model, tmp_path / "model", **options, labels=other)


def test_tests_are_translated_with_tags_from_their_features(tmp_path):
    """One source has no tags; hypotheses are text."""
    run = run_with("source", tests=("test",))
    sentences = [["the", "cat"], ["dog"]]
    vocabulary = Vocabulary.of(PIECES)
    rows = [
        {"id": i, "ids": vocabulary.ids(words), "word_of_subword": list(range(len(words)))}
        for i, words in enumerate(sentences)
    ]
    write_rows(tmp_path / "features/test.source.parquet", TOKENS_SCHEMA, rows)
    tags = [{"id": 0, "dg_a": [2, 3]}, {"id": 1, "dg_a": [0]}]
    write_rows(tmp_path / "features/test.source.parser.parquet", syntax_schema(["dg_a_tags"]), tags)
    tagged_bundle(tmp_path / "model", run)
    translate_tests(
        run,
        model=tmp_path / "model",
        features=tmp_path / "features",
        corpora={"test": write_corpus(tmp_path / "test.parquet", sentences)},
        hypotheses=tmp_path / "hypotheses",
        device="cpu",
        threads=1,
    )
    bundle = load_bundle(tmp_path / "model")
    assert read_lines(tmp_path / "hypotheses/test.txt") == list(bundle.translate(["the cat", "dog"]))


def test_attention_has_the_words_of_the_text(tmp_path):
    tagged_bundle(tmp_path / "model", run_with(*SIDES))
    bundle = load_observed_bundle(tmp_path / "model")
    write_attention(tmp_path / "maps.parquet", bundle, ["the cab"], cross=True)
    rows = list(read_rows(tmp_path / "maps.parquet"))
    assert rows[0]["keys"] == [" x|root", "the", " x|x", "ca@@", "b", "</s>"]
    assert rows[0]["key_words"] == [-1, 0, -1, 1, 1, -1]
    assert {row["attention"] for row in rows} == {"encoder", "cross"}


def test_gates_of_given_translations_need_tags(tmp_path):
    run = replace(
        run_with("target", base="recurrent", model=RecurrentSettings(width=16)),
        components={"head_selection": HeadSelectionSettings()},
    )
    bundle = tagged_bundle(tmp_path / "model", run)
    with pytest.raises(UserError, match="The system tiny generates tags among the words, which the given translations"):
        next(read_gates(bundle, TextFile(["the"], "en"), TextFile(["the"], "de")))
    pairs = drawn_pairs(bundle, count=3)
    norms = gate_norms(bundle.model, pairs)
    write_gates(tmp_path / "gates.parquet", pairs, norms, bundle.target_vocabulary, tokens=tmp_path / "tokens.parquet")
    rows = list(read_rows(tmp_path / "gates.parquet"))
    assert [row["words"].count(-1) for row in rows] == [
        length - words + 1 for length, words in zip(pairs.target.ids.lengths, pairs.target.subword_counts, strict=True)
    ]
    counts, kept = count_gates(tmp_path / "gates.parquet"), []
    for row in rows:
        kept += [norm for word, norm in zip(row["words"], row["norms"], strict=True) if word >= 0]
    assert counts["norm"] == pytest.approx(np.mean(kept))


def test_systems_without_tags_have_the_stored_vocabulary(tmp_path):
    bundle = load_bundle(write_bundle(tmp_path / "model"))
    assert bundle.target_vocabulary == Vocabulary.of(PIECES)
    assert bundle.search_settings() is bundle.run.decoding
    assert isinstance(bundle.transforms, Transforms)
    assert json.loads((tmp_path / "model/run.json").read_text())["transforms"] == {}
