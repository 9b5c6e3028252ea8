"""The parsers that run in this process, spaCy, Stanza and UDPipe, on real treebanks and odd lines."""

from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from annotation.annotating import annotate_words
from pair_files import write_corpus

from nmtcore.annotation.shards import annotate_shard, gather_shards
from nmtcore.config.datasets import AnnotatorSettings, SpacySettings, StanzaSettings, UdPipeSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import attachment, is_punctuation
from nmtcore.files import read_json
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import COLUMNS, tree_fault
from nmtcore.syntax.constituents import parse_constituents, same_words

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ODD = [
    *([], ["\u2028"], ["a\u00a0b", "\u3000", "c"], ["x"] * 300, ["\x85", "."], ["😀", "\ufeff"], ["word"] * 200),
    *(["(", "[", ":(", "-LRB-", "_", "#", ")"], ["y" * 300, "."], ["1-2", "1.1", "\\/", "<UNK>", "\u200b"]),
]


class Parser(NamedTuple):
    settings: AnnotatorSettings
    language: str
    treebank: str
    uas: tuple[int, int]
    """Bounds of its UAS on the first 100 sentences of the treebank."""
    features: str
    """One of its morphological features."""
    models: Path | None = None


PARSERS = {
    # UAS on all 1,000 sentences: 82.3 and 72.1; Stanza is trained on the sentences of the test.
    "spacy": Parser(SpacySettings(model="en_ud", batch_size=7), "en", "en_pud", (79, 86), "Number="),
    "udpipe": Parser(UdPipeSettings(model="de_ud.udpipe"), "de", "de_pud", (66, 80), "Case="),
    "stanza": Parser(
        StanzaSettings(model="stanza_en", batch_size=7, constituency=True), "en", "en_ewt_dev", (45, 100), "Number="
    ),
}


@pytest.fixture(scope="module", params=PARSERS)
def parser(request, shared):
    models = request.getfixturevalue("tiny_stanza") if request.param == "stanza" else shared / "models"
    return PARSERS[request.param]._replace(models=models)


def gold(path):
    """Yield (words, heads, upos) of each sentence of a treebank."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        cells = [line.split("\t") for line in block.split("\n") if line.split("\t")[0].isdigit()]
        if cells:
            yield [c[1] for c in cells], [int(c[6]) for c in cells], [c[3] for c in cells]


def annotate(parser, sentences):
    return annotate_words(parser.settings, sentences, parser.models, language=parser.language)


def test_real_sentences_get_one_good_tree_each(parser, shared):
    sentences = list(islice(gold(shared / "data" / "ud" / f"{parser.treebank}.conllu"), 100))
    annotations = annotate(parser, [words for words, _, _ in sentences])
    for annotation in annotations:
        assert tree_fault(annotation.head) is None
        assert [label == "root" for label in annotation.deprel] == [head == 0 for head in annotation.head]
        assert list(annotation.head).count(0) == 1
    marks = [is_punctuation(words, upos) for words, _, upos in sentences]
    scores = attachment([a.head for a in annotations], [heads for _, heads, _ in sentences], marks)
    assert parser.uas[0] < scores["uas"] < parser.uas[1]
    tagged = zip(annotations, sentences, strict=True)
    correct = [tag == own for a, (_, _, upos) in tagged for tag, own in zip(a.upos, upos, strict=True)]
    assert sum(correct) / len(correct) > 0.5
    assert any(parser.features in feats for a in annotations for feats in a.feats)


def test_odd_lines_keep_their_rows_and_do_not_change_other_lines(parser, shared, tmp_path):
    treebank = gold(shared / "data" / "ud" / f"{parser.treebank}.conllu")
    normal = [words for words, _, _ in islice(treebank, len(ODD))]
    mixed = [words for pair in zip(normal, ODD, strict=True) for words in pair]
    corpus = write_corpus(tmp_path / "corpus.parquet", mixed)
    shards = [tmp_path / f"{k}.parquet" for k in range(3)]
    side = {"side": "source", "language": parser.language, "model_folders": [parser.models]}
    for k, shard in enumerate(shards):
        annotate_shard(parser.settings, corpus=corpus, raw=tmp_path, shard=k, shards=3, output=shard, **side)
    gather_shards(shards, corpus=corpus, output=tmp_path / "out", report=tmp_path / "report")
    rows = list(read_rows(tmp_path / "out"))
    assert [row["id"] for row in rows] == list(range(len(mixed)))
    assert read_json(tmp_path / "report")["nulls"] == {"the sentence has no words": 1, "more than 250 words": 1}
    undisturbed = annotate(parser, normal)
    for column in COLUMNS:
        assert [row[column] for row in rows[::2]] == [getattr(a, column) for a in undisturbed]
    for words, row in zip(mixed, rows, strict=True):
        assert row["reason"] or len(row["head"]) == len(words)
        if row["constituency"]:
            assert same_words(parse_constituents(row["constituency"]), words)
    phrases = getattr(parser.settings, "constituency", False)
    assert all((row["constituency"] is not None) == (phrases and row["reason"] is None) for row in rows)


FAULTS = [
    (SpacySettings(model="xx_nothing"), r"no spaCy model 'xx_nothing'.*`models` in config"),
    (SpacySettings(model="broken"), "broken cannot be loaded"),
    (SpacySettings(model="en_ccg_pmb"), r"en_ccg_pmb has no parser \(only tok2vec, tagger\): name a pipeline"),
    (SpacySettings(model="ru_ud", tags="ccg"), "has no tagger"),
    (UdPipeSettings(model="broken"), "no model of UDPipe 1"),
]


@pytest.mark.parametrize(("chosen", "sentence"), FAULTS)
def test_a_missing_or_broken_model_is_an_error(chosen, sentence, shared, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/meta.json").write_text("{}")
    (tmp_path / "broken/model").write_text("no model")
    with pytest.raises(UserError, match=sentence):
        annotate_words(chosen, [["a"]], tmp_path, shared / "models")
