"""Models with interleaved tags: bundles, raw text, limits of length, and labels of other data."""

import pytest
import torch
from factories import run_settings
from inference.test_raw import Chain
from inference.tiny import examples_of_text, write_bundle

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.features import InterleaveSettings
from nmtcore.errors import UserError
from nmtcore.inference.bundle import load_bundle, load_initial_weights
from nmtcore.inference.search import translate_examples
from nmtcore.segmentation.vocabulary import tag_entry

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
    monkeypatch.setattr("nmtcore.inference.text.open_annotator", lambda settings, task: Chain())


def far_from_uniform(model, **_):
    with torch.no_grad():
        model.target_embedding.weight.normal_()
    return model


def tagged_bundle(folder, run, *, seed=1, train=far_from_uniform):
    """Write and load the bundle of a run with random weights, whose predictions are far from uniform by default."""
    return load_bundle(write_bundle(folder, run, seed=seed, label_names=("x|root", "x|x"), train=train))


def test_raw_text_has_tags_before_its_words(tmp_path):
    bundle = tagged_bundle(tmp_path / "model", run_with("source"))
    examples = examples_of_text(bundle, ["the cab", "", "the dog", "x"])
    entries = [bundle.vocabularies["source"].tokens(row.tolist()) for row in examples.source.ids]
    root, inner = map(tag_entry, ("x|root", "x|x"))
    assert entries == [[root, "the", inner, "ca@@", "b"], ["the", "dog"], [root, "<unk>"]]
    assert examples.source.word_of_subword[0].tolist() == [-1, 0, -1, 1, 1]


@pytest.mark.parametrize("sides", [("source",), ("target",), SIDES])
def test_translations_have_no_tags_whatever_the_line(tmp_path, sides):
    """Random models predict tags anywhere: at the end, in a row, inside a word."""
    seen = set()
    for seed in range(2):
        bundle = tagged_bundle(tmp_path / f"model{seed}", run_with(*sides), seed=seed)
        nbest = list(bundle.translate_n_best(LINES, n_best=3))
        assert [len(texts) for texts in nbest] == [3, 1, 1, 3, 3, 3, 3]
        assert not [text for texts in nbest for text, _ in texts if "|" in text or "  " in text]
        target = bundle.vocabularies["target"], bundle.segmenters["target"]
        translations = translate_examples(bundle.model, examples_of_text(bundle, LINES), bundle.search_settings())
        for (best,) in translations:
            seen |= set(bundle.vocabularies["target"].tokens(best.tokens)) & {tag_entry("x|root"), tag_entry("x|x")}
            words = [word.word for word in bundle.transforms.locate_words(best.tokens, *target)]
            assert " ".join(words) == bundle.output.text(best.tokens)
            assert all(word and not word.startswith(" ") for word in words)
    assert seen, "no hypothesis had a tag"


def test_training_starts_from_a_model_with_the_same_labels_only(tmp_path):
    run = run_with("source", "target")
    bundle = tagged_bundle(tmp_path / "model", run)
    folders = {"run": run, "segmentation": tmp_path / "segmentation"}
    load_initial_weights(bundle.model, tmp_path / "model", **folders, labels=bundle.labels)
    for labels in (["x|x", "x|root"], ["x|root"]):
        other = {**bundle.labels, "source": {"dg_a": [*LABEL_SPECIALS, *labels]}}
        with pytest.raises(UserError, match=r"The model in .*/model was trained with .*: train it again\."):
            load_initial_weights(bundle.model, tmp_path / "model", **folders, labels=other)
