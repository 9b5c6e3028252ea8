"""Analyses of sentences, against the commands that compute each part by itself."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from factories import run_settings
from inference.test_parse_to_conllu import GOLD
from inference.test_raw import Chain
from inference.tiny import write_bundle

from nmtcore.annotation.base import Annotator
from nmtcore.config.components.settings import (
    DepParseSettings,
    DiagonalParseSettings,
    HeadSelectionSettings,
    PascalSettings,
    SisaSettings,
    TagAttentionSettings,
    TreeHeadSettings,
)
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.transforms import InterleaveSettings, ParsingTaskSettings
from nmtcore.errors import LineError, UserError
from nmtcore.inference import analyse, raw
from nmtcore.inference.analyse import analyse_sentences, read_text_sentences, read_treebank_sentences
from nmtcore.inference.attention import load_observed_bundle, write_attention
from nmtcore.inference.batches import with_targets
from nmtcore.inference.gates import gate_norms
from nmtcore.inference.parse import attention_parser
from nmtcore.inference.parse_to_conllu import parse_text
from nmtcore.inference.schemas import PREDICTED_TAGS_SCHEMA, TREE_METHODS, tag_row
from nmtcore.inference.shown_sentences import LabelledTree, is_of_decoder
from nmtcore.inference.tags import translate_with_tags
from nmtcore.syntax.annotation import Annotation

LINES = ["the cat", "", "the dog the do", "cat", "  ", "a b c, dog the the the"]
NUMBERS = [1, 3, 4, 6]
CCG = {"target": {"ccg_tags": "easyccg"}}
RECURRENT = {"base": "recurrent", "model": RecurrentSettings(width=16)}
RUNS = {
    "base": run_settings(),
    "depparse": run_settings(DepParseSettings(layer=1), evaluation=EvaluationSettings(roots="many")),
    "wrapped": run_settings(transforms={"parsing_task": ParsingTaskSettings()}),
    "diagonalparse": run_settings(DiagonalParseSettings(layer=0)),
    "sa_nmt": run_settings(HeadSelectionSettings(), **RECURRENT),
    "sa_nmt_separate": run_settings(HeadSelectionSettings(annotations="separate"), **RECURRENT),
    "nmt": run_settings(**RECURRENT),
    "tag_attention": run_settings(TagAttentionSettings(width=8), features=CCG),
    "interleaved": run_settings(
        transforms={"interleave": InterleaveSettings(side="target", tags="ccg_tags")}, features=CCG
    ),
}

PARSERS = {
    "depparse": RUNS["depparse"],
    "sisa": run_settings(SisaSettings(layer=1)),
    "tree_head": run_settings(TreeHeadSettings(layer=0)),
}


@pytest.fixture(scope="module", params=RUNS)
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyse") / "model"
    return load_observed_bundle(write_bundle(folder, RUNS[request.param], label_names=["NP", "N"]))


def analysed(bundle, lines=LINES, limit=99):
    return analyse_sentences(bundle, read_text_sentences(lines), limit=limit)


def test_every_part_is_that_of_its_own_command(bundle, tmp_path):
    model = analysed(bundle)
    assert [sentence.number for sentence in model.sentences] == NUMBERS
    assert [sentence.text for sentence in model.sentences] == [LINES[number - 1] for number in NUMBERS]
    translations = list(bundle.translate(LINES))
    assert [sentence.translation for sentence in model.sentences] == [translations[number - 1] for number in NUMBERS]

    write_attention(tmp_path / "maps.parquet", bundle, LINES, cross=True)
    rows = pq.read_table(tmp_path / "maps.parquet").to_pylist()
    for sentence in model.sentences:
        own = [row for row in rows if row["id"] == sentence.number - 1]
        assert [head[:3] for head in model.heads] == [(row["attention"], row["layer"], row["head"]) for row in own]
        for head, weights_QK, row in zip(model.heads, sentence.weights, own, strict=True):
            assert row["keys"] == sentence.source_tokens
            assert row["queries"] == (sentence.target_tokens if is_of_decoder(head) else sentence.source_tokens)
            assert weights_QK.dtype == np.uint8
            np.testing.assert_allclose(weights_QK, 100 * np.array(row["weights"]), atol=0.51)


def test_trees_are_those_of_the_parser(bundle):
    model = analysed(bundle)
    roots = TREE_METHODS[bundle.run.evaluation.roots]
    if bundle.model.parses:
        method = roots if bundle.model.parses_to_root else "argmax"
        blocks = [block for block in parse_text(bundle, LINES, method=method) if "\t" in block]
        assert [sentence.parse for sentence in model.sentences] == [heads_of_block(block) for block in blocks]
        assert model.trees == bundle.run.tree_comparison
    else:
        assert model.trees is None
        assert {sentence.parse for sentence in model.sentences} == {None}
    layers, heads = bundle.model.encoder_attention
    pairs = [(layer, head) for layer in range(layers) for head in range(heads)]
    assert [head[1:3] for head in model.heads if head.attention == "encoder"] == pairs
    for number, (layer, head) in enumerate(pairs):
        parser = attention_parser(bundle, layer=layer, head=head)
        blocks = [block for block in parse_text(bundle, LINES, method=roots, parser=parser) if "\t" in block]
        assert [sentence.head_trees[number] for sentence in model.sentences] == [heads_of_block(own) for own in blocks]
    assert {len(sentence.head_trees) for sentence in model.sentences} == {layers * heads}


@pytest.mark.parametrize("name", ["depparse", "sisa", "tree_head"])
def test_the_head_that_parses_has_the_tree_of_the_parser(tmp_path, name):
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", PARSERS[name]))
    model = analysed(bundle)
    (number,) = [number for number, head in enumerate(model.heads) if head.component == name]
    method = TREE_METHODS[bundle.run.evaluation.roots]
    parsed = [heads_of_block(block) for block in parse_text(bundle, LINES, method=method) if "\t" in block]
    assert [sentence.head_trees[number] for sentence in model.sentences] == parsed
    assert [sentence.parse for sentence in model.sentences] == parsed


def heads_of_block(block):
    return [int(line.split("\t")[6]) for line in block.splitlines() if line[:1].isdigit()]


def test_tags_are_those_of_the_translation(bundle, tmp_path):
    sentences = analysed(bundle).sentences
    if bundle.run.predicted_tags is None:
        assert {sentence.tags for sentence in sentences} == {None}
        return
    list(translate_with_tags(tmp_path / "tags.parquet", bundle, LINES))
    table = pq.read_table(tmp_path / "tags.parquet", schema=PREDICTED_TAGS_SCHEMA)
    rows = [row for row in table.to_pylist() if row["id"] + 1 in NUMBERS]
    for sentence, row in zip(sentences, rows, strict=True):
        own = tag_row(sentence.number - 1, sentence.tags)
        assert own.pop("probabilities") == pytest.approx(row.pop("probabilities"), abs=1e-5)
        assert own == row


def test_gates_are_those_of_the_translation_alone(bundle):
    sentences = analysed(bundle).sentences
    if not bundle.run.has_gates:
        assert {sentence.gates for sentence in sentences} == {None}
        return
    for sentence in sentences:
        assert sentence.gates.pieces == sentence.target_tokens[:-1]
        with bundle.reader() as reader:
            examples, _ = reader.examples([sentence.text])
        ids = [bundle.target_vocabulary.entries.index(piece) for piece in sentence.gates.pieces]
        (norms_T,) = gate_norms(bundle.model, with_targets(examples, [ids]))
        np.testing.assert_allclose(sentence.gates.norms, norms_T[:-1], rtol=1e-4)


def test_trees_that_the_system_reads_are_those_of_its_annotator(tmp_path, monkeypatch):
    """The tests' annotator makes chains, and fails on "dog"; each sentence is annotated once."""
    seen = []

    class Recorded(Chain):
        def parse(self, sentences):
            return super().parse(seen.append(own.words) or own for own in sentences)

    monkeypatch.setattr(raw, "open_annotator", lambda settings, task: Recorded())
    syntax = {"features": {"source": {"trees": "own"}}, "annotators": {"own": {"tool": "existing"}}}
    run = run_settings(PascalSettings(heads=1), **syntax)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run, label_names=["x"]))
    chain, failed = analysed(bundle, ["the cat .", "the dog"]).sentences
    assert chain.annotations == {"own": LabelledTree([0, 1, 2], ["x", "x", "x"])}
    assert failed.annotations == {}
    assert seen == [["the", "cat", "."], ["the", "dog"]]


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    return load_observed_bundle(write_bundle(tmp_path_factory.mktemp("parser") / "model", RUNS["depparse"]))


def test_the_head_that_was_trained_is_named(parser):
    model = analysed(parser, ["the"])
    assert [(head.layer, head.head) for head in model.heads if head.component == "depparse"] == [(1, 1)]


def test_limits_count_lines_and_leave_the_rest_unread(parser):
    texts = read_text_sentences(LINES)
    assert [own.number for own in analyse_sentences(parser, texts, limit=2).sentences] == [1, 3]
    assert next(texts).number == 4
    assert analysed(parser, ["", " "]).sentences == []


def test_treebanks_bring_words_and_trees(parser, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    first, second = analyse_sentences(parser, read_treebank_sentences(path), limit=9).sentences
    assert (first.number, first.text, first.words) == (1, "the catdog", ["the", "cat", "dog"])
    assert (first.gold.heads, first.gold.labels) == ([3, 3, 0], ["det", "nmod", "root"])
    assert (second.number, second.text, second.gold.heads) == (2, "dog .", [0, 1])
    path.write_text(GOLD.replace("\t0\troot", "\t9\troot"))
    with pytest.raises(LineError, match=r"gold\.conllu, line 1: "):
        next(read_treebank_sentences(path))


EXISTING = {"own": {"tool": "existing"}}


def test_a_model_that_reads_trees_of_its_corpus_reads_those_of_the_treebank(tmp_path, monkeypatch):
    """As it reads a parser's trees that are the same."""
    run = run_settings(PascalSettings(heads=1), features={"source": {"trees": "own"}}, annotators=EXISTING)
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run, label_names=["det", "nmod", "root"]))
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    first, second = analyse_sentences(bundle, read_treebank_sentences(path), limit=9).sentences
    assert (first.gold.heads, first.gold_is_read, first.annotations) == ([3, 3, 0], True, {})
    assert (second.gold.heads, second.gold_is_read, second.annotations) == ([0, 1], True, {})
    with pytest.raises(UserError, match=r"cannot translate or parse new text.*nmtcore show reads .* --treebank\.\)$"):
        analysed(bundle, ["the cat dog"])

    for trees, same in ({"the": [3, 3, 0], "dog": [0, 1]}, True), ({"the": [0, 1, 2], "dog": [2, 0]}, False):

        class Parser(Annotator):
            def parse(self, sentences, trees=trees):
                for own in sentences:
                    yield Annotation(head=trees[own.words[0]], deprel=["det"] * len(own.words))

        with monkeypatch.context() as patch:
            patch.setattr(raw, "open_annotator", lambda settings, task, parser=Parser: parser())
            parsed = analysed(bundle, ["the cat dog", "dog ."]).sentences
        assert [own.gold_is_read for own in parsed] == [False, False]
        equal = [
            np.array_equal(weights, expected)
            for own, other in zip((first, second), parsed, strict=True)
            for weights, expected in zip(own.weights, other.weights, strict=True)
        ]
        assert all(equal) == same


def test_trees_longer_than_the_annotator_takes_are_not_read(tmp_path):
    run = run_settings(
        PascalSettings(heads=1),
        features={"source": {"trees": "own"}},
        annotators={"own": {"tool": "existing", "max_words": 2}},
    )
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run, label_names=["det"]))
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    first, second = analyse_sentences(bundle, read_treebank_sentences(path), limit=9).sentences
    assert (first.gold.heads, first.gold_is_read, second.gold_is_read) == ([3, 3, 0], False, True)


def test_supertags_of_a_corpus_are_not_in_a_treebank(tmp_path):
    run = run_settings(
        transforms={"interleave": InterleaveSettings(side="source", tags="ccg_tags")},
        features={"source": {"ccg_tags": "own"}},
        annotators=EXISTING,
    )
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", run, label_names=["NP"]))
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD)
    with pytest.raises(UserError, match=r"reads ccg of the source side, .* which a CoNLL-U file does not have"):
        analyse_sentences(bundle, read_treebank_sentences(path), limit=9)


def test_sentences_that_are_too_much_are_named(parser, monkeypatch):
    monkeypatch.setattr(raw, "MAX_SUBWORDS", 5)
    monkeypatch.setattr(analyse, "MAX_SUBWORDS", 5)
    with pytest.raises(UserError, match=r"^standard input, line 3: the sentence has more than 5 subwords: split it\.$"):
        analysed(parser, ["the", "", "the cat the dog the the"])
    monkeypatch.setattr(analyse, "MAX_WEIGHTS", 50)
    with pytest.raises(UserError, match=r"more than 50 attention weights, .* show fewer \(--limit\), or shorter ones"):
        analysed(parser, ["the cat"])


@pytest.mark.parametrize("name", ["base", "nmt", "depparse"])
def test_a_model_that_diverged_is_named(tmp_path, name):
    bundle = load_observed_bundle(write_bundle(tmp_path / "model", RUNS[name]))
    with torch.no_grad():
        bundle.model.source_embedding.weight.fill_(float("nan"))
    with pytest.raises(UserError, match="training has diverged"):
        analysed(bundle, ["the cat"])
