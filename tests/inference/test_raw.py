"""Examples from raw text: decoding, parts of long lines, and features for translation."""

from dataclasses import replace

from factories import run_settings
from inference.tiny import PIECES, write_segmentation

from nmtcore.annotation.base import Annotator
from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.features import ComponentSettings
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.inference.text import TextReader, read_text
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import UNK, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed


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
