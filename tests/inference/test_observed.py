"""Attention, tags and gates: against the oracles' loops and decoding one prefix at a time, and their files."""

import math
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from factories import examples_of, forced_logits, run_settings, side
from inference.tiny import PIECES, RECURRENT, random_examples, random_model, write_bundle
from oracles import Recurrent as RecurrentOracle
from oracles import TransformerOracle

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.components import DepParseSettings, HeadSelectionSettings, MultitaskSettings, TagAttentionSettings
from nmtcore.config.features import InterleaveSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples
from nmtcore.inference import attention, scoring
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.attention import observed
from nmtcore.inference.batches import in_batches
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.schemas import ATTENTION_SCHEMA, GATES_SCHEMA, PREDICTED_TAGS_SCHEMA
from nmtcore.inference.scoring import gate_norms, predict_tags, write_gates
from nmtcore.model.batch import make_batch
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.vocabulary import BOS, EOS, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed

LINES = ["the cat", "", "the dog the do", "cat", "  ", "a b c, dog the the the"]
TAGS = ["NP", "NP/N", "N", "S\\NP", ","]
CCG = {"features": {"target": {"ccg_tags": "easyccg"}}, "decoding": DecodingSettings(beam=3, max_length=9)}
SELECTIONS = {
    "tree": HeadSelectionSettings(),
    "separate": HeadSelectionSettings(annotations="separate"),
    "flat, separate": HeadSelectionSettings(weights="flat", annotations="separate"),
    "hard, one set": HeadSelectionSettings(hard=True, annotations="one_set"),
}
ATTENDING = {
    "plain": run_settings(),
    "prefix": run_settings(DepParseSettings(layer=1)),
    "nmt": run_settings(**RECURRENT),
    **{name: run_settings(component, **RECURRENT) for name, component in SELECTIONS.items()},
}
TAGGING = {
    "tag_attention": run_settings(TagAttentionSettings(width=8), **CCG),
    "multitask": run_settings(MultitaskSettings(hidden=8), **CCG),
    "interleaved": run_settings(transforms={"interleave": InterleaveSettings(side="target", tags="ccg_tags")}, **CCG),
}


@pytest.fixture(scope="module", params=ATTENDING)
def attending(request, tmp_path_factory):
    run = ATTENDING[request.param]
    return load_bundle(write_bundle(tmp_path_factory.mktemp("attention") / "model", run))


@pytest.fixture(scope="module", params=TAGGING)
def tagging(request, tmp_path_factory):
    folder = write_bundle(tmp_path_factory.mktemp("tags") / "model", TAGGING[request.param], label_names=TAGS)
    bundle = load_bundle(folder)
    with torch.no_grad():
        for parameter in bundle.model.components.parameters():
            parameter.mul_(20)  # otherwise all tags are about as likely
        bundle.model.target_embedding.weight.mul_(3)
    return bundle


def written(bundle, folder, file, lines=LINES, **options):
    """Translate lines, and return the rows of a file, `attention` or `tags`, and the translations."""
    path = folder / f"{file}.parquet"
    bundle = observed(bundle) if file == "attention" else bundle
    texts = list(translate_and_write(bundle, lines, **{file: path}, **options))
    assert texts == list(bundle.translate_n_best(lines, **options))
    table = pq.read_table(path)
    assert table.schema.equals(ATTENTION_SCHEMA if file == "attention" else PREDICTED_TAGS_SCHEMA)
    return table.to_pylist(), texts


class ObservedOracle(TransformerOracle):
    """The oracle, recording the weights of every head that attends to the source."""

    def __init__(self, model):
        super().__init__(model)
        self.recorded = {}

    def weights(self, name, head, scores):
        weights = super().weights(name, head, scores)
        stack, layer, _ = name.split(".")
        if stack == "encoder":
            self.recorded[stack, int(layer), head] = weights
        return weights

    def cross_attention(self, name, x, memory):
        keys, _ = np.split(self.linear(f"{name}.keys_values", memory), 2, axis=1)
        parts = (np.split(part, self.settings.heads, axis=1) for part in (self.linear(f"{name}.queries", x), keys))
        for head, (queries, keys) in enumerate(zip(*parts, strict=True)):
            scores = queries @ keys.T / np.sqrt(keys.shape[1])
            self.recorded["cross", int(name.split(".")[1]), head] = super().weights(name, head, scores)
        return super().cross_attention(name, x, memory)


def maps_by_hand(bundle, source, target_input):
    """Compute the weights of every attention of a model, by its name, layer and head."""
    if bundle.run.base == "transformer":
        oracle = ObservedOracle(bundle.model)
        oracle.logits(source, target_input)
        return oracle.recorded
    oracle = RecurrentOracle(bundle.model)
    oracle.logits(source, target_input)
    maps = {("cross", 0, 0): oracle.attention}
    if bundle.run.components:
        maps["head_selection", None, None] = oracle.beta.T
        if oracle.own_attention:
            maps["head_selection", 0, 0] = oracle.own_attention
    return maps


@pytest.mark.parametrize("cells", [attention.MAX_CELLS, 1])
def test_every_map_matches_the_oracle(attending, tmp_path, monkeypatch, cells):
    monkeypatch.setattr(attention, "MAX_CELLS", cells)
    rows, texts = written(attending, tmp_path, "attention", LINES[:5])  # the oracle enumerates trees of short lines
    lines = [0, 2, 3]
    assert sorted({row["id"] for row in rows}) == lines
    prefix = [i for component in attending.model.components for i in component.source_prefix]
    for line in lines:
        own = {(row["attention"], row["layer"], row["head"]): row for row in rows if row["id"] == line}
        source, target = own["cross", 0, 0]["keys"], own["cross", 0, 0]["queries"]
        assert source[-1] == target[-1] == "</s>"
        source_ids = [attending.vocabularies["source"].entries.index(piece) for piece in source]
        target_ids = [attending.vocabularies["target"].entries.index(piece) for piece in target[:-1]]
        assert attending.output.text(target_ids) == texts[line][0].text
        pieces = source[len(prefix) : -1]
        words = [sum(not piece.endswith("@@") for piece in pieces[:i]) for i in range(len(pieces))]
        expected = maps_by_hand(attending, source_ids, [BOS, *target_ids])
        assert list(own) == list(expected)
        for (name, layer, _), row in own.items():
            np.testing.assert_allclose(np.array(row["weights"]), expected[name, layer, row["head"]], atol=6e-5)
            assert row["keys"] == source
            assert row["queries"] == (source if name == "encoder" or layer is None else target)
            assert row["key_words"] == [*[-1] * len(prefix), *words, -1]


def generated_tags_by_prefixes(bundle, source, tokens):
    """Read the tags before the words of an interleaved translation, each with its probability after what precedes."""
    tagged, word, tag, tag_of_word = [], "", (None, None), None
    for i, entry in enumerate(bundle.vocabularies["target"].tokens(tokens)):
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
    names, texts = bundle.model.tagger.tag_names, bundle.vocabularies["target"].tokens(tokens)
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


@pytest.mark.parametrize("tokens_per_batch", [1, 60, 16384])
def test_tags_equal_a_double_loop(tagging, monkeypatch, tokens_per_batch):
    """Of random translations of random sources."""
    monkeypatch.setattr(scoring, "in_batches", partial(in_batches, tokens=tokens_per_batch))
    by_prefixes = generated_tags_by_prefixes if tagging.transforms.tags_targets else tags_by_prefixes
    drawn = [
        random_examples(40, seed=seed, vocabulary=len(tagging.vocabularies["target"])).source.ids for seed in (1, 2)
    ]
    sources, translations = [[5, *row] for row in drawn[0]], [row.tolist() for row in drawn[1]]
    predicted = predict_tags(tagging, examples_of(side(sources)), translations)
    names = []
    for source, tokens, words in zip(sources, translations, predicted, strict=True):
        assert " ".join(word.word for word in words) == tagging.output.text(tokens)
        for word, (text, tag, probability) in zip(words, by_prefixes(tagging, source, tokens), strict=True):
            assert (word.word, word.tag) == (text, tag)
            assert word.probability == (None if tag is None else pytest.approx(probability, rel=1e-4))
            names.append(tag)
    assert len(names) - names.count(None) > 5, "the test needs tags"
    assert len(set(names)) > 2


@pytest.mark.parametrize("selection", [name for name, own in SELECTIONS.items() if own.gates_output])
def test_gate_norms_equal_loops_in_any_batch(selection):
    model = random_model(SELECTIONS[selection], **RECURRENT)
    # Sources of 1 to 4 subwords, since the oracle enumerates their trees.
    sources, targets = random_examples(12, seed=1, longest=4), random_examples(12, seed=2)
    examples = Examples(id=sources.id, source=sources.source, target=targets.source)
    examples = examples.take(np.flatnonzero(sources.source.ids.lengths))
    norms = gate_norms(model, examples)
    for row, norms_T in enumerate(norms):
        source, target = [*examples.source.ids[row], EOS], [BOS, *examples.target.ids[row]]
        expected_T = RecurrentOracle(model).gate_norms(source, target)
        np.testing.assert_allclose(norms_T, expected_T, atol=1e-5)
        np.testing.assert_allclose(gate_norms(model, examples.take(np.array([row])))[0], expected_T, atol=1e-5)


def written_gates(tmp_path, annotations, *, ids=(0, 1)):
    """Write the gates of two pairs, one with a tag and three subwords of two words, and one with nothing."""
    examples = examples_of(side([[5], [6]]), side([[8, 5, 6, 7], []], [[NO_WORD, 0, 1, 1], []]))
    norms = [np.array([1, 1.5, 3, 2, 0.5], dtype=np.float32), np.array([0.25], dtype=np.float32)]
    upos = tmp_path / "tags.parquet"
    if annotations is not None:
        write_rows(upos, ANNOTATION_SCHEMA, map(annotation_row, ids, annotations))
    files = {"tokens": tmp_path / "tokens.parquet", "tags": None if annotations is None else upos}
    write_gates(tmp_path / "gates.parquet", examples, dict(enumerate(norms)), Vocabulary.of(PIECES), **files)
    assert pq.read_schema(tmp_path / "gates.parquet").equals(GATES_SCHEMA)
    return list(read_rows(tmp_path / "gates.parquet"))


def test_every_gate_has_the_tag_of_its_word(tmp_path):
    tagged = [Annotation(upos=["DET", "NOUN"]), Annotation(upos=[])]
    first, second = written_gates(tmp_path, tagged)
    assert first == {
        "id": 0,
        "pieces": [PIECES[3], *PIECES[:3], "</s>"],
        "words": [-1, 0, 1, 1, -1],
        "upos": [None, "DET", "NOUN", "NOUN", None],
        "norms": [1, 1.5, 3, 2, 0.5],
    }
    assert second == {"id": 1, "pieces": ["</s>"], "words": [-1], "upos": [None], "norms": [0.25]}
    for untagged in (None, [failed("too long"), failed("empty")]):
        assert [row["upos"] for row in written_gates(tmp_path, untagged)] == [None, None]
    with pytest.raises(UserError, match=r"tags\.parquet, row 1, has pair 5, but .*tokens\.parquet, row 1, has pair 1"):
        written_gates(tmp_path, tagged, ids=[0, 5])
