"""Examples from raw text: decoding, parts of long lines, and features for translation."""

from dataclasses import replace

import pytest
from factories import run_settings
from inference.tiny import PIECES, heads_of_block, parse_text, trained_briefly, write_bundle, write_segmentation

from nmtcore.annotation.base import Annotator
from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components import DepParseSettings
from nmtcore.config.corpora import SegmentationSettings, WordsSettings
from nmtcore.config.features import ComponentSettings
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.scoring import score_text_pairs
from nmtcore.inference.text import TextOutput, TextReader, read_text
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import UNK, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed, tree_fault


class Chain(Annotator):
    """The head of every word is the previous word; a sentence with "dog" cannot be parsed."""

    def parse(self, sentences):
        for sentence in sentences:
            n = len(sentence.words)
            tags = {column: ["x"] * n for column in ("deprel", "upos", "xpos")}
            yield failed("dog") if "dog" in sentence.words else Annotation(head=list(range(n)), **tags)


class Tags(Annotator):
    """Every word has the tag y."""

    def parse(self, sentences):
        for sentence in sentences:
            yield Annotation(upos=["y"] * len(sentence.words))


COLUMNS = {"deprel": ["x"], "upos": ["x", "y"], "xpos": ["x"], "dg_a": ["x|root", "x|x"]}
LABELS = {"source": {column: [*LABEL_SPECIALS, *names] for column, names in COLUMNS.items()}}
SYNTAX = {
    "features": {"source": {"trees": "parser", "pos_tags": "tagger", "dg_a_tags": "parser"}},
    "annotators": {
        "parser": {"tool": "existing", "max_words": 6},
        "tagger": {"tool": "existing", "max_words": 7},
    },
}


def reads(*features):
    """Make the settings of a component that reads features of the source; it is in no registry."""
    return type("Reads", (ComponentSettings,), {"needs": {"source": features}})()


TREES, ALL_TAGS = reads("trees"), reads("pos_tags", "dg_a_tags")


def reader(tmp_path, *components, **values):
    folder = write_segmentation(tmp_path / "segmentation")
    run = replace(run_settings(**values), components={f"own_{k}": own for k, own in enumerate(components)})
    segmenter = Segmenter.load(folder, run.segmentation, "source")
    vocabularies = run_vocabularies(run, folder, LABELS)
    transforms = Transforms.of(run, vocabularies, LABELS)
    return TextReader(run, vocabularies["source"], segmenter, transforms, labels=LABELS["source"], model_folders=())


def examples_of(opened, texts):
    """Make examples of lines; also return the line of each."""
    chunk = opened.read(list(read_text(texts)))
    return chunk.examples, chunk.sources.rows.tolist()


def test_lines_become_examples_and_empty_lines_none(tmp_path):
    vocabulary = Vocabulary.of(PIECES)
    examples, lines = examples_of(reader(tmp_path), ["the cab", "", "x the"])
    assert lines == [0, 2]
    ids = examples.source.ids
    assert vocabulary.tokens(ids[0]) == ["the", "ca@@", "b"]
    assert examples.source.word_of_subword[0].tolist() == [0, 1, 1]
    assert ids[1].tolist() == [UNK, vocabulary.ids(["the"])[0]]
    assert examples.source.features == {}
    assert examples.target is None


def test_text_is_parsed_if_translation_needs_trees(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("nmtcore.inference.text.open_annotator", lambda settings, task: opened.append(task) or Chain())
    read = reader(tmp_path, TREES, **SYNTAX)
    examples, _ = examples_of(read, ["the cab", "a dog", "a b c d e g h"])
    syntax = examples.source.features
    assert [len(column) for column in examples_of(read, ["", ""])[0].source.features.values()] == [0, 0, 0]
    assert [row.tolist() for row in syntax["governor"]] == [[-1, 0], [-2, -2], [-2] * 7]
    assert set(syntax) == {"governor", "deprel", "parent_position"}
    assert syntax["parent_position"][0].tolist() == [0.0, 0.0]
    assert [(task.side, task.language, task.raw) for task in opened] == [("source", "en", None)]


def test_sentences_of_too_many_subwords_are_left_out_and_named(tmp_path, monkeypatch, capsys):
    for module in ("features.sources", "inference.text"):
        monkeypatch.setattr(f"nmtcore.{module}.MAX_SUBWORDS", 3)
    examples, lines = examples_of(reader(tmp_path), ["the cab", "the the cab", "x"])
    assert (lines, examples.source.ids.lengths.tolist()) == ([0, 2], [3, 1])
    assert capsys.readouterr().err == "standard input, line 2: left out, since it has more than 3 subwords.\n"


def test_each_feature_comes_from_its_annotator(tmp_path, monkeypatch):
    annotators = {6: Chain, 7: Tags}
    monkeypatch.setattr(
        "nmtcore.inference.text.open_annotator", lambda settings, task: annotators[settings.max_words]()
    )
    read = reader(tmp_path, ALL_TAGS, **SYNTAX)
    syntax = examples_of(read, ["the cab", "a dog"])[0].source.features
    assert {name: [row.tolist() for row in rows] for name, rows in syntax.items()} == {
        "upos": [[3, 3], [3, 3]],
        "xpos": [[0, 0], [0, 0]],
        "dg_a": [[2, 3], [0, 0]],
    }


def test_a_bundle_with_pieces_of_text_translates_and_parses_words(tmp_path):
    """A word in the piece of another hangs on it; a batch of one equals a batch of many."""
    pytest.importorskip("sentencepiece")
    pieces = SegmentationSettings(kind="sentencepiece", size=45, joint=True)
    words = dict.fromkeys(("source", "target"), WordsSettings())
    run = run_settings(DepParseSettings(layer=1), words=words, segmentation=pieces)
    model = write_bundle(tmp_path / "model", run, train=trained_briefly)
    assert {"source.spm", "target.spm"} <= {path.name for path in model.iterdir()}
    bundle = load_bundle(model)
    lines = ["the cat is bad!!", "", "the dog\u00a0sat.", "\u200b", "größe!! hot"]
    owners = bundle.segmenters["source"].segment(["the", "bad", "!", "!"], "the bad!!").word_of_subword
    assert sorted(set(owners)) == [0, 1, 3]
    translations = list(bundle.translate(lines))
    assert [next(bundle.translate([line])) for line in lines] == translations
    assert [bool(text) for text in translations] == [True, False, True, False, True]
    assert not any("▁" in text for text in translations)
    heads = [heads_of_block(block) for block in parse_text(bundle, lines, method="one_root") if block]
    assert [len(of_line) for of_line in heads] == [6, 4, 4]
    assert all(tree_fault(of_line) is None for of_line in heads)
    assert heads[0][4] == 4
    (scored,) = score_text_pairs(bundle, read_text(["the cat"]), read_text(["bad!!"]))
    assert scored.tokens == 1 + len(bundle.segmenters["target"].segment(["bad", "!", "!"], "bad!!").pieces)
    target = bundle.vocabularies["target"], bundle.segmenters["target"]
    tokenised = TextOutput(run, *target, bundle.transforms, detokenised=False)
    ids = target[0].ids(target[1].segment(["x"], "the bad!!").pieces)
    assert (bundle.output.text(ids), tokenised.text(ids)) == ("the bad!!", "the bad ! !")
