"""Predicted tags of translations, against loops over sentences and words that decode one prefix at a time."""

import math
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from factories import examples_of, forced_logits, run_settings, side
from inference.tiny import write_bundle

from nmtcore.config.components.settings import MultitaskSettings, TagAttentionSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.config.transforms import InterleaveSettings
from nmtcore.errors import LineError
from nmtcore.inference import tags
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.batches import in_batches
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.schemas import PREDICTED_TAGS_SCHEMA
from nmtcore.inference.tags import predict_tags
from nmtcore.model.batch import make_batch

LINES = ["the cat", "", "the dog the do", "cat", "  ", "a b c, dog the the the"]
TAGS = ["NP", "NP/N", "N", "S\\NP", ","]
FEATURES = {"target": {"ccg_tags": "easyccg"}}


COMPONENTS = {"tag_attention": TagAttentionSettings(width=8), "multitask": MultitaskSettings(hidden=8)}


def make_bundle(folder, system):
    """Make a bundle with random weights and tags of a system in `COMPONENTS`, or `interleaved`."""
    components = [COMPONENTS[system]] if system in COMPONENTS else []
    transforms = {} if components else {"interleave": InterleaveSettings(side="target", tags="ccg_tags")}
    settings = {"features": FEATURES, "decoding": DecodingSettings(beam=3, max_length=9), "system": system}
    run = run_settings(*components, transforms=transforms, **settings)
    bundle = load_bundle(write_bundle(folder / "model", run, label_names=TAGS))
    with torch.no_grad():
        for parameter in bundle.model.components.parameters():
            parameter.mul_(20)  # otherwise all tags are about as likely
        bundle.model.target_embedding.weight.mul_(3)
    return bundle


@pytest.fixture(scope="module", params=[*COMPONENTS, "interleaved"])
def bundle(request, tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("tags"), request.param)


def generated_tags_by_prefixes(bundle, source, tokens):
    """Read the tags before the words of an interleaved translation, each with its probability after what precedes."""
    tagged, word, tag, tag_of_word = [], "", (None, None), None
    for i, entry in enumerate(bundle.target_vocabulary.tokens(tokens)):
        if entry.startswith(" "):
            batch = make_batch(examples_of(side([source]), side([tokens[:i]])), [0])
            with torch.no_grad():
                logits_V = forced_logits(bundle.model, batch)[0, i].numpy().astype(float)
            probability = np.exp(logits_V[tokens[i]]) / np.exp(logits_V).sum()
            tag = (None, None) if entry == " <unk>" else (entry[1:], probability)
            continue
        tag_of_word = tag_of_word if word else tag
        word, tag = word + entry.removesuffix("@@"), (None, None)
        if not entry.endswith("@@"):
            tagged.append((word, *tag_of_word))
            word = ""
    return [*tagged, (word, *tag_of_word)] if word else tagged


def tags_by_prefixes(bundle, source, tokens):
    """Predict the tags of a translation word by word, each from a batch that ends in its first subword."""
    tagged, word = [], ""
    names, texts = bundle.model.tagger.tag_names, bundle.target_vocabulary.tokens(tokens)
    for i, piece in enumerate(texts):
        if not word:
            target = side([tokens[:i]], features={"ccg": [[0] * i]})
            batch = make_batch(examples_of(side([source]), target), [0], tuple(bundle.model.components))
            with torch.no_grad():
                log_L = bundle.model.tag_scores(batch)[i].numpy().astype(float)
            best = max(range(len(log_L)), key=log_L.__getitem__)
            total = sum(math.exp(score) for score in log_L)
        word += piece.removesuffix("@@")
        if piece.endswith("@@") and i < len(texts) - 1:
            continue
        is_tag = names[best] in TAGS
        if word:
            tagged.append((word, names[best] if is_tag else None, math.exp(log_L[best]) / total if is_tag else None))
        word = ""
    return tagged


def random_sentences(bundle, count, *, seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 9, count)
    return [random.integers(5, len(bundle.target_vocabulary), size).tolist() for size in sizes]


def check_tags(bundle, by_prefixes):
    """Predict the tags of random translations of random sources; compare them with those of `by_prefixes`."""
    sources = [[5, *sentence] for sentence in random_sentences(bundle, 20, seed=1)]
    translations = random_sentences(bundle, 20, seed=2)
    predicted = predict_tags(bundle, examples_of(side(sources)), translations)
    names = []
    for source, tokens, words in zip(sources, translations, predicted, strict=True):
        assert " ".join(word.word for word in words) == bundle.text(tokens)
        for word, (text, tag, probability) in zip(words, by_prefixes(bundle, source, tokens), strict=True):
            assert (word.word, word.tag) == (text, tag)
            assert word.probability == (None if tag is None else pytest.approx(probability, rel=1e-4))
            names.append(tag)
    assert len(names) - names.count(None) > 5, "the test needs tags"
    assert len(set(names)) > 2


@pytest.mark.parametrize("tokens_per_batch", [1, 60, 16384])
def test_tags_equal_a_double_loop(bundle, monkeypatch, tokens_per_batch):
    monkeypatch.setattr(tags, "in_batches", partial(in_batches, tokens=tokens_per_batch))
    check_tags(bundle, generated_tags_by_prefixes if bundle.transforms.tags_targets else tags_by_prefixes)


def read_tags(path):
    table = pq.read_table(path)
    assert table.schema.equals(PREDICTED_TAGS_SCHEMA)
    return table.to_pylist()


@pytest.mark.parametrize(("chunk", "n_best"), [(2000, 1), (1, 3)])
def test_every_line_has_a_row_with_the_tags_of_its_best_translation(bundle, tmp_path, chunk, n_best):
    path = tmp_path / "tags.parquet"
    texts = list(translate_and_write(bundle, LINES, tags=path, n_best=n_best, chunk=chunk))
    assert texts == list(bundle.translate_n_best(LINES, n_best=n_best, chunk=chunk))
    rows = read_tags(path)
    assert [row["id"] for row in rows] == list(range(len(LINES)))
    for text, row in zip(texts, rows, strict=True):
        assert " ".join(row["words"]) == text[0].text
        assert len(row["words"]) == len(row["tags"]) == len(row["probabilities"])
        for tag, probability in zip(row["tags"], row["probabilities"], strict=True):
            assert (tag is None) == (probability is None)
            assert tag is None or (tag in TAGS and 0 < probability <= 1)
    assert rows[1] == {"id": 1, "words": [], "tags": [], "probabilities": []}
    assert any(row["words"] for row in rows)


def test_the_tags_of_a_very_long_line_are_those_of_its_parts(bundle, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("nmtcore.inference.text.MAX_SUBWORDS", 4)
    lines = ["the", " ".join(["the cat dog a"] * 3), "cat"]
    list(translate_and_write(bundle, lines, tags=tmp_path / "whole.parquet"))
    assert "line 2: very long, translated in 3 parts." in capsys.readouterr().err
    list(translate_and_write(bundle, ["the", *["the cat dog a"] * 3, "cat"], tags=tmp_path / "parts.parquet"))
    whole, parts = read_tags(tmp_path / "whole.parquet"), read_tags(tmp_path / "parts.parquet")
    for key in ("words", "tags"):
        assert whole[1][key] == [value for row in parts[1:4] for value in row[key]]
    assert [row["words"] for row in whole[::2]] == [parts[0]["words"], parts[4]["words"]]


def test_a_broken_line_leaves_no_file(bundle, tmp_path):
    with pytest.raises(LineError, match=r"line 2: is not valid UTF-8 \(byte 1\)"):
        list(translate_and_write(bundle, [b"the", b"\xff"], tags=tmp_path / "tags.parquet", chunk=1))
    assert list(tmp_path.iterdir()) == []
